/* identification/dynamics/equation_parts.h - whether the parts of a recording agree about the
 * parameters, for a fit by regression.
 *
 *     theta_b = theta + (sum Phi' Phi)^-1 sum Phi' (tau - Phi theta), over the windows of part
 * b (docs/model/identification_theory.md, "Tests")
 *
 * What simulation leaves of a joint that sticks or is controlled hangs together for as long as
 * the recording; the equations of a weak form do not. Pure: no I/O, no clock. Cold path:
 * allocates through GSL while it runs.
 */
#ifndef IDENTIFICATION_DYNAMICS_EQUATION_PARTS_H
#define IDENTIFICATION_DYNAMICS_EQUATION_PARTS_H

#include "identification/data/data_set.h"
#include "identification/fit/dynamics_fit.h"
#include "identification/simulation/stability.h"

/* The parts of *stability, and what all of the set asks for, anew by the equations of a fit by
 * `weak`; set: with efforts as late as they act. What concerns constant efforts and innovations
 * stays. STATUS_E_NOMEM, STATUS_E_MATH; *stability is written on STATUS_OK only. */
MUST_USE enum status equation_parts_find(const struct model *model,
                                         const struct dynamics_fit *fit,
                                         const struct data_set *set,
                                         struct stability *stability);

#endif
