/* A mission of an arm: the check as a whole, and the steps with every kind of reply. Durations
 * are those of trapezoids, size / v + v / a, computed by hand. */
#include "tests/support/check.h"

#include "config/options/option_file.h"
#include "logger/message/codec_native.h"
#include "service/sim/mission/moves_file.h"
#include "twin/mission/mission_kind.h"

#define STEPS                                                                                  \
    "kind: arm\nfloor_m: -1\npatience_s: 5\nsteps:\n"                                          \
    "- movej: {q_rad: [1, -1.5708, -1.5708, -1.5708, 1.5708, 0]}\n"                            \
    "- wait_s: 2\n- output: {pin: 3, on: true}\n"                                              \
    "- movej: {q_rad: [0, -1.5708, -1.5708, -1.5708, 1.5708, 0], time_s: 4}\n"
#define START "start_q_rad: [0, -1.5708, -1.5708, -1.5708, 1.5708, 0]\n"

struct rig {
    struct moves_file file;
    struct arm_mission mission;
    size_t commands, ends;
    struct event_command last;
    enum l2_verdict verdict;
    enum mission_code code;
    char error[MISSION_TEXT_MAX];
};

static void record_effect(void *context, const struct mission_effect *effect)
{
    struct rig *rig = context;
    if (effect->kind == MISSION_COMMAND) {
        rig->commands++;
        rig->last = effect->command;
    } else if (effect->kind == MISSION_MESSAGE && effect->level == MISSION_ERROR &&
               !rig->error[0]) {
        (void)snprintf(rig->error, sizeof rig->error, "%s", effect->text);
    } else if (effect->kind == MISSION_END) {
        rig->ends++;
        rig->verdict = effect->verdict;
        rig->code = effect->code;
    }
}

static struct rig *begin_rig(const char *text)
{
    static struct rig rig;
    struct err_list errors = {0};
    memset(&rig, 0, sizeof rig);
    CHECK_INT("file",
              option_file_parse(&moves_file, text, strlen(text), "m.yaml", &rig.file, &errors),
              STATUS_OK);
    err_list_print(&errors, stdout);
    arm_mission_init(&rig.mission, &rig.file.plan, "m");
    arm_mission_start(&rig.mission, 0, record_effect, &rig);
    return &rig;
}

static void send_reply(struct rig *rig, const char *id, enum reply_status status, const double *q,
                  int64_t t_us)
{
    static const char *const names[] = {"q1_rad", "q2_rad", "q3_rad",
                                        "q4_rad", "q5_rad", "q6_rad"};
    struct event_reply r = {.status = status, .value_count = q ? ARM_JOINTS : 0};
    (void)snprintf(r.id, sizeof r.id, "%s", id);
    for (size_t i = 0; q && i < ARM_JOINTS; i++) {
        (void)snprintf(r.values[i].name, sizeof r.values[i].name, "%s", names[i]);
        r.values[i].kind = VALUE_NUMBER;
        r.values[i].number = q[i];
    }
    arm_mission_reply(&rig->mission, &r, t_us, record_effect, rig);
}

static void test_whole(void)
{
    struct rig *rig = begin_rig(STEPS START);
    CHECK_TEXT("no question", rig->last.op, "movej");
    CHECK_NEAR("1 rad", rig->mission.planned_s[0], 1 / 1.05 + 1.05 / 1.4, 1e-9, 0);
    CHECK_NEAR("as asked", rig->mission.planned_s[3], 4, 1e-9, 0);
    CHECK_INT("reply in time", arm_mission_next_us(&rig->mission), lab_us(5 + 1 / 1.05 + 0.75));
    send_reply(rig, "m-0", REPLY_DONE, NULL, 1);
    CHECK_INT("another's reply", rig->commands, 1);
    send_reply(rig, "m-1", REPLY_DONE, NULL, 1000000);
    CHECK_INT("waits", arm_mission_next_us(&rig->mission), 3000000);
    arm_mission_tick(&rig->mission, 2999999, record_effect, rig);
    CHECK_INT("not yet", rig->commands, 1);
    arm_mission_tick(&rig->mission, 3000000, record_effect, rig);
    CHECK_TEXT("output", rig->last.op, "digital_out");
    CHECK_NEAR("pin", rig->last.arm.pin, 3, 0, 0);
    CHECK_INT("on", rig->last.arm.on, 1);
    send_reply(rig, "m-2", REPLY_DONE, NULL, 3100000);
    CHECK_NEAR("time", rig->last.arm.time_s, 4, 0, 0);
    send_reply(rig, "m-3", REPLY_DONE, NULL, 8000000);
    CHECK_INT("one end", rig->ends, 1);
    CHECK_INT("done", rig->verdict, L2_VERDICT_DONE);
    CHECK("no tick any more", arm_mission_next_us(&rig->mission) == LAB_TIME_MAX);
}

/* Without start_q_rad the arm is asked, and the first move is planned from there. */
static void test_asked(void)
{
    static const double q[ARM_JOINTS] = {0.5, -1.5708, -1.5708, -1.5708, 1.5708, 0};
    struct rig *rig = begin_rig(STEPS);
    CHECK_TEXT("asks", rig->last.op, "stopj");
    CHECK("not known", isnan(rig->file.planned_s[0]));
    send_reply(rig, "m-1", REPLY_DONE, q, 1);
    CHECK_TEXT("moves", rig->last.op, "movej");
    CHECK_NEAR("0.5 rad, no full speed", rig->mission.planned_s[0], 2 * sqrt(0.5 / 1.4), 1e-6,
               0);

    rig = begin_rig(STEPS);
    send_reply(rig, "m-1", REPLY_DONE, NULL, 1);
    CHECK_INT("failed", rig->verdict, L2_VERDICT_FAILED);
    CHECK("why", strstr(rig->error, "did not say where it is") != NULL);
    CHECK_INT("nothing moves", rig->commands, 1);

    rig = begin_rig("kind: arm\nfloor_m: 0\nsteps:\n"
                "- movel: {pose: [0.4869, 0.10915, -0.2, -2.2214, 2.2214, 0]}\n");
    send_reply(rig, "m-1", REPLY_DONE, q, 1);
    CHECK("why", strstr(rig->error, "step 1, movel from where the arm is: it would be refused, "
                                    "collision") == rig->error);
    CHECK_INT("nothing moves", rig->commands, 1);
}

