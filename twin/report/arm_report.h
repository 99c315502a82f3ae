/* twin/report/arm_report.h - fits of an arm as JSON: friction of its joints, corrections of its
 * links (docs/model/arm.md). What is not known is null. Pure.
 */
#ifndef TWIN_REPORT_ARM_REPORT_H
#define TWIN_REPORT_ARM_REPORT_H

#include "identification/arm/arm_friction.h"
#include "identification/arm/arm_kinematics.h"
#include "identification/fit/reference.h"
#include "logger/message/json_write.h"

/* Each adds members to an object that is open. */

/* "parameters" "values" "se" "ci95" of all joints, "verdict" "reasons" "advice" of the whole,
 * and "joints", each with what every fit has; "comparison" with the values in use beside each
 * [ARM_JOINTS], and of the whole. */
void arm_report_friction(struct json_writer *w, const struct arm_friction_fit *fit,
                         const struct reference_check *checks,
                         const struct reference_comparison *whole);
void arm_report_friction_summary(struct json_writer *w,
                                 const struct arm_friction_summary *summary);

/* What every fit has, "corrections" as a robot takes them, and how far the tool is. */
void arm_report_kinematics(struct json_writer *w, const struct arm_kinematics_fit *fit);

#endif
