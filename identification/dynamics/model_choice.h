/* identification/dynamics/model_choice.h - choice among models of one form.
 *
 * They differ in a constant that no regression can find: the speed at which dry friction turns
 * over (docs/model/joint.md), or the distance of rubbing wheels
 * (docs/model/velocity_dynamics.md). Cold path: allocates through GSL.
 */
#ifndef IDENTIFICATION_DYNAMICS_MODEL_CHOICE_H
#define IDENTIFICATION_DYNAMICS_MODEL_CHOICE_H

#include <stddef.h>

#include "base/errors/status.h"
#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"
#include "identification/dynamics/dynamics_linear.h"

/* Chooses the first of count >= 1 variants, from narrow to wide, that explains the efforts
 * within 2 % of the best one. Candidates are wider than the noise and slow enough for the
 * samples; without a candidate the last one is chosen. Of variants without velocities, the
 * best one is chosen, or the first if no other is better. Compares weak forms. Returns as
 * dynamics_linear_fit(). */
MUST_USE enum status model_choose(const struct model_variant *variants, size_t count,
                                  const struct data_set *set,
                                  const struct dynamics_options *options, size_t *chosen);

/* Tunes the model's width (> 0) so that simulation explains the recording best: golden
 * section from 1/1.4 to 1.4 times the width, to 0.3 %, on the 1500 samples with the largest
 * changes of effort. Leaves the width unchanged if it is 0 or nothing can be simulated.
 * Returns STATUS_OK, STATUS_E_NOMEM. */
MUST_USE enum status model_tune(const struct data_set *set,
                                const struct dynamics_options *options, struct model *model);

#endif
