/* identification/numeric/curve_fit.h - least squares by differences, for a few unknowns.
 *
 * For models that exist only as a simulation. Levenberg-Marquardt (damped_search.h) with
 * forward differences. Deterministic. Pure: the caller lends the memory.
 */
#ifndef IDENTIFICATION_NUMERIC_CURVE_FIT_H
#define IDENTIFICATION_NUMERIC_CURVE_FIT_H

#include <stddef.h>

enum { CURVE_FIT_UNKNOWNS_MAX = 24 };

struct curve_fit {
    size_t n, p; /* residuals, unknowns */
    double lower[CURVE_FIT_UNKNOWNS_MAX], upper[CURVE_FIT_UNKNOWNS_MAX];
    double step[CURVE_FIT_UNKNOWNS_MAX]; /* > 0, differences; a hundredth of a typical change */
    /* Computes the residuals [n] at x [p]. A sum of squares that is not finite is refused. */
    void (*residuals)(void *context, const double *x, double *residual);
    void *context;
    double *memory; /* [(p + 1) n] */
};

/* Searches from x, in/out, inside the bounds, for at most this many iterations. residual [n],
 * out. Returns the sum of its squares. */
double curve_fit_run(const struct curve_fit *fit, size_t iterations_max, double *x,
                     double *residual);

/* Computes the differences d(residual) / d(x), [p][n], out. residual [n] is that at x. */
void curve_fit_slopes(const struct curve_fit *fit, const double *x, const double *residual,
                      double *slopes);

#endif
