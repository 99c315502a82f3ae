/* identification/row_source.h - the equations of a linear fit, one time after the other.
 *
 * What ols_central, ols_sg and weak differ in (docs/model/identification.md, eq. 2 - 5). Cold
 * path: allocates through GSL.
 */
#ifndef IDENTIFICATION_ROW_SOURCE_H
#define IDENTIFICATION_ROW_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include <gsl/gsl_vector.h>

#include "identification/dynamics_linear.h"
#include "identification/local_polynomial.h"

enum { ROW_SG_MAX = LOCAL_POLYNOMIAL_MAX };

struct row_source {
    const struct model *model;
    const struct data_set *set;
    enum dynamics_method method; /* WEAK_IV as WEAK */
    size_t p;                    /* columns: parameters, then biases */
    size_t run, at;              /* the next equations: of this run, around this sample */
    size_t half, stride;         /* samples before and after; from one to the next */
    /* What multiplies nu_dot[axis] in an entry of Phi (as below); constant, or parts
     * integration would not hold. */
    struct row_inertia {
        size_t at, axis;
        double factor;
    } inertia[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX * MODEL_AXES_MAX];
    size_t inertia_count;
    /* Entries of Phi0 (axis times parameters plus parameter) that can be other than zero. */
    size_t static_at[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    size_t static_count;
    double smooth[ROW_SG_MAX], slope[ROW_SG_MAX]; /* Savitzky-Golay */
    gsl_vector *window; /* [3][2 half + 1] weak form: weight, its slope, integral per cell */
    double bias;        /* integral of the window, which is what a constant effort adds */
    gsl_vector *cache;  /* [static_count][2 windows] static part of the rows, by columns */
    size_t cached_from, cached_to; /* the samples there */
};

/* Returns STATUS_E_NOMEM or STATUS_E_MATH (then there is nothing to end), else STATUS_OK. Ends
 * with row_source_end(). */
MUST_USE enum status row_source_start(struct row_source *rows, const struct model *model,
                                      const struct data_set *set, enum dynamics_method method,
                                      const struct dynamics_options *options);

/* The next axes equations: phi [axes x p] by rows and rhs [axes], out. False at the end. run is
 * the one they belong to. */
bool row_source_next(struct row_source *rows, double *phi, double *rhs, size_t *run);

/* Whether entries of Phi [axes x parameters] can be other than zero: those that are, somewhere
 * odd. With nu_dot as well, or at rest of accelerations. */
void row_source_find_active(const struct model *model, bool with_nu_dot, bool *active);

void row_source_rewind(struct row_source *rows);
void row_source_end(struct row_source *rows);

#endif
