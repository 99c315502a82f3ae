/* service/map/map_build.h - the map of a robot's sweeps, and where the robot was at each of
 * them. */
#ifndef SERVICE_MAP_MAP_BUILD_H
#define SERVICE_MAP_MAP_BUILD_H

#include "service/map/sweeps.h"
#include "twin/map/map_track.h"

struct map_request {
    double cell_m, range_m;
    bool has_size; /* else the place is that of all rays' ends, by odometry, and a margin */
    double x_min_m, y_min_m, x_max_m, y_max_m;
};

struct map_step { /* a sweep: the first one begins the map and is not matched */
    struct pose_belief belief;
    struct scan_match match;
    double moved_m, turned_rad; /* what the sweep corrected */
};

struct built_map {
    struct grid grid;
    void *memory;
    struct map_step *steps; /* [sweeps->count] */
    struct map_track track; /* after the last sweep */
};

/* sweeps: at least one. STATUS_E_RANGE: the place is too large; STATUS_E_NOMEM. Free it in any
 * case. */
MUST_USE enum status map_build(const struct sweeps *sweeps, const struct map_request *request,
                               struct built_map *map, struct err *err);
void built_map_free(struct built_map *map);

#endif
