/* twin/report/arm_links_report.h - positions of the links of an arm and its twin, for drawing.
 * Pure.
 */
#ifndef TWIN_REPORT_ARM_LINKS_REPORT_H
#define TWIN_REPORT_ARM_LINKS_REPORT_H

#include "logger/message/json_write.h"
#include "twin/pair/pair.h"

/* Writes {"pair", "arm": "ur5" or null for a pair without one, "reach_m", "joints": [{"name",
 * "limit_rad"}, ...], "real": {"t", "q_rad": [6], "qd_radps": [..6], "links_m": [[x, y, z],
 * ...], "tool": [x, y, z, rx, ry, rz]} or null before telemetry of six joints, "virtual": ...,
 * "tool_gap_mm": between both, or null}. Equation: (1) of
 * identification/geometry/arm_geometry.h. */
void arm_links_report(struct json_writer *w, const char *key, const struct pair *pair,
                const struct pair_params *p);

#endif
