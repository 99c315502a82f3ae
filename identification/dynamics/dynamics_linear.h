/* identification/dynamics/dynamics_linear.h - dynamics by linear regression.
 *
 *     Phi(nu, nu_dot) theta + bias = tau       (docs/model/identification_theory.md, eq. 1)
 *
 * ols_central, ols_sg: use derivatives of measured velocities. Noise biases them; they are kept
 * for comparison. weak: integrals over a smooth window replace derivatives. weak_iv: adds
 * instruments from the simulated model, which remove the bias due to noise in the regressors.
 * Deterministic. Cold path: allocates through GSL while it runs and frees all of it.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_LINEAR_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_LINEAR_H

#include "base/errors/status.h"
#include "identification/dynamics/dynamics_options.h"

/* Fits. Too few or one-sided data give FAIL or MARGINAL with reasons, not an error.
 *
 * Returns STATUS_E_ARG for an option out of range, for a method that is not linear, or for a
 * set without the pose that the model needs; STATUS_E_NOMEM; STATUS_E_MATH if numbers
 * overflow. *fit is written only on STATUS_OK. Cost O(n p^2) and two passes, plus
 * iv_iterations passes for weak_iv. */
MUST_USE enum status dynamics_linear_fit(const struct model *model, const struct data_set *set,
                                         enum dynamics_method method,
                                         const struct dynamics_options *options,
                                         struct dynamics_fit *fit);

/* Returns the method that dynamics_linear_fit() uses for a requested one. Weak forms move
 * the derivative to their window, which requires a constant inertia. Other models get
 * ols_sg, and the fit says so. */
enum dynamics_method dynamics_linear_method(const struct model *model,
                                            enum dynamics_method asked);

/* load [axes] rows of [n]: in, efforts whose size friction by load uses; out, the efforts
 * that the motion requires under theta [p], including biases. Slopes come from a parabola
 * over half samples to either side. Returns STATUS_E_MATH if these cannot be computed. */
MUST_USE enum status dynamics_linear_ask(const struct model *model, const struct data_set *set,
                                         const double *theta, size_t p, size_t half,
                                         double *const *load);

#endif
