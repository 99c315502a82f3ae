/* identification/dot.h - sums of products that do not wait for each other.
 *
 * Four sums in a fixed order, so that a processor has something to do while it adds: the same
 * bytes from every compiler, and less rounding than one sum. Pure.
 */
#ifndef IDENTIFICATION_DOT_H
#define IDENTIFICATION_DOT_H

#include <stddef.h>

/* sum x[i] y[i], i < n. */
static inline double dot(const double *x, const double *y, size_t n)
{
    double s[4] = {0.0};
    const size_t whole = n / 4 * 4;
    for (size_t i = 0; i < whole; i += 4) {
        s[0] += x[i] * y[i];
        s[1] += x[i + 1] * y[i + 1];
        s[2] += x[i + 2] * y[i + 2];
        s[3] += x[i + 3] * y[i + 3];
    }
    for (size_t i = whole; i < n; i++) {
        s[0] += x[i] * y[i];
    }
    return (s[0] + s[2]) + (s[1] + s[3]);
}

#endif
