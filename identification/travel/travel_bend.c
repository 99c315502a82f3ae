/* identification/travel/travel_bend.c - law of a robot that accelerates
 * (docs/model/travel_time.md, section 3)
 *
 * Laps then bend with the size of a move: short moves never reach full speed. The search is
 * Gauss-Newton with step halving in the logarithms of speed and acceleration, from several
 * starts, because the sum of squares has several minima. Each start is robust (Tukey), because
 * late replies would otherwise decide. First, may_bend() checks with linear columns whether the
 * search can pay off at all. The test compares laws with the same free delays, so that it
 * asks for the bend alone. It assumes independent residuals of equal spread; travel_law.c
 * tests the spread. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>

#include "identification/travel/travel_law_parts.h"
#include "identification/travel/travel_thresholds.def"

enum {
    ACCELERATING_P = 1 + 2 * TRAVEL_SIZES,
    DELAYED_P = ACCELERATING_P + TRAVEL_SIZES, /* the same with ta and tr */
    ITERATIONS = 60,
    HALVINGS = 30,
    STARTS = 4
};

/* Accuracy of a search: step in the logarithms, and relative gain in the squares. The second
 * stops a search whose acceleration is too fast to be visible. Searches from several starts
 * are less accurate. */
static const double ENOUGH = 1e-7;
static const double START_ENOUGH = 1e-4;
static const double STEP_MAX = 0.5;
/* Relative damping of the normal equations, so that similar columns do not stop a search. */
static const double DAMPING = 1e-9;
static const double TUKEY_C = 4.685;
static const double MAD_TO_SD = 1.4826;
/* Starts: ratio of the acceleration distance to the longest move, and ratio of full speed to
 * that of the plain law. */
static const double starts[STARTS][2] = {{0.2, 1.1}, {1.0, 1.5}, {0.03, 1.0}, {0.5, 0.7}};

/* Unknowns: t0, the logarithms of speed and acceleration of each size, and for DELAYED_P
 * also ta and tr. The law of an accelerating robot has no such delays, because a move that
 * starts from rest has no other start. With them, it contains the law of constant speeds. */
struct bent {
    size_t p; /* ACCELERATING_P, or DELAYED_P */
    double q[DELAYED_P];
};

static_assert((size_t)DELAYED_P <= COLUMN_SPACE_P_MAX &&
                  (size_t)DELAYED_P <= TRAVEL_LAW_COLUMNS,
              "room for its columns");
static_assert(3 * TRAVEL_SIZES <= COLUMN_SPACE_ADDED_MAX, "three columns of each size");
static const enum travel_term delays[TRAVEL_SIZES] = {TRAVEL_TA, TRAVEL_TR};

bool travel_law_bends(const struct travel_law *law)
{
    return law->tested && law->bend_p < BEND_CHANCE;
}

/* Returns the travel time; by: its derivatives by the logarithms of speed and acceleration. */
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

/* Computes w->residual, the residuals of all moves, and w->x, their derivatives by rows of
 * at->p. */
static void set_rows(struct law_rows *w, const struct bent *at)
{
    double speed[TRAVEL_SIZES];
    double acceleration[TRAVEL_SIZES];
    for (size_t k = 0; k < TRAVEL_SIZES; k++) {
        speed[k] = exp(at->q[1 + 2 * k]);
        acceleration[k] = exp(at->q[2 + 2 * k]);
    }
    for (size_t i = 0; i < w->problem->n; i++) {
        double *row = w->x + i * at->p;
        double left = w->problem->y[i] - at->q[0];
        row[0] = 1.0;
        for (size_t k = 0; k < TRAVEL_SIZES; k++) {
            left -= travel_of(law_size(w->problem, i, k), speed[k], acceleration[k],
                              row + 1 + 2 * k);
            if (at->p == DELAYED_P) {
                row[ACCELERATING_P + k] = w->problem->x[i * w->problem->p + delays[k]];
                left -= at->q[ACCELERATING_P + k] * row[ACCELERATING_P + k];
            }
        }
        w->residual[i] = left;
    }
}

/* Sum of squares; w->counts are roots of the weights. */
static double sum_squares(const struct law_rows *w)
{
    double sum = 0.0;
    for (size_t i = 0; i < w->problem->n; i++) {
        const double left = w->counts[i] * w->residual[i];
        sum += left * left;
    }
    return sum;
}

/* Robust scale of the residuals of all moves. */
static double scale_residuals(struct law_rows *w, const struct bent *at)
{
    const size_t n = w->problem->n;
    for (size_t i = 0; i < n; i++) {
        w->z[i] = fabs(w->residual[i]);
    }
    /* A fit makes one residual per unknown small whatever the noise is. */
    return fmax(MAD_TO_SD * gsl_stats_select(w->z, 1, n, (n + at->p) / 2), w->problem->floor);
}

/* Computes the products of the present rows. p is a compile-time constant, so that the sums of
 * one row of m stay in registers. */
