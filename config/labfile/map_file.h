/* config/labfile/map_file.h - reads the map of a lab from YAML into a struct world: bounds
 * and obstacles.
 *
 * docs/model/missions.md. All faults of a file are reported at once, with line and column.
 */
#ifndef CONFIG_LABFILE_MAP_FILE_H
#define CONFIG_LABFILE_MAP_FILE_H

#include "config/options/option_file.h"
#include "twin/mission/map_json.h"

/* Fills a struct world; an empty file is an empty world. */
extern const struct option_file map_file;

/* A point [x, y], for tables with points: the row of a struct world_point, and its items. */
extern const struct option_row point_value;
extern const struct option_items point_items;

#endif
