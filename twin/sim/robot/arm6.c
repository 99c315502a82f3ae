/* twin/sim/robot/arm6.c - a simulated arm of six joints. docs/model/arm.md.
 *
 * Set points come from moves, jogs or another controller; servo joints follow them
 * (twin/arm/arm_servo.h); telemetry shows the result. arm6_tasks.c handles commands.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "twin/sim/robot/arm6_parts.h"
#include "twin/sim/robot/robot_kinds.h"

_Static_assert((int)ARM_JOINTS == (int)EVENT_AXES_MAX, "telemetry holds all joints");

/* A stream without set points for this time is dead. */
enum { STREAM_DEAD_US = 500000, STREAM_GAP_US = 100000 };
/* A joint that does not arrive is treated as at rest after the first time, and given up after
 * the second. */
static const double REST_AFTER_S = 0.5, GIVE_UP_S = 30.0, REST_RADPS = 1e-4;
static const double STREAM_BRAKE_RADPS2 = 2.0;

static double compute_period_s(const struct arm6 *a)
{
    return (double)a->period_us * 1e-6;
}

/* --- parameters -------------------------------------------------------------------------- */

static const char *const arm_words[] = {"ur5", "ur5e", "paper"};
static const char *const controller_words[] = {"profile", "fsm", "p", "time_optimal", "pid"};
static const char *const dynamics_words[] = {"servo", "ideal"};
static const char *const busy_words[] = {"queue", "interrupt"};
static const char *const on_limit_words[] = {"stretch", "error"};

/* clang-format off */
static const struct robot_parameter parameters[ARM6_PARAMETER_COUNT] = {
#define PARAMETER(value, ...) {__VA_ARGS__},
#include "twin/sim/robot/arm6_params.def"
#undef PARAMETER
};
/* clang-format on */

static void apply_geometry(struct arm6 *a)
{
    const double *correction = &a->values[ARM6_LINK1_X];
    bool corrected = false;
    (void)arm_geometry_find(arm_words[(size_t)a->values[ARM6_ARM]], &a->arm);
    for (size_t i = 0; i < 6 * (size_t)ARM_JOINTS; i++) {
        corrected = corrected || fabs(correction[i]) > 0.0;
    }
    if (corrected) {
        arm_geometry_correct(&a->arm, correction);
    }
    a->arm.tool = rigid_from_pose(&a->values[ARM6_TOOL_X]);
    for (size_t j = 0; j < ARM_JOINTS && a->values[ARM6_SPEED_MAX] > 0.0; j++) {
        a->arm.qd_max_radps[j] = a->values[ARM6_SPEED_MAX];
    }
}

static void apply_parameters(struct arm6 *a)
{
    const double *v = a->values;
    struct arm_servo_params *p = &a->servo_params;
    apply_geometry(a);
    *p = (struct arm_servo_params){.controller = (enum arm_controller)(int)v[ARM6_CONTROLLER],
                                   .period_s = compute_period_s(a),
                                   .gain_per_s = v[ARM6_GAIN_PER_S],
                                   .tracking_per_s = v[ARM6_TRACKING_PER_S],
                                   .stop_rad = fmin(v[ARM6_STOP_RAD], v[ARM6_NEAR_RAD]),
                                   .near_rad = v[ARM6_NEAR_RAD],
                                   .speed_min_radps = v[ARM6_SPEED_MIN],
                                   .motor_lag_s = v[ARM6_MOTOR_LAG_S],
                                   .load_gain = v[ARM6_LOAD_GAIN]};
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        p->lag_s[j] = v[ARM6_LAG_1 + j];
        p->known_lag_s[j] = v[ARM6_LAG_1 + j] * v[ARM6_KNOWN_LAG_RATIO];
        p->gain[j] = v[ARM6_GAIN_1 + j];
        p->speed_max_radps[j] = a->arm.qd_max_radps[j];
        p->inertia[j] = v[ARM6_INERTIA_1 + j];
        p->viscous[j] = v[ARM6_VISCOUS_1 + j];
        p->coulomb[j] = v[ARM6_COULOMB_1 + j];
    }
    memcpy(p->gravity, &v[ARM6_GRAVITY2_C2], sizeof p->gravity);
}

