/* identification/dynamics/model_choice.h - which of several models of one form suits a
 * recording.
 *
 * They differ in what no regression can find: how fast dry friction turns over
 * (docs/model/joint.md), how far apart the wheels are that rub
 * (docs/model/velocity_dynamics.md). Cold path: allocates through GSL.
 */
#ifndef IDENTIFICATION_DYNAMICS_MODEL_CHOICE_H
#define IDENTIFICATION_DYNAMICS_MODEL_CHOICE_H

#include <stddef.h>

#include "base/errors/status.h"
#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"
#include "identification/dynamics/dynamics_linear.h"

/* The first of count >= 1 variants, from narrow to wide, that explains the efforts within 2 %
 * of the best one, among those wider than noise and still slow enough for the samples; the last
 * one where there is none. Of variants without velocities the best one, the first where no
 * other is better. Compares weak forms. Returns as dynamics_linear_fit(). */
MUST_USE enum status model_choose(const struct model_variant *variants, size_t count,
                                  const struct data_set *set,
                                  const struct dynamics_options *options, size_t *chosen);

/* Its width, > 0, moved to where simulation explains the recording best: by the golden section
 * from 1/1.4 to 1.4 times it, to 0.3 %, on the busiest 1500 samples. Left as it is: width 0, and
 * where nothing can be simulated. STATUS_OK, STATUS_E_NOMEM. */
MUST_USE enum status model_tune(const struct data_set *set,
                                const struct dynamics_options *options, struct model *model);

#endif
