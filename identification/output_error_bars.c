/* Error bars of an output-error fit, ordinary and robust (docs/model/output_error.md, eq. 5 -
 * 7).
 */
#include "identification/output_error_parts.h"

#include <math.h>
#include <stdio.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>

enum { HAC_LAGS_MAX = 4096 };

/* Of the largest singular value of the scaled columns: less is no information. */
static const double RANK_TOLERANCE = 1e-7;
/* A parameter's part in a unit null direction from which on it is left open. */
static const double NULL_PART_MIN = 1e-3;

struct bars {
    size_t count;                 /* free global unknowns */
    size_t index[OE_GLOBALS_MAX]; /* theirs */
    double length[OE_GLOBALS_MAX];
    gsl_matrix *v;          /* [count x count] right singular vectors of the scaled triangle */
    gsl_vector *s;          /* [count] */
    gsl_matrix *covariance; /* [g x g] natural units, of unit weight */
    gsl_matrix *meat;       /* [g x g] long-run covariance of the scores */
    gsl_matrix *product;    /* [g x g] */
    gsl_matrix *eliminated; /* [runs axes x g] velocities at the start by global unknowns */
    gsl_matrix *scores;     /* [lags + 1 x g] the last ones */
};

static bool bars_alloc(struct bars *bars, const struct oe_work *work, size_t lags)
{
    const size_t g = work->g;
    const size_t count = bars->count > 0 ? bars->count : 1;
    bars->v = gsl_matrix_alloc(count, count);
    bars->s = gsl_vector_alloc(count);
    bars->covariance = gsl_matrix_alloc(g, g);
    bars->meat = gsl_matrix_alloc(g, g);
    bars->product = gsl_matrix_alloc(g, g);
    bars->eliminated = gsl_matrix_alloc(work->runs * work->n, g);
    bars->scores = gsl_matrix_alloc(lags + 1, g);
    return bars->v && bars->s && bars->covariance && bars->meat && bars->product &&
           bars->eliminated && bars->scores;
}

static void bars_free(struct bars *bars)
{
    gsl_matrix_free(bars->v);
    gsl_vector_free(bars->s);
    gsl_matrix_free(bars->covariance);
    gsl_matrix_free(bars->meat);
    gsl_matrix_free(bars->product);
    gsl_matrix_free(bars->eliminated);
    gsl_matrix_free(bars->scores);
}

/* Singular values of the triangle with columns of unit length. */
static enum status decompose(struct oe_work *work, struct bars *bars)
{
    const size_t count = bars->count;
    gsl_matrix_view u = gsl_matrix_submatrix(bars->product, 0, 0, count, count);
    for (size_t k = 0; k < count; k++) {
        gsl_vector_const_view column =
            gsl_matrix_const_subcolumn(work->global, bars->index[k], 0, work->g);
        const double length = gsl_blas_dnrm2(&column.vector);
        bars->length[k] = length > 0.0 ? length : 1.0;
    }
    /* Columns that are held are empty and their rows hold what the others left there: all rows
     * of the triangle count, so it is made square again before the decomposition. */
    gsl_matrix_view square = gsl_matrix_submatrix(work->below, 0, 0, work->g, count);
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < work->g; i++) {
            gsl_matrix_set(&square.matrix, i, k,
                           gsl_matrix_get(work->global, i, bars->index[k]) / bars->length[k]);
        }
    }
    gsl_matrix_set_zero(&u.matrix);
    const enum status st = oe_fold(work, &u.matrix, &square.matrix);
    if (st != STATUS_OK) {
        return st;
    }
    const int code = gsl_linalg_SV_decomp_jacobi(&u.matrix, bars->v, bars->s);
    if (code != GSL_SUCCESS) {
        return code == GSL_ENOMEM ? STATUS_E_NOMEM : STATUS_E_MATH;
    }
    return STATUS_OK;
}

