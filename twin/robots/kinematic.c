#include "twin/robots/kinematic.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/constants.h"

/* The lidar stands in the middle of a square hall and sees its walls. */
#define HALL_HALF_M       50.0
#define LIDAR_RANGE_M     120.0
#define ROUNDING_PER_UNIT 1000.0 /* replies tell millimetres and milliradians */

static double wrapped(double angle_rad)
{
    const double turn = remainder(angle_rad, 2.0 * PI);
    return turn <= -PI ? turn + 2.0 * PI : turn;
}

static double rounded(double value)
{
    const double whole = rint(value * ROUNDING_PER_UNIT) / ROUNDING_PER_UNIT;
    return fabs(whole) > 0.0 ? whole : 0.0; /* no "-0" */
}

static bool is(const struct kinematic_task *task, const char *op)
{
    return strcmp(task->op, op) == 0;
}

void kinematic_init(struct kinematic *k, const struct kinematic_params *params)
{
    memset(k, 0, sizeof *k);
    k->params = *params;
}

/* Begin the task at the head of the queue at start_us. */
static void begin(struct kinematic *k, int64_t start_us)
{
    struct kinematic_task *task = &k->queue[0];
    const struct kinematic_params *p = &k->params;
    const double wait_s = p->t0_s + task->noise_s;
    k->busy = true;
    k->start_us = start_us;
    k->turn_us = start_us + lab_us(wait_s > 0.0 ? wait_s : 0.0);
    k->drive_us = k->turn_us;
    k->end_us = k->turn_us;
    task->status = is(task, "lidar")                    ? REPLY_DATA
                   : is(task, "go") || is(task, "halt") ? REPLY_DONE
                                                        : REPLY_IGNORED;
    if (task->halted) {
        task->status = REPLY_HALTED;
    }
    if (task->halted || is(task, "halt") || task->status == REPLY_IGNORED) {
        k->turn_us = k->drive_us = k->end_us = start_us;
        return;
    }
    if (!is(task, "go")) {
        return;
    }
    if (fabs(task->rotation_rad) > 0.0) {
        k->turn_us += lab_us(p->ta_s);
        k->drive_us = k->turn_us + lab_us(fabs(task->rotation_rad) / p->angular_speed_radps);
    }
    k->end_us = k->drive_us;
    if (fabs(task->displacement_m) > 0.0) {
        k->drive_us += lab_us(p->tr_s);
        k->end_us = k->drive_us + lab_us(fabs(task->displacement_m) / p->linear_speed_mps);
    }
}

/* End the task in work here and now, and answer those that wait the same way. */
static void halt(struct kinematic *k, int64_t now_us)
{
    if (k->busy && now_us < k->end_us) {
        double nu[KINEMATIC_AXES];
        double pose[KINEMATIC_AXES];
        kinematic_sample(k, now_us, nu, pose);
        k->x_m = pose[0];
        k->y_m = pose[1];
        k->psi_rad = pose[2];
        k->queue[0].rotation_rad = 0.0;
        k->queue[0].displacement_m = 0.0;
        k->queue[0].status = REPLY_HALTED;
        k->turn_us = k->drive_us = k->end_us = now_us;
    }
    for (size_t i = k->busy ? 1 : 0; i < k->count; i++) {
        k->queue[i].halted = true;
    }
}

bool kinematic_command(struct kinematic *k, int64_t now_us, const struct event_command *command,
                       double noise_s)
{
    if (strcmp(command->op, "halt") == 0) {
        halt(k, now_us);
    }
    if (k->count == KINEMATIC_QUEUE_MAX) {
        k->refused++;
        return false;
    }
    struct kinematic_task *task = &k->queue[k->count++];
    *task = (struct kinematic_task){.rotation_rad = command->rotation_rad,
                                    .displacement_m = command->displacement_m,
                                    .noise_s = noise_s};
    (void)snprintf(task->id, sizeof task->id, "%s", command->id);
    (void)snprintf(task->op, sizeof task->op, "%s", command->op);
    if (!k->busy) {
        begin(k, now_us);
    }
    return true;
}

static void add_value(struct kinematic_done *done, const char *name, double value)
{
    struct event_value *v = &done->values[done->value_count++];
    (void)snprintf(v->name, sizeof v->name, "%s", name);
    v->is_number = true;
    v->number = rounded(value);
}

