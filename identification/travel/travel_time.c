#include "identification/travel/travel_time.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_vector.h>

#include "identification/numeric/dot.h"
#include "identification/numeric/robust_ls.h"
#include "identification/numeric/svd.h"
#include "identification/travel/travel_judge.h"
#include "identification/travel/travel_resolution.h"
#include "identification/travel/travel_thresholds.def"

/* Largest difference of a move from a combination that counts as equal. */
static const double SAME_MOVE = 1e-6;
/* No robot link is timed better than this, s. */
static const double FLOOR_S = 1e-4;
/* Factor from the median of |z| to the standard deviation, for Gaussian noise. */
static const double MAD_TO_SD = 1.4826;

/* Memory of one call. */
struct room {
    double *x;                     /* [n x TRAVEL_P] */
    double *y, *residual, *weight; /* [n] */
    double *signs;                 /* [2 n] of rotations, then of displacements */
    double *sorted;                /* [n] scratch */
};

/* Student's 95 % quantile; NaN without degrees of freedom. */
static double find_quantile(size_t freedom)
{
    return freedom > 0 ? gsl_cdf_tdist_Pinv(0.975, (double)freedom) : nan("");
}

/* A move without weight does not contribute to the errors. */
static size_t count_freedom(const double *weight, const struct robust_ls_fit *ls)
{
    size_t used = 0;
    for (size_t i = 0; i < ls->n; i++) {
        used += weight[i] > 0.0;
    }
    return used > ls->rank ? used - ls->rank : 0;
}

/* Sets the interval of a term from that of beta: inverted if it is a speed. */
static void set_interval(enum travel_term j, double lo, double hi, double *lo_to, double *hi_to)
{
    const bool is_inverse = j == TRAVEL_INV_W || j == TRAVEL_INV_V;
    const bool sure = lo > 0.0 || hi < 0.0;
    const double inverse_lo = hi > 0.0 || hi < 0.0 ? 1.0 / hi : nan("");
    *lo_to = is_inverse ? inverse_lo : lo;
    *hi_to = !is_inverse ? hi : sure ? 1.0 / lo : nan("");
}

/* Converts an inverse speed into a speed: value and se by the delta method. Returns the slope
 * for the covariance. */
static double invert_term(struct travel_fit *fit, enum travel_term j)
{
    struct estimate *e = &fit->estimate;
    const double b = fit->beta[j];
    e->value[j] = fabs(b) > 0.0 ? 1.0 / b : nan("");
    e->se[j] = fabs(b) > 0.0 ? fit->beta_se[j] / (b * b) : nan("");
    return fabs(b) > 0.0 ? -1.0 / (b * b) : nan("");
}

static void set_terms(const struct robust_ls_fit *ls, struct travel_fit *fit)
{
    const double t = find_quantile(fit->freedom);
    struct estimate *e = &fit->estimate;
    double slope[TRAVEL_P];
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        slope[j] = 1.0;
        e->identifiable[j] = travel_knows_term(ls, j);
        if (!e->identifiable[j]) {
            continue;
        }
        fit->beta[j] = ls->beta[j];
        fit->beta_se[j] = sqrt(ls->covariance[j][j]);
        fit->beta_lo[j] = fit->beta[j] - t * fit->beta_se[j];
        fit->beta_hi[j] = fit->beta[j] + t * fit->beta_se[j];
        e->value[j] = fit->beta[j];
        e->se[j] = fit->beta_se[j];
        if (j == TRAVEL_INV_W || j == TRAVEL_INV_V) {
            slope[j] = invert_term(fit, j);
        }
        set_interval(j, fit->beta_lo[j], fit->beta_hi[j], &e->lo[j], &e->hi[j]);
        if (fit->freedom < ESTIMATE_FREEDOM_MIN) {
            e->lo[j] = e->hi[j] = nan("");
        }
    }
    for (size_t j = 0; j < TRAVEL_P; j++) {
        for (size_t k = 0; k < TRAVEL_P; k++) {
            if (e->identifiable[j] && e->identifiable[k]) {
                e->covariance[j][k] = slope[j] * slope[k] * ls->covariance[j][k];
            }
        }
    }
}