static void set_covariance(struct bars *bars, size_t rank)
{
    gsl_matrix_set_zero(bars->covariance);
    for (size_t a = 0; a < bars->count; a++) {
        for (size_t b = 0; b < bars->count; b++) {
            double sum = 0.0;
            for (size_t k = 0; k < rank; k++) {
                const double s = gsl_vector_get(bars->s, k);
                sum += gsl_matrix_get(bars->v, a, k) * gsl_matrix_get(bars->v, b, k) / (s * s);
            }
            gsl_matrix_set(bars->covariance, bars->index[a], bars->index[b],
                           sum / (bars->length[a] * bars->length[b]));
        }
    }
}

/* "surge_mass_kg + 0.98 sway_mass_kg": what may be added to the parameters unseen. */
static void describe_null(const struct oe_work *work, const struct bars *bars, size_t k,
                          char text[DYNAMICS_TEXT_MAX])
{
    double largest = 0.0;
    size_t used = 0;
    text[0] = '\0';
    for (size_t a = 0; a < bars->count; a++) {
        const double part = gsl_matrix_get(bars->v, a, k) / bars->length[a];
        largest = fabs(part) > fabs(largest) ? part : largest;
    }
    for (size_t a = 0; a < bars->count && used < DYNAMICS_TEXT_MAX; a++) {
        const double part = gsl_matrix_get(bars->v, a, k) / bars->length[a] / largest;
        char name[64] = "delay_s";
        if (fabs(gsl_matrix_get(bars->v, a, k)) < NULL_PART_MIN) {
            continue;
        }
        if (bars->index[a] < work->p) {
            (void)dynamics_parameter_name(work->model, bars->index[a], name, sizeof name);
        }
        const char *sign = part < 0.0 ? "-" : used > 0 ? "+" : "";
        const int wrote =
            snprintf(text + used, DYNAMICS_TEXT_MAX - used, "%s%s%s%.3g %s",
                     used > 0 ? " " : "", sign, *sign ? " " : "", fabs(part), name);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}

/* What the singular values say; marks what is open with NaN. */
static void describe_rank(const struct oe_work *work, const struct bars *bars, size_t rank,
                          bool open[OE_GLOBALS_MAX], struct dynamics_fit *fit)
{
    const size_t count = bars->count;
    fit->rank = rank;
    fit->condition = rank < count ? HUGE_VAL
                     : count > 0
                         ? gsl_vector_get(bars->s, 0) / gsl_vector_get(bars->s, count - 1)
                         : nan("");
    for (size_t k = rank; k < count; k++) {
        for (size_t a = 0; a < count; a++) {
            open[bars->index[a]] =
                open[bars->index[a]] || fabs(gsl_matrix_get(bars->v, a, k)) >= NULL_PART_MIN;
        }
        if (fit->null_count < DYNAMICS_NULLS_MAX) {
            describe_null(work, bars, k, fit->nulls[fit->null_count++]);
        }
    }
}

static double root(double variance)
{
    return isfinite(variance) && variance >= 0.0 ? sqrt(variance) : nan("");
}

/* A^-1 of a run into work->below, whose upper left it fills. A velocity at the start that
 * changes nothing (a zero on the diagonal) gets the row of a unit matrix: it has no B either.
 */
static gsl_matrix_view invert_start(struct oe_work *work, size_t run)
{
    const size_t top = run * work->columns;
    gsl_matrix_const_view a = gsl_matrix_const_submatrix(work->run, top, 0, work->n, work->n);
    gsl_matrix_view inverse = gsl_matrix_submatrix(work->below, 0, 0, work->n, work->n);
    gsl_matrix_set_zero(&inverse.matrix);
    for (size_t i = 0; i < work->n; i++) {
        for (size_t j = i; j < work->n; j++) {
            gsl_matrix_set(&inverse.matrix, i, j, gsl_matrix_get(&a.matrix, i, j));
        }
        if (!(fabs(gsl_matrix_get(&a.matrix, i, i)) > 0.0)) {
            gsl_matrix_set(&inverse.matrix, i, i, 1.0);
        }
    }
    (void)gsl_linalg_tri_invert(CblasUpper, CblasNonUnit, &inverse.matrix);
    return inverse;
}

/* How the best velocities at the start of a run follow the global unknowns (A^-1 B), and their
 * standard errors: their own part, and what the others bring. */
static void eliminate(struct oe_work *work, struct bars *bars, size_t run, double factor,
                      struct dynamics_fit *fit)
{
    const size_t top = run * work->columns;
    const gsl_matrix_view inverse = invert_start(work, run);
    gsl_matrix_const_view b =
        gsl_matrix_const_submatrix(work->run, top, work->n, work->n, work->g);
    gsl_matrix_view follow =
        gsl_matrix_submatrix(bars->eliminated, run * work->n, 0, work->n, work->g);
    (void)gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1.0, &inverse.matrix, &b.matrix, 0.0,
                         &follow.matrix);
    for (size_t i = 0; i < work->n; i++) {
        double carried[OE_GLOBALS_MAX];
        double brought = 0.0;
        gsl_vector_view image = gsl_vector_view_array(carried, work->g);
        gsl_vector_const_view by = gsl_matrix_const_row(&follow.matrix, i);
        gsl_vector_const_view row = gsl_matrix_const_subrow(&inverse.matrix, i, 0, work->n);
        const double own = gsl_blas_dnrm2(&row.vector);
        (void)gsl_blas_dsymv(CblasUpper, 1.0, bars->covariance, &by.vector, 0.0, &image.vector);
        (void)gsl_blas_ddot(&by.vector, &image.vector, &brought);
        const bool told = fabs(gsl_matrix_get(work->run, top + i, i)) > 0.0;
        fit->initial[run][i] = gsl_matrix_get(work->here.initial, run, i);
        fit->initial_se[run][i] = told ? root(factor * (own * own + brought)) : nan("");
    }
}

