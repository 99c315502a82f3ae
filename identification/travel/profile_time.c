#include "identification/travel/profile_time.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_cblas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_vector.h>

#include "identification/travel/profile_judge.h"
#include "identification/travel/travel_law.h"
#include "identification/travel/travel_resolution.h"
#include "identification/travel/travel_thresholds.def"

/* Fit of one class (docs/model/arm_pair.md, section 3). The lap time is nonlinear in speed
 * and acceleration. With k = sv^2 / sa it is linear in t0 and 1 / sv: lap = t0 + h(k) / sv.
 * So the fit is a search over k alone, and the squares are known for every k: few moves may
 * allow laws far apart. The weights are Tukey's biweight of the residuals, which rejects late
 * replies; law and weights alternate until nothing moves. Errors come from the linearised law
 * at the end, with the variance of an M-estimate. It assumes one law for all moves of a class;
 * profile_judge.c tests that. */

/* No robot link is timed better than this, s. */
static const double FLOOR_S = 1e-4;
static const double TUKEY_C = 4.685;
static const double HUBER_C = 1.345;
static const double MAD_TO_SD = 1.4826;
/* Weights and law alternate until no unknown moves by more than STEP_ENOUGH. */
enum { ROUNDS = 20, STEPS = 45 };
static const double STEP_ENOUGH = 1e-7;
/* Laws that are tried, and how far the first and the last lie beyond the moves. */
enum { KINKS = 40 };
static const double BEYOND = 1e3;

/* The moves of one class, and memory for their fit. */
struct room {
    const struct profile_move *moves; /* [n] of one class, usable */
    size_t n;
    double *x;                     /* [n x PROFILE_TERMS] */
    double *y, *residual, *weight; /* [n] */
    double *sorted;                /* [n] scratch */
};

/* Computes the residual of each move; returns their robust scale. As many residuals as there
 * are unknowns are small whatever the noise is, so the median leaves them out. */
static double measure_residuals(struct room *room, const double q[PROFILE_TERMS])
{
    double row[PROFILE_TERMS];
    for (size_t i = 0; i < room->n; i++) {
        room->residual[i] = room->moves[i].lap_s - profile_lap_s(q, &room->moves[i], row);
        room->sorted[i] = fabs(room->residual[i]);
    }
    const size_t fitted = room->n > 2 * PROFILE_TERMS ? PROFILE_TERMS : 0;
    return fmax(MAD_TO_SD * gsl_stats_select(room->sorted, 1, room->n, (room->n + fitted) / 2),
                FLOOR_S);
}

static void set_weights(struct room *room, enum travel_method method, double scale)
{
    for (size_t i = 0; i < room->n; i++) {
        const double z = fabs(room->residual[i]) / scale;
        const double inside = fmax(1.0 - z * z / (TUKEY_C * TUKEY_C), 0.0);
        room->weight[i] = method == TRAVEL_OLS     ? 1.0
                          : method == TRAVEL_HUBER ? fmin(1.0, HUBER_C / z)
                                                   : inside * inside;
    }
}

/* Computes the residual of each move; returns their root mean square by degrees of freedom. */
static double measure_plain(struct room *room, const double q[PROFILE_TERMS])
{
    (void)measure_residuals(room, q);
    const double freedom = fmax((double)room->n - PROFILE_TERMS, 1.0);
    return cblas_dnrm2((int)room->n, room->residual, 1) / sqrt(freedom);
}

/* ---- all accelerations ---- */

struct kink {
    double k, t0_s, slope;    /* slope = 1 / sv */
    double squares;           /* infinite: no speed above zero fits */
    double fall;              /* > 0: a larger k has smaller squares */
    double var_t0, var_slope; /* over the variance of a lap */
};

