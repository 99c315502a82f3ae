/* twin/map/costmap.h - a map for plans: which cells of a flat place are occupied, free or
 * unknown, and what a way through unknown ones costs. Read from ROS map files
 * (config/labfile/ros_map_file.h), planned on by twin/map/grid_route.h.
 *
 * A struct without pointers, followed by its cells, so that a hash of its bytes is one of the
 * map. Constant after it was read; any thread. Pure.
 */
#ifndef TWIN_MAP_COSTMAP_H
#define TWIN_MAP_COSTMAP_H

#include "twin/map/grid.h"

enum {
    COSTMAP_CELLS_MAX = 250000, /* so that a plan takes 20 ms at most */
    COSTMAP_FACTOR_MAX = 50,

    /* Values of cells. Between free and unknown a map in mode `scale` has shades. */
    COSTMAP_FREE = 0,
    COSTMAP_UNKNOWN = 200,
    COSTMAP_OCCUPIED = 255
};

struct costmap {
    double cell_m;
    struct plane_pose origin; /* corner of cell (0, 0), and the direction of its x axis */
    size_t width, height;     /* 1 .. GRID_SIDE_MAX, COSTMAP_CELLS_MAX in all */
    /* How many times its length a way through unknown cells costs: 1 .. COSTMAP_FACTOR_MAX; 0:
     * nobody drives there. */
    double unknown_factor;
    uint8_t cell[]; /* [height][width] */
};

/* Size of the struct with its cells. */
static inline size_t costmap_bytes(const struct costmap *map)
{
    return sizeof *map + map->width * map->height;
}

/* The point in cells: x_m, y_m are the middle of cell (floor u, floor v) at .5. */
void costmap_to_cells(const struct costmap *map, const double at_m[2], double uv[2]);
void costmap_from_cells(const struct costmap *map, const double uv[2], double at_m[2]);

/* The cell of a point; SIZE_MAX: it is off the map, or not finite. */
size_t costmap_find(const struct costmap *map, const double at_m[2]);

/* May a plan end or pass here at all? */
bool costmap_allows(const struct costmap *map, uint8_t cell);

/* The square of the distance, in cells from centre to centre, that a route keeps from occupied
 * cells. Then a disc of clearance_m anywhere in a cell touches no occupied one. */
double costmap_reach(const struct costmap *map, double clearance_m);

/* Is an occupied cell nearer than that to this cell? */
bool costmap_blocked(const struct costmap *map, size_t cell, double clearance_m);

#endif
