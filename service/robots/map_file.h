/* service/robots/map_file.h - the map of a lab: bounds and obstacles, from YAML into a struct
 * world.
 *
 * docs/model/missions.md section 1. All faults of a file are reported at once, with line and
 * column.
 */
#ifndef SERVICE_ROBOTS_MAP_FILE_H
#define SERVICE_ROBOTS_MAP_FILE_H

#include "config/option_file.h"
#include "twin/robots/world.h"

/* Fills a struct world; an empty file is an empty world. */
extern const struct option_file map_file;

#endif
