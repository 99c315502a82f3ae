/* twin/sim/robot/arm6_tasks.c - commands to an arm: acceptance, planning, refusal, end, answer.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "twin/sim/robot/arm6_parts.h"

/* Values of replies are rounded to a millionth, because a tool is set up to hundredths of a
 * millimetre. */
static const double PER_UNIT = 1e6;

ENUM_NAMES(arm6_phase, ARM6_PHASE_COUNT, ARM6_STATES(NAMES_TEXT));
ENUM_NAMES(arm6_reason, ARM6_REASON_COUNT, "none", "bad_value", "joint_limit", "out_of_reach",
           "singular", "too_fast", "collision", "busy", "stopped");

static bool is_present(const struct event_arm *request, enum event_arm_member member)
{
    return request->present & 1U << member;
}

/* --- answers ----------------------------------------------------------------------------- */

static void add_value(struct robot_reply *reply, const char *name, double value)
{
    reply->values[reply->value_count++] =
        (struct robot_value){name, robot_round(value, PER_UNIT)};
}

static struct robot_reply *add_answer(struct arm6 *a, const char *id, enum reply_status status,
                                      int64_t start_us, int64_t end_us, const char *detail)
{
    struct robot_reply *reply = &a->answers[a->answer_count++];
    *reply = (struct robot_reply){.status = status, .start_us = start_us, .end_us = end_us};
    (void)snprintf(reply->id, sizeof reply->id, "%s", id);
    (void)snprintf(reply->detail, sizeof reply->detail, "%s", detail);
    return reply;
}

/* Adds the place, by which the two robots of a pair are compared. Times are not added, because
 * laps have them. */
static void add_place(const struct arm6 *a, struct robot_reply *reply)
{
    static const char *const joints[ARM_JOINTS] = {"q1_rad", "q2_rad", "q3_rad",
                                                   "q4_rad", "q5_rad", "q6_rad"};
    double q[ARM_JOINTS];
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        q[j] = a->servo.joint[j].q_rad;
        add_value(reply, joints[j], q[j]);
    }
    const struct rigid tool = arm_forward(&a->arm, q);
    const struct rigid target = arm_forward(&a->arm, a->q_r);
    const double off_m =
        hypot(hypot(tool.at_m[0] - target.at_m[0], tool.at_m[1] - target.at_m[1]),
              tool.at_m[2] - target.at_m[2]);
    add_value(reply, "tcp_error_m", off_m);
    add_value(reply, "path_error_m", a->path_error_m);
    add_value(reply, "x_m", tool.at_m[0]);
    add_value(reply, "y_m", tool.at_m[1]);
    add_value(reply, "z_m", tool.at_m[2]);
}

static void drop_first(struct arm6 *a)
{
    a->count--;
    memmove(&a->queue[0], &a->queue[1], a->count * sizeof a->queue[0]);
    a->working = false;
}

/* Records the result of a task that moves the arm. */
static void record_end(struct arm6 *a, enum arm6_phase phase, enum arm6_reason reason,
                       int64_t end_us)
{
    if (arm_op_moves(a->queue[0].op)) {
        a->last.phase = phase;
        a->last.reason = reason;
        a->last.lap_s = (double)(end_us - a->start_us) * 1e-6;
        a->last.progress = phase == ARM6_DONE ? 1.0 : a->last.progress;
    }
}

void arm6_end_task(struct arm6 *a, enum reply_status status, int64_t end_us, const char *detail)
{
    const struct arm6_task *task = &a->queue[0];
    struct robot_reply *reply = add_answer(a, task->id, status, a->start_us, end_us, detail);
    add_place(a, reply);
    if (arm_op_moves(task->op) && a->last.stretch > 1.0) {
        add_value(reply, "stretch", a->last.stretch);
    }
    if (status == REPLY_DONE) {
        record_end(a, ARM6_DONE, ARM6_NO_REASON, end_us);
    } else if (status == REPLY_HALTED) {
        record_end(a, ARM6_STOPPED, ARM6_HALTED, end_us);
    }
    a->drive = ARM6_HOLD;
    drop_first(a);
}

/* --- set points after a stop ------------------------------------------------------------- */

void arm6_sync_jog(struct arm6 *a)
{
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        a->jog.now.q[j] = a->servo.joint[j].q_rad;
        a->jog.now.qd[j] = a->servo.joint[j].w_radps;
    }
}

