#include "identification/travel/travel_law.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_vector.h>

enum {
    DOF_TESTED = 6, /* left over beside the added columns */
    STEPS = 19,     /* places at which speeds may have changed, evenly spread */
    SIDE_MIN = 4,   /* moves on each side of one */
    ADDED_MAX = 2,
    KINDS_ROUNDS = 12
};

/* A move this many standard deviations out is a late reply, unless there are many. */
static const double FAR_SD = 10.0;
/* Of robots that reply late one time in twenty a table has more than a tenth of such moves
 * every now and then, a short one above all. */
static const double MANY_RATIO = 0.1;
static const double LATE_RATIO = 0.05;
static const double LATE_CHANCE = 0.02;

static const enum travel_term sizes[TRAVEL_SIZES] = {TRAVEL_INV_W, TRAVEL_INV_V};

/* The columns beside the design, and room for both. */
struct wider {
    const struct robust_ls_problem *problem;
    double *x, *y;    /* [n x (p + ADDED_MAX)], [n] */
    double *z;        /* [n x ADDED_MAX], the added columns */
    double *counts;   /* [n] 1: the move counts, 0: it lies far out */
    double *residual; /* [n] of plain least squares of what counts */
    double rows;      /* that count */
    double plain_rss;
    size_t plain_rank;
    double t0_s, inverse[TRAVEL_SIZES]; /* 1/w, 1/v; NaN where not known */
};

bool travel_law_many(size_t out, size_t n)
{
    return (double)out > MANY_RATIO * (double)n &&
           gsl_cdf_binomial_Q((unsigned)out - 1, LATE_RATIO, (unsigned)n) < LATE_CHANCE;
}

static double size_of(const struct robust_ls_problem *problem, size_t i, size_t k)
{
    return problem->x[i * problem->p + sizes[k]];
}

/* Least squares of the design and `added` columns, over what counts. */
static enum status fit_wider(struct wider *w, size_t added, struct robust_ls_fit *fit,
                             double *rss)
{
    const size_t n = w->problem->n;
    const size_t p = w->problem->p;
    const struct robust_ls_problem wide = {
        .x = w->x, .y = w->y, .n = n, .p = p + added, .floor = w->problem->floor};
    for (size_t i = 0; i < n; i++) {
        const double root = w->counts[i];
        for (size_t j = 0; j < p; j++) {
            w->x[i * wide.p + j] = root * w->problem->x[i * p + j];
        }
        for (size_t j = 0; j < added; j++) {
            w->x[i * wide.p + p + j] = root * w->z[i * ADDED_MAX + j];
        }
        w->y[i] = root * w->problem->y[i];
    }
    const enum status st = robust_ls_run(&wide, ROBUST_LS_OLS, NULL, NULL, fit);
    *rss = st == STATUS_OK && n > fit->rank ? fit->sd * fit->sd * (double)(n - fit->rank) : 0.0;
    return st;
}

/* F of the added columns and the chance of as much. out: their coefficients where they are
 * determined, else zero. */
static enum status test_added(struct wider *w, double *f, double *p, double out[ADDED_MAX])
{
    struct robust_ls_fit fit;
    double rss;
    const enum status st = fit_wider(w, ADDED_MAX, &fit, &rss);
    *f = 0.0;
    *p = 1.0;
    if (st != STATUS_OK) {
        return st;
    }
    const double added = (double)fit.rank - (double)w->plain_rank;
    const double left = w->rows - (double)fit.rank;
    /* What cannot be timed is no evidence. */
    const double noise = fmax(rss / left, w->problem->floor * w->problem->floor);
    if (added > 0.0 && left >= DOF_TESTED) {
        *f = (w->plain_rss - rss) / added / noise;
        *p = gsl_cdf_fdist_Q(fmax(*f, 0.0), added, left);
    }
    for (size_t k = 0; k < ADDED_MAX; k++) {
        double unit[ROBUST_LS_P_MAX] = {0.0};
        unit[w->problem->p + k] = 1.0;
        out[k] = robust_ls_estimable(&fit, unit) ? fit.beta[w->problem->p + k] : 0.0;
    }
    return STATUS_OK;
}

