#include "service/map/sweeps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/constants.h"

/* A robot at rest: its odometry may creep by so much. */
#define REST_M   0.005
#define REST_RAD (0.3 * RAD_PER_DEG)

ENUM_NAMES(sweep_refusal, SWEEP_REFUSAL_COUNT, SWEEP_REFUSALS(NAMES_TEXT));

static void close_sweep(struct sweeps *s, bool whole)
{
    if (!s->open) {
        return;
    }
    struct sweep *sweep = &s->list[s->count];
    const bool has_pose = s->has_pose || s->has_newest;
    s->open = false;
    sweep->at = s->has_pose ? sweep->at : s->newest;
    if (whole && has_pose && !s->moved && sweep->count <= GRID_RAYS_MAX) {
        s->count++;
        return;
    }
    s->ray_count = sweep->first;
    s->refused[!whole      ? SWEEP_CUT_OFF
               : !has_pose ? SWEEP_NO_POSE
               : s->moved  ? SWEEP_MOTION
                           : SWEEP_TOO_LONG]++;
}

static void add_pose(struct sweeps *s, double x_m, double y_m, double yaw_rad,
                     int64_t source_us)
{
    /* A sample from before may arrive late: robots send several at once. */
    const bool late = source_us != LAB_TIME_NONE && s->begin_source_us != LAB_TIME_NONE &&
                      source_us < s->begin_source_us;
    if (!isfinite(x_m + y_m + yaw_rad)) {
        return;
    }
    s->newest = (struct plane_pose){x_m, y_m, yaw_rad};
    s->has_newest = true;
    if (!s->open || late) {
        return;
    }
    struct sweep *sweep = &s->list[s->count];
    if (!s->has_pose) {
        sweep->at = s->newest;
        s->has_pose = true;
    }
    s->moved = s->moved || hypot(x_m - sweep->at.x_m, y_m - sweep->at.y_m) > REST_M ||
               fabs(remainder(yaw_rad - sweep->at.yaw_rad, 2.0 * PI)) > REST_RAD;
}

static bool make_room(void **list, size_t *room, size_t count, size_t bytes)
{
    if (count < *room) {
        return true;
    }
    const size_t more = *room > 0 ? 2 * *room : 256;
    void *larger = realloc(*list, more * bytes);
    if (larger) {
        *list = larger;
        *room = more;
    }
    return larger != NULL;
}

static void add_ray(struct sweeps *s, const struct event *event, struct grid_ray ray)
{
    void *list = s->list, *rays = s->rays;
    s->no_memory = s->no_memory || !make_room(&list, &s->room, s->count, sizeof *s->list) ||
                   !make_room(&rays, &s->ray_room, s->ray_count, sizeof *s->rays);
    s->list = list;
    s->rays = rays;
    if (s->no_memory) {
        return;
    }
    struct sweep *sweep = &s->list[s->count];
    if (!s->open) {
        *sweep = (struct sweep){.t_us = event->t_us, .first = s->ray_count};
        s->open = true;
        s->has_pose = s->moved = false;
        s->begin_source_us = event->reply.source_us;
    }
    if (sweep->count++ < GRID_RAYS_MAX) {
        s->rays[s->ray_count++] = ray;
    }
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

static void add_reply(struct sweeps *s, const struct event *event)
{
    const struct event_reply *reply = &event->reply;
    const struct grid_ray ray = {find_number(reply, "angle_rad"),
                                 find_number(reply, "range_m")};
    const double yaw_rad = find_number(reply, "yaw_rad");
    if (reply->status == REPLY_IGNORED ||
        (reply->id[0] && strcmp(reply->id, s->last_id) == 0)) {
        return;
    }
    (void)snprintf(s->last_id, sizeof s->last_id, "%s", reply->id);
    if (reply->status == REPLY_DATA && isfinite(ray.angle_rad + ray.range_m)) {
        add_ray(s, event, ray);
    }
    add_pose(s, find_number(reply, "x_m"), find_number(reply, "y_m"),
             isfinite(yaw_rad) ? yaw_rad : find_number(reply, "psi_rad"), reply->source_us);
    if (reply->status != REPLY_DATA) {
        close_sweep(s, reply->status == REPLY_DONE);
    }
}

void sweeps_add(struct sweeps *s, const struct event *event)
{
    if (strcmp(event->pair, s->pair) != 0) {
        return;
    }
    if (event->kind == EVENT_COMMAND && (event->side == s->side || event->side == SIDE_COUNT)) {
        const char *op = event->command.op;
        if (strcmp(op, "resume") != 0 && strcmp(op, "lidar") != 0) {
            close_sweep(s, false);
        }
    } else if (event->side == s->side && event->kind == EVENT_REPLY) {
        add_reply(s, event);
    } else if (event->side == s->side && event->kind == EVENT_TELEMETRY &&
               event->telemetry.pose_count >= 3) {
        const struct event_telemetry *m = &event->telemetry;
        add_pose(s, m->pose[0], m->pose[1], m->pose[m->pose_count - 1], m->source_us);
    }
}

void sweeps_end(struct sweeps *s)
{
    close_sweep(s, false);
}

void sweeps_free(struct sweeps *s)
{
    free(s->list);
    free(s->rays);
}
