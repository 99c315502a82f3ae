/* twin/report/pair_dynamics_report.h - the identified dynamics of a pair as JSON, for HTTP,
 * replay and MQTT alike. Pure, and cheap.
 */
#ifndef TWIN_REPORT_PAIR_DYNAMICS_REPORT_H
#define TWIN_REPORT_PAIR_DYNAMICS_REPORT_H

#include "logger/message/json_write.h"
#include "twin/dynamics/pair_dynamics.h"
#include "twin/report/fit_report.h"

enum { PAIR_DYNAMICS_REPORT_MAX = 96 * 1024 }; /* bytes that always suffice */

/* Writes null if d is NULL, because the pair's dynamics are not identified; else
 *
 *   {"model","method","biases","promote","parameters":[{"name","symbol","unit"}…],
 *    "real": {"state": "collecting" "fitting" "following" "suspicious",
 *             "obstacle": why nothing is learnt, or null,
 *             "estimate": {"values","se","ci95","excited":[…],"learnt_s"} or null,
 *             "z_active": {name: z} of the estimate against the set in force, or null,
 *             "innovations": {"consistent", axis: {"mean_square","correlation",…}},
 *             "gates": {"used": n, …}, "drift": {"suspected","found","looking","last"},
 *             "window_samples", "job": {"number","cause","by","samples","began_t"} or null,
 *             "fit": {…, "checks", "data"} or null, "counts": {…}}, null if not identified,
 *    "virtual": …, "active": SET or null, "candidate": SET or null, "sets": […]}
 *
 * FIT is that of fit_report.h. It does not read the samples, so d may be the head of the block
 * alone. */
void pair_dynamics_report(struct json_writer *w, const char *key, const struct pair_dynamics *d,
                          const struct pair_params *p);

/* Writes the measured motion, and the motion that each side's last fit simulates from the
 * efforts:
 *
 *   {"pair","model","real": {"fit": its number,"t","t_s": […],"axes":
 *    {axis: {"words","effort","effort_words","measured": […],"simulated": […],"rmse",
 *            "speed","gain": {"value","se","ci95"},"time_constant_s": likewise}}}, "virtual":
 *            …}
 *
 * A side is null without a fit, or if it could not be simulated. Gain and time constant are
 * those at speed, the root mean square of the measured motion. */
void pair_dynamics_prediction(struct json_writer *w, const char *key,
                              const struct pair_dynamics *d, const struct pair_params *p);

/* Returns the last fit of a side that has one; the caller sets pair, n and t_us. */
struct fit_record pair_dynamics_last_fit(const struct pair_dynamics *d, enum side side);

#endif
