/* A pair of arms: sizes of moves that were not reported, distances of the tools, lines,
 * commanded times. Both robots are simulated here: a move's own plan, by ratios of its speed
 * and acceleration. */
#include "tests/support/lab_script.h"

#include <gsl/gsl_errno.h>

#include "service/replay/rows.h"
#include "tests/support/travel_truth.h"
#include "twin/arm/arm_move.h"
#include "twin/sim/robot/robot_kinds.h"

#define AT(s) ((int64_t)((s)*1e6) + 1000000000)

static const double WORK[ARM_JOINTS] = {0.0, -1.5708, -1.5708, -1.5708, 1.5708, 0.0};

/* How a robot differs from its commands, and what it reports. */
struct robot {
    double t0_s, speed, acceleration;
    double off_rad; /* of its first joint, all the time */
    bool telemetry, values;
};

static const struct robot exact = {0.02, 1.0, 1.0, 0.0, true, true};
static const struct robot slower = {0.05, 0.91, 0.85, 0.0, true, true};

struct lab_of_arms {
    struct script s;
    struct arm_geometry geometry;
    struct robot robot[SIDE_COUNT];
    double q[ARM_JOINTS]; /* where the last move ended */
    double t_s;
    size_t moves;
    double noise_s;
    uint64_t draws;
};

static void open_lab(struct lab_of_arms *lab, const struct robot *real,
                     const struct robot *virtual)
{
    memset(lab, 0, sizeof *lab);
    script_init(&lab->s, 1);
    (void)snprintf(lab->s.params[0].arm, sizeof lab->s.params[0].arm, "ur5");
    lab->s.params[0].outstanding_max = 4;
    script_open(&lab->s);
    CU_ASSERT_FATAL(arm_geometry_find("ur5", &lab->geometry));
    lab->robot[SIDE_REAL] = *real;
    lab->robot[SIDE_VIRTUAL] = *virtual;
    memcpy(lab->q, WORK, sizeof lab->q);
    lab->draws = 1234567;
}

static struct event command_event(struct lab_of_arms *lab, const char *op)
{
    struct event e = script_event("r1", AT(lab->t_s), EVENT_COMMAND, SIDE_COUNT);
    (void)snprintf(e.command.id, sizeof e.command.id, "c%zu", ++lab->moves);
    (void)snprintf(e.command.op, sizeof e.command.op, "%s", op);
    e.command.source_us = LAB_TIME_NONE;
    e.command.seq = -1;
    e.command.raw = "{}";
    e.command.raw_bytes = 2;
    e.hash = hash_text(e.command.id);
    return e;
}

static struct event to_joints(struct lab_of_arms *lab, const double q[ARM_JOINTS])
{
    struct event e = command_event(lab, "movej");
    e.command.arm.present = 1U << EVENT_ARM_Q;
    e.command.arm.q_count = ARM_JOINTS;
    memcpy(e.command.arm.q_rad, q, sizeof e.command.arm.q_rad);
    return e;
}

/* The tool shifted by this vector, its rotation unchanged. */
static struct event to_place(struct lab_of_arms *lab, double x_m, double y_m, double z_m)
{
    struct event e = command_event(lab, "movel");
    struct rigid tool = arm_forward(&lab->geometry, lab->q);
    tool.at_m[0] += x_m;
    tool.at_m[1] += y_m;
    tool.at_m[2] += z_m;
    e.command.arm.present = 1U << EVENT_ARM_POSE;
    e.command.arm.pose_count = 6;
    rigid_to_pose(&tool, e.command.arm.pose);
    return e;
}

static struct arm_move plan_move_of(const struct lab_of_arms *lab, const struct event *e)
{
    struct arm_move move;
    const struct rigid to = rigid_from_pose(e->command.arm.pose);
    const struct arm_fault fault =
        strcmp(e->command.op, "movej") == 0
            ? arm_plan_joints(&lab->geometry, lab->q, e->command.arm.q_rad, &arm_rates_default,
                              &arm_bounds_none, &move)
            : arm_plan_line(&lab->geometry, lab->q, &to, &arm_rates_default, &arm_bounds_none,
                            &move);
    CU_ASSERT_EQUAL_FATAL(fault.refusal, ARM_ACCEPTED);
    return move;
}

