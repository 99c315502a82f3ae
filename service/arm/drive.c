#include "service/arm/drive.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* 25 beats a second: the program's watchdog wants 10 at least. */
enum { BEAT_US = 40 * 1000 };
/* s of the controller's clock: the program echoes each beat. Without 25 echoes it has ended. */
static const double ECHO_S = 1.0;
/* A controller compiles and starts the program within this time; then it is asked again. */
enum { START_US = 3 * 1000 * 1000 };
/* UR: a protective stop can be unlocked after 5 s. */
enum { UNLOCK_US = 5 * 1000 * 1000 };
/* A move that runs longer than half as long again as planned, and this, does not end. */
static const double OVERTIME_RATIO = 1.5, OVERTIME_S = 3.0;
/* s: and a stop that takes longer than its deceleration says, and this, is none. */
static const double STOP_S = 30.0;
/* A speed below a thousandth is the slider at 0: a pause. */
static const double PAUSED = 1e-3;
/* Speeds are the program's if the scaling is 1 within the rounding of its sender. */
static const double SCALED = 5e-3;
/* rad/s: below it the set points are at rest. */
static const double REST_RADPS = 1e-6;

enum { REGISTER_NUMBER = 24, REGISTER_OP, REGISTER_BEAT, REGISTER_STOP };
enum { TARGET = 24, VIA = 30, SPEED = 36, ACCELERATION, TIME, BRAKE };
enum { RESULT_DONE = 1, RESULT_STOPPED };

const char *const drive_input_names[DRIVE_INPUTS_COUNT] = {
    "input_int_register_25,input_double_register_24,input_double_register_25,"
    "input_double_register_26,input_double_register_27,input_double_register_28,"
    "input_double_register_29,input_double_register_30,input_double_register_31,"
    "input_double_register_32,input_double_register_33,input_double_register_34,"
    "input_double_register_35,input_double_register_36,input_double_register_37,"
    "input_double_register_38",
    "input_int_register_24",
    "input_int_register_26,input_int_register_27,input_double_register_39",
};

/* --- replies ------------------------------------------------------------------------------ */

static struct drive_reply *add_reply(struct drive *d, const char *id, enum reply_status status,
                                     const char *detail)
{
    /* Each command adds one at most, and the owner empties the list after each call. */
    struct drive_reply *r = &d->replies[d->reply_count % DRIVE_REPLIES_MAX];
    d->reply_count += d->reply_count < DRIVE_REPLIES_MAX;
    *r = (struct drive_reply){
        .status = status, .t_start_s = d->last.t_s, .t_end_s = d->last.t_s, .calibrate = true};
    (void)snprintf(r->id, sizeof r->id, "%s", id);
    (void)snprintf(r->detail, sizeof r->detail, "%s", detail);
    return r;
}

static void drop_waiting(struct drive *d, const char *why)
{
    char detail[ARM_DETAIL_MAX];
    (void)snprintf(detail, sizeof detail, "%.100s: it had not begun", why);
    for (size_t i = 0; i < d->count; i++) {
        (void)add_reply(d, d->waiting[i].id, REPLY_HALTED, detail);
    }
    d->count = 0;
}

static void end_move(struct drive *d, enum reply_status status, const char *detail)
{
    struct drive_reply *r = add_reply(d, d->id, status, detail);
    r->t_start_s = d->t_start_s;
    r->t_end_s = d->seen ? d->t_end_s : d->last.t_s;
    if (d->scaled && status == REPLY_DONE) {
        r->calibrate = false;
        (void)snprintf(r->detail, sizeof r->detail, "speeds were scaled");
    }
    d->state = DRIVE_READY;
    d->error = NULL;
}

/* Answers the stop that waits for rest, if there is one. */
static void end_stop(struct drive *d, enum reply_status status, const char *detail)
{
    if (d->stop_waits) {
        add_reply(d, d->stop_id, status, detail)->t_start_s = d->stop_start_s;
    }
    d->stop_waits = false;
}

/* Nothing moves until the state changes: ends the move and all that wait. */
static void end_all(struct drive *d, enum drive_state state, enum reply_status status,
                    const char *why)
{
    if (d->state == DRIVE_MOVING) {
        end_move(d, status, why);
    }
    end_stop(d, status, why);
    drop_waiting(d, why);
    d->state = state;
    (void)snprintf(d->why, sizeof d->why, "%s", why);
}

