/* identification/dynamics/dynamics_change.h - what changed from the fits of one robot to a
 * later one (docs/model/online.md, section 3).
 *
 *     d = theta - theta_0,   W = (C + C_0)^-1,   d' W d,   (u' W d)^2 / (u' W u)
 *
 * A change shows in one direction u: a parameter alone, or all masses by one factor, which is a
 * payload. Pure but for GSL's allocations where an inverse does not come about by itself.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_CHANGE_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/dynamics_fit.h"

enum {
    DYNAMICS_PAYLOAD = DYNAMICS_P_MAX, /* stands for a parameter: all masses by one factor */
    DYNAMICS_CHANGES_MAX = 4
};

/* The mean of fits that agree. Plain data. */
struct dynamics_reference {
    size_t count; /* fits; 0: there is none */
    size_t p;     /* parameters and biases */
    double value[DYNAMICS_P_MAX];
    double covariance[DYNAMICS_P_MAX][DYNAMICS_P_MAX];
};

struct dynamics_change {
    size_t count;     /* 0: nothing changed */
    double statistic; /* chi squared of df when nothing did */
    size_t df;
    /* The parameters that explain it, the one that explains most first; a payload goes from 1
     * to its factor. z: of it, before those that come after it are allowed for. */
    size_t parameter[DYNAMICS_CHANGES_MAX];
    double before[DYNAMICS_CHANGES_MAX], after[DYNAMICS_CHANGES_MAX], z[DYNAMICS_CHANGES_MAX];
    double after_se[DYNAMICS_CHANGES_MAX];
};

/* moved [DYNAMICS_PAYLOAD + 1]: 1, -1 for what was told to rise, to fall and may go on doing
 * so; NULL: nothing. level: the chance that a change is told where there is none. A change by
 * less than ratio of its value does not matter. False: these cannot be compared. */
bool dynamics_change_find(const struct model *model, const struct dynamics_reference *reference,
                          const struct dynamics_reference *newer, const signed char *moved,
                          double level, double ratio, struct dynamics_change *out);

/* One fit, of which every parameter and error is known; else count is 0. */
void dynamics_reference_take(struct dynamics_reference *reference, const struct estimate *e);
/* With one more that it agrees with. */
void dynamics_reference_join(struct dynamics_reference *reference,
                             const struct dynamics_reference *newer);

#endif