static void send_telemetry(struct lab_of_arms *lab, enum side s, double t_s,
                           const double q[ARM_JOINTS], const double qd[ARM_JOINTS])
{
    struct event e = script_event("r1", AT(t_s), EVENT_TELEMETRY, s);
    e.telemetry.source_us = LAB_TIME_NONE;
    e.telemetry.seq = -1;
    e.telemetry.pose_count = e.telemetry.nu_count = ARM_JOINTS;
    memcpy(e.telemetry.pose, q, sizeof e.telemetry.pose);
    memcpy(e.telemetry.nu, qd, sizeof e.telemetry.nu);
    e.telemetry.pose[0] += lab->robot[s].off_rad;
    lab_step(lab->s.lab, &e, &lab->s.fx);
}

static void send_end(struct lab_of_arms *lab, enum side s, double t_s, const char *id,
                     enum reply_status status, const double q[ARM_JOINTS])
{
    struct event e = script_reply_event("r1", AT(t_s), s, id, status);
    for (size_t j = 0; j < ARM_JOINTS && lab->robot[s].values; j++) {
        struct event_value *v = &e.reply.values[e.reply.value_count++];
        (void)snprintf(v->name, sizeof v->name, "q%zu_rad", j + 1);
        v->place = hash_text(v->name);
        v->kind = VALUE_NUMBER;
        v->number = q[j] + (j == 0 ? lab->robot[s].off_rad : 0.0);
    }
    lab_step(lab->s.lab, &e, &lab->s.fx);
}

static struct arm_move as_robot(const struct lab_of_arms *lab, enum side s,
                                const struct arm_move *commanded)
{
    struct arm_move move = *commanded;
    move.speed = fmin(commanded->speed_limit * lab->robot[s].speed,
                      sqrt(commanded->acceleration * lab->robot[s].acceleration));
    move.acceleration *= lab->robot[s].acceleration;
    move.duration_s = 1.0 / move.speed + move.speed / move.acceleration;
    return move;
}

/* The command, telemetry of both at 20 Hz on the way, and their replies. Returns the entry. */
static struct entry run_move(struct lab_of_arms *lab, const struct event *command)
{
    const struct arm_move commanded = plan_move_of(lab, command);
    struct arm_move move[SIDE_COUNT];
    double end_s[SIDE_COUNT];
    bool over[SIDE_COUNT] = {false, false};
    double q[ARM_JOINTS];
    double qd[ARM_JOINTS];
    script_clear(&lab->s);
    lab_step(lab->s.lab, command, &lab->s.fx);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        move[s] = as_robot(lab, s, &commanded);
        end_s[s] =
            lab->robot[s].t0_s + move[s].duration_s + lab->noise_s * truth_normal(&lab->draws);
    }
    for (double at_s = 0.0; !over[SIDE_REAL] || !over[SIDE_VIRTUAL]; at_s += 0.05) {
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            if (!over[s] && end_s[s] <= at_s) {
                send_end(lab, s, lab->t_s + end_s[s], command->command.id, REPLY_DONE,
                         commanded.to_q);
                over[s] = true;
            }
        }
        for (enum side s = SIDE_REAL; s < SIDE_COUNT && lab->robot[s].telemetry; s++) {
            (void)arm_move_at(&move[s], &lab->geometry, at_s - lab->robot[s].t0_s, q, qd);
            send_telemetry(lab, s, lab->t_s + at_s, q, qd);
        }
    }
    lab->t_s += fmax(end_s[0], end_s[1]) + 1.0;
    memcpy(lab->q, commanded.to_q, sizeof lab->q);
    const struct script_effect *entry = script_find(&lab->s, EFFECT_ENTRY, 0);
    CU_ASSERT_FATAL(entry != NULL);
    return entry->entry;
}

static uint64_t moves_of(const struct lab_of_arms *lab, enum side s)
{
    return lab_pair(lab->s.lab, 0)->side[s].moves;
}

/* The start of a move is known from telemetry, else from the last reply, else from the last
 * command's target; no message gives its size. */
