/* identification/dynamics/input_delay.h - how late efforts act, by what the weak form leaves.
 *
 * Where dry friction or a controller keeps a simulation from telling, the regression of the
 * effort on the motion does: of efforts put off by too much or too little it leaves more
 * (docs/model/joint.md). Deterministic. Cold path: allocates through GSL.
 */
#ifndef IDENTIFICATION_DYNAMICS_INPUT_DELAY_H
#define IDENTIFICATION_DYNAMICS_INPUT_DELAY_H

#include "base/errors/status.h"
#include "identification/dynamics/dynamics_options.h"

/* The weak form with efforts as late as leaves least, in [min_s, max_s], min_s < max_s; errors
 * hold that of the delay. fit->delay_s is NaN, and the fit that of efforts which act at once,
 * where nothing in between leaves least. Returns as dynamics_linear_fit() does. Cost: some 40
 * of its fits. */
MUST_USE enum status input_delay_fit(const struct model *model, const struct data_set *set,
                                     const struct dynamics_options *options, double min_s,
                                     double max_s, struct dynamics_fit *fit);

/* The delay that a fit was found with comes with its variance, and by slope [p] estimates grow
 * with it: both into fit, and what rests on its errors is judged anew. */
void input_delay_widen(const struct model *model, const struct data_set *set, double delay_s,
                       double variance, const double *slope, struct dynamics_fit *fit);

#endif
