#include "identification/numeric/mixed_effects.h"

#include <math.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>

/* Relative size that keeps nearly equal columns apart. */
static const double RIDGE = 1e-9;
/* Columns of the inverse of a triangle have ended after this many bands. */
static const size_t REACH_BANDS = 4;

enum status mixed_effects_init(struct mixed_effects *m, size_t count, size_t band,
                               size_t common)
{
    *m = (struct mixed_effects){.count = count, .band = band, .common = common};
    m->local = gsl_matrix_calloc(count, band + 1);
    m->border = gsl_matrix_calloc(count, common);
    m->corner = gsl_matrix_calloc(common, common);
    m->local_right = gsl_vector_calloc(count);
    m->common_right = gsl_vector_calloc(common);
    return m->local && m->border && m->corner && m->local_right && m->common_right
               ? STATUS_OK
               : STATUS_E_NOMEM;
}

void mixed_effects_free(struct mixed_effects *m)
{
    gsl_matrix_free(m->local);
    gsl_matrix_free(m->border);
    gsl_matrix_free(m->corner);
    gsl_vector_free(m->local_right);
    gsl_vector_free(m->common_right);
}

/* Replaces the rows of the border by L^-1 border, and local_right by L^-1 local_right. */
static void forward_substitute(struct mixed_effects *m)
{
    for (size_t j = 0; j < m->count; j++) {
        gsl_vector_view row = gsl_matrix_row(m->border, j);
        double right = gsl_vector_get(m->local_right, j);
        for (size_t i = j > m->band ? j - m->band : 0; i < j; i++) {
            const gsl_vector_const_view before = gsl_matrix_const_row(m->border, i);
            const double l = gsl_matrix_get(m->local, i, j - i);
            (void)gsl_blas_daxpy(-l, &before.vector, &row.vector);
            right -= l * gsl_vector_get(m->local_right, i);
        }
        const double pivot = gsl_matrix_get(m->local, j, 0);
        (void)gsl_vector_scale(&row.vector, 1.0 / pivot);
        gsl_vector_set(m->local_right, j, right / pivot);
    }
}

/* Solves L' x = x for local unknowns, one column. */
static void back_substitute(const struct mixed_effects *m, gsl_vector *x)
{
    for (size_t j = m->count; j-- > 0;) {
        double sum = gsl_vector_get(x, j);
        for (size_t i = 1; i <= m->band && j + i < m->count; i++) {
            sum -= gsl_matrix_get(m->local, j, i) * gsl_vector_get(x, j + i);
        }
        gsl_vector_set(x, j, sum / gsl_matrix_get(m->local, j, 0));
    }
}

/* Replaces the lower triangle of a matrix of products by its Cholesky factor. */
static bool decompose_products(gsl_matrix *products)
{
    for (size_t c = 0; c < products->size1; c++) {
        double *diagonal = gsl_matrix_ptr(products, c, c);
        *diagonal = *diagonal > 0.0 ? *diagonal * (1.0 + RIDGE) : 1.0;
    }
    return gsl_linalg_cholesky_decomp1(products) == GSL_SUCCESS;
}

/* Solves for the common unknowns, in common_right; the corner becomes its Cholesky factor. */
static bool solve_corner(struct mixed_effects *m, gsl_matrix *growth)
{
    gsl_matrix *all = gsl_matrix_alloc(m->common, m->common);
    bool well = all && gsl_matrix_memcpy(all, m->corner) == GSL_SUCCESS;
    (void)gsl_blas_dsyrk(CblasLower, CblasTrans, -1.0, m->border, 1.0, m->corner);
    (void)gsl_blas_dgemv(CblasTrans, -1.0, m->border, m->local_right, 1.0, m->common_right);
    well = well && decompose_products(m->corner) && decompose_products(all) &&
           gsl_linalg_cholesky_svx(m->corner, m->common_right) == GSL_SUCCESS &&
           gsl_matrix_memcpy(growth, m->corner) == GSL_SUCCESS &&
           gsl_linalg_cholesky_invert(growth) == GSL_SUCCESS &&
           gsl_linalg_cholesky_invert(all) == GSL_SUCCESS &&
           gsl_matrix_sub(growth, all) == GSL_SUCCESS;
    gsl_matrix_free(all);
    return well;
}

/* Squared length of column j of L^-1: the variance for known common unknowns. scratch [count]
 */
static double find_own_variance(const struct mixed_effects *m, size_t j, double *scratch)
{
    const size_t end = j + REACH_BANDS * m->band + 1;
    double squares = 0.0;
    for (size_t k = j; k < m->count && k < end; k++) {
        double sum = k == j ? 1.0 : 0.0;
        for (size_t i = k > j + m->band ? k - m->band : j; i < k; i++) {
            sum -= gsl_matrix_get(m->local, i, k - i) * scratch[i];
        }
        scratch[k] = sum / gsl_matrix_get(m->local, k, 0);
        squares += scratch[k] * scratch[k];
    }
    return squares;
}

bool mixed_effects_solve(struct mixed_effects *m, double *local, double *variance,
                         double *common, gsl_matrix *growth)
{
    if (gsl_linalg_cholesky_band_decomp(m->local) != GSL_SUCCESS) {
        return false;
    }
    forward_substitute(m);
    if (!solve_corner(m, growth)) {
        return false;
    }
    (void)gsl_blas_dgemv(CblasNoTrans, -1.0, m->border, m->common_right, 1.0, m->local_right);
    back_substitute(m, m->local_right);
    for (size_t c = 0; c < m->common; c++) {
        common[c] = gsl_vector_get(m->common_right, c);
        gsl_vector_view column = gsl_matrix_column(m->border, c);
        back_substitute(m, &column.vector);
    }
    for (size_t j = 0; j < m->count; j++) {
        variance[j] = find_own_variance(m, j, local); /* local[j ..] is not set yet */
    }
    for (size_t j = 0; j < m->count; j++) {
        gsl_vector_view row = gsl_matrix_row(m->border, j);
        local[j] = gsl_vector_get(m->local_right, j);
        (void)gsl_blas_dtrsv(CblasLower, CblasNoTrans, CblasNonUnit, m->corner, &row.vector);
        const double length = gsl_blas_dnrm2(&row.vector);
        variance[j] += length * length;
    }
    return isfinite(variance[0]) && isfinite(common[0]);
}