/* The arm has changed since the move was planned. */
static void update_parameter(void *memory, size_t index, double before)
{
    struct arm6 *a = memory;
    const bool other = index == ARM6_ARM || index >= ARM6_TOOL_X;
    if (other && fabs(a->values[index] - before) > 0.0 && a->working) {
        arm6_halt_task(a, "stopped: its geometry changed");
        memset(a->jog.now.qd, 0, sizeof a->jog.now.qd);
        a->drive = ARM6_HOLD;
    }
    apply_parameters(a);
    arm6_begin_next(a, a->now_us);
}

static void init_arm(void *memory, const struct robot_setup *setup)
{
    static const double work[ARM_JOINTS] = {0.0,       -PI / 2.0, -PI / 2.0,
                                            -PI / 2.0, PI / 2.0,  0.0};
    struct arm6 *a = memory;
    robot_begin(&arm6_kind, memory, setup);
    a->now_us = setup->start_us;
    a->period_us = setup->period_us;
    a->random.state = setup->seed;
    apply_parameters(a);
    memcpy(a->jog.now.q, setup->pose_count == ARM_JOINTS ? setup->pose : work, sizeof work);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        a->jog.now.q[j] =
            fmin(fmax(a->jog.now.q[j], -a->arm.q_max_rad[j]), a->arm.q_max_rad[j]);
    }
    memcpy(a->q_r, a->jog.now.q, sizeof a->q_r);
    arm_servo_place(&a->servo, a->jog.now.q);
    a->stream_us = a->refreshed_us = INT64_MIN / 2;
}

/* --- set points -------------------------------------------------------------------------- */

static double seconds_from(int64_t from_us, int64_t to_us)
{
    return (double)(to_us - from_us) * 1e-6;
}

static void jam_jog(struct arm6 *a, struct arm_fault fault)
{
    a->jam = fault;
    a->protective_stop = true;
    a->drive = ARM6_BRAKE;
}

static bool jog_is_over(const struct arm6 *a, int64_t now_us)
{
    return seconds_from(a->run_us, now_us) > a->queue[0].request.time_s;
}

static void advance_jog(struct arm6 *a, int64_t end_us)
{
    const struct arm_bounds bounds = arm6_bounds(a);
    struct arm_jog_request jog;
    (void)arm_request_jog(a->queue[0].op, &a->queue[0].request, &jog);
    const double v = a->values[ARM6_SPEED_RATIO];
    struct arm_clearance where;
    /* Zero: when the jog is over the arm brakes to a stop, with the tool on its line. */
    double commanded[ARM_JOINTS] = {0.0};
    enum arm_refusal refusal = ARM_ACCEPTED;
    a->brake_radps2 = jog.a_radps2;
    for (size_t i = 0; i < ARM_JOINTS && !jog_is_over(a, end_us); i++) {
        commanded[i] = v * jog.speeds[i];
    }
    if (a->queue[0].op == ARM_SPEEDJ) {
        arm_jog_joints(&a->jog, &a->arm, commanded, jog.a_radps2, compute_period_s(a));
    } else {
        refusal = arm_jog_tool(&a->jog, &a->arm, commanded, jog.a_mps2, jog.a_radps2,
                               compute_period_s(a));
    }
    if (refusal != ARM_ACCEPTED) {
        jam_jog(a, (struct arm_fault){.refusal = refusal, .at = (double)NAN});
    } else if (arm_jog_blocked(&a->jog, &a->arm, &bounds, jog.a_radps2, &where)) {
        jam_jog(a, (struct arm_fault){.refusal = ARM_COLLISION,
                                      .at = (double)NAN,
                                      .part = where.part,
                                      .other = where.other});
    }
}

static void advance_move(struct arm6 *a, int64_t end_us)
{
    const double t_s = seconds_from(a->run_us, end_us);
    if (a->alone && t_s > 0.0) {
        memcpy(a->jog.now.q, a->move.to_q, sizeof a->jog.now.q);
        memset(a->jog.now.qd, 0, sizeof a->jog.now.qd);
        return;
    }
    if (!arm_move_at(&a->move, &a->arm, t_s, a->jog.now.q, a->jog.now.qd)) {
        jam_jog(a, (struct arm_fault){.refusal = ARM_AT_SINGULARITY,
                                      .at = t_s / a->move.duration_s});
    }
}

/* Moves towards the last set point, within the usual interval of set points; brakes to a stop
 * if the stream is dead. */
