/* identification/simulation/output_error.h - parameters of a model from its simulated response.
 *
 *     minimise  sum_axes  n log( sum (nu_measured - nu_simulated)^2 / n )
 *                                                 (docs/model/output_error.md, eq. 3)
 *
 * over parameters, constant efforts, the delay between effort and velocity, and the velocities
 * at the start of every run: maximum likelihood for white measurement noise of unknown size on
 * each axis. Levenberg-Marquardt on simulated trajectories with the sensitivities of
 * trajectory.h; positive parameters move in their logarithms, others between bounds. The
 * Jacobian is reduced to triangles by Householder QR as it is computed, axis by axis and run by
 * run: memory does not grow with the recording but for the residuals.
 * Deterministic, no I/O, no clock. Cold path: allocates through GSL while it runs, keeps
 * nothing.
 */
#ifndef IDENTIFICATION_SIMULATION_OUTPUT_ERROR_H
#define IDENTIFICATION_SIMULATION_OUTPUT_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "identification/simulation/free_parameters.h"

/* Fit. start: parameters, then biases when asked for; finite, of any sign: what no robot can
 * have is moved to where it can. residual (optional): [axis_count] rows of [set->n], out;
 * NaN where a sample took no part, which are those at the start of a run whose efforts came
 * before the recording.
 *
 * fit: intervals rest on the ordinary errors when the residuals are white, on the robust ones
 * otherwise; rows are the residuals. stop tells why it ended: DIVERGED when the model cannot be
 * simulated from the start, then nothing but start, stop and verdict is filled.
 *
 * Returns STATUS_E_ARG (options contradict each other, a pose that the model needs
 * is missing), STATUS_E_RANGE (numbers that are not
 * finite, times that do not increase), STATUS_E_EMPTY (no run), STATUS_E_NOMEM or STATUS_E_MATH
 * (a decomposition failed); outputs are written only on STATUS_OK, residual excepted. Cost:
 * about a dozen simulations with sensitivities. */
MUST_USE enum status output_error_fit(const struct model *model, const struct data_set *set,
                                      const double *start, const struct search_options *options,
                                      double *const *residual, struct dynamics_fit *fit,
                                      struct search_report *report);

/* How well a fit foretells a recording that took no part in it: only the velocities at the
 * start of its runs are fitted. theta, biases and delay_s as in the fit; the rest as above. */
MUST_USE enum status output_error_validate(const struct model *model,
                                           const struct data_set *set, const double *theta,
                                           bool with_biases, double delay_s,
                                           double *const *residual,
                                           struct search_report *report);

#endif