/* More moves than a few are a part of the law. */
static void count_all_of_many(struct wider *w)
{
    const size_t n = w->problem->n;
    if (travel_law_many(n - (size_t)w->rows, n)) {
        for (size_t i = 0; i < n; i++) {
            w->counts[i] = 1.0;
        }
        w->rows = (double)n;
    }
}

/* Plain least squares of what counts. */
static enum status fit_plain(struct wider *w)
{
    struct robust_ls_fit plain;
    const enum status st = fit_wider(w, 0, &plain, &w->plain_rss);
    w->plain_rank = plain.rank;
    w->t0_s = st == STATUS_OK ? plain.beta[TRAVEL_T0] : nan("");
    for (size_t k = 0; k < TRAVEL_SIZES && st == STATUS_OK; k++) {
        double unit[ROBUST_LS_P_MAX] = {0.0};
        unit[sizes[k]] = 1.0;
        w->inverse[k] = robust_ls_estimable(&plain, unit) ? plain.beta[sizes[k]] : (double)NAN;
    }
    for (size_t i = 0; i < w->problem->n && st == STATUS_OK; i++) {
        double left = w->problem->y[i];
        for (size_t j = 0; j < w->problem->p; j++) {
            left -= plain.beta[j] * w->problem->x[i * w->problem->p + j];
        }
        w->residual[i] = left;
    }
    return st;
}

static void set_shares(const struct wider *w, const double coefficient[ADDED_MAX],
                       double share[TRAVEL_SIZES])
{
    for (size_t k = 0; k < TRAVEL_SIZES; k++) {
        share[k] = w->inverse[k] > 0.0 ? coefficient[k] / w->inverse[k] : 0.0;
    }
}

static enum status test_order(struct wider *w, struct travel_law *law)
{
    double *z = w->z;
    const size_t n = w->problem->n;
    double coefficient[ADDED_MAX];
    double f;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < TRAVEL_SIZES; k++) {
            const double order = (double)i / (double)(n - 1) - 0.5;
            z[i * ADDED_MAX + k] = order * size_of(w->problem, i, k);
        }
    }
    enum status st = test_added(w, &f, &law->trend_p, coefficient);
    set_shares(w, coefficient, law->trend);
    double most = -1.0;
    double tested = 0.0;
    for (size_t s = 1; s <= STEPS && st == STATUS_OK; s++) {
        const size_t at = n * s / (STEPS + 1);
        double p;
        if (at < SIDE_MIN || n - at < SIDE_MIN) {
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < TRAVEL_SIZES; k++) {
                z[i * ADDED_MAX + k] = i < at ? 0.0 : size_of(w->problem, i, k);
            }
        }
        st = test_added(w, &f, &p, coefficient);
        tested += 1.0;
        if (f > most) {
            most = f;
            law->step_p = p;
            law->step_at = at;
            set_shares(w, coefficient, law->step);
        }
    }
    law->step_p = fmin(law->step_p * fmax(tested, 1.0), 1.0);
    return st;
}

/* How much speeds differ from move to move: squared residuals against squared sizes. */
static enum status find_variation(struct wider *w, struct travel_law *law)
{
    struct robust_ls_fit fit;
    const struct robust_ls_problem spread = {
        .x = w->x, .y = w->y, .n = w->problem->n, .p = 1 + TRAVEL_SIZES, .floor = 1e-12};
    for (size_t i = 0; i < spread.n; i++) {
        const double counts = w->counts[i];
        w->x[i * spread.p] = counts;
        for (size_t k = 0; k < TRAVEL_SIZES; k++) {
            const double size = size_of(w->problem, i, k);
            w->x[i * spread.p + 1 + k] = counts * size * size;
        }
        w->y[i] = counts * w->residual[i] * w->residual[i];
    }
    const enum status st = robust_ls_run(&spread, ROBUST_LS_OLS, NULL, NULL, &fit);
    for (size_t k = 0; k < TRAVEL_SIZES && st == STATUS_OK; k++) {
        law->variation[k] =
            w->inverse[k] > 0.0 ? sqrt(fmax(fit.beta[1 + k], 0.0)) / w->inverse[k] : 0.0;
    }
    return st;
}