static inline void multiply_rows(const struct law_rows *w, size_t p,
                                 double m[COLUMN_SPACE_P_MAX][COLUMN_SPACE_P_MAX],
                                 double step[COLUMN_SPACE_P_MAX])
{
    for (size_t j = 0; j < p; j++) {
        double sum[DELAYED_P] = {0.0};
        double right = 0.0;
        for (size_t i = 0; i < w->problem->n; i++) {
            const double *row = w->x + i * p;
            const double product = w->counts[i] * w->counts[i] * row[j];
            for (size_t k = 0; k < p; k++) {
                sum[k] += product * row[k];
            }
            right += product * w->residual[i];
        }
        memcpy(m[j], sum, p * sizeof *sum);
        step[j] = right;
    }
}

/* Gauss-Newton step from the present rows; false if numbers are not finite. */
static bool find_step(const struct law_rows *w, size_t p, double step[COLUMN_SPACE_P_MAX])
{
    double m[COLUMN_SPACE_P_MAX][COLUMN_SPACE_P_MAX];
    if (p == DELAYED_P) {
        multiply_rows(w, DELAYED_P, m, step);
    } else {
        multiply_rows(w, ACCELERATING_P, m, step);
    }
    for (size_t j = 0; j < p; j++) {
        /* An unknown without moves does not change. */
        m[j][j] = m[j][j] > 0.0 ? m[j][j] * (1.0 + DAMPING) : 1.0;
    }
    return column_space_cholesky(m, step, p);
}

/* Applies the step, halved until it reduces the squares. Returns its length; 0 if no step,
 * or hardly any, helps. */
static double apply_step(struct law_rows *w, struct bent *at,
                         const double step[COLUMN_SPACE_P_MAX], double enough)
{
    const double before = sum_squares(w);
    const struct bent from = *at;
    double share = 1.0;
    for (size_t j = 1; j < ACCELERATING_P; j++) {
        share = fmin(share, STEP_MAX / fmax(fabs(step[j]), STEP_MAX));
    }
    for (int halved = 0; halved < HALVINGS; halved++, share *= 0.5) {
        double length = 0.0;
        for (size_t j = 0; j < at->p; j++) {
            at->q[j] = from.q[j] + share * step[j];
            length = fmax(length, share * fabs(step[j]));
        }
        set_rows(w, at);
        const double after = sum_squares(w);
        if (after <= before) {
            return before - after > enough * before ? length : 0.0;
        }
    }
    *at = from;
    set_rows(w, at);
    return 0.0;
}

/* Steps until none helps. robust: Tukey's weights from the residuals; otherwise the present
 * weights. */
static void descend_from(struct law_rows *w, bool robust, struct bent *at)
{
    const double enough = robust ? START_ENOUGH : ENOUGH;
    double step[COLUMN_SPACE_P_MAX];
    double length = 1.0;
    set_rows(w, at);
    for (int i = 0; i < ITERATIONS && length > enough; i++) {
        const double reach = robust ? TUKEY_C * scale_residuals(w, at) : 0.0;
        for (size_t j = 0; j < w->problem->n && robust; j++) {
            const double z = w->residual[j] / reach;
            w->counts[j] = fmax(1.0 - z * z, 0.0);
        }
        length = find_step(w, at->p, step) ? apply_step(w, at, step, enough) : 0.0;
    }
}

/* Descends from a start, and keeps the result if most moves are closer to it. */
static void try_start(struct law_rows *w, struct bent at, struct bent *best, double *scale)
{
    descend_from(w, true, &at);
    const double here = scale_residuals(w, &at);
    if (here < *scale) {
        *scale = here;
        *best = at;
    }
}

/* Sets speed and acceleration of a start. */
static void set_start(const struct law_rows *w, size_t k, const double start[2], double of[2])
{
    double largest = 1e-3;
    for (size_t i = 0; i < w->problem->n; i++) {
        largest = fmax(largest, law_size(w->problem, i, k));
    }
    of[0] = w->inverse[k] > 0.0 ? start[1] / w->inverse[k] : 1.0;
    of[1] = of[0] * of[0] / (start[0] * largest);
}

/* Searches the bent law with the smallest robust scale; best->p selects its unknowns. For
 * DELAYED_P, *best is one of the starts. Returns the scale, HUGE_VAL if there is none. */
static double search_bent(struct law_rows *w, struct bent *best)
{
    double scale = HUGE_VAL;
    if (best->p == DELAYED_P) {
        try_start(w, *best, best, &scale);
    }
    for (size_t s = 0; s < STARTS; s++) {
        struct bent at = {.p = best->p, .q = {0.5 * w->t0_s}};
        for (size_t k = 0; k < TRAVEL_SIZES; k++) {
            double of[2];
            set_start(w, k, starts[s], of);
            at.q[1 + 2 * k] = log(of[0]);
            at.q[2 + 2 * k] = log(of[1]);
        }
        try_start(w, at, best, &scale);
    }
    return scale;
}

/* Twice the log likelihood ratio for this reduced sum of squares. Differences below the
 * resolution of the timing do not count. */
