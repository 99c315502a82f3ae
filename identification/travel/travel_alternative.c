/* identification/travel/travel_alternative.c - effects that the law of travel times lacks
 * (docs/model/travel_time.md, section 3).
 *
 * An effect that is not found may still exist: its interval says how large it may be. Other
 * values of the law's terms explain a part of each effect. Only the rest shows in laps, and the
 * terms shift by that part. */
#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "identification/numeric/dot.h"
#include "identification/travel/travel_law_parts.h"
#include "identification/travel/travel_thresholds.def"

/* Laps below this count as this long in ratios, s. */
static const double LAP_LEAST_S = 0.3;
/* Squared rest of a column below which the law's terms explain all of it, s^2. */
static const double COLUMN_LEAST = 1e-9;

void law_test_column(const struct law_rows *w, struct travel_alternative *out)
{
    struct column_space_added added = {.count = 1};
    const size_t n = w->problem->n;
    for (size_t i = 0; i < n; i++) {
        const double z = w->counts[i] * w->z[i];
        column_space_add_row(&w->space, i, &z, w->residual[i], &added);
    }
    size_t rank;
    const double gain = column_space_gain(&w->space, &added, &rank, &out->value);
    const double rest = added.zz[0][0] - dot_product(added.qz[0], added.qz[0], w->space.rank);
    const double freedom = w->rows - (double)w->space.rank - 1.0;
    out->tested = rank > 0 && rest > COLUMN_LEAST && freedom >= 1.0;
    if (!out->tested) {
        return;
    }
    out->se = sqrt(law_mean_square(w, w->plain_rss - gain, 1.0) / rest);
    out->p = 2.0 * gsl_cdf_tdist_Q(fabs(out->value) / out->se, freedom);
    out->limit = fabs(out->value) + gsl_cdf_tdist_Pinv(0.975, freedom) * out->se;
    for (size_t j = 0; j < TRAVEL_P; j++) {
        out->shift[j] = -dot_product(w->space.turn[j], added.qz[0], w->space.rank);
    }
    for (size_t i = 0; i < n; i++) {
        const double *row = w->problem->x + i * w->problem->p;
        const double beyond = fabs(w->z[i] + dot_product(out->shift, row, w->problem->p));
        const double lap_s = w->problem->y[i] - w->residual[i];
        out->found_s = fmax(out->found_s, fabs(out->value) * beyond);
        out->limit_s = fmax(out->limit_s, out->limit * beyond);
        out->limit_ratio =
            fmax(out->limit_ratio, out->limit * beyond / fmax(lap_s, LAP_LEAST_S));
    }
}

/* Sets the column of an effect that falls with the size and ends at the quantile of the sizes
 * of those that move. */
static bool set_short(const struct law_rows *w, size_t k, double quantile, double *below)
{
    size_t moving = 0;
    for (size_t i = 0; i < w->problem->n; i++) {
        const double size = law_size(w->problem, i, k);
        if (size > 0.0) {
            w->y[moving++] = size;
        }
    }
    if (moving < SIDE_MIN) {
        return false;
    }
    gsl_sort(w->y, 1, moving);
    *below = gsl_stats_quantile_from_sorted_data(w->y, 1, moving, quantile);
    for (size_t i = 0; i < w->problem->n; i++) {
        const double size = law_size(w->problem, i, k);
        const double less = 1.0 - size / *below;
        w->z[i] = size > 0.0 && less > 0.0 ? less * less : 0.0;
    }
    return true;
}

/* Sets the column of an effect that grows from the first move to the last: of turns, drives, or
 * all laps (k: TRAVEL_SIZES). Returns whether enough moves have the size. */
static bool set_with_time(const struct law_rows *w, size_t k)
{
    const size_t n = w->problem->n;
    double largest = 0.0;
    size_t moving = 0;
    for (size_t i = 0; i < n && k < TRAVEL_SIZES; i++) {
        largest = fmax(largest, law_size(w->problem, i, k));
        moving += law_size(w->problem, i, k) > 0.0;
    }
    for (size_t i = 0; i < n; i++) {
        const double share = k < TRAVEL_SIZES ? law_size(w->problem, i, k) / largest : 1.0;
        w->z[i] = share * ((double)i / (double)(n - 1) - 0.5);
    }
    return n > 1 && (k == TRAVEL_SIZES || moving >= SIDE_MIN);
}

