/* identification/travel/travel_law.h - tests whether moves follow the law of travel times.
 *
 * F tests on additional columns of the design (docs/model/travel_time.md, section 3) find
 * speeds that change with the order of the moves, at once or gradually. Laps that bend with the
 * size of a move show a robot that accelerates. The extended law is fitted robustly, because
 * short moves are outliers of the plain law. Further tests look for outliers with a common
 * cause, and for residuals that spread with the size of a move, with the variation of the speed
 * that explains it. Cold path: allocates through GSL while it runs. No I/O, no clock.
 */
#ifndef IDENTIFICATION_TRAVEL_TRAVEL_LAW_H
#define IDENTIFICATION_TRAVEL_TRAVEL_LAW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "identification/numeric/robust_ls.h"
#include "identification/travel/travel_fit.h"

/* Rotation and displacement. */
enum { TRAVEL_SIZES = 2 };
/* Possible causes of outliers: rotation, displacement, position in the table. */
enum { TRAVEL_CAUSES = TRAVEL_SIZES + 1 };

struct travel_law {
    bool tested;    /* there are enough moves */
    double trend_p; /* probability of such a trend by chance; 1: not tested */
    /* relative change of 1/w and 1/v from the first to the last move */
    double trend[TRAVEL_SIZES];
    double step_p;             /* the same for a sudden change, over all positions */
    size_t step_at;            /* first move after the change */
    double step[TRAVEL_SIZES]; /* relative change of 1/w and 1/v there */
    double spread_p;           /* the same for residuals that grow with the size of a move */
    double variation[TRAVEL_SIZES]; /* relative sd of 1/w and 1/v between moves */
    double kinds_ratio; /* ratio of the squares with two kinds of moves to those with one */
    double kinds[TRAVEL_SIZES]; /* relative difference of their 1/w and 1/v */
    size_t second_kind;         /* number of moves of the second kind */
    double bend_p;              /* the same for laps that bend with the size of a move */
    double aside_p;             /* the same for outliers with a common cause, over all causes */
    size_t aside, aside_cause;  /* number of outliers; their cause, below TRAVEL_CAUSES */
    bool aside_more;            /* outliers have larger values of the cause than other moves */
};

/* Runs all tests. problem as fitted; residual [n] and sd from the fit, to recognise late
 * replies. accelerating: the law with accelerations, known if it explains the moves far
 * better. Returns STATUS_OK, STATUS_E_NOMEM, STATUS_E_MATH. */
MUST_USE enum status travel_law_test(const struct robust_ls_problem *problem,
                                     const double *residual, double sd, struct travel_law *law,
                                     struct travel_accelerating *accelerating);

/* Returns whether `out` of n moves are too many outliers for late replies: more than a
 * tenth, and more than chance gives if one reply in twenty is late. */
bool travel_law_many(size_t out, size_t n);

/* Return the results of the tests of n moves. Each test rejects at most one in a hundred
 * right laws. */
bool travel_law_drifts(const struct travel_law *law);
bool travel_law_steps(const struct travel_law *law);
bool travel_law_spreads(const struct travel_law *law);
/* A weaker result: not reported, but errors must allow for it. */
bool travel_law_may_spread(const struct travel_law *law);
bool travel_law_bends(const struct travel_law *law);
/* Returns whether outliers share a cause, so that they are no outliers. */
bool travel_law_leaves_a_kind(const struct travel_law *law);
bool travel_law_mixes(const struct travel_law *law, size_t n);

#endif