/* The gradient of one sample's share of the likelihood, start velocities eliminated. */
static void set_score(const struct oe_work *work, const struct bars *bars, size_t run,
                      const struct trajectory *walk, const double *weight, double *score)
{
    const size_t m = work->columns - 1;
    memset(score, 0, work->g * sizeof *score);
    for (size_t i = 0; i < work->n; i++) {
        const double e = weight[i] * (work->set->nu[i][walk->at] - walk->nu[i]);
        const double *by = walk->by + i * m;
        for (size_t j = 0; j < work->g; j++) {
            score[j] += e * by[work->n + j];
        }
        for (size_t k = 0; k < work->n; k++) {
            const double *follow = gsl_matrix_const_ptr(bars->eliminated, run * work->n + k, 0);
            for (size_t j = 0; j < work->g; j++) {
                score[j] -= e * by[k] * follow[j];
            }
        }
    }
}

/* Bartlett's weights on lags are what sums over windows of lags + 1 scores give, counted once
 * for each place of the window, those at the ends included. */
static void slide(struct bars *bars, size_t place, const double *score, double *window,
                  size_t g)
{
    const size_t length = bars->scores->size1;
    double *oldest = gsl_matrix_ptr(bars->scores, place % length, 0);
    for (size_t j = 0; j < g; j++) {
        window[j] += score[j] - oldest[j];
        oldest[j] = score[j];
    }
    gsl_vector_const_view w = gsl_vector_const_view_array(window, g);
    (void)gsl_blas_dsyr(CblasUpper, 1.0 / (double)length, &w.vector, bars->meat);
}

static void add_run(struct oe_work *work, struct bars *bars, size_t run, const double *weight)
{
    const double settled_s = oe_settled_s(work, run);
    const double zero[OE_GLOBALS_MAX] = {0.0};
    double window[OE_GLOBALS_MAX] = {0.0};
    double score[OE_GLOBALS_MAX];
    struct trajectory walk;
    size_t place = 0;
    bool more = true;
    gsl_matrix_set_zero(bars->scores);
    trajectory_begin(&walk, &work->rules, run, work->here.theta, work->here.delay_s,
                     gsl_matrix_const_ptr(work->here.initial, run, 0));
    while (more) {
        if (work->set->t_s[walk.at] >= settled_s) {
            set_score(work, bars, run, &walk, weight, score);
            slide(bars, place++, score, window, work->g);
        }
        more = walk.at + 1 < walk.end && trajectory_next(&walk);
    }
    for (size_t k = 1; k < bars->scores->size1; k++) {
        slide(bars, place++, zero, window, work->g);
    }
}

