/* service/map/sweeps.h - the sweeps of a robot's lidar in a recording, as a list
 * (twin/map/sweep_collector.h).
 *
 * One thread. Cold path: allocates.
 */
#ifndef SERVICE_MAP_SWEEPS_H
#define SERVICE_MAP_SWEEPS_H

#include "twin/map/sweep_collector.h"

struct sweep {
    int64_t t_us;         /* arrival of the first ray */
    struct plane_pose at; /* by the robot's odometry */
    bool restarted;       /* its program restarted before it */
    size_t first, count;  /* its rays */
};

struct sweeps {
    const char *pair; /* set by the owner, with side and source; all else is 0 at first */
    enum side side;
    struct sweep_source source;
    int64_t every_us; /* a sweep that began sooner after the last listed one is skipped */
    struct sweep_collector collector;
    struct sweep *list; /* [count] */
    size_t count, room;
    struct grid_ray *rays; /* those of all sweeps, one after another */
    size_t ray_count, ray_room;
    uint64_t skipped;
    bool no_memory;
};

/* For each event of the lab, in their order. */
void sweeps_add(struct sweeps *sweeps, const struct event *event);
/* The recording has ended. */
void sweeps_end(struct sweeps *sweeps);
void sweeps_free(struct sweeps *sweeps);

#endif
