#include "web/stream/trails.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "logger/storage/lock.h"

/* Smaller steps are not kept: noise of a robot that stands, and no picture shows them. */
static const double STEP_M = 0.02;
static const double TURN_RAD = 0.05;

struct trail_point {
    int64_t t_us;
    float x_m, y_m, yaw_rad;
};

struct trail {
    uint64_t telemetry[SIDE_COUNT]; /* samples seen */
    size_t kept[SIDE_COUNT];        /* of all time; the newest stand in the rings */
    struct trail_point points[SIDE_COUNT][TRAIL_POINTS_MAX];
};

struct trails {
    pthread_mutex_t lock;
    size_t pair_count, used;
    struct trail **of; /* [pair_count] owned, NULL: none; NULL before the first look */
};

enum status trails_create(struct trails **out)
{
    struct trails *trails = calloc(1, sizeof *trails);
    if (!trails) {
        return STATUS_E_NOMEM;
    }
    lock_init(&trails->lock);
    *out = trails;
    return STATUS_OK;
}

void trails_destroy(struct trails *trails)
{
    if (!trails) {
        return;
    }
    for (size_t i = 0; i < trails->pair_count; i++) {
        free(trails->of[i]);
    }
    free(trails->of);
    (void)pthread_mutex_destroy(&trails->lock);
    free(trails);
}

bool trail_pose(const double *pose, size_t count, double *x_m, double *y_m, double *yaw_rad)
{
    if (count < 3 || !isfinite(pose[0]) || !isfinite(pose[1]) || !isfinite(pose[count - 1])) {
        return false;
    }
    *x_m = pose[0];
    *y_m = pose[1];
    *yaw_rad = pose[count - 1];
    return true;
}

static void keep_point(struct trail *trail, enum side side, const struct trail_point *point)
{
    struct trail_point *const ring = trail->points[side];
    if (trail->kept[side] > 0) {
        const struct trail_point *last = &ring[(trail->kept[side] - 1) % TRAIL_POINTS_MAX];
        const double step_m =
            hypot((double)(point->x_m - last->x_m), (double)(point->y_m - last->y_m));
        if (step_m < STEP_M && fabs((double)(point->yaw_rad - last->yaw_rad)) < TURN_RAD) {
            return;
        }
    }
    ring[trail->kept[side]++ % TRAIL_POINTS_MAX] = *point;
}

static void look_at(struct trails *trails, size_t i, enum side side,
                    const struct pair_side *state)
{
    double x_m = 0.0;
    double y_m = 0.0;
    double yaw_rad = 0.0;
    struct trail *trail = trails->of[i];
    if ((trail && trail->telemetry[side] == state->telemetry) || state->telemetry == 0 ||
        !trail_pose(state->pose, state->pose_count, &x_m, &y_m, &yaw_rad)) {
        return;
    }
    if (!trail && trails->used < TRAIL_PAIRS_MAX) {
        trail = calloc(1, sizeof *trail);
        trails->of[i] = trail;
        trails->used += trail ? 1 : 0;
    }
    if (trail) {
        const struct trail_point point = {state->seen_us, (float)x_m, (float)y_m,
                                          (float)yaw_rad};
        trail->telemetry[side] = state->telemetry;
        keep_point(trail, side, &point);
    }
}

void trails_look(struct trails *trails, const struct view *view)
{
    lock_take(&trails->lock);
    if (!trails->of) {
        trails->of = calloc(view->pair_count, sizeof(struct trail *));
        trails->pair_count = trails->of ? view->pair_count : 0;
    }
    for (size_t i = 0; i < trails->pair_count; i++) {
        for (int side = 0; side < SIDE_COUNT; side++) {
            look_at(trails, i, (enum side)side, &view->pairs[i]->side[side]);
        }
    }
    lock_give(&trails->lock);
}

static void write_side(const struct trail *trail, struct json_writer *json, enum side side)
{
    json_write_array(json, side_name(side));
    const size_t kept = trail ? trail->kept[side] : 0;
    for (size_t k = kept > TRAIL_POINTS_MAX ? kept - TRAIL_POINTS_MAX : 0; k < kept; k++) {
        const struct trail_point *p = &trail->points[side][k % TRAIL_POINTS_MAX];
        json_write_array(json, NULL);
        json_write_seconds(json, NULL, p->t_us);
        /* As exact as a float is; adding zero, there is no -0. */
        json_write_real(json, NULL, round((double)p->x_m * 1e4) / 1e4 + 0.0);
        json_write_real(json, NULL, round((double)p->y_m * 1e4) / 1e4 + 0.0);
        json_write_real(json, NULL, round((double)p->yaw_rad * 1e4) / 1e4 + 0.0);
        json_write_close(json);
    }
    json_write_close(json);
}

void trails_write(struct trails *trails, struct json_writer *json, size_t pair)
{
    lock_take(&trails->lock);
    for (int side = 0; side < SIDE_COUNT; side++) {
        write_side(trails->of ? trails->of[pair] : NULL, json, (enum side)side);
    }
    lock_give(&trails->lock);
}
