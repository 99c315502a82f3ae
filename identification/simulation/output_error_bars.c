/* Error bars of an output-error fit, ordinary and robust (docs/model/output_error.md, eq. 5 -
 * 7).
 */
#include <math.h>

#include "identification/numeric/hac_covariance.h"
#include "identification/simulation/information.h"
#include "identification/simulation/output_error_parts.h"

enum { OE_LAGS_MAX = 4096 };

/* How the best velocities at the start of a run follow the global unknowns: A^-1 B from the
 * rows [A B] of its triangle, [n x g]. */
static void eliminate_start(const struct oe_work *work, size_t run, double *follow)
{
    const size_t m = work->columns;
    const double *rows = gsl_matrix_const_ptr(work->run, run * m, 0);
    double right[MODEL_AXES_MAX * NUMERIC_COLUMNS_MAX];
    for (size_t i = 0; i < work->n; i++) {
        memcpy(right + i * m, rows + i * m, m * sizeof *right);
    }
    for (size_t j = 0; j < work->g; j++) {
        const double none[UNKNOWNS_MAX] = {0.0};
        double column[MODEL_AXES_MAX];
        for (size_t i = 0; i < work->n; i++) {
            right[i * m + m - 1] = rows[i * m + work->n + j];
        }
        damped_follow(right, m, work->n, work->g, none, column);
        for (size_t i = 0; i < work->n; i++) {
            follow[i * work->g + j] = column[i];
        }
    }
}

/* Length of row i of A^-1: its own error of a velocity at the start; zero when nothing shows
 * it. */
static double own_error(const struct oe_work *work, size_t run, size_t i)
{
    const size_t m = work->columns;
    const double *rows = gsl_matrix_const_ptr(work->run, run * m, 0);
    double inverse[MODEL_AXES_MAX] = {0.0};
    double squares = 0.0;
    for (size_t k = i; k < work->n; k++) {
        double sum = k == i ? 1.0 : 0.0;
        for (size_t j = i; j < k; j++) {
            sum -= inverse[j] * rows[j * m + k];
        }
        const double pivot = rows[k * m + k];
        inverse[k] = fabs(pivot) > 0.0 ? sum / pivot : sum;
        squares += inverse[k] * inverse[k];
    }
    return sqrt(squares);
}

/* Velocities at the start of a run and their standard errors: their own part, and what the
 * others bring. */
static void report_start(const struct oe_work *work, const struct information *information,
                         size_t run, const double *follow, double factor,
                         struct dynamics_fit *fit)
{
    const size_t top = run * work->columns;
    for (size_t i = 0; i < work->n; i++) {
        const double *by = follow + i * work->g;
        const double own = own_error(work, run, i);
        double variance = own * own;
        for (size_t a = 0; a < work->g; a++) {
            for (size_t b = 0; b < work->g; b++) {
                variance += by[a] * information->covariance[a * work->g + b] * by[b];
            }
        }
        const bool told = fabs(gsl_matrix_get(work->run, top + i, i)) > 0.0;
        fit->initial[run][i] = gsl_matrix_get(work->here.initial, run, i);
        fit->initial_se[run][i] = told ? information_se(factor * variance) : nan("");
    }
}

/* The gradient of one sample's share of the likelihood, start velocities eliminated. */
static void set_score(const struct oe_work *work, const struct trajectory *walk,
                      const double *follow, double *score)
{
    const size_t m = work->columns - 1;
    memset(score, 0, work->g * sizeof *score);
    for (size_t i = 0; i < work->n; i++) {
        const double e =
            oe_weight(work, &work->here, i) * (work->set->nu[i][walk->at] - walk->nu[i]);
        const double *by = walk->by + i * m;
        for (size_t j = 0; j < work->g; j++) {
            double sum = by[work->n + j];
            for (size_t k = 0; k < work->n; k++) {
                sum -= by[k] * follow[k * work->g + j];
            }
            score[j] += e * sum;
        }
    }
}

static void add_scores(struct oe_work *work, size_t run, const double *follow,
                       struct hac_covariance *scores)
{
    const double settled_s = unknowns_settled_s(&work->unknowns, work->set, run);
    double score[UNKNOWNS_MAX];
    struct trajectory walk;
    bool more = true;
    trajectory_begin(&walk, &work->rules, run, work->here.values.theta,
                     work->here.values.delay_s,
                     gsl_matrix_const_ptr(work->here.initial, run, 0));
    while (more) {
        if (work->set->t_s[walk.at] >= settled_s) {
            set_score(work, &walk, follow, score);
            hac_add(scores, score);
        }
        more = walk.at + 1 < walk.end && trajectory_next(&walk);
    }
    hac_break(scores);
}

static size_t choose_lags(const struct oe_work *work, const struct search_report *report)
{
    double rho = 0.0;
    for (size_t i = 0; i < work->n; i++) {
        rho = fmax(rho, fabs(report->axis[i].correlation));
    }
    const size_t lags = hac_lags(rho, work->counted);
    return lags < OE_LAGS_MAX ? lags : OE_LAGS_MAX;
}

enum status oe_error_bars(struct oe_work *work, struct dynamics_fit *fit,
                          struct search_report *report)
{
    const double residuals = (double)(work->n * work->counted);
    const double left = residuals - (double)work->free_count;
    const double factor = left > 0.0 ? residuals / left : nan("");
    struct information information;
    struct hac_covariance scores;
    report->hac_lags = choose_lags(work, report);
    fit->hac_share = report->white ? 0.0 : (double)report->hac_lags / (double)work->counted;
    oe_reduce(work, 0.0);
    const enum status st =
        information_find(&information, &work->unknowns, work->global.r[0], NUMERIC_COLUMNS_MAX);
    if (st != STATUS_OK) {
        return st;
    }
    work->rules.sensitive = true;
    hac_start(&scores, work->g, report->hac_lags, false);
    for (size_t r = 0; r < work->runs; r++) {
        double follow[MODEL_AXES_MAX * UNKNOWNS_MAX];
        eliminate_start(work, r, follow);
        report_start(work, &information, r, follow, factor, fit);
        add_scores(work, r, follow, &scores);
    }
    information_sandwich(&information, &scores);
    information_report(&information, &work->unknowns, &work->here.values, factor, report->white,
                       fit);
    return STATUS_OK;
}
