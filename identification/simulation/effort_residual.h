/* identification/simulation/effort_residual.h - efforts that a model of one axis leaves
 * unexplained while nothing is switched.
 *
 *     e = smooth(tau) - inverse(smooth(w), slope(w)),
 *     ratio = sqrt(mean e^2 - its part by noise of the velocity) / rms(tau)
 *                                         (docs/model/joint.md, "Unexplained efforts")
 *
 * Rows in which an effort changes, and those soon after, do not count. A delay, a lag or a
 * change between rows acts only there, so all of them leave the ratio near zero. Friction by
 * place or by load, a gain that changes and a torque ripple act everywhere. Pure: no I/O, no
 * clock. Cold path: allocates through GSL.
 */
#ifndef IDENTIFICATION_SIMULATION_EFFORT_RESIDUAL_H
#define IDENTIFICATION_SIMULATION_EFFORT_RESIDUAL_H

#include <stdbool.h>

#include "identification/data/data_set.h"
#include "identification/fit/dynamics_fit.h"

enum effort_residual_cause {
    EFFORT_RESIDUAL_TIME,  /* the effect of an effort differs between tenths of the time */
    EFFORT_RESIDUAL_PLACE, /* friction, load or gain repeat with the angle */
    EFFORT_RESIDUAL_LOAD,  /* friction by load */
    EFFORT_RESIDUAL_CAUSES /* none that explains half */
};

struct effort_residual {
    bool tried;        /* false: nothing is known about the recording */
    bool held;         /* efforts are commands that hold, not a controller's */
    size_t rows;       /* that count */
    double ratio;      /* unexplained, relative to the efforts' rms; NaN: too few rows */
    double seen_ratio; /* smallest ratio that would have been seen */
    enum effort_residual_cause cause;
    double share;  /* of the unexplained squares that the cause explains */
    double period; /* PLACE: length after which the effect repeats, rad or m */
};

/* late: the set with the delay of the fit. Returns STATUS_OK or STATUS_E_NOMEM. */
MUST_USE enum status effort_residual_find(const struct model *model,
                                          const struct dynamics_fit *fit,
                                          const struct data_set *late,
                                          struct effort_residual *out);

/* Adds a reason if the ratio is too large. A controller answers any disturbance, so that under
 * control a residual without a cause is no reason. */
void effort_residual_judge(struct dynamics_fit *fit, const struct model *model,
                           const struct effort_residual *residual);

#endif
