/* The simulated arm: commands that it executes, refusals with reasons, and what telemetry shows
 * of it. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "base/numbers/constants.h"
#include "base/numbers/random.h"
#include "twin/arm/arm_servo.h"
#include "twin/sim/robot/arm6.h"
#include "twin/sim/robot/robot_kinds.h"

enum { PERIOD_US = 8000, RECEIVED_MAX = 64 };

static const double WORK[6] = {0.0, -PI / 2.0, -PI / 2.0, -PI / 2.0, PI / 2.0, 0.0};
static const double WORK2[6] = {0.3, -1.2, -1.7, -1.8, 1.5707963, 0.4};

static char *memory;
static struct robot_reply received[RECEIVED_MAX];
static size_t received_count;
static struct arm6_state state;

static void record_reply(void *context, const struct robot_reply *reply)
{
    (void)context;
    CU_ASSERT_FATAL(received_count < RECEIVED_MAX);
    received[received_count++] = *reply;
}

static void set_parameter(const char *name, double value)
{
    char reason[ROBOT_REASON_MAX] = "";
    CHECK_INT(name, robot_set(&arm6_kind, memory, name, value, reason), STATUS_OK);
}

static void begin_at(const double q[6], int64_t period_us)
{
    struct robot_setup setup = {.seed = 1, .period_us = period_us, .pose_count = 6};
    memcpy(setup.pose, q, 6 * sizeof q[0]);
    arm6_kind.init(memory, &setup);
    received_count = 0;
}

static void send_command(const struct event_command *command)
{
    robot_command(&arm6_kind, memory, command, record_reply, NULL);
}

static void run_for(double time_s)
{
    struct robot_sample now = {0};
    arm6_kind.sample(memory, &now);
    const int64_t end_us = now.t_us + lab_us(time_s);
    for (; now.t_us < end_us; arm6_kind.sample(memory, &now)) {
        arm6_kind.step(memory, record_reply, NULL);
    }
    arm6_read(memory, &state);
}

static struct event_command make_movej(const char *id, const double q[6])
{
    struct event_command c = {.op = "movej",
                              .arm = {.present = 1U << EVENT_ARM_Q, .q_count = 6}};
    (void)snprintf(c.id, sizeof c.id, "%s", id);
    memcpy(c.arm.q_rad, q, sizeof c.arm.q_rad);
    return c;
}

static struct event_command make_movel(const char *id, double x, double y, double z)
{
    struct event_command c = {.op = "movel",
                              .arm = {.present = 1U << EVENT_ARM_POSE, .pose_count = 6}};
    arm6_read(memory, &state);
    (void)snprintf(c.id, sizeof c.id, "%s", id);
    memcpy(c.arm.pose, state.tcp, sizeof c.arm.pose);
    c.arm.pose[0] += x;
    c.arm.pose[1] += y;
    c.arm.pose[2] += z;
    return c;
}

static double value_of(const struct robot_reply *reply, const char *name)
{
    for (size_t i = 0; i < reply->value_count; i++) {
        if (strcmp(reply->values[i].name, name) == 0) {
            return reply->values[i].number;
        }
    }
    return nan("");
}

static double lap_s(const struct robot_reply *reply)
{
    return (double)(reply->end_us - reply->start_us) * 1e-6;
}

static void test_movej(void)
{
    static const double home[6] = {0.0, -PI / 2.0, 0.0, -PI / 2.0, 0.0, 0.0};
    begin_at(home, PERIOD_US);
    const struct event_command c = make_movej("a", WORK);
    send_command(&c);
    run_for(1.0);
    CHECK_INT("moves", state.phase, ARM6_MOVING);
    CHECK("half way", state.progress > 0.3 && state.progress < 0.6);
    CHECK_TEXT("its name", state.op, "movej");
    CHECK_NEAR("where to", state.q_r_rad[2], -PI / 2.0, 0, 0);
    CHECK_NEAR("all in one proportion", state.q_sp_rad[4] / (PI / 2.0),
               state.q_sp_rad[2] / (-PI / 2.0), 0, 1e-12);
    run_for(2.0);
    CHECK_INT("one answer", received_count, 1);
    CHECK_INT("done", received[0].status, REPLY_DONE);
    CHECK_TEXT("whose", received[0].id, "a");
    CHECK_NEAR("lap, exactly", lap_s(&received[0]), 2.2459964, 0, 1e-6);
    CHECK_NEAR("there", value_of(&received[0], "q3_rad"), -PI / 2.0, 0, 1e-5);
    CHECK_TEXT("joints first", received[0].values[0].name, "q1_rad");
    CHECK_TEXT("seventh", received[0].values[6].name, "tcp_error_m");
    CHECK_TEXT("eighth", received[0].values[7].name, "path_error_m");
    CHECK_TEXT("last", received[0].values[10].name, "z_m");
    CHECK("on its path", value_of(&received[0], "path_error_m") < 1e-4);
    CHECK_INT("reported as done", state.phase, ARM6_DONE);
    CHECK_NEAR("reported lap", state.lap_s, 2.2459964, 0, 1e-6);
    CHECK_NEAR("reported all", state.progress, 1.0, 0, 0);
    CHECK_NEAR("tool", state.tcp[0], 0.4869, 0, 1e-5);
}

/* A calibrated robot's laps follow the law that the calibration fits. */
static void test_law(void)
{
    begin_at(WORK, PERIOD_US);
    set_parameter("speed_ratio", 0.91);
    set_parameter("acceleration_ratio", 0.8);
    set_parameter("t0_s", 0.1);
    double to[6];
    memcpy(to, WORK, sizeof to);
    to[0] += 1.2;
    struct event_command c = make_movej("a", to);
    send_command(&c);
    to[0] -= 0.3;
    c = make_movej("b", to);
    send_command(&c);
    run_for(6.0);
    CHECK_INT("both", received_count, 2);
    CHECK_NEAR("long", lap_s(&received[0]), 0.1 + arm_duration_s(1.2, 1.05 * 0.91, 1.4 * 0.8),
               0, 2e-6);
    CHECK_NEAR("short", lap_s(&received[1]), 0.1 + arm_duration_s(0.3, 1.05 * 0.91, 1.4 * 0.8),
               0, 2e-6);
    CHECK_INT("the next when the one before was over", received[1].start_us,
              received[0].end_us);
}