static void test_sizes(void)
{
    static const struct {
        const char *row;
        bool telemetry, values;
    } rows[] = {
        {"telemetry", true, false}, {"replies", false, true}, {"targets", false, false}};
    for (size_t k = 0; k < COUNT(rows); k++) {
        static struct lab_of_arms lab;
        struct robot robot = exact;
        robot.telemetry = rows[k].telemetry;
        robot.values = rows[k].values;
        open_lab(&lab, &robot, &robot);
        double q[ARM_JOINTS];
        memcpy(q, WORK, sizeof q);
        struct event e = to_joints(&lab, q);
        e.command.arm.q_rad[0] = 0.1; /* from an unknown place, unless it was reported before */
        (void)run_move(&lab, &e);
        CHECK_INT(rows[k].row, moves_of(&lab, SIDE_REAL), 0);
        q[0] = -0.9;
        q[4] += 0.3;
        e = to_joints(&lab, q);
        struct entry entry = run_move(&lab, &e);
        CHECK_NEAR(rows[k].row, entry.rotation_rad, 1.0, 0.0, 1e-9);
        CHECK_NEAR(rows[k].row, entry.displacement_m, 0.0, 0.0, 0.0);
        CHECK_INT(rows[k].row, moves_of(&lab, SIDE_REAL), 1);
        e = to_place(&lab, 0.0, 0.0, 0.08);
        entry = run_move(&lab, &e);
        CHECK_NEAR(rows[k].row, entry.displacement_m, 0.08, 0.0, 1e-9);
        CHECK_NEAR(rows[k].row, entry.rotation_rad, 0.0, 0.0, 1e-9);
        CHECK_INT(rows[k].row, moves_of(&lab, SIDE_VIRTUAL), 2);
        CHECK_INT(rows[k].row, entry.verdict, VERDICT_SYNC);
        script_close(&lab.s);
    }
}

/* A pose that the arm cannot reach has no move, so no size; the calibration leaves it out. */
static void test_out_of_reach(void)
{
    static struct lab_of_arms lab;
    open_lab(&lab, &exact, &exact);
    send_telemetry(&lab, SIDE_REAL, -1.0, WORK, (double[ARM_JOINTS]){0.0});
    double q[ARM_JOINTS];
    memcpy(q, WORK, sizeof q);
    q[0] += 0.5;
    struct event e = to_joints(&lab, q);
    (void)run_move(&lab, &e);
    script_clear(&lab.s);
    e = command_event(&lab, "movej");
    e.command.arm.present = 1U << EVENT_ARM_POSE;
    e.command.arm.pose_count = 6;
    e.command.arm.pose[0] = 3.0;
    lab_step(lab.s.lab, &e, &lab.s.fx);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        send_end(&lab, s, lab.t_s + 1.2, e.command.id, REPLY_DONE, q);
    }
    const struct script_effect *entry = script_find(&lab.s, EFFECT_ENTRY, 0);
    CU_ASSERT_FATAL(entry != NULL);
    CHECK_NEAR("no rotation", entry->entry.rotation_rad, 0.0, 0.0, 0.0);
    CHECK_INT("no move", moves_of(&lab, SIDE_REAL), 1);
    script_close(&lab.s);
}

/* A reported size counts; a move with a commanded time is no evidence of speeds. */
static void test_given_size(void)
{
    static struct lab_of_arms lab;
    open_lab(&lab, &exact, &exact);
    double q[ARM_JOINTS];
    memcpy(q, WORK, sizeof q);
    send_telemetry(&lab, SIDE_REAL, -1.0, WORK, (double[ARM_JOINTS]){0.0});
    q[1] += 0.4;
    struct event e = to_joints(&lab, q);
    e.command.rotation_rad = 7.0;
    const struct entry entry = run_move(&lab, &e);
    CHECK_NEAR("told", entry.rotation_rad, 7.0, 0.0, 0.0);
    CHECK_INT("told", moves_of(&lab, SIDE_REAL), 1);
    q[1] -= 0.4;
    e = to_joints(&lab, q);
    e.command.arm.present |= 1U << EVENT_ARM_TIME_S;
    e.command.arm.time_s = 4.0;
    (void)run_move(&lab, &e);
    CHECK_INT("timed", moves_of(&lab, SIDE_REAL), 1);
    CHECK_INT("timed", lab_pair(lab.s.lab, 0)->side[SIDE_REAL].moves_excluded, 1);
    script_close(&lab.s);
}

