/* identification/model/allocation.h - a wanted effort shared out among actuators that have
 * limits.
 *
 *     tau = B f,   f = clip(B^+ tau_wanted)            (docs/model/following.md, eq. 5)
 *
 * Axes that no actuator reaches (the sway of a vessel whose thrusters push ahead) are left out
 * of the inverse and reported. Plain data. Pure: no I/O, no clock, no allocation.
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
    double effect[MODEL_AXES_MAX][ALLOCATION_ACTUATORS_MAX]; /* B: effort of each per unit */
    double inverse[ALLOCATION_ACTUATORS_MAX][MODEL_AXES_MAX];
    double lo[ALLOCATION_ACTUATORS_MAX], hi[ALLOCATION_ACTUATORS_MAX]; /* may be infinite */
    bool reaches[MODEL_AXES_MAX];
    bool underactuated; /* an axis is not reached */
};

/* An actuator on every axis, +-limit[i] (NULL or infinite: no limit). */
void allocation_direct(struct allocation *a, size_t axes, const double *limit);

/* From effect, lo, hi, axes and actuators, which are filled: inverse, reaches, underactuated.
 *
 * Returns STATUS_E_RANGE when the axes that are reached cannot be pushed independently of each
 * other, or a limit is on the wrong side of zero. */
MUST_USE enum status allocation_make(struct allocation *a);

/* force [actuators], in/out, is cut to the limits, what is no number to none; achieved [axes],
 * out, is the effort that comes of it. True when a limit cut something off. */
bool allocation_limit(const struct allocation *a, double *force, double *achieved);

/* force [actuators], within limits, and achieved [axes], the effort that comes of it; both out,
 * finite whatever wanted [axes] holds: what is no number counts as zero. True when a limit cut
 * something off. */
bool allocation_share(const struct allocation *a, const double *wanted, double *force,
                      double *achieved);

#endif
