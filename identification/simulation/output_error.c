#include "identification/simulation/output_error.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include "base/constants.h"
#include "identification/simulation/output_error_parts.h"

enum { FIRST_SAMPLES = 5, FINER_MAX = 3 };

/* A step shorter than a thousandth of every standard error ends the search, and so does what
 * such a step would gain. */
static const struct damped_rules rules = {
    .lambda = 1e-4, .ease = 0.2, .step_enough = 1e-3, .gain_enough = 1e-6};
/* A valley so flat that ten iterations together gain less than this is a minimum, too. The gain
 * counts for less where residuals hang together: they tell as much as fewer independent ones.
 */
static const double SLOW_GAIN = 0.05;
static const double CORRELATION_MAX = 0.99;
/* Of a channel's span: residuals below are rounding. */
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
    unknowns_set(&work->unknowns, model, options);
    work->p = work->unknowns.p;
    work->g = work->unknowns.g;
    work->columns = work->n + work->g + 1;
    work->runs = set->run_count;
    work->rules = (struct trajectory_rules){.model = model,
                                            .set = set,
                                            .at_rest = options->at_rest,
                                            .with_biases = options->with_biases};
    for (size_t r = 0; r < work->runs; r++) {
        work->free_count += options->at_rest[r] ? 0 : work->n;
    }
    for (size_t j = 0; j < work->g; j++) {
        work->free_count += work->unknowns.free[j] ? 1 : 0;
    }
    for (size_t r = 0; r < work->runs; r++) {
        const double settled_s = unknowns_settled_s(&work->unknowns, set, r);
        for (size_t k = set->run_start[r]; k < set->run_start[r + 1]; k++) {
            work->counted += set->t_s[k] >= settled_s ? 1 : 0;
        }
    }
    for (size_t i = 0; i < work->n; i++) {
        double largest = 0.0;
        work->rules.limit[i] = unknowns_limit(set, i, &largest);
        work->floor2[i] = largest > 0.0 ? pow(FLOOR_RATIO * largest, 2.0) : DBL_EPSILON;
    }
}

/* Where the search begins. */
static void place_start(struct oe_work *work, const double *start)
{
    const struct search_options *options = work->options;
    const struct data_set *set = work->set;
    struct oe_point *here = &work->here;
    unknowns_place(&work->unknowns, start, &here->values);
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
    work->rules.step_s = options->step_s > 0.0
                             ? options->step_s
                             : trajectory_step_s(work->model, here->values.theta, set);
}

/* Of -2 log likelihood: what counts as 1 with residuals as correlated as they are here. */
static double find_inflation(struct oe_work *work)
{
    const struct data_set *set = work->set;
    double rho = 0.0;
    oe_residuals(work);
    for (size_t i = 0; i < work->n; i++) {
        struct residual_summary axis;
        residual_summarise(gsl_matrix_const_ptr(work->residual, i, 0), set->nu[i],
                           set->run_start, set->run_count, &axis);
        rho = fmax(rho, fmin(axis.correlation, CORRELATION_MAX));
    }
    return (1.0 + rho) / (1.0 - rho);
}

/* Whether what the last ten iterations gained is worth no more of them. */
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
    if (unknowns_is_over(&work->unknowns, iteration, stop)) {
        return true;
    }
    *stop = SEARCH_CONVERGED;
    return is_slow(work, iteration);
}

static enum status propose_step(void *context, double lambda, double *length)
{
    oe_step(context, lambda, length);
    return STATUS_OK;
}

static enum status try_step(void *context, double *gain)
{
    struct oe_work *work = context;
    const enum status st = oe_evaluate(work, &work->there);
    *gain = work->here.cost - work->there.cost;
    if (st == STATUS_OK && *gain >= 0.0) {
        const struct oe_point left = work->here;
        work->here = work->there;
        work->there = left;
    }
    return st;
}

/* A model that runs away may do so for its long steps only. */
static enum status begin_search(struct oe_work *work)
{
    for (int finer = 0; finer < FINER_MAX; finer++) {
        const enum status st = oe_evaluate(work, &work->here);
        if (st != STATUS_OK || isfinite(work->here.cost)) {
            return st;
        }
        work->rules.step_s *= 0.5;
    }
    return STATUS_OK;
}

static void summarise_residuals(struct oe_work *work, struct search_report *report)
{
    const struct data_set *set = work->set;
    report->white = true;
    for (size_t i = 0; i < work->n; i++) {
        residual_summarise(gsl_matrix_const_ptr(work->residual, i, 0), set->nu[i],
                           set->run_start, set->run_count, &report->axis[i]);
        report->white = report->white && report->axis[i].white;
    }
    /* Two pi of the normal density, and what the exponent is at the maximum. */
    const double rest = (double)(work->n * work->counted) * (log(2.0 * PI) + 1.0);
    report->log_likelihood = -0.5 * (work->here.cost + rest);
    unknowns_report(&work->unknowns, &work->here.values, report);
    report->evaluations = work->evaluations;
    report->step_s = work->rules.step_s;
}

/* With nothing to judge. */
static void give_up(struct oe_work *work, enum dynamics_stop stop, struct dynamics_fit *fit)
{
    gsl_matrix_set_all(work->residual, NAN);
    unknowns_give_up(&work->unknowns, &work->here.values, stop, fit);
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
        give_up(work, DYNAMICS_STOP_DIVERGED, fit);
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
    fit->stop = unknowns_stop(stop);
    oe_residuals(work);
    summarise_residuals(work, report);
    for (size_t i = 0; i < work->n; i++) {
        fit->residual_sd[i] = sqrt(work->here.rss[i] / (double)work->counted);
    }
    st = oe_error_bars(work, fit, report);
    if (st == STATUS_OK) {
        unknowns_judge(&work->unknowns, &work->here.values, report, words, fit);
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
    enum status st = unknowns_check(model, set, start, options);
    if (st != STATUS_OK) {
        return st;
    }
    struct oe_work work;
    struct search_report told = {.evaluations = 0};
    describe_work(&work, model, set, options);
    if (work.counted < 1) {
        return STATUS_E_EMPTY;
    }
    struct dynamics_fit out;
    dynamics_fit_start(&out, model, DYNAMICS_OUTPUT_ERROR, options->with_biases);
    st = alloc_work(&work) ? run_fit(&work, start, &out, &told) : STATUS_E_NOMEM;
    if (st == STATUS_OK) {
        *fit = out;
        *report = told;
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