static void name_combination(const double coefficient[TRAVEL_P], char name[ESTIMATE_TEXT_MAX])
{
    size_t used = 0;
    name[0] = '\0';
    for (size_t j = 0; j < TRAVEL_P; j++) {
        if (!(coefficient[j] > 0.0) || used >= ESTIMATE_TEXT_MAX) {
            continue;
        }
        const char *plus = used > 0 ? " + " : "";
        const char *term = travel_term_name((enum travel_term)j);
        const int wrote =
            j < TRAVEL_INV_W
                ? snprintf(name + used, ESTIMATE_TEXT_MAX - used, "%s%s", plus, term)
                : snprintf(name + used, ESTIMATE_TEXT_MAX - used, "%s%.4g / %s", plus,
                           coefficient[j], term);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}

/* Gram-Schmidt in columns of unit length. Returns whether c adds a direction to
 * basis[count], and stores it there. */
static bool add_direction(const struct robust_ls_fit *ls, const double c[TRAVEL_P],
                          double basis[][TRAVEL_P], size_t count)
{
    double rest[TRAVEL_P];
    for (size_t j = 0; j < TRAVEL_P; j++) {
        rest[j] = ls->column_norm[j] > 0.0 ? c[j] / ls->column_norm[j] : 0.0;
    }
    const double length2 = dot_product(rest, rest, TRAVEL_P);
    for (size_t k = 0; k < count; k++) {
        const double dot = dot_product(rest, basis[k], TRAVEL_P);
        for (size_t j = 0; j < TRAVEL_P; j++) {
            rest[j] -= dot * basis[k][j];
        }
    }
    const double rest2 = dot_product(rest, rest, TRAVEL_P);
    if (!(rest2 > 1e-8 * length2)) {
        return false;
    }
    for (size_t j = 0; j < TRAVEL_P; j++) {
        basis[count][j] = rest[j] / sqrt(rest2);
    }
    return true;
}

/* Combinations that are determined: the rest of a row without the terms that are determined
 * alone. Such rests, those with the fewest terms first, span all that is determined. */
static void set_combinations(const struct robust_ls_fit *ls, const double *x,
                             struct travel_fit *fit)
{
    double basis[TRAVEL_P][TRAVEL_P];
    struct estimate *e = &fit->estimate;
    size_t wanted = ls->rank;
    for (size_t j = 0; j < TRAVEL_P; j++) {
        wanted -= e->identifiable[j] && wanted > 0 ? 1 : 0;
    }
    for (size_t terms = 1; terms <= TRAVEL_P; terms++) {
        for (size_t i = 0; i < ls->n && e->combination_count < wanted; i++) {
            const size_t at = e->combination_count;
            double *c = fit->coefficient[at];
            size_t count = 0;
            for (size_t j = 0; j < TRAVEL_P; j++) {
                c[j] = e->identifiable[j] ? 0.0 : x[i * TRAVEL_P + j];
                count += c[j] > 0.0;
            }
            if (count == terms && add_direction(ls, c, basis, at)) {
                name_combination(c, e->combinations[at].name);
                e->combinations[at].value = robust_ls_value(ls, c);
                e->combinations[at].se = robust_ls_se(ls, c);
                e->combination_count++;
            }
        }
    }
}

/* If all moves are of one class (all turn and drive, say), only the sum of the delays is
 * known. The model then has one delay: lap = t0 + ... Returns the coefficients of this sum,
 * NULL if t0 is no sum. */
static const double *set_one_delay(struct travel_fit *fit)
{
    struct estimate *e = &fit->estimate;
    const struct estimate_combination *only = NULL;
    for (size_t k = 0; k < e->combination_count; k++) {
        const double *c = fit->coefficient[k];
        if (!(c[TRAVEL_T0] > 0.0)) {
            continue;
        }
        if (only || c[TRAVEL_INV_W] > 0.0 || c[TRAVEL_INV_V] > 0.0) {
            return NULL;
        }
        only = &e->combinations[k];
    }
    if (!only || e->identifiable[TRAVEL_T0]) {
        return NULL;
    }
    estimate_set(e, TRAVEL_T0, only->value, only->se, (double)fit->freedom);
    e->covariance[TRAVEL_T0][TRAVEL_T0] = only->se * only->se;
    return fit->coefficient[only - e->combinations];
}

static void widen_interval(double interval[2], double value, double half)
{
    interval[0] = fmin(interval[0], value - half);
    interval[1] = fmax(interval[1], value + half);
}

/* Sets the intervals that hold even if an effect exists that was not found: the widest ends
 * over all effects. Any effect shifts a term by its own error either way. An effect that is
 * seen shifts it by its value too, unless a reason reports an effect. delays: the sum that t0
 * is, or NULL. */
static void set_open(const struct travel_law *law, const double *delays, struct travel_fit *fit)
{
    const double t = find_quantile(fit->freedom);
    const double t_of_all =
        gsl_cdf_tdist_Qinv(0.025 / TRAVEL_EFFECTS, fmax((double)fit->freedom, 1.0));
    const bool few = fit->freedom < ESTIMATE_FREEDOM_MIN;
    const bool none = travel_law_effect(law, fit->ls.sd) == TRAVEL_EFFECTS;
    struct estimate *e = &fit->estimate;
    for (size_t k = 0; k < TRAVEL_EFFECTS * TRAVEL_P; k++) {
        const struct travel_alternative *a = &law->alternative[k / TRAVEL_P];
        fit->open_shift[k / TRAVEL_P][k % TRAVEL_P] =
            a->tested ? a->se * a->shift[k % TRAVEL_P] : 0.0;
    }
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        const bool is_sum = j == TRAVEL_T0 && delays;
        double one[TRAVEL_P] = {0.0};
        one[j] = 1.0;
        const double *c = is_sum ? delays : one;
        const double value = is_sum ? e->value[j] : fit->beta[j];
        const double se = is_sum ? e->se[j] : fit->beta_se[j];
        double interval[] = {value - t * se, value + t * se};
        for (size_t k = 0; k <= TRAVEL_EFFECTS; k++) {
            const bool is_wait = k == TRAVEL_EFFECTS;
            const struct travel_alternative *a = is_wait ? &law->after : &law->alternative[k];
            const double shift = a->tested ? a->se * dot_product(c, a->shift, TRAVEL_P) : 0.0;
            const double wide = sqrt(se * se + shift * shift);
            widen_interval(interval, value, is_wait ? 0.0 : t * wide);
            if (a->tested && a->p < SEEN_CHANCE && none) {
                widen_interval(interval, value + a->value * dot_product(c, a->shift, TRAVEL_P),
                               t_of_all * wide);
            }
        }
        set_interval(j, few ? nan("") : interval[0], few ? nan("") : interval[1],
                     &e->lo_open[j], &e->hi_open[j]);
    }
}

