/* identification/simulation/prediction_error.h - parameters of a model from how well it
 * foretells the next sample, when forces that nobody measured act on the robot.
 *
 *     nu' = f(theta, nu, tau(t - L) - b + w),  w a Gauss-Markov force on each axis
 *     minimise  -2 log likelihood of the innovations     (docs/model/prediction_error.md, eq. 1
 * - 4)
 *
 * An extended Kalman filter carries velocities and forces; its transition matrices and the
 * sensitivities of its innovations are those of trajectory.h. Sizes of measurement noise and of
 * forces, and the time for which a force lasts, are found by likelihood. Without such forces it
 * gives what output error gives; with them output error's ordinary intervals are far too
 * narrow. Deterministic, no I/O, no clock. Cold path: allocates through GSL while it runs,
 * keeps nothing.
 */
#ifndef IDENTIFICATION_SIMULATION_PREDICTION_ERROR_H
#define IDENTIFICATION_SIMULATION_PREDICTION_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/simulation/free_parameters.h"

/* Fit. start and options as for output_error_fit(), whose result is a good start.
 *
 * fit: initial is the filter's first state; its noise, too.
 *
 * Returns as output_error_fit() does. Cost: about
 * a hundred passes of the filter, each some simulations with sensitivities. */
MUST_USE enum status prediction_error_fit(const struct model *model, const struct data_set *set,
                                          const double *start,
                                          const struct search_options *options,
                                          struct dynamics_fit *fit,
                                          struct search_report *report);

#endif
