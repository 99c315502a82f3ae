/* twin/report/estimate_report.h - an estimate as JSON: the members that every fit has, of
 * travel times, of dynamics and of odometry. What is not known is null. Pure.
 *
 * {"parameters":[…],"values":{name:
 * …},"se":{…},"se_white":{…},"relative_se":{…},"ci95":{name:[lo,hi]},
 *  "identifiable":[…],"correlation":[[…]],"rank","condition","null_directions":[…],
 *  "combinations":[{"name","value","se"}],"verdict","reasons":[…],"advice":[…]}
 */
#ifndef TWIN_REPORT_ESTIMATE_REPORT_H
#define TWIN_REPORT_ESTIMATE_REPORT_H

#include "identification/estimate.h"
#include "logger/message/json_write.h"

/* All of them, into an object that is open. */
void estimate_report(struct json_writer *w, const struct estimate *estimate);

/* {name: value, …} of a number for each parameter. */
void estimate_report_column(struct json_writer *w, const char *key,
                            const struct estimate *estimate, const double *values);
/* "ci95" alone. */
void estimate_report_intervals(struct json_writer *w, const struct estimate *estimate);
/* ["name", …] of the parameters that are marked. */
void estimate_report_marked(struct json_writer *w, const char *key,
                            const struct estimate *estimate, const bool *marked);

#endif
