/* twin/report/servo_report.h - fits of position-commanded servos as JSON. Unknown values are
 * null (docs/model/position_servo.md). Pure.
 */
#ifndef TWIN_REPORT_SERVO_REPORT_H
#define TWIN_REPORT_SERVO_REPORT_H

#include "identification/servo/servo_fit.h"
#include "logger/message/json_write.h"

/* Each function adds members to an open object. */
void servo_report_fit(struct json_writer *w, const struct servo_fit *fit);
void servo_report_check(struct json_writer *w, const struct servo_check *check);
void servo_report_summary(struct json_writer *w, const char *key,
                          const struct servo_summary *summary);

#endif
