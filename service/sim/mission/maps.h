/* service/sim/mission/maps.h - the maps of a lab's pairs, as JSON for display. */
#ifndef SERVICE_SIM_MISSION_MAPS_H
#define SERVICE_SIM_MISSION_MAPS_H

#include "config/labfile/lab_file.h"

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