/* Steps of the laps shift t0 by half a step at most, whichever way they were rounded. They
 * matter unless noise, or an exact law, hides them. */
static void widen_by_step(struct travel_fit *fit)
{
    struct estimate *e = &fit->estimate;
    const double sd = fit->residual_s_sd;
    if (!(fit->lap_step_s > STEP_SD_MIN * sd && sd > STEP_SD_MIN * fit->lap_step_s)) {
        fit->lap_step_s = 0.0;
        return;
    }
    const double half = 0.5 * fit->lap_step_s;
    fit->beta_lo[TRAVEL_T0] -= half;
    fit->beta_hi[TRAVEL_T0] += half;
    e->lo[TRAVEL_T0] -= half;
    e->hi[TRAVEL_T0] += half;
    e->lo_open[TRAVEL_T0] -= half;
    e->hi_open[TRAVEL_T0] += half;
    estimate_note(e, REASON_VALUES_IN_STEPS,
                  "laps come in steps of %.3g s: t0_s is known to half a step",
                  fit->lap_step_s);
}

/* Computes rmse, r2 and outliers over all moves, and r2 over the weighted moves. */
static void set_quality(const struct room *room, double sd, struct travel_fit *fit,
                        struct travel_evidence *evidence)
{
    double sum_y[2] = {0.0, 0.0}; /* plain, weighted */
    double sum_w = 0.0;
    double rss[2] = {0.0, 0.0};
    double sst[2] = {0.0, 0.0};
    const double *y = room->y;
    const double *e = room->residual;
    const double *w = room->weight;

