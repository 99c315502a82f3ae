/* Simulation of all runs, and the reduction of its Jacobian (docs/model/output_error.md).
 *
 * Each sample gives every axis a row of sensitivities and a residual. They are merged at once
 * into the triangle R of its run and axis, so that the Jacobian is never stored. The weights of
 * the axes follow from the residuals of all runs and therefore multiply these triangles
 * afterwards. The initial velocities of a run are its first columns. The rows that QR leaves
 * below them concern only the unknowns that all runs share. This elimination keeps the cost
 * linear in the number of runs.
 */
#include "identification/simulation/output_error.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include <gsl/gsl_matrix.h>

#include "base/numbers/constants.h"
#include "identification/data/trajectory.h"
#include "identification/numeric/hac_covariance.h"
#include "identification/numeric/qr_accumulator.h"
#include "identification/simulation/information.h"
#include "identification/simulation/simulation_thresholds.def"

enum { OE_SLOW_ITERATIONS = 10 };

/* Values of all unknowns, and the results of a simulation with them. */
struct oe_point {
    struct free_values values;
    gsl_matrix *initial; /* [runs x axes] */
    gsl_matrix
        *triangles; /* [runs axes columns x columns]: of each run and axis, upper, unweighted */
    double rss[MODEL_AXES_MAX];
    double cost; /* -2 log likelihood up to a constant; INFINITY if it diverged */
};

/* Columns of the Jacobian of one run: its initial velocities (axes), the global unknowns
 * (parameters, biases, delay), and the residual, in natural units. For logarithms of
 * positive parameters, the columns are scaled later. */
struct oe_work {
    const struct model *model;
    const struct data_set *set;
    const struct search_options *options;
    struct free_parameters free_parameters;
    struct trajectory_rules rules;
    size_t n;       /* number of axes */
    size_t p;       /* number of parameters and biases */
    size_t g;       /* p + 1: global unknowns */
    size_t columns; /* n + g + 1 */
    size_t runs;
    size_t counted;                  /* number of residuals of one axis */
    size_t free_count;               /* number of free unknowns, with initial velocities */
    double floor2[MODEL_AXES_MAX];   /* smaller residual variances count as this */
    double past[OE_SLOW_ITERATIONS]; /* costs of the last iterations */
    gsl_matrix *run;              /* [runs columns x columns] weighted triangles of the runs */
    struct qr_accumulator global; /* triangle of the global unknowns, with the rest */
    gsl_matrix *residual;         /* [axes x set->n] */
    struct oe_point here, there;
};

static bool counts_sample(const struct oe_work *work, size_t k, double settled_s)
{
    return work->set->t_s[k] >= settled_s && data_set_is_recorded(work->set, k);
}

/* Weight of an axis: one over the variance of its residuals. */
static double weigh_axis(const struct oe_work *work, const struct oe_point *point, size_t axis)
{
    return 1.0 / fmax(point->rss[axis] / (double)work->counted, work->floor2[axis]);
}

/* Returns row i of the triangle of a run and an axis. */
static double *triangle_row(const struct oe_work *work, const struct oe_point *point,
                            size_t run, size_t axis, size_t i)
{
    const size_t top = (run * work->n + axis) * work->columns;
    return gsl_matrix_ptr(point->triangles, top + i, 0);
}

/* Adds the rows of one sample, one per axis, and its squared residuals. */
static void add_sample(struct oe_work *work, struct oe_point *point,
                       const struct trajectory *walk, struct qr_accumulator *axes)
{
    const size_t m = work->columns;
    for (size_t i = 0; i < work->n; i++) {
        const double residual = work->set->nu[i][walk->at] - walk->nu[i];
        double row[NUMERIC_COLUMNS_MAX];
        memcpy(row, walk->by + i * (m - 1), (m - 1) * sizeof *row);
        row[m - 1] = residual;
        qr_add(&axes[i], row);
        point->rss[i] += residual * residual;
    }
}