static void advance_stream(struct arm6 *a, int64_t end_us)
{
    const int64_t received_us = a->stream_us > a->refreshed_us ? a->stream_us : a->refreshed_us;
    if (end_us - received_us > STREAM_DEAD_US) {
        arm_jog_joints(&a->jog, &a->arm, (const double[ARM_JOINTS]){0.0}, STREAM_BRAKE_RADPS2,
                       compute_period_s(a));
        return;
    }
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        const double most = fabs(a->stream_qd[j]) * compute_period_s(a);
        const double change = a->stream_q[j] - a->jog.now.q[j];
        const double step = fmin(fmax(change, -most), most);
        a->jog.now.q[j] += step;
        a->jog.now.qd[j] = step / compute_period_s(a);
    }
}

static void advance_set_points(struct arm6 *a, int64_t end_us)
{
    if (a->drive == ARM6_HOLD && a->external) {
        a->drive = ARM6_STREAM;
    }
    switch (a->drive) {
    case ARM6_MOVE:
        advance_move(a, end_us);
        break;
    case ARM6_JOG:
        advance_jog(a, end_us);
        break;
    case ARM6_BRAKE:
        arm_jog_joints(&a->jog, &a->arm, (const double[ARM_JOINTS]){0.0}, a->brake_radps2,
                       compute_period_s(a));
        break;
    case ARM6_STREAM:
        advance_stream(a, end_us);
        break;
    case ARM6_HOLD:
    case ARM6_EFFORT:
    default:
        memset(a->jog.now.qd, 0, sizeof a->jog.now.qd);
        break;
    }
}

/* --- the joints -------------------------------------------------------------------------- */

/* Follows externally given speeds while they last, up to the ends of the ranges. */
static void drive_joints(struct arm6 *a)
{
    const double timeout_s = a->values[ARM6_EFFORT_TIMEOUT_S];
    double u[ARM_JOINTS];
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        const struct servo_joint *joint = &a->servo.joint[j];
        const double coast = joint->q_rad + a->servo_params.lag_s[j] * joint->w_radps;
        const bool silent =
            timeout_s > 0.0 && seconds_from(a->effort_us, a->now_us) >= timeout_s;
        const bool leaves = a->effort[j] * coast > 0.0 && fabs(coast) >= a->arm.q_max_rad[j];
        u[j] = silent || leaves ? 0.0 : a->effort[j];
    }
    arm_servo_drive(&a->servo, &a->servo_params, u);
    arm6_sync_jog(a);
    memcpy(a->q_r, a->jog.now.q, sizeof a->q_r);
}

static void move_joints(struct arm6 *a, const struct arm_set_point *before)
{
    if (a->drive == ARM6_EFFORT) {
        drive_joints(a);
    } else if (a->values[ARM6_DYNAMICS] > 0.0) {
        arm_servo_follow(&a->servo, &a->servo_params, &a->jog.now);
    } else {
        arm_servo_step(&a->servo, &a->servo_params, before, &a->jog.now);
    }
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        a->qdd_sp[j] = (a->jog.now.qd[j] - before->qd[j]) / compute_period_s(a);
    }
}

static void read_joints(const struct arm6 *a, double q[ARM_JOINTS], double qd[ARM_JOINTS])
{
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        q[j] = a->servo.joint[j].q_rad;
        qd[j] = a->servo.joint[j].w_radps;
    }
}

/* --- ends of tasks ----------------------------------------------------------------------- */

static bool joints_rest(const struct arm6 *a)
{
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        if (fabs(a->servo.joint[j].w_radps) > REST_RADPS) {
            return false;
        }
    }
    return true;
}

static void update_progress(struct arm6 *a)
{
    const double t_s = seconds_from(a->run_us, a->now_us);
    double q[ARM_JOINTS];
    double qd[ARM_JOINTS];
    double share = a->move.duration_s > 0.0 ? t_s / a->move.duration_s : 1.0;
    read_joints(a, q, qd);
    if (a->alone && a->move.size_rad > 0.0) {
        double left = 0.0;
        for (size_t j = 0; j < ARM_JOINTS; j++) {
            left = fmax(left, fabs(a->move.to_q[j] - q[j]));
        }
        share = 1.0 - left / a->move.size_rad;
    }
    a->last.progress = fmin(fmax(share, 0.0), 1.0);
    if (t_s > 0.0) {
        a->path_error_m = fmax(a->path_error_m, arm_move_off_path(&a->move, &a->arm, q));
    }
}

