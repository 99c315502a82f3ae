#include "identification/numeric/svd.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_linalg.h>

enum { P = NUMERIC_COLUMNS_MAX };

/* Returns one over the scale of an entry, or 0 if its scale is zero. */
static double find_shrink(const double *left, const double *right, size_t i, size_t j)
{
    const double scale = (left ? left[i] : 1.0) * right[j];
    return scale > 0.0 ? 1.0 / scale : 0.0;
}

static void find_inverse(const double *u, const double *left, const double *right,
                         struct svd *out)
{
    const size_t p = out->p;
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < p; i++) {
            double sum = 0.0;
            for (size_t k = 0; k < out->rank; k++) {
                sum += out->v[j * p + k] * u[i * p + k] / out->s[k];
            }
            out->inverse[j * p + i] = sum * find_shrink(left, right, i, j);
        }
    }
}

/* Jacobi rotations give even small singular values to full relative accuracy. They fail to
 * converge for about one matrix in a few hundred; the Golub-Reinsch method then replaces
 * them. */
static int decompose_scaled(const double *m, size_t p, double *u, struct svd *out)
{
    double room[P];
    gsl_matrix_view a = gsl_matrix_view_array(u, p, p);
    gsl_matrix_view v = gsl_matrix_view_array(out->v, p, p);
    gsl_vector_view s = gsl_vector_view_array(out->s, p);
    gsl_vector_view work = gsl_vector_view_array(room, p);
    memcpy(u, m, p * p * sizeof *u);
    if (gsl_linalg_SV_decomp_jacobi(&a.matrix, &v.matrix, &s.vector) == 0) {
        return 0;
    }
    memcpy(u, m, p * p * sizeof *u);
    return gsl_linalg_SV_decomp(&a.matrix, &v.matrix, &s.vector, &work.vector);
}

enum status svd_find(const double *m, size_t p, const double *left, const double *right,
                     double rank_ratio, struct svd *out)
{
    double scaled[P * P];
    double u[P * P];
    for (size_t i = 0; i < p; i++) {
        for (size_t j = 0; j < p; j++) {
            scaled[i * p + j] = m[i * p + j] * find_shrink(left, right, i, j);
            if (!isfinite(scaled[i * p + j])) {
                return STATUS_E_MATH;
            }
        }
    }
    if (decompose_scaled(scaled, p, u, out) != 0) {
        return STATUS_E_MATH;
    }
    out->p = p;
    out->rank = 0;
    while (out->rank < p && out->s[out->rank] > rank_ratio * out->s[0]) {
        out->rank++;
    }
    out->condition = out->rank == p ? out->s[0] / out->s[p - 1] : (double)INFINITY;
    find_inverse(u, left, right, out);
    return STATUS_OK;
}

void svd_solve(const struct svd *svd, const double *rhs, double *x)
{
    for (size_t i = 0; i < svd->p; i++) {
        x[i] = 0.0;
        for (size_t k = 0; k < svd->p; k++) {
            x[i] += svd->inverse[i * svd->p + k] * rhs[k];
        }
    }
}

void square_multiply(const double *a, const double *b, bool transposed, size_t p, double *to)
{
    for (size_t i = 0; i < p; i++) {
        for (size_t j = 0; j < p; j++) {
            double sum = 0.0;
            for (size_t k = 0; k < p; k++) {
                sum += a[i * p + k] * b[transposed ? j * p + k : k * p + j];
            }
            to[i * p + j] = sum;
        }
    }
}

void square_sandwich(const double *c, const double *m, size_t p, double *to)
{
    double half[SVD_ENTRIES_MAX];
    square_multiply(c, m, false, p, half);
    square_multiply(half, c, true, p, to);
}

double square_form(const double *c, const double *m, size_t stride, size_t p)
{
    double sum = 0.0;
    for (size_t i = 0; i < p; i++) {
        for (size_t j = 0; j < p; j++) {
            sum += c[i] * m[i * stride + j] * c[j];
        }
    }
    return sum;
}
