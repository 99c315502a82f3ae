/* identification/dynamics/equation_parts.h - consistency of the parts of a recording, for a fit
 * by regression.
 *
 *     theta_b = theta + (sum Phi' Phi)^-1 sum Phi' (tau - Phi theta)
 *     over the windows of part b              (docs/model/identification_theory.md, "Tests")
 *
 * If a joint sticks or is controlled, the residuals of a simulation are autocorrelated over the
 * whole recording, but those of a weak form's equations are not. Pure: no I/O, no clock. Cold
 * path: allocates through GSL while it runs.
 */
#ifndef IDENTIFICATION_DYNAMICS_EQUATION_PARTS_H
#define IDENTIFICATION_DYNAMICS_EQUATION_PARTS_H

#include "identification/data/data_set.h"
#include "identification/fit/dynamics_fit.h"
#include "identification/simulation/stability.h"

/* Replaces the parts of *stability, and the estimate of the whole set, by those of the
 * equations of weak. set: with delayed efforts. Tests of constant efforts and innovations
 * are unchanged. Returns STATUS_E_NOMEM, STATUS_E_MATH; *stability is written only on
 * STATUS_OK. */
MUST_USE enum status equation_parts_find(const struct model *model,
                                         const struct dynamics_fit *fit,
                                         const struct data_set *set,
                                         struct stability *stability);

#endif
