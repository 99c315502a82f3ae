/* service/robots/points.h - a list of points [x, y] in a YAML file. */
#ifndef SERVICE_ROBOTS_POINTS_H
#define SERVICE_ROBOTS_POINTS_H

#include "config/option_file.h"
#include "twin/robots/world.h"

/* Coordinates beyond are refused: a map is in metres. */
#define POINTS_LIMIT_M 1e6

/* Read the list at node into points[max] and its length into *count; faults, also for a list of
 * fewer than min points, go into the reader's list and leave *count 0. shown names the list in
 * messages. A node that was refused before is passed over. */
void points_read(struct option_reader *r, uint32_t node, const char *shown, size_t min,
                 size_t max, struct world_point *points, size_t *count);

/* The same of one point, [x, y] itself: *count becomes 1 or 0. */
void points_read_one(struct option_reader *r, uint32_t node, const char *shown,
                     struct world_point *point, size_t *count);

#endif
