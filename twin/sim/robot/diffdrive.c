#include "twin/sim/robot/diffdrive.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "twin/sim/robot/robot_kinds.h"
#include "twin/sim/robot/world.h"

#define TURN_LIMIT_RAD  1e3 /* per command */
#define WAY_LIMIT_M     1e4
#define ARRIVED_M       0.1 /* a pose this close to the goal means that the robot has arrived … */
#define ARRIVED_RAD     0.1
#define ECHO_PATIENCE   4.0 /* a reading that takes this multiple of its usual time is lost */
#define ECHO_PATIENCE_S 0.1 /* and at least this */

/* Context of the network's functions. */
struct round {
    struct diffdrive *d;
    robot_sink *sink;
    void *context;
    uint8_t from; /* state of L0Main before this cycle */
};

static const struct efsm_table *table_of(const struct diffdrive *d, size_t machine)
{
    return machine == DIFFDRIVE_LIDAR ? &l0lidar_table
           : d->user.machine          ? &d->user.machine->table
                                      : &l0main_table;
}

/* State of L0Main, or of the machine in its place. */
static const char *state_of(const struct diffdrive *d)
{
    return efsm_state_name(table_of(d, DIFFDRIVE_MAIN), d->machine[DIFFDRIVE_MAIN].state);
}

static enum l0main_op op_of(const struct event_command *command)
{
    static const struct {
        const char *word;
        enum l0main_op op;
    } words[] = {{"go", L0MAIN_OP_GO},
                 {"lidar", L0MAIN_OP_LIDAR},
                 {"resume", L0MAIN_OP_RESUME},
                 {"halt", L0MAIN_OP_HALT}};
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcmp(command->op, words[i].word) == 0) {
            return words[i].op;
        }
    }
    return L0MAIN_OP_UNKNOWN;
}

static bool queue_command(void *memory, const struct event_command *command)
{
    struct diffdrive *d = memory;
    if (d->queue_count == DIFFDRIVE_QUEUE_MAX) {
        return false;
    }
    struct diffdrive_command *c = &d->queue[d->queue_count++];
    memset(c, 0, sizeof *c);
    (void)snprintf(c->id, sizeof c->id, "%s", command->id);
    (void)snprintf(c->word, sizeof c->word, "%s", command->op);
    c->op = op_of(command);
    c->rotation_rad = command->rotation_rad;
    c->displacement_m = command->displacement_m;
    if (c->op == L0MAIN_OP_GO &&
        !(fabs(command->rotation_rad) <= TURN_LIMIT_RAD && command->displacement_m >= 0.0 &&
          command->displacement_m <= WAY_LIMIT_M)) {
        c->op = L0MAIN_OP_BAD;
    }
    return true;
}

/* --- replies ----------------------------------------------------------------------------- */

/* Adds the pose where the robot expects to come to rest. */
static void add_pose(const struct diffdrive *d, struct robot_reply *reply)
{
    const double share = d->params.motor_lag_s / ((double)d->period_us * 1e-6);
    const double turn_rad = d->moved.angle_rad * share;
    const double way_m = d->moved.distance_m * share;
    const double along_rad = d->odometry[2] + turn_rad / 2.0;
    robot_reply_pose(reply, d->odometry[0] + way_m * cos(along_rad),
                     d->odometry[1] + way_m * sin(along_rad),
                     robot_wrap_rad(d->odometry[2] + turn_rad));
}

