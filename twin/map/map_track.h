/* twin/map/map_track.h - a robot on a map, sweep by sweep: where it is, and how far its odometry
 * has drifted. `tandem map` and the live map of a pair are built by it.
 *
 * Pure; no allocation; one thread. */
#ifndef TWIN_MAP_MAP_TRACK_H
#define TWIN_MAP_MAP_TRACK_H

#include "twin/map/scan_match.h"

struct map_track { /* all zero at first: no sweep yet */
    bool begun, restarted;
    struct plane_pose odometry; /* the stated pose of the last sweep */
    struct pose_belief belief;  /* the pose on the map at that sweep */
    struct scan_match match;    /* of the last sweep; the one that begins a map has share 0 */
    double moved_m, turned_rad; /* what the last sweep corrected */
    double largest_m, largest_rad;          /* the largest corrections by one sweep */
    uint64_t outcomes[SCAN_OUTCOME_COUNT]; /* without the sweep that began the map */
};

/* Applies a sweep taken at the stated pose `at`: moves the belief as odometry did, corrects it,
 * and with `build` adds a sweep that matched to the map. The first one with MAP_RAYS_LEAST rays
 * at surfaces inside the map's corners begins it. Returns whether it was added. */
bool map_track_sweep(struct map_track *track, struct grid *grid, const struct plane_pose *at,
                     const struct grid_sweep *sweep, bool build);

/* The robot's program has restarted, and its odometry begins from zero at the next sweep. A real
 * robot stays where it was; a simulated one is where it then says. */
void map_track_restart(struct map_track *track, bool stays);

/* A stated pose, as it is on the map. track->begun must hold, and its program must not have
 * restarted since. */
struct plane_pose map_track_place(const struct map_track *track,
                                  const struct plane_pose *stated);

#endif
