/* twin/report/odometry_report.h - a fit of odometry as JSON: the FIT of docs/model/odometry.md,
 * section 7. What is not known is null. Pure.
 */
#ifndef TWIN_REPORT_ODOMETRY_REPORT_H
#define TWIN_REPORT_ODOMETRY_REPORT_H

#include "identification/odometry/odometry.h"
#include "logger/message/json_write.h"

/* Each adds members to an object that is open. */
void odometry_report_fit(struct json_writer *w, const struct odometry_fit *fit);
void odometry_report_check(struct json_writer *w, const struct odometry_check *check);
void odometry_report_card(struct json_writer *w, const struct odometry_card *card);

#endif