    for (size_t i = 0; i < fit->n; i++) {
        sum_y[0] += y[i];
        sum_y[1] += w[i] * y[i];
        sum_w += w[i];
    }
    for (size_t i = 0; i < fit->n; i++) {
        const double d0 = y[i] - sum_y[0] / (double)fit->n;
        const double d1 = y[i] - sum_y[1] / sum_w;
        rss[0] += e[i] * e[i];
        rss[1] += w[i] * e[i] * e[i];
        sst[0] += d0 * d0;
        sst[1] += w[i] * d1 * d1;
    }
    fit->residual_s_sd = sd;
    fit->rmse_s = sqrt(rss[0] / (double)fit->n);
    fit->r2 = sst[0] > 0.0 ? 1.0 - rss[0] / sst[0] : nan("");
    fit->outliers = travel_count_beyond(e, fit->n, OUTLIER_SD * fmax(sd, FLOOR_S));
    evidence->r2_weighted = sst[1] > 0.0 ? 1.0 - rss[1] / sst[1] : nan("");
}

/* Returns the skewness of the residuals that the fit did not reject, 0 if they are few. */
static double find_skewness(const double *residual, const double *weight, size_t n)
{
    double count = 0.0;
    double mean = 0.0;
    double moment[2] = {0.0, 0.0};
    for (size_t i = 0; i < n; i++) {
        count += weight[i] > 0.0 ? 1.0 : 0.0;
        mean += weight[i] > 0.0 ? residual[i] : 0.0;
    }
    mean /= count;
    for (size_t i = 0; i < n; i++) {
        const double d = weight[i] > 0.0 ? residual[i] - mean : 0.0;
        moment[0] += d * d / count;
        moment[1] += d * d * d / count;
    }
    return count < SKEWED_MIN ? 0.0 : moment[1] / (moment[0] * sqrt(moment[0]));
}

/* Sets the range of the residuals. If they are skewed, the delay itself varies. */
static void set_range(const struct room *room, struct travel_fit *fit)
{
    const double far = WILD_SD * fmax(fit->residual_s_sd, FLOOR_S);
    const size_t near = fit->n - travel_count_beyond(room->residual, fit->n, far);
    double squares = 0.0;
    for (size_t i = 0; i < fit->n; i++) {
        const double e = room->residual[i];
        squares += fabs(e) > far ? 0.0 : e * e;
    }
    fit->near_s_sd = near > fit->ls.rank ? sqrt(squares / (double)(near - fit->ls.rank))
                                         : fit->residual_s_sd;
    memcpy(room->sorted, room->residual, fit->n * sizeof *room->sorted);
    gsl_sort(room->sorted, 1, fit->n);
    fit->residual_s_p05 = gsl_stats_quantile_from_sorted_data(room->sorted, 1, fit->n, 0.05);
    fit->residual_s_p95 = gsl_stats_quantile_from_sorted_data(room->sorted, 1, fit->n, 0.95);
    if (fit->residual_s_sd > FLOOR_S &&
        find_skewness(room->residual, room->weight, fit->n) > SKEWNESS_MAX) {
        estimate_note(&fit->estimate, REASON_DELAY_VARIES,
                      "the delay varies from move to move: 90 %% of the laps end %.2g s before "
                      "to %.2g s after the prediction",
                      -fit->residual_s_p05, fit->residual_s_p95);
    }
}

static const enum robust_ls_method ls_methods[TRAVEL_METHOD_COUNT] = {
    ROBUST_LS_OLS, ROBUST_LS_HUBER, ROBUST_LS_TUKEY, ROBUST_LS_TUKEY};

static enum travel_method method_used(enum robust_ls_method method)
{
    return method == ROBUST_LS_TUKEY   ? TRAVEL_TUKEY
           : method == ROBUST_LS_HUBER ? TRAVEL_HUBER
                                       : TRAVEL_OLS;
}

/* If most moves are far closer to a robust fit, the others have distorted plain least squares.
 */
static void compare_robust(const struct robust_ls_fit *plain,
                           const struct robust_ls_fit *robust, const double *residual,
                           struct travel_evidence *evidence)
{
    if (robust->method != ROBUST_LS_OLS && robust->sd < CLOSER_RATIO * plain->sd) {
        evidence->wild_count = travel_count_beyond(residual, plain->n, WILD_SD * robust->sd);
        evidence->closer_s = robust->sd;
    }
}

