/* identification/simulation/channel_cause.h - the effect that a channel's residual shows, found
 * by refits.
 *
 * If a residual is coloured, each effect of channel_response.h is fitted together with gain,
 * lag and delay. The one that explains most of the colour is the cause
 * (docs/model/first_order.md, "Causes"). Unknown times of the commands (input_phase.h) explain
 * some colour, too.
 */
#ifndef IDENTIFICATION_SIMULATION_CHANNEL_CAUSE_H
#define IDENTIFICATION_SIMULATION_CHANNEL_CAUSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"
#include "identification/fit/dynamics_fit.h"
#include "identification/simulation/channel_response.h"

enum channel_finding {
    CHANNEL_WHITE,        /* chance explains the colour */
    CHANNEL_SMALL,        /* coloured, but by little */
    CHANNEL_ROW_PHASE,    /* commands change somewhere in their rows */
    CHANNEL_DELAY_VARIES, /* from command to command, by more than a row */
    CHANNEL_EFFECT,       /* one effect explains it */
    CHANNEL_GAIN_VARIES,  /* the residual grows with the motion, now one way, now the other */
    CHANNEL_UNNAMED       /* coloured by more, and nothing that was tried explains it */
};

struct channel_cause {
    enum channel_finding finding;
    double coloured_share; /* of the residual, relative to the sd of the motion */
    double share, chi2;    /* of the colour that the effect explains, and its significance */
    struct channel_values base, with; /* without and with the effect that explains most */
    /* Nothing else explains the colour: normal score of a gain that varies, and its sd. */
    double gain_varies_z, gain_varies;
    double command_max, dt_s;
};

/* Results for all axes of a fit by output_error. */
struct channel_causes {
    size_t count; /* axes; 0: the model has no channels, or the fit is no basis */
    struct channel_cause axis[MODEL_AXES_MAX];
};

/* Returns STATUS_OK or STATUS_E_NOMEM. Cold path: allocates. Cost: some thousand simulations of
 * each channel that is coloured. */
MUST_USE enum status channel_causes_find(const struct model *model, const struct data_set *set,
                                         const struct dynamics_fit *fit,
                                         struct channel_causes *causes);

/* Returns whether some colour remains that no cause explains. */
bool channel_causes_unnamed(const struct channel_causes *causes);

/* Adds the findings to the verdict. */
void channel_causes_judge(const struct model *model, const struct channel_causes *causes,
                          struct dynamics_fit *fit);

#endif
