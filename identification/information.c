#include "identification/information.h"

#include <math.h>
#include <stdio.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>

/* Of the largest singular value of the scaled columns: less is no information. */
static const double RANK_TOLERANCE = 1e-7;
/* A parameter's part in a unit null direction from which on it is left open. */
static const double NULL_PART_MIN = 1e-3;

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
    for (size_t k = information->rank; k < information->count; k++) {
        for (size_t a = 0; a < information->count; a++) {
            if (fabs(gsl_matrix_get(information->v, a, k)) >= NULL_PART_MIN) {
                information->open[information->index[a]] = true;
            }
        }
    }
    return STATUS_OK;
}

/* "surge_mass_kg + 0.98 sway_mass_kg": what may be added to the parameters unseen. */
static void describe_null(const struct information *information, const struct model *model,
                          size_t k, char text[DYNAMICS_TEXT_MAX])
{
    double largest = 0.0;
    size_t used = 0;
    text[0] = '\0';
    for (size_t a = 0; a < information->count; a++) {
        const double part = gsl_matrix_get(information->v, a, k) / information->length[a];
        largest = fabs(part) > fabs(largest) ? part : largest;
    }
    for (size_t a = 0; a < information->count && used < DYNAMICS_TEXT_MAX; a++) {
        const double part =
            gsl_matrix_get(information->v, a, k) / information->length[a] / largest;
        char name[64] = "delay_s";
        if (fabs(gsl_matrix_get(information->v, a, k)) < NULL_PART_MIN) {
            continue;
        }
        if (information->index[a] + 1 < information->g) {
            (void)dynamics_parameter_name(model, information->index[a], name, sizeof name);
        }
        const char *sign = part < 0.0 ? "-" : used > 0 ? "+" : "";
        const int wrote =
            snprintf(text + used, DYNAMICS_TEXT_MAX - used, "%s%s%s%.3g %s",
                     used > 0 ? " " : "", sign, *sign ? " " : "", fabs(part), name);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}

void information_describe(const struct information *information, const struct model *model,
                          struct dynamics_fit *fit)
{
    const size_t count = information->count;
    const gsl_vector *s = information->s;
    /* The fit's rank is that of its parameters; the delay is beside them. */
    const size_t delay = information->g - 1;
    const bool has_delay = count > 0 && information->index[count - 1] == delay;
    fit->rank = information->rank - (has_delay && !information->open[delay] ? 1 : 0);
    if (count > 0) {
        fit->condition = information->rank < count
                             ? HUGE_VAL
                             : gsl_vector_get(s, 0) / gsl_vector_get(s, count - 1);
    }
    for (size_t k = information->rank; k < count && fit->null_count < DYNAMICS_NULLS_MAX; k++) {
        describe_null(information, model, k, fit->nulls[fit->null_count++]);
    }
}
