#include "web/http/rays.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "logger/storage/lock.h"

enum { RAY_COLUMNS = 5 };

static const double RAY_NUMBER_MAX = 1e7; /* as of poses: m, rad */

/* angle_rad, range_m, and the pose x_m, y_m, yaw_rad. */
struct ray {
    int64_t t_us;
    float at[RAY_COLUMNS];
};

struct pair_rays {
    size_t added_count[SIDE_COUNT]; /* ever added; the newest are in the rings */
    struct ray ring[SIDE_COUNT][RAYS_MAX];
};

struct rays {
    pthread_mutex_t lock;
    size_t pair_count, used;
    struct pair_rays *of[]; /* [pair_count] owned, NULL: none */
};

enum status rays_create(size_t pair_count, struct rays **out)
{
    struct rays *rays = calloc(1, sizeof *rays + pair_count * sizeof rays->of[0]);
    if (!rays) {
        return STATUS_E_NOMEM;
    }
    lock_init(&rays->lock);
    rays->pair_count = pair_count;
    *out = rays;
    return STATUS_OK;
}

void rays_destroy(struct rays *rays)
{
    if (rays) {
        for (size_t i = 0; i < rays->pair_count; i++) {
            free(rays->of[i]);
        }
        (void)pthread_mutex_destroy(&rays->lock);
        free(rays);
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

static struct pair_rays *find_place(struct rays *rays, size_t pair)
{
    if (!rays->of[pair] && rays->used < RAY_PAIRS_MAX) {
        rays->of[pair] = calloc(1, sizeof *rays->of[pair]);
        rays->used += rays->of[pair] ? 1 : 0;
    }
    return rays->of[pair];
}

void rays_add(struct rays *rays, size_t pair, const struct event *event,
              const struct pair_side *state)
{
    if (state->pose_count < 3) {
        return;
    }
    const double at[RAY_COLUMNS] = {find_number(&event->reply, "angle_rad"),
                                    find_number(&event->reply, "range_m"), state->pose[0],
                                    state->pose[1], state->pose[state->pose_count - 1]};
    /* Sensors write -1, or more than they reach, where they see nothing. */
    if (!isfinite(at[0] + at[2] + at[3] + at[4]) || fabs(at[0]) > RAY_NUMBER_MAX ||
        !(at[1] >= 0.0 && at[1] <= RAY_NUMBER_MAX)) {
        return;
    }
    lock_acquire(&rays->lock);
    struct pair_rays *place = find_place(rays, pair);
    if (place) {
        struct ray *ray =
            &place->ring[event->side][place->added_count[event->side]++ % RAYS_MAX];
        ray->t_us = event->t_us;
        for (size_t k = 0; k < RAY_COLUMNS; k++) {
            ray->at[k] = (float)at[k];
        }
    }
    lock_release(&rays->lock);
}

static void write_side(struct json_writer *json, const struct pair_rays *place, enum side side)
{
    const size_t added_count = place ? place->added_count[side] : 0;
    JSON_LIST(json, side_name(side),
              size_t k = added_count > RAYS_MAX ? added_count - RAYS_MAX : 0;
              k < added_count; k++) {
        const struct ray *ray = &place->ring[side][k % RAYS_MAX];
        json_write_array(json, NULL);
        json_write_seconds(json, NULL, ray->t_us);
        for (size_t i = 0; i < RAY_COLUMNS; i++) {
            /* Prints a float's precision; adding zero avoids -0. */
            json_write_real(json, NULL, round((double)ray->at[i] * 1e4) / 1e4 + 0.0);
        }
        json_write_close(json);
    }
}

void rays_write(struct rays *rays, struct json_writer *json, size_t pair)
{
    json_write_object(json, "rays");
    if (rays) {
        lock_acquire(&rays->lock);
    }
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        write_side(json, rays ? rays->of[pair] : NULL, side);
    }
    if (rays) {
        lock_release(&rays->lock);
    }
    json_write_close(json);
}
