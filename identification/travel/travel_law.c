#include "identification/travel/travel_law.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_vector.h>

#include "identification/numeric/dot.h"
#include "identification/travel/travel_law_parts.h"
#include "identification/travel/travel_thresholds.def"

enum {
    STEPS = 19, /* trial positions of a change of the speeds, evenly spaced */
    KINDS_ROUNDS = 12
};

/* Adds a row with the sizes of a move, multiplied by `by`. */
static void add_sizes(const struct law_rows *w, size_t i, double by,
                      struct column_space_added *added)
{
    double z[TRAVEL_SIZES];
    for (size_t k = 0; k < TRAVEL_SIZES; k++) {
        z[k] = w->counts[i] * by * law_size(w->problem, i, k);
    }
    column_space_add_row(&w->space, i, z, w->residual[i], added);
}

/* Gain from additional columns, with its F statistic. */
struct gain {
    double squares, rank, f;
};

static struct gain test_added(const struct law_rows *w, const struct column_space_added *added,
                              double coefficient[TRAVEL_SIZES])
{
    size_t rank;
    const double squares = column_space_gain(&w->space, added, &rank, coefficient);
    const double each = squares / (double)rank;
    const double f =
        rank > 0 ? each / law_mean_square(w, w->plain_rss - squares, (double)rank) : 0.0;
    return (struct gain){squares, (double)rank, f};
}

static double chance_of_gain(const struct law_rows *w, const struct gain *gain)
{
    return law_chance(w, gain->squares, w->plain_rss - gain->squares, gain->rank);
}

static void set_shares(const struct law_rows *w, const double coefficient[TRAVEL_SIZES],
                       double share[TRAVEL_SIZES])
{
    for (size_t k = 0; k < TRAVEL_SIZES; k++) {
        share[k] = w->inverse[k] > 0.0 ? coefficient[k] / w->inverse[k] : 0.0;
    }
}

/* Tests for speeds that change with the order of the moves: gradually, or at once, tried
 * from the last position backwards. */
static void test_order(const struct law_rows *w, struct travel_law *law)
{
    const size_t n = w->problem->n;
    struct column_space_added trend = {.count = TRAVEL_SIZES};
    struct column_space_added after = {.count = TRAVEL_SIZES};
    double coefficient[TRAVEL_SIZES];
    for (size_t i = 0; i < n; i++) {
        add_sizes(w, i, (double)i / (double)(n - 1) - 0.5, &trend);
    }
    struct gain gain = test_added(w, &trend, coefficient);
    law->trend_p = chance_of_gain(w, &gain);
    set_shares(w, coefficient, law->trend);
    struct gain most = {.f = -1.0};
    double tested = 0.0;
    size_t from = n;
    for (size_t s = STEPS; s >= 1; s--) {
        const size_t at = n * s / (STEPS + 1);
        while (from > at) {
            add_sizes(w, --from, 1.0, &after);
        }
        if (at < SIDE_MIN || n - at < SIDE_MIN) {
            continue;
        }
        gain = test_added(w, &after, coefficient);
        tested += 1.0;
        if (gain.f >= most.f) {
            most = gain;
            law->step_at = at;
            set_shares(w, coefficient, law->step);
        }
    }
    if (law->step_at > 0) {
        law->step_p = fmin(chance_of_gain(w, &most) * fmax(tested, 1.0), 1.0);
    }
}

/* Tests for two kinds of moves, each with its own speeds. Moves are assigned to the nearer
 * kind until nothing changes (as in k-means). For moves of one kind, a division by the sign
 * of the residuals leaves about a third of the squares. For two kinds, only the noise
 * remains. */
