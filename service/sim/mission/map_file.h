/* service/sim/mission/map_file.h - reads the map of a lab from YAML into a struct world (bounds
 * and obstacles), and writes it as JSON for display.
 *
 * docs/model/missions.md. All faults of a file are reported at once, with line and column.
 */
#ifndef SERVICE_SIM_MISSION_MAP_FILE_H
#define SERVICE_SIM_MISSION_MAP_FILE_H

#include "config/labfile/lab_file.h"
#include "config/options/option_file.h"
#include "twin/mission/map_json.h"

/* Fills a struct world; an empty file is an empty world. */
extern const struct option_file map_file;

/* A point [x, y], for tables with points: the row of a struct world_point, and its items. */
extern const struct option_row point_value;
extern const struct option_items point_items;

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