/* Whether residuals are larger the longer a move travels, by ranks. */
static enum status test_spread(struct wider *w, struct travel_law *law)
{
    const size_t n = w->problem->n;
    double *travel = w->y;
    double *size = w->x;
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (size_t k = 0; k < TRAVEL_SIZES; k++) {
            sum += w->inverse[k] > 0.0 ? size_of(w->problem, i, k) * w->inverse[k] : 0.0;
        }
        if (w->counts[i] > 0.0) {
            travel[used] = sum;
            size[used++] = fabs(w->residual[i]);
        }
    }
    const double rho = gsl_stats_spearman(travel, 1, size, 1, used, w->x + n);
    law->spread_p = gsl_cdf_ugaussian_Q(rho * sqrt((double)(used - 1)));
    return find_variation(w, law);
}

/* Moves of two kinds, each with speeds of its own: moves go to the kind they are nearer to
 * until none changes. Residuals of one kind, cut in two by their signs, still leave a third of
 * their squares; those of two leave what the noise is. */
static enum status test_kinds(struct wider *w, struct travel_law *law)
{
    const size_t n = w->problem->n;
    struct robust_ls_fit fit;
    double rss = w->plain_rss;
    size_t second = 0;
    bool changed = true;
    enum status st = STATUS_OK;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < TRAVEL_SIZES; k++) {
            w->z[i * ADDED_MAX + k] = w->residual[i] > 0.0 ? size_of(w->problem, i, k) : 0.0;
        }
    }
    for (int round = 0; round < KINDS_ROUNDS && changed && st == STATUS_OK; round++) {
        st = fit_wider(w, ADDED_MAX, &fit, &rss);
        changed = false;
        second = 0;
        for (size_t i = 0; i < n && st == STATUS_OK; i++) {
            double left = w->problem->y[i];
            double more = 0.0;
            bool was = false;
            for (size_t j = 0; j < w->problem->p; j++) {
                left -= fit.beta[j] * w->problem->x[i * w->problem->p + j];
            }
            for (size_t k = 0; k < TRAVEL_SIZES; k++) {
                more += fit.beta[w->problem->p + k] * size_of(w->problem, i, k);
                was = was || w->z[i * ADDED_MAX + k] > 0.0;
            }
            const bool is = fabs(left - more) < fabs(left);
            changed = changed || is != was;
            second += is && w->counts[i] > 0.0 ? 1 : 0;
            for (size_t k = 0; k < TRAVEL_SIZES; k++) {
                w->z[i * ADDED_MAX + k] = is ? size_of(w->problem, i, k) : 0.0;
            }
        }
    }
    const double coefficient[ADDED_MAX] = {fit.beta[w->problem->p],
                                           fit.beta[w->problem->p + 1]};
    set_shares(w, coefficient, law->kinds);
    law->second_kind = second;
    law->kinds_ratio = w->plain_rss > 0.0 ? rss / w->plain_rss : 1.0;
    return st;
}

/* Shares of laws that hold to which a test may object. */
static const double DRIFT_CHANCE = 0.003;
static const double STEP_CHANCE = 0.005;
static const double SPREAD_CHANCE = 0.005;
static const double BEND_CHANCE = 0.001;
static const double ASIDE_CHANCE = 0.005;
static const double MAY_SPREAD_CHANCE = 0.1;
/* Of the squares that one kind of moves leaves, two kinds leave so little. */
static const double KINDS_RATIO = 0.15;
enum { KIND_MIN = 4 };
/* Twice the logarithm of how much more likely moves are with accelerations: laws that hold stay
 * below 4 in a thousand simulated tables. */
static const double BEND_MIN = 8.0;
/* A speed that differs by less is nobody's concern. */
static const double MATTERS = 0.03;

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
    return law->step_p < STEP_CHANCE && share_matters(law->step, MATTERS);
}