static double weigh_evidence(const struct law_rows *w, double rss)
{
    const double floor2 = w->problem->floor * w->problem->floor * w->rows;
    return w->rows * log((w->plain_rss + floor2) / (rss + floor2));
}

/* Returns whether a bent law could explain the moves significantly better. The laws of three
 * accelerations as additional columns nearly span what any bent law adds. */
static bool may_bend(const struct law_rows *w, const struct travel_law *law)
{
    struct column_space_added added = {.count = 3 * TRAVEL_SIZES};
    double of[TRAVEL_SIZES][3][2];
    for (size_t k = 0; k < 3 * TRAVEL_SIZES; k++) {
        static const double bends[3][2] = {{0.03, 1.0}, {0.2, 1.0}, {1.0, 1.0}};
        set_start(w, k / 3, bends[k % 3], of[k / 3][k % 3]);
    }
    for (size_t i = 0; i < w->problem->n; i++) {
        double z[3 * TRAVEL_SIZES];
        for (size_t k = 0; k < 3 * TRAVEL_SIZES; k++) {
            double by[2];
            const double *is = of[k / 3][k % 3];
            z[k] = w->counts[i] * travel_of(law_size(w->problem, i, k / 3), is[0], is[1], by);
        }
        column_space_add_row(&w->space, i, z, w->residual[i], &added);
    }
    size_t rank;
    const double gain = column_space_gain(&w->space, &added, &rank, NULL);
    const double least = w->rows < (double)(w->space.rank + rank + DOF_TESTED)
                             ? 0.0 /* too few rows to estimate the rest */
                             : w->plain_rss - gain;
    return law->aside >= ASIDE_MIN || w->rows < (double)w->problem->n ||
           weigh_evidence(w, least) > BEND_MIN;
}

/* Counts the moves that fit either law. Late replies fit neither; short moves of an
 * accelerating robot fit only one. */
static void count_either(struct law_rows *w, const double *residual, double near)
{
    const size_t n = w->problem->n;
    w->rows = 0.0;
    for (size_t i = 0; i < n; i++) {
        w->counts[i] = fmin(fabs(residual[i]), fabs(w->residual[i])) > near ? 0.0 : 1.0;
        w->rows += w->counts[i];
    }
    law_count_all_of_many(w);
}

/* Computes values and errors from the present rows. */
static enum status compute_result(struct law_rows *w, const struct bent *at, double rss,
                                  struct travel_accelerating *out)
{
    const struct robust_ls_problem linear = {
        .x = w->x, .y = w->y, .n = w->problem->n, .p = at->p, .floor = w->problem->floor};
    struct robust_ls_fit fit;
    for (size_t i = 0; i < linear.n; i++) {
        w->y[i] = w->counts[i] * w->residual[i];
        for (size_t j = 0; j < at->p; j++) {
            w->x[i * at->p + j] *= w->counts[i];
        }
    }
    const enum status st = robust_ls_run(&linear, ROBUST_LS_OLS, NULL, NULL, &fit);
    if (st != STATUS_OK) {
        return st;
    }
    const double left = w->rows - (double)fit.rank;
    out->t0_s = at->q[0];
    out->residual_s_sd = sqrt(rss / left);
    for (size_t j = 0; j < ACCELERATING_P; j++) {
        const bool known = travel_knows_term(&fit, j);
        const double se = known ? sqrt(fit.covariance[j][j]) : nan("");
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
    out->gain = weigh_evidence(w, rss);
    out->known = left > 0.0 && out->gain > BEND_MIN && out->t0_se_s >= 0.0;
    return st;
}

/* Probability by chance of `more` squares, if TRAVEL_SIZES further unknowns leave `rss`. */
static double chance_of(const struct law_rows *w, double more, double rss)
{
    return law_chance(w, more - rss, rss, (double)TRAVEL_SIZES);
}

enum status law_find_accelerating(struct law_rows *w, const double *residual,
                                  struct travel_law *law, struct travel_accelerating *out)
{
    struct bent law_of = {.p = ACCELERATING_P};
    if (!may_bend(w, law)) {
        return STATUS_OK;
    }
    if (!(search_bent(w, &law_of) < HUGE_VAL)) {
        return STATUS_E_MATH;
    }
    struct bent wide = law_of;
    wide.p = DELAYED_P;
    if (!(search_bent(w, &wide) < HUGE_VAL)) {
        return STATUS_E_MATH;
    }
    set_rows(w, &wide);
    count_either(w, residual, WILD_SD * fmin(scale_residuals(w, &wide), w->sd));
    const enum status st = law_fit_plain(w);
    if (st != STATUS_OK) {
        return st;
    }
    descend_from(w, false, &wide);
    const double wide_rss = sum_squares(w);
    descend_from(w, false, &law_of);
    const double rss = sum_squares(w);
    law->bend_p = chance_of(w, w->plain_rss, wide_rss);
    out->known = false;
    const enum status outcome = compute_result(w, &law_of, rss, out);
    out->known = out->known && chance_of(w, rss, wide_rss) > BEND_CHANCE;
    return outcome;
}