/* Ends a move exactly at the end of its plan if the joints are there, else as soon as they are
 * or come no closer. */
static bool end_move(struct arm6 *a)
{
    const int64_t plan_us = a->run_us + (a->alone ? 0 : lab_us(a->move.duration_s));
    const double over_s = seconds_from(plan_us, a->now_us);
    const double most_s = GIVE_UP_S + (a->alone ? 10.0 * a->move.duration_s : 0.0);
    update_progress(a);
    if (over_s < 0.0) {
        return false;
    }
    const bool there = arm_servo_arrived(&a->servo, &a->servo_params, a->move.to_q,
                                         a->values[ARM6_ARRIVE_RAD]);
    const bool first = over_s < compute_period_s(a) && (!a->alone || !(a->move.size_rad > 0.0));
    if (there || (over_s > REST_AFTER_S && joints_rest(a))) {
        arm6_end_task(a, REPLY_DONE, there && first ? plan_us : a->now_us, "");
        return true;
    }
    if (over_s > most_s) {
        arm6_end_task(a, REPLY_ERROR, a->now_us, "stopped: its joints do not come to rest");
        a->last.phase = ARM6_STOPPED;
        a->last.reason = ARM6_HALTED;
        return true;
    }
    return false;
}

static bool end_brake(struct arm6 *a)
{
    if (!arm_at_rest(&a->jog.now)) {
        return false;
    }
    memcpy(a->q_r, a->jog.now.q, sizeof a->q_r);
    if (a->jam.refusal != ARM_ACCEPTED) {
        arm6_end_jam(a);
    } else {
        arm6_end_task(a, REPLY_DONE, a->now_us, "");
    }
    return true;
}

/* Ends completed tasks and begins waiting ones, until one continues. */
static void end_tasks(struct arm6 *a)
{
    for (bool ended = true; ended && a->working;) {
        const bool brakes =
            a->drive == ARM6_BRAKE || (a->drive == ARM6_JOG && jog_is_over(a, a->now_us));
        ended = a->drive == ARM6_MOVE ? end_move(a) : brakes && end_brake(a);
        if (ended) {
            arm6_begin_next(a, a->answers[a->answer_count - 1].end_us);
        }
    }
}

static void draw_noise(struct arm6 *a)
{
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        const double sd[3] = {a->values[ARM6_NOISE_Q], a->values[ARM6_NOISE_QD],
                              a->values[ARM6_NOISE_CURRENT]};
        a->noise_q[j] = sd[0] > 0.0 ? sd[0] * random_normal(&a->random) : 0.0;
        a->noise_qd[j] = sd[1] > 0.0 ? sd[1] * random_normal(&a->random) : 0.0;
        a->noise_a[j] = sd[2] > 0.0 ? sd[2] * random_normal(&a->random) : 0.0;
    }
}

static void step_arm(void *memory, robot_sink *sink, void *context)
{
    struct arm6 *a = memory;
    const struct arm_set_point before = a->jog.now;
    advance_set_points(a, a->now_us + a->period_us);
    move_joints(a, &before);
    a->now_us += a->period_us;
    end_tasks(a);
    draw_noise(a);
    for (size_t i = 0; i < a->answer_count; i++) {
        sink(context, &a->answers[i]);
    }
    a->answer_count = 0;
}

/* --- other controllers ------------------------------------------------------------------- */

static enum status set_effort(void *memory, const double *tau, size_t count)
{
    struct arm6 *a = memory;
    if (count != ARM_JOINTS) {
        return STATUS_E_RANGE;
    }
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        if (!isfinite(tau[j])) {
            return STATUS_E_RANGE;
        }
    }
    if (!a->working && !a->external) { /* commands have priority */
        memcpy(a->effort, tau, sizeof a->effort);
        a->effort_us = a->now_us;
        a->drive = ARM6_EFFORT;
    }
    return STATUS_OK;
}