static void hold_here(struct arm6 *a)
{
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        const struct servo_joint *joint = &a->servo.joint[j];
        const double coast = joint->q_rad + a->servo_params.lag_s[j] * joint->w_radps;
        a->jog.now.q[j] = fmin(fmax(coast, -a->arm.q_max_rad[j]), a->arm.q_max_rad[j]);
        a->jog.now.qd[j] = 0.0;
    }
}

/* Returns the present set points; the joint angles if joints move to their targets
 * independently. */
static void find_set_points(struct arm6 *a)
{
    if (a->drive == ARM6_EFFORT || (a->drive == ARM6_MOVE && a->alone)) {
        arm6_sync_jog(a);
    }
}

/* The set point stops at once, and the joint after it with its lag, as a real controller drops
 * a move for the next one. */
static void stop_set_points(struct arm6 *a)
{
    if (a->drive == ARM6_EFFORT || (a->drive == ARM6_MOVE && a->alone)) {
        hold_here(a);
    }
    memset(a->jog.now.qd, 0, sizeof a->jog.now.qd);
    memset(a->jog.twist, 0, sizeof a->jog.twist);
    a->drive = ARM6_HOLD;
}

void arm6_halt_task(struct arm6 *a, const char *detail)
{
    if (a->working) {
        const enum arm6_drive drive = a->drive;
        arm6_end_task(a, REPLY_HALTED, a->now_us, detail);
        a->drive = drive;
    }
}

static void halt_waiting(struct arm6 *a)
{
    for (size_t i = 0; i < a->count; i++) {
        (void)add_answer(a, a->queue[i].id, REPLY_HALTED, a->now_us, a->now_us,
                         "stopped: it had not begun");
    }
    a->count = 0;
    a->working = false;
}

/* --- refusals ---------------------------------------------------------------------------- */

static void record_refusal(struct arm6 *a, enum arm6_reason reason, double at)
{
    a->last.phase = ARM6_REFUSED;
    a->last.reason = reason;
    a->last.at = at;
}

static void refuse_first(struct arm6 *a, const struct arm_fault *fault, const char *bad,
                         int64_t start_us)
{
    char detail[ROBOT_DETAIL_MAX];
    arm_fault_text(fault, bad, detail);
    (void)add_answer(a, a->queue[0].id, REPLY_ERROR, start_us, start_us, detail);
    if (arm_op_moves(a->queue[0].op)) {
        record_refusal(a, (enum arm6_reason)fault->refusal, fault->at);
    }
    drop_first(a);
}

void arm6_end_jam(struct arm6 *a)
{
    char detail[ROBOT_DETAIL_MAX];
    arm_fault_text(&a->jam, NULL, detail);
    const struct arm_fault jam = a->jam;
    arm6_end_task(a, REPLY_ERROR, a->now_us, detail);
    a->last.phase = ARM6_STOPPED;
    a->last.reason = (enum arm6_reason)jam.refusal;
}

/* --- plans ------------------------------------------------------------------------------- */

struct arm_bounds arm6_bounds(const struct arm6 *a)
{
    struct arm_bounds bounds = arm_bounds_none;
    if (a->values[ARM6_CLEARANCE_M] >= 0.0) {
        bounds.clearance_m = a->values[ARM6_CLEARANCE_M];
        bounds.floor_m = a->values[ARM6_FLOOR_M];
    }
    bounds.hold_speed = a->values[ARM6_ON_LIMIT] > 0.0;
    return bounds;
}

static struct arm_rates read_rates(const struct arm6 *a, const struct arm6_task *task)
{
    const bool joints = task->op == ARM_MOVEJ;
    const double v = a->values[ARM6_SPEED_RATIO] *
                     a->values[joints ? ARM6_JOINT_SPEED_RATIO : ARM6_LINE_SPEED_RATIO];
    const double acc =
        a->values[ARM6_ACCELERATION_RATIO] *
        a->values[joints ? ARM6_JOINT_ACCELERATION_RATIO : ARM6_LINE_ACCELERATION_RATIO];
    struct arm_rates rates = arm_request_rates(&task->request);
    rates.v_radps *= v;
    rates.v_mps *= v;
    rates.a_radps2 *= acc;
    rates.a_mps2 *= acc;
    rates.time_s /= v;
    return rates;
}

/* --- begins of tasks --------------------------------------------------------------------- */