/* --- moves -------------------------------------------------------------------------------- */

static void write_speeds(struct drive *d, const struct arm_move *m)
{
    double *v = d->inputs.input_double_register;
    const double size = m->path == ARM_JOINT_PATH ? m->size_rad : m->length_m;
    /* A turn of the tool in its place has a duration only. */
    const bool still = size < 1e-6;
    v[SPEED] = still ? 1.0 : m->speed_limit * size;
    v[ACCELERATION] = still ? 1.0 : m->acceleration * size;
    v[TIME] = still ? m->duration_s : 0.0;
    d->planned_s = m->duration_s;
}

static void refuse_task(struct drive *d, const struct drive_task *t,
                        const struct arm_fault *fault, const char *bad)
{
    char detail[ARM_DETAIL_MAX];
    arm_fault_text(fault, bad, detail);
    (void)add_reply(d, t->id, REPLY_ERROR, detail);
}

/* Plans a path from the set points where the robot is now. False: refused. */
static bool write_path(struct drive *d, const struct drive_task *t)
{
    struct arm_move m;
    const char *bad = NULL;
    const struct arm_rates rates = arm_request_rates(&t->request);
    struct arm_fault fault =
        arm_request_plan(&d->arm, d->last.q, t->op, &t->request, &rates, &d->bounds, &m, &bad);
    if (fault.refusal == ARM_ACCEPTED && t->op == ARM_MOVEC && t->request.turns > 0.0) {
        fault = (struct arm_fault){.refusal = ARM_BAD_VALUE, .at = (double)NAN};
        bad = "\"turns\" is for simulated arms: movec of a controller ends at its pose";
    }
    if (fault.refusal != ARM_ACCEPTED) {
        refuse_task(d, t, &fault, bad);
        return false;
    }
    double *v = d->inputs.input_double_register;
    if (m.path == ARM_JOINT_PATH) {
        memcpy(v + TARGET, m.to_q, sizeof m.to_q);
    } else {
        const struct rigid to = arm_forward(&d->arm, m.to_q);
        rigid_to_pose(&to, v + TARGET);
        memcpy(v + VIA, t->request.via, 3 * sizeof v[0]);
        memcpy(v + VIA + 3, v + TARGET + 3, 3 * sizeof v[0]);
    }
    write_speeds(d, &m);
    return true;
}

static bool write_jog(struct drive *d, const struct drive_task *t)
{
    struct arm_jog_request jog;
    double *v = d->inputs.input_double_register;
    const char *bad = arm_request_jog(t->op, &t->request, &jog);
    const bool joints = t->op == ARM_SPEEDJ;
    struct arm_fault fault = {.refusal = bad ? ARM_BAD_VALUE : ARM_ACCEPTED, .at = (double)NAN};
    for (size_t i = 0; i < ARM_JOINTS && !bad; i++) {
        if (joints && fabs(jog.speeds[i]) > d->arm.qd_max_radps[i]) {
            fault.refusal = ARM_TOO_FAST;
        }
        v[TARGET + i] = jog.speeds[i];
    }
    if (fault.refusal != ARM_ACCEPTED) {
        refuse_task(d, t, &fault, bad);
        return false;
    }
    v[VIA] = jog.a_radps2;
    v[ACCELERATION] = joints ? jog.a_radps2 : jog.a_mps2;
    v[TIME] = t->request.time_s;
    d->planned_s = t->request.time_s;
    return true;
}

static void send_move(struct drive *d, const struct drive_task *t)
{
    d->arm.tool = rigid_from_pose(d->last.tool);
    if (!(arm_op_jogs(t->op) ? write_jog(d, t) : write_path(d, t))) {
        return;
    }
    d->number = d->number == INT32_MAX ? 1 : d->number + 1;
    d->inputs.input_int_register[REGISTER_OP] = 1 + (int32_t)t->op;
    d->inputs.input_int_register[REGISTER_NUMBER] = d->number;
    d->send[DRIVE_MOVE] = d->send[DRIVE_NUMBER] = true;
    (void)snprintf(d->id, sizeof d->id, "%s", t->id);
    d->op = t->op;
    d->state = DRIVE_MOVING;
    d->taken = d->seen = d->scaled = d->stopping = false;
    d->why_stopped = "the program on the controller stopped it";
    d->run_s = 0.0;
    d->t_start_s = d->last.t_s;
}

