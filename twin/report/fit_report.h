/* twin/report/fit_report.h - fits as JSON: travel times, dynamics, odometry, and the estimate
 * that all of them contain. Unknown values are null. Pure.
 */
#ifndef TWIN_REPORT_FIT_REPORT_H
#define TWIN_REPORT_FIT_REPORT_H

#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"
#include "identification/dynamics/dynamics_check.h"
#include "identification/dynamics/dynamics_compare.h"
#include "identification/dynamics/dynamics_sensitivity.h"
#include "identification/fit/dynamics_fit.h"
#include "identification/fit/fitted_numbers.h"
#include "identification/fit/reference.h"
#include "identification/odometry/odometry.h"
#include "identification/travel/profile_fit.h"
#include "identification/travel/travel_time.h"
#include "logger/message/event.h"
#include "logger/message/json_write.h"

/* ---- members of every fit ----
 *
 *   {"parameters":[…],"values":{name: …},"se":{…},"se_white":{…},"relative_se":{…},
 *    "ci95":{name:[lo,hi]},"ci95_open":{name:[lo,hi]} or null,"identifiable":[…],
 *    "correlation":[[…]],"rank","condition","null_directions":[…],
 *    "combinations":[{"name","value","se"}],"verdict","reasons":[…],"reason_codes":[…],
 *    "notes":[…],"note_codes":[…],"advice":[…]} */

/* Writes all of them into an open object. */
void estimate_report(struct json_writer *w, const struct estimate *estimate);

/* Writes {name: value, …}, a number for each parameter. */
void estimate_report_column(struct json_writer *w, const char *key,
                            const struct estimate *estimate, const double *values);
/* Writes "verdict", "reasons", "reason_codes", "notes", "note_codes" and "advice". */
void estimate_report_verdict(struct json_writer *w, const struct estimate *estimate);
/* Writes only "ci95". */
void estimate_report_intervals(struct json_writer *w, const struct estimate *estimate);
/* Writes ["name", …] of the marked parameters. */
void estimate_report_marked(struct json_writer *w, const char *key,
                            const struct estimate *estimate, const bool *marked);

/* Writes "comparison" with the reference; null if found is NULL. */
void reference_report(struct json_writer *w, const struct estimate *estimate,
                      const struct reference_values *current,
                      const struct reference_comparison *found);

/* ---- travel times: the FIT of docs/model/travel_time.md, section 6 ----
 *
 *   {"n","method", ESTIMATE, "rmse_s","r2","residual_s_sd","outliers","refused",
 *    "with_accelerations"}
 *
 * ESTIMATE has all five terms, null if the moves do not determine one. */

/* Bytes of the longest FIT without its NUL. */
enum { TRAVEL_REPORT_MAX = 32 * 1024 };

/* Writes only the members, into an open object. */
void travel_report_members(struct json_writer *w, const struct travel_fit *fit);

/* For commanded moves. */
void profile_report_members(struct json_writer *w, const struct profile_fit *fit);

/* ---- fits over time, in a short form ----
 *
 *   {"pair","n","t","side","model","method","samples","data_since_t","data_until_t","values":{name:
 *    …},"se":{…},"ci95":{name:[lo,hi]},"verdict","reasons":[…],"robot_version"} */

struct fit_record {
    const char *pair;
    uint64_t n;
    int64_t t_us;
    enum side side;
    const char *model, *method; /* their names */
    size_t samples;             /* number of samples or moves used */
    const struct estimate *estimate;
    int64_t since_us, until_us; /* of its data, lab time */
    const char *robot_version;  /* of the robot's program; NULL or "": unknown */
};

void fit_record_write(struct json_writer *w, const char *key, const struct fit_record *record);

/* Adds "n","value","se","ci95","sd_between","sd_between_dl","Q","df","p","another",
 * "another_as_fitted" to an open object: one number from several fits. */
void between_report(struct json_writer *w, const struct between *found);

/* ---- odometry: docs/model/odometry.md ---- */

/* Add members to an open object; the summary is an object. */
void odometry_report_fit(struct json_writer *w, const struct odometry_fit *fit);
void odometry_report_check(struct json_writer *w, const struct odometry_check *check);
void odometry_report_summary(struct json_writer *w, const char *key,
                             const struct odometry_summary *summary);

/* ---- dynamics: docs/model/identification.md, "FIT" ---- */

/* Writes {axis: value, …}. */
void dynamics_report_axes(struct json_writer *w, const char *key, const struct model *model,
                          bool efforts, const double *values);

/* Writes {"value","se","ci95"}. */
void dynamics_report_derived(struct json_writer *w, const char *key,
                             const struct dynamics_derived *derived);

/* Each function adds members to an open object. */
void dynamics_report_fit(struct json_writer *w, const struct model *model,
                         const struct dynamics_fit *fit);
void dynamics_report_summary(struct json_writer *w, const struct model *model,
                             const struct data_summary *summary);
void dynamics_report_check(struct json_writer *w, const struct model *model,
                           const struct estimate *estimate, const struct dynamics_check *check);

/* Writes a member of its own name; null if unknown. */
void dynamics_report_asks(struct json_writer *w, const struct estimate *estimate,
                          const struct stability *held_out);
void dynamics_report_sensitivity(struct json_writer *w, const struct estimate *estimate,
                                 const struct dynamics_sensitivity *sensitivity);
/* Does the same; comparison may be NULL. */
void dynamics_report_comparison(struct json_writer *w, const struct model *model,
                                const struct estimate *estimate,
                                const struct reference_values *current,
                                const struct dynamics_comparison *comparison);
/* Writes members into an open object. */
void dynamics_report_options(struct json_writer *w, const struct dynamics_options *options);

#endif
