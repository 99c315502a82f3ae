/* twin/sim/robot/kinematic.c - a plain differential-drive robot: turns, then drives, at
 * constant speeds.
 *
 * A move takes t0 + [rotation != 0] (ta + |rotation| / w) + [displacement != 0] (tr +
 * |displacement| / v), plus noise: the model of the travel-time calibration
 * (docs/model/travel_time.md). Commands wait in a bounded queue and are executed in order.
 * `halt` ends the running one and those that wait.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "twin/sim/robot/robot_kinds.h"
#include "twin/sim/robot/world.h"

/* The lidar is in the middle of a square hall and sees its walls. */
#define HALL_HALF_M   50.0
#define LIDAR_RANGE_M 120.0

enum { QUEUE_MAX = 16, AXES = 3 };

/* All fields are doubles, in the order of parameters[]. */
struct kinematic_params {
    double angular_speed_radps, linear_speed_mps, t0_s, ta_s, tr_s, noise_s;
};

struct kinematic_task {
    char id[EVENT_ID_MAX];
    bool goes;
    double rotation_rad, displacement_m;
    double noise_s;           /* added to t0; the sum is limited to >= 0 */
    enum reply_status status; /* its future result */
};

struct kinematic {
    struct kinematic_params params;
    int64_t now_us, period_us;
    struct random_source random;
    struct kinematic_task queue[QUEUE_MAX]; /* [0] is running */
    size_t count;
    int64_t start_us, turn_us, turned_us, drive_us, end_us; /* of the running task */
    double pose[AXES]; /* x_m, y_m, psi_rad at the start of the running task */
};

/* Begins the first task of the queue at start_us. */
static void begin_task(struct kinematic *k, int64_t start_us)
{
    const struct kinematic_task *task = &k->queue[0];
    const struct kinematic_params *p = &k->params;
    const bool goes = task->goes && task->status == REPLY_DONE;
    k->start_us = k->turn_us = start_us;
    if (goes || task->status == REPLY_DATA) {
        k->turn_us += lab_us(fmax(p->t0_s + task->noise_s, 0.0));
    }
    k->turned_us = k->turn_us;
    if (goes && fabs(task->rotation_rad) > 0.0) {
        k->turn_us += lab_us(p->ta_s);
        k->turned_us = k->turn_us + lab_us(fabs(task->rotation_rad) / p->angular_speed_radps);
    }
    k->drive_us = k->end_us = k->turned_us;
    if (goes && fabs(task->displacement_m) > 0.0) {
        k->drive_us += lab_us(p->tr_s);
        k->end_us = k->drive_us + lab_us(fabs(task->displacement_m) / p->linear_speed_mps);
    }
}

/* Returns the share of [from_us, to_us] that is over at now_us: 0 .. 1. */
static double share_over(int64_t from_us, int64_t to_us, int64_t now_us)
{
    if (now_us >= to_us) {
        return 1.0;
    }
    return now_us <= from_us ? 0.0 : (double)(now_us - from_us) / (double)(to_us - from_us);
}

/* Computes velocity (u, v, r) and pose at now_us within the running task. */
static void find_motion(const struct kinematic *k, int64_t now_us, double nu[AXES],
                        double pose[AXES])
{
    const struct kinematic_task *task = &k->queue[0];
    nu[0] = nu[1] = nu[2] = 0.0;
    memcpy(pose, k->pose, sizeof k->pose);
    if (k->count == 0 || task->status != REPLY_DONE || !task->goes) {
        return;
    }
    const double driven_m = task->displacement_m * share_over(k->drive_us, k->end_us, now_us);
    pose[2] = robot_wrap_rad(pose[2] +
                             task->rotation_rad * share_over(k->turn_us, k->turned_us, now_us));
    pose[0] += driven_m * cos(pose[2]);
    pose[1] += driven_m * sin(pose[2]);
    if (now_us >= k->turn_us && now_us < k->turned_us) {
        nu[2] = copysign(k->params.angular_speed_radps, task->rotation_rad);
    } else if (now_us >= k->drive_us && now_us < k->end_us) {
        nu[0] = copysign(k->params.linear_speed_mps, task->displacement_m);
    }
}

/* Ends the running task now, and answers the waiting ones likewise. */
static void halt_tasks(struct kinematic *k)
{
    if (k->count > 0 && k->now_us < k->end_us) {
        double nu[AXES];
        double pose[AXES];
        find_motion(k, k->now_us, nu, pose);
        memcpy(k->pose, pose, sizeof pose);
        k->queue[0].status = REPLY_HALTED;
        k->end_us = k->now_us;
    }
    for (size_t i = 1; i < k->count; i++) {
        k->queue[i].status = REPLY_HALTED;
    }
}

