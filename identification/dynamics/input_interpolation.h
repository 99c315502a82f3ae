/* identification/dynamics/input_interpolation.h - what an effort does between two rows.
 *
 * A command is held until the next one; what a controller computed between two rows nobody
 * recorded, and their mean is nearer to it (docs/model/identification.md, "Between rows").
 */
#ifndef IDENTIFICATION_DYNAMICS_INPUT_INTERPOLATION_H
#define IDENTIFICATION_DYNAMICS_INPUT_INTERPOLATION_H

#include "base/text/names.h"
#include "identification/data/data_set.h"
#include "identification/dynamics/dynamics_options.h"

/* auto: what a simulation explains better, or a weak form where that explains too little. */
enum input_interpolation {
    INPUT_INTERPOLATION_ZOH,
    INPUT_INTERPOLATION_LINEAR,
    INPUT_INTERPOLATION_AUTO,
    INPUT_INTERPOLATION_COUNT
};
extern const struct names input_interpolation_names; /* "zoh", "linear", "auto" */

struct interpolation_choice {
    enum input_interpolation hold; /* ZOH or LINEAR */
    bool compared;                 /* residual_ratio is valid */
    double residual_ratio;         /* what LINEAR leaves unexplained, by what ZOH does */
};

/* Choose, and put the efforts of the table so that what holds them from sample to sample takes
 * them as chosen. STATUS_OK; STATUS_E_NOMEM; STATUS_E_STALE when
 * options->go_on said no. Where a comparison cannot be made it is zoh. Cold
 * path: allocates. */
MUST_USE enum status input_interpolation_choose(const struct model *model,
                                                struct data_table *table,
                                                const struct dynamics_options *options,
                                                enum input_interpolation asked,
                                                struct interpolation_choice *choice);

/* A note, where there was a choice and it was not zoh. */
void input_interpolation_report(struct dynamics_fit *fit,
                                const struct interpolation_choice *choice);

#endif
