/* service/sim/mission/map_file.h - reads the map of a lab from YAML into a struct world (bounds
 * and obstacles), and writes it as JSON for display.
 *
 * docs/model/missions.md. All faults of a file are reported at once, with line and column.
 */
#ifndef SERVICE_SIM_MISSION_MAP_FILE_H
#define SERVICE_SIM_MISSION_MAP_FILE_H

#include "config/labfile/lab_file.h"
#include "config/options/option_file.h"
#include "twin/sim/robot/world.h"

/* Fills a struct world; an empty file is an empty world. */
extern const struct option_file map_file;

/* Larger coordinates are refused: a map is in metres. */
#define POINTS_LIMIT_M 1e6

/* Read the list of points [x, y] at node into points[max] and its length into *count. Faults,
 * also for fewer than min points, go into the reader's list and leave *count 0. shown names the
 * list in messages. A node that was refused before is skipped. */
void points_read(struct option_reader *r, uint32_t node, const char *shown, size_t min,
                 size_t max, struct world_point *points, size_t *count);

/* The same for one point, [x, y] itself: *count becomes 1 or 0. */
void points_read_one(struct option_reader *r, uint32_t node, const char *shown,
                     struct world_point *point, size_t *count);

/* The maps named by the lab file, as JSON for display. */
struct maps;

/* Load the map of every pair, each file once. STATUS_E_PARSE, STATUS_E_IO: *err names file and
 * place; STATUS_E_NOMEM. Cold path: allocates. */
MUST_USE enum status maps_load(const struct lab_file *file, struct maps **out, struct err *err);
void maps_destroy(struct maps *maps); /* NULL allowed */

/* Find a pair's map: {"bounds_m": [x_min, y_min, x_max, y_max] or null, "obstacles": [{"name",
 * "shape", "points_m", "radius_m", "mapped", "appears_s", "leaves_s"}, …]}, [*bytes]; NULL: the
 * pair has none. Lives as long as maps. Any thread. */
const char *maps_find(const struct maps *maps, size_t pair, size_t *bytes);

#endif
