/* identification/travel/travel_law_parts.h - what the files of travel_law share. */
#ifndef IDENTIFICATION_TRAVEL_TRAVEL_LAW_PARTS_H
#define IDENTIFICATION_TRAVEL_TRAVEL_LAW_PARTS_H

#include "identification/numeric/column_space.h"
#include "identification/travel/travel_law.h"

enum {
    DOF_TESTED = 6, /* left over beside added columns */
    ASIDE_MIN = 3   /* outliers that may share a cause */
};

/* Moves, what counts of them, and plain least squares of that. */
struct law_rows {
    const struct robust_ls_problem *problem;
    double sd;                 /* of the residuals that the fit left */
    double *counts;            /* [n] 1: the move counts, 0: it lies far out */
    double *residual;          /* [n] of plain least squares of what counts */
    double *x, *y;             /* [n x TRAVEL_LAW_COLUMNS], [n] for whatever needs room */
    double *z;                 /* [n], too */
    double *q;                 /* room of span */
    double rows;               /* that count */
    struct column_space space; /* of the design of what counts */
    double plain_rss;
    double t0_s, inverse[TRAVEL_SIZES]; /* 1/w, 1/v; NaN where not known */
};

enum { TRAVEL_LAW_COLUMNS = TRAVEL_P + TRAVEL_SIZES };

/* The term of rotations or displacements: 0, 1. */
static inline enum travel_term law_size_term(size_t k)
{
    return k == 0 ? TRAVEL_INV_W : TRAVEL_INV_V;
}

/* Rotation or displacement of a move. */
static inline double law_size(const struct robust_ls_problem *problem, size_t i, size_t k)
{
    return problem->x[i * problem->p + law_size_term(k)];
}

/* More moves than a few are a part of the law: then all count. */
void law_count_all_of_many(struct law_rows *w);

/* Plain least squares of what counts. */
MUST_USE enum status law_fit_plain(struct law_rows *w);

/* The residual variance with `added` more columns, rss being the squares that are left. A
 * difference below the resolution of the times (floor) is no evidence. */
double law_mean_square(const struct law_rows *w, double rss, double added);

/* Chance of so much less squares by `added` columns more, rss of which are left. */
double law_chance(const struct law_rows *w, double gain, double rss, double added);

/* The law of a robot that accelerates: law->bend_p and *out. residual [n] as the fit left
 * them. Not sought where nothing bends, as told by columns that bend as such laws do. */
MUST_USE enum status law_find_accelerating(struct law_rows *w, const double *residual,
                                           struct travel_law *law,
                                           struct travel_accelerating *out);

#endif
