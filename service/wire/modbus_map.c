#include "service/wire/modbus_map.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "base/numbers/lab_time.h"

/* Prefix of ids of Modbus commands. Registers show their answers; MQTT does not. */
#define ID_STEM "modbus:"

enum {
    MODE_RUNNING = 7, /* robot mode */
    JOINT_RUNNING = 253,
    TEMPERATURE_C = 30,
    OPERATION_MOVEJ = 1,
    OPERATION_MODE = 7
};

/* --- numbers into words ------------------------------------------------------------------ */

/* Rounds to the nearest integer, ties upwards, within bounds; 0 for NaN. */
static int64_t round_within(double value, double lowest, double highest)
{
    return isnan(value) ? 0 : (int64_t)floor(fmin(fmax(value, lowest), highest) + 0.5);
}

static uint16_t signed_word(double value)
{
    return (uint16_t)round_within(value, INT16_MIN, INT16_MAX);
}

static uint16_t unsigned_word(double value)
{
    return (uint16_t)round_within(value, 0.0, UINT16_MAX);
}

static void write_long(uint16_t words[2], int64_t value)
{
    words[0] = (uint16_t)((uint64_t)value >> 16);
    words[1] = (uint16_t)value;
}

/* Six numbers in units of 1e-6. */
static void write_micros(uint16_t words[12], const double values[ARM_JOINTS])
{
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        write_long(&words[2 * j], round_within(1e6 * values[j], INT32_MIN, INT32_MAX));
    }
}

void modbus_map_numbers(const uint16_t words[12], double out[6])
{
    for (size_t j = 0; j < 6; j++) {
        const uint32_t bits = (uint32_t)words[2 * j] << 16 | words[2 * j + 1];
        out[j] = 1e-6 * (double)(int32_t)bits;
    }
}

/* --- registers for display ------------------------------------------------------------ */

/* Splits an angle into one within a turn, never negative, and the turn: -1 is 65535. */
static void show_joint(const struct arm6_state *arm, size_t j, uint16_t *words)
{
    const double turn = floor(arm->q_rad[j] / (2.0 * PI));
    words[270 + j] = unsigned_word(1e3 * (arm->q_rad[j] - 2.0 * PI * turn));
    words[280 + j] = signed_word(1e3 * arm->qd_radps[j]);
    words[290 + j] = signed_word(1e3 * arm->current_a[j]);
    words[300 + j] = TEMPERATURE_C;
    words[310 + j] = JOINT_RUNNING;
    words[320 + j] = signed_word(turn);
}

static void show_tool(const struct arm6_state *arm, uint16_t *words)
{
    double tool[6];
    rigid_to_pose(&arm->arm.tool, tool);
    for (size_t k = 0; k < 6; k++) {
        words[400 + k] = signed_word((k < 3 ? 1e4 : 1e3) * arm->tcp[k]);
        words[410 + k] = signed_word(1e3 * arm->tcp_speed[k]);
        words[420 + k] = signed_word(1e3 * tool[k]);
    }
}

static void show_program(const struct arm6_state *arm, const struct modbus_program *p,
                         uint16_t *words)
{
    const bool moving = p->phase == ARM6_MOVING && strcmp(arm->id, p->id) == 0;
    const double progress = p->phase == ARM6_DONE ? 1.0 : moving ? arm->progress : 0.0;
    const double lap_s = moving ? arm->lap_s : p->lap_s;
    words[MODBUS_ACCEPTED] = p->counter;
    words[MODBUS_PHASE] = (uint16_t)p->phase;
    words[MODBUS_REASON] = (uint16_t)p->reason;
    words[MODBUS_PROGRESS] = unsigned_word(1e3 * progress);
    write_long(&words[MODBUS_LAP], round_within(1e3 * lap_s, 0.0, UINT32_MAX));
}