/* Each class of moves has a law of its own, in addition to the common one. */
static void test_laws_of_classes(void)
{
    static const struct {
        const char *name;
        double value;
    } set[] = {
        {"t0_s", 0.1},         {"speed_ratio", 0.91},      {"acceleration_ratio", 0.8},
        {"joint_t0_s", -0.04}, {"joint_speed_ratio", 0.9}, {"joint_acceleration_ratio", 0.7},
        {"line_t0_s", 0.03},   {"line_speed_ratio", 1.2},  {"line_acceleration_ratio", 1.5}};
    begin_at(WORK, PERIOD_US);
    for (size_t i = 0; i < COUNT(set); i++) {
        set_parameter(set[i].name, set[i].value);
    }
    struct event_command c = make_movel("line", 0.0, 0.0, 0.1);
    send_command(&c);
    double to[6];
    memcpy(to, WORK, sizeof to);
    to[0] += 1.2;
    c = make_movej("joints", to);
    send_command(&c);
    run_for(6.0);
    CHECK_INT("both", received_count, 2);
    CHECK_NEAR("line", lap_s(&received[0]),
               0.13 + arm_duration_s(0.1, 0.25 * 0.91 * 1.2, 1.2 * 0.8 * 1.5), 0, 1e-5);
    CHECK_NEAR("joints", lap_s(&received[1]),
               0.06 + arm_duration_s(1.2, 1.05 * 0.91 * 0.9, 1.4 * 0.8 * 0.7), 0, 2e-6);
    begin_at(WORK, PERIOD_US);
    set_parameter("joint_t0_s", -1.0);
    c = make_movej("no wait below none", to);
    send_command(&c);
    run_for(4.0);
    CHECK_NEAR("no wait below none", lap_s(&received[0]), arm_duration_s(1.2, 1.05, 1.4), 0,
               2e-6);
}

static void test_lines(void)
{
    begin_at(WORK2, PERIOD_US);
    struct event_command c = make_movel("line", 0.1, 0.15, -0.1);
    send_command(&c);
    run_for(2.0);
    CHECK_INT("line", received[0].status, REPLY_DONE);
    CHECK("on it", value_of(&received[0], "path_error_m") < 1e-5);
    CHECK_NEAR("full duration", lap_s(&received[0]), 1.0329545, 0, 2e-6);
    c = make_movel("back", -0.1, -0.15, 0.1);
    (void)snprintf(c.op, sizeof c.op, "movec");
    c.arm.present |= 1U << EVENT_ARM_VIA | 1U << EVENT_ARM_TURNS;
    memcpy(c.arm.via, c.arm.pose, 3 * sizeof c.arm.via[0]);
    c.arm.via[2] += 0.05;
    c.arm.via_count = 3;
    c.arm.turns = 1.0;
    send_command(&c);
    run_for(20.0);
    CHECK_INT("a circle", received[1].status, REPLY_DONE);
    CHECK("closes", value_of(&received[1], "tcp_error_m") < 1e-5);
    CHECK("on it", value_of(&received[1], "path_error_m") < 2e-5);
}