static void begin_work(struct arm6 *a, enum arm6_drive drive)
{
    a->drive = drive;
    a->working = true;
    a->path_error_m = 0.0;
}

/* False: refused and removed. */
static bool begin_move(struct arm6 *a, int64_t start_us)
{
    const struct arm6_task *task = &a->queue[0];
    const char *bad = NULL;
    const struct arm_rates rates = read_rates(a, task);
    const struct arm_bounds bounds = arm6_bounds(a);
    const struct arm_fault fault = arm_request_plan(
        &a->arm, a->jog.now.q, task->op, &task->request, &rates, &bounds, &a->move, &bad);
    if (fault.refusal != ARM_ACCEPTED) {
        refuse_first(a, &fault, bad, start_us);
        return false;
    }
    a->last.stretch = a->move.stretch;
    memcpy(a->q_r, a->move.to_q, sizeof a->q_r);
    a->alone = a->move.path == ARM_JOINT_PATH &&
               a->servo_params.controller != ARM_CONTROLLER_PROFILE &&
               !(a->values[ARM6_DYNAMICS] > 0.0);
    begin_work(a, ARM6_MOVE);
    return true;
}

/* Computes the tool's present twist, if it is already moving by another jog. */
static void compute_twist(struct arm6 *a)
{
    const struct arm_slope slope = arm_jacobian(&a->arm, a->jog.now.q);
    arm_twist(&slope, a->jog.now.qd, a->jog.twist);
}

static bool begin_jog(struct arm6 *a, int64_t start_us)
{
    const struct arm6_task *task = &a->queue[0];
    struct arm_jog_request jog;
    const char *bad = arm_request_jog(task->op, &task->request, &jog);
    if (bad) {
        refuse_first(a, &(struct arm_fault){.refusal = ARM_BAD_VALUE, .at = (double)NAN}, bad,
                     start_us);
        return false;
    }
    a->jam = (struct arm_fault){.refusal = ARM_ACCEPTED};
    compute_twist(a);
    begin_work(a, ARM6_JOG);
    return true;
}

static void begin_brake(struct arm6 *a, const struct event_arm *t)
{
    a->brake_radps2 = arm_request_brake_radps2(t);
    a->jam = (struct arm_fault){.refusal = ARM_ACCEPTED};
    begin_work(a, ARM6_BRAKE);
}

/* Executed at once, or refused. */
static void set_mode(struct arm6 *a, int64_t start_us)
{
    const struct event_arm *t = &a->queue[0].request;
    if (t->present == 0) {
        refuse_first(a, &(struct arm_fault){.refusal = ARM_BAD_VALUE, .at = (double)NAN},
                     "\"cartesian\", \"dynamics\" or \"external\" was expected", start_us);
        return;
    }
    if (is_present(t, EVENT_ARM_DYNAMICS)) {
        a->values[ARM6_DYNAMICS] = t->dynamics;
    }
    if (is_present(t, EVENT_ARM_CARTESIAN)) {
        a->cartesian = t->cartesian > 0;
    }
    if (is_present(t, EVENT_ARM_EXTERNAL)) {
        a->external = t->external > 0;
        a->stream_us = a->refreshed_us = INT64_MIN / 2;
    }
    a->path_error_m = 0.0;
    arm6_end_task(a, REPLY_DONE, start_us, "");
}

/* Executed at once, or refused. */
static void set_output(struct arm6 *a, int64_t start_us)
{
    const struct event_arm *t = &a->queue[0].request;
    const char *bad = arm_request_output(t);
    if (bad) {
        refuse_first(a, &(struct arm_fault){.refusal = ARM_BAD_VALUE, .at = (double)NAN}, bad,
                     start_us);
        return;
    }
    const unsigned bit = 1U << (unsigned)t->pin;
    a->outputs = (uint8_t)(t->on > 0 ? a->outputs | bit : a->outputs & ~bit);
    arm6_end_task(a, REPLY_DONE, start_us, "");
}

static void record_start(struct arm6 *a, const struct arm6_task *task)
{
    if (arm_op_moves(task->op)) {
        a->commands++;
        a->protective_stop = false;
        a->last = (struct arm6_last){
            .op = task->op, .phase = ARM6_MOVING, .at = (double)NAN, .stretch = 1.0};
        (void)snprintf(a->last.id, sizeof a->last.id, "%s", task->id);
    }
}