/* Counts residuals of plain least squares that are far beyond the others. */
static size_t count_far(const struct room *room, const struct robust_ls_fit *plain)
{
    const size_t n = plain->n;
    for (size_t i = 0; i < n; i++) {
        room->sorted[i] = fabs(room->residual[i]);
    }
    const double scale = MAD_TO_SD * gsl_stats_median(room->sorted, 1, n) *
                         sqrt((double)n / (double)(n - plain->rank));
    return travel_count_beyond(room->residual, n, FAR_MEDIANS * fmax(scale, FLOOR_S));
}

/* Stores 1/w and 1/v by plain least squares. */
static void remember_plain(const struct robust_ls_fit *plain, struct travel_evidence *evidence)
{
    for (enum travel_term j = TRAVEL_INV_W; j <= TRAVEL_INV_V; j++) {
        const bool known = travel_knows_term(plain, j);
        evidence->plain[j] = known ? plain->beta[j] : nan("");
        evidence->plain_se[j] = known ? sqrt(plain->covariance[j][j]) : nan("");
    }
}

/* Returns whether AUTO uses the robust fit: residuals of plain least squares lie far out, or
 * most moves are far closer to it. */
static bool choose_robust(size_t far, const struct robust_ls_fit *robust,
                          const struct travel_evidence *evidence, struct estimate *e)
{
    const bool is_robust = far > 0 || evidence->wild_count > 0;
    if (is_robust) {
        estimate_reason(
            e, REASON_METHOD_CHOSEN, ESTIMATE_PASS,
            "method auto chose %s: residuals of ols lie beyond 6 scaled medians, or "
            "most moves keep far closer to it",
            travel_method_name(method_used(robust->method)));
    } else {
        estimate_reason(e, REASON_METHOD_CHOSEN, ESTIMATE_PASS,
                        "method auto chose ols: no residual lies far out");
    }
    return is_robust;
}

/* Plain least squares comes first, then the robust fit that was asked for, or that AUTO may
 * use. */
static enum status choose_estimator(const struct robust_ls_problem *problem,
                                    enum travel_method method, struct room *room,
                                    struct travel_fit *fit, struct robust_ls_fit *ls,
                                    struct travel_evidence *evidence)
{
    double *e = room->residual;
    double *w = room->weight;
    struct robust_ls_fit robust;
    const bool plain_first = method == TRAVEL_AUTO || method == TRAVEL_OLS;
    enum status st = robust_ls_run(problem, ROBUST_LS_OLS, e, w, ls);
    const bool compared =
        st == STATUS_OK && ls->n >= ls->rank + ROBUST_DOF_MIN && ls->sd > FLOOR_S;
    const size_t far = compared ? count_far(room, ls) : 0;
    if (st == STATUS_OK && (compared || !plain_first)) {
        st = robust_ls_run(problem, ls_methods[plain_first ? TRAVEL_TUKEY : method], e, w,
                           &robust);
    }
    if (st == STATUS_OK && compared && plain_first) {
        compare_robust(ls, &robust, e, evidence);
    }
    if (st == STATUS_OK &&
        (!plain_first ||
         (method == TRAVEL_AUTO && choose_robust(far, &robust, evidence, &fit->estimate)))) {
        if (plain_first) {
            remember_plain(ls, evidence);
        }
        *ls = robust;
        return STATUS_OK;
    }
    return st == STATUS_OK && compared ? robust_ls_run(problem, ROBUST_LS_OLS, e, w, ls) : st;
}

/* Robust errors for laps whose spread grows with the size of a move: from each move's own
 * residual (HC3: as if predicted without that move), if they exceed those from a common
 * spread. Robust weights enter with their slopes. Reference: MacKinnon and White, J.
 * Econometrics 29, 1985. */
