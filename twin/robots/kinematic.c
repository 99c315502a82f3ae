#include "twin/robots/kinematic.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/constants.h"
#include "twin/robots/robot_kinds.h"
#include "twin/robots/world.h"

/* The lidar stands in the middle of a square hall and sees its walls. */
#define HALL_HALF_M   50.0
#define LIDAR_RANGE_M 120.0

static bool is_op(const struct kinematic_task *task, const char *op)
{
    return strcmp(task->op, op) == 0;
}

/* Begin the task at the head of the queue at start_us. */
static void begin_task(struct kinematic *k, int64_t start_us)
{
    struct kinematic_task *task = &k->queue[0];
    const struct kinematic_params *p = &k->params;
    const double wait_s = p->t0_s + task->noise_s;
    k->busy = true;
    k->start_us = start_us;
    k->turn_us = start_us + lab_us(wait_s > 0.0 ? wait_s : 0.0);
    k->drive_us = k->turn_us;
    k->end_us = k->turn_us;
    task->status = is_op(task, "lidar")                       ? REPLY_DATA
                   : is_op(task, "go") || is_op(task, "halt") ? REPLY_DONE
                                                              : REPLY_IGNORED;
    if (task->halted) {
        task->status = REPLY_HALTED;
    }
    if (task->halted || is_op(task, "halt") || task->status == REPLY_IGNORED) {
        k->turn_us = k->drive_us = k->end_us = start_us;
        return;
    }
    if (!is_op(task, "go")) {
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
static void halt_tasks(struct kinematic *k, int64_t now_us)
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
        halt_tasks(k, now_us);
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
        begin_task(k, now_us);
    }
    return true;
}

/* To the wall of the hall; 0 outside of it. */
static double see_wall(const struct kinematic *k, double yaw_rad)
{
    static const struct world hall = {
        .bounds = {-HALL_HALF_M, -HALL_HALF_M, HALL_HALF_M, HALL_HALF_M}};
    return world_range(&hall, k->x_m, k->y_m, k->psi_rad + yaw_rad, LIDAR_RANGE_M);
}

static void tell_values(const struct kinematic *k, bool lidar, struct robot_reply *done)
{
    if (lidar) {
        robot_reply_add(done, "ahead_m", see_wall(k, 0.0));
        robot_reply_add(done, "left_m", see_wall(k, PI / 2.0));
        robot_reply_add(done, "behind_m", see_wall(k, PI));
        robot_reply_add(done, "right_m", see_wall(k, -PI / 2.0));
    } else {
        robot_reply_add(done, "x_m", k->x_m);
        robot_reply_add(done, "y_m", k->y_m);
        robot_reply_add(done, "psi_rad", k->psi_rad);
    }
}

bool kinematic_step(struct kinematic *k, int64_t now_us, struct robot_reply *done)
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
    k->psi_rad = robot_wrap_rad(pose[2]);
    memset(done, 0, sizeof *done);
    (void)snprintf(done->id, sizeof done->id, "%s", task.id);
    done->status = task.status;
    done->start_us = k->start_us;
    done->end_us = k->end_us;
    tell_values(k, task.status == REPLY_DATA, done);
    if (done->status == REPLY_IGNORED) {
        (void)snprintf(done->detail, sizeof done->detail, "go, lidar or halt was expected");
    }
    k->busy = false;
    k->count--;
    memmove(&k->queue[0], &k->queue[1], k->count * sizeof k->queue[0]);
    if (k->count > 0) {
        begin_task(k, k->end_us);
    }
    return true;
}

/* Share of [from_us, to_us] that is over at now_us: 0 .. 1. */
static double share_over(int64_t from_us, int64_t to_us, int64_t now_us)
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
    if (!k->busy || task->status != REPLY_DONE || !is_op(task, "go")) {
        return;
    }
    const int64_t turn_end_us =
        k->turn_us + (fabs(task->rotation_rad) > 0.0
                          ? lab_us(fabs(task->rotation_rad) / k->params.angular_speed_radps)
                          : 0);
    pose[2] = robot_wrap_rad(k->psi_rad +
                             task->rotation_rad * share_over(k->turn_us, turn_end_us, now_us));
    const double driven_m = task->displacement_m * share_over(k->drive_us, k->end_us, now_us);
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

/* --- the kind ---------------------------------------------------------------------------- */

enum { PARAMETER_COUNT = sizeof(struct kinematic_params) / sizeof(double) };

struct kinematic_robot {
    struct kinematic k;
    int64_t now_us, period_us;
    struct random_source random;
};

/* clang-format off */
static const struct robot_parameter parameters[PARAMETER_COUNT] = {
    {"angular_speed_radps", "rad/s", 1.0, 1e-3, 1e3, "while turning", NULL},
    {"linear_speed_mps", "m/s", 0.2, 1e-3, 1e3, "while driving", NULL},
    {"t0_s", "s", 0.05, 0, 3600, "of every command", NULL},
    {"ta_s", "s", 0, 0, 3600, "before each rotation", NULL},
    {"tr_s", "s", 0, 0, 3600, "before each displacement", NULL},
    {"noise_s", "s", 0, 0, 3600, "standard deviation of a lap", NULL},
};
/* clang-format on */

static void init_robot(void *memory, const struct robot_setup *setup)
{
    struct kinematic_robot *robot = memory;
    robot_begin(&kinematic_kind, memory, setup);
    robot->k.x_m = setup->pose[0];
    robot->k.y_m = setup->pose[1];
    robot->k.psi_rad = setup->pose[2];
    robot->now_us = setup->start_us;
    robot->period_us = setup->period_us;
    robot->random.state = setup->seed;
}

static bool take_command(void *memory, const struct event_command *command)
{
    struct kinematic_robot *robot = memory;
    const double sd_s = robot->k.params.noise_s;
    const double noise_s = sd_s > 0.0 ? sd_s * random_normal(&robot->random) : 0.0;
    return kinematic_command(&robot->k, robot->now_us, command, noise_s);
}

static void step_robot(void *memory, robot_sink *sink, void *context)
{
    struct kinematic_robot *robot = memory;
    struct robot_reply reply;
    robot->now_us += robot->period_us;
    while (kinematic_step(&robot->k, robot->now_us, &reply)) {
        sink(context, &reply);
    }
}

static void sample_robot(const void *memory, struct robot_sample *out)
{
    const struct kinematic_robot *robot = memory;
    memset(out, 0, sizeof *out);
    out->t_us = robot->now_us;
    out->nu_count = out->pose_count = KINEMATIC_AXES;
    kinematic_sample(&robot->k, robot->now_us, out->nu, out->pose);
}

const struct robot_kind kinematic_kind = {
    .name = "kinematic",
    .purpose = "turns, then drives, at constant speeds; commands wait in a queue",
    .bytes = sizeof(struct kinematic_robot),
    .period_us = 2000,
    .parameters = parameters,
    .parameter_count = PARAMETER_COUNT,
    .parameters_at = offsetof(struct kinematic_robot, k.params),
    .operations = "go, lidar, halt",
    .init = init_robot,
    .command = take_command,
    .step = step_robot,
    .sample = sample_robot,
};
