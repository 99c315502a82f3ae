/* twin/report/following_report.h - the state of a pair's following as JSON, for HTTP, replay
 * and MQTT alike. Pure, and cheap.
 */
#ifndef TWIN_REPORT_FOLLOWING_REPORT_H
#define TWIN_REPORT_FOLLOWING_REPORT_H

#include "logger/message/json_write.h"
#include "twin/following/pair_following.h"

enum { FOLLOWING_REPORT_MAX = 8192 }; /* bytes that always suffice */

/* Writes null if x is NULL; else
 *
 *   {"model","active","state","obstacle","period_s","method",
 *    "gains": {"bandwidth_radps","rejection","observer_radps","pose_per_s2","blend_s"},
 *    "parameters": {"real": {"source","values"} or null, "virtual": …},
 *    "now": {axis: {"reference","actual","error"}…}, "efforts": {effort: {"sent","unmatched",
 *    "disturbance"}…}, "saturated", "latency_s", "sent", "efforts_hash", "counts": {…},
 *    "telemetry": {"real": {"accepted",…}, "virtual": …}} */
/* Writes {"since_t", "x_m", "y_m", "yaw_rad"}: the frame in which poses of both robots are
 * compared, and since when. The real robot's pose is turned by yaw_rad, then moved by x_m and
 * y_m. null while there is no such frame, or outside the plane. x may be NULL: no following. */
void following_report_frame(struct json_writer *w, const char *key,
                            const struct pair_following *x);

void following_report(struct json_writer *w, const char *key, const struct pair_following *x,
                      const struct pair_params *p);

/* Writes null if x is NULL; else, over the window that ends at t, the last sample or control
 * period,
 *
 *   {"t","window_s","samples","unpaired","states": {"u": {"rmse","mae","r2"}…},
 *    for arms "tool": {"rmse_m","max_m"},
 *    "target": {"distance_m","time_s","ratio"} or null, "judged","within_ratio","missed"} */
void fidelity_report_write(struct json_writer *w, const char *key,
                           const struct pair_following *x, const struct pair_params *p);

/* Reads the same figures for other uses. x: not NULL. */
void fidelity_report_read(const struct pair_following *x, const struct pair_params *p,
                          struct fidelity_report *out);

/* Writes the i-th state's name, such as "u" for axis "u_mps": velocities first, then pose. */
void following_state_name(const struct model *model, size_t i, char out[32]);

#endif
