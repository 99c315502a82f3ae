/* Commands by registers: their effect on the arm, the effect of its answers on the registers,
 * and the owners of registers and coils. */
#include "tests/support/check.h"

#include "service/wire/modbus_map.h"

enum { WORDS = MODBUS_WATCHDOG - MODBUS_COMMAND };

static void write_number(uint16_t *words, size_t k, int32_t value)
{
    words[MODBUS_NUMBERS - MODBUS_COMMAND + 2 * k] = (uint16_t)((uint32_t)value >> 16);
    words[MODBUS_NUMBERS - MODBUS_COMMAND + 2 * k + 1] = (uint16_t)value;
}

/* Numbers 1, -2, 3, -4, 5, -6 in units of 0.1, speed 0.25, time 1.5 s. */
static void fill_words(uint16_t words[WORDS], uint16_t counter, uint16_t operation)
{
    memset(words, 0, WORDS * sizeof words[0]);
    words[0] = counter;
    words[1] = operation;
    for (int k = 0; k < 6; k++) {
        write_number(words, (size_t)k, (k % 2 ? -100000 : 100000) * (k + 1));
    }
    words[MODBUS_SPEED - MODBUS_COMMAND] = 250;
    words[MODBUS_TIME - MODBUS_COMMAND] = 1500;
}

static void test_operations(void)
{
#define PRESENT(member) (1U << EVENT_ARM_##member)
    static const struct {
        const char *row;
        uint16_t operation;
        bool cartesian;
        const char *op;
        uint32_t expected;
        size_t at; /* of the six numbers */
    } rows[] = {{"joints", 1, false, "movej", PRESENT(Q) | PRESENT(V_RADPS) | PRESENT(TIME_S),
                 offsetof(struct event_arm, q_rad)},
                {"joints to a pose", 1, true, "movej",
                 PRESENT(POSE) | PRESENT(V_RADPS) | PRESENT(TIME_S),
                 offsetof(struct event_arm, pose)},
                {"line", 2, false, "movel", PRESENT(POSE) | PRESENT(V_MPS) | PRESENT(TIME_S),
                 offsetof(struct event_arm, pose)},
                {"jog joints", 3, true, "speedj", PRESENT(QD) | PRESENT(TIME_S),
                 offsetof(struct event_arm, qd_radps)},
                {"jog the tool", 4, true, "speedl", PRESENT(TWIST) | PRESENT(TIME_S),
                 offsetof(struct event_arm, twist)},
                {"brake", 5, false, "stopj", 0, 0},
                {"halt", 6, false, "halt", 0, 0}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint16_t words[WORDS];
        struct modbus_program program = {0};
        struct event_command c;
        fill_words(words, 7, rows[i].operation);
        CHECK(rows[i].row, modbus_map_command(words, rows[i].cartesian, &program, &c));
        CHECK_TEXT(rows[i].row, c.op, rows[i].op);
        CHECK_TEXT(rows[i].row, c.id, program.id);
        CHECK_INT(rows[i].row, c.arm.present, rows[i].expected);
        CHECK_INT(rows[i].row, program.counter, 7);
        CHECK_INT(rows[i].row, program.phase, ARM6_MOVING);
        for (size_t k = 0; k < 6 && rows[i].at > 0; k++) {
            double got = 0.0;
            memcpy(&got, (const char *)&c.arm + rows[i].at + k * sizeof got, sizeof got);
            CHECK_NEAR(rows[i].row, got, (k % 2 ? -0.1 : 0.1) * (double)(k + 1), 1e-12, 0.0);
        }
        CHECK(rows[i].row,
              !(c.arm.present & PRESENT(V_RADPS)) || fabs(c.arm.v_radps - 0.25) < 1e-12);
        CHECK(rows[i].row,
              !(c.arm.present & PRESENT(V_MPS)) || fabs(c.arm.v_mps - 0.25) < 1e-12);
        CHECK(rows[i].row,
              !(c.arm.present & PRESENT(TIME_S)) || fabs(c.arm.time_s - 1.5) < 1e-12);
    }
}

static void test_defaults_and_mode(void)
{
    uint16_t words[WORDS];
    struct modbus_program program = {0};
    struct event_command c;
    fill_words(words, 1, 1);
    words[MODBUS_SPEED - MODBUS_COMMAND] = words[MODBUS_TIME - MODBUS_COMMAND] = 0;
    CHECK("defaults", modbus_map_command(words, false, &program, &c));
    CHECK_INT("left to the arm", c.arm.present, PRESENT(Q));
    fill_words(words, 2, 7);
    words[MODBUS_MODE - MODBUS_COMMAND] = MODBUS_CARTESIAN | MODBUS_EXTERNAL;
    CHECK("mode", modbus_map_command(words, false, &program, &c));
    CHECK_TEXT("mode", c.op, "mode");
    CHECK_INT("mode", c.arm.present,
              PRESENT(CARTESIAN) | PRESENT(DYNAMICS) | PRESENT(EXTERNAL));
    CHECK_INT("mode", c.arm.cartesian, 1);
    CHECK_INT("mode", c.arm.dynamics, ARM_DYNAMICS_SERVO);
    CHECK_INT("mode", c.arm.external, 1);
    modbus_map_mode(MODBUS_IDEAL, &c);
    CHECK_INT("mode alone", c.arm.dynamics, ARM_DYNAMICS_IDEAL);
    CHECK_INT("mode alone", c.arm.external, 0);
    for (uint16_t operation = 0; operation < 20; operation += 8) {
        fill_words(words, 3, operation);
        CHECK("no operation", !modbus_map_command(words, false, &program, &c));
        CHECK_INT("refused", program.phase, ARM6_REFUSED);
        CHECK_INT("bad value", program.reason, 1);
        CHECK_INT("accepted all the same", program.counter, 3);
    }
}

