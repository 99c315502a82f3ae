#include "twin/map/sweep_collector.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "twin/map/map_thresholds.def"

/* No robot is that far away: the squares of such ways would be infinite. */
static const double FAR_M = 1e7;

ENUM_NAMES(sweep_refusal, SWEEP_REFUSAL_COUNT, SWEEP_REFUSALS(NAMES_TEXT));

/* Returns whether the sweep is complete and usable. */
static bool close_sweep(struct sweep_collector *c, bool whole)
{
    if (!c->open) {
        return false;
    }
    const bool has_pose = c->has_pose || c->has_newest;
    c->open = false;
    c->at = c->has_pose ? c->at : c->newest;
    if (whole && has_pose && !c->moved && c->count <= GRID_RAYS_MAX) {
        return true;
    }
    c->refused[!whole      ? SWEEP_CUT_OFF
               : !has_pose ? SWEEP_NO_POSE
               : c->moved  ? SWEEP_MOTION
                           : SWEEP_TOO_LONG]++;
    return false;
}

static void add_pose(struct sweep_collector *c, double x_m, double y_m, double yaw_rad,
                     int64_t source_us)
{
    /* A sample from before may arrive late: robots send several at once. */
    const bool late = source_us != LAB_TIME_NONE && c->begin_source_us != LAB_TIME_NONE &&
                      source_us < c->begin_source_us;
    if (!isfinite(yaw_rad) || !(fabs(x_m) <= FAR_M && fabs(y_m) <= FAR_M)) {
        return;
    }
    c->newest = (struct plane_pose){x_m, y_m, yaw_rad};
    c->has_newest = true;
    if (!c->open || late) {
        return;
    }
    if (!c->has_pose) {
        c->at = c->newest;
        c->has_pose = true;
    }
    c->moved = c->moved || hypot(x_m - c->at.x_m, y_m - c->at.y_m) > MAP_REST_M ||
               fabs(remainder(yaw_rad - c->at.yaw_rad, 2.0 * PI)) > MAP_REST_DEG * RAD_PER_DEG;
}

static void add_ray(struct sweep_collector *c, const struct event *event, struct grid_ray ray)
{
    if (!c->open) {
        c->begin_us = event->t_us;
        c->begin_source_us = event->reply.source_us;
        c->open = true;
        c->has_pose = c->moved = false;
        c->count = 0;
    }
    if (c->count < GRID_RAYS_MAX) {
        c->rays[c->count] = ray;
    }
    c->count += c->count <= GRID_RAYS_MAX;
}

static double find_number(const struct event_reply *reply, const char *name)
{
    for (size_t i = 0; i < reply->value_count; i++) {
        if (reply->values[i].kind == VALUE_NUMBER && strcmp(reply->values[i].name, name) == 0) {
            return reply->values[i].number;
        }
    }
    return (double)NAN;
}

static bool add_reply(struct sweep_collector *c, const struct sweep_source *source,
                      const struct event *event)
{
    const struct event_reply *reply = &event->reply;
    const struct grid_ray ray = {find_number(reply, source->angle),
                                 find_number(reply, source->range)};
    if (reply->status == REPLY_IGNORED ||
        (reply->id[0] && strcmp(reply->id, c->last_id) == 0)) {
        return false;
    }
    (void)snprintf(c->last_id, sizeof c->last_id, "%s", reply->id);
    if (reply->id[0] && strcmp(reply->id, c->other_id) == 0) {
        (void)close_sweep(c, false);
    }
    if (reply->status == REPLY_DATA && isfinite(ray.angle_rad + ray.range_m)) {
        add_ray(c, event, ray);
    }
    if (source->pose != SWEEP_POSE_TELEMETRY) {
        const double yaw_rad = find_number(reply, "yaw_rad");
        add_pose(c, find_number(reply, "x_m"), find_number(reply, "y_m"),
                 isfinite(yaw_rad) ? yaw_rad : find_number(reply, "psi_rad"),
                 reply->source_us);
    }
    return reply->status != REPLY_DATA && close_sweep(c, reply->status == REPLY_DONE);
}

static void check_boot(struct sweep_collector *c, const char *boot)
{
    if (boot[0] == '\0' || strcmp(c->boot, boot) == 0) {
        return;
    }
    if (c->boot[0]) {
        (void)close_sweep(c, false);
        c->restarted = true;
        c->has_newest = false;
    }
    (void)snprintf(c->boot, sizeof c->boot, "%s", boot);
}

/* In link mode a command may wait until the robot has finished its sweep: the robot's reply to
 * it ends the sweep. A reply to a command without an id is not recognised. */
static void add_command(struct sweep_collector *c, const struct event_command *command)
{
    if (strcmp(command->op, "resume") == 0 || strcmp(command->op, "lidar") == 0) {
        return;
    }
    (void)snprintf(c->other_id, sizeof c->other_id, "%s", command->id);
    if (command->id[0] == '\0') {
        (void)close_sweep(c, false);
    }
}

bool sweep_collector_add(struct sweep_collector *c, const struct sweep_source *source,
                         enum side side, const struct event *event)
{
    if (event->kind == EVENT_COMMAND && (event->side == side || event->side == SIDE_COUNT)) {
        add_command(c, &event->command);
    } else if (event->side == side && event->kind == EVENT_REPLY) {
        return add_reply(c, source, event);
    } else if (event->side == side && event->kind == EVENT_CONNECTION) {
        check_boot(c, event->connection.boot);
    } else if (event->side == side && event->kind == EVENT_TELEMETRY) {
        const struct event_telemetry *m = &event->telemetry;
        check_boot(c, m->boot);
        if (m->pose_count >= 3 && source->pose != SWEEP_POSE_REPLIES) {
            add_pose(c, m->pose[0], m->pose[1], m->pose[m->pose_count - 1], m->source_us);
        }
    }
    return false;
}

bool sweep_is_early(const struct sweep_collector *c, int64_t after_us, int64_t every_us)
{
    return c->begin_us >= after_us && c->begin_us - after_us < every_us;
}

void sweep_collector_end(struct sweep_collector *c)
{
    (void)close_sweep(c, false);
}