static bool is_moving(const struct drive_sample *s)
{
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        if (fabs(s->qd[i]) > REST_RADPS) {
            return true;
        }
    }
    return false;
}

/* A move is planned from rest, so it waits for the end of a stop. */
static void begin_next(struct drive *d)
{
    while (d->state == DRIVE_READY && d->count > 0 && !is_moving(&d->last)) {
        const struct drive_task next = d->waiting[0];
        d->count--;
        memmove(&d->waiting[0], &d->waiting[1], d->count * sizeof d->waiting[0]);
        send_move(d, &next);
    }
}

/* why: static, for the reply to the move. */
static void stop_move(struct drive *d, const struct event_arm *request, const char *why)
{
    const double brake_radps2 = arm_request_brake_radps2(request);
    double fastest_radps = 0.0;
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        fastest_radps = fmax(fastest_radps, fabs(d->last.qd[i]));
    }
    d->inputs.input_int_register[REGISTER_STOP] = d->number;
    d->inputs.input_double_register[BRAKE] = brake_radps2;
    d->send[DRIVE_BEAT] = true;
    d->stopping = true;
    d->why_stopped = why;
    d->stop_limit_s = d->run_s + fastest_radps / brake_radps2 + STOP_S;
}

void drive_stop(struct drive *d, const char *why)
{
    if (d->state == DRIVE_MOVING && !d->stopping) {
        stop_move(d, &(struct event_arm){0}, why);
    }
    drop_waiting(d, why);
}

bool drive_is_busy(const struct drive *d)
{
    return d->state == DRIVE_MOVING || d->stop_waits;
}

/* --- commands ----------------------------------------------------------------------------- */

static bool takes_commands(const struct drive *d)
{
    return d->state == DRIVE_READY || d->state == DRIVE_MOVING || d->state == DRIVE_STOPPING;
}

static void unlock_robot(struct drive *d, const char *id, int64_t now_us)
{
    char detail[ARM_DETAIL_MAX];
    const struct drive_sample *s = &d->last;
    const char *stop = s->now_us ? s->stop : NULL;
    const bool locked = stop && s->protective;
    if (d->control == DRIVE_CONTROL_LOCAL) {
        (void)add_reply(d, id, REPLY_ERROR, d->why);
    } else if (locked && now_us - d->stopped_us < UNLOCK_US) {
        (void)add_reply(d, id, REPLY_ERROR,
                        "a protective stop can be unlocked after 5 s: look at the robot first");
    } else if (locked && d->control == DRIVE_CONTROL_UNKNOWN) {
        (void)add_reply(
            d, id, REPLY_ERROR,
            "there is no connection to the dashboard (port 29999): unlock it on the "
            "pendant, then send this again");
    } else if (stop && !locked) {
        (void)snprintf(detail, sizeof detail, "%.60s: end it at the robot first", stop);
        (void)add_reply(d, id, REPLY_ERROR, detail);
    } else if (d->state != DRIVE_LATCHED && !locked) {
        (void)snprintf(detail, sizeof detail, "nothing is locked: %.100s",
                       takes_commands(d) ? "the robot obeys" : d->why);
        (void)add_reply(d, id, REPLY_IGNORED, detail);
    } else {
        d->unlock = locked;
        d->state = DRIVE_OFF;
        d->uploaded_us = 0;
        (void)add_reply(d, id, REPLY_DONE, "");
    }
}

/* The order is that of the simulated arm: the stopped move is answered first, then what waited,
 * then the stop as soon as the arm is at rest. */
static void stop_robot(struct drive *d, const struct event_command *c, enum arm_op op)
{
    const char *why = op == ARM_HALT ? "stopped by halt" : "stopped by stopj";
    char detail[ARM_DETAIL_MAX];
    if (!takes_commands(d)) {
        (void)snprintf(detail, sizeof detail, "nothing of Tandem moves: %.100s", d->why);
        (void)add_reply(d, c->id, REPLY_IGNORED, detail);
        return;
    }
    end_stop(d, REPLY_HALTED, why);
    if (d->state != DRIVE_READY) { /* the program brakes harder if a second stop says so */
        stop_move(d, &c->arm, why);
    }
    if (d->state == DRIVE_MOVING) {
        const char *error = d->error;
        end_move(d, error ? REPLY_ERROR : REPLY_HALTED, error ? error : why);
        d->state = DRIVE_STOPPING;
    }
    if (op == ARM_HALT) {
        drop_waiting(d, why);
    }
    d->stop_waits = true;
    d->stop_start_s = d->last.t_s;
    (void)snprintf(d->stop_id, sizeof d->stop_id, "%s", c->id);
}

