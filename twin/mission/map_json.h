/* twin/mission/map_json.h - the map of a lab as JSON: {"bounds_m": [x_min, y_min, x_max, y_max]
 * or null, "obstacles": [{"name", "shape", "points_m", "radius_m", "mapped", "appears_s",
 * "leaves_s"}, …]}. docs/model/missions.md. Pure.
 */
#ifndef TWIN_MISSION_MAP_JSON_H
#define TWIN_MISSION_MAP_JSON_H

#include "logger/message/json_scan.h"
#include "logger/message/json_write.h"
#include "twin/map/costmap.h"
#include "twin/sim/robot/world.h"

/* Larger coordinates are refused: a map is in metres. */
#define POINTS_LIMIT_M 1e6

void map_json_write(struct json_writer *w, const char *key, const struct world *world);

/* The same of a map of cells: no bounds and obstacles, but "cells": {"cell_m", "origin": [x_m,
 * y_m, yaw_rad], "width", "rows": ["12f3o1u", …]}. A row is counts of cells, each with f for
 * free, o for occupied or u for anything else; the lowest row is the first. */
void map_json_write_cells(struct json_writer *w, const char *key, const struct costmap *map);

/* Reads the next value into *world, which is empty at first. False: the scanner has what would
 * be right. */
bool map_json_scan(struct json_scan *s, struct world *world);

/* Reads [[x_m, y_m], …] into points[*count], at most `most`; expected: static, what would be
 * right if there are more. And one point. */
bool map_json_scan_points(struct json_scan *s, struct world_point *points, size_t most,
                          const char *expected, size_t *count);
bool map_json_scan_point(struct json_scan *s, struct world_point *point);

/* Reads a list of exactly count numbers within POINTS_LIMIT_M. */
bool map_json_scan_numbers(struct json_scan *s, double *numbers, size_t count);

#endif