/* A move that the real arm has completed when it is reported, for the virtual one to repeat. */
static void test_repeated(void)
{
    static struct lab_of_arms lab;
    static const double rest[ARM_JOINTS];
    for (int given = 0; given < 2; given++) {
        double q[ARM_JOINTS];
        open_lab(&lab, &exact, &exact);
        memcpy(q, WORK, sizeof q);
        q[1] += 0.4;
        struct event e = to_joints(&lab, q);
        q[1] -= 1e-4; /* a servo's rest */
        send_telemetry(&lab, SIDE_REAL, -1.0, q, rest);
        send_telemetry(&lab, SIDE_VIRTUAL, -1.0, WORK, rest);
        e.command.rotation_rad = given ? 0.4 : 0.0;
        lab_step(lab.s.lab, &e, &lab.s.fx);
        script_reply(&lab.s, "r1", AT(1.0), SIDE_REAL, e.command.id, REPLY_DONE);
        script_reply(&lab.s, "r1", AT(1.0), SIDE_VIRTUAL, e.command.id, REPLY_DONE);
        const struct pair *pair = lab_pair(lab.s.lab, 0);
        CHECK_INT("it counts", pair->window_count, 1);
        /* It is too short for the commanded speed, which is known all the same. */
        const double size_rad = given ? 0.4 : 1e-4;
        CHECK_NEAR("its size", (double)pair->window[0].speed,
                   arm_rates_default.v_radps / size_rad, 1e-4, 0.0);
        script_close(&lab.s);
    }
}

/* A waiting move begins where the previous one ends; a halted one also excludes its successors
 * from the calibration. */
static void test_waiting(void)
{
    for (enum reply_status first = REPLY_DONE; first <= REPLY_HALTED;
         first += REPLY_HALTED - REPLY_DONE) {
        static struct lab_of_arms lab;
        const char *row = reply_status_name(first);
        double q[2][ARM_JOINTS];
        open_lab(&lab, &exact, &exact);
        send_telemetry(&lab, SIDE_REAL, -1.0, WORK, (double[ARM_JOINTS]){0.0});
        memcpy(q[0], WORK, sizeof q[0]);
        q[0][0] = 0.5;
        memcpy(q[1], q[0], sizeof q[1]);
        q[1][2] += 0.7;
        for (size_t k = 0; k < 2; k++) {
            const struct event e = to_joints(&lab, q[k]);
            lab_step(lab.s.lab, &e, &lab.s.fx);
        }
        script_clear(&lab.s);
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            send_end(&lab, s, 1.2, "c1", first, q[0]);
        }
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            send_end(&lab, s, 2.6, "c2", REPLY_DONE, q[1]);
        }
        const struct script_effect *entry = script_find(&lab.s, EFFECT_ENTRY, 1);
        CU_ASSERT_FATAL(entry != NULL);
        CHECK_NEAR(row, entry->entry.rotation_rad, 0.7, 0.0, 1e-9);
        CHECK_INT(row, moves_of(&lab, SIDE_REAL), first == REPLY_DONE ? 2 : 0);
        script_close(&lab.s);
    }
}

static double gap_of(const struct lab_of_arms *lab, const double a[ARM_JOINTS],
                     const double b[ARM_JOINTS])
{
    double twist[6];
    const struct rigid from = arm_forward(&lab->geometry, a);
    const struct rigid to = arm_forward(&lab->geometry, b);
    rigid_difference(&from, &to, twist);
    return 1e3 * sqrt(twist[0] * twist[0] + twist[1] * twist[1] + twist[2] * twist[2]);
}

/* The real arm's first joint is 1 mrad off all the time; the virtual arm is slower. */
static void test_gaps(void)
{
    static struct lab_of_arms lab;
    struct robot off = exact;
    off.off_rad = 1e-3;
    open_lab(&lab, &off, &slower);
    double q[ARM_JOINTS];
    send_telemetry(&lab, SIDE_REAL, -1.0, WORK, (double[ARM_JOINTS]){0.0});
    memcpy(q, WORK, sizeof q);
    q[1] += 1.2;
    struct event e = to_joints(&lab, q);
    struct entry entry = run_move(&lab, &e);
    double there[ARM_JOINTS];
    memcpy(there, q, sizeof there);
    there[0] += 1e-3;
    CHECK("gap", entry.arm.known);
    CHECK_NEAR("at the end", entry.arm.gap_end_mm, gap_of(&lab, q, there), 1e-6, 0.0);
    /* At full speed the slower one is behind by what its start cost it, and 9 % of the way. */
    CHECK("on the way", entry.arm.gap_max_mm > 40.0 && entry.arm.gap_max_mm < 160.0);
    CHECK("no line", isnan(entry.arm.path_error_mm[SIDE_REAL]));
    CHECK_INT("verdict", entry.verdict, VERDICT_BEHIND);
    CHECK_INT("1 mrad is no difference", entry.consistency, CONSISTENT);
    e = to_place(&lab, 0.05, -0.06, 0.02);
    entry = run_move(&lab, &e);
    CHECK("line", entry.arm.path_error_mm[SIDE_VIRTUAL] < 1e-3);
    /* Both ends of its line are off by a millirad of the base; the line started at the real
     * arm's place. */
    CHECK("off", entry.arm.path_error_mm[SIDE_REAL] < 1.0);
    script_close(&lab.s);
}