static void test_answers(void)
{
    static const struct {
        const char *row;
        enum reply_status status;
        enum arm6_reason reason; /* of the arm */
        enum arm6_phase phase;
        int expected;
    } rows[] = {
        {"done", REPLY_DONE, ARM6_NO_REASON, ARM6_DONE, 0},
        {"out of reach", REPLY_ERROR, (enum arm6_reason)ARM_OUT_OF_REACH, ARM6_REFUSED, 3},
        {"no reason known", REPLY_ERROR, ARM6_NO_REASON, ARM6_REFUSED, 1},
        {"stopped", REPLY_HALTED, ARM6_HALTED, ARM6_STOPPED, 8}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static uint16_t registers[MODBUS_REGISTERS];
        uint16_t words[WORDS];
        struct modbus_program p = {0};
        struct event_command c;
        struct arm6_state arm = {.reason = rows[i].reason, .progress = 0.25, .lap_s = 0.5};
        struct robot_reply reply = {
            .status = rows[i].status, .start_us = 1000000, .end_us = 71000000};
        fill_words(words, 65535, 1);
        CHECK("command", modbus_map_command(words, false, &p, &c));
        (void)snprintf(arm.id, sizeof arm.id, "%s", "another");
        modbus_map_show(&arm, &p, registers);
        CHECK_INT("waits", registers[MODBUS_PHASE], ARM6_MOVING);
        CHECK_INT("waits", registers[MODBUS_PROGRESS], 0);
        (void)snprintf(arm.id, sizeof arm.id, "%s", c.id);
        modbus_map_show(&arm, &p, registers);
        CHECK_INT("moves", registers[MODBUS_PROGRESS], 250);
        CHECK_INT("moves", registers[MODBUS_LAP + 1], 500);
        CHECK("whose", modbus_is_ours(c.id) && !modbus_is_ours("c1") && !modbus_is_ours(""));
        modbus_map_answer(&p, &arm, &(struct robot_reply){.id = "modbus:1"});
        CHECK_INT("still", p.phase, ARM6_MOVING);
        (void)snprintf(reply.id, sizeof reply.id, "%s", c.id);
        modbus_map_answer(&p, &arm, &reply);
        modbus_map_show(&arm, &p, registers);
        CHECK_INT(rows[i].row, registers[MODBUS_ACCEPTED], 65535);
        CHECK_INT(rows[i].row, registers[MODBUS_PHASE], rows[i].phase);
        CHECK_INT(rows[i].row, registers[MODBUS_REASON], rows[i].expected);
        CHECK_INT(rows[i].row, registers[MODBUS_PROGRESS],
                  rows[i].phase == ARM6_DONE ? 1000 : 0);
        CHECK_INT("a lap of 70 s", registers[MODBUS_LAP], 1);
        CHECK_INT("a lap of 70 s", registers[MODBUS_LAP + 1], 70000 - 65536);
    }
}

static void test_whose(void)
{
    static const struct {
        unsigned address, count;
        bool may;
    } rows[] = {{0, 1, false},    {1, 3, true},      {1, 4, false},    {127, 1, false},
                {128, 16, true},  {128, 17, false},  {144, 1, false},  {149, 2, false},
                {150, 2, true},   {150, 22, true},   {150, 11, false}, {160, 12, true},
                {160, 6, false},  {160, 1, false},   {171, 1, false},  {160, 13, false},
                {152, 8, true},   {172, 12, false},  {195, 2, false},  {196, 48, true},
                {196, 12, true},  {196, 11, false},  {207, 2, false},  {208, 1, true},
                {196, 49, false}, {128, 128, false}, {270, 6, false},  {770, 1, false},
                {65535, 1, false}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char row[32];
        (void)snprintf(row, sizeof row, "%u + %u", rows[i].address, rows[i].count);
        CHECK_INT(row, modbus_may_write(rows[i].address, rows[i].count), rows[i].may);
    }
    CHECK("coils of outputs", modbus_may_write_coils(16, 48));
    CHECK("coils of inputs", !modbus_may_write_coils(15, 1));
    CHECK("coils beyond", !modbus_may_write_coils(63, 2));
    CHECK("coils of the state", !modbus_may_write_coils(260, 1));
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("modbus_map", NULL, NULL);
    CU_add_test(suite, "operations", test_operations);
    CU_add_test(suite, "defaults_and_mode", test_defaults_and_mode);
    CU_add_test(suite, "answers", test_answers);
    CU_add_test(suite, "whose", test_whose);
    return check_run();
}