void law_find_alternatives(const struct law_rows *w, struct travel_law *law)
{
    static const double quantiles[] = {0.25, 0.5};
    for (size_t e = TRAVEL_SHORT_TURNS; e < TRAVEL_EFFECTS; e++) {
        struct travel_alternative *a = &law->alternative[e];
        const bool is_set =
            e < TRAVEL_LAPS_WITH_TIME    ? set_short(w, e / 2, quantiles[e % 2], &a->below)
            : e == TRAVEL_LAPS_WITH_TIME ? set_with_time(w, TRAVEL_SIZES)
                                         : set_with_time(w, e - TRAVEL_TURNS_WITH_TIME);
        if (is_set) {
            law_test_column(w, a);
        }
    }
}

/* Returns the probability by chance that laps grow with w->z as much, with rows divided by
 * their spread. Uses w->x up to 2 p columns. */
static double test_weighted(const struct law_rows *w, const double *spread)
{
    const size_t n = w->problem->n;
    const size_t p = w->problem->p;
    struct law_rows divided = *w;
    double *x = w->x;
    double *q = x + n * p;
    double *e = w->y;
    struct travel_alternative found = {.tested = false};
    divided.residual = e;
    for (size_t i = 0; i < n; i++) {
        const double weight = w->counts[i] / spread[i];
        for (size_t j = 0; j < p; j++) {
            x[i * p + j] = weight * w->problem->x[i * p + j];
        }
        e[i] = weight * w->residual[i];
        w->z[i] /= spread[i];
    }
    column_space_find(x, w->counts, n, p, q, &divided.space);
    for (size_t k = 0; k < divided.space.rank; k++) {
        const double *column = divided.space.q + k * n;
        const double along = dot_product(column, e, n);
        for (size_t i = 0; i < n; i++) {
            e[i] -= along * column[i];
        }
    }
    divided.plain_rss = dot_product(e, e, n);
    law_test_column(&divided, &found);
    return !found.tested ? 1.0 : found.value > 0.0 ? 0.5 * found.p : 1.0 - 0.5 * found.p;
}

/* A command that comes before the last move has ended waits for it: for a part of that lap, so
 * that the wait and its spread are in proportion to it. Rows are therefore divided by the sum
 * of that lap and the mean lap. An outlier counts as what the law says of it. */
void law_find_after(const struct law_rows *w, struct travel_law *law)
{
    const size_t n = w->problem->n;
    double *spread = w->x + 2 * n * w->problem->p;
    double sum_s = 0.0;
    for (size_t i = 1; i < n; i++) {
        const double lap_s = w->problem->y[i - 1];
        w->z[i] = w->counts[i - 1] > 0.0 ? lap_s : lap_s - w->residual[i - 1];
        sum_s += w->z[i];
    }
    w->z[0] = sum_s / (double)(n - 1);
    for (size_t i = 0; i < n; i++) {
        spread[i] = 0.5 * (1.0 + fmax(w->z[i], 0.0) / w->z[0]);
    }
    law_test_column(w, &law->after);
    law->after_sd = law->after.found_s / sqrt(law_mean_square(w, w->plain_rss, 0.0));
    law->after_p = test_weighted(w, spread);
}

bool travel_law_waits(const struct travel_law *law)
{
    return law->after_p < WAIT_CHANCE && law->after_sd > OFF_SHARE;
}

enum travel_effect travel_law_effect(const struct travel_law *law, double sd)
{
    enum travel_effect best = TRAVEL_EFFECTS;
    double p = EFFECT_CHANCE / TRAVEL_EFFECTS;
    for (enum travel_effect e = TRAVEL_SHORT_TURNS; e < TRAVEL_EFFECTS; e++) {
        const struct travel_alternative *a = &law->alternative[e];
        if (a->tested && a->p < p && a->found_s > OFF_SHARE * sd) {
            p = a->p;
            best = e;
        }
    }
    return best;
}

enum travel_effect travel_law_not_excluded(const struct travel_law *law)
{
    enum travel_effect most = TRAVEL_EFFECTS;
    double limit_s = 0.0;
    for (enum travel_effect e = TRAVEL_SHORT_TURNS; e < TRAVEL_EFFECTS; e++) {
        if (law->alternative[e].tested && law->alternative[e].limit_s > limit_s) {
            limit_s = law->alternative[e].limit_s;
            most = e;
        }
    }
    return most;
}
