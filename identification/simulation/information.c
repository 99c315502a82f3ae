#include "identification/simulation/information.h"

#include <math.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>

/* Of the largest singular value of the scaled columns: less is no information. */
static const double RANK_TOLERANCE = 1e-7;

bool information_alloc(struct information *information, size_t g, const bool *free)
{
    *information = (struct information){.g = g};
    for (size_t j = 0; j < g; j++) {
        if (free[j]) {
            information->index[information->count++] = j;
        }
    }
    const size_t count = information->count > 0 ? information->count : 1;
    information->v = gsl_matrix_alloc(count, count);
    information->s = gsl_vector_alloc(count);
    information->covariance = gsl_matrix_alloc(g, g);
    information->u = gsl_matrix_alloc(count, count);
    information->reflector = gsl_matrix_alloc(count, count);
    information->columns = gsl_matrix_alloc(g, count);
    return information->v && information->s && information->covariance && information->u &&
           information->reflector && information->columns;
}

void information_free(struct information *information)
{
    gsl_matrix_free(information->v);
    gsl_vector_free(information->s);
    gsl_matrix_free(information->covariance);
    gsl_matrix_free(information->u);
    gsl_matrix_free(information->reflector);
    gsl_matrix_free(information->columns);
}

static enum status failure(int gsl_code)
{
    return gsl_code == GSL_ENOMEM ? STATUS_E_NOMEM : STATUS_E_MATH;
}

/* Singular values of the columns, scaled to unit length. Columns that are not free are empty,
 * but their rows hold what the others left there: all rows count, so the columns are made
 * square again first. */
static enum status decompose(struct information *information, const gsl_matrix *triangle)
{
    for (size_t k = 0; k < information->count; k++) {
        gsl_vector_const_view column =
            gsl_matrix_const_subcolumn(triangle, information->index[k], 0, information->g);
        gsl_vector_view to = gsl_matrix_column(information->columns, k);
        const double length = gsl_blas_dnrm2(&column.vector);
        information->length[k] = length > 0.0 ? length : 1.0;
        gsl_vector_memcpy(&to.vector, &column.vector);
        gsl_vector_scale(&to.vector, 1.0 / information->length[k]);
    }
    gsl_matrix_set_zero(information->u);
    int code =
        gsl_linalg_QR_UR_decomp(information->u, information->columns, information->reflector);
    if (code == GSL_SUCCESS) {
        code = gsl_linalg_SV_decomp_jacobi(information->u, information->v, information->s);
    }
    return code == GSL_SUCCESS ? STATUS_OK : failure(code);
}

static void set_covariance(struct information *information)
{
    for (size_t a = 0; a < information->count; a++) {
        for (size_t b = 0; b < information->count; b++) {
            double sum = 0.0;
            for (size_t k = 0; k < information->rank; k++) {
                const double s = gsl_vector_get(information->s, k);
                sum += gsl_matrix_get(information->v, a, k) *
                       gsl_matrix_get(information->v, b, k) / (s * s);
            }
            gsl_matrix_set(information->covariance, information->index[a],
                           information->index[b],
                           sum / (information->length[a] * information->length[b]));
        }
    }
}

enum status information_take(struct information *information, const gsl_matrix *triangle)
{
    gsl_matrix_set_zero(information->covariance);
    information->rank = 0;
    information->nulls = (struct null_space){.p = 0};
    if (information->count == 0) {
        return STATUS_OK;
    }
    const enum status st = decompose(information, triangle);
    if (st != STATUS_OK) {
        return st;
    }
    const double least = RANK_TOLERANCE * gsl_vector_get(information->s, 0);
    while (information->rank < information->count &&
           gsl_vector_get(information->s, information->rank) > least) {
        information->rank++;
    }
    set_covariance(information);
    null_space_find(&information->nulls, information->v->data, information->count,
                    information->rank);
    for (size_t a = 0; a < information->count; a++) {
        information->open[information->index[a]] = information->nulls.open[a];
    }
    return STATUS_OK;
}

static void tell_nulls(const struct information *information, const struct model *model,
                       const double *value, const gsl_matrix *covariance,
                       struct dynamics_fit *fit)
{
    struct null_unknowns unknowns = {.model = model};
    for (size_t a = 0; a < information->count; a++) {
        unknowns.index[a] = information->index[a];
        unknowns.length[a] = information->length[a];
        unknowns.value[a] = value[information->index[a]];
        for (size_t b = 0; b < information->count; b++) {
            unknowns.covariance[a][b] =
                gsl_matrix_get(covariance, information->index[a], information->index[b]);
        }
    }
    null_space_tell(&information->nulls, &unknowns, fit);
}

void information_describe(const struct information *information, const struct model *model,
                          const double *value, const gsl_matrix *covariance,
                          struct dynamics_fit *fit)
{
    const size_t count = information->count;
    const gsl_vector *s = information->s;
    /* The fit's rank is that of its parameters; the delay is beside them. */
    const size_t delay = information->g - 1;
    const bool has_delay = count > 0 && information->index[count - 1] == delay;
    fit->estimate.rank = information->rank - (has_delay && !information->open[delay] ? 1 : 0);
    if (count > 0) {
        fit->estimate.condition = information->rank < count
                                      ? HUGE_VAL
                                      : gsl_vector_get(s, 0) / gsl_vector_get(s, count - 1);
    }
    tell_nulls(information, model, value, covariance, fit);
}
