/* identification/dynamics/dynamics_estimate.h - fit of dynamics by any method.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_ESTIMATE_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_ESTIMATE_H

#include <stdbool.h>

#include "base/errors/status.h"
#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"
#include "identification/dynamics/dynamics_linear.h"
#include "identification/fit/dynamics_fit.h"
#include "identification/simulation/channel_cause.h"
#include "identification/simulation/effort_cause.h"
#include "identification/simulation/input_phase.h"

/* Fits by the given method. Linear methods run directly. output_error starts from weak_iv, or
 * from ols_sg if runs are too short for a window. It also finds the delay between effort and
 * velocity (options->delay_max_s). It searches twice: the second search is near the first
 * result and leaves out only the samples that this delay requires. If the start leaves a
 * parameter free, or numbers overflow, the result is the start with a reason. pem starts from
 * output_error in the same way.
 *
 * Returns as dynamics_linear_fit() and output_error_fit(), except that only the start
 * returns STATUS_E_MATH. */
MUST_USE enum status dynamics_estimate(const struct model *model, const struct data_set *set,
                                       enum dynamics_method method,
                                       const struct dynamics_options *options,
                                       struct dynamics_fit *fit);

/* Chooses the best method for the recording: output_error if its residuals are white, pem if
 * unmeasured forces act, weak for a model that sticks, weak_iv if the model cannot be
 * simulated. Above 50 000 samples a simulation would take too long. The result is then
 * weak_iv of all samples, with the delay and its error from output_error on the 6000
 * consecutive samples with the largest changes of effort; or weak for a model that sticks. A
 * reason of the fit explains the choice, fit->method names it. Returns as above. */
MUST_USE enum status dynamics_estimate_auto(const struct model *model,
                                            const struct data_set *set,
                                            const struct dynamics_options *options,
                                            struct dynamics_fit *fit);

/* Finds the times of efforts that change between the rows of a table, from a simulation: fit,
 * or one that is fitted for it. If they lie within rows, the efforts get them, and the caller
 * fits again. own: fit is that of this table. Returns STATUS_OK, STATUS_E_NOMEM, or
 * STATUS_E_STALE if options->go_on ended it. */
MUST_USE enum status dynamics_estimate_phases(const struct model *model,
                                              const struct dynamics_options *options,
                                              const struct dynamics_fit *fit, bool own,
                                              struct data_table *table,
                                              struct input_phases *phases);

/* Finds a lag of the efforts or a drift from a simulation: fit, or one that is fitted for it.
 * Returns as dynamics_estimate_phases(). */
MUST_USE enum status dynamics_estimate_cause(const struct model *model,
                                             const struct data_set *set,
                                             const struct dynamics_options *options,
                                             const struct dynamics_fit *fit,
                                             struct effort_cause *cause);

#endif
