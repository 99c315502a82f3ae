/* twin/report/map_report.h - the live map of a pair as JSON, for HTTP and replay alike. Pure. */
#ifndef TWIN_REPORT_MAP_REPORT_H
#define TWIN_REPORT_MAP_REPORT_H

#include "logger/message/json_write.h"
#include "twin/map/live_map.h"

/* Writes the members
 *
 *   "cell_m", "origin_m", "width", "height", "sweeps", "cells": {"unknown", "free", "occupied"},
 *   "known_m",
 *   "cells_hash", "apart_m", "apart_rad", "robots": {"real": {…}, "virtual": {…}}
 *
 * of an open object. A robot has the counts of its sweeps, its pose as stated and on the map at
 * the last sweep used, and what lies between the two. */
void map_report(struct json_writer *w, const struct live_map *map,
                const struct live_map_params *p);

#endif
