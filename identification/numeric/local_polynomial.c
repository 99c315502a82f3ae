#include "identification/numeric/local_polynomial.h"

#include <math.h>

#include <assert.h>

#include <gsl/gsl_linalg.h>

enum { TERMS_MAX = LOCAL_POLYNOMIAL_ORDER_MAX + 1 };

/* Savitzky and Golay: the least-squares polynomial through 2 half + 1 samples is linear in
 * the samples. Its value and slope in the middle are therefore weighted sums, and the
 * weights depend on the window alone. Let the columns of A be the powers of s in -1 .. 1.
 * Coefficient i is e_i' (A'A)^-1 A' y. One Cholesky factor of A'A (fill_gram) and one
 * solution per coefficient suffice. The weight of sample k is the polynomial of that
 * solution at s_k. On -1 .. 1 the matrix is well conditioned up to order 6. Reference:
 * Savitzky and Golay, Anal. Chem. 36, 1964. */

/* Sums of the products of powers of s in -1 .. 1. */
static void fill_gram(size_t half, size_t terms, double *gram)
{
    for (size_t k = 0; k <= 2 * half; k++) {
        const double s = ((double)k - (double)half) / (double)half;
        double power[2 * TERMS_MAX];
        power[0] = 1.0;
        for (size_t i = 1; i < 2 * terms - 1; i++) {
            power[i] = power[i - 1] * s;
        }
        for (size_t i = 0; i < terms; i++) {
            for (size_t j = 0; j < terms; j++) {
                gram[i * terms + j] += power[i + j];
            }
        }
    }
}

enum status local_polynomial(size_t half, size_t order, double *value, double *slope)
{
    const size_t terms = order + 1;
    double gram[TERMS_MAX * TERMS_MAX] = {0.0};
    double unit[TERMS_MAX] = {0.0};
    double zeroth[TERMS_MAX];
    double first[TERMS_MAX];
    assert(half >= 1 && 2 * half + 1 <= LOCAL_POLYNOMIAL_MAX);
    assert(order >= 1 && order <= LOCAL_POLYNOMIAL_ORDER_MAX && order <= 2 * half);
    fill_gram(half, terms, gram);
    gsl_matrix_view a = gsl_matrix_view_array(gram, terms, terms);
    gsl_vector_view e = gsl_vector_view_array(unit, terms);
    gsl_vector_view x0 = gsl_vector_view_array(zeroth, terms);
    gsl_vector_view x1 = gsl_vector_view_array(first, terms);
    if (gsl_linalg_cholesky_decomp1(&a.matrix) != 0) {
        return STATUS_E_MATH;
    }
    unit[0] = 1.0;
    int bad = gsl_linalg_cholesky_solve(&a.matrix, &e.vector, &x0.vector);
    unit[0] = 0.0;
    unit[1] = 1.0;
    bad = bad != 0 ? bad : gsl_linalg_cholesky_solve(&a.matrix, &e.vector, &x1.vector);
    for (size_t k = 0; k <= 2 * half; k++) {
        const double s = ((double)k - (double)half) / (double)half;
        value[k] = 0.0;
        slope[k] = 0.0;
        for (size_t i = terms; i-- > 0;) {
            value[k] = value[k] * s + zeroth[i];
            slope[k] = slope[k] * s + first[i];
        }
        slope[k] /= (double)half;
    }
    return bad != 0 ? STATUS_E_MATH : STATUS_OK;
}

/* Time steps that differ by a smaller ratio count as equal. */
static const double SAME_STEP_RATIO = 0.01;

double third_difference(const double t_s[4], const double y[4])
{
    const double even_s = (t_s[3] - t_s[0]) / 3.0;
    double difference = 0.0;
    double squares = 0.0;
    if (fmax(fabs(t_s[1] - t_s[0] - even_s), fabs(t_s[3] - t_s[2] - even_s)) <=
        SAME_STEP_RATIO * even_s) {
        return y[3] - 3.0 * y[2] + 3.0 * y[1] - y[0];
    }
    for (size_t i = 0; i < 4; i++) {
        double weight = 1.0;
        for (size_t j = 0; j < 4; j++) {
            weight *= j == i ? 1.0 : even_s / (t_s[i] - t_s[j]);
        }
        difference += weight * y[i];
        squares += weight * weight;
    }
    return difference * sqrt(20.0 / squares);
}