static void emit_answer(struct round *r)
{
    static const enum reply_status statuses[] = {[L0MAIN_ANSWER_DONE] = REPLY_DONE,
                                                 [L0MAIN_ANSWER_DATA] = REPLY_DATA,
                                                 [L0MAIN_ANSWER_BLOCKED] = REPLY_BLOCKED,
                                                 [L0MAIN_ANSWER_HALTED] = REPLY_HALTED,
                                                 [L0MAIN_ANSWER_LATE] = REPLY_ERROR};
    struct diffdrive *d = r->d;
    const enum l0main_answer answer = d->main_out.answer;
    if (answer == L0MAIN_ANSWER_NONE || !d->is_working) {
        return;
    }
    struct robot_reply reply = {
        .status = statuses[answer], .start_us = d->working_since_us, .end_us = d->now_us};
    (void)snprintf(reply.id, sizeof reply.id, "%s", d->working.id);
    if (answer == L0MAIN_ANSWER_DATA) {
        robot_reply_add(&reply, "angle_rad", d->lidar_out.yaw_rad);
    } else {
        add_pose(d, &reply);
    }
    if (answer == L0MAIN_ANSWER_DATA || answer == L0MAIN_ANSWER_BLOCKED) {
        robot_reply_add(&reply, "range_m", d->lidar_out.distance_m);
    }
    if (answer == L0MAIN_ANSWER_BLOCKED) {
        (void)snprintf(reply.detail, sizeof reply.detail,
                       "an obstacle stayed ahead for longer than %g s",
                       d->params.blocked_timeout_s);
    } else if (answer == L0MAIN_ANSWER_LATE && d->user.machine) {
        (void)snprintf(reply.detail, sizeof reply.detail, "%s says error in %s",
                       table_of(d, DIFFDRIVE_MAIN)->name, state_of(d));
    } else if (answer == L0MAIN_ANSWER_LATE) {
        (void)snprintf(reply.detail, sizeof reply.detail,
                       "given up: the goal was not reached in %g times the time it should take",
                       d->params.patience_ratio);
    }
    d->is_working = false;
    d->user.answered = true;
    d->has_arrived = answer == L0MAIN_ANSWER_DONE;
    r->sink(r->context, &reply);
}

static void explain_unfit(const struct diffdrive *d, uint8_t state,
                          char detail[ROBOT_DETAIL_MAX])
{
    if (d->user.machine || state != L0MAIN_LISTEN) {
        (void)snprintf(detail, ROBOT_DETAIL_MAX, "%s is not for now: the robot is in %s",
                       d->incoming.word, efsm_state_name(table_of(d, DIFFDRIVE_MAIN), state));
    } else if (d->incoming.op == L0MAIN_OP_HALT) {
        (void)snprintf(detail, ROBOT_DETAIL_MAX, "there is nothing to halt");
    } else {
        (void)snprintf(detail, ROBOT_DETAIL_MAX, "no sweep waits to be resumed");
    }
}

/* The machine accepted another command before it answered the running one. */
static void drop_working(struct round *r)
{
    struct diffdrive *d = r->d;
    struct robot_reply reply = {
        .status = REPLY_HALTED, .start_us = d->working_since_us, .end_us = d->now_us};
    if (d->is_working) {
        (void)snprintf(reply.id, sizeof reply.id, "%s", d->working.id);
        (void)snprintf(reply.detail, sizeof reply.detail, "%s took another command meanwhile",
                       table_of(d, DIFFDRIVE_MAIN)->name);
        add_pose(d, &reply);
        r->sink(r->context, &reply);
    }
}

static void emit_notice(struct round *r)
{
    struct diffdrive *d = r->d;
    struct robot_reply reply = {.start_us = d->now_us, .end_us = d->now_us};
    if (d->main_out.notice == L0MAIN_NOTICE_NONE) {
        return;
    }
    d->is_unanswered = false;
    switch (d->main_out.notice) {
    case L0MAIN_NOTICE_ACCEPTED:
        drop_working(r);
        d->working = d->incoming;
        d->is_working = true;
        d->working_since_us = d->now_us;
        return;
    case L0MAIN_NOTICE_OBEYED:
        reply.status = REPLY_DONE;
        add_pose(d, &reply);
        break;
    case L0MAIN_NOTICE_UNFIT:
        reply.status = REPLY_IGNORED;
        explain_unfit(d, r->from, reply.detail);
        break;
    case L0MAIN_NOTICE_NONE:
    case L0MAIN_NOTICE_WRONG:
    default:
        reply.status = REPLY_ERROR;
        (void)snprintf(reply.detail, sizeof reply.detail,
                       d->incoming.op == L0MAIN_OP_BAD
                           ? "rotation_rad within 1000 and displacement_m from 0 to 10000 were "
                             "expected"
                           : "go, lidar, resume or halt was expected");
        break;
    }
    (void)snprintf(reply.id, sizeof reply.id, "%s", d->incoming.id);
    r->sink(r->context, &reply);
}