/* Replies without angles: telemetry of the last half second has the place where a move ended. */
static void test_ends(void)
{
    for (int outside = 0; outside < 2; outside++) {
        static struct lab_of_arms lab;
        open_lab(&lab, &exact, &exact);
        double q[ARM_JOINTS];
        memcpy(q, WORK, sizeof q);
        q[0] = 0.5;
        const struct event e = to_joints(&lab, q);
        lab_step(lab.s.lab, &e, &lab.s.fx);
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            lab.robot[s].values = false;
            send_telemetry(&lab, s, 1.0, q, (double[ARM_JOINTS]){0.0});
        }
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            send_end(&lab, s, outside ? 1.51 : 1.49, "c1", REPLY_DONE, q);
        }
        const struct script_effect *entry = script_find(&lab.s, EFFECT_ENTRY, 0);
        CU_ASSERT_FATAL(entry != NULL);
        CHECK_INT("unknown", isnan(entry->entry.arm.gap_end_mm) ? 1 : 0, outside);
        script_close(&lab.s);
    }
}

/* A tool that leaves its line by 3 mm half way is reported. */
static void test_bent_line(void)
{
    static struct lab_of_arms lab;
    open_lab(&lab, &exact, &exact);
    send_telemetry(&lab, SIDE_REAL, -1.0, WORK, (double[ARM_JOINTS]){0.0});
    const struct event e = to_place(&lab, 0.0, 0.1, 0.0);
    struct arm_move move = plan_move_of(&lab, &e);
    struct arm_solution off;
    double q[ARM_JOINTS];
    double qd[ARM_JOINTS];
    lab_step(lab.s.lab, &e, &lab.s.fx);
    (void)arm_move_at(&move, &lab.geometry, 0.5 * move.duration_s, q, qd);
    struct rigid tool = arm_forward(&lab.geometry, q);
    tool.at_m[2] += 0.003;
    CU_ASSERT_EQUAL_FATAL(arm_inverse_near(&lab.geometry, &tool, q, &off), ARM_REACHED);
    send_telemetry(&lab, SIDE_VIRTUAL, 0.3, off.q, qd);
    send_telemetry(&lab, SIDE_REAL, 0.3, q, qd);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        send_end(&lab, s, 0.7, e.command.id, REPLY_DONE, move.to_q);
    }
    const struct script_effect *entry = script_find(&lab.s, EFFECT_ENTRY, 0);
    CU_ASSERT_FATAL(entry != NULL);
    CHECK_NEAR("off", entry->entry.arm.path_error_mm[SIDE_VIRTUAL], 3.0, 0.0, 1e-6);
    CHECK_NEAR("on", entry->entry.arm.path_error_mm[SIDE_REAL], 0.0, 0.0, 1e-6);
    CHECK_NEAR("gap", entry->entry.arm.gap_max_mm, 3.0, 0.0, 1e-6);
    CHECK_NEAR("end", entry->entry.arm.gap_end_mm, 0.0, 0.0, 1e-9);
    script_close(&lab.s);
}

static bool speaks_of(const struct estimate *e, const char *word)
{
    bool any = false;
    for (size_t i = 0; i < e->reason_count; i++) {
        any = any || strstr(e->reasons[i], word);
    }
    for (size_t i = 0; i < e->advice_count; i++) {
        any = any || strstr(e->advice[i], word);
    }
    return any;
}

/* The row of the history is of what was fitted. */
static void check_row(const struct pair_fits *fits, enum side side)
{
    static struct large_row row;
    const struct estimate *e = &fits->profile[side].estimate;
    const struct effect effect = {.n = 7, .t_us = AT(1)};
    char want[160];
    CHECK("a row", row_of_travel_fit(&row, &effect, side, fits, "ur"));
    (void)snprintf(want, sizeof want, "\"values\":{\"%s\":", e->name[0]);
    CHECK(row.json, strstr(row.json, want) != NULL);
    CHECK(row.json, strstr(row.json, "\"samples\":60,") != NULL);
    CHECK(row.json, strstr(row.json, "\"verdict\":\"PASS\"") != NULL);
}