static void test_ends(void)
{
    static const struct {
        enum reply_status status;
        const char *error;
        enum mission_code code;
    } rows[] = {{REPLY_HALTED, "step 1, movej: halted", MISSION_HALTED},
                {REPLY_ERROR, "step 1, movej: error", MISSION_ROBOT_ERROR},
                {REPLY_BLOCKED, "step 1, movej: blocked", MISSION_BLOCKED},
                {REPLY_IGNORED, "step 1, movej: ignored", MISSION_IGNORED}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rig *rig = begin_rig(STEPS START);
        send_reply(rig, "m-1", rows[i].status, NULL, 1);
        CHECK_INT(rows[i].error, rig->verdict, L2_VERDICT_FAILED);
        CHECK_TEXT("why", rig->error, rows[i].error);
        CHECK_INT("its code", rig->code, rows[i].code);
        send_reply(rig, "m-1", REPLY_DONE, NULL, 2);
        CHECK_INT("nothing goes on", rig->commands, 1);
    }
    struct rig *rig = begin_rig(STEPS START);
    arm_mission_tick(&rig->mission, 60000000, record_effect, rig);
    CHECK_TEXT("no reply: halt", rig->last.op, "halt");
    CHECK_INT("failed", rig->verdict, L2_VERDICT_FAILED);
    CHECK_TEXT("why", rig->error, "step 1: no reply in time");
    CHECK_INT("its code", rig->code, MISSION_NO_REPLY);

    rig = begin_rig(STEPS START);
    arm_mission_quit(&rig->mission, 1, record_effect, rig);
    CHECK_TEXT("halt", rig->last.op, "halt");
    send_reply(rig, "m-1", REPLY_HALTED, NULL, 2);
    CHECK_INT("waits for the halt", rig->ends, 0);
    send_reply(rig, "m-2", REPLY_DONE, NULL, 3);
    CHECK_INT("quit", rig->verdict, L2_VERDICT_QUIT);
}

/* A command is written with the members that were given, and read back as the same. */
static void test_written(void)
{
    struct rig *rig = begin_rig(STEPS START);
    char text[512];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    native_write(&w, EVENT_COMMAND, &rig->last);
    CHECK("written", json_write_end(&w));
    CHECK("joints", strstr(text, "\"q_rad\":[1,-1.5708,") != NULL);
    CHECK("no member that was not given", !strstr(text, "v_radps") && !strstr(text, "pose"));
    arm_mission_tick(&rig->mission, 0, record_effect, rig);
    send_reply(rig, "m-1", REPLY_DONE, NULL, 0);
    arm_mission_tick(&rig->mission, 2000000, record_effect, rig);
    json_write_start(&w, text, sizeof text, NULL, NULL);
    native_write(&w, EVENT_COMMAND, &rig->last);
    CHECK("written", json_write_end(&w));
    CHECK("output", strstr(text, "\"pin\":3,\"on\":true}") != NULL);
}

/* The file's message gives the same plan. */
static void test_message(void)
{
    static struct arm_mission_plan plan;
    static char text[MISSION_JSON_MAX];
    const struct pair_params p = {.arm = "ur5e"};
    struct rig *rig = begin_rig(STEPS START);
    struct err err = {0};
    const size_t bytes = moves_message_write(&rig->file, "m", text, sizeof text);
    CHECK("it fits", bytes > 0);
    CHECK_INT("no room", moves_message_write(&rig->file, "m", text, 40), 0);
    (void)moves_message_write(&rig->file, "m", text, sizeof text);
    CHECK_INT(err.text, mission_moves.parse(&mission_moves, text, bytes, &p, &plan, &err),
              STATUS_OK);
    CHECK_INT("patience", plan.patience_us, 5000000);
    CHECK_NEAR("floor", plan.bounds.floor_m, -1, 0, 0);
    CHECK_TEXT("arm", plan.arm.name, "ur5");
    CHECK("start",
          plan.has_start && !memcmp(plan.start_q, rig->file.plan.start_q, sizeof plan.start_q));
    CHECK_INT("steps", plan.count, rig->file.plan.count);
    for (size_t i = 0; i < plan.count; i++) {
        const struct arm_step *step = &plan.steps[i];
        CHECK_INT("kind", step->kind, rig->file.plan.steps[i].kind);
        CHECK_TEXT("op", arm_step_name(step), arm_step_name(&rig->file.plan.steps[i]));
        CHECK("wait", !memcmp(&step->wait_s, &rig->file.plan.steps[i].wait_s, sizeof(double)));
        CHECK_INT("members", step->request.present, rig->file.plan.steps[i].request.present);
        CHECK("joints", !memcmp(step->request.q_rad, rig->file.plan.steps[i].request.q_rad,
                                sizeof step->request.q_rad));
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("arm mission", NULL, NULL);
    CU_add_test(suite, "whole", test_whole);
    CU_add_test(suite, "asked", test_asked);
    CU_add_test(suite, "ends", test_ends);
    CU_add_test(suite, "written", test_written);
    CU_add_test(suite, "by message", test_message);
    return check_run();
}
