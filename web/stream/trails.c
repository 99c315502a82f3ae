#include "web/stream/trails.h"

#include <math.h>
#include <string.h>

#include "identification/geometry/arm_geometry.h"
#include "logger/storage/lock.h"

/* m: smaller steps are noise of a standing robot, and invisible in a picture. */
static const double STEP_M = 0.02;
static const double TURN_RAD = 0.05;
static const double TOOL_STEP_M = 0.005;

/* TRAIL_POINTS_MAX of these steps are ten minutes. */
enum { STEP_US = 500000 };

/* x, y and yaw of robots in the plane; position of the tool for arms. */
struct trail_point {
    int64_t t_us;
    float at[3];
};

struct trail {
    uint64_t telemetry[SIDE_COUNT]; /* samples seen */
    size_t added_count[SIDE_COUNT]; /* points ever added; the newest are in the rings */
    struct trail_point points[SIDE_COUNT][TRAIL_POINTS_MAX];
};

enum status trails_create(struct pair_rings **out)
{
    return pair_rings_create(TRAIL_PAIRS_MAX, sizeof(struct trail), out);
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

/* Reads the present point; false: nothing that can be drawn. */
static bool read_point(const struct pair_params *p, const struct pair_side *state, double at[3])
{
    struct arm_geometry arm;
    if (!pair_is_arm(p)) {
        return trail_pose(state->pose, state->pose_count, &at[0], &at[1], &at[2]);
    }
    if (state->pose_count != ARM_JOINTS || !arm_geometry_find(p->arm, &arm)) {
        return false;
    }
    const struct rigid tool = arm_forward(&arm, state->pose);
    memcpy(at, tool.at_m, sizeof tool.at_m);
    return isfinite(at[0] + at[1] + at[2]);
}

static bool has_moved(const struct trail_point *from, const struct trail_point *to, bool arm)
{
    double d[3];
    for (size_t k = 0; k < 3; k++) {
        d[k] = (double)(to->at[k] - from->at[k]);
    }
    const double plane_m = hypot(d[0], d[1]);
    return arm ? hypot(plane_m, d[2]) >= TOOL_STEP_M
               : plane_m >= STEP_M || fabs(d[2]) >= TURN_RAD;
}

static void add_point(struct trail *trail, enum side side, const struct trail_point *point,
                      bool arm)
{
    struct trail_point *const ring = trail->points[side];
    const size_t n = trail->added_count[side];
    struct trail_point *const last = n > 0 ? &ring[(n - 1) % TRAIL_POINTS_MAX] : NULL;
    if (last && !has_moved(last, point, arm)) {
        return;
    }
    if (n > 1 && !arm && last->t_us - ring[(n - 2) % TRAIL_POINTS_MAX].t_us < STEP_US) {
        *last = *point;
    } else {
        ring[trail->added_count[side]++ % TRAIL_POINTS_MAX] = *point;
    }
}

static void look_at(struct pair_rings *trails, size_t i, enum side side,
                    const struct pair_params *p, const struct pair_side *state)
{
    double at[3];
    struct trail *trail = trails->of[i];
    if ((trail && trail->telemetry[side] == state->telemetry) || state->telemetry == 0 ||
        !read_point(p, state, at)) {
        return;
    }
    trail = pair_rings_make(trails, i);
    if (trail) {
        const struct trail_point point = {state->seen_us,
                                          {(float)at[0], (float)at[1], (float)at[2]}};
        trail->telemetry[side] = state->telemetry;
        add_point(trail, side, &point, pair_is_arm(p));
    }
}

void trails_look(struct pair_rings *trails, const struct view *view)
{
    pair_rings_begin(trails, view);
    for (size_t i = 0; i < trails->pair_count; i++) {
        for (int side = 0; side < SIDE_COUNT; side++) {
            look_at(trails, i, (enum side)side, &view->params[i], &view->pairs[i]->side[side]);
        }
    }
    lock_release(&trails->lock);
}

static void write_side(const struct trail *trail, struct json_writer *json, enum side side)
{
    json_write_array(json, side_name(side));
    const size_t added_count = trail ? trail->added_count[side] : 0;
    for (size_t k = added_count > TRAIL_POINTS_MAX ? added_count - TRAIL_POINTS_MAX : 0;
         k < added_count; k++) {
        const struct trail_point *p = &trail->points[side][k % TRAIL_POINTS_MAX];
        json_write_array(json, NULL);
        json_write_seconds(json, NULL, p->t_us);
        /* Prints a float's precision; adding zero avoids -0. */
        for (size_t i = 0; i < 3; i++) {
            json_write_real(json, NULL, round((double)p->at[i] * 1e4) / 1e4 + 0.0);
        }
        json_write_close(json);
    }
    json_write_close(json);
}

void trails_write(struct pair_rings *trails, struct json_writer *json, size_t pair)
{
    lock_acquire(&trails->lock);
    for (int side = 0; side < SIDE_COUNT; side++) {
        write_side(pair_rings_find(trails, pair), json, (enum side)side);
    }
    lock_release(&trails->lock);
}
