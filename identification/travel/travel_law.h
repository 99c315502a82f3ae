/* identification/travel/travel_law.h - whether the moves keep to the law of travel times.
 *
 * F tests on columns added to the design (docs/model/travel_time.md, section 3): speeds that
 * change with the order of the moves, at once or little by little. Laps that bend with the size
 * of a move, as those of robots that accelerate do: the richer law is fitted robustly, for what
 * is short is an outlier to the plain one. Outliers that share a cause. Whether residuals
 * spread with the size of a move, as they do where a speed differs from move to move, and by
 * how much. Cold path: allocates through GSL while it runs. No I/O, no clock.
 */
#ifndef IDENTIFICATION_TRAVEL_TRAVEL_LAW_H
#define IDENTIFICATION_TRAVEL_TRAVEL_LAW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "identification/numeric/robust_ls.h"
#include "identification/travel/travel_fit.h"

/* Of rotation and of displacement. */
enum { TRAVEL_SIZES = 2 };
/* What moves left aside may share: rotation, displacement, place in the table. */
enum { TRAVEL_CAUSES = TRAVEL_SIZES + 1 };

struct travel_law {
    bool tested;    /* there are moves enough */
    double trend_p; /* chance of as much of a trend in a law that holds; 1: not tested */
    double trend[TRAVEL_SIZES]; /* of 1/w and 1/v from the first move to the last, as a share */
    double step_p;              /* of a change at once, all places together */
    size_t step_at;             /* the move from which on speeds are others */
    double step[TRAVEL_SIZES];  /* of 1/w and 1/v there, as a share */
    double spread_p;            /* of residuals that grow with the size of a move */
    double variation[TRAVEL_SIZES]; /* of 1/w and 1/v from move to move, sd as a share */
    double kinds_ratio; /* of the squares that are left, what two kinds of moves leave */
    double kinds[TRAVEL_SIZES]; /* by which share their 1/w and 1/v differ */
    size_t second_kind;         /* moves of it */
    double bend_p;              /* of laps that bend with the size of a move */
    double aside_p;             /* of outliers that lie together so: all causes together */
    size_t aside, aside_cause;  /* outliers; what they share, below TRAVEL_CAUSES */
    bool aside_more;            /* they have more of it than others */
};

/* problem as it was fitted; residual [n] and their sd as the fit left them, to tell late
 * replies by. accelerating: the law with accelerations, known where it explains the moves far
 * better. Returns STATUS_OK, STATUS_E_NOMEM, STATUS_E_MATH. */
MUST_USE enum status travel_law_test(const struct robust_ls_problem *problem,
                                     const double *residual, double sd, struct travel_law *law,
                                     struct travel_accelerating *accelerating);

/* Whether so many of n moves lie too far out for late replies alone: more than a tenth, and
 * more than chance brings where one reply in twenty is late. */
bool travel_law_many(size_t out, size_t n);

/* What the tests object to, of n moves: of laws that hold one in a hundred is told so by each
 * at most. */
bool travel_law_drifts(const struct travel_law *law);
bool travel_law_steps(const struct travel_law *law);
bool travel_law_spreads(const struct travel_law *law);
/* Not enough to be told, and enough for errors to allow for it. */
bool travel_law_may_spread(const struct travel_law *law);
bool travel_law_bends(const struct travel_law *law);
/* Moves that the fit leaves aside share a cause, so they are no outliers. */
bool travel_law_leaves_a_kind(const struct travel_law *law);
bool travel_law_mixes(const struct travel_law *law, size_t n);

#endif
