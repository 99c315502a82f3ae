/* identification/fit/null_space.h - directions that the data leave free, and combinations that
 * they determine, by name. Pure, no allocation.
 */
#ifndef IDENTIFICATION_FIT_NULL_SPACE_H
#define IDENTIFICATION_FIT_NULL_SPACE_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/fit/dynamics_fit.h"

/* Number of parameters, biases and delay. */
enum { NULL_SPACE_MAX = DYNAMICS_P_MAX + 1 };

/* Null space of unknowns whose columns were scaled to unit length. */
struct null_space {
    size_t p, count;
    /* A readable basis by elimination: each direction has an unknown of its own, its pivot.
     * There it is 1, and the other directions are 0. */
    double direction[NULL_SPACE_MAX][NULL_SPACE_MAX];
    size_t pivot[NULL_SPACE_MAX];
    bool open[NULL_SPACE_MAX]; /* the unknown occurs in a direction */
};

/* The unknowns of the null space, in their own units. */
struct null_parameters {
    const struct model *model;
    size_t index[NULL_SPACE_MAX];  /* entry of theta; the fit's p means the delay */
    double length[NULL_SPACE_MAX]; /* length of the column; 0: empty */
    double value[NULL_SPACE_MAX];
    double covariance[NULL_SPACE_MAX][NULL_SPACE_MAX];
};

/* Finds the null space from right singular vectors v [p x p], one per column; those beyond
 * rank are null. */
void null_space_find(struct null_space *space, const double *v, size_t p, size_t rank);

/* Writes nulls, by name and with common names, and combinations to the fit. A combination
 * consists of one unknown and pivots, with factors such that no null direction changes it. */
void null_space_report(const struct null_space *space,
                       const struct null_parameters *free_parameters, struct dynamics_fit *fit);

#endif