void drive_command(struct drive *d, const struct event_command *c, int64_t now_us)
{
    const enum arm_op op = (enum arm_op)names_value(&arm_op_names, c->op);
    if (strcmp(c->op, "unlock") == 0) {
        unlock_robot(d, c->id, now_us);
    } else if (op == ARM_STOPJ || op == ARM_HALT) {
        stop_robot(d, c, op);
    } else if (!arm_op_moves(op)) {
        (void)add_reply(d, c->id, REPLY_IGNORED,
                        "movej, movel, movec, speedj, speedl, stopj, halt or unlock was "
                        "expected");
    } else if (!takes_commands(d)) {
        (void)add_reply(d, c->id, REPLY_ERROR, d->why);
    } else if (d->count == DRIVE_WAITING_MAX) {
        (void)add_reply(d, c->id, REPLY_IGNORED, "busy: 16 commands wait");
    } else {
        struct drive_task *t = &d->waiting[d->count++];
        *t = (struct drive_task){.op = op, .request = c->arm};
        (void)snprintf(t->id, sizeof t->id, "%s", c->id);
        if (d->state == DRIVE_MOVING && arm_op_jogs(op) && arm_op_jogs(d->op)) {
            stop_move(d, &c->arm, "stopped: another command took its place");
        }
        begin_next(d);
    }
}

/* --- samples ------------------------------------------------------------------------------ */

static bool is_alive(struct drive *d, const struct drive_sample *s)
{
    if (s->mark != (int32_t)d->mark || s->mark == 0) {
        return false;
    }
    if (s->beat != d->beat_seen) {
        d->beat_seen = s->beat;
        d->alive_s = s->t_s;
    }
    return s->t_s >= d->alive_s && s->t_s - d->alive_s < ECHO_S;
}

static void upload_program(struct drive *d, int64_t now_us)
{
    d->mark = d->mark % 0x7ffffff0U + 1;
    d->alive_s = -(double)INFINITY;
    d->inputs.input_int_register[REGISTER_OP] = 0; /* an old number moves nothing */
    d->inputs.input_int_register[REGISTER_NUMBER] = d->number;
    d->send[DRIVE_MOVE] = d->send[DRIVE_NUMBER] = d->send[DRIVE_BEAT] = true;
    d->upload = true;
    d->uploaded_us = now_us;
    d->state = DRIVE_STARTING;
    (void)snprintf(d->why, sizeof d->why, "its program is being started");
}

/* Without a program: starts it, unless somebody has to agree first. */
static void start_program(struct drive *d, const struct drive_sample *s)
{
    if (d->state == DRIVE_LATCHED) {
        if (!s->stop && d->last_stop) {
            (void)snprintf(
                d->why, sizeof d->why,
                "after the %s: \"unlock\" starts the program on the controller again",
                d->last_stop);
            d->last_stop = NULL;
        }
    } else if (s->stop || d->control == DRIVE_CONTROL_LOCAL) {
        d->state = DRIVE_OFF;
        (void)snprintf(d->why, sizeof d->why, "%s",
                       s->stop ? s->stop
                               : "the robot is in local mode: switch it to remote control on "
                                 "the pendant");
    } else if (d->state == DRIVE_OFF ||
               (d->state == DRIVE_STARTING && s->now_us - d->uploaded_us > START_US)) {
        const bool again = d->state == DRIVE_STARTING;
        upload_program(d, s->now_us);
        if (again) {
            (void)snprintf(d->why, sizeof d->why,
                           "the controller starts no program: is it in remote control, and is "
                           "port 30001 open?");
        }
    }
}

/* The robot may not move, by a stop or because its program has gone. */
static bool check_stops(struct drive *d, const struct drive_sample *s, bool alive)
{
    const bool was_ready = takes_commands(d);
    if (s->stop && was_ready) {
        d->last_stop = s->stop;
        end_all(d, DRIVE_LATCHED, REPLY_BLOCKED, s->stop);
    } else if (!alive && was_ready) {
        d->last_stop = NULL;
        end_all(d, DRIVE_LATCHED, REPLY_ERROR,
                "its program was stopped or replaced: \"unlock\" starts it again");
    }
    return takes_commands(d);
}

