/* twin/report/pair_dynamics_report.h - what is known of a pair's dynamics, as JSON: served over
 * HTTP, printed by replay, published over MQTT, from the same function. Pure, and cheap.
 */
#ifndef TWIN_REPORT_PAIR_DYNAMICS_REPORT_H
#define TWIN_REPORT_PAIR_DYNAMICS_REPORT_H

#include "logger/message/json_write.h"
#include "twin/dynamics/pair_dynamics.h"
#include "twin/report/fit_report.h"

enum { PAIR_DYNAMICS_REPORT_MAX = 96 * 1024 }; /* bytes that always suffice */

/* null when d is NULL, the pair's dynamics not being followed; else
 *
 * {"model","method","biases","promote","parameters":[{"name","symbol","unit"}…],
 *  "real": {"state": "collecting" "fitting" "following" "suspicious",
 *           "obstacle": why nothing is learnt, or null,
 *           "estimate": {"values","se","ci95","excited":[…],"learnt_s"} or null,
 *           "z_active": {name: z} of the estimate against the set in force, or null,
 *           "innovations": {"consistent", axis: {"mean_square","correlation",…}},
 *           "gates": {"used": n, …}, "drift": {"suspected","found","looking","last"},
 *           "window_samples", "job": {"number","cause","by","samples","began_t"} or null,
 *           "fit": {…, "checks", "data"} or null, "counts": {…}}, null where not followed,
 *  "virtual": …, "active": SET or null, "candidate": SET or null, "sets": […]}
 *
 * FIT is that of fit_report.h. Does not touch the samples: d may be the head of the block
 * alone. */
void pair_dynamics_report(struct json_writer *w, const char *key, const struct pair_dynamics *d,
                          const struct pair_params *p);

/* What was measured, and what the last fit of each side makes of the efforts:
 *
 * {"pair","model","real": {"fit": its number,"t","t_s": […],"axes":
 *  {axis: {"words","effort","effort_words","measured": […],"simulated": […],"rmse",
 *          "speed","gain": {"value","se","ci95"},"time_constant_s": likewise}}}, "virtual": …}
 *
 * a side is null without a fit, or where that could not be simulated. Gain and time constant
 * are those about speed, the root of the mean square of what was measured. */
void pair_dynamics_prediction(struct json_writer *w, const char *key,
                              const struct pair_dynamics *d, const struct pair_params *p);

/* The last fit of a side that has one; pair, n and t_us are the caller's to fill in. */
struct fit_record pair_dynamics_last_fit(const struct pair_dynamics *d, enum side side);

#endif
