/* identification/dynamics/dynamics_agreement.h - consistency of a fit between the parts of its
 * recording, and with recordings that it has not seen (docs/model/identification_theory.md,
 * "Tests"). Pure.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_AGREEMENT_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_AGREEMENT_H

#include "identification/data/data_set.h"
#include "identification/dynamics/dynamics_check.h"
#include "identification/fit/dynamics_fit.h"

/* Judges the differences between parts of the recording. If they exceed their errors and
 * matter, the fit becomes MARGINAL, with the likely cause and an experiment that decides. If
 * they are too small to matter, errors and intervals are widened instead. A constant effort
 * that was not fitted is judged the same way if it explains more. Returns true if it was
 * reported. */
bool dynamics_judge_parts(struct dynamics_fit *fit, const struct model *model,
                          const struct data_summary *summary, const struct dynamics_check *own);

/* Judges unmeasured forces against measured ones (pem). */
void dynamics_judge_forces(struct dynamics_fit *fit, const struct model *model,
                           const struct data_summary *summary,
                           const struct dynamics_check *own);

/* Judges a recording that was not fitted: size, mean and colour of the residuals per axis,
 * and the parameters that it would prefer. */
void dynamics_judge_held_out(struct dynamics_fit *fit, const struct model *model,
                             const struct dynamics_check *own,
                             const struct dynamics_check *held_out);

#endif