/* C meat C into bars->product. */
static void sandwich(struct oe_work *work, struct bars *bars)
{
    double weight[MODEL_AXES_MAX] = {0.0};
    for (size_t i = 0; i < work->n; i++) {
        weight[i] = oe_weight(work, &work->here, i);
    }
    work->rules.sensitive = true;
    gsl_matrix_set_zero(bars->meat);
    for (size_t r = 0; r < work->runs; r++) {
        add_run(work, bars, r, weight);
    }
    gsl_matrix_view half = gsl_matrix_submatrix(work->below, 0, 0, work->g, work->g);
    (void)gsl_blas_dsymm(CblasLeft, CblasUpper, 1.0, bars->meat, bars->covariance, 0.0,
                         &half.matrix);
    (void)gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1.0, bars->covariance, &half.matrix, 0.0,
                         bars->product);
}

/* As many lags as a first-order process with the residuals' correlation asks for (Andrews'
 * rule for Bartlett's weights); none to speak of when they are white. */
static size_t choose_lags(const struct oe_work *work, const struct output_error_report *report)
{
    double rho = 0.0;
    for (size_t i = 0; i < work->n; i++) {
        rho = fmax(rho, fabs(report->axis[i].correlation));
    }
    const double counted = (double)work->counted;
    const double r = fmin(rho, 0.99);
    const double alpha = 4.0 * r * r / ((1.0 - r * r) * (1.0 - r * r));
    const double lags = ceil(1.1447 * cbrt(alpha * counted));
    const double most = fmin(HAC_LAGS_MAX, floor(counted / 4.0));
    return (size_t)fmin(lags, most);
}

static enum status fill(struct oe_work *work, struct bars *bars, struct dynamics_fit *fit,
                        struct output_error_report *report)
{
    bool open[OE_GLOBALS_MAX] = {false};
    size_t rank = 0;
    const double residuals = (double)(work->n * work->counted);
    const double left = residuals - (double)work->unknowns;
    const double factor = left > 0.0 ? residuals / left : nan("");
    const size_t delay = work->p;
    enum status st = oe_reduce(work, 0.0, NULL, work->free);
    if (st == STATUS_OK && bars->count > 0) {
        st = decompose(work, bars);
    }
    if (st != STATUS_OK) {
        return st;
    }
    while (rank < bars->count &&
           gsl_vector_get(bars->s, rank) > RANK_TOLERANCE * gsl_vector_get(bars->s, 0)) {
        rank++;
    }
    set_covariance(bars, rank);
    describe_rank(work, bars, rank, open, fit);
    for (size_t r = 0; r < work->runs; r++) {
        eliminate(work, bars, r, factor, fit);
    }
    sandwich(work, bars);
    for (size_t a = 0; a < work->p; a++) {
        const double ordinary = factor * gsl_matrix_get(bars->covariance, a, a);
        fit->se[a] = open[a] ? nan("") : root(ordinary);
        fit->se_hac[a] = open[a] ? nan("") : root(factor * gsl_matrix_get(bars->product, a, a));
        fit->theta[a] = open[a] ? nan("") : work->here.theta[a];
        for (size_t b = 0; b < work->p; b++) {
            const gsl_matrix *of = report->white ? bars->covariance : bars->product;
            fit->covariance[a][b] =
                open[a] || open[b] ? nan("") : factor * gsl_matrix_get(of, a, b);
        }
    }
    report->delay_se_hac_s = NAN;
    if (work->free[delay] && !open[delay]) {
        fit->delay_s = work->here.delay_s;
        fit->delay_se_s = root(factor * gsl_matrix_get(bars->covariance, delay, delay));
        report->delay_se_hac_s = root(factor * gsl_matrix_get(bars->product, delay, delay));
    }
    return STATUS_OK;
}

enum status oe_error_bars(struct oe_work *work, struct dynamics_fit *fit,
                          struct output_error_report *report)
{
    struct bars bars = {.count = 0};
    for (size_t j = 0; j < work->g; j++) {
        if (work->free[j]) {
            bars.index[bars.count++] = j;
        }
    }
    report->hac_lags = choose_lags(work, report);
    const enum status st = bars_alloc(&bars, work, report->hac_lags)
                               ? fill(work, &bars, fit, report)
                               : STATUS_E_NOMEM;
    bars_free(&bars);
    return st;
}