/* --- the network ------------------------------------------------------------------------- */

static void sense_machines(void *context, unsigned cycle, int64_t t_us)
{
    struct round *r = context;
    struct diffdrive *d = r->d;
    const struct diffdrive_params *p = &d->params;
    const bool first = cycle == 0;
    const double wait_s = fmax(p->lidar_ping_s * ECHO_PATIENCE, ECHO_PATIENCE_S);
    r->from = d->machine[DIFFDRIVE_MAIN].state;
    d->main_in = (struct l0main_in){.params = p,
                                    .op = first ? d->incoming.op : L0MAIN_OP_NONE,
                                    .angle_rad = -d->incoming.rotation_rad,
                                    .distance_m = d->incoming.displacement_m,
                                    .moved = first ? d->moved : (struct diffdrive_motion){0},
                                    .period_s = (double)d->period_us * 1e-6,
                                    .update = d->lidar_out.update,
                                    .ahead = d->lidar_out.ahead,
                                    .obstacle_m = d->lidar_out.ahead ? d->lidar_out.distance_m
                                                                     : p->lidar_range_m};
    if (d->user.machine) {
        diffdrive_user_sense(&d->user, &d->main_in, d->odometry, &d->machine[DIFFDRIVE_MAIN],
                             t_us);
    }
    d->lidar_in = (struct l0lidar_in){.target_rad = d->main_out.target_rad,
                                      .request = d->main_out.request,
                                      .servo_radps = p->lidar_speed_radps,
                                      .range_m = p->lidar_range_m,
                                      .echo_wait_us = wait_s * 1e6};
    if (d->pinging && t_us >= d->ping_due_us) {
        d->lidar_in.echo = true;
        d->lidar_in.echo_m = diffdrive_plant_ping(&d->plant, p, d->world, d->lidar_out.yaw_rad);
    }
}

static void start_ping(struct diffdrive *d)
{
    const double chance = d->params.lidar_loss_ratio;
    const bool lost = chance > 0.0 && random_uniform(&d->plant.random) < chance;
    d->ping_due_us = lost ? LAB_TIME_MAX : d->now_us + lab_us(d->params.lidar_ping_s);
}

static void commit_cycle(void *context, unsigned cycle, int64_t t_us)
{
    struct round *r = context;
    struct diffdrive *d = r->d;
    (void)cycle;
    (void)t_us;
    for (size_t i = 0; i < DIFFDRIVE_MACHINES; i++) {
        const uint8_t arc = d->machine[i].fired_arc;
        if (arc < DIFFDRIVE_ARCS_MAX) {
            d->arcs[i][arc]++;
        }
    }
    if (d->user.machine) {
        d->main_out = diffdrive_user_outputs(&d->user, &d->machine[DIFFDRIVE_MAIN],
                                             d->main_in.op, d->params.control_max);
    }
    /* Answers in the cycle of acceptance belong to the accepted command. */
    const bool was_working = d->is_working || !d->user.machine;
    if (was_working) {
        emit_answer(r);
    }
    emit_notice(r);
    if (!was_working) {
        emit_answer(r);
    }
    if (d->lidar_out.ping && !d->pinging) {
        start_ping(d);
    }
    d->pinging = d->lidar_out.ping;
}

static void name_machines(struct diffdrive *d, struct efsm_machine machines[DIFFDRIVE_MACHINES])
{
    const bool user = d->user.machine != NULL;
    const void *const in[] = {user ? (const void *)&d->user.in : &d->main_in, &d->lidar_in};
    void *const out[] = {user ? (void *)&d->user.out : &d->main_out, &d->lidar_out};
    for (uint16_t i = 0; i < DIFFDRIVE_MACHINES; i++) {
        machines[i] = (struct efsm_machine){table_of(d, i), &d->machine[i], &d->stats[i], i,
                                            in[i],          out[i]};
    }
}

