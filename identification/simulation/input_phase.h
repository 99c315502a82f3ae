/* identification/simulation/input_phase.h - when efforts changed that are first seen at a row.
 *
 *     shift_j ~ N(0, ratio^2 row_j^2 / 12)          (docs/model/output_error.md, "Row phases")
 *
 * An effort that is first seen at a row changed somewhere in the interval before it. The time
 * of each change is fitted together with parameters, delay and initial velocities, for any
 * model that is simulated. If such times explain the colour of the residual, the efforts get
 * them, and the model is fitted again.
 */
#ifndef IDENTIFICATION_SIMULATION_INPUT_PHASE_H
#define IDENTIFICATION_SIMULATION_INPUT_PHASE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"
#include "identification/data/trajectory.h"
#include "identification/fit/dynamics_fit.h"

struct input_phases {
    size_t count;       /* changes whose times were fitted; 0: none */
    double ratio;       /* sd of these times, relative to times anywhere within the rows */
    double spread_s;    /* sd of these times */
    double share, chi2; /* of the coloured residual that they explain, and significance */
    double news_chi2;   /* significance by what earlier residuals do not predict */
    /* Growth of the covariance of parameters, biases and delay, because times are unknown. */
    double growth[DYNAMICS_P_MAX + 1][DYNAMICS_P_MAX + 1];
    bool within_row; /* they explain most of the colour, and lie within rows */
    bool vary;       /* the same, but over more than a row; the residual has fewer news, too */
};

/* Finds the times of the changes from a fit by simulation; of_set: its initial velocities are
 * those of this set. budget may be NULL. shift_s [axes * n], out, a * n + k: additional delay
 * of the change of axis a at row k. A fit that explains little, or whose residual chance
 * explains, has no phases. Returns STATUS_OK or STATUS_E_NOMEM. Cold path: allocates. */
MUST_USE enum status input_phases_find(const struct model *model, const struct data_set *set,
                                       const struct dynamics_fit *fit, bool of_set,
                                       struct step_budget *budget, double *shift_s,
                                       struct input_phases *phases);

/* Gives the efforts of a table these times. Returns STATUS_OK or STATUS_E_NOMEM. */
MUST_USE enum status input_phases_apply(struct data_table *table, const double *shift_s);

/* Adds the growth to the errors of a fit with these times. */
void input_phases_widen(const struct input_phases *phases, const struct model *model,
                        const struct data_set *set, struct dynamics_fit *fit);

/* Adds a note, or the reason that delays vary. */
void input_phases_judge(const struct input_phases *phases, struct dynamics_fit *fit);

#endif
