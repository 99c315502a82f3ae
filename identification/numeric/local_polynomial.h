/* identification/numeric/local_polynomial.h - weights of a smoothing polynomial (Savitzky and
 * Golay).
 *
 * A polynomial is fitted by least squares to neighbouring samples. The weights give its value
 * and its slope at the middle sample. Pure.
 */
#ifndef IDENTIFICATION_NUMERIC_LOCAL_POLYNOMIAL_H
#define IDENTIFICATION_NUMERIC_LOCAL_POLYNOMIAL_H

#include <stddef.h>

#include "base/errors/status.h"

enum { LOCAL_POLYNOMIAL_MAX = 101, LOCAL_POLYNOMIAL_ORDER_MAX = 6 };

/* value and slope are [2 half + 1], out; the slope is per sample. 1 <= half, 2 half + 1 <=
 * LOCAL_POLYNOMIAL_MAX, 1 <= order <= LOCAL_POLYNOMIAL_ORDER_MAX, order <= 2 half. Returns
 * STATUS_E_MATH if the samples do not determine the polynomial. */
MUST_USE enum status local_polynomial(size_t half, size_t order, double *value, double *slope);

/* Returns the part of four values at rising times that no parabola explains. This is the
 * third difference, or the divided difference scaled to the same size if the times are
 * uneven. White noise of variance s^2 gives it the variance 20 s^2. */
double third_difference(const double t_s[4], const double y[4]);

#endif