bool travel_law_mixes(const struct travel_law *law, size_t n)
{
    return law->kinds_ratio < KINDS_RATIO && law->second_kind >= KIND_MIN &&
           law->second_kind + KIND_MIN <= n && share_matters(law->kinds, MATTERS);
}

bool travel_law_may_spread(const struct travel_law *law)
{
    return law->spread_p < MAY_SPREAD_CHANCE && share_matters(law->variation, MATTERS);
}

bool travel_law_spreads(const struct travel_law *law)
{
    return law->spread_p < SPREAD_CHANCE && share_matters(law->variation, MATTERS);
}

bool travel_law_bends(const struct travel_law *law)
{
    return law->tested && law->bend_p < BEND_CHANCE;
}

bool travel_law_leaves_a_kind(const struct travel_law *law)
{
    return law->tested && law->aside_p < ASIDE_CHANCE;
}

/* ---- the law with accelerations ---- */

enum {
    ACCELERATING_P = 1 + 2 * TRAVEL_SIZES,
    DELAYED_P = ACCELERATING_P + TRAVEL_SIZES, /* the same with ta and tr */
    ITERATIONS = 60
};
/* A step that moves no logarithm by more ends the search, or no share of the squares: an
 * acceleration too quick to be seen moves on for ever. */
static const double STEP_ENOUGH = 1e-7;
static const double FALL_ENOUGH = 1e-7;
static const double STEP_MAX = 0.5;
static const double TUKEY_C = 4.685;
static const double MAD_TO_SD = 1.4826;
/* A move keeps to a law within so many standard deviations. */
static const double NEAR_SD = 5.0;
/* So many moves further out than this share a cause, or none. */
static const double ASIDE_SD = 4.0;
enum { ASIDE_MIN = 3 };

/* Unknowns: t0, then the logarithms of speed and acceleration of each size; then ta and tr.
 * The law of a robot that accelerates has none of these two: what starts from rest has no other
 * start. With them it contains the law of constant speeds, too. */
struct bent {
    size_t p; /* ACCELERATING_P, or DELAYED_P */
    double q[DELAYED_P];
};

static_assert((size_t)DELAYED_P <= ROBUST_LS_P_MAX && (size_t)DELAYED_P <= TRAVEL_P + ADDED_MAX,
              "room for its columns");
static const enum travel_term delays[TRAVEL_SIZES] = {TRAVEL_TA, TRAVEL_TR};

static double travel_of(double size, double speed, double acceleration, double by[2])
{
    if (!(size > 0.0)) {
        by[0] = by[1] = 0.0;
        return 0.0;
    }
    if (size * acceleration > speed * speed) {
        by[0] = speed / acceleration - size / speed;
        by[1] = -speed / acceleration;
        return size / speed + speed / acceleration;
    }
    by[0] = 0.0;
    by[1] = -sqrt(size / acceleration);
    return 2.0 * sqrt(size / acceleration);
}

/* What the law takes for a move; row [p]: its slopes. */
static double bent_lap(const struct wider *w, const struct bent *at, size_t i, double *row)
{
    double lap = at->q[0];
    row[0] = 1.0;
    for (size_t k = 0; k < TRAVEL_SIZES; k++) {
        const double *log_of = at->q + 1 + 2 * k;
        lap += travel_of(size_of(w->problem, i, k), exp(log_of[0]), exp(log_of[1]),
                         row + 1 + 2 * k);
        if (at->p == DELAYED_P) {
            row[ACCELERATING_P + k] = w->problem->x[i * w->problem->p + delays[k]];
            lap += at->q[ACCELERATING_P + k] * row[ACCELERATING_P + k];
        }
    }
    return lap;
}

/* Jacobian and residuals there; returns the weighted sum of squares. */
static double set_rows(const struct wider *w, const struct bent *at)
{
    double sum = 0.0;
    for (size_t i = 0; i < w->problem->n; i++) {
        double *row = w->x + i * at->p;
        w->y[i] = w->counts[i] * (w->problem->y[i] - bent_lap(w, at, i, row));
        sum += w->y[i] * w->y[i];
        for (size_t j = 0; j < at->p; j++) {
            row[j] *= w->counts[i];
        }
    }
    return sum;
}

