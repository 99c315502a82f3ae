/* identification/numeric/damped_search.h - Levenberg-Marquardt search for a minimum of a sum of
 * squares.
 *
 * The residuals are linearised at the present point and reduced to R x = z by QR. The step
 * solves this system with the additional rows sqrt(lambda) |R_j|. These rows shorten the step
 * and turn it towards steepest descent. A successful step lowers lambda, a failed one raises
 * it: the search is Gauss-Newton near the minimum and cautious far from it. The caller
 * evaluates the residuals and enforces bounds. Reference: Moré, The Levenberg-Marquardt
 * algorithm (1978). Pure, no allocation.
 */
#ifndef IDENTIFICATION_NUMERIC_DAMPED_SEARCH_H
#define IDENTIFICATION_NUMERIC_DAMPED_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"

enum search_stop {
    SEARCH_CONVERGED, /* the last step or its gain was small */
    SEARCH_STALLED,   /* no step reduced the cost */
    SEARCH_LIMIT,     /* the limit of iterations was reached */
    SEARCH_CANCELLED
};

/* Costs are -2 log likelihood, lengths are in standard errors. A rule that is zero does not
 * apply. */
struct damped_rules {
    double lambda;       /* damping of the first step */
    double ease;         /* factor on lambda after a successful step */
    double step_enough;  /* a nearly undamped step this short is not tried */
    double step_useless; /* after a failed step this short, no other step is tried */
    double gain_enough;  /* a smaller gain ends the search */
    double loss_enough;  /* a smaller loss is rounding and ends the search */
};

struct damped_search {
    struct damped_rules rules; /* the callbacks may change them during the search */
    double lambda;
    void *context;
    /* Called before an iteration; optional. True ends the search with the *stop that it set. */
    bool (*is_over)(void *context, size_t iteration, enum search_stop *stop);
    /* Computes a step for this damping, and its length. */
    enum status (*propose)(void *context, double lambda, double *length);
    /* Tries the step. *gain is the reduction of the cost; a step with gain >= 0 is accepted. */
    enum status (*try_step)(void *context, double *gain);
    /* Called after an iteration; optional. True ends the search with SEARCH_LIMIT. */
    bool (*review)(void *context, double gain, struct damped_search *search);
};

/* Searches from the caller's present point. *iterations counts on from its value. Returns
 * the first status of propose or try_step that is not STATUS_OK. */
MUST_USE enum status damped_search_run(struct damped_search *search, size_t iterations_max,
                                       size_t *iterations, enum search_stop *stop);

/* Computes the damped step of g variables from the upper triangle [R | z], whose rows [g]
 * lie `stride` apart. scale [g] (NULL: ones) multiplies the columns, and the step is in its
 * units. Variables that are not free do not move (NULL: all are free). Returns the length of
 * the step. */
double damped_step(const double *r, size_t stride, size_t g, double lambda, const double *scale,
                   const bool *free, double *step);

/* Computes the steps of n variables that were eliminated before the others, from the others'
 * step [g]. rows [n] is their part of the triangle: columns of their own, of the others, and
 * z. Rows lie `stride` apart. */
void damped_follow(const double *rows, size_t stride, size_t n, size_t g, const double *step,
                   double *follow);

#endif
