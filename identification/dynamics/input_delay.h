/* identification/dynamics/input_delay.h - delay of the efforts, estimated by the weak form.
 *
 * If dry friction or a controller makes a simulation useless, the regression of the effort on
 * the motion still shows the delay: a wrong delay gives larger residuals (docs/model/joint.md).
 * Deterministic. Cold path: allocates through GSL.
 */
#ifndef IDENTIFICATION_DYNAMICS_INPUT_DELAY_H
#define IDENTIFICATION_DYNAMICS_INPUT_DELAY_H

#include "base/errors/status.h"
#include "identification/dynamics/dynamics_options.h"

/* Fits the weak form with the delay in [min_s, max_s], min_s < max_s, that gives the
 * smallest residuals. Errors include that of the delay. If there is no minimum inside the
 * range, fit->delay_s is NaN and efforts act at once. Returns as dynamics_linear_fit() does.
 * Cost: about 40 of its fits. */
MUST_USE enum status input_delay_fit(const struct model *model, const struct data_set *set,
                                     const struct dynamics_options *options, double min_s,
                                     double max_s, struct dynamics_fit *fit);

/* Adds the delay of a fit with its variance. slope [p] is the change of each estimate per
 * second of delay. The errors grow accordingly, and the verdict is renewed. */
void input_delay_widen(const struct model *model, const struct data_set *set, double delay_s,
                       double variance, const double *slope, struct dynamics_fit *fit);

#endif
