/* identification/dynamics/dynamics_change.h - what changed from the fits of one robot to a
 * later one (docs/model/online.md).
 *
 *     d = theta - theta_0,   W = (C + C_0)^-1,   d' W d,   (u' W d)^2 / (u' W u)
 *
 * C is as large as the fit's noise, which its samples told: F distributions, not chi squared.
 * A change shows in one direction u: a parameter alone; all masses by one factor, which is a
 * payload; all that no other axis knows by one factor, which is an effort that is worth more or
 * less than told. Pure but for GSL's allocations where an inverse does not come about by
 * itself.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_CHANGE_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/fit/dynamics_fit.h"

enum {
    /* Stand for a parameter: all masses by one factor; what an effort is worth, by axis. */
    DYNAMICS_PAYLOAD = DYNAMICS_P_MAX,
    DYNAMICS_EFFECT,
    DYNAMICS_DIRECTIONS = DYNAMICS_EFFECT + MODEL_AXES_MAX,
    DYNAMICS_CHANGES_MAX = 4
};

/* The mean of fits that agree. Plain data. */
struct dynamics_reference {
    size_t count;   /* fits; 0: there is none */
    size_t p;       /* parameters and biases */
    double freedom; /* > 0: of what says how large the covariance is */
    double value[DYNAMICS_P_MAX];
    double covariance[DYNAMICS_P_MAX][DYNAMICS_P_MAX];
};

struct dynamics_change {
    size_t count;     /* 0: nothing changed */
    double statistic; /* when nothing did, over df: F of df and freedom */
    size_t df;
    double freedom;
    /* The parameters that explain it, the one that explains most first; a payload, and what an
     * effort is worth, go from 1 to their factor. z: of it, before those that come after it are
     * allowed for. rival: another one that explains nearly as much; DYNAMICS_DIRECTIONS: none.
     */
    size_t parameter[DYNAMICS_CHANGES_MAX], rival[DYNAMICS_CHANGES_MAX];
    double before[DYNAMICS_CHANGES_MAX], after[DYNAMICS_CHANGES_MAX], z[DYNAMICS_CHANGES_MAX];
    double after_se[DYNAMICS_CHANGES_MAX];
};

/* "surge_mass_kg", "payload", "effect of tau_u_n". */
const char *dynamics_change_name(const struct model *model, size_t parameter, char *text,
                                 size_t text_bytes);

/* moved [DYNAMICS_DIRECTIONS]: 1, -1 for what was told to rise, to fall and may go on doing
 * so; NULL: nothing. level: the chance that a change is told where there is none. A change by
 * less than ratio of its value does not matter. False: these cannot be compared. */
bool dynamics_change_find(const struct model *model, const struct dynamics_reference *reference,
                          const struct dynamics_reference *newer, const signed char *moved,
                          double level, double ratio, struct dynamics_change *out);

/* One fit, of which every parameter and error is known; else count is 0. What pem's likelihood
 * takes from its noise for the sake of the parameters is given back. */
void dynamics_reference_from_fit(struct dynamics_reference *reference,
                                 const struct dynamics_fit *fit);
/* With one more that it agrees with. */
void dynamics_reference_join(struct dynamics_reference *reference,
                             const struct dynamics_reference *newer);

#endif