enum status arm6_stream(void *memory, const double set_point[ARM_JOINTS])
{
    struct arm6 *a = memory;
    struct arm_solution there;
    const struct arm_bounds bounds = arm6_bounds(a);
    if (!a->external || a->working) {
        return STATUS_E_STALE;
    }
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        if (!isfinite(set_point[j])) {
            return STATUS_E_RANGE;
        }
        there.q[j] = set_point[j];
    }
    if (a->cartesian) {
        const struct rigid pose = rigid_from_pose(set_point);
        if (arm_inverse_near(&a->arm, &pose, a->jog.now.q, &there) != ARM_REACHED) {
            a->protective_stop = true;
            return STATUS_E_RANGE;
        }
    }
    struct arm_fault fault = {.refusal = ARM_ACCEPTED};
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        if (fabs(there.q[j]) > a->arm.q_max_rad[j]) {
            fault.refusal = ARM_BEYOND_LIMIT;
        }
    }
    if (fault.refusal == ARM_ACCEPTED && isfinite(bounds.clearance_m)) {
        const double then_m = arm_clearance(&a->arm, there.q, bounds.floor_m).distance_m;
        const double now_m = arm_clearance(&a->arm, a->jog.now.q, bounds.floor_m).distance_m;
        if (then_m < bounds.clearance_m && then_m < now_m) {
            fault.refusal = ARM_COLLISION;
        }
    }
    a->protective_stop = fault.refusal != ARM_ACCEPTED;
    if (a->protective_stop) {
        return STATUS_E_RANGE;
    }
    const int64_t since_us = a->now_us - a->stream_us;
    const int64_t gap_us = since_us < a->period_us    ? a->period_us
                           : since_us > STREAM_GAP_US ? STREAM_GAP_US
                                                      : since_us;
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        const double wanted = (there.q[j] - a->jog.now.q[j]) / ((double)gap_us * 1e-6);
        a->stream_q[j] = there.q[j];
        a->stream_qd[j] = fmin(fmax(wanted, -a->arm.qd_max_radps[j]), a->arm.qd_max_radps[j]);
    }
    memcpy(a->q_r, there.q, sizeof a->q_r);
    a->stream_us = a->now_us;
    return STATUS_OK;
}

void arm6_refresh_stream(void *memory)
{
    struct arm6 *a = memory;
    a->refreshed_us = a->now_us;
}

/* --- telemetry --------------------------------------------------------------------------- */

static struct robot_list *add_list(struct robot_sample *out, const char *name, size_t count)
{
    struct robot_list *list = &out->more[out->more_count++];
    *list = (struct robot_list){.name = name, .count = count};
    return list;
}

static double mode_bits(const struct arm6 *a)
{
    return (a->cartesian ? 1.0 : 0.0) + (a->values[ARM6_DYNAMICS] > 0.0 ? 2.0 : 0.0) +
           (a->external ? 4.0 : 0.0);
}

/* Computes the acceleration of the set points if a plan determines it: on a move, and at
 * rest. */
static bool find_accelerations(const struct arm6 *a, double qdd[ARM_JOINTS])
{
    const double t_s = seconds_from(a->run_us, a->now_us);
    struct arm_move move = a->move;
    double q[ARM_JOINTS];
    double now[ARM_JOINTS];
    double next[ARM_JOINTS];
    memset(qdd, 0, ARM_JOINTS * sizeof qdd[0]);
    if (a->drive != ARM6_MOVE || a->alone) {
        return a->drive == ARM6_HOLD && !a->external;
    }
    /* A waiting move has begun within the period. */
    if (!arm_move_at(&move, &a->arm, t_s, q, now) ||
        !arm_move_at(&move, &a->arm, t_s + compute_period_s(a), q, next)) {
        return false;
    }
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        qdd[j] = (next[j] - now[j]) / compute_period_s(a);
    }
    return true;
}

static void sample_arm(const void *memory, struct robot_sample *out)
{
    const struct arm6 *a = memory;
    double qdd[ARM_JOINTS];
    memset(out, 0, sizeof *out);
    out->t_us = a->now_us;
    out->nu_count = out->tau_count = out->pose_count = ARM_JOINTS;
    read_joints(a, out->pose, out->nu);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        out->pose[j] += a->noise_q[j];
        out->nu[j] += a->noise_qd[j];
        out->tau[j] = a->servo.u[j];
    }
    const struct rigid tool = arm_forward(&a->arm, out->pose);
    struct robot_list *current = add_list(out, "current_a", ARM_JOINTS);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        current->number[j] = a->servo.current_a[j] + a->noise_a[j];
    }
    rigid_to_pose(&tool, add_list(out, "tcp", ARM_JOINTS)->number);
    memcpy(add_list(out, "q_target", ARM_JOINTS)->number, a->jog.now.q, sizeof a->jog.now.q);
    memcpy(add_list(out, "qd_target", ARM_JOINTS)->number, a->jog.now.qd, sizeof a->jog.now.qd);
    add_list(out, "mode", 1)->number[0] = mode_bits(a);
    if (find_accelerations(a, qdd)) {
        memcpy(add_list(out, "tau_dot", ARM_JOINTS)->number, qdd, sizeof qdd);
    }
}