/* The window's results after many moves, and after few. */
static void test_calibration(void)
{
    static struct lab_of_arms lab;
    static struct pair_fits fits;
    open_lab(&lab, &exact, &slower);
    lab.noise_s = 0.002;
    double q[ARM_JOINTS];
    send_telemetry(&lab, SIDE_REAL, -1.0, WORK, (double[ARM_JOINTS]){0.0});
    for (size_t i = 0; i < 60; i++) {
        memcpy(q, WORK, sizeof q);
        q[0] += 2.0 * truth_uniform(&lab.draws) - 1.0;
        q[5] += (i % 3 == 0 ? 0.5 : 2.0) * (truth_uniform(&lab.draws) - 0.5);
        const struct event e = to_joints(&lab, q);
        (void)run_move(&lab, &e);
        if (i == 4) {
            pair_fit_window(lab_pair(lab.s.lab, 0), &lab.s.params[0], &fits);
            CHECK("few", fits.commanded && fits.known[SIDE_VIRTUAL]);
            CHECK("few", fits.profile[SIDE_VIRTUAL].estimate.verdict != ESTIMATE_PASS);
            CHECK("few", !speaks_of(&fits.profile[SIDE_VIRTUAL].estimate, "drive"));
        }
    }
    pair_fit_window(lab_pair(lab.s.lab, 0), &lab.s.params[0], &fits);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        const struct estimate *e = &fits.profile[s].estimate;
        const struct robot *robot = &lab.robot[s];
        CHECK_INT(side_name(s), fits.profile[s].n, 60);
        CHECK_NEAR(side_name(s), e->value[PROFILE_JOINT_SPEED], robot->speed, 0.005, 0.0);
        CHECK_NEAR(side_name(s), e->value[PROFILE_JOINT_ACCELERATION], robot->acceleration,
                   0.03, 0.0);
        CHECK_NEAR(side_name(s), e->value[PROFILE_JOINT_T0], robot->t0_s, 0.0, 0.01);
        CHECK(side_name(s), isnan(e->value[PROFILE_LINE_SPEED]));
        CHECK_INT(side_name(s), e->verdict, ESTIMATE_PASS);
        CHECK(side_name(s), !speaks_of(e, "drive") && !speaks_of(e, "lines"));
        check_row(&fits, s);
    }
    /* The filter sees no change where there is none, whatever the sizes are. */
    CHECK_INT("drift", lab_pair(lab.s.lab, 0)->counts.alarm[ALARM_TYPE_DRIFT], 0);
    script_close(&lab.s);
}

/* ---- arms that drop a move for the next one ---- */

enum { TURNS_MAX = 4, PERIOD_US = 8000 };

/* Two simulated arms, as `tandem robot --kind arm6` has them, on one lab. */
struct two_arms {
    struct lab_of_arms lab;
    char *memory[SIDE_COUNT];
    struct event given[TURNS_MAX]; /* commands as L1 gave them */
    size_t given_count;
    int64_t t_us;
    enum side speaking;
    bool sent[SIDE_COUNT][TURNS_MAX];
};

static void receive_answer(void *context, const struct robot_reply *reply)
{
    struct two_arms *two = context;
    struct event e =
        script_reply_event("r1", AT(0) + two->t_us, two->speaking, reply->id, reply->status);
    e.reply.source_start_us = AT(0) + reply->start_us;
    e.reply.source_us = AT(0) + reply->end_us;
    for (size_t i = 0; i < reply->value_count && i < COUNT(e.reply.values); i++) {
        struct event_value *v = &e.reply.values[e.reply.value_count++];
        (void)snprintf(v->name, sizeof v->name, "%s", reply->values[i].name);
        v->place = hash_text(v->name);
        v->kind = VALUE_NUMBER;
        v->number = reply->values[i].number;
    }
    lab_step(two->lab.s.lab, &e, &two->lab.s.fx);
}

static void command_robot(struct two_arms *two, enum side s, size_t k)
{
    two->sent[s][k] = true;
    two->speaking = s;
    robot_command(&arm6_kind, two->memory[s], &two->given[k].command, receive_answer, two);
}

/* In link mode the robots receive the lab's messages; else all receive L1's. */
static void pass_on(struct two_arms *two, bool link)
{
    for (size_t k = 0; k < two->given_count; k++) {
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            bool sent = !link;
            for (size_t i = 0; i < two->lab.s.count && link; i++) {
                const struct script_effect *e = &two->lab.s.effect[i];
                sent = sent || (e->kind == EFFECT_COMMAND && e->side == s &&
                                strstr(e->payload, two->given[k].command.raw));
            }
            if (sent && !two->sent[s][k]) {
                command_robot(two, s, k);
            }
        }
    }
}

