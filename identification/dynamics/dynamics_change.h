/* identification/dynamics/dynamics_change.h - changes between earlier fits of a robot and a
 * later one (docs/model/online.md).
 *
 *     d = theta - theta_0,   W = (C + C_0)^-1,   d' W d,   (u' W d)^2 / (u' W u)
 *
 * The first statistic tests for any change, the second for a change along a direction u.
 * Directions are: one parameter; all masses by one factor (a payload); all parameters of one
 * axis by one factor (a different effect of its effort). The covariance is estimated from the
 * samples, so the statistics have F distributions instead of chi squared. Directions are
 * removed greedily, one by one, until the rest is explained by chance. Pure; GSL allocates only
 * if an SVD does not converge.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_CHANGE_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/fit/dynamics_fit.h"

enum {
    /* Directions that are no single parameter: all masses by one factor; the effect of an
     * effort, per axis. */
    DYNAMICS_PAYLOAD = DYNAMICS_P_MAX,
    DYNAMICS_EFFECT,
    DYNAMICS_DIRECTIONS = DYNAMICS_EFFECT + MODEL_AXES_MAX,
    DYNAMICS_CHANGES_MAX = 4
};

/* Mean of fits that agree. Plain data. */
struct dynamics_reference {
    size_t count;   /* number of fits; 0: none */
    size_t p;       /* number of parameters and biases */
    double freedom; /* > 0, degrees of freedom of the covariance */
    double value[DYNAMICS_P_MAX];
    double covariance[DYNAMICS_P_MAX][DYNAMICS_P_MAX];
};

struct dynamics_change {
    size_t count; /* number of changes; 0: none */
    /* The parameters that explain the change, strongest first. A payload and the effect of
     * an effort go from 1 to their factor. z: the change in standard errors, before later
     * ones are taken into account. rival: another parameter that explains nearly as much;
     * DYNAMICS_DIRECTIONS: none. */
    size_t parameter[DYNAMICS_CHANGES_MAX], rival[DYNAMICS_CHANGES_MAX];
    double before[DYNAMICS_CHANGES_MAX], after[DYNAMICS_CHANGES_MAX], z[DYNAMICS_CHANGES_MAX];
    double after_se[DYNAMICS_CHANGES_MAX];
};

/* Writes the name and returns it: "surge_mass_kg", "payload", "effect of tau_u_n". */
const char *dynamics_change_name(const struct model *model, size_t parameter, char *text,
                                 size_t text_bytes);

/* Compares a newer fit with a reference. moved [DYNAMICS_DIRECTIONS]: 1, -1 for parameters
 * reported to rise or fall, which may continue to do so; NULL: none. level: probability of a
 * false report. ratio: relative changes below it do not matter. Returns false if the two
 * cannot be compared. */
bool dynamics_change_find(const struct model *model, const struct dynamics_reference *reference,
                          const struct dynamics_reference *newer, const signed char *moved,
                          double level, double ratio, struct dynamics_change *out);

/* Makes a reference from one fit whose parameters and errors are all known; otherwise count
 * is 0. The noise variance of pem, a maximum likelihood estimate, is corrected for the
 * number of parameters. */
void dynamics_reference_from_fit(struct dynamics_reference *reference,
                                 const struct dynamics_fit *fit);
/* Adds a fit that agrees with the reference. */
void dynamics_reference_join(struct dynamics_reference *reference,
                             const struct dynamics_reference *newer);

#endif
