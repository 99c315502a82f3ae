/* identification/simulation/output_error.h - parameters of a model from its simulated response.
 *
 *     minimise  sum_axes  n log( sum (nu_measured - nu_simulated)^2 / n )
 *                                                 (docs/model/output_error.md, eq. 3)
 *
 * The unknowns are parameters, constant efforts, the delay between effort and velocity, and the
 * initial velocities of every run. This is maximum likelihood for white measurement noise of
 * unknown size on each axis. Levenberg-Marquardt uses the sensitivities of trajectory.h.
 * Positive parameters are searched by their logarithms, others between bounds. Householder QR
 * reduces the Jacobian to triangles, axis by axis and run by run. Only the residuals need
 * memory that grows with the recording. Deterministic, no I/O, no clock. Cold path: allocates
 * through GSL while it runs and frees all of it.
 */
#ifndef IDENTIFICATION_SIMULATION_OUTPUT_ERROR_H
#define IDENTIFICATION_SIMULATION_OUTPUT_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "identification/simulation/free_parameters.h"

/* Fits. start: parameters, then biases if requested; finite. Unphysical values are moved into
 * their range. residual (optional): [axis_count] rows of [set->n], out; NaN where a sample was
 * not used, at the start of a run whose efforts precede the recording.
 *
 * fit: intervals use the ordinary errors if the residuals are white, otherwise the robust ones;
 * rows are the residuals. stop is the reason of the end: DIVERGED if the model cannot be
 * simulated from the start; then only start, stop and verdict are filled.
 *
 * Returns STATUS_E_ARG (options contradict each other, or a required pose is missing),
 * STATUS_E_RANGE (numbers that are not finite, times that do not increase), STATUS_E_EMPTY
 * (no run), STATUS_E_NOMEM or STATUS_E_MATH (a decomposition failed). Outputs are written
 * only on STATUS_OK, except residual. Cost: about a dozen simulations with sensitivities. */
MUST_USE enum status output_error_fit(const struct model *model, const struct data_set *set,
                                      const double *start, const struct search_options *options,
                                      double *const *residual, struct dynamics_fit *fit,
                                      struct search_report *report);

/* Computes how well a fit predicts a recording that it has not seen: only the initial
 * velocities of its runs are fitted. theta: the fitted parameters, then the biases if
 * with_biases. residual and report are as above. */
MUST_USE enum status output_error_validate(const struct model *model,
                                           const struct data_set *set, const double *theta,
                                           bool with_biases, double delay_s,
                                           double *const *residual,
                                           struct search_report *report);

#endif