static enum status walk_run(struct oe_work *work, struct oe_point *point, size_t run,
                            bool *ran_away)
{
    const double settled_s = free_parameters_settled_s(&work->free_parameters, work->set, run);
    struct qr_accumulator axes[MODEL_AXES_MAX];
    struct trajectory walk;
    bool more = true;
    for (size_t i = 0; i < work->n; i++) {
        qr_start(&axes[i], work->columns);
    }
    trajectory_begin(&walk, &work->rules, run, point->values.theta, point->values.delay_s,
                     gsl_matrix_const_ptr(point->initial, run, 0));
    while (more) {
        if (!free_parameters_go_on(&work->free_parameters)) {
            return STATUS_E_STALE;
        }
        if (counts_sample(work, walk.at, settled_s)) {
            add_sample(work, point, &walk, axes);
        }
        more = walk.at + 1 < walk.end;
        if (more && !trajectory_next(&walk)) {
            *ran_away = true;
            return STATUS_OK;
        }
    }
    for (size_t i = 0; i < work->n; i++) {
        qr_flush(&axes[i]);
        for (size_t k = 0; k < work->columns; k++) {
            memcpy(triangle_row(work, point, run, i, k), axes[i].r[k],
                   work->columns * sizeof(double));
        }
    }
    return STATUS_OK;
}

/* Simulates from the point's unknowns; fills triangles, rss and cost. */
static enum status evaluate_point(struct oe_work *work, struct oe_point *point)
{
    const double counted = (double)work->counted;
    bool ran_away = false;
    work->free_parameters.walked = 0;
    work->rules.sensitive = true;
    gsl_matrix_set_zero(point->triangles);
    memset(point->rss, 0, sizeof point->rss);
    point->cost = INFINITY;
    for (size_t r = 0; r < work->runs && !ran_away; r++) {
        const enum status st = walk_run(work, point, r, &ran_away);
        if (st != STATUS_OK) {
            return st;
        }
    }
    double cost = 0.0;
    for (size_t i = 0; i < work->n; i++) {
        cost += counted * log(fmax(point->rss[i] / counted, work->floor2[i]));
    }
    /* Sensitivities can overflow even if velocities do not. */
    for (size_t i = 0; i < point->triangles->size1 && !ran_away; i++) {
        for (size_t j = 0; j < work->columns && !ran_away; j++) {
            ran_away = !isfinite(gsl_matrix_get(point->triangles, i, j));
        }
    }
    point->cost = ran_away || !isfinite(cost) ? HUGE_VAL : cost;
    return STATUS_OK;
}

/* Writes the residuals of the present point to work->residual; NaN where a sample is not
 * used. */
static void set_residuals(struct oe_work *work)
{
    struct trajectory_rules rules = work->rules;
    rules.sensitive = false;
    rules.budget = NULL; /* the residuals of the best point are complete */
    gsl_matrix_set_all(work->residual, NAN);
    for (size_t r = 0; r < work->runs; r++) {
        const double settled_s =
            free_parameters_settled_s(&work->free_parameters, work->set, r);
        struct trajectory walk;
        bool more = true;
        trajectory_begin(&walk, &rules, r, work->here.values.theta, work->here.values.delay_s,
                         gsl_matrix_const_ptr(work->here.initial, r, 0));
        while (more) {
            for (size_t i = 0; i < work->n && counts_sample(work, walk.at, settled_s); i++) {
                gsl_matrix_set(work->residual, i, walk.at,
                               work->set->nu[i][walk.at] - walk.nu[i]);
            }
            more = walk.at + 1 < walk.end && trajectory_next(&walk);
        }
    }
}

/* Adds rows sqrt(lambda) times the lengths of the first columns. An initial velocity that is
 * forgotten before the residuals begin has an empty column; it is damped as if one sample
 * showed it. */
