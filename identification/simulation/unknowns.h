/* identification/simulation/unknowns.h - parameters, biases and delay as a search sees them:
 * which are free, which move in their logarithms, and where bounds stop them.
 *
 * Private to the nonlinear estimators. Pure: no I/O, no clock, no allocation.
 */
#ifndef IDENTIFICATION_SIMULATION_UNKNOWNS_H
#define IDENTIFICATION_SIMULATION_UNKNOWNS_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/simulation/information.h"
#include "identification/simulation/output_error.h"

struct unknowns {
    const struct model *model;
    const struct output_error_options *options;
    size_t p; /* parameters and biases */
    size_t g; /* p + 1: the last is the delay */
    bool free[INFORMATION_MAX];
    size_t iteration; /* of the search, for go_on */
    size_t walked;    /* samples of this pass since it was asked last */
    bool ended;       /* it said no: every walk ends with STATUS_E_STALE */
};

struct unknown_values {
    double theta[DYNAMICS_P_MAX];
    double delay_s;
};

/* What a fit promises to refuse: STATUS_E_ARG, STATUS_E_EMPTY, STATUS_E_RANGE. */
MUST_USE enum status unknowns_check(const struct model *model, const struct data_set *set,
                                    const double *start,
                                    const struct output_error_options *options);

void unknowns_set(struct unknowns *unknowns, const struct model *model,
                  const struct output_error_options *options);

/* One more sample of a pass: may it go on? Asks options->go_on every few thousand of them, so
 * that a search over a long recording ends soon. */
bool unknowns_go_on(struct unknowns *unknowns);

/* Where a search begins: inside the bounds, and positive where nothing else makes sense. */
void unknowns_place(const struct unknowns *unknowns, const double *start,
                    struct unknown_values *values);

/* d(value) / d(coordinate) [g]. */
void unknowns_scale(const struct unknowns *unknowns, const struct unknown_values *at,
                    double *scale);

/* Strike what a step [g] would push through its bound off the free ones; false when nothing. */
bool unknowns_hold(const struct unknowns *unknowns, const struct unknown_values *at,
                   const double *step, bool *free);

/* Take a step, shortened where a logarithm would move too far; returns the share taken. */
double unknowns_move(const struct unknowns *unknowns, const struct unknown_values *from,
                     const double *step, const bool *free, struct unknown_values *to);

/* Whether unknown j, a free one, stands at a bound. */
bool unknowns_at_bound(const struct unknowns *unknowns, const struct unknown_values *at,
                       size_t j);

/* The time before which samples of a run take no part: their efforts may be unknown. */
double unknowns_settled_s(const struct unknowns *unknowns, const struct data_set *set,
                          size_t run);

#endif
