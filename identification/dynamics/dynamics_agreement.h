/* identification/dynamics/dynamics_agreement.h - whether a fit agrees with itself, part by
 * part, and with recordings that it has not seen (docs/model/identification_theory.md,
 * "Tests"). Pure.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_AGREEMENT_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_AGREEMENT_H

#include "identification/data/data_set.h"
#include "identification/dynamics/dynamics_check.h"
#include "identification/fit/dynamics_fit.h"

/* Parts of the recording that differ by more than their errors are a reason for MARGINAL, with
 * the cause that the difference points to and the experiment that decides; where the difference
 * is too small to matter, errors and intervals are widened by it instead. So is a constant
 * effort that was not fitted, where that explains more: true when that was told. */
bool dynamics_judge_parts(struct dynamics_fit *fit, const struct model *model,
                          const struct data_summary *summary, const struct dynamics_check *own);

/* Forces that nobody measured, held against those that were (pem). */
void dynamics_judge_forces(struct dynamics_fit *fit, const struct model *model,
                           const struct data_summary *summary,
                           const struct dynamics_check *own);

/* A recording that was not fitted: size, bias and colour of what the fit leaves there, axis by
 * axis, and where it would have the parameters. */
void dynamics_judge_held_out(struct dynamics_fit *fit, const struct model *model,
                             const struct dynamics_check *own,
                             const struct dynamics_check *held_out);

#endif
