/* Error bars of an output-error fit, ordinary and robust (docs/model/output_error.md, eq. 5 -
 * 7).
 */
#include "identification/numeric/hac_covariance.h"
#include "identification/simulation/information.h"
#include "identification/simulation/output_error_parts.h"

#include <math.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>

enum { OE_LAGS_MAX = 4096 };

struct bars {
    struct information information;
    gsl_matrix *meat;       /* [g x g] long-run covariance of the scores */
    gsl_matrix *product;    /* [g x g] */
    gsl_matrix *eliminated; /* [runs axes x g] velocities at the start by global unknowns */
    gsl_matrix *scores;     /* [lags + 1 x g] the last ones */
};

static bool bars_alloc(struct bars *bars, const struct oe_work *work, size_t lags)
{
    const size_t g = work->g;
    const bool told = information_alloc(&bars->information, g, work->unknowns.free);
    bars->meat = gsl_matrix_alloc(g, g);
    bars->product = gsl_matrix_alloc(g, g);
    bars->eliminated = gsl_matrix_alloc(work->runs * work->n, g);
    bars->scores = gsl_matrix_alloc(lags + 1, g);
    return told && bars->meat && bars->product && bars->eliminated && bars->scores;
}

static void bars_free(struct bars *bars)
{
    information_free(&bars->information);
    gsl_matrix_free(bars->meat);
    gsl_matrix_free(bars->product);
    gsl_matrix_free(bars->eliminated);
    gsl_matrix_free(bars->scores);
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
        (void)gsl_blas_dsymv(CblasUpper, 1.0, bars->information.covariance, &by.vector, 0.0,
                             &image.vector);
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
    const double settled_s = unknowns_settled_s(&work->unknowns, work->set, run);
    const double zero[OE_GLOBALS_MAX] = {0.0};
    double window[OE_GLOBALS_MAX] = {0.0};
    double score[OE_GLOBALS_MAX];
    struct trajectory walk;
    size_t place = 0;
    bool more = true;
    gsl_matrix_set_zero(bars->scores);
    trajectory_begin(&walk, &work->rules, run, work->here.values.theta,
                     work->here.values.delay_s,
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
    (void)gsl_blas_dsymm(CblasLeft, CblasUpper, 1.0, bars->meat, bars->information.covariance,
                         0.0, &half.matrix);
    (void)gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1.0, bars->information.covariance,
                         &half.matrix, 0.0, bars->product);
}

static size_t choose_lags(const struct oe_work *work, const struct output_error_report *report)
{
    double rho = 0.0;
    for (size_t i = 0; i < work->n; i++) {
        rho = fmax(rho, fabs(report->axis[i].correlation));
    }
    const size_t lags = hac_lags(rho, work->counted);
    return lags < OE_LAGS_MAX ? lags : OE_LAGS_MAX;
}

static enum status fill(struct oe_work *work, struct bars *bars, struct dynamics_fit *fit,
                        struct output_error_report *report)
{
    const bool *open = bars->information.open;
    const double residuals = (double)(work->n * work->counted);
    const double left = residuals - (double)work->free_count;
    const double factor = left > 0.0 ? residuals / left : nan("");
    const size_t delay = work->p;
    enum status st = oe_reduce(work, 0.0, NULL, work->unknowns.free);
    if (st == STATUS_OK) {
        st = information_take(&bars->information, work->global);
    }
    if (st != STATUS_OK) {
        return st;
    }
    for (size_t r = 0; r < work->runs; r++) {
        eliminate(work, bars, r, factor, fit);
    }
    sandwich(work, bars);
    double value[OE_GLOBALS_MAX];
    memcpy(value, work->here.values.theta, work->p * sizeof *value);
    value[work->p] = work->here.values.delay_s;
    const gsl_matrix *used = report->white ? bars->information.covariance : bars->product;
    fit->hac_share = report->white ? 0.0 : (double)report->hac_lags / (double)work->counted;
    information_describe(&bars->information, work->model, value, used, fit);
    for (size_t a = 0; a < work->p; a++) {
        const double ordinary = factor * gsl_matrix_get(bars->information.covariance, a, a);
        fit->estimate.se_white[a] = open[a] ? nan("") : root(ordinary);
        fit->se_hac[a] = open[a] ? nan("") : root(factor * gsl_matrix_get(bars->product, a, a));
        fit->estimate.value[a] = open[a] ? nan("") : work->here.values.theta[a];
        for (size_t b = 0; b < work->p; b++) {
            fit->estimate.covariance[a][b] =
                open[a] || open[b] ? nan("") : factor * gsl_matrix_get(used, a, b);
        }
    }
    for (size_t k = 0; k < fit->estimate.combination_count; k++) {
        fit->estimate.combinations[k].se *= sqrt(factor);
    }
    if (work->unknowns.free[delay] && !open[delay]) {
        fit->delay_s = work->here.values.delay_s;
        fit->delay_se_s = root(factor * gsl_matrix_get(used, delay, delay));
        for (size_t a = 0; a < work->p; a++) {
            fit->delay_covariance[a] =
                open[a] ? nan("") : factor * gsl_matrix_get(used, a, delay);
        }
    }
    return STATUS_OK;
}

enum status oe_error_bars(struct oe_work *work, struct dynamics_fit *fit,
                          struct output_error_report *report)
{
    struct bars bars;
    report->hac_lags = choose_lags(work, report);
    const enum status st = bars_alloc(&bars, work, report->hac_lags)
                               ? fill(work, &bars, fit, report)
                               : STATUS_E_NOMEM;
    bars_free(&bars);
    return st;
}