static void test_kinds(const struct law_rows *w, struct travel_law *law)
{
    const size_t n = w->problem->n;
    const size_t p = w->problem->p;
    double *second = w->z; /* 1: of the second kind */
    double coefficient[TRAVEL_SIZES] = {0.0};
    double rss = w->plain_rss;
    bool changed = true;
    for (size_t i = 0; i < n; i++) {
        second[i] = w->residual[i] > 0.0 ? 1.0 : 0.0;
    }
    for (int round = 0; round < KINDS_ROUNDS && changed; round++) {
        struct column_space_added kind = {.count = TRAVEL_SIZES};
        for (size_t i = 0; i < n; i++) {
            add_sizes(w, i, second[i], &kind);
        }
        size_t rank;
        double shift[COLUMN_SPACE_P_MAX] = {0.0}; /* correction of the first kind's terms */
        rss = w->plain_rss - column_space_gain(&w->space, &kind, &rank, coefficient);
        for (size_t j = 0; j < p * TRAVEL_SIZES; j++) {
            shift[j % p] += coefficient[j / p] *
                            dot_product(w->space.turn[j % p], kind.qz[j / p], w->space.rank);
        }
        changed = false;
        law->second_kind = 0;
        for (size_t i = 0; i < n; i++) {
            const double *row = w->problem->x + i * p;
            const double left = w->residual[i] + dot_product(shift, row, p);
            const double more = coefficient[0] * law_size(w->problem, i, 0) +
                                coefficient[1] * law_size(w->problem, i, 1);
            const double is = fabs(left - more) < fabs(left) ? 1.0 : 0.0;
            changed = changed || fabs(is - second[i]) > 0.0;
            law->second_kind += is * w->counts[i] > 0.0 ? 1 : 0;
            second[i] = is;
        }
    }
    set_shares(w, coefficient, law->kinds);
    law->kinds_ratio = w->plain_rss > 0.0 ? rss / w->plain_rss : 1.0;
}

static bool share_matters(const double share[TRAVEL_SIZES], double least)
{
    return fmax(fabs(share[0]), fabs(share[1])) > least;
}

bool travel_law_drifts(const struct travel_law *law)
{
    return law->trend_p < DRIFT_CHANCE && share_matters(law->trend, MATTERS);
}

bool travel_law_steps(const struct travel_law *law)
{
    return law->step_p < LAW_CHANCE && share_matters(law->step, MATTERS);
}

bool travel_law_mixes(const struct travel_law *law, size_t n)
{
    return law->kinds_ratio < KINDS_RATIO && law->second_kind >= SIDE_MIN &&
           law->second_kind + SIDE_MIN <= n && share_matters(law->kinds, MATTERS);
}

bool travel_law_may_spread(const struct travel_law *law)
{
    return law->spread_p < MAY_SPREAD_CHANCE && share_matters(law->variation, MATTERS);
}

bool travel_law_spreads(const struct travel_law *law)
{
    return law->spread_p < LAW_CHANCE && share_matters(law->variation, MATTERS);
}

bool travel_law_leaves_a_kind(const struct travel_law *law)
{
    return law->tested && law->aside_p < LAW_CHANCE;
}

/* Tests whether outliers are the later the larger their size: something slows single moves. A
 * late reply does not know how far the move went. */
static void test_growth(struct law_rows *w, const double *residual, struct travel_law *law)
{
    const size_t n = w->problem->n;
    for (size_t k = 0; k < TRAVEL_SIZES; k++) {
        size_t far = 0;
        for (size_t i = 0; i < n; i++) {
            const double size = law_size(w->problem, i, k);
            if (fabs(residual[i]) > OUTLIER_SD * w->sd && size > 0.0) {
                w->x[far] = size;
                w->y[far++] = residual[i];
            }
        }
        if (far <= ASIDE_MIN) {
            continue;
        }
        const double r = gsl_stats_correlation(w->x, 1, w->y, 1, far);
        const double freedom = (double)far - 2.0;
        const double p =
            TRAVEL_SIZES * gsl_cdf_tdist_Q(r * sqrt(freedom / (1.0 - r * r)), freedom);
        if (p < law->aside_p) {
            law->aside_p = p;
            law->aside_cause = k;
            law->aside_grows = true;
        }
    }
}

/* Tests by rank correlation whether outliers share a cause: the sizes of the moves, or their
 * order. */
