/* identification/numeric/damped_search.h - the search for a minimum of squares (Levenberg and
 * Marquardt).
 *
 * Residuals are linearised where the search stands and reduced to R and a right side z by QR;
 * the step solves R x = z with rows sqrt(lambda) |R_j| below, which shortens it and turns it
 * towards steepest descent. A step that helps makes lambda smaller, one that does not makes it
 * larger: Gauss and Newton near the minimum, cautious far from it. What an evaluation is, and
 * where bounds lie, is the caller's. Pure, no allocation.
 */
#ifndef IDENTIFICATION_NUMERIC_DAMPED_SEARCH_H
#define IDENTIFICATION_NUMERIC_DAMPED_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"

enum search_stop {
    SEARCH_CONVERGED, /* the last step, or what it gained, was small */
    SEARCH_STALLED,   /* no step made it better */
    SEARCH_LIMIT,     /* as many iterations as allowed */
    SEARCH_CANCELLED
};

/* Costs are -2 log likelihood, lengths are in standard errors. What is zero plays no part. */
struct damped_rules {
    double lambda;       /* of the first step */
    double ease;         /* times lambda after a step that helped */
    double step_enough;  /* a step as short, hardly damped, is not worth to be tried */
    double step_useless; /* nor is another one after one this short that did not help */
    double gain_enough;  /* what gains no more was the last step */
    double loss_enough;  /* what loses no more: nothing is left but rounding */
};

struct damped_search {
    struct damped_rules rules; /* may be changed on the way */
    double lambda;
    void *context;
    /* Before an iteration; optional. True ends the search with *stop as it was set. */
    bool (*is_over)(void *context, size_t iteration, enum search_stop *stop);
    /* The step from here with a damping, and its length. */
    enum status (*propose)(void *context, double lambda, double *length);
    /* Take it: what it gains. Here is there afterwards if that is not below zero. */
    enum status (*try_step)(void *context, double *gain);
    /* After an iteration; optional. True ends the search at its limit. */
    bool (*review)(void *context, double gain, struct damped_search *search);
};

/* From where the caller stands, iterations counted on in *iterations. Returns what propose or
 * try_step did not return as STATUS_OK. */
MUST_USE enum status damped_search_run(struct damped_search *search, size_t iterations_max,
                                       size_t *iterations, enum search_stop *stop);

/* The damped step of g unknowns from the upper triangle [R | z], whose rows [g] lie `stride`
 * apart. scale [g] (NULL: ones) multiplies the columns, and the step is in units of it; those
 * not free (NULL: all are) do not move. Returns the length of the step. */
double damped_step(const double *r, size_t stride, size_t g, double lambda, const double *scale,
                   const bool *free, double *step);

/* Unknowns that were eliminated before the others follow the others' step [g]: from their rows
 * [n] of a triangle with columns for them, for the others, and z. Rows lie `stride` apart. */
void damped_follow(const double *rows, size_t stride, size_t n, size_t g, const double *step,
                   double *follow);

#endif
