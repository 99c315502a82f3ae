/* twin/report/following_report.h - how a pair's following stands, as JSON: served over HTTP,
 * printed by replay, published over MQTT, from the same functions. Pure, and cheap.
 */
#ifndef TWIN_REPORT_FOLLOWING_REPORT_H
#define TWIN_REPORT_FOLLOWING_REPORT_H

#include "logger/message/json_write.h"
#include "twin/following/pair_following.h"

enum { FOLLOWING_REPORT_MAX = 8192 }; /* bytes that always suffice */

/* null when x is NULL; else
 *
 * {"model","active","state","obstacle","period_s","method",
 *  "gains": {"bandwidth_radps","rejection","observer_radps","pose_per_s2","blend_s"},
 *  "parameters": {"real": {"source","values"} or null, "virtual": …},
 *  "now": {axis: {"reference","actual","error"}…}, "efforts": {effort: {"sent","unmatched",
 *  "disturbance"}…}, "saturated", "latency_s", "sent", "efforts_hash", "counts": {…},
 *  "telemetry": {"real": {"accepted",…}, "virtual": …}} */
/* {"since_t", "x_m", "y_m", "yaw_rad"}: since when, turned by yaw_rad and then moved by x_m and
 * y_m, poses of the real robot are held against those of the virtual one; null while they are
 * not, or not in the plane. x may be NULL: nobody follows. */
void following_report_frame(struct json_writer *w, const char *key,
                            const struct pair_following *x);

void following_report(struct json_writer *w, const char *key, const struct pair_following *x,
                      const struct pair_params *p);

/* null when x is NULL; else over the window that ends at t, the last sample or control period
 *
 * {"t","window_s","samples","unpaired","states": {"u": {"rmse","mae","r2"}…},
 *  of arms "tool": {"rmse_m","max_m"},
 *  "target": {"distance_m","time_s","ratio"} or null, "judged","within_ratio","missed"} */
void fidelity_report_write(struct json_writer *w, const char *key,
                           const struct pair_following *x, const struct pair_params *p);

/* The same figures, for others than JSON. x: not NULL. */
void fidelity_report_read(const struct pair_following *x, const struct pair_params *p,
                          struct fidelity_report *out);

/* "u" of the axis "u_mps": the i-th state, velocities first, then pose. */
void following_state_name(const struct model *model, size_t i, char out[32]);

#endif