/* The floor is at the base, unless its parameter says otherwise. An arm on it can leave. */
static void test_floor(void)
{
    static const double lying[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    static const struct {
        double floor_m, z_m; /* NAN: the default */
        enum reply_status status;
    } rows[] = {{NAN, -0.6, REPLY_ERROR}, {NAN, -0.1, REPLY_DONE},   {-10.0, -0.6, REPLY_DONE},
                {-0.5, -0.6, REPLY_DONE}, {0.35, -0.1, REPLY_ERROR}, {0.35, 0.1, REPLY_DONE}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        begin_at(WORK, PERIOD_US);
        if (!isnan(rows[i].floor_m)) {
            set_parameter("floor_m", rows[i].floor_m);
        }
        const struct event_command c = make_movel("f", 0.0, 0.0, rows[i].z_m);
        send_command(&c);
        run_for(10.0);
        CHECK_INT("floor", received[0].status, rows[i].status);
        CHECK("why", (strstr(received[0].detail, "too near to floor") != NULL) ==
                         (rows[i].status == REPLY_ERROR));
    }
    begin_at(lying, PERIOD_US);
    const struct event_command up = make_movej("u", WORK);
    send_command(&up);
    run_for(10.0);
    CHECK_INT("it gets up", received[0].status, REPLY_DONE);
}

static void test_refusals(void)
{
    static const double beyond[6] = {7.0, 0, 0, 0, 0, 0};
    static const double folded[6] = {0, -1.57, 2.9, -1.57, 1.57, 0};
    static const struct {
        const char *row, *op;
        unsigned present;
        size_t count;
        double first, speed, time_s;
        enum arm6_reason reason;
        const char *words;
    } rows[] = {
        {"nothing", "movej", 0, 0, 0, 0, 0, ARM6_NO_REASON + 1, "bad_value: \"q_rad\" or"},
        {"five", "movej", 1U << EVENT_ARM_Q, 5, 0, 0, 0, ARM6_NO_REASON + 1, "with 6 numbers"},
        {"both", "movel", 1U << EVENT_ARM_Q | 1U << EVENT_ARM_POSE, 6, 0, 0, 0,
         ARM6_NO_REASON + 1, "not both"},
        {"no via", "movec", 1U << EVENT_ARM_POSE, 6, 0.3, 0, 0, ARM6_NO_REASON + 1, "\"via\""},
        {"no arc", "movec", 1U << EVENT_ARM_POSE | 1U << EVENT_ARM_VIA, 6, 0.3, 0, 0,
         ARM6_NO_REASON + 1, "lie on one line: use movel"},
        {"no speed", "movej", 1U << EVENT_ARM_Q | 1U << EVENT_ARM_V_RADPS, 6, 0.3, 0, 0,
         ARM6_NO_REASON + 1, "speeds above 0"},
        {"backwards", "movej", 1U << EVENT_ARM_Q | 1U << EVENT_ARM_V_RADPS, 6, 0.3, -1, 0,
         ARM6_NO_REASON + 1, "speeds above 0"},
        {"no number", "movej", 1U << EVENT_ARM_Q, 6, NAN, 0, 0, ARM6_NO_REASON + 1, "finite"},
        {"no number", "movel", 1U << EVENT_ARM_POSE, 6, NAN, 0, 0, ARM6_NO_REASON + 1,
         "finite"},
        {"no time", "speedj", 1U << EVENT_ARM_QD, 6, 0.3, 0, 0, ARM6_NO_REASON + 1,
         "\"time_s\" of 0 to 5 s"},
        {"too long", "speedl", 1U << EVENT_ARM_TWIST | 1U << EVENT_ARM_TIME_S, 6, 0.3, 0, 5.1,
         ARM6_NO_REASON + 1, "\"time_s\" of 0 to 5 s"},
        {"no time for it", "movej", 1U << EVENT_ARM_Q | 1U << EVENT_ARM_TIME_S, 6, 3.0, 0, 0.1,
         (enum arm6_reason)ARM_TOO_FAST, "too_fast: a joint"},
        {"far", "movel", 1U << EVENT_ARM_POSE, 6, 2.0, 0, 0, (enum arm6_reason)ARM_OUT_OF_REACH,
         "of the path: too far"},
        {"far", "movej", 1U << EVENT_ARM_POSE, 6, 2.0, 0, 0, (enum arm6_reason)ARM_OUT_OF_REACH,
         "out_of_reach: at 1.000"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        begin_at(WORK, PERIOD_US);
        struct event_command c = {.id = "r"};
        (void)snprintf(c.op, sizeof c.op, "%s", rows[i].op);
        c.arm.present = rows[i].present;
        c.arm.q_count = c.arm.pose_count = c.arm.qd_count = c.arm.twist_count = rows[i].count;
        memcpy(c.arm.q_rad, WORK, sizeof c.arm.q_rad);
        c.arm.q_rad[0] = c.arm.pose[0] = c.arm.qd_radps[0] = c.arm.twist[0] = rows[i].first;
        c.arm.pose[2] = 0.4;
        c.arm.via_count = rows[i].present & 1U << EVENT_ARM_VIA ? 3 : 0;
        memcpy(c.arm.via, c.arm.pose, 3 * sizeof c.arm.via[0]); /* the end itself */
        c.arm.v_radps = rows[i].speed;
        c.arm.time_s = rows[i].time_s;
        send_command(&c);
        run_for(0.5);
        CHECK_INT(rows[i].row, received_count, 1);
        CHECK_INT(rows[i].row, received[0].status, REPLY_ERROR);
        CHECK(received[0].detail, strstr(received[0].detail, rows[i].words));
        CHECK_INT(rows[i].row, state.phase, ARM6_REFUSED);
        CHECK_INT(rows[i].row, state.reason, rows[i].reason);
        for (size_t j = 0; j < 6; j++) {
            CHECK_NEAR(rows[i].row, state.q_rad[j], WORK[j], 0, 1e-12);
        }
    }
    begin_at(WORK, PERIOD_US);
    struct event_command c = make_movej("limit", beyond);
    send_command(&c);
    c = make_movej("fold", folded);
    send_command(&c);
    c = (struct event_command){.id = "mode", .op = "mode"};
    send_command(&c);
    run_for(0.1);
    CHECK(received[0].detail, strstr(received[0].detail, "joint_limit: at 1.000"));
    CHECK(received[1].detail, strstr(received[1].detail, "collision: at "));
    CHECK(received[1].detail, strstr(received[1].detail, " too near to "));
    CHECK_INT("a mode of nothing", received[2].status, REPLY_ERROR);
    c = (struct event_command){.id = "what", .op = "dance"};
    send_command(&c);
    run_for(0.1);
    CHECK_INT("unknown", received[3].status, REPLY_IGNORED);
    CHECK_INT("all", received_count, 4);
}

/* Random stops at random times: every command has one answer, stops come to rest, nothing
 * jumps. */
static void test_queue_and_interrupt(void)
{
    double to[6];
    memcpy(to, WORK, sizeof to);
    to[0] = 1.0;
    for (int busy = 0; busy < 2; busy++) {
        begin_at(WORK, PERIOD_US);
        set_parameter("busy", busy);
        const struct event_command there = make_movej("there", to);
        const struct event_command back = make_movej("back", WORK);
        send_command(&there);
        run_for(1.0);
        const double before = state.q_rad[0];
        send_command(&back);
        run_for(0.008);
        CHECK_INT("target is fixed, or moves", fabs(state.qd_sp_radps[0]) < 0.02, busy);
        run_for(5.0);
        CHECK_INT("two answers", received_count, 2);
        CHECK_TEXT("in order", received[0].id, "there");
        CHECK_INT("first", received[0].status, busy ? REPLY_HALTED : REPLY_DONE);
        CHECK_INT("second", received[1].status, REPLY_DONE);
        CHECK_NEAR("its own lap", lap_s(&received[0]),
                   busy ? 1.0 : arm_duration_s(1.0, 1.05, 1.4), 0, 2e-6);
        CHECK("ran on", before > 0.3);
        CHECK_NEAR("back", state.q_rad[0], 0.0, 0, 1e-5);
        if (busy) {
            CHECK_NEAR("of the rest of the way", lap_s(&received[1]),
                       arm_duration_s(before + 0.02, 1.05, 1.4), 0.02, 0);
        }
    }
}

static void test_stops(void)
{
    double to[6];
    memcpy(to, WORK, sizeof to);
    to[0] = 2.0;
    for (int halt = 0; halt < 2; halt++) {
        begin_at(WORK, PERIOD_US);
        const struct event_command a = make_movej("a", to);
        const struct event_command b = make_movej("b", WORK);
        struct event_command stop = {.id = "s"};
        (void)snprintf(stop.op, sizeof stop.op, "%s", halt ? "halt" : "stopj");
        send_command(&a);
        send_command(&b);
        run_for(1.2);
        send_command(&stop);
        run_for(6.0);
        CHECK_INT("three answers", received_count, 3);
        CHECK_TEXT("the one stopped", received[0].id, "a");
        CHECK_INT("the one stopped", received[0].status, REPLY_HALTED);
        if (halt) {
            CHECK_TEXT("the one that waited", received[1].id, "b");
            CHECK_INT("the one that waited", received[1].status, REPLY_HALTED);
            CHECK_NEAR("rests on the way", state.q_rad[0], state.q_sp_rad[0], 0, 1e-6);
            CHECK("on the way", state.q_rad[0] > 0.8 && state.q_rad[0] < 1.6);
        } else {
            CHECK_NEAR("the one that waited came after", state.q_rad[0], 0.0, 0, 1e-5);
        }
        const struct robot_reply *done = &received[halt ? 2 : 1];
        CHECK_TEXT("then the stop", done->id, "s");
        CHECK_INT("then the stop", done->status, REPLY_DONE);
        CHECK_NEAR("from 1.05 rad/s at 2 rad/s^2", lap_s(done), 0.525, 0, 0.009);
    }
    begin_at(WORK, PERIOD_US);
    const struct event_command nothing = {.id = "h", .op = "halt"};
    send_command(&nothing);
    run_for(0.1);
    CHECK_INT("at rest", received[0].status, REPLY_DONE);
}

/* Every command is answered once, however many come and whatever stops them. */
static void test_bounds(void)
{
    begin_at(WORK, PERIOD_US);
    for (int i = 0; i < 25; i++) {
        double to[6];
        memcpy(to, WORK, sizeof to);
        to[0] = 0.1 * i;
        const struct event_command c = make_movej("m", to);
        send_command(&c);
    }
    CHECK_INT("16 wait, the rest is refused", received_count, 9);
    CHECK(received[0].detail, strstr(received[0].detail, "too many"));
    const struct event_command halt = {.id = "h", .op = "halt"};
    send_command(&halt);
    run_for(1.0);
    CHECK_INT("a halt is always accepted", received_count, 9 + 16 + 1);
    CHECK_INT("and done", received[25].status, REPLY_DONE);
}

static struct event_command make_jog(const char *op, double first, double time_s)
{
    struct event_command c = {.id = "j"};
    (void)snprintf(c.op, sizeof c.op, "%s", op);
    c.arm.present = 1U << EVENT_ARM_QD | 1U << EVENT_ARM_TWIST | 1U << EVENT_ARM_TIME_S;
    c.arm.qd_count = c.arm.twist_count = 6;
    c.arm.qd_radps[0] = first;
    c.arm.twist[2] = first;
    c.arm.time_s = time_s;
    return c;
}

static void test_jogs(void)
{
    static const double near_end[6] = {6.0, -PI / 2.0, -PI / 2.0, -PI / 2.0, PI / 2.0, 0.0};
    begin_at(WORK, PERIOD_US);
    struct event_command c = make_jog("speedj", 0.5, 1.0);
    send_command(&c);
    run_for(0.9);
    CHECK_NEAR("speed", state.qd_radps[0], 0.5, 0, 1e-3);
    run_for(1.0);
    CHECK_INT("over", received[0].status, REPLY_DONE);
    CHECK_NEAR("1 s and a stop", lap_s(&received[0]), 1.0 + 0.5 / 1.4, 0, 0.02);
    CHECK_NEAR("way", state.q_rad[0], 0.5, 0.02, 0);
    begin_at(near_end, PERIOD_US);
    c = make_jog("speedj", 1.0, 2.0);
    send_command(&c);
    run_for(3.0);
    CHECK("stops at its end", state.q_rad[0] <= 2.0 * PI && state.q_rad[0] > 2.0 * PI - 1e-2);
    begin_at(WORK, PERIOD_US);
    c = make_jog("speedl", 0.1, 2.0);
    send_command(&c);
    run_for(1.0);
    const double z = state.tcp[2];
    CHECK_NEAR("tool's speed", state.tcp_speed[2], 0.1, 0, 1e-3);
    c = make_jog("speedl", -0.1, 0.5);
    send_command(&c);
    run_for(0.008);
    CHECK("without a stop", state.tcp_sp_speed[2] > 0.08);
    run_for(2.0);
    CHECK_INT("the one before", received[0].status, REPLY_HALTED);
    CHECK("back", state.tcp[2] < z);
    CHECK_NEAR("upright", state.tcp[0], 0.4869, 0, 1e-4);
    c = make_jog("speedl", -0.5, 5.0);
    send_command(&c);
    run_for(5.5);
    CHECK_INT("something in the way", received[2].status, REPLY_ERROR);
    CHECK("protects itself", state.protective_stop);
    CHECK_INT("stopped", state.phase, ARM6_STOPPED);
    CHECK("rests", fabs(state.qd_radps[1]) < 1e-4);
}

static void test_external(void)
{
    double q[6];
    memcpy(q, WORK, sizeof q);
    begin_at(WORK, PERIOD_US);
    CHECK_INT("not asked for", arm6_stream(memory, q), STATUS_E_STALE);
    struct event_command mode = {.id = "m", .op = "mode"};
    mode.arm.present = 1U << EVENT_ARM_EXTERNAL;
    mode.arm.external = 1;
    send_command(&mode);
    run_for(0.1);
    CHECK("external", state.external && !state.stream_alive);
    const struct event_command move = make_movej("a", WORK2);
    send_command(&move);
    for (int i = 0; i < 100; i++) {
        q[0] += 0.004;
        CHECK_INT("taken", arm6_stream(memory, q), STATUS_OK);
        run_for(0.008);
    }
    CHECK_NEAR("as reported", state.q_sp_rad[0], 0.4, 0, 1e-9);
    CHECK_NEAR("follows", state.q_rad[0], 0.4, 0, 0.02);
    CHECK_NEAR("speed", state.qd_radps[0], 0.5, 0, 0.01);
    CHECK_INT("moves are refused", state.reason, ARM6_BUSY);
    run_for(1.0);
    CHECK("without it at rest", !state.stream_alive && fabs(state.qd_radps[0]) < 1e-6);
    q[1] = NAN;
    CHECK_INT("no number", arm6_stream(memory, q), STATUS_E_RANGE);
    q[1] = 7.0;
    CHECK_INT("beyond", arm6_stream(memory, q), STATUS_E_RANGE);
    run_for(0.008);
    CHECK("and reported", state.protective_stop);
    const struct event_command halt = {.id = "h", .op = "halt"};
    send_command(&halt);
    run_for(0.1);
    CHECK("a halt ends it", !state.external);
    mode.arm.present |= 1U << EVENT_ARM_CARTESIAN;
    mode.arm.cartesian = 1;
    send_command(&mode);
    run_for(0.1);
    double pose[6];
    memcpy(pose, state.tcp, sizeof pose);
    pose[2] += 0.01;
    CHECK_INT("a pose", arm6_stream(memory, pose), STATUS_OK);
    run_for(0.4);
    CHECK_NEAR("there", state.tcp[2], pose[2], 0, 1e-4);
}

static void test_efforts(void)
{
    double u[6] = {0.3, 0, 0, 0, 0, -0.2};
    begin_at(WORK, PERIOD_US);
    CHECK_INT("five", arm6_kind.effort(memory, u, 5), STATUS_E_RANGE);
    for (int i = 0; i < 50; i++) {
        CHECK_INT("six", arm6_kind.effort(memory, u, 6), STATUS_OK);
        run_for(0.02);
    }
    CHECK_NEAR("speed", state.qd_radps[0], 0.3, 0, 1e-6);
    CHECK_NEAR("other", state.qd_radps[5], -0.2, 0, 1e-6);
    run_for(1.0);
    CHECK_NEAR("silence", state.qd_radps[0], 0.0, 0, 1e-6);
    u[0] = NAN;
    CHECK_INT("no number", arm6_kind.effort(memory, u, 6), STATUS_E_RANGE);
    const double at = state.q_rad[0];
    const struct event_command c = make_movej("a", WORK);
    send_command(&c);
    run_for(0.016);
    CHECK_NEAR("from where it is", state.q_rad[0], at, 0, 1e-3);
    run_for(3.0);
    CHECK_NEAR("there", state.q_rad[0], 0.0, 0, 1e-5);
}

/* Rate of the set points' speeds, as telemetry reports it; NULL: it does not. */
static const double *commanded_rates(void)
{
    static struct robot_sample sample;
    arm6_kind.sample(memory, &sample);
    for (size_t i = 0; i < sample.more_count; i++) {
        if (strcmp(sample.more[i].name, "tau_dot") == 0) {
            CHECK_INT("of all joints", sample.more[i].count, 6);
            return sample.more[i].number;
        }
    }
    return NULL;
}

/* A rate holds for the next period from the present pose; NAN: no rate. */
static double check_rates(int periods)
{
    double most = 0.0;
    for (int k = 0; k < periods; k++) {
        const double *present = commanded_rates();
        double rate[6];
        if (!present) {
            return nan("");
        }
        memcpy(rate, present, sizeof rate);
        arm6_read(memory, &state);
        const struct arm6_state before = state;
        run_for(0.008);
        for (size_t j = 0; j < 6; j++) {
            CHECK_NEAR("the next speed", state.qd_sp_radps[j],
                       before.qd_sp_radps[j] + 0.008 * rate[j], 0, 1e-9);
            CHECK_NEAR("for RTDE, too", before.qdd_sp_radps2[j], rate[j], 0, 0);
            most = fmax(most, fabs(rate[j]));
        }
    }
    return most;
}

static void test_accelerations(void)
{
    struct event_command jog = {.id = "b",
                                .op = "speedj",
                                .arm = {.present = 1U << EVENT_ARM_QD | 1U << EVENT_ARM_TIME_S,
                                        .qd_count = 6,
                                        .qd_radps = {0.3},
                                        .time_s = 0.5}};
    const double u[6] = {0.3};
    begin_at(WORK, PERIOD_US);
    CHECK_NEAR("at rest", check_rates(5), 0.0, 0, 0);
    const struct event_command joints = make_movej("a", WORK2);
    send_command(&joints);
    CHECK_NEAR("a joint move", check_rates(200), 1.4, 1e-9, 0);
    const struct event_command line = make_movel("l", 0.0, 0.0, 0.1);
    send_command(&line);
    CHECK("a line", check_rates(200) > 0.5);
    send_command(&jog);
    run_for(0.1);
    CHECK("a jog", !commanded_rates());
    run_for(2.0);
    CHECK_INT("efforts", arm6_kind.effort(memory, u, 6), STATUS_OK);
    run_for(0.1);
    CHECK("who knows what comes", !commanded_rates());
    begin_at(WORK, PERIOD_US);
    set_parameter("controller", ARM_CONTROLLER_P);
    send_command(&joints);
    run_for(0.1);
    CHECK("joints on their own", !commanded_rates());
}

static unsigned draw_below(struct random_source *random, size_t count)
{
    return (unsigned)(random_uniform(random) * (double)count);
}

/* Any commands with any numbers: each command has one answer, telemetry is finite, and no joint
 * leaves its range. */
static void test_random(void)
{
    static const char *const ops[] = {"movej", "movel", "movec", "speedj", "speedl",
                                      "stopj", "halt",  "mode",  "go"};
    static const double wild[] = {0.0,      1e-300, 1e300, -1e9, NAN,
                                  INFINITY, 7.0,    -0.5,  0.3,  0.05};
    struct random_source random = {.state = 16};
    size_t present = 0;
    size_t answers = 0;
    size_t streamed = 0;
    begin_at(WORK, PERIOD_US);
    for (int i = 0; i < 4000; i++) {
        struct event_command c = {.id = "r"};
        double *numbers[] = {c.arm.q_rad, c.arm.pose, c.arm.via, c.arm.qd_radps, c.arm.twist};
        (void)snprintf(c.op, sizeof c.op, "%s", ops[draw_below(&random, COUNT(ops))]);
        c.arm.present = (uint32_t)draw_below(&random, 1U << EVENT_ARM_MEMBER_COUNT);
        c.arm.q_count = c.arm.pose_count = c.arm.qd_count = c.arm.twist_count = 6;
        c.arm.via_count = draw_below(&random, 2) ? 3 : 6;
        const bool mad = draw_below(&random, 4) == 0;
        for (size_t k = 0; k < COUNT(numbers); k++) {
            for (size_t j = 0; j < 6; j++) {
                numbers[k][j] = mad ? wild[draw_below(&random, COUNT(wild))]
                                    : random_between(&random, -0.8, 0.8);
            }
        }
        c.arm.v_radps = c.arm.v_mps = mad ? wild[draw_below(&random, COUNT(wild))] : 2.0;
        c.arm.a_radps2 = c.arm.a_mps2 = mad ? wild[draw_below(&random, COUNT(wild))] : 4.0;
        c.arm.time_s = random_between(&random, -0.1, 2.0);
        c.arm.turns = mad ? wild[draw_below(&random, COUNT(wild))] : 0.0;
        c.arm.external = draw_below(&random, 4) == 0;
        c.arm.dynamics = (int8_t)(draw_below(&random, ARM_DYNAMICS_COUNT));
        set_parameter("busy", (double)(draw_below(&random, 2)));
        received_count = 0;
        send_command(&c);
        present++;
        streamed += arm6_stream(memory, c.arm.q_rad) == STATUS_OK;
        (void)arm6_kind.effort(memory, c.arm.qd_radps, 6);
        run_for(random_between(&random, 0.0, 0.3));
        answers += received_count;
        for (size_t j = 0; j < 6; j++) {
            CHECK("finite", isfinite(state.q_rad[j]) && isfinite(state.qd_sp_radps[j]) &&
                                isfinite(state.tcp[j]) && isfinite(state.current_a[j]));
            CHECK("within its range", fabs(state.q_sp_rad[j]) < 2.0 * PI + 0.1);
        }
        for (size_t k = 0; k < received_count; k++) {
            for (size_t v = 0; v < received[k].value_count; v++) {
                CHECK(received[k].values[v].name, isfinite(received[k].values[v].number));
            }
            CHECK("ends after it began", received[k].end_us >= received[k].start_us);
        }
    }
    const struct event_command halt = {.id = "h", .op = "halt"};
    received_count = 0;
    send_command(&halt);
    run_for(40.0);
    answers += received_count;
    CHECK_INT("one answer each", answers, present + 1);
    CHECK("set points, too", streamed > 10);
}

static void test_kind(void)
{
    static const char *const lists[] = {"arm", "controller", "dynamics"};
    const int arm = robot_parameter_find(&arm6_kind, lists[0]);
    const int controller = robot_parameter_find(&arm6_kind, lists[1]);
    const int dynamics = robot_parameter_find(&arm6_kind, lists[2]);
    CU_ASSERT_FATAL(arm >= 0 && controller >= 0 && dynamics >= 0);
    for (size_t i = 0; arm_geometry_name(i); i++) {
        CHECK_TEXT("arms", arm6_kind.parameters[arm].choices[i], arm_geometry_name(i));
        CHECK("all", i <= (size_t)arm6_kind.parameters[arm].max);
    }
    for (size_t i = 0; i < ARM_CONTROLLER_COUNT; i++) {
        CHECK_TEXT("controllers", arm6_kind.parameters[controller].choices[i],
                   arm_controller_names.text[i]);
    }
    CHECK_INT("all controllers", (int)arm6_kind.parameters[controller].max + 1,
              ARM_CONTROLLER_COUNT);
    for (size_t i = 0; i < ARM_DYNAMICS_COUNT; i++) {
        CHECK_TEXT("dynamics", arm6_kind.parameters[dynamics].choices[i],
                   arm_dynamics_names.text[i]);
    }
}

/* Real links, a tool, another arm: poses are met by what the arm is. */
static void test_geometry(void)
{
    begin_at(WORK2, PERIOD_US);
    set_parameter("link2_x_m", 0.002);
    set_parameter("link3_rz_rad", 0.003);
    set_parameter("tool_z_m", 0.15);
    const struct event_command c = make_movel("a", 0.05, 0.0, 0.05);
    send_command(&c);
    run_for(2.0);
    CHECK_INT("done", received[0].status, REPLY_DONE);
    CHECK("met", fabs(state.tcp[0] - c.arm.pose[0]) < 1e-5);
    CHECK("corrected", state.arm.corrected);
    const double before = state.tcp[2];
    const struct event_command again = make_movel("b", 0.0, 0.0, -0.2);
    send_command(&again);
    run_for(0.2);
    set_parameter("arm", 1.0);
    run_for(1.0);
    CHECK_INT("its plan is void", received[1].status, REPLY_HALTED);
    CHECK_TEXT("another arm", state.arm.name, "ur5e");
    CHECK("another place", fabs(state.tcp[2] - before) > 1e-3);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    memory = calloc(1, arm6_kind.bytes);
    if (!memory) {
        return 1;
    }
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("arm6", NULL, NULL);
    CU_add_test(suite, "movej", test_movej);
    CU_add_test(suite, "law", test_law);
    CU_add_test(suite, "laws of classes", test_laws_of_classes);
    CU_add_test(suite, "lines", test_lines);
    CU_add_test(suite, "floor", test_floor);
    CU_add_test(suite, "refusals", test_refusals);
    CU_add_test(suite, "queue and interrupt", test_queue_and_interrupt);
    CU_add_test(suite, "stops", test_stops);
    CU_add_test(suite, "bounds", test_bounds);
    CU_add_test(suite, "jogs", test_jogs);
    CU_add_test(suite, "external", test_external);
    CU_add_test(suite, "efforts", test_efforts);
    CU_add_test(suite, "accelerations", test_accelerations);
    CU_add_test(suite, "random", test_random);
    CU_add_test(suite, "kind", test_kind);
    CU_add_test(suite, "geometry", test_geometry);
    const int failed = check_run();
    free(memory);
    return failed;
}
