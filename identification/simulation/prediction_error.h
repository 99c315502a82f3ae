/* identification/simulation/prediction_error.h - parameters of a model from one-step
 * predictions, with unmeasured forces.
 *
 *     nu' = f(theta, nu, tau(t - L) - b + w),  w a Gauss-Markov force on each axis
 *     minimise  -2 log likelihood of the innovations
 *                                               (docs/model/prediction_error.md, eq. 1 - 4)
 *
 * An extended Kalman filter estimates velocities and forces. Its transition matrices and the
 * sensitivities of its innovations come from trajectory.h. The sizes of measurement noise and
 * forces, and the correlation time of the forces, are estimated by likelihood. Without such
 * forces the result equals that of output error. With them, output error's ordinary intervals
 * are far too narrow. Reference: Ljung, System Identification (1999), chapter 7. Deterministic,
 * no I/O, no clock. Cold path: allocates through GSL while it runs and frees all of it.
 */
#ifndef IDENTIFICATION_SIMULATION_PREDICTION_ERROR_H
#define IDENTIFICATION_SIMULATION_PREDICTION_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/simulation/free_parameters.h"

/* Fits. start and options as for output_error_fit(), whose result is a good start.
 *
 * Returns as output_error_fit() does. Cost: about a hundred passes of the filter, each as
 * expensive as several simulations with sensitivities. */
MUST_USE enum status prediction_error_fit(const struct model *model, const struct data_set *set,
                                          const double *start,
                                          const struct search_options *options,
                                          struct dynamics_fit *fit,
                                          struct search_report *report);

#endif