static enum status follow_spread(const struct robust_ls_problem *problem,
                                 const struct room *room, struct robust_ls_fit *ls)
{
    enum { P = TRAVEL_P };
    double bread[P * P] = {0.0};
    double meat[P * P] = {0.0};
    double robust[P * P];
    struct svd svd;
    for (size_t i = 0; i < problem->n; i++) {
        const double *x = problem->x + i * P;
        const double root = sqrt(room->weight[i]);
        /* slope for a biweight; for Huber's weights it is 0 beyond the bound */
        const double slope = ls->method == ROBUST_LS_TUKEY
                                 ? fmax(root * (5.0 * root - 4.0), 0.0)
                             : ls->method == ROBUST_LS_HUBER ? floor(root)
                                                             : 1.0;
        for (size_t j = 0; j < P * P; j++) {
            bread[j] += slope * x[j / P] * x[j % P];
        }
    }
    const enum status st = svd_find(bread, P, ls->column_norm, ls->column_norm, 1e-12, &svd);
    if (st != STATUS_OK || svd.rank != ls->rank || ls->n <= ls->rank) {
        return st;
    }
    for (size_t i = 0; i < problem->n; i++) {
        const double *x = problem->x + i * P;
        const double leverage = square_form(x, svd.inverse, P, P);
        /* A move with full leverage would contain only its own noise, so leverage is
         * limited. */
        const double own = fmax(1.0 - leverage, 0.3);
        const double e = room->weight[i] * room->residual[i] / own;
        for (size_t j = 0; j < P * P; j++) {
            meat[j] += e * e * x[j / P] * x[j % P];
        }
    }
    square_sandwich(svd.inverse, meat, P, robust);
    double grow[P];
    for (size_t j = 0; j < P; j++) {
        const double plain = ls->covariance[j][j];
        grow[j] = plain > 0.0 ? fmax(1.0, sqrt(robust[j * P + j] / plain)) : 1.0;
    }
    for (size_t j = 0; j < P * P; j++) {
        ls->covariance[j / P][j % P] *= grow[j / P] * grow[j % P];
    }
    return st;
}

/* Do some moves differ in what the model sees of them? */
static bool moves_differ(const double *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (memcmp(x, x + i * TRAVEL_P, TRAVEL_P * sizeof *x) != 0) {
            return true;
        }
    }
    return false;
}

static enum status fit_design(enum travel_method method, struct room *room,
                              struct travel_fit *fit)
{
    struct robust_ls_fit ls;
    struct travel_evidence evidence = {
        .x = room->x, .ls = &ls, .plain = {NAN, NAN, NAN, NAN, NAN}};
    struct robust_ls_plain plain;
    struct robust_ls_problem problem = {
        .x = room->x, .y = room->y, .n = fit->n, .p = TRAVEL_P, .floor = FLOOR_S};
    enum status st = robust_ls_solve(&problem, &plain);
    problem.plain = &plain;
    st = st == STATUS_OK ? choose_estimator(&problem, method, room, fit, &ls, &evidence) : st;
    st = st == STATUS_OK ? travel_law_test(&problem, room->residual, ls.sd, room->signs,
                                           &evidence.law, &fit->accelerating)
                         : st;
    st = st == STATUS_OK && travel_law_may_spread(&evidence.law)
             ? follow_spread(&problem, room, &ls)
             : st;
    if (st != STATUS_OK) {
        return st;
    }
    fit->method = method_used(ls.method);
    fit->freedom = count_freedom(room->weight, &ls);
    fit->ls = ls;
    fit->estimate.rank = ls.rank;
    fit->estimate.condition = ls.condition;
    set_terms(&ls, fit);
    set_combinations(&ls, room->x, fit);
    set_open(&evidence.law, set_one_delay(fit), fit);
    memcpy(fit->estimate.se_white, fit->estimate.se, sizeof fit->estimate.se);
    set_quality(room, ls.sd, fit, &evidence);
    widen_by_step(fit);
    set_range(room, fit);
    if (method != TRAVEL_AUTO && method != fit->method) {
        estimate_reason(&fit->estimate, REASON_METHOD_REPLACED, ESTIMATE_MARGINAL,
                        "method %s cannot be used on these moves, %s was",
                        travel_method_name(method), travel_method_name(fit->method));
    }
    travel_judge(fit, &evidence);
    return STATUS_OK;
}

/* Finds which sizes are only the noise of measuring. */
static void set_least(const struct room *room, struct travel_fit *fit,
                      const struct travel_move *moves, size_t n)
{
    for (size_t k = 0; k < TRAVEL_SIZES; k++) {
        size_t row = 0;
        for (size_t i = 0; i < n; i++) {
            if (travel_move_usable(&moves[i])) {
                room->sorted[row++] =
                    fabs(k == 0 ? moves[i].rotation_rad : moves[i].displacement_m);
            }
        }
        *(k == 0 ? &fit->least_rad : &fit->least_m) = travel_find_gap(room->sorted, row);
    }
    if (fit->least_rad > TRAVEL_NO_MOVE && fit->motion != TRAVEL_DRIVES) {
        estimate_note(&fit->estimate, REASON_MEASURED_SIZES,
                      "rotations below %.2g rad count as none: they look like noise",
                      fit->least_rad);
    }
    if (fit->least_m > TRAVEL_NO_MOVE && fit->motion != TRAVEL_TURNS) {
        estimate_note(&fit->estimate, REASON_MEASURED_SIZES,
                      "displacements below %.2g m count as none: they look like noise",
                      fit->least_m);
    }
}