bool drive_is_paused(const struct drive *d)
{
    return d->state == DRIVE_MOVING && d->last.scaling <= PAUSED;
}

static void watch_move(struct drive *d, const struct drive_sample *s, double dt_s)
{
    if (!d->taken && s->taken == d->number) {
        d->taken = true;
    }
    if (is_moving(s)) {
        d->t_start_s = d->seen ? d->t_start_s : s->t_s - dt_s;
        d->seen = true;
        d->t_end_s = s->t_s;
    }
    d->scaled = d->scaled || fabs(s->scaling - 1.0) > SCALED;
    d->run_s += s->scaling > PAUSED ? dt_s * fmin(s->scaling, 1.0) : 0.0;
    const bool ended = s->ended == d->number && d->taken;
    if (ended && d->state == DRIVE_STOPPING) {
        d->state = DRIVE_READY;
    } else if (ended) {
        const bool stopped = s->result == RESULT_STOPPED;
        if (!stopped && s->result != RESULT_DONE) {
            d->error = "the program on the controller refused the move";
        }
        end_move(d,
                 d->error  ? REPLY_ERROR
                 : stopped ? REPLY_HALTED
                           : REPLY_DONE,
                 d->error  ? d->error
                 : stopped ? d->why_stopped
                           : "");
    } else if (d->stopping && d->run_s > d->stop_limit_s) {
        end_all(d, DRIVE_LATCHED, REPLY_ERROR,
                "the program on the controller does not stop its move: stop the robot by hand");
    } else if (!d->stopping && d->run_s > OVERTIME_RATIO * d->planned_s + OVERTIME_S) {
        d->error = "the move took longer than it should, and was stopped";
        stop_move(d, &(struct event_arm){0}, d->error);
    }
}

static void send_beat(struct drive *d, int64_t now_us)
{
    if (now_us - d->beat_us >= BEAT_US) {
        int32_t *number = &d->inputs.input_int_register[REGISTER_BEAT];
        *number = *number == INT32_MAX ? 0 : *number + 1;
        d->beat_us = now_us;
        d->send[DRIVE_BEAT] = true;
    }
}

void drive_step(struct drive *d, const struct drive_sample *s)
{
    const double dt_s = d->last.now_us ? s->t_s - d->last.t_s : 0.0;
    if (s->protective && !d->last.protective) {
        d->stopped_us = s->now_us;
    }
    d->last = *s;
    send_beat(d, s->now_us);
    const bool alive = is_alive(d, s);
    if (alive && d->state == DRIVE_STARTING && !s->stop) {
        d->state = DRIVE_READY;
        d->why[0] = '\0';
    }
    if (!check_stops(d, s, alive)) {
        start_program(d, s);
        return;
    }
    if (d->state != DRIVE_READY) {
        watch_move(d, s, dt_s > 0.0 && dt_s < 1.0 ? dt_s : 0.0);
    }
    if (d->state == DRIVE_READY && !is_moving(s)) {
        end_stop(d, REPLY_DONE, "");
    }
    begin_next(d);
}

void drive_lost(struct drive *d, const char *why)
{
    end_all(d, DRIVE_OFF, REPLY_ERROR, why);
    d->last.now_us = 0;
    d->uploaded_us = 0;
}

void drive_set_control(struct drive *d, enum drive_control control)
{
    if (control == DRIVE_CONTROL_LOCAL && d->control != control) {
        drive_stop(d, "local mode");
        end_all(d, DRIVE_OFF, REPLY_HALTED,
                "the robot is in local mode: switch it to remote control on the pendant");
    } else if (control == DRIVE_CONTROL_REMOTE && d->control == DRIVE_CONTROL_LOCAL) {
        d->connect = true; /* what was open is cut, or read only without a word */
        d->state = DRIVE_OFF;
        d->uploaded_us = 0;
    }
    d->control = control;
}

void drive_begin(struct drive *d, const struct arm_geometry *arm, int32_t number)
{
    *d = (struct drive){
        .arm = *arm, .bounds = arm_bounds_none, .number = number, .mark = (uint32_t)number};
    d->bounds.hold_speed = true;
    (void)snprintf(d->why, sizeof d->why, "there is no connection to the controller yet");
}
