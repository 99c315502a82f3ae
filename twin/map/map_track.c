#include "twin/map/map_track.h"

#include <math.h>

#include "base/numbers/constants.h"
#include "twin/map/map_thresholds.def"

static void match_sweep(struct map_track *t, const struct grid *grid,
                        const struct grid_sweep *sweep)
{
    const struct plane_pose before = t->belief.at;
    t->match = scan_match(grid, &t->belief, sweep);
    t->outcomes[t->match.outcome]++;
    const struct plane_pose *at = &t->belief.at;
    t->moved_m = hypot(at->x_m - before.x_m, at->y_m - before.y_m);
    t->turned_rad = fabs(remainder(at->yaw_rad - before.yaw_rad, 2.0 * PI));
    t->largest_m = fmax(t->largest_m, t->moved_m);
    t->largest_rad = fmax(t->largest_rad, t->turned_rad);
}

/* Can a map begin with this sweep? All later ones are matched on it. */
static bool shows_place(const struct grid_place *place, const struct plane_pose *at,
                        const struct grid_sweep *sweep)
{
    size_t seen = 0;
    for (size_t i = 0; i < sweep->count; i++) {
        const struct grid_ray *ray = &sweep->rays[i];
        const double yaw = at->yaw_rad + ray->angle_rad;
        const double x = (at->x_m + ray->range_m * cos(yaw) - place->x_min_m) / place->cell_m;
        const double y = (at->y_m + ray->range_m * sin(yaw) - place->y_min_m) / place->cell_m;
        seen += ray->range_m < sweep->range_max_m && x >= 0.0 && y >= 0.0 &&
                x < (double)place->width && y < (double)place->height;
    }
    return seen >= MAP_RAYS_LEAST;
}

bool map_track_sweep(struct map_track *t, struct grid *grid, const struct plane_pose *at,
                     const struct grid_sweep *sweep, bool build)
{
    const struct odometry_error error = {.drive_ratio = MAP_DRIVE_RATIO,
                                         .turn_ratio = MAP_TURN_RATIO,
                                         .turn_radpm = MAP_TURN_RADPM};
    if (t->begun && t->restarted) {
        t->belief.cov[0][0] += MAP_RESTART_M * MAP_RESTART_M;
        t->belief.cov[1][1] += MAP_RESTART_M * MAP_RESTART_M;
        t->belief.cov[2][2] += pow(MAP_RESTART_DEG * RAD_PER_DEG, 2.0);
    } else if (t->begun) {
        pose_belief_move(&t->belief, &t->odometry, at, &error);
    } else {
        t->belief = pose_belief_at(at);
    }
    t->odometry = *at;
    t->begun = true;
    t->restarted = false;
    if (build && grid->sweeps == 0) {
        const bool shows = shows_place(&grid->place, at, sweep);
        t->belief = pose_belief_at(at);
        t->match = (struct scan_match){.outcome = shows ? SCAN_MATCHED : SCAN_FEW_RAYS};
        t->outcomes[SCAN_FEW_RAYS] += !shows;
    } else {
        match_sweep(t, grid, sweep);
    }
    const bool add = build && t->match.outcome == SCAN_MATCHED;
    if (add) {
        (void)grid_add(grid, &t->belief.at, sweep);
    }
    return add;
}

void map_track_restart(struct map_track *t, bool stays)
{
    t->restarted = true;
    t->begun = t->begun && stays;
}

struct plane_pose map_track_place(const struct map_track *t, const struct plane_pose *stated)
{
    const struct plane_pose *on_map = &t->belief.at;
    const double turn = on_map->yaw_rad - t->odometry.yaw_rad;
    const double dx = stated->x_m - t->odometry.x_m, dy = stated->y_m - t->odometry.y_m;
    return (struct plane_pose){on_map->x_m + cos(turn) * dx - sin(turn) * dy,
                               on_map->y_m + sin(turn) * dx + cos(turn) * dy,
                               remainder(stated->yaw_rad + turn, 2.0 * PI)};
}
