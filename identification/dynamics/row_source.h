/* identification/dynamics/row_source.h - equations of a linear fit, block by block.
 *
 * The methods ols_central, ols_sg and weak differ only in these equations
 * (docs/model/identification_theory.md, "Equations"). A block is stored by columns, which
 * speeds up sums over equations, and only with entries that can be nonzero. Cold path:
 * allocates through GSL.
 */
#ifndef IDENTIFICATION_DYNAMICS_ROW_SOURCE_H
#define IDENTIFICATION_DYNAMICS_ROW_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include <gsl/gsl_vector.h>

#include "identification/dynamics/dynamics_options.h"
#include "identification/numeric/local_polynomial.h"

enum { ROW_SG_MAX = LOCAL_POLYNOMIAL_MAX };

/* Largest number of equations per axis in a block. */
enum { ROW_BLOCK = MODEL_BLOCK };

struct row_source {
    const struct model *model;
    const struct data_set *set;
    enum dynamics_method method; /* WEAK_IV counts as WEAK */
    size_t p;                    /* number of unknowns: parameters, then biases */
    size_t half, stride;         /* samples before and after; distance of equations */
    /* weak: efforts whose size friction by load multiplies, [n]. Initially the efforts of
     * the set; the caller may replace them before row_source_rewind(). */
    const double *load[MODEL_AXES_MAX];

    /* Entries of Phi that can be nonzero, axis by axis, with the unknown that each
     * multiplies. Entries of axis a are axis_start[a] .. axis_start[a + 1] - 1. */
    size_t column[MODEL_AXES_MAX * (MODEL_PARAMETERS_MAX + 1)];
    size_t place[MODEL_AXES_MAX * (MODEL_PARAMETERS_MAX + 1)]; /* index in values */
    size_t axis_start[MODEL_AXES_MAX + 1];
    /* Present block: its run, its first sample, and its number of equations per axis. */
    size_t run, at, count;
    /* [Phi without biases, right sides, biases][MODEL_STRIDE]; unwritten entries are zero. */
    gsl_vector *values;

    /* Factor of nu_dot[axis] at a place. It must be constant for the integration by parts. */
    struct row_inertia {
        size_t place, axis;
        double factor;
    } inertia[MODEL_AXES_MAX * (MODEL_PARAMETERS_MAX + 1) * MODEL_AXES_MAX];
    size_t inertia_count;
    /* Places that can be nonzero. */
    size_t own[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX], own_count;
    /* Entries that are nonzero without acceleration: index in the row (phi, then known terms
     * without and with an effort) and place in values. Integrated by cells of held efforts,
     * or by samples. */
    struct row_still {
        size_t from, place;
        bool by_cell;
    } still[MODEL_AXES_MAX * (MODEL_PARAMETERS_MAX + 2)];
    size_t static_count;
    double smooth[ROW_SG_MAX], slope[ROW_SG_MAX]; /* Savitzky-Golay weights */
    gsl_vector *window; /* [3][2 half + 1] weak form: weight, its slope, integral per cell */
    gsl_vector *cache;  /* [static_count][2 windows and a block] static part of the rows */
    size_t cached_from, cached_to; /* range of samples in the cache */
};

/* Returns STATUS_OK, STATUS_E_NOMEM or STATUS_E_MATH. On STATUS_OK the caller calls
 * row_source_end(). */
MUST_USE enum status row_source_start(struct row_source *rows, const struct model *model,
                                      const struct data_set *set, enum dynamics_method method,
                                      const struct dynamics_options *options);

/* Computes the next block; false at the end. */
bool row_source_next(struct row_source *rows);

/* Columns of the present block: the factors of an entry's unknown, and the right sides of an
 * axis. [count]; ROW_BLOCK elements may be read. */
const double *row_source_column(const struct row_source *rows, size_t entry);
const double *row_source_rhs(const struct row_source *rows, size_t axis);

void row_source_rewind(struct row_source *rows);
void row_source_end(struct row_source *rows);

#endif
