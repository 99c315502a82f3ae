/* twin/map/live_map.h - the map that a pair's robots make while they run: one frame for both.
 *
 * The sweeps of one robot, by default the real one, are matched and added to the map; those of
 * the other are only matched, so its drift against the map is known. A sweep that begins sooner
 * than every_us after the last one used is skipped and counted, because a match costs
 * milliseconds of the lab's thread (docs/model/maps.md).
 *
 * Pure; the state has no pointers: a head, then the cells (live_map_piece()), then what is
 * derived from them.
 */
#ifndef TWIN_MAP_LIVE_MAP_H
#define TWIN_MAP_LIVE_MAP_H

#include "twin/map/costmap.h"
#include "twin/map/map_track.h"
#include "twin/map/sweep_collector.h"

enum { LIVE_MAP_CELLS_MAX = 250000 }; /* 1 MB of a checkpoint */

struct live_map_params {
    double range_m; /* of the lidar: a longer ray saw nothing; 0: no map */
    double cell_m, x_min_m, y_min_m, x_max_m, y_max_m;
    int64_t every_us;      /* > 0 */
    uint8_t builder;       /* enum side: whose sweeps make the map */
    uint8_t poses;         /* enum sweep_pose */
    bool correct;          /* the pose that `correct` sends is the real robot's on the map */
    double unknown_factor; /* of plans: as struct costmap has it */
    char angle[SWEEP_NAME_MAX], range[SWEEP_NAME_MAX];
};

static inline bool live_map_wanted(const struct live_map_params *p)
{
    return p->range_m > 0.0;
}

struct live_map_robot {
    struct sweep_collector collector;
    struct map_track track;
    int64_t used_us; /* begin of the last sweep used; LAB_TIME_NONE */
    uint64_t added;  /* sweeps in the map */
    uint64_t early;  /* skipped: too soon after the last one */
};

struct live_map {
    uint64_t version; /* changes with every sweep, used or not */
    struct live_map_robot robot[SIDE_COUNT];
    /* Both robots on the map, when the builder's last sweep was added; NaN: the other one has
     * stated no pose. */
    double apart_m, apart_rad;
    struct grid_extent extent;
    uint32_t sweeps;
};

/* Corners and cells of the map. */
struct grid_place live_map_place(const struct live_map_params *p);

/* Size of the state, a multiple of 64; 0: no map. */
size_t live_map_bytes(const struct live_map_params *p);
/* Its first part: the head and the cells' odds. */
size_t live_map_shown_bytes(const struct live_map_params *p);

/* map: live_map_bytes(), all zero. */
void live_map_init(struct live_map *map);

/* Applies an event of the pair. */
void live_map_apply(struct live_map *map, const struct live_map_params *p,
                    const struct event *event);

/* The cells' log odds, [height][width]. */
const int8_t *live_map_odds(const struct live_map *map);

/* The map as it is now for plans, in live_map_costmap_bytes(). */
size_t live_map_costmap_bytes(const struct live_map_params *p);
void live_map_fill_costmap(const struct live_map *map, const struct live_map_params *p,
                           struct costmap *out);

/* Finds a robot's pose on the map from the pose that it states. False: not known yet. */
bool live_map_locate(const struct live_map *map, enum side side,
                     const struct plane_pose *stated, struct plane_pose *out);

/* Part k of the state that a checkpoint must hold: returns its bytes, 0 behind the last one.
 * Other bytes are zero or derived by live_map_restore(). */
size_t live_map_piece(const struct live_map *map, const struct live_map_params *p, size_t k,
                      const void **part);
void live_map_restore(struct live_map *map, const struct live_map_params *p);

#endif
