/* twin/report/travel_report.h - a travel-time fit as JSON: the FIT of
 * docs/model/travel_time.md, section 6.
 *
 * {"n","method", ESTIMATE, "rmse_s","r2","residual_s_sd","outliers","refused"}
 *
 * ESTIMATE (estimate_report.h) holds all five terms, null where the moves do not determine
 * one. Pure.
 */
#ifndef TWIN_REPORT_TRAVEL_REPORT_H
#define TWIN_REPORT_TRAVEL_REPORT_H

#include "identification/travel/travel_time.h"
#include "logger/message/json_write.h"

/* The longest FIT without its end; a buffer of this size always holds one. */
enum { TRAVEL_REPORT_MAX = 32 * 1024 };

/* The members alone, into an object that is open. */
void travel_report_members(struct json_writer *w, const struct travel_fit *fit);

/* One object; key as in json_write.h. */
void travel_report_write(struct json_writer *w, const char *key, const struct travel_fit *fit);

#endif