/* Fits t0 and sv at this k, with the present weights. */
static struct kink fit_kink(struct room *room, double k)
{
    struct kink out = {.k = k};
    double covariance = 0.0;
    for (size_t i = 0; i < room->n; i++) {
        const struct profile_move *move = &room->moves[i];
        const double v = move->speed;
        const double a = move->acceleration;
        room->x[i] = k * v * v < a ? 1.0 / v + k * v / a : 2.0 * sqrt(k / a);
        room->y[i] = move->lap_s;
    }
    if (gsl_fit_wlinear(room->x, 1, room->weight, 1, room->y, 1, room->n, &out.t0_s, &out.slope,
                        &out.var_t0, &covariance, &out.var_slope,
                        &out.squares) != GSL_SUCCESS ||
        !(out.slope > 0.0 && isfinite(out.var_slope))) {
        out.squares = HUGE_VAL;
    }
    for (size_t i = 0; i < room->n; i++) {
        const struct profile_move *move = &room->moves[i];
        const double v = move->speed;
        const double a = move->acceleration;
        out.fall += room->weight[i] * (room->y[i] - out.t0_s - out.slope * room->x[i]) *
                    (k * v * v < a ? v / a : 1.0 / sqrt(k * a));
    }
    return out;
}

/* The i-th k: at the first all moves reach full speed, at the last none does. */
static double choose_kink(const struct room *room, size_t i)
{
    double least = HUGE_VAL;
    double most = 0.0;
    for (size_t m = 0; m < room->n; m++) {
        const double v = room->moves[m].speed;
        least = fmin(least, room->moves[m].acceleration / (v * v));
        most = fmax(most, room->moves[m].acceleration / (v * v));
    }
    return i == 0           ? least / BEYOND
           : i == KINKS - 1 ? most * BEYOND
                            : least * pow(most / least, (double)(i - 1) / (KINKS - 3));
}

/* Is a law closer to the moves than another one, by more than rounding? Otherwise it may have
 * an acceleration that no move shows. */
static bool is_closer(const struct room *room, const struct kink *kink, const struct kink *than)
{
    const double rounding = 1e-12 * (than->squares + (double)room->n * FLOOR_S * FLOOR_S);
    return kink->squares < than->squares - rounding || !(than->squares < HUGE_VAL);
}