static void reset_main(struct diffdrive *d)
{
    d->main_out = (struct l0main_out){0};
    if (d->user.machine) {
        diffdrive_user_reset(&d->user, &d->machine[DIFFDRIVE_MAIN], d->now_us);
    } else {
        efsm_reset(&l0main_table, &d->machine[DIFFDRIVE_MAIN], d->now_us);
    }
}

static void reset_machines(struct diffdrive *d)
{
    struct efsm_machine machines[DIFFDRIVE_MACHINES];
    reset_main(d);
    l0lidar_reset(&d->machine[DIFFDRIVE_LIDAR], d->now_us, d->params.lidar_speed_radps,
                  d->params.lidar_range_m);
    name_machines(d, machines);
    efsm_network_prime(
        &(struct efsm_network){.machines = machines, .count = DIFFDRIVE_MACHINES}, d->now_us);
    d->pinging = false;
}

/* A user's machine at a fault or at its end: the robot stops until the next command, which
 * restarts the machine. */
static void stop_user(struct diffdrive *d)
{
    efsm_stop(&d->machine[DIFFDRIVE_MAIN]);
    d->user.out.there = 0;
    d->main_out = (struct l0main_out){0};
}

/* A machine met a case that its table does not cover: report it and reset both machines. */
static void recover_machines(struct round *r)
{
    struct diffdrive *d = r->d;
    struct efsm *m = &d->machine[DIFFDRIVE_MAIN];
    struct robot_reply reply = {
        .status = REPLY_ERROR, .start_us = d->now_us, .end_us = d->now_us};
    for (size_t i = 0; i < DIFFDRIVE_MACHINES && !reply.detail[0]; i++) {
        efsm_describe_fault(table_of(d, i), &d->machine[i], reply.detail, sizeof reply.detail);
    }
    if (!reply.detail[0]) {
        (void)snprintf(reply.detail, sizeof reply.detail, "%s ended in %s without an answer",
                       table_of(d, DIFFDRIVE_MAIN)->name, state_of(d));
    } else {
        d->faults++;
    }
    if (d->user.machine && !m->stopped && !efsm_is_active(&d->user.machine->table, m)) {
        stop_user(d);
    } else {
        reset_machines(d);
    }
    if (d->is_working) {
        (void)snprintf(reply.id, sizeof reply.id, "%s", d->working.id);
        r->sink(r->context, &reply);
    }
    if (d->is_unanswered) {
        (void)snprintf(reply.id, sizeof reply.id, "%s", d->incoming.id);
        r->sink(r->context, &reply);
    }
    d->is_working = d->is_unanswered = false;
}

/* --- the kind ---------------------------------------------------------------------------- */

static void init_robot(void *memory, const struct robot_setup *setup)
{
    struct diffdrive *d = memory;
    robot_begin(&diffdrive_kind, memory, setup);
    d->world = setup->world;
    d->now_us = setup->start_us;
    d->period_us = setup->period_us;
    d->plant.random.state = setup->seed;
    memcpy(d->plant.pose, setup->pose, sizeof d->plant.pose);
    memcpy(d->odometry, setup->pose, sizeof d->odometry);
    diffdrive_user_init(&d->user, setup->machine);
    reset_machines(d);
}

/* Computes the present pose from which this turn and distance lead to `rest`. */
static void stand_before(const double rest[3], double turn_rad, double way_m, double pose[3])
{
    const double along_rad = rest[2] - turn_rad / 2.0;
    pose[0] = rest[0] - way_m * cos(along_rad);
    pose[1] = rest[1] - way_m * sin(along_rad);
    pose[2] = robot_wrap_rad(rest[2] - turn_rad);
}

/* L0Main measures the rest of its move from its goal. A robot that has arrived keeps that goal,
 * like the robot whose place it takes, and makes up for the remaining distance. Far from the
 * goal, or after an aborted move, nothing remains. before: odometry so far. */
