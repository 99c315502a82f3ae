/* identification/dynamics/dynamics_estimate.h - one call for every method. */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_ESTIMATE_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_ESTIMATE_H

#include <stdbool.h>

#include "base/errors/status.h"
#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"
#include "identification/dynamics/dynamics_linear.h"
#include "identification/fit/dynamics_fit.h"

/* Linear methods directly. output_error starts from weak_iv, or from ols_sg where runs are too
 * short for a window, and also finds the delay between effort and velocity
 * (options->delay_max_s): twice, the second time near what the first one found, which leaves
 * out no more samples at the start of a run than that delay asks for. Where the start leaves a
 * parameter free, or numbers overflow, the result is the start's with a reason that says so.
 * pem starts from output_error in the same way.
 *
 * Returns as dynamics_linear_fit() and output_error_fit(), but for STATUS_E_MATH, which only
 * the start returns. */
MUST_USE enum status dynamics_estimate(const struct model *model, const struct data_set *set,
                                       enum dynamics_method method,
                                       const struct dynamics_options *options,
                                       struct dynamics_fit *fit);

/* The best method for the recording: output_error when what it leaves is white, pem when forces
 * act that nobody measured, weak for a model that sticks instead, weak_iv when the model cannot
 * be simulated. Of more than 50 000 samples simulation would take too long: weak_iv of all of
 * them, with the delay that output_error finds on the 6000 in a row over which efforts change
 * most, and its error in the others; weak for what sticks. A reason of the fit says why;
 * fit->method is the one chosen. Returns as above. */
MUST_USE enum status dynamics_estimate_auto(const struct model *model,
                                            const struct data_set *set,
                                            const struct dynamics_options *options,
                                            struct dynamics_fit *fit);

#endif
