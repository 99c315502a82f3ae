/* identification/simulation/effort_cause.h - a lag of the efforts, or a drift, that a simulated
 * model lacks.
 *
 * A motor's current, a filter or a field bus lets an effort act through a lag. Friction falls
 * as a joint warms up, a load changes, a supply sags. Each is fitted together with all
 * parameters and the delay; the one that explains most of a coloured residual counts
 * (docs/model/joint.md, "Lags and drifts").
 */
#ifndef IDENTIFICATION_SIMULATION_EFFORT_CAUSE_H
#define IDENTIFICATION_SIMULATION_EFFORT_CAUSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"
#include "identification/data/trajectory.h"
#include "identification/fit/dynamics_fit.h"

enum effort_effect {
    EFFORT_LAG,            /* s */
    EFFORT_DRIFTS,         /* ratio, from the first row to the last */
    EFFORT_INERTIA_DRIFTS, /* the same; joints only */
    EFFORT_DRAG_DRIFTS,    /* of viscous friction; joints only */
    EFFORT_EFFECTS         /* none */
};

/* Efforts that act late. */
struct effort_lag {
    double lag_s, delay_s;            /* lag_s 0: none */
    double lag_se_s;                  /* error of the lag */
    double slope[DYNAMICS_P_MAX + 1]; /* change of parameters and delay per second of the lag */
    double response_s[MODEL_AXES_MAX]; /* time constants of the axes in motion */
    double before[MODEL_AXES_MAX];     /* efforts that act at the first row */
    bool at_rest[DATA_RUNS_MAX];       /* no effort acted before a later run */
};

struct effort_cause {
    enum effort_effect effect; /* EFFORT_EFFECTS: none explains enough */
    double size;
    double share, chi2;    /* of the coloured residual that it explains, and significance */
    struct effort_lag lag; /* if that is the effect */
};

/* Analyses the residuals of a fit by output_error; one by another method, or one that explains
 * little, has no cause. budget may be NULL. Returns STATUS_OK or STATUS_E_NOMEM. Cold path:
 * allocates. */
MUST_USE enum status effort_cause_find(const struct model *model, const struct data_set *set,
                                       const struct dynamics_fit *fit,
                                       struct step_budget *budget, struct effort_cause *cause);

/* Lets the efforts of a table act behind a delay and a lag: in each row with the constant
 * effort that moves an axis with its time constant as far. Returns STATUS_OK or STATUS_E_NOMEM.
 */
MUST_USE enum status effort_lag_apply(struct data_table *table, const struct effort_lag *lag);

/* Adds the error of a fitted lag to those of the parameters and of the delay. */
void effort_lag_widen(const struct model *model, const struct data_set *set,
                      const struct effort_lag *lag, struct dynamics_fit *fit);

/* Adds the findings to the verdict; lag: the one that the efforts have. */
void effort_cause_judge(const struct model *model, const struct effort_cause *cause,
                        const struct effort_lag *lag, struct dynamics_fit *fit);

#endif