void modbus_map_show(const struct arm6_state *arm, const struct modbus_program *program,
                     uint16_t words[MODBUS_REGISTERS])
{
    for (unsigned k = 0; k < MODBUS_REGISTERS; k++) {
        words[k] = modbus_is_shown(k) ? 0 : words[k];
    }
    show_program(arm, program, words);
    write_micros(&words[MODBUS_Q_VP], arm->q_rad);
    write_micros(&words[MODBUS_Q_SP], arm->q_sp_rad);
    write_micros(&words[MODBUS_Q_M], arm->u_radps);
    words[256] = 3; /* PolyScope 3.15 */
    words[257] = 15;
    words[258] = MODE_RUNNING;
    words[260] = 1; /* power */
    words[261] = words[265] = arm->protective_stop;
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        show_joint(arm, j, words);
    }
    show_tool(arm, words);
    words[768] = JOINT_RUNNING; /* for the tool */
    words[769] = TEMPERATURE_C;
}

/* --- access rights -------------------------------------------------------------------- */

/* Ranges that clients may write, in order: from, to (exclusive). */
static const unsigned writable[][2] = {{MODBUS_OUTPUTS, MODBUS_CLEAR_OUTPUTS + 1},
                                       {MODBUS_COMMAND, MODBUS_ACCEPTED},
                                       {MODBUS_MODE, MODBUS_STREAM_END},
                                       {MODBUS_GOAL, MODBUS_FREE_END}};

bool modbus_is_shown(unsigned address)
{
    for (size_t i = 0; i < sizeof writable / sizeof writable[0]; i++) {
        if (address >= writable[i][0] && address < writable[i][1]) {
            return false;
        }
    }
    return true;
}

/* Does the range touch twelve registers without covering all of them? */
static bool cuts_twelve(unsigned address, unsigned end, unsigned first)
{
    const unsigned last = first + 2 * ARM_JOINTS;
    return address < last && end > first && (address > first || end < last);
}

bool modbus_may_write(unsigned address, unsigned count)
{
    const unsigned end = address + count;
    if (cuts_twelve(address, end, MODBUS_STREAM) || cuts_twelve(address, end, MODBUS_GOAL)) {
        return false;
    }
    for (size_t i = 0; i < sizeof writable / sizeof writable[0]; i++) {
        if (address >= writable[i][0] && end <= writable[i][1]) {
            return true;
        }
    }
    return false;
}

bool modbus_may_write_coils(unsigned address, unsigned count)
{
    return address >= 16 * MODBUS_OUTPUTS && address + count <= MODBUS_COILS_OF_IO;
}

/* --- requests of clients -------------------------------------------------------------- */

static void set_number(struct event_arm *arm, enum event_arm_member member, double *out,
                       double value)
{
    *out = value;
    arm->present |= 1U << member;
}

static void set_six(struct event_arm *arm, enum event_arm_member member, size_t *count,
                    double out[6], const uint16_t words[12])
{
    modbus_map_numbers(words, out);
    *count = 6;
    arm->present |= 1U << member;
}

static void begin_command(struct event_command *out, const char *op, const char *id)
{
    *out = (struct event_command){.source_us = LAB_TIME_NONE, .seq = -1};
    (void)snprintf(out->op, sizeof out->op, "%s", op);
    (void)snprintf(out->id, sizeof out->id, "%s", id);
}

static void decode_mode(uint16_t bits, struct event_arm *arm)
{
    arm->present =
        1U << EVENT_ARM_CARTESIAN | 1U << EVENT_ARM_DYNAMICS | 1U << EVENT_ARM_EXTERNAL;
    arm->cartesian = (bits & MODBUS_CARTESIAN) != 0;
    arm->dynamics = bits & MODBUS_IDEAL ? ARM_DYNAMICS_IDEAL : ARM_DYNAMICS_SERVO;
    arm->external = (bits & MODBUS_EXTERNAL) != 0;
}

