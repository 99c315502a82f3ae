/* service/map/ros_map.h - writes a grid as ROS's map_server reads it: PREFIX.pgm, a picture
 * with a byte a cell (0 occupied, 254 free, 205 unknown; its first row is the top), and
 * PREFIX.yaml, which says where it lies. */
#ifndef SERVICE_MAP_ROS_MAP_H
#define SERVICE_MAP_ROS_MAP_H

#include "base/errors/err.h"
#include "twin/map/grid.h"

struct ros_map { /* a part of a grid */
    const struct grid *grid;
    size_t x0, y0, width, height;           /* its cells */
    uint64_t occupied, free_count, unknown; /* of them */
};

/* Chooses the part with all cells of which something is known; whole: all of the grid. */
struct ros_map ros_map_of(const struct grid *grid, bool whole);

/* Overwrites both files. STATUS_E_IO: one cannot be written. */
MUST_USE enum status ros_map_write(const struct ros_map *map, const char *prefix,
                                   struct err *err);

#endif