static void damp_start(const struct oe_work *work, struct qr_accumulator *qr, double lambda)
{
    double lengths[MODEL_AXES_MAX] = {0.0};
    qr_lengths(qr, work->n, lengths);
    for (size_t j = 0; j < work->n; j++) {
        const double least = sqrt(weigh_axis(work, &work->here, j));
        double row[NUMERIC_COLUMNS_MAX] = {0.0};
        row[j] = sqrt(lambda) * fmax(lengths[j] > 0.0 ? lengths[j] : 1.0, least);
        qr_add(qr, row);
    }
    qr_flush(qr);
}

/* Merges the triangles of a run's axes into work->run. */
static void reduce_run(struct oe_work *work, size_t run, double lambda)
{
    const size_t m = work->columns;
    struct qr_accumulator qr;
    qr_start(&qr, m);
    for (size_t a = 0; a < work->n; a++) {
        const double root = sqrt(weigh_axis(work, &work->here, a));
        for (size_t i = 0; i < m; i++) {
            const double *from = triangle_row(work, &work->here, run, a, i);
            double row[NUMERIC_COLUMNS_MAX];
            for (size_t j = 0; j < m; j++) {
                const bool none = j < i || (j < work->n && work->options->at_rest[run]);
                row[j] = none ? 0.0 : root * from[j];
            }
            qr_add(&qr, row);
        }
    }
    qr_flush(&qr);
    if (lambda > 0.0) {
        damp_start(work, &qr, lambda);
    }
    for (size_t i = 0; i < m; i++) {
        memcpy(gsl_matrix_ptr(work->run, run * m + i, 0), qr.r[i], m * sizeof(double));
    }
}

/* Merges the weighted triangles of the present point into work->run and global. Initial
 * velocities are damped by lambda. */
static void reduce_runs(struct oe_work *work, double lambda)
{
    qr_start(&work->global, work->g + 1);
    for (size_t r = 0; r < work->runs; r++) {
        reduce_run(work, r, lambda);
        /* The part that the initial velocities cannot explain goes to the global triangle. */
        for (size_t i = work->n; i < work->columns; i++) {
            qr_add(&work->global,
                   gsl_matrix_const_ptr(work->run, r * work->columns + i, work->n));
        }
    }
    qr_flush(&work->global);
}

/* Computes the damped step and the point it leads to. *length: in standard errors, a lower
 * bound. */
static enum status propose_step(void *context, double lambda, double *length)
{
    struct oe_work *work = context;
    struct free_step step;
    reduce_runs(work, lambda);
    free_parameters_step(&work->free_parameters, &work->here.values, work->global.r[0],
                         NUMERIC_COLUMNS_MAX, lambda, &step);
    work->there.values = step.to;
    double squares = step.length * step.length;
    for (size_t r = 0; r < work->runs; r++) {
        const double *rows = gsl_matrix_const_ptr(work->run, r * work->columns, 0);
        double follow[MODEL_AXES_MAX];
        damped_follow(rows, work->columns, work->n, work->g, step.by, follow);
        for (size_t i = 0; i < work->n; i++) {
            const double z = rows[i * work->columns + work->columns - 1];
            gsl_matrix_set(work->there.initial, r, i,
                           gsl_matrix_get(work->here.initial, r, i) + step.ratio * follow[i]);
            squares += z * z;
        }
    }
    *length = sqrt(squares);
    return STATUS_OK;
}

/* Error bars of an output-error fit, ordinary and robust (docs/model/output_error.md, eq. 5
 * - 7). The ordinary covariance is the inverse of the information R'R. It assumes white
 * residuals. The robust one is the sandwich with the Newey-West covariance of the scores,
 * which allows for autocorrelated residuals. */

enum { OE_LAGS_MAX = 4096 };

/* Computes the change of the best initial velocities with the global unknowns: A^-1 B from
 * the rows [A B] of the run's triangle, [n x g]. */