/* One Gauss-Newton step, halved until it helps; *length: of what was taken. */
static enum status take_step(struct wider *w, struct bent *at, struct robust_ls_fit *fit,
                             double *length)
{
    const struct robust_ls_problem step = {
        .x = w->x, .y = w->y, .n = w->problem->n, .p = at->p, .floor = w->problem->floor};
    const double before = set_rows(w, at);
    const enum status st = robust_ls_run(&step, ROBUST_LS_OLS, NULL, NULL, fit);
    double share = 1.0;
    *length = 0.0;
    for (size_t j = 1; j < ACCELERATING_P && st == STATUS_OK; j++) {
        share = fmin(share, STEP_MAX / fmax(fabs(fit->beta[j]), STEP_MAX));
    }
    for (int halved = 0; halved < 30 && st == STATUS_OK; halved++, share *= 0.5) {
        struct bent there = *at;
        for (size_t j = 0; j < at->p; j++) {
            there.q[j] = at->q[j] + share * fit->beta[j];
            *length = fmax(*length, share * fabs(fit->beta[j]));
        }
        const double after = set_rows(w, &there);
        if (after <= before) {
            *at = there;
            *length = before - after > FALL_ENOUGH * before ? *length : 0.0;
            return st;
        }
        *length = 0.0;
    }
    (void)set_rows(w, at);
    return st;
}

static void take_result(const struct wider *w, const struct bent *at,
                        const struct robust_ls_fit *fit, struct travel_accelerating *out)
{
    const double left = w->rows - (double)fit->rank;
    out->t0_s = at->q[0];
    out->residual_s_sd = sqrt(set_rows(w, at) / left);
    for (size_t j = 0; j < ACCELERATING_P; j++) {
        double unit[ROBUST_LS_P_MAX] = {0.0};
        unit[j] = 1.0;
        const bool known = robust_ls_estimable(fit, unit);
        const double se = known ? robust_ls_se(fit, unit) : nan("");
        const double value = known ? exp(at->q[j]) : nan("");
        const size_t k = (j - 1) / 2;
        if (j == 0) {
            out->t0_se_s = se;
        } else if (j % 2 == 1) {
            out->speed[k] = value;
            out->speed_se[k] = value * se;
        } else {
            out->acceleration[k] = value;
            out->acceleration_se[k] = value * se;
        }
    }
    /* What cannot be timed is no evidence. */
    const double floor2 = w->problem->floor * w->problem->floor * w->rows;
    out->gain = w->rows * log((w->plain_rss + floor2) /
                              (out->residual_s_sd * out->residual_s_sd * left + floor2));
    out->known = left > 0.0 && out->gain > BEND_MIN && out->t0_se_s >= 0.0;
}

/* What the law leaves of all moves, into w->residual, and the robust scale of it. */
static double measure_residuals(struct wider *w, const struct bent *at)
{
    const size_t n = w->problem->n;
    double *sorted = w->z;
    for (size_t i = 0; i < n; i++) {
        double row[DELAYED_P];
        w->residual[i] = w->problem->y[i] - bent_lap(w, at, i, row);
        sorted[i] = fabs(w->residual[i]);
    }
    /* As many as there are unknowns are small whatever the noise is. */
    return fmax(MAD_TO_SD * gsl_stats_select(sorted, 1, n, (n + at->p) / 2), w->problem->floor);
}

/* Steps until none helps. robust: moves weigh as Tukey has it, by what this law leaves of
 * them; else as they count. */