/* From here along heading to the wall of the hall; 0 outside of it. */
static double range_m(double x_m, double y_m, double heading_rad)
{
    if (!(fabs(x_m) < HALL_HALF_M && fabs(y_m) < HALL_HALF_M)) {
        return 0.0;
    }
    const double cx = cos(heading_rad);
    const double cy = sin(heading_rad);
    double nearest_m = LIDAR_RANGE_M;
    if (fabs(cx) > 0.0) {
        nearest_m = fmin(nearest_m, ((cx > 0.0 ? HALL_HALF_M : -HALL_HALF_M) - x_m) / cx);
    }
    if (fabs(cy) > 0.0) {
        nearest_m = fmin(nearest_m, ((cy > 0.0 ? HALL_HALF_M : -HALL_HALF_M) - y_m) / cy);
    }
    return nearest_m;
}

static void tell_values(const struct kinematic *k, bool lidar, struct kinematic_done *done)
{
    if (lidar) {
        add_value(done, "ahead_m", range_m(k->x_m, k->y_m, k->psi_rad));
        add_value(done, "left_m", range_m(k->x_m, k->y_m, k->psi_rad + PI / 2.0));
        add_value(done, "behind_m", range_m(k->x_m, k->y_m, k->psi_rad + PI));
        add_value(done, "right_m", range_m(k->x_m, k->y_m, k->psi_rad - PI / 2.0));
    } else {
        add_value(done, "x_m", k->x_m);
        add_value(done, "y_m", k->y_m);
        add_value(done, "psi_rad", k->psi_rad);
    }
}

bool kinematic_step(struct kinematic *k, int64_t now_us, struct kinematic_done *done)
{
    if (!k->busy || now_us < k->end_us) {
        return false;
    }
    const struct kinematic_task task = k->queue[0];
    double nu[KINEMATIC_AXES];
    double pose[KINEMATIC_AXES];
    kinematic_sample(k, k->end_us, nu, pose);
    k->x_m = pose[0];
    k->y_m = pose[1];
    k->psi_rad = wrapped(pose[2]);
    memset(done, 0, sizeof *done);
    (void)snprintf(done->id, sizeof done->id, "%s", task.id);
    done->status = task.status;
    done->start_us = k->start_us;
    done->end_us = k->end_us;
    tell_values(k, task.status == REPLY_DATA, done);
    k->busy = false;
    k->count--;
    memmove(&k->queue[0], &k->queue[1], k->count * sizeof k->queue[0]);
    if (k->count > 0) {
        begin(k, k->end_us);
    }
    return true;
}

int64_t kinematic_next_us(const struct kinematic *k)
{
    return k->busy ? k->end_us : LAB_TIME_MAX;
}

/* Share of [from_us, to_us] that is over at now_us: 0 .. 1. */
static double share(int64_t from_us, int64_t to_us, int64_t now_us)
{
    if (now_us >= to_us) {
        return 1.0;
    }
    return now_us <= from_us ? 0.0 : (double)(now_us - from_us) / (double)(to_us - from_us);
}

void kinematic_sample(const struct kinematic *k, int64_t now_us, double nu[KINEMATIC_AXES],
                      double pose[KINEMATIC_AXES])
{
    nu[0] = nu[1] = nu[2] = 0.0;
    pose[0] = k->x_m;
    pose[1] = k->y_m;
    pose[2] = k->psi_rad;
    const struct kinematic_task *task = &k->queue[0];
    if (!k->busy || task->status != REPLY_DONE || !is(task, "go")) {
        return;
    }
    const int64_t turn_end_us =
        k->turn_us + (fabs(task->rotation_rad) > 0.0
                          ? lab_us(fabs(task->rotation_rad) / k->params.angular_speed_radps)
                          : 0);
    pose[2] = wrapped(k->psi_rad + task->rotation_rad * share(k->turn_us, turn_end_us, now_us));
    const double driven_m = task->displacement_m * share(k->drive_us, k->end_us, now_us);
    if (fabs(task->displacement_m) > 0.0) {
        pose[0] += driven_m * cos(pose[2]);
        pose[1] += driven_m * sin(pose[2]);
    }
    if (now_us >= k->turn_us && now_us < turn_end_us) {
        nu[2] = copysign(k->params.angular_speed_radps, task->rotation_rad);
    } else if (now_us >= k->drive_us && now_us < k->end_us) {
        nu[0] = copysign(k->params.linear_speed_mps, task->displacement_m);
    }
}