/* Begins the first task; false: it is over already. */
static bool begin_first(struct arm6 *a, int64_t start_us)
{
    const struct arm6_task *task = &a->queue[0];
    a->start_us = start_us;
    a->run_us = start_us + lab_us(task->delay_s);
    record_start(a, task);
    if (task->op == ARM_MODE) {
        set_mode(a, start_us);
        return false;
    }
    if (task->op == ARM_OUTPUT) {
        set_output(a, start_us);
        return false;
    }
    if (task->op == ARM_STOPJ || task->op == ARM_HALT) {
        begin_brake(a, &task->request);
        return true;
    }
    if (a->external) {
        (void)add_answer(a, task->id, REPLY_ERROR, start_us, start_us,
                         "busy: another controller drives it");
        record_refusal(a, ARM6_BUSY, (double)NAN);
        drop_first(a);
        return false;
    }
    if (a->drive == ARM6_EFFORT) {
        stop_set_points(a);
    }
    return arm_op_jogs(task->op) ? begin_jog(a, start_us) : begin_move(a, start_us);
}

void arm6_begin_next(struct arm6 *a, int64_t start_us)
{
    while (a->count > 0 && !a->working && !begin_first(a, start_us)) {
    }
    if (!a->working && a->drive == ARM6_JOG) { /* its successor was refused */
        stop_set_points(a);
    }
}

/* --- commands ---------------------------------------------------------------------------- */

/* Ends the running task for the next one: a jog replaces a jog without a stop; any other task
 * stops the arm. */
static void drop_work(struct arm6 *a, enum arm_op next)
{
    const bool goes_on = arm_op_jogs(next) && a->drive == ARM6_JOG;
    arm6_halt_task(a, "stopped: another command took its place");
    halt_waiting(a);
    if (!goes_on) {
        stop_set_points(a);
    }
}

/* A stop overtakes the queue: the running task ends, and the stop is next. */
static void queue_first(struct arm6 *a, const struct arm6_task *task)
{
    find_set_points(a);
    arm6_halt_task(a, task->op == ARM_HALT ? "stopped by halt" : "stopped by stopj");
    if (task->op == ARM_HALT) {
        halt_waiting(a);
    }
    a->external = false;
    memmove(&a->queue[1], &a->queue[0], a->count * sizeof a->queue[0]);
    a->queue[0] = *task;
    a->count++;
}

/* A stop is never replaced. */
static bool makes_room(const struct arm6 *a, enum arm_op op)
{
    const bool jog_for_jog = arm_op_jogs(op) && a->count == 1 && a->drive == ARM6_JOG;
    return a->working && arm_op_moves(op) && arm_op_moves(a->queue[0].op) &&
           (a->values[ARM6_WHEN_BUSY] > 0.0 || jog_for_jog);
}

bool arm6_queue_command(void *memory, const struct event_command *command)
{
    struct arm6 *a = memory;
    const double sd_s = a->values[ARM6_NOISE_S];
    const double noise_s = sd_s > 0.0 ? sd_s * random_normal(&a->random) : 0.0;
    struct arm6_task task = {.op = (enum arm_op)names_value(&arm_op_names, command->op),
                             .request = command->arm};
    const double more_s = a->values[task.op == ARM_MOVEJ ? ARM6_JOINT_T0_S : ARM6_LINE_T0_S];
    task.delay_s = fmax(a->values[ARM6_T0_S] + more_s + noise_s, 0.0);
    (void)snprintf(task.id, sizeof task.id, "%s", command->id);
    const bool stops = task.op == ARM_HALT || task.op == ARM_STOPJ;
    /* Each waiting task needs room for its answer. */
    if (a->answer_count + a->count + 1 >= ARM6_ANSWERS_MAX ||
        (a->count >= ARM6_QUEUE_MAX && !stops)) {
        return false;
    }
    if (task.op == ARM_OP_COUNT) {
        (void)add_answer(
            a, task.id, REPLY_IGNORED, a->now_us, a->now_us,
            "movej, movel, movec, speedj, speedl, stopj, halt, mode or digital_out "
            "was expected");
        return true;
    }
    if (!arm_op_moves(task.op) || arm_op_jogs(task.op)) {
        task.delay_s = 0.0;
    }
    if (stops) {
        queue_first(a, &task);
    } else {
        if (makes_room(a, task.op)) {
            drop_work(a, task.op);
        }
        a->queue[a->count++] = task;
    }
    arm6_begin_next(a, a->now_us);
    return true;
}