static enum status descend_from(struct wider *w, bool robust, struct bent *at,
                                struct robust_ls_fit *fit)
{
    double length = 1.0;
    enum status st = STATUS_OK;
    for (int i = 0; i < ITERATIONS && st == STATUS_OK && length > STEP_ENOUGH; i++) {
        const double reach = robust ? TUKEY_C * measure_residuals(w, at) : 0.0;
        for (size_t j = 0; j < w->problem->n && robust; j++) {
            const double z = w->residual[j] / reach;
            w->counts[j] = fmax(1.0 - z * z, 0.0);
        }
        st = take_step(w, at, fit, &length);
    }
    return st;
}

/* Takes what is found from there when most moves keep closer to it. */
static enum status try_start(struct wider *w, struct bent at, struct bent *best, double *scale)
{
    struct robust_ls_fit fit;
    const enum status st = descend_from(w, true, &at, &fit);
    const double here = st == STATUS_OK ? measure_residuals(w, &at) : HUGE_VAL;
    if (here < *scale) {
        *scale = here;
        *best = at;
    }
    /* A start that leads nowhere is one of several. */
    return st == STATUS_E_MATH ? STATUS_OK : st;
}

/* The bent law to which most moves keep closest, best->p of unknowns. A start in *best is one
 * of those tried. */
static enum status search_bent(struct wider *w, struct bent *best)
{
    /* Full speed is reached over such a share of the longest move, and is so much more than
     * that of the law without. */
    static const double starts[][2] = {{0.2, 1.1}, {1.0, 1.5}, {0.03, 1.0}, {0.5, 0.7}};
    double largest[TRAVEL_SIZES] = {1e-3, 1e-3};
    double scale = HUGE_VAL;
    for (size_t i = 0; i < w->problem->n * TRAVEL_SIZES; i++) {
        const size_t k = i % TRAVEL_SIZES;
        largest[k] = fmax(largest[k], size_of(w->problem, i / TRAVEL_SIZES, k));
    }
    enum status st = best->p == DELAYED_P ? try_start(w, *best, best, &scale) : STATUS_OK;
    for (size_t s = 0; s < COUNT(starts) && st == STATUS_OK; s++) {
        struct bent at = {.p = best->p, .q = {0.5 * w->t0_s}};
        for (size_t k = 0; k < TRAVEL_SIZES; k++) {
            const double speed = w->inverse[k] > 0.0 ? starts[s][1] / w->inverse[k] : 1.0;
            at.q[1 + 2 * k] = log(speed);
            at.q[2 + 2 * k] = log(speed * speed / (starts[s][0] * largest[k]));
        }
        st = try_start(w, at, best, &scale);
    }
    return st == STATUS_OK && !(scale < HUGE_VAL) ? STATUS_E_MATH : st;
}

/* A move counts that keeps to either law: late replies keep to neither, and short moves of a
 * robot that accelerates to one alone. */
static void count_either(struct wider *w, const double *residual, double near)
{
    const size_t n = w->problem->n;
    w->rows = 0.0;
    for (size_t i = 0; i < n; i++) {
        w->counts[i] = fmin(fabs(residual[i]), fabs(w->residual[i])) > near ? 0.0 : 1.0;
        w->rows += w->counts[i];
    }
    count_all_of_many(w);
}

/* Chance of `more` squares than `rss`, which TRAVEL_SIZES more unknowns leave. */
static double chance_of(const struct wider *w, double more, double rss)
{
    const double left = w->rows - (double)(w->plain_rank + TRAVEL_SIZES);
    /* What cannot be timed is no evidence. */
    const double noise = fmax(rss / left, w->problem->floor * w->problem->floor);
    return left >= DOF_TESTED ? gsl_cdf_fdist_Q(fmax((more - rss) / noise / TRAVEL_SIZES, 0.0),
                                                TRAVEL_SIZES, left)
                              : 1.0;
}

