/* identification/model/allocation.h - distribution of a wanted effort over actuators with
 * limits.
 *
 *     tau = B f,   f = clip(B^+ tau_wanted)            (docs/model/following.md, eq. 5)
 *
 * The inverse leaves out axes that no actuator reaches, such as the sway of a vessel with
 * forward thrusters, and reports them. Plain data. Pure: no I/O, no clock, no allocation.
 */
#ifndef IDENTIFICATION_MODEL_ALLOCATION_H
#define IDENTIFICATION_MODEL_ALLOCATION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "identification/data/linear_model.h"

enum { ALLOCATION_ACTUATORS_MAX = 8 };

struct allocation {
    size_t axes, actuators;
    /* B: effort per unit of each actuator. */
    double effect[MODEL_AXES_MAX][ALLOCATION_ACTUATORS_MAX];
    double inverse[ALLOCATION_ACTUATORS_MAX][MODEL_AXES_MAX];
    double lo[ALLOCATION_ACTUATORS_MAX], hi[ALLOCATION_ACTUATORS_MAX]; /* may be infinite */
    bool reaches[MODEL_AXES_MAX];
    bool underactuated; /* true if no actuator reaches some axis */
};

/* One actuator on every axis with the limits +-limit[i] (NULL or infinite: no limit). */
void allocation_direct(struct allocation *a, size_t axes, const double *limit);

/* Computes inverse, reaches and underactuated from effect, lo, hi, axes and actuators.
 *
 * Returns STATUS_E_RANGE if the reached axes cannot be driven independently, or if a limit
 * has the wrong sign. */
MUST_USE enum status allocation_make(struct allocation *a);

/* Cuts force [actuators], in/out, to the limits; a NaN becomes zero. achieved [axes], out:
 * the resulting effort. Returns true if a limit cut something off. */
bool allocation_limit(const struct allocation *a, double *force, double *achieved);

/* Computes force [actuators] within the limits and the resulting effort achieved [axes].
 * Both are finite for any wanted [axes]: a NaN counts as zero. Returns true if a limit cut
 * something off. */
bool allocation_share(const struct allocation *a, const double *wanted, double *force,
                      double *achieved);

#endif
