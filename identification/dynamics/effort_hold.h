/* identification/dynamics/effort_hold.h - what an effort does between two rows.
 *
 * A command is held until the next one; what a controller computed between two rows nobody
 * recorded, and their mean is nearer to it (docs/model/identification.md, "Between rows").
 */
#ifndef IDENTIFICATION_DYNAMICS_EFFORT_HOLD_H
#define IDENTIFICATION_DYNAMICS_EFFORT_HOLD_H

#include "base/text/names.h"
#include "identification/data/data_set.h"
#include "identification/dynamics/dynamics_options.h"

/* auto: what a simulation explains better, or a weak form where that explains too little. */
enum effort_hold { EFFORT_HOLD_ZOH, EFFORT_HOLD_LINEAR, EFFORT_HOLD_AUTO, EFFORT_HOLD_COUNT };
extern const struct names effort_hold_names; /* "zoh", "linear", "auto" */

struct effort_choice {
    enum effort_hold hold; /* ZOH or LINEAR */
    bool compared;         /* left_ratio is valid */
    double left_ratio;     /* what LINEAR leaves unexplained, by what ZOH does */
};

/* Choose, and put the efforts of the table so that what holds them from sample to sample takes
 * them as chosen. STATUS_OK; STATUS_E_NOMEM; STATUS_E_STALE when
 * options->go_on said no. Where a comparison cannot be made it is zoh. Cold
 * path: allocates. */
MUST_USE enum status effort_hold_take(const struct model *model, struct data_table *table,
                                      const struct dynamics_options *options,
                                      enum effort_hold asked, struct effort_choice *choice);

/* A note, where there was a choice and it was not zoh. */
void effort_hold_tell(struct dynamics_fit *fit, const struct effort_choice *choice);

#endif
