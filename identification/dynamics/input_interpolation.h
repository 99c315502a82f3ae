/* identification/dynamics/input_interpolation.h - effort between two rows: held or
 * interpolated.
 *
 * A command is held until the next one. The output of a controller between two rows is not
 * recorded; the mean of both rows is nearer to it (docs/model/identification.md, "Between
 * rows").
 */
#ifndef IDENTIFICATION_DYNAMICS_INPUT_INTERPOLATION_H
#define IDENTIFICATION_DYNAMICS_INPUT_INTERPOLATION_H

#include "base/text/names.h"
#include "identification/data/data_set.h"
#include "identification/dynamics/dynamics_options.h"

/* auto: chosen by simulation, or by a weak form if a simulation explains too little. */
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
    double residual_ratio;         /* residuals with LINEAR relative to those with ZOH */
};

/* Chooses, and changes the efforts of the table accordingly, so that code for held efforts
 * is right. Returns STATUS_OK, STATUS_E_NOMEM, or STATUS_E_STALE if options->go_on returned
 * false. If no comparison is possible, the choice is zoh. Cold path: allocates. */
MUST_USE enum status input_interpolation_choose(const struct model *model,
                                                struct data_table *table,
                                                const struct dynamics_options *options,
                                                enum input_interpolation asked,
                                                struct interpolation_choice *choice);

/* Adds a note if there was a choice and it was not zoh. */
void input_interpolation_report(struct dynamics_fit *fit,
                                const struct interpolation_choice *choice);

#endif