void modbus_map_mode(uint16_t bits, struct event_command *out)
{
    begin_command(out, "mode", ID_STEM "mode");
    decode_mode(bits, &out->arm);
}

/* Decodes the numbers of a move and its speeds; for a 0 the arm uses its default. */
static void decode_move(const uint16_t *words, bool cartesian, struct event_command *out)
{
    struct event_arm *arm = &out->arm;
    const uint16_t *numbers = &words[MODBUS_NUMBERS - MODBUS_COMMAND];
    const double speed = 1e-3 * words[MODBUS_SPEED - MODBUS_COMMAND];
    const double time_s = 1e-3 * words[MODBUS_TIME - MODBUS_COMMAND];
    const bool joints = words[MODBUS_OPERATION - MODBUS_COMMAND] == OPERATION_MOVEJ;
    if (strcmp(out->op, "speedj") == 0) {
        set_six(arm, EVENT_ARM_QD, &arm->qd_count, arm->qd_radps, numbers);
    } else if (strcmp(out->op, "speedl") == 0) {
        set_six(arm, EVENT_ARM_TWIST, &arm->twist_count, arm->twist, numbers);
    } else if (joints && !cartesian) {
        set_six(arm, EVENT_ARM_Q, &arm->q_count, arm->q_rad, numbers);
    } else {
        set_six(arm, EVENT_ARM_POSE, &arm->pose_count, arm->pose, numbers);
    }
    if (speed > 0.0 && joints) {
        set_number(arm, EVENT_ARM_V_RADPS, &arm->v_radps, speed);
    } else if (speed > 0.0 && strcmp(out->op, "movel") == 0) {
        set_number(arm, EVENT_ARM_V_MPS, &arm->v_mps, speed);
    }
    if (time_s > 0.0) {
        set_number(arm, EVENT_ARM_TIME_S, &arm->time_s, time_s);
    }
}

bool modbus_map_command(const uint16_t words[], bool cartesian, struct modbus_program *program,
                        struct event_command *out)
{
    static const char *const operations[] = {[1] = "movej", "movel", "speedj", "speedl",
                                             "stopj",       "halt",  "mode"};
    const uint16_t operation = words[MODBUS_OPERATION - MODBUS_COMMAND];
    *program = (struct modbus_program){.counter = words[0], .phase = ARM6_MOVING};
    (void)snprintf(program->id, sizeof program->id, ID_STEM "%u", (unsigned)program->counter);
    if (operation == 0 || operation >= sizeof operations / sizeof operations[0]) {
        program->phase = ARM6_REFUSED;
        program->reason = (enum arm6_reason)ARM_BAD_VALUE;
        return false;
    }
    begin_command(out, operations[operation], program->id);
    if (operation == OPERATION_MODE) {
        decode_mode(words[MODBUS_MODE - MODBUS_COMMAND], &out->arm);
    } else if (operation < 5) {
        decode_move(words, cartesian, out);
    }
    return true;
}

bool modbus_is_ours(const char *id)
{
    return strncmp(id, ID_STEM, sizeof ID_STEM - 1) == 0;
}

void modbus_map_answer(struct modbus_program *program, const struct arm6_state *arm,
                       const struct robot_reply *reply)
{
    if (program->phase != ARM6_MOVING || strcmp(reply->id, program->id) != 0) {
        return;
    }
    program->lap_s = lab_s(reply->end_us - reply->start_us);
    if (reply->status == REPLY_HALTED) {
        program->phase = ARM6_STOPPED;
        program->reason = ARM6_HALTED;
    } else if (reply->status == REPLY_ERROR) {
        const bool known = strcmp(arm->id, program->id) == 0 && arm->reason != ARM6_NO_REASON;
        program->phase = ARM6_REFUSED;
        program->reason = known ? arm->reason : (enum arm6_reason)ARM_BAD_VALUE;
    } else {
        program->phase = ARM6_DONE;
    }
}