static void test_aside(struct law_rows *w, const double *residual, struct travel_law *law)
{
    const size_t n = w->problem->n;
    const double far = OUTLIER_SD * w->sd;
    double *aside = w->y;
    double *cause = w->z;
    for (size_t i = 0; i < n; i++) {
        aside[i] = fabs(residual[i]) > far ? 1.0 : 0.0;
        law->aside += fabs(residual[i]) > far ? 1 : 0;
    }
    for (size_t k = 0; k < TRAVEL_CAUSES && law->aside >= ASIDE_MIN; k++) {
        for (size_t i = 0; i < n; i++) {
            cause[i] = k < TRAVEL_SIZES ? law_size(w->problem, i, k) : (double)i;
        }
        const double rho = gsl_stats_spearman(cause, 1, aside, 1, n, w->x);
        const double p = 2.0 * gsl_cdf_ugaussian_Q(fabs(rho) * sqrt((double)(n - 1)));
        if (TRAVEL_CAUSES * p < law->aside_p) {
            law->aside_p = TRAVEL_CAUSES * p;
            law->aside_cause = k;
            law->aside_more = rho > 0.0;
        }
    }
}

/* Selects the moves that count: all except a few outliers. If there are more than a few,
 * they are part of the law. */
static void count_rows(struct law_rows *w, const double *residual)
{
    const size_t n = w->problem->n;
    const double far = FAR_SD * w->sd;
    double *counts = w->counts;
    for (size_t i = 0; i < n; i++) {
        counts[i] = fabs(residual[i]) > far ? 0.0 : 1.0;
        w->rows += counts[i];
    }
    law_count_all_of_many(w);
}

static enum status run_tests(struct law_rows *w, const double *residual, struct travel_law *law,
                             struct travel_accelerating *accelerating)
{
    enum status st = law_fit_plain(w);
    if (st == STATUS_OK) {
        law_find_alternatives(w, law);
    }
    if (st != STATUS_OK ||
        w->rows < (double)w->space.rank + (double)(TRAVEL_SIZES + DOF_TESTED)) {
        return st;
    }
    law->tested = true;
    law_find_after(w, law);
    test_aside(w, residual, law);
    test_growth(w, residual, law);
    test_order(w, law);
    if (w->rows >= (double)(w->space.rank + KINDS_DOF_MIN)) {
        test_kinds(w, law);
    }
    st = law_find_spread(w, law);
    if (st == STATUS_OK && (travel_law_spreads(law) || travel_law_mixes(law, w->problem->n))) {
        law_find_slower(w, law);
    }
    return st == STATUS_OK ? law_find_accelerating(w, residual, law, accelerating) : st;
}

enum status travel_law_test(const struct robust_ls_problem *problem, const double *residual,
                            double sd, const double *signs, struct travel_law *law,
                            struct travel_accelerating *accelerating)
{
    const size_t n = problem->n;
    gsl_vector *memory = gsl_vector_calloc(n * (TRAVEL_LAW_COLUMNS + TRAVEL_P + 4));
    enum status st = STATUS_E_NOMEM;
    *law = (struct travel_law){.trend_p = 1.0,
                               .step_p = 1.0,
                               .spread_p = 1.0,
                               .side_p = 1.0,
                               .bend_p = 1.0,
                               .aside_p = 1.0,
                               .after_p = 1.0,
                               .kinds_ratio = 1.0};
    *accelerating = (struct travel_accelerating){.known = false};
    if (memory) {
        double *const y = memory->data + n * TRAVEL_LAW_COLUMNS;
        struct law_rows w = {.problem = problem,
                             .sd = fmax(sd, problem->floor),
                             .signs = signs,
                             .x = memory->data,
                             .y = y,
                             .z = y + n,
                             .counts = y + 2 * n,
                             .residual = y + 3 * n,
                             .q = y + 4 * n};
        count_rows(&w, residual);
        st = run_tests(&w, residual, law, accelerating);
    }
    gsl_vector_free(memory);
    return st;
}
