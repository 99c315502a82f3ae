/* identification/numeric/local_polynomial.h - a polynomial through neighbouring samples, by
 * least squares (Savitzky and Golay): the weights of its value and slope at the middle one.
 * Pure.
 */
#ifndef IDENTIFICATION_NUMERIC_LOCAL_POLYNOMIAL_H
#define IDENTIFICATION_NUMERIC_LOCAL_POLYNOMIAL_H

#include <stddef.h>

#include "base/errors/status.h"

enum { LOCAL_POLYNOMIAL_MAX = 101, LOCAL_POLYNOMIAL_ORDER_MAX = 6 };

/* value and slope [2 half + 1], out; the slope is per sample. 1 <= half, 2 half + 1 <=
 * LOCAL_POLYNOMIAL_MAX, 1 <= order <= LOCAL_POLYNOMIAL_ORDER_MAX, order <= 2 half. Returns
 * STATUS_E_MATH when the polynomial cannot be told. */
MUST_USE enum status local_polynomial(size_t half, size_t order, double *value, double *slope);

/* Of four values at rising times what no parabola through them explains: the third difference,
 * or, where times are uneven, the divided one of the same size: white noise has 20 times its
 * variance in it. */
double third_difference(const double t_s[4], const double y[4]);

#endif
