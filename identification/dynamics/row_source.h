/* identification/dynamics/row_source.h - the equations of a linear fit, a block after the
 * other.
 *
 * What ols_central, ols_sg and weak differ in (docs/model/identification_theory.md,
 * "Equations"). By columns, so that whoever adds them up need not go from one entry to the
 * next, and only those that can be other than zero. Cold path: allocates through GSL.
 */
#ifndef IDENTIFICATION_DYNAMICS_ROW_SOURCE_H
#define IDENTIFICATION_DYNAMICS_ROW_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include <gsl/gsl_vector.h>

#include "identification/dynamics/dynamics_options.h"
#include "identification/numeric/local_polynomial.h"

enum { ROW_SG_MAX = LOCAL_POLYNOMIAL_MAX };

/* Equations of an axis in a block, at most. */
enum { ROW_BLOCK = MODEL_BLOCK };

struct row_source {
    const struct model *model;
    const struct data_set *set;
    enum dynamics_method method; /* WEAK_IV as WEAK */
    size_t p;                    /* unknowns: parameters, then biases */
    size_t half, stride;         /* samples before and after; from one to the next */
    /* Of weak: whose size friction by load multiplies, [n]; the set's own until others are put
     * here, before row_source_rewind(). */
    const double *load[MODEL_AXES_MAX];

    /* Entries of Phi that can be other than zero, axis after axis: which unknown they multiply;
     * those of axis a are axis_start[a] .. axis_start[a + 1] - 1. */
    size_t column[MODEL_AXES_MAX * (MODEL_PARAMETERS_MAX + 1)];
    size_t place[MODEL_AXES_MAX * (MODEL_PARAMETERS_MAX + 1)]; /* in values */
    size_t axis_start[MODEL_AXES_MAX + 1];
    /* The block at hand: of this run, around this sample and those after it, so many equations
     * an axis. */
    size_t run, at, count;
    /* [Phi without biases, right sides, biases][MODEL_STRIDE]; what is not written is zero. */
    gsl_vector *values;

    /* What multiplies nu_dot[axis] in a place; constant, or parts integration would not hold.
     */
    struct row_inertia {
        size_t place, axis;
        double factor;
    } inertia[MODEL_AXES_MAX * (MODEL_PARAMETERS_MAX + 1) * MODEL_AXES_MAX];
    size_t inertia_count;
    /* Places that are not zero. */
    size_t own[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX], own_count;
    /* What is not zero where nothing accelerates: from which entry of the rows (behind phi what
     * is known, without and with an effort) into which place; by the cells for which efforts
     * are held, or by samples. */
    struct row_still {
        size_t from, place;
        bool by_cell;
    } still[MODEL_AXES_MAX * (MODEL_PARAMETERS_MAX + 2)];
    size_t static_count;
    double smooth[ROW_SG_MAX], slope[ROW_SG_MAX]; /* Savitzky-Golay */
    gsl_vector *window; /* [3][2 half + 1] weak form: weight, its slope, integral per cell */
    gsl_vector *cache;  /* [static_count][2 windows and a block] static part of the rows */
    size_t cached_from, cached_to; /* the samples there */
};

/* Returns STATUS_E_NOMEM or STATUS_E_MATH (then there is nothing to end), else STATUS_OK. Ends
 * with row_source_end(). */
MUST_USE enum status row_source_start(struct row_source *rows, const struct model *model,
                                      const struct data_set *set, enum dynamics_method method,
                                      const struct dynamics_options *options);

/* The next block; false at the end. */
bool row_source_next(struct row_source *rows);

/* Of the block at hand: what multiplies the unknown of an entry, and the right sides of an
 * axis. [count], of ROW_BLOCK that may be read. */
const double *row_source_column(const struct row_source *rows, size_t entry);
const double *row_source_rhs(const struct row_source *rows, size_t axis);

void row_source_rewind(struct row_source *rows);
void row_source_end(struct row_source *rows);

#endif
