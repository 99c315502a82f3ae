/* identification/dynamics/dynamics_linear.h - dynamics by linear regression: with derivatives,
 * in weak form, and with instrumental variables.
 *
 *     Phi(nu, nu_dot) theta + bias = tau          (docs/model/identification_theory.md, eq. 1)
 *
 * ols_central, ols_sg: derivatives of measured velocities; biased by noise, kept to compare.
 * weak: integrals with a smooth window in place of derivatives. weak_iv: the same with
 * instruments from the simulated model, which takes away what noise in the regressors does.
 * Deterministic. Cold path: allocates through GSL while it runs, keeps nothing.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_LINEAR_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_LINEAR_H

#include "base/errors/status.h"
#include "identification/dynamics/dynamics_options.h"

/* Fit. Too little or one-sided data are an answer (FAIL or MARGINAL with reasons), not an
 * error.
 *
 * Returns STATUS_E_ARG for an option out of its range or a method that is not linear, or a set
 * that lacks the pose the model needs,
 * STATUS_E_NOMEM, STATUS_E_MATH when numbers overflow; *fit is written only on STATUS_OK. Cost
 * O(n p^2) and two passes, weak_iv iv_iterations more. */
MUST_USE enum status dynamics_linear_fit(const struct model *model, const struct data_set *set,
                                         enum dynamics_method method,
                                         const struct dynamics_options *options,
                                         struct dynamics_fit *fit);

/* What dynamics_linear_fit() does when it is asked for a method: weak forms move the derivative
 * to their window, which an inertia that depends on the motion or the pose does not allow;
 * such a model gets ols_sg, and its fit says so. */
enum dynamics_method dynamics_linear_method(const struct model *model,
                                            enum dynamics_method asked);

/* Loads [axes] rows of [n], in: efforts whose size friction by load takes, out: the efforts
 * that the motion asks for by theta [p], biases included, under these. Slopes are those of a
 * parabola over half samples to either side. STATUS_E_MATH when that cannot be told. */
MUST_USE enum status dynamics_linear_ask(const struct model *model, const struct data_set *set,
                                         const double *theta, size_t p, size_t half,
                                         double *const *load);

#endif