static bool queue_command(void *memory, const struct event_command *command)
{
    struct kinematic *k = memory;
    const double sd_s = k->params.noise_s;
    const double noise_s = sd_s > 0.0 ? sd_s * random_normal(&k->random) : 0.0;
    const bool goes = strcmp(command->op, "go") == 0;
    const bool halts = strcmp(command->op, "halt") == 0;
    if (halts) {
        halt_tasks(k);
    }
    if (k->count == QUEUE_MAX) {
        return false;
    }
    struct kinematic_task *task = &k->queue[k->count++];
    *task =
        (struct kinematic_task){.goes = goes,
                                .rotation_rad = command->rotation_rad,
                                .displacement_m = command->displacement_m,
                                .noise_s = noise_s,
                                .status = goes || halts                       ? REPLY_DONE
                                          : strcmp(command->op, "lidar") == 0 ? REPLY_DATA
                                                                              : REPLY_IGNORED};
    (void)snprintf(task->id, sizeof task->id, "%s", command->id);
    if (k->count == 1) {
        begin_task(k, k->now_us);
    }
    return true;
}

static void add_values(const struct kinematic *k, struct robot_reply *reply)
{
    static const struct world hall = {
        .bounds = {-HALL_HALF_M, -HALL_HALF_M, HALL_HALF_M, HALL_HALF_M}};
    static const struct robot_value sides[] = {
        {"ahead_m", 0.0}, {"left_m", PI / 2.0}, {"behind_m", PI}, {"right_m", -PI / 2.0}};
    if (reply->status != REPLY_DATA) {
        robot_reply_pose(reply, k->pose[0], k->pose[1], k->pose[2]);
        return;
    }
    for (size_t i = 0; i < COUNT(sides); i++) { /* to the wall of the hall; 0 outside */
        robot_reply_add(reply, sides[i].name,
                        world_range(&hall, k->pose[0], k->pose[1], k->pose[2] + sides[i].number,
                                    LIDAR_RANGE_M));
    }
}

/* Completes the running task. */
static void end_task(struct kinematic *k, robot_sink *sink, void *context)
{
    const struct kinematic_task *task = &k->queue[0];
    struct robot_reply reply = {
        .status = task->status, .start_us = k->start_us, .end_us = k->end_us};
    double nu[AXES];
    double pose[AXES];
    find_motion(k, k->end_us, nu, pose);
    memcpy(k->pose, pose, sizeof pose);
    k->pose[2] = robot_wrap_rad(pose[2]);
    (void)snprintf(reply.id, sizeof reply.id, "%s", task->id);
    add_values(k, &reply);
    if (reply.status == REPLY_IGNORED) {
        (void)snprintf(reply.detail, sizeof reply.detail, "go, lidar or halt was expected");
    }
    k->count--;
    memmove(&k->queue[0], &k->queue[1], k->count * sizeof k->queue[0]);
    if (k->count > 0) {
        begin_task(k, k->end_us);
    }
    sink(context, &reply);
}

static enum status place_robot(void *memory, const double pose[AXES])
{
    struct kinematic *k = memory;
    if (k->count > 0) {
        return STATUS_E_STALE;
    }
    memcpy(k->pose, pose, sizeof k->pose);
    return STATUS_OK;
}

/* --- the kind ---------------------------------------------------------------------------- */

/* clang-format off */
static const struct robot_parameter parameters[] = {
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
    struct kinematic *k = memory;
    robot_begin(&kinematic_kind, memory, setup);
    memcpy(k->pose, setup->pose, sizeof k->pose);
    k->now_us = setup->start_us;
    k->period_us = setup->period_us;
    k->random.state = setup->seed;
}

static void step_robot(void *memory, robot_sink *sink, void *context)
{
    struct kinematic *k = memory;
    k->now_us += k->period_us;
    while (k->count > 0 && k->now_us >= k->end_us) {
        end_task(k, sink, context);
    }
}

static void sample_robot(const void *memory, struct robot_sample *out)
{
    const struct kinematic *k = memory;
    memset(out, 0, sizeof *out);
    out->t_us = k->now_us;
    out->nu_count = out->pose_count = AXES;
    find_motion(k, k->now_us, out->nu, out->pose);
}

const struct robot_kind kinematic_kind = {
    .name = "kinematic",
    .purpose = "turns, then drives, at constant speeds; commands wait in a queue",
    .bytes = sizeof(struct kinematic),
    .period_us = 2000,
    .parameters = parameters,
    .parameter_count = COUNT(parameters),
    .parameters_at = offsetof(struct kinematic, params),
    .operations = "go, lidar, halt",
    .init = init_robot,
    .command = queue_command,
    .place = place_robot,
    .step = step_robot,
    .sample = sample_robot,
};
