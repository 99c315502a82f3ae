/* identification/travel/travel_law_parts.h - functions shared by the files of travel_law.
 */
#ifndef IDENTIFICATION_TRAVEL_TRAVEL_LAW_PARTS_H
#define IDENTIFICATION_TRAVEL_TRAVEL_LAW_PARTS_H

#include "identification/numeric/column_space.h"
#include "identification/travel/travel_law.h"

/* The moves, those that count, and their plain least-squares fit. */
struct law_rows {
    const struct robust_ls_problem *problem;
    double sd;                 /* standard deviation of the fit's residuals */
    const double *signs;       /* of rotations [n], then of displacements [n]; NULL: unknown */
    double *counts;            /* [n] 1: the move counts, 0: it is an outlier */
    double *residual;          /* [n] of plain least squares over the moves that count */
    double *x, *y;             /* [n x TRAVEL_LAW_COLUMNS], [n]; scratch */
    double *z;                 /* [n]; scratch */
    double *q;                 /* memory of space.q */
    double rows;               /* number of moves that count */
    struct column_space space; /* column space of their design */
    double plain_rss;
    double t0_s, inverse[TRAVEL_SIZES]; /* 1/w, 1/v; NaN if unknown */
};

enum { TRAVEL_LAW_COLUMNS = 2 * TRAVEL_P + 1 };

/* Returns the term of rotations (0) or displacements (1). */
static inline enum travel_term law_size_term(size_t k)
{
    return k == 0 ? TRAVEL_INV_W : TRAVEL_INV_V;
}

/* Returns the rotation or displacement of a move. */
static inline double law_size(const struct robust_ls_problem *problem, size_t i, size_t k)
{
    return problem->x[i * problem->p + law_size_term(k)];
}

/* If there are many outliers, they are part of the law: all moves then count. */
void law_count_all_of_many(struct law_rows *w);

/* Computes plain least squares over the moves that count. */
MUST_USE enum status law_fit_plain(struct law_rows *w);

/* Returns the residual variance with `added` more columns, rss being the remaining squares.
 * Differences below the resolution of the times (floor) are no evidence. */
double law_mean_square(const struct law_rows *w, double rss, double added);

/* Returns the probability of such a reduction of the squares by `added` columns; rss remain. */
double law_chance(const struct law_rows *w, double gain, double rss, double added);

/* Tests the effects that the law lacks: law->alternative. */
void law_find_alternatives(const struct law_rows *w, struct travel_law *law);

/* Tests whether laps grow with the lap before: law->after. */
void law_find_after(const struct law_rows *w, struct travel_law *law);

/* Tests by permutations whether residuals grow with the size of a move: law->spread_p and what
 * belongs to it. */
MUST_USE enum status law_find_spread(struct law_rows *w, struct travel_law *law);
/* Lists the moves of that size that are slower than the law, and tests whether moves in both
 * directions differ. */
void law_find_slower(struct law_rows *w, struct travel_law *law);

/* Tests the column w->z; *out but below and change. */
void law_test_column(const struct law_rows *w, struct travel_alternative *out);

/* Computes the law of a robot that accelerates: law->bend_p and *out. residual [n] as the
 * fit left them. It is not searched if columns for such laws show that nothing bends. */
MUST_USE enum status law_find_accelerating(struct law_rows *w, const double *residual,
                                           struct travel_law *law,
                                           struct travel_accelerating *out);

#endif