static void retain_goal(struct diffdrive *d, const double before[3], const double rest[3])
{
    struct efsm *m = &d->machine[DIFFDRIVE_MAIN];
    double goal[3];
    memcpy(goal, rest, sizeof goal);
    const double psi_rad = before[2] - m->cell[L0MAIN_ANGLE];
    const double x_m =
        before[0] - m->cell[L0MAIN_X] * cos(psi_rad) + m->cell[L0MAIN_Y] * sin(psi_rad);
    const double y_m =
        before[1] - m->cell[L0MAIN_X] * sin(psi_rad) - m->cell[L0MAIN_Y] * cos(psi_rad);
    if (d->has_arrived && hypot(x_m - rest[0], y_m - rest[1]) < ARRIVED_M &&
        fabs(robot_wrap_rad(psi_rad - rest[2])) < ARRIVED_RAD) {
        goal[0] = x_m;
        goal[1] = y_m;
        goal[2] = psi_rad;
    }
    const double ahead_m = d->odometry[0] - goal[0];
    const double aside_m = d->odometry[1] - goal[1];
    const struct diffdrive_pose seen = {.angle_rad = robot_wrap_rad(d->odometry[2] - goal[2]),
                                        .x_m = ahead_m * cos(goal[2]) + aside_m * sin(goal[2]),
                                        .y_m = aside_m * cos(goal[2]) - ahead_m * sin(goal[2])};
    efsm_init_cell(m, L0MAIN_ANGLE, seen.angle_rad);
    efsm_init_cell(m, L0MAIN_X, seen.x_m);
    efsm_init_cell(m, L0MAIN_Y, seen.y_m);
    efsm_init_cell(m, L0MAIN_ERROR, diffdrive_heading_error(&seen));
}

/* The motors may still coast, so body and odometry are set such that both come to rest at the
 * given pose. */
static enum status place_robot(void *memory, const double pose[3])
{
    struct diffdrive *d = memory;
    double to_come[DIFFDRIVE_WHEELS];
    double before[3];
    double turn_rad = 0.0;
    double way_m = 0.0;
    const bool listens = d->user.machine || d->machine[DIFFDRIVE_MAIN].state == L0MAIN_LISTEN;
    if (d->is_working || d->queue_count > 0 || !listens) {
        return STATUS_E_STALE;
    }
    if (d->world && world_blocked(d->world, pose[0], pose[1], d->params.radius_m)) {
        return STATUS_E_RANGE; /* it could never leave the obstacle */
    }
    diffdrive_plant_coast(&d->plant, &d->params, &turn_rad, &way_m);
    diffdrive_plant_expect(&d->plant, &d->params, to_come);
    const struct diffdrive_motion believed =
        diffdrive_moved(&d->params, to_come[DIFFDRIVE_LEFT], to_come[DIFFDRIVE_RIGHT]);
    memcpy(before, d->odometry, sizeof before);
    stand_before(pose, turn_rad, way_m, d->plant.pose);
    stand_before(pose, believed.angle_rad, believed.distance_m, d->odometry);
    if (!d->user.machine) {
        retain_goal(d, before, pose);
    }
    return STATUS_OK;
}

static void read_encoders(struct diffdrive *d)
{
    double counts[DIFFDRIVE_WHEELS];
    diffdrive_plant_read(&d->plant, counts);
    d->moved = diffdrive_moved(&d->params, counts[DIFFDRIVE_LEFT], counts[DIFFDRIVE_RIGHT]);
    const double along_rad = d->odometry[2] + d->moved.angle_rad / 2.0;
    d->odometry[0] += d->moved.distance_m * cos(along_rad);
    d->odometry[1] += d->moved.distance_m * sin(along_rad);
    d->odometry[2] = robot_wrap_rad(d->odometry[2] + d->moved.angle_rad);
}

/* Selects the command that the machines see in this period. */
static void start_next(struct diffdrive *d)
{
    const bool pauses = d->user.machine && d->user.answered;
    memset(&d->incoming, 0, sizeof d->incoming);
    d->user.answered = false;
    if (d->queue_count > 0 && !pauses) {
        if (d->machine[DIFFDRIVE_MAIN].stopped) {
            reset_main(d);
        }
        d->incoming = d->queue[0];
        memmove(&d->queue[0], &d->queue[1], --d->queue_count * sizeof d->queue[0]);
        d->is_unanswered = true;
    }
}

