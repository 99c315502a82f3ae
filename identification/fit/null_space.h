/* identification/fit/null_space.h - what the data leave free, and what they determine all the
 * same, in names. Pure, no allocation. */
#ifndef IDENTIFICATION_FIT_NULL_SPACE_H
#define IDENTIFICATION_FIT_NULL_SPACE_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/fit/dynamics_fit.h"

/* Parameters, biases, delay. */
enum { NULL_SPACE_MAX = DYNAMICS_P_MAX + 1 };

/* Of unknowns whose columns were scaled to unit length. */
struct null_space {
    size_t p, count;
    /* A basis made readable by elimination: each direction has an unknown of its own, its
     * pivot, where it is 1 and the others are 0. */
    double direction[NULL_SPACE_MAX][NULL_SPACE_MAX];
    size_t pivot[NULL_SPACE_MAX];
    bool open[NULL_SPACE_MAX]; /* takes part in a direction */
};

/* The unknowns that it is about, in their own units. */
struct null_parameters {
    const struct model *model;
    size_t index[NULL_SPACE_MAX];  /* entry of theta; the fit's p stands for the delay */
    double length[NULL_SPACE_MAX]; /* of the column; 0: it is empty */
    double value[NULL_SPACE_MAX];
    double covariance[NULL_SPACE_MAX][NULL_SPACE_MAX];
};

/* From right singular vectors v [p x p], one a column, those beyond rank being null. */
void null_space_find(struct null_space *space, const double *v, size_t p, size_t rank);

/* nulls, in names and in words, and combinations of the fit. A combination takes one unknown
 * and as much of the pivots as no direction changes. */
void null_space_report(const struct null_space *space,
                       const struct null_parameters *free_parameters, struct dynamics_fit *fit);

#endif