/* Finds the law of least squares near a k: bisects the slope of the squares. */
static struct kink narrow_kink(struct room *room, double k, double reach)
{
    double lo = log(k) - reach;
    double hi = log(k) + reach;
    for (int step = 0; step < STEPS; step++) {
        const double middle = 0.5 * (lo + hi);
        if (fit_kink(room, exp(middle)).fall > 0.0) {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    return fit_kink(room, exp(0.5 * (lo + hi)));
}

/* Replaces q by the law of least squares with the present weights, if there is one. */
static void fit_law(struct room *room, double q[PROFILE_TERMS])
{
    const double inner = log(choose_kink(room, 2) / choose_kink(room, 1));
    struct kink best = fit_kink(room, 1.0);
    double reach = inner;
    for (size_t i = 0; i < KINKS; i++) {
        const struct kink kink = fit_kink(room, choose_kink(room, i));
        if (is_closer(room, &kink, &best)) {
            best = kink;
            reach = i > 1 && i < KINKS - 2 ? inner : log(BEYOND);
        }
    }
    const struct kink near = narrow_kink(room, best.k, reach);
    best = is_closer(room, &near, &best) ? near : best;
    if (best.squares < HUGE_VAL) {
        q[PROFILE_T0] = best.t0_s;
        q[PROFILE_SPEED] = -log(best.slope);
        q[PROFILE_ACCELERATION] = 2.0 * q[PROFILE_SPEED] - log(best.k);
    }
}

/* Alternates weights from the residuals and the law with these weights. */
static void refine_law(struct room *room, enum travel_method method, double q[PROFILE_TERMS])
{
    double moved = HUGE_VAL;
    for (int round = 0; round < ROUNDS && moved > STEP_ENOUGH; round++) {
        double before[PROFILE_TERMS];
        memcpy(before, q, sizeof before);
        set_weights(room, method, measure_residuals(room, q));
        fit_law(room, q);
        moved = 0.0;
        for (size_t j = 0; j < PROFILE_TERMS && method != TRAVEL_OLS; j++) {
            moved = fmax(moved, fabs(q[j] - before[j]));
        }
    }
}

/* Sets the linear robust fit lap = t0 + c T, of a robot whose speeds are c times and
 * accelerations c^2 times lower. */
static enum status fit_linear(struct room *room, double q[PROFILE_TERMS])
{
    const struct robust_ls_problem linear = {
        .x = room->x, .y = room->y, .n = room->n, .p = 2, .floor = FLOOR_S};
    struct robust_ls_fit fit;
    double mean_s = 0.0;
    for (size_t i = 0; i < room->n; i++) {
        const struct profile_move *move = &room->moves[i];
        room->x[2 * i] = 1.0;
        room->x[2 * i + 1] = profile_duration_s(move->speed, move->acceleration);
        room->y[i] = move->lap_s;
        mean_s += (move->lap_s - room->x[2 * i + 1]) / (double)room->n;
    }
    const enum status st = robust_ls_run(&linear, ROBUST_LS_TUKEY, NULL, NULL, &fit);
    const bool known = st == STATUS_OK && travel_knows_term(&fit, 1) && fit.beta[1] > 0.0;
    q[PROFILE_T0] = known ? fit.beta[0] : mean_s;
    q[PROFILE_SPEED] = known ? -log(fit.beta[1]) : 0.0;
    q[PROFILE_ACCELERATION] = 2.0 * q[PROFILE_SPEED];
    return st;
}

/* Fits by plain least squares; a robust law starts there and at the linear robust fit. Most
 * moves are closer to the better one. */
static enum status search_law(struct room *room, enum travel_method method,
                              double best[PROFILE_TERMS])
{
    double q[PROFILE_TERMS];
    const enum status st = fit_linear(room, q);
    memcpy(best, q, sizeof q);
    refine_law(room, TRAVEL_OLS, best);
    if (method != TRAVEL_OLS) {
        refine_law(room, method, best);
        refine_law(room, method, q);
        const double scale = measure_residuals(room, best);
        if (measure_residuals(room, q) < 0.999 * scale) {
            memcpy(best, q, sizeof q);
        }
    }
    return st;
}

/* Variance of the residuals for the law's errors: eq. 5 and 6 of docs/model/travel_time.md,
 * over the moves with weight, for the design (X'WX)^-1. */
static double find_variance(const struct room *room, enum travel_method method, double scale,
                            size_t rank, size_t used)
{
    const double m = (double)used;
    double squares = 0.0; /* of psi */
    double weights = 0.0;
    double slope = 0.0; /* of psi */
    double slope2 = 0.0;
    for (size_t i = 0; i < room->n; i++) {
        const double w = room->weight[i];
        const double psi = w * room->residual[i];
        const double root = sqrt(w);
        const double d = method == TRAVEL_OLS     ? 1.0
                         : method == TRAVEL_HUBER ? floor(w)
                                                  : root * (5.0 * root - 4.0);
        if (w > 0.0) {
            squares += psi * psi;
            weights += w / m;
            slope += d / m;
            slope2 += d * d / m;
        }
    }
    const double small = 1.0 + (double)rank / m * (slope2 - slope * slope) / (slope * slope);
    const double variance =
        small * small * squares / (m - (double)rank) * weights / (slope * slope);
    /* A lower limit: timing is never better. */
    return fmax(variance, method == TRAVEL_OLS ? 0.0 : 1e-6 * scale * scale);
}

/* Linearises the law at the result with the present weights: errors, rank, and what is
 * determined. */
static enum status linearise_law(struct room *room, enum travel_method method,
                                 struct profile_law *law)
{
    const struct robust_ls_problem linear = {
        .x = room->x, .y = room->y, .n = room->n, .p = PROFILE_TERMS, .floor = FLOOR_S};
    const double scale = measure_residuals(room, law->q);
    size_t used = 0;
    set_weights(room, method, scale);
    for (size_t i = 0; i < room->n; i++) {
        double *row = room->x + i * PROFILE_TERMS;
        const double root = sqrt(room->weight[i]);
        (void)profile_lap_s(law->q, &room->moves[i], row);
        for (size_t j = 0; j < PROFILE_TERMS; j++) {
            row[j] *= root;
        }
        room->y[i] = root * room->residual[i];
        used += room->weight[i] > 0.0;
    }
    const enum status st = robust_ls_run(&linear, ROBUST_LS_OLS, NULL, NULL, &law->slopes);
    if (st != STATUS_OK) {
        return st;
    }
    const size_t rank = law->slopes.rank;
    const double plain = law->slopes.sd * law->slopes.sd;
    law->freedom = used > rank ? used - rank : 0;
    law->residual_s_sd = method == TRAVEL_OLS ? law->slopes.sd : scale;
    for (size_t j = 0; j < PROFILE_TERMS * PROFILE_TERMS; j++) {
        double *c = &law->slopes.covariance[j / PROFILE_TERMS][j % PROFILE_TERMS];
        *c = law->freedom == 0 ? (double)NAN
             : plain > 0.0     ? *c / plain * find_variance(room, method, scale, rank, used)
                               : *c;
    }
    return STATUS_OK;
}

/* Does AUTO use the robust law, as for other moves (travel_time.c)? Residuals of plain least
 * squares lie far out, or most moves keep far closer to the robust law. Of few moves that
 * rejects some that chance put aside, and its errors are too small. */
static bool is_robust_better(struct room *room, const double plain[PROFILE_TERMS],
                             const double robust[PROFILE_TERMS])
{
    const double closer_s = measure_residuals(room, robust);
    const double plain_s = measure_plain(room, plain);
    const double scale = measure_residuals(room, plain);
    return travel_count_beyond(room->residual, room->n, FAR_MEDIANS * scale) > 0 ||
           closer_s < CLOSER_RATIO * plain_s;
}

/* Fits by the method; AUTO uses plain least squares unless the robust law is better. */
static enum status fit_class(struct room *room, enum travel_method method,
                             struct profile_law *law, enum travel_method *used)
{
    enum travel_method by = method == TRAVEL_AUTO ? TRAVEL_OLS : method;
    double robust[PROFILE_TERMS];
    enum status st = search_law(room, by == TRAVEL_OLS ? by : TRAVEL_TUKEY, law->q);
    if (by == TRAVEL_HUBER) {
        refine_law(room, by, law->q);
    }
    if (st == STATUS_OK && method == TRAVEL_AUTO && room->n >= PROFILE_TERMS + ROBUST_DOF_MIN) {
        st = search_law(room, TRAVEL_TUKEY, robust);
        if (st == STATUS_OK && is_robust_better(room, law->q, robust)) {
            by = TRAVEL_TUKEY;
            memcpy(law->q, robust, sizeof robust);
        }
    }
    st = st == STATUS_OK ? linearise_law(room, by, law) : st;
    if (st == STATUS_OK) {
        law->n = room->n;
        law->outliers = travel_count_beyond(room->residual, room->n,
                                            OUTLIER_SD * fmax(law->residual_s_sd, FLOOR_S));
        *used = by > *used ? by : *used;
    }
    return st;
}

/* The values of each term in all laws that the moves do not exclude. */
struct range {
    double lo[PROFILE_TERMS], hi[PROFILE_TERMS];
};

static void extend_range(struct range *range, size_t j, double lo, double hi)
{
    range->lo[j] = fmin(range->lo[j], lo);
    range->hi[j] = fmax(range->hi[j], hi);
}

/* Adds the laws at this k whose squares are below the limit. Beyond the first and the last k a
 * term has no bound. */
static void add_kink(const struct kink *kink, double limit, size_t i, struct range *range)
{
    const double more = sqrt(fmax(limit - kink->squares, 0.0));
    const double t0_s = more * sqrt(kink->var_t0);
    const double slope = more * sqrt(kink->var_slope);
    const double slowest = 1.0 / (kink->slope + slope);
    const double fastest = kink->slope > slope ? 1.0 / (kink->slope - slope) : HUGE_VAL;
    if (!(kink->squares <= limit)) {
        return;
    }
    extend_range(range, PROFILE_T0, i == 0 ? -HUGE_VAL : kink->t0_s - t0_s, kink->t0_s + t0_s);
    extend_range(range, PROFILE_SPEED, slowest, i == KINKS - 1 ? HUGE_VAL : fastest);
    extend_range(range, PROFILE_ACCELERATION, slowest * slowest / kink->k,
                 i == 0 ? HUGE_VAL : fastest * fastest / kink->k);
}

static struct range find_range(struct room *room, const struct profile_law *law)
{
    struct range range;
    double squares = 0.0;
    const double reach = estimate_reach((double)law->freedom);
    (void)measure_residuals(room, law->q);
    for (size_t i = 0; i < room->n; i++) {
        squares += room->weight[i] * room->residual[i] * room->residual[i];
    }
    for (size_t j = 0; j < PROFILE_TERMS; j++) {
        range.lo[j] = HUGE_VAL;
        range.hi[j] = -HUGE_VAL;
    }
    const double limit = squares * (1.0 + reach * reach / (double)law->freedom);
    for (size_t i = 0; i < KINKS; i++) {
        const struct kink kink = fit_kink(room, choose_kink(room, i));
        add_kink(&kink, limit, i, &range);
    }
    return range;
}

/* Ratios use their logarithms, so that no interval reaches below zero. */
static void set_terms(struct room *room, enum profile_class kind, const struct profile_law *law,
                      struct profile_fit *fit)
{
    struct estimate *e = &fit->estimate;
    const size_t at = (size_t)kind * PROFILE_TERMS;
    const double reach = estimate_reach((double)law->freedom);
    const struct range range = find_range(room, law);
    double slope[PROFILE_TERMS];
    for (size_t j = 0; j < PROFILE_TERMS; j++) {
        const double se = sqrt(law->slopes.covariance[j][j]);
        slope[j] = j == PROFILE_T0 ? 1.0 : exp(law->q[j]);
        e->identifiable[at + j] = travel_knows_term(&law->slopes, j) &&
                                  (j == PROFILE_T0 || !(se > log(FACTOR_MAX))) &&
                                  range.lo[j] > -HUGE_VAL && range.hi[j] < HUGE_VAL;
        if (!e->identifiable[at + j]) {
            continue;
        }
        e->value[at + j] = j == PROFILE_T0 ? law->q[j] : slope[j];
        e->se[at + j] = e->se_white[at + j] = slope[j] * se;
        const double lo =
            j == PROFILE_T0 ? law->q[j] - reach * se : exp(law->q[j] - reach * se);
        const double hi =
            j == PROFILE_T0 ? law->q[j] + reach * se : exp(law->q[j] + reach * se);
        e->lo[at + j] = isnan(lo) ? lo : fmin(lo, range.lo[j]);
        e->hi[at + j] = isnan(hi) ? hi : fmax(hi, range.hi[j]);
    }
    for (size_t j = 0; j < PROFILE_TERMS * PROFILE_TERMS; j++) {
        const size_t r = j / PROFILE_TERMS;
        const size_t c = j % PROFILE_TERMS;
        if (e->identifiable[at + r] && e->identifiable[at + c]) {
            e->covariance[at + r][at + c] = slope[r] * slope[c] * law->slopes.covariance[r][c];
        }
    }
    e->rank += law->slopes.rank;
    e->condition = fmax(e->condition, law->slopes.condition);
}

/* Quality over all moves used. */
static void set_quality(const struct profile_move *moves, struct profile_fit *fit)
{
    double rss = 0.0;
    double sst = 0.0;
    double mean_s = 0.0;
    double variance = 0.0;
    double row[PROFILE_TERMS];
    for (size_t i = 0; i < fit->n; i++) {
        mean_s += moves[i].lap_s / (double)fit->n;
    }
    for (size_t i = 0; i < fit->n; i++) {
        const double e =
            moves[i].lap_s - profile_lap_s(fit->law[moves[i].kind].q, &moves[i], row);
        rss += e * e;
        sst += (moves[i].lap_s - mean_s) * (moves[i].lap_s - mean_s);
    }
    for (size_t k = 0; k < PROFILE_CLASSES; k++) {
        const struct profile_law *law = &fit->law[k];
        variance += law->n > 0 ? law->residual_s_sd * law->residual_s_sd * (double)law->n : 0.0;
        fit->outliers += law->outliers;
    }
    fit->residual_s_sd = sqrt(variance / (double)fit->n);
    fit->rmse_s = sqrt(rss / (double)fit->n);
    fit->r2 = sst > 0.0 ? 1.0 - rss / sst : (double)NAN;
}

/* Such laps are not fitted: they show no speed. */
static bool has_equal_laps(const struct room *room)
{
    bool differ = false;
    for (size_t i = 0; i < room->n; i++) {
        room->y[i] = room->moves[i].lap_s;
        differ = differ || fabs(room->moves[i].speed - room->moves[0].speed) > 0.0;
    }
    return differ && travel_equal_laps(room->y, room->n);
}

/* moves [out->n], with joints first; memory [7 n]. */
static enum status fit_classes(const struct profile_move *moves, size_t joints, double *memory,
                               enum travel_method method, struct profile_fit *out)
{
    const size_t n = out->n;
    const size_t first[PROFILE_CLASSES + 1] = {0, joints, n};
    enum status st = STATUS_OK;
    for (enum profile_class k = PROFILE_JOINTS; k < PROFILE_CLASSES; k++) {
        struct room room = {.moves = moves + first[k],
                            .n = first[k + 1] - first[k],
                            .x = memory,
                            .y = memory + PROFILE_TERMS * n,
                            .residual = memory + (PROFILE_TERMS + 1) * n,
                            .weight = memory + (PROFILE_TERMS + 2) * n,
                            .sorted = memory + (PROFILE_TERMS + 3) * n};
        struct profile_law *law = &out->law[k];
        /* With fewer moves than unknowns, there is no search. */
        if (st == STATUS_OK && room.n >= PROFILE_TERMS && !has_equal_laps(&room)) {
            st = fit_class(&room, method, law, &out->method);
            if (st == STATUS_OK) {
                set_terms(&room, k, law, out);
            }
        } else {
            law->n = room.n;
            law->q[PROFILE_T0] = room.n > 0 ? room.moves[0].lap_s : 0.0;
        }
    }
    return st;
}

static enum status fit_in_room(const struct profile_move *moves, size_t n,
                               enum travel_method method, struct profile_fit *out)
{
    const size_t doubles = (sizeof *moves + sizeof(double) - 1) / sizeof(double);
    gsl_vector *memory = gsl_vector_alloc(out->n * (doubles + PROFILE_TERMS + 4));
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    struct profile_move *sorted = (struct profile_move *)(void *)memory->data;
    size_t count = 0;
    size_t joints = 0;
    for (enum profile_class k = PROFILE_JOINTS; k < PROFILE_CLASSES; k++) {
        for (size_t i = 0; i < n; i++) {
            if (moves[i].kind == k && profile_move_usable(&moves[i])) {
                sorted[count++] = moves[i];
            }
        }
        joints = k == PROFILE_JOINTS ? count : joints;
    }
    enum status st = fit_classes(sorted, joints, memory->data + doubles * out->n, method, out);
    if (st == STATUS_OK) {
        set_quality(sorted, out);
    }
    gsl_vector_free(memory);
    return st == STATUS_OK ? profile_judge(moves, n, out) : st;
}

enum status profile_time_fit(const struct profile_move *moves, size_t n,
                             enum travel_method method, struct profile_fit *fit)
{
    struct profile_fit out;
    assert(fit && (moves || n == 0) && (unsigned)method < TRAVEL_METHOD_COUNT);
    profile_fit_start(&out);
    for (size_t i = 0; i < n; i++) {
        out.n += profile_move_usable(&moves[i]) && (unsigned)moves[i].kind < PROFILE_CLASSES;
    }
    out.refused = n - out.n;
    const enum status st =
        out.n > 0 ? fit_in_room(moves, n, method, &out) : profile_judge(moves, n, &out);
    if (st == STATUS_OK) {
        *fit = out;
    }
    return st;
}