static void read_tools(const struct arm6 *a, struct arm6_state *out)
{
    const struct rigid tool = arm_forward(&a->arm, out->q_rad);
    const struct rigid target = arm_forward(&a->arm, a->jog.now.q);
    const struct arm_slope slope = arm_jacobian(&a->arm, out->q_rad);
    const struct arm_slope target_slope = arm_jacobian(&a->arm, a->jog.now.q);
    rigid_to_pose(&tool, out->tcp);
    rigid_to_pose(&target, out->tcp_sp);
    arm_twist(&slope, out->qd_radps, out->tcp_speed);
    arm_twist(&target_slope, a->jog.now.qd, out->tcp_sp_speed);
}

void arm6_read(const void *memory, struct arm6_state *out)
{
    const struct arm6 *a = memory;
    const bool ideal = a->values[ARM6_DYNAMICS] > 0.0;
    const bool moving = a->working && a->last.phase == ARM6_MOVING;
    const int64_t received_us = a->stream_us > a->refreshed_us ? a->stream_us : a->refreshed_us;
    *out = (struct arm6_state){
        .t_us = a->now_us,
        .arm = a->arm,
        .cartesian = a->cartesian,
        .ideal = ideal,
        .external = a->external,
        .stream_alive = a->external && a->now_us - received_us <= STREAM_DEAD_US,
        .protective_stop = a->protective_stop,
        .outputs = a->outputs,
        .commands = a->commands,
        .phase = a->last.phase,
        .reason = a->last.reason,
        .at = a->last.at,
        .progress = a->last.progress,
        .lap_s = moving ? seconds_from(a->start_us, a->now_us) : a->last.lap_s,
        .stretch = a->last.stretch,
        .waiting = a->count > 0 ? a->count - 1 : 0};
    read_joints(a, out->q_rad, out->qd_radps);
    memcpy(out->current_a, a->servo.current_a, sizeof out->current_a);
    memcpy(out->q_r_rad, a->q_r, sizeof out->q_r_rad);
    memcpy(out->q_sp_rad, a->jog.now.q, sizeof out->q_sp_rad);
    memcpy(out->qd_sp_radps, a->jog.now.qd, sizeof out->qd_sp_radps);
    if (!find_accelerations(a, out->qdd_sp_radps2)) {
        memcpy(out->qdd_sp_radps2, a->qdd_sp, sizeof out->qdd_sp_radps2);
    }
    memcpy(out->u_radps, a->servo.u, sizeof out->u_radps);
    memcpy(out->q_com_rad,
           a->external ? a->stream_q
           : ideal     ? a->jog.now.q
                       : out->q_rad,
           sizeof out->q_com_rad);
    if (a->commands > 0) {
        (void)snprintf(out->id, sizeof out->id, "%s", a->last.id);
        (void)snprintf(out->op, sizeof out->op, "%s", names_text(&arm_op_names, a->last.op));
    }
    read_tools(a, out);
}

/* --- the kind ---------------------------------------------------------------------------- */

const struct robot_kind arm6_kind = {
    .name = "arm6",
    .purpose = "an arm of six servo joints; its tool on lines and arcs, by hand or by a stream",
    .bytes = sizeof(struct arm6),
    .period_us = 8000,
    .pose_count = ARM_JOINTS,
    .parameters = parameters,
    .parameter_count = COUNT(parameters),
    .parameters_at = offsetof(struct arm6, values),
    .operations = "movej, movel, movec, speedj, speedl, stopj, halt, mode, digital_out, and "
                  "speeds of joints "
                  "as efforts",
    .init = init_arm,
    .command = arm6_queue_command,
    .effort = set_effort,
    .changed = update_parameter,
    .step = step_arm,
    .sample = sample_arm,
};
