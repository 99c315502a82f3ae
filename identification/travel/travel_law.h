/* identification/travel/travel_law.h - tests whether moves follow the law of travel times.
 *
 * Additional columns of the design (docs/model/travel_time.md, section 3) find effects that the
 * law lacks: short moves that take longer or less, speeds that change with the order of the
 * moves, gradually or at once. They also bound what the moves do not exclude. The law of a
 * robot that accelerates is fitted robustly, because short moves are outliers of the plain law.
 * Further tests look for outliers with a common cause, and for residuals that spread with the
 * size of a move. Cold path: allocates through GSL while it runs. No I/O, no clock.
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

/* One effect as an additional column of the design, which changes a lap by one second at most.
 */
struct travel_alternative {
    bool tested;
    double below;     /* size where an effect of short moves ends; otherwise 0 */
    double value, se; /* coefficient of the column, s */
    double
        change;   /* with time: relative change of 1/w or 1/v from first to last; otherwise 0 */
    double p;     /* probability of such a value by chance */
    double limit; /* larger end of its 95 % interval, s */
    /* Most that `value` and `limit` change a lap by, in s and as a ratio of the lap: beyond
     * what other values of the law's terms explain. */
    double found_s, limit_s, limit_ratio;
    double shift[TRAVEL_P]; /* change of the law's terms by one second of the effect */
};

enum { TRAVEL_SLOWER_MAX = 10 };

struct travel_law {
    struct travel_alternative alternative[TRAVEL_EFFECTS];
    struct travel_alternative after; /* the lap before: commands wait for it, s per s of it */
    double after_sd;                 /* most that it changes a lap by, in sd of the residuals */
    double after_p;                  /* probability of a larger value by chance */
    bool tested;                     /* there are enough moves for the other tests */
    double trend_p; /* probability of such a trend of the speeds by chance; 1: not tested */
    /* relative change of 1/w and 1/v from the first to the last move */
    double trend[TRAVEL_SIZES];
    double step_p;             /* the same for a sudden change, over all positions */
    size_t step_at;            /* first move after the change */
    double step[TRAVEL_SIZES]; /* relative change of 1/w and 1/v there */
    double spread_p;           /* the same for residuals that grow with the size of a move */
    double spread_r;           /* correlation of their squares with squared sizes */
    size_t spread_size;        /* rotation or displacement */
    double variation[TRAVEL_SIZES]; /* relative sd of 1/w and 1/v between moves */
    /* The first moves with that size which take longer than the law says, and their count. */
    size_t slower[TRAVEL_SLOWER_MAX], slower_count;
    double side_p; /* the same for a difference between moves in both directions */
    double side;   /* relative difference of the inverse speed, positive minus negative sizes */
    double kinds_ratio; /* ratio of the squares with two kinds of moves to those with one */
    double kinds[TRAVEL_SIZES]; /* relative difference of their 1/w and 1/v */
    size_t second_kind;         /* number of moves of the second kind */
    double bend_p;              /* the same for laps that bend with the size of a move */
    double aside_p;             /* the same for outliers with a common cause, over all causes */
    size_t aside, aside_cause;  /* number of outliers; their cause, below TRAVEL_CAUSES */
    bool aside_more;            /* outliers have larger values of the cause than other moves */
    bool aside_grows;           /* outliers are the later the larger their cause is */
};

/* Runs all tests. problem as fitted; residual [n] and sd from the fit, to recognise late
 * replies. signs: those of rotations [n], then of displacements [n]; NULL: unknown.
 * accelerating: the law with accelerations, known if it explains the moves far better. Returns
 * STATUS_OK, STATUS_E_NOMEM, STATUS_E_MATH. */
MUST_USE enum status travel_law_test(const struct robust_ls_problem *problem,
                                     const double *residual, double sd, const double *signs,
                                     struct travel_law *law,
                                     struct travel_accelerating *accelerating);

/* Returns the effect with the smallest probability if it is real and large enough to matter;
 * otherwise TRAVEL_EFFECTS. */
enum travel_effect travel_law_effect(const struct travel_law *law, double sd);

/* Returns the effect of which most is not excluded, in s of a lap; TRAVEL_EFFECTS: not tested.
 */
enum travel_effect travel_law_not_excluded(const struct travel_law *law);

/* Returns whether the fit determines its term j alone. */
bool travel_knows_term(const struct robust_ls_fit *fit, size_t j);

/* Returns whether `out` of n moves are too many outliers for late replies: more than a
 * tenth, and more than chance gives if one reply in twenty is late. */
bool travel_law_many(size_t out, size_t n);

/* Return the results of the tests of n moves. Each test rejects at most one in a hundred
 * right laws. */
bool travel_law_drifts(const struct travel_law *law);
bool travel_law_steps(const struct travel_law *law);
bool travel_law_spreads(const struct travel_law *law);
/* Returns whether laps depend on the lap before. */
bool travel_law_waits(const struct travel_law *law);
/* A weaker result: not reported, but errors must allow for it. */
bool travel_law_may_spread(const struct travel_law *law);
bool travel_law_bends(const struct travel_law *law);
/* Returns whether outliers share a cause, so that they are no outliers. */
bool travel_law_leaves_a_kind(const struct travel_law *law);
bool travel_law_mixes(const struct travel_law *law, size_t n);

#endif