static void open_two(struct two_arms *two, bool link)
{
    struct robot_setup setup = {.seed = 1, .period_us = PERIOD_US, .pose_count = ARM_JOINTS};
    memset(two, 0, sizeof *two);
    open_lab(&two->lab, &exact, &exact);
    script_close(&two->lab.s);
    two->lab.s.params[0].mode = link ? PAIR_LINK : PAIR_OBSERVE;
    script_open(&two->lab.s);
    memcpy(setup.pose, WORK, sizeof WORK);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        char reason[ROBOT_REASON_MAX];
        two->memory[s] = calloc(1, arm6_kind.bytes);
        CU_ASSERT_PTR_NOT_NULL_FATAL(two->memory[s]);
        arm6_kind.init(two->memory[s], &setup);
        CHECK_INT("interrupt", robot_set(&arm6_kind, two->memory[s], "busy", 1.0, reason),
                  STATUS_OK);
        send_telemetry(&two->lab, s, -0.5, WORK, (double[ARM_JOINTS]){0.0});
    }
}

static void close_two(struct two_arms *two)
{
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        free(two->memory[s]);
    }
    script_close(&two->lab.s);
}

/* A turn of the first joint, or a stop; L1 sends it at at_s. */
struct turn {
    double at_s, q1_rad;
    const char *op;
};

static void send_turn(struct two_arms *two, const struct turn *turn)
{
    static char raw[TURNS_MAX][16];
    double q[ARM_JOINTS];
    memcpy(q, WORK, sizeof q);
    q[0] = turn->q1_rad;
    two->lab.t_s = 1e-6 * (double)two->t_us;
    struct event e = turn->op ? command_event(&two->lab, turn->op) : to_joints(&two->lab, q);
    (void)snprintf(raw[two->given_count], sizeof raw[0], "{\"id\":\"%s\"}", e.command.id);
    e.command.raw = raw[two->given_count];
    e.command.raw_bytes = strlen(e.command.raw);
    two->given[two->given_count++] = e;
    lab_step(two->lab.s.lab, &e, &two->lab.s.fx);
}

static void run_two(struct two_arms *two, bool link, const struct turn *turns, size_t count)
{
    script_clear(&two->lab.s);
    for (two->t_us = 0; two->t_us < 20000000; two->t_us += PERIOD_US) {
        if (two->given_count < count && two->t_us >= lab_us(turns[two->given_count].at_s)) {
            send_turn(two, &turns[two->given_count]);
        }
        pass_on(two, link);
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            struct robot_sample sample;
            two->speaking = s;
            arm6_kind.step(two->memory[s], receive_answer, two);
            arm6_kind.sample(two->memory[s], &sample);
            send_telemetry(&two->lab, s, 1e-6 * (double)(two->t_us + PERIOD_US), sample.pose,
                           sample.nu);
        }
    }
}

static const struct entry *entry_of(const struct two_arms *two, size_t k)
{
    for (size_t i = 0;; i++) {
        const struct script_effect *e = script_find(&two->lab.s, EFFECT_ENTRY, i);
        CU_ASSERT_PTR_NOT_NULL_FATAL(e);
        if (strcmp(e->entry.id, two->given[k].command.id) == 0) {
            return &e->entry;
        }
    }
}

/* A move that another one replaces is no evidence of speeds, nor is that other one, which
 * begins elsewhere. In link mode none replaces another, because the lab sends it when the
 * previous one is answered; but a stop overtakes. */
