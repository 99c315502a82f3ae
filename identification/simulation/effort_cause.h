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

struct effort_cause {
    enum effort_effect effect; /* EFFORT_EFFECTS: none explains enough */
    double size;
    double share, chi2;    /* of the coloured residual that it explains, and significance */
    double coloured_share; /* of the residual, relative to the motion; the largest axis */
    double size_se;        /* of a lag */
    double slope[DYNAMICS_P_MAX];      /* change of the parameters per second of a lag */
    double response_s[MODEL_AXES_MAX]; /* time constants of the axes in motion */
    double lag_s;                      /* that the efforts already have; 0: none */
};

/* Analyses the residuals of a fit by output_error; one by another method, or one that explains
 * little, has no cause. budget may be NULL. Returns STATUS_OK or STATUS_E_NOMEM. Cold path:
 * allocates. */
MUST_USE enum status effort_cause_find(const struct model *model, const struct data_set *set,
                                       const struct dynamics_fit *fit,
                                       struct step_budget *budget, struct effort_cause *cause);

/* Replaces the efforts by those behind a lag: for each row the constant effort that moves an
 * axis with its time constant as far. tau: memory of the efforts [axes][n], may be that of the
 * set. */
void effort_lag_apply(const struct data_set *set, double lag_s, const double *response_s,
                      double *const *tau);

/* Adds the error of a fitted lag to those of the parameters. */
void effort_lag_widen(const struct model *model, const struct data_set *set,
                      const struct effort_cause *cause, struct dynamics_fit *fit);

/* Adds the findings to the verdict. */
void effort_cause_judge(const struct effort_cause *cause, struct dynamics_fit *fit);

#endif