static enum status fit_in_room(const struct travel_move *moves, size_t n,
                               enum travel_method method, struct travel_fit *fit)
{
    enum { COLUMNS = TRAVEL_P + 4 + TRAVEL_SIZES };
    gsl_vector *memory = fit->n <= SIZE_MAX / (COLUMNS * sizeof(double))
                             ? gsl_vector_alloc(COLUMNS * fit->n)
                             : NULL;
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    double *const y = memory->data + TRAVEL_P * fit->n;
    struct room room = {.x = memory->data,
                        .y = y,
                        .residual = y + fit->n,
                        .weight = y + 2 * fit->n,
                        .sorted = y + 3 * fit->n,
                        .signs = y + 4 * fit->n};
    size_t row = 0;
    set_least(&room, fit, moves, n);
    for (size_t i = 0; i < n; i++) {
        if (travel_move_usable(&moves[i])) {
            travel_fit_row(fit, &moves[i], room.x + row * TRAVEL_P);
            room.signs[row] = copysign(1.0, moves[i].rotation_rad);
            room.signs[fit->n + row] = copysign(1.0, moves[i].displacement_m);
            room.y[row++] = moves[i].lap_s;
        }
    }
    memcpy(room.sorted, room.y, fit->n * sizeof *room.y);
    fit->lap_step_s = travel_find_step(room.sorted, fit->n);
    enum status st = STATUS_OK;
    if (travel_equal_laps(room.y, fit->n) && moves_differ(room.x, fit->n)) {
        fit->method = method == TRAVEL_AUTO ? TRAVEL_OLS : method;
        travel_judge_usable(&fit->estimate, fit->n, fit->refused);
        travel_judge_equal_laps(&fit->estimate, "moves", fit->n, room.y[0]);
    } else {
        st = fit_design(method, &room, fit);
    }
    gsl_vector_free(memory);
    return st;
}

enum status travel_time_fit(const struct travel_move *moves, size_t n,
                            enum travel_motion motion, enum travel_method method,
                            struct travel_fit *fit)
{
    assert(fit);
    assert(moves || n == 0);
    assert((unsigned)method < TRAVEL_METHOD_COUNT);

    struct travel_fit out;
    travel_fit_start(&out, motion);
    for (size_t i = 0; i < n; i++) {
        out.n += travel_move_usable(&moves[i]);
    }
    out.refused = n - out.n;
    if (out.n == 0) {
        out.method = method == TRAVEL_AUTO ? TRAVEL_OLS : method;
        travel_judge(&out, &(struct travel_evidence){.r2_weighted = nan("")});
        *fit = out;
        return STATUS_OK;
    }
    const enum status st = fit_in_room(moves, n, method, &out);
    if (st == STATUS_OK) {
        *fit = out;
    }
    return st;
}

double travel_time_predict(const struct travel_fit *fit, double rotation_rad,
                           double displacement_m)
{
    double row[TRAVEL_P];
    double lap_s = 0.0;
    bool rest = false;

    const struct travel_move move = {rotation_rad, displacement_m, nan("")};
    travel_fit_row(fit, &move, row);
    for (size_t j = 0; j < TRAVEL_P; j++) {
        if (fit->estimate.identifiable[j]) {
            lap_s += row[j] * fit->beta[j];
            row[j] = 0.0;
        }
        rest = rest || row[j] > 0.0;
    }
    if (!rest) {
        return lap_s;
    }
    for (size_t k = 0; k < fit->estimate.combination_count; k++) {
        double off = 0.0;
        for (size_t j = 0; j < TRAVEL_P; j++) {
            const double c = fit->coefficient[k][j];
            off = fmax(off, fabs(row[j] - c) / fmax(fabs(c), 1.0));
        }
        if (off <= SAME_MOVE) {
            return lap_s + fit->estimate.combinations[k].value;
        }
    }
    return nan("");
}
