/* twin/report/arm_report.h - fits of an arm as JSON: friction of its joints, corrections of its
 * links (docs/model/arm.md). Unknown values are null. Pure.
 */
#ifndef TWIN_REPORT_ARM_REPORT_H
#define TWIN_REPORT_ARM_REPORT_H

#include "identification/arm/arm_friction.h"
#include "identification/arm/arm_kinematics.h"
#include "identification/fit/reference.h"
#include "logger/message/json_write.h"

/* Each function adds members to an open object. */

/* Writes "parameters" "values" "se" "ci95" of all joints, "verdict" "reasons" "advice" of the
 * whole, and "joints", each with the members of every fit. "comparison" has the reference for
 * each joint [ARM_JOINTS] and for the whole. */
void arm_report_friction(struct json_writer *w, const struct arm_friction_fit *fit,
                         const struct reference_check *checks,
                         const struct reference_comparison *whole);
/* NULL: null. */
void arm_report_friction_summary(struct json_writer *w, const char *key,
                                 const struct arm_friction_summary *summary);

/* Writes the members of every fit, "corrections" in the form that a robot accepts, and the
 * distance of the tool. */
void arm_report_kinematics(struct json_writer *w, const struct arm_kinematics_fit *fit);

#endif