static void test_interrupts(void)
{
    static const struct turn moves[] = {{0.1, 2.0, NULL}, {1.0, 0.5, NULL}, {12.0, 0.0, NULL}};
    static const struct turn stop[] = {
        {0.1, 2.0, NULL}, {1.0, 0.0, "stopj"}, {1.1, 0.5, NULL}, {12.0, 0.0, NULL}};
    static const struct {
        const char *row;
        bool link;
        const struct turn *turns;
        size_t count;
        enum reply_status first; /* what becomes of the first move */
        size_t fits;             /* moves that calibrate */
        double next_rad;         /* size of the move behind the first; NAN: not known */
    } rows[] = {
        {"observed", false, moves, COUNT(moves), REPLY_HALTED, 1, NAN},
        {"in link mode", true, moves, COUNT(moves), REPLY_DONE, 3, 1.5},
        {"a stop", false, stop, COUNT(stop), REPLY_HALTED, 1, NAN},
        {"a stop in link mode", true, stop, COUNT(stop), REPLY_HALTED, 1, NAN},
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        static struct two_arms two;
        const char *row = rows[r].row;
        open_two(&two, rows[r].link);
        run_two(&two, rows[r].link, rows[r].turns, rows[r].count);
        CHECK_INT(row, script_count(&two.lab.s, EFFECT_ENTRY), rows[r].count);
        for (size_t k = 0; k < rows[r].count; k++) {
            const struct entry *e = entry_of(&two, k);
            for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
                CHECK_INT(row, e->status[s], k == 0 ? rows[r].first : REPLY_DONE);
            }
            CHECK_INT(row, e->verdict, VERDICT_SYNC);
            CHECK_INT(row, e->consistency, CONSISTENT);
        }
        const struct entry *first = entry_of(&two, 0);
        const struct entry *next = entry_of(&two, rows[r].count - 2);
        const double whole_s = arm_duration_s(2.0, 1.05, 1.4);
        CHECK_NEAR(row, lab_s(first->motion_us[SIDE_REAL]),
                   rows[r].first == REPLY_DONE ? whole_s : 0.9, 0.0, 0.01);
        if (!isnan(rows[r].next_rad)) {
            CHECK_NEAR(row, next->rotation_rad, rows[r].next_rad, 0.0, 1e-3);
        }
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            CHECK_INT(row, moves_of(&two.lab, s), rows[r].fits);
        }
        /* The last one went from rest to rest, from where it was known to be. */
        CHECK_NEAR(row, entry_of(&two, rows[r].count - 1)->rotation_rad, 0.5, 0.0, 1e-3);
        close_two(&two);
    }
}

/* Both stopped at once, but the slower one elsewhere: in time, and not the same. */
static void test_interrupted_apart(void)
{
    static const struct turn moves[] = {{0.1, 2.0, NULL}, {1.0, -3.0, NULL}, {12.0, 0.0, NULL}};
    static struct two_arms two;
    char reason[ROBOT_REASON_MAX];
    open_two(&two, false);
    CHECK_INT("slower",
              robot_set(&arm6_kind, two.memory[SIDE_VIRTUAL], "speed_ratio", 0.9, reason),
              STATUS_OK);
    run_two(&two, false, moves, COUNT(moves));
    const struct entry *e = entry_of(&two, 0);
    CHECK_INT("by the laps", e->verdict, VERDICT_SYNC);
    CHECK_INT("by the values", e->consistency, INCONSISTENT);
    CHECK("of the joint", strstr(e->differs, "q1_rad") != NULL);
    e = entry_of(&two, 1);
    CHECK_INT("it goes on from there, slower", e->verdict, VERDICT_BEHIND);
    CHECK_INT("and comes to the same place", e->consistency, CONSISTENT);
    CHECK_INT("one whole move", moves_of(&two.lab, SIDE_VIRTUAL), 1);
    close_two(&two);
}

/* A pair that is no arm has nothing of this; one without a known place has no sizes. */
static void test_others(void)
{
    static struct lab_of_arms lab;
    open_lab(&lab, &exact, &exact);
    script_close(&lab.s);
    lab.s.params[0].arm[0] = '\0';
    script_open(&lab.s);
    double q[ARM_JOINTS] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    const struct event e = to_joints(&lab, q);
    const struct entry entry = run_move(&lab, &e);
    CHECK("others", !entry.arm.known);
    CHECK_NEAR("others", entry.rotation_rad, 0.0, 0.0, 0.0);
    CHECK_NEAR("tolerance", pair_value_tolerance(&lab.s.params[0]), 0.02, 0.0, 0.0);
    script_close(&lab.s);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("pair_arm", NULL, NULL);
    CU_add_test(suite, "sizes", test_sizes);
    CU_add_test(suite, "out of reach", test_out_of_reach);
    CU_add_test(suite, "told", test_given_size);
    CU_add_test(suite, "repeated", test_repeated);
    CU_add_test(suite, "waiting", test_waiting);
    CU_add_test(suite, "gaps", test_gaps);
    CU_add_test(suite, "ends", test_ends);
    CU_add_test(suite, "bent line", test_bent_line);
    CU_add_test(suite, "calibration", test_calibration);
    CU_add_test(suite, "interrupts", test_interrupts);
    CU_add_test(suite, "interrupted apart", test_interrupted_apart);
    CU_add_test(suite, "others", test_others);
    return check_run();
}