static void eliminate_start(const struct oe_work *work, size_t run, double *follow)
{
    const size_t m = work->columns;
    const double *rows = gsl_matrix_const_ptr(work->run, run * m, 0);
    double right[MODEL_AXES_MAX * NUMERIC_COLUMNS_MAX];
    for (size_t i = 0; i < work->n; i++) {
        memcpy(right + i * m, rows + i * m, m * sizeof *right);
    }
    for (size_t j = 0; j < work->g; j++) {
        const double none[FREE_PARAMETERS_MAX] = {0.0};
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

/* Gradient of one sample's contribution to the likelihood, with the initial velocities
 * eliminated. */
static void set_score(const struct oe_work *work, const struct trajectory *walk,
                      const double *follow, double *score)
{
    const size_t m = work->columns - 1;
    memset(score, 0, work->g * sizeof *score);
    for (size_t i = 0; i < work->n; i++) {
        const double e =
            weigh_axis(work, &work->here, i) * (work->set->nu[i][walk->at] - walk->nu[i]);
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
    const double settled_s = free_parameters_settled_s(&work->free_parameters, work->set, run);
    double score[FREE_PARAMETERS_MAX];
    struct trajectory walk;
    bool more = true;
    trajectory_begin(&walk, &work->rules, run, work->here.values.theta,
                     work->here.values.delay_s,
                     gsl_matrix_const_ptr(work->here.initial, run, 0));
    while (more) {
        if (counts_sample(work, walk.at, settled_s)) {
            set_score(work, &walk, follow, score);
            hac_add(scores, score);
        }
        more = walk.at + 1 < walk.end && trajectory_next(&walk);
    }
    hac_break(scores);
}

/* Computes the errors of the estimate: se, se_hac, covariance, rank, condition, null
 * directions and delay of fit. Requires the summaries in report. */
static enum status set_error_bars(struct oe_work *work, struct dynamics_fit *fit,
                                  const struct search_report *report)
{
    const double residuals = (double)(work->n * work->counted);
    const double left = residuals - (double)work->free_count;
    const double factor = left > 0.0 ? residuals / left : nan("");
    const size_t lags =
        free_parameters_lags(&work->free_parameters, report, work->counted, OE_LAGS_MAX);
    struct information information;
    struct hac_covariance scores;
    fit->hac_share = report->white ? 0.0 : (double)lags / (double)work->counted;
    reduce_runs(work, 0.0);
    const enum status st = information_find(&information, &work->free_parameters,
                                            work->global.r[0], NUMERIC_COLUMNS_MAX);
    if (st != STATUS_OK) {
        return st;
    }
    work->rules.sensitive = true;
    work->rules.budget = NULL;
    hac_start(&scores, work->g, lags, false);
    for (size_t r = 0; r < work->runs; r++) {
        double follow[MODEL_AXES_MAX * FREE_PARAMETERS_MAX];
        eliminate_start(work, r, follow);
        for (size_t i = 0; i < work->n; i++) {
            fit->initial[r][i] = gsl_matrix_get(work->here.initial, r, i);
        }
        add_scores(work, r, follow, &scores);
    }
    information_sandwich(&information, &scores);
    information_report(&information, &work->free_parameters, &work->here.values, factor,
                       report->white && !report->uneven, fit);
    return STATUS_OK;
}

enum { FIRST_SAMPLES = 5, FINER_MAX = 3 };

/* The search ends at a step shorter than a thousandth of every standard error, or at the
 * gain that such a step would give. */
static const struct damped_rules rules = {
    .lambda = 1e-4, .ease = 0.2, .step_enough = 1e-3, .gain_enough = 1e-6};
/* A search in a valley so flat that ten iterations together gain less than this is also at
 * its minimum. The gain counts for less if residuals are autocorrelated, because they carry
 * less information. */
static const double SLOW_GAIN = 0.05;
static const double CORRELATION_MAX = 0.99;
/* Residuals below this share of a channel's range are rounding errors. */
static const double FLOOR_RATIO = 1e-9;

static bool alloc_point(struct oe_point *point, const struct oe_work *work)
{
    point->initial = gsl_matrix_alloc(work->runs, work->n);
    point->triangles = gsl_matrix_alloc(work->runs * work->n * work->columns, work->columns);
    return point->initial && point->triangles;
}

static bool alloc_work(struct oe_work *work)
{
    work->run = gsl_matrix_alloc(work->runs * work->columns, work->columns);
    work->residual = gsl_matrix_alloc(work->n, work->set->n);
    const bool points = alloc_point(&work->here, work) && alloc_point(&work->there, work);
    return points && work->run && work->residual;
}

static void free_work(struct oe_work *work)
{
    gsl_matrix_free(work->run);
    gsl_matrix_free(work->residual);
    gsl_matrix_free(work->here.initial);
    gsl_matrix_free(work->here.triangles);
    gsl_matrix_free(work->there.initial);
    gsl_matrix_free(work->there.triangles);
}

static void describe_work(struct oe_work *work, const struct model *model,
                          const struct data_set *set, const struct search_options *options)
{
    *work = (struct oe_work){.model = model, .set = set, .options = options};
    work->n = model->axis_count;
    free_parameters_init(&work->free_parameters, model, options);
    work->p = work->free_parameters.p;
    work->g = work->free_parameters.g;
    work->columns = work->n + work->g + 1;
    work->runs = set->run_count;
    work->rules = (struct trajectory_rules){.model = model,
                                            .set = set,
                                            .at_rest = options->at_rest,
                                            .with_biases = options->with_biases,
                                            .budget = options->budget};
    for (size_t r = 0; r < work->runs; r++) {
        work->free_count += options->at_rest[r] ? 0 : work->n;
    }
    for (size_t j = 0; j < work->g; j++) {
        work->free_count += work->free_parameters.free[j] ? 1 : 0;
    }
    for (size_t r = 0; r < work->runs; r++) {
        const double settled_s = free_parameters_settled_s(&work->free_parameters, set, r);
        for (size_t k = set->run_start[r]; k < set->run_start[r + 1]; k++) {
            work->counted += counts_sample(work, k, settled_s) ? 1 : 0;
        }
    }
    for (size_t i = 0; i < work->n; i++) {
        double largest = 0.0;
        work->rules.limit[i] = free_parameters_limit(set, i, &largest);
        work->floor2[i] = largest > 0.0 ? pow(FLOOR_RATIO * largest, 2.0) : DBL_EPSILON;
    }
}

/* Sets the starting point. */
static void place_start(struct oe_work *work, const double *start)
{
    const struct search_options *options = work->options;
    const struct data_set *set = work->set;
    struct oe_point *here = &work->here;
    free_parameters_start(&work->free_parameters, start, &here->values);
    for (size_t r = 0; r < work->runs; r++) {
        const size_t from = set->run_start[r];
        const size_t there = set->run_start[r + 1] - from;
        const size_t count = there < FIRST_SAMPLES ? there : FIRST_SAMPLES;
        for (size_t i = 0; i < work->n; i++) {
            double sum = 0.0;
            for (size_t k = 0; k < count; k++) {
                sum += set->nu[i][from + k];
            }
            gsl_matrix_set(here->initial, r, i,
                           options->at_rest[r] ? 0.0 : sum / (double)count);
        }
    }
    work->rules.step_s = free_parameters_step_s(&work->free_parameters, set, &here->values);
}

/* Change of -2 log likelihood that is equivalent to 1, given the autocorrelation of the
 * residuals. */
static double find_inflation(struct oe_work *work)
{
    const struct data_set *set = work->set;
    double rho = 0.0;
    set_residuals(work);
    for (size_t i = 0; i < work->n; i++) {
        struct residual_summary axis;
        residual_summarise(gsl_matrix_const_ptr(work->residual, i, 0), set->nu[i],
                           set->run_start, set->run_count, &axis);
        rho = fmax(rho, fmin(axis.correlation, CORRELATION_MAX));
    }
    return (1.0 + rho) / (1.0 - rho);
}

/* Returns whether the gain of the last ten iterations does not justify more. */
static bool is_slow(struct oe_work *work, size_t iteration)
{
    double *before = &work->past[iteration % OE_SLOW_ITERATIONS];
    const double gain = *before - work->here.cost;
    const double most = SLOW_GAIN * (1.0 + CORRELATION_MAX) / (1.0 - CORRELATION_MAX);
    *before = work->here.cost;
    return iteration >= OE_SLOW_ITERATIONS && gain > 0.0 && gain <= most &&
           gain <= SLOW_GAIN * find_inflation(work);
}

static bool is_over(void *context, size_t iteration, enum search_stop *stop)
{
    struct oe_work *work = context;
    if (free_parameters_is_over(&work->free_parameters, iteration, stop)) {
        return true;
    }
    *stop = SEARCH_CONVERGED;
    return is_slow(work, iteration);
}

static enum status try_step(void *context, double *gain)
{
    struct oe_work *work = context;
    const enum status st = evaluate_point(work, &work->there);
    *gain = work->here.cost - work->there.cost;
    if (st == STATUS_OK && *gain >= 0.0) {
        const struct oe_point left = work->here;
        work->here = work->there;
        work->there = left;
    }
    return st;
}

/* Tries a shorter integration step, because a simulation may diverge only for its long
 * steps. */
static enum status begin_search(struct oe_work *work)
{
    for (int finer = 0; finer < FINER_MAX; finer++) {
        const enum status st = evaluate_point(work, &work->here);
        if (st != STATUS_OK || isfinite(work->here.cost)) {
            return st;
        }
        work->rules.step_s *= 0.5;
    }
    return STATUS_OK;
}

/* Correlation of squared residuals with squared velocities, in errors of none: noise that grows
 * with the velocity (Breusch and Pagan 1979). */
static double find_growth(const double *residual, const double *velocity, size_t n)
{
    double sum[5] = {0.0};
    double count = 0.0;
    for (size_t k = 0; k < n; k++) {
        if (isfinite(residual[k])) {
            const double e = residual[k] * residual[k];
            const double v = velocity[k] * velocity[k];
            const double add[5] = {e, v, e * e, v * v, e * v};
            for (size_t i = 0; i < COUNT(add); i++) {
                sum[i] += add[i];
            }
            count += 1.0;
        }
    }
    const double spread =
        (sum[2] - sum[0] * sum[0] / count) * (sum[3] - sum[1] * sum[1] / count);
    return spread > 0.0 ? sqrt(count / spread) * (sum[4] - sum[0] * sum[1] / count) : 0.0;
}

static void summarise_residuals(struct oe_work *work, struct search_report *report)
{
    const struct data_set *set = work->set;
    report->white = true;
    for (size_t i = 0; i < work->n; i++) {
        residual_summarise(gsl_matrix_const_ptr(work->residual, i, 0), set->nu[i],
                           set->run_start, set->run_count, &report->axis[i]);
        report->white = report->white && report->axis[i].white;
        const double growth =
            find_growth(gsl_matrix_const_ptr(work->residual, i, 0), set->nu[i], set->n);
        report->uneven = report->uneven || (work->model->channels && growth > GROWTH_ERRORS);
    }
    /* The constant is two pi of the normal density, and the value of the exponent at the
     * maximum. */
    const double rest = (double)(work->n * work->counted) * (log(2.0 * PI) + 1.0);
    report->log_likelihood = -0.5 * (work->here.cost + rest);
    free_parameters_report(&work->free_parameters, &work->here.values, report);
}

/* Ends without a result to judge. */
static void give_up(struct oe_work *work, enum dynamics_stop stop, struct dynamics_fit *fit)
{
    gsl_matrix_set_all(work->residual, NAN);
    free_parameters_give_up(&work->free_parameters, &work->here.values, stop, fit);
}

static enum status run_fit(struct oe_work *work, const double *start, struct dynamics_fit *fit,
                           struct search_report *report)
{
    static const char *const words[3] = {"residuals",
                                         "something acts that the model does not have",
                                         "a trace of something that the model does not have"};
    struct damped_search search = {.rules = rules,
                                   .context = work,
                                   .is_over = is_over,
                                   .propose = propose_step,
                                   .try_step = try_step};
    enum search_stop stop = SEARCH_LIMIT;
    place_start(work, start);
    enum status st = begin_search(work);
    if (st == STATUS_OK) {
        fit->n = work->set->n;
        fit->rows = work->n * work->counted;
    }
    if (st == STATUS_OK && !isfinite(work->here.cost)) {
        give_up(work,
                step_budget_is_spent(work->options->budget) ? DYNAMICS_STOP_LIMIT
                                                            : DYNAMICS_STOP_DIVERGED,
                fit);
        return STATUS_OK;
    }
    if (st == STATUS_OK) {
        st = damped_search_run(&search, work->options->iterations_max, &fit->iterations, &stop);
    }
    if (st == STATUS_E_STALE) {
        give_up(work, DYNAMICS_STOP_CANCELLED, fit);
        return STATUS_OK;
    }
    if (st != STATUS_OK) {
        return st;
    }
    /* A step that the budget cut short looks like one that diverged. */
    fit->stop = step_budget_is_spent(work->options->budget) ? DYNAMICS_STOP_LIMIT
                                                            : free_parameters_stop(stop);
    set_residuals(work);
    summarise_residuals(work, report);
    for (size_t i = 0; i < work->n; i++) {
        fit->residual_sd[i] = sqrt(work->here.rss[i] / (double)work->counted);
    }
    st = set_error_bars(work, fit, report);
    if (st == STATUS_OK) {
        free_parameters_judge(&work->free_parameters, &work->here.values, report, work->set,
                              words, fit);
        dynamics_judge(fit, work->model, work->set);
    }
    return st;
}

enum status output_error_fit(const struct model *model, const struct data_set *set,
                             const double *start, const struct search_options *options,
                             double *const *residual, struct dynamics_fit *fit,
                             struct search_report *report)
{
    assert(model && set && start && options && fit && report);
    enum status st = free_parameters_check(model, set, start, options);
    if (st != STATUS_OK) {
        return st;
    }
    struct oe_work work;
    struct search_report found = {.white = false};
    describe_work(&work, model, set, options);
    if (work.counted < 1) {
        return STATUS_E_EMPTY;
    }
    struct dynamics_fit out;
    dynamics_fit_start(&out, model, DYNAMICS_OUTPUT_ERROR, options->with_biases);
    st = alloc_work(&work) ? run_fit(&work, start, &out, &found) : STATUS_E_NOMEM;
    if (st == STATUS_OK) {
        *fit = out;
        *report = found;
        for (size_t i = 0; residual && i < work.n; i++) {
            memcpy(residual[i], gsl_matrix_const_ptr(work.residual, i, 0),
                   set->n * sizeof *residual[i]);
        }
    }
    free_work(&work);
    return st;
}

enum status output_error_validate(const struct model *model, const struct data_set *set,
                                  const double *theta, bool with_biases, double delay_s,
                                  double *const *residual, struct search_report *report)
{
    struct search_options options;
    struct dynamics_fit fit;
    search_defaults(model, &options);
    options.with_biases = with_biases;
    options.delay_s = delay_s;
    for (size_t i = 0; i < DYNAMICS_P_MAX; i++) {
        options.fixed[i] = true;
    }
    return output_error_fit(model, set, theta, &options, residual, &fit, report);
}