static enum status find_accelerating(struct wider *w, const double *residual, double sd,
                                     struct travel_law *law, struct travel_accelerating *out)
{
    struct robust_ls_fit fit;
    struct bent law_of = {.p = ACCELERATING_P};
    enum status st = search_bent(w, &law_of);
    struct bent wide = law_of;
    wide.p = DELAYED_P;
    st = st == STATUS_OK ? search_bent(w, &wide) : st;
    if (st != STATUS_OK) {
        return st;
    }
    const double near = fmin(measure_residuals(w, &wide), fmax(sd, w->problem->floor));
    count_either(w, residual, NEAR_SD * near);
    st = fit_plain(w);
    st = st == STATUS_OK ? descend_from(w, false, &wide, &fit) : st;
    const double wide_rss = st == STATUS_OK ? set_rows(w, &wide) : 0.0;
    st = st == STATUS_OK ? descend_from(w, false, &law_of, &fit) : st;
    if (st == STATUS_OK) {
        law->bend_p = chance_of(w, w->plain_rss, wide_rss);
        take_result(w, &law_of, &fit, out);
        out->known = out->known && chance_of(w, set_rows(w, &law_of), wide_rss) > BEND_CHANCE;
    }
    return st;
}

/* Whether moves that a fit leaves aside share a cause: by ranks, against the sizes of the moves
 * and against their order. */
static void test_aside(struct wider *w, const double *residual, double sd,
                       struct travel_law *law)
{
    const size_t n = w->problem->n;
    const double far = ASIDE_SD * fmax(sd, w->problem->floor);
    double *aside = w->y;
    double *cause = w->z;
    for (size_t i = 0; i < n; i++) {
        aside[i] = fabs(residual[i]) > far ? 1.0 : 0.0;
        law->aside += fabs(residual[i]) > far ? 1 : 0;
    }
    for (size_t k = 0; k < TRAVEL_CAUSES && law->aside >= ASIDE_MIN; k++) {
        for (size_t i = 0; i < n; i++) {
            cause[i] = k < TRAVEL_SIZES ? size_of(w->problem, i, k) : (double)i;
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

/* What counts: all moves but a few that lie far out. More than a few are a part of the law. */
static void count_rows(struct wider *w, const double *residual, double sd)
{
    const size_t n = w->problem->n;
    const double far = FAR_SD * fmax(sd, w->problem->floor);
    double *counts = w->counts;
    for (size_t i = 0; i < n; i++) {
        counts[i] = fabs(residual[i]) > far ? 0.0 : 1.0;
        w->rows += counts[i];
    }
    count_all_of_many(w);
}

static enum status run_tests(struct wider *w, const double *residual, double sd,
                             struct travel_law *law, struct travel_accelerating *accelerating)
{
    enum status st = fit_plain(w);
    if (st != STATUS_OK || w->rows < (double)(w->plain_rank + ADDED_MAX + DOF_TESTED)) {
        return st;
    }
    law->tested = true;
    test_aside(w, residual, sd, law);
    st = test_order(w, law);
    st = st == STATUS_OK ? test_spread(w, law) : st;
    st = st == STATUS_OK ? test_kinds(w, law) : st;
    return st == STATUS_OK ? find_accelerating(w, residual, sd, law, accelerating) : st;
}

enum status travel_law_test(const struct robust_ls_problem *problem, const double *residual,
                            double sd, struct travel_law *law,
                            struct travel_accelerating *accelerating)
{
    const size_t n = problem->n;
    const size_t wide = problem->p + ADDED_MAX;
    gsl_vector *memory = gsl_vector_calloc(n * (wide + ADDED_MAX + 3));
    enum status st = STATUS_E_NOMEM;
    *law = (struct travel_law){.trend_p = 1.0,
                               .step_p = 1.0,
                               .spread_p = 1.0,
                               .bend_p = 1.0,
                               .aside_p = 1.0,
                               .kinds_ratio = 1.0};
    *accelerating = (struct travel_accelerating){.known = false};
    if (memory) {
        double *const x = memory->data;
        double *const y = x + n * wide;
        struct wider w = {.problem = problem,
                          .x = x,
                          .y = y,
                          .z = y + n,
                          .counts = y + n + n * ADDED_MAX,
                          .residual = y + 2 * n + n * ADDED_MAX};
        count_rows(&w, residual, sd);
        st = run_tests(&w, residual, sd, law, accelerating);
    }
    gsl_vector_free(memory);
    return st;
}
