/* twin/dynamics/servo_task.h - the batch fit of a position-commanded servo, as a part of
 * dynamics_task_run(): the same fit as of recordings (identification/servo).
 *
 * Commands and positions of the samples are fitted; their velocities only serve the filter.
 * docs/model/position_servo.md, "Live". Pure, apart from GSL's allocations.
 */
#ifndef TWIN_DYNAMICS_SERVO_TASK_H
#define TWIN_DYNAMICS_SERVO_TASK_H

#include "base/errors/err.h"
#include "twin/dynamics/dynamics_result.h"

/* Is it a model that this fit is for? */
bool servo_task_suits(const struct model *model);

/* Fits all samples and writes fit, reference, trace and errors of r. Errors as
 * dynamics_task_run(). *refused: these samples determine nothing, and the verdict says why. */
MUST_USE enum status servo_task_fit(const struct dynamics_task *task, struct dynamics_result *r,
                                    bool *refused, struct err *err);

/* Fits the samples before `split`, predicts the others, and adds the check. */
MUST_USE enum status servo_task_hold_out(const struct dynamics_task *task, size_t split,
                                         struct dynamics_result *r, struct err *err);

#endif