/* Accepts ahead and turn, or in the plane with sideways between them. */
static enum status set_effort(void *memory, const double *tau, size_t count)
{
    struct diffdrive *d = memory;
    if ((count != 2 && count != 3) || !isfinite(tau[0]) || !isfinite(tau[count - 1])) {
        return STATUS_E_RANGE;
    }
    d->effort[0] = tau[0];
    d->effort[1] = tau[count - 1];
    d->effort_until_us = d->now_us + lab_us(d->params.effort_timeout_s);
    return STATUS_OK;
}

/* An effort acts while no command runs. The next command begins where it has led. */
static void control_wheels(struct diffdrive *d)
{
    struct efsm *m = &d->machine[DIFFDRIVE_MAIN];
    d->control[DIFFDRIVE_LEFT] = d->main_out.left;
    d->control[DIFFDRIVE_RIGHT] = d->main_out.right;
    const bool listens = d->user.machine || m->state == L0MAIN_LISTEN;
    if (d->now_us < d->effort_until_us && !d->is_working && listens) {
        diffdrive_plant_controls(&d->params, d->effort[0], d->effort[1], d->control);
        d->has_arrived = false;
    }
    if (d->now_us < d->effort_until_us && !d->is_working && listens && !d->user.machine) {
        efsm_init_cell(m, L0MAIN_ANGLE, 0.0);
        efsm_init_cell(m, L0MAIN_X, 0.0);
        efsm_init_cell(m, L0MAIN_Y, 0.0);
        efsm_init_cell(m, L0MAIN_ERROR, 0.0);
    }
}

static void step_robot(void *memory, robot_sink *sink, void *context)
{
    struct diffdrive *d = memory;
    struct round round = {.d = d, .sink = sink, .context = context};
    struct efsm_machine machines[DIFFDRIVE_MACHINES];
    name_machines(d, machines);
    const struct efsm_network net = {.machines = machines,
                                     .count = DIFFDRIVE_MACHINES,
                                     .sense = sense_machines,
                                     .commit = commit_cycle,
                                     .context = &round};
    read_encoders(d);
    start_next(d);
    (void)efsm_run_instant(&net, d->now_us);
    if (!efsm_network_is_active(&net)) {
        recover_machines(&round);
    }
    control_wheels(d);
    diffdrive_plant_step(&d->plant, &d->params, d->world, d->control, d->period_us);
    d->now_us += d->period_us;
}

static void sample_robot(const void *memory, struct robot_sample *out)
{
    const struct diffdrive *d = memory;
    memset(out, 0, sizeof *out);
    out->t_us = d->now_us;
    out->nu_count = out->tau_count = out->pose_count = 3;
    diffdrive_plant_velocity(&d->plant, &d->params, &out->nu[0], &out->nu[2]);
    diffdrive_plant_commanded(&d->params, d->control, out->tau);
    memcpy(out->pose, d->plant.pose, sizeof d->plant.pose);
}

static size_t list_machines(const void *memory, struct robot_machine out[ROBOT_MACHINES_MAX])
{
    const struct diffdrive *d = memory;
    for (size_t i = 0; i < DIFFDRIVE_MACHINES; i++) {
        out[i] = (struct robot_machine){table_of(d, i), &d->machine[i], &d->stats[i]};
    }
    return DIFFDRIVE_MACHINES;
}

const struct robot_kind diffdrive_kind = {
    .name = "diffdrive",
    .purpose =
        "a small robot with two driven wheels and a lidar, as a network of state machines",
    .bytes = sizeof(struct diffdrive),
    .period_us = 25000,
    .parameters = diffdrive_parameters,
    .parameter_count = DIFFDRIVE_PARAMETER_COUNT,
    .parameters_at = offsetof(struct diffdrive, params),
    .operations = "go, lidar, resume, halt, and efforts",
    .init = init_robot,
    .command = queue_command,
    .effort = set_effort,
    .place = place_robot,
    .step = step_robot,
    .sample = sample_robot,
    .machines = list_machines,
    .ports = diffdrive_ports,
    .port_count = DIFFDRIVE_PORT_COUNT,
};
