#include "identification/simulation/output_error.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include "base/constants.h"
#include "identification/simulation/output_error_parts.h"

enum { ITERATIONS_MAX = 100, FIRST_SAMPLES = 5, FINER_MAX = 3 };

static const double LAMBDA_START = 1e-4;
static const double LAMBDA_MIN = 1e-12;
static const double LAMBDA_MAX = 1e9;
/* Above it a step is too much shortened to tell whether the minimum is near. */
static const double LAMBDA_FREE = 1e-2;
/* A step shorter than this share of every standard error ends the search... */
static const double STEP_TOLERANCE = 1e-3;
/* ... and so does what such a step would gain in -2 log likelihood. */
static const double COST_TOLERANCE = 1e-6;
/* A valley so flat that ten iterations together gain less than this is a minimum, too. The gain
 * counts for less where residuals hang together: they tell as much as fewer independent ones.
 */
enum { SLOW_ITERATIONS = 10 };
static const double SLOW_GAIN = 0.05;
static const double CORRELATION_MAX = 0.99;
/* A velocity that runs this many times beyond the largest measured one has run away. */
static const double RUN_AWAY_RATIO = 100.0;
/* Of a channel's span: residuals below are rounding. */
static const double FLOOR_RATIO = 1e-9;

void output_error_defaults(const struct model *model, struct output_error_options *options)
{
    *options = (struct output_error_options){.iterations_max = ITERATIONS_MAX};
    for (size_t i = 0; i < DYNAMICS_P_MAX; i++) {
        const bool any = i >= model->parameter_count || model->parameters[i].sign == MODEL_ANY;
        options->lower[i] = any ? -HUGE_VAL : 0.0;
        options->upper[i] = HUGE_VAL;
    }
}

static bool point_alloc(struct oe_point *point, const struct oe_work *work)
{
    point->initial = gsl_matrix_alloc(work->runs, work->n);
    point->triangles = gsl_matrix_alloc(work->runs * work->n * work->columns, work->columns);
    return point->initial && point->triangles;
}

static bool work_alloc(struct oe_work *work)
{
    const size_t m = work->columns;
    work->block = gsl_matrix_alloc(work->n * OE_BLOCK_ROWS, m);
    work->reflector = gsl_matrix_alloc(m, m);
    work->below = gsl_matrix_alloc(m, m);
    work->run = gsl_matrix_alloc(work->runs * m, m);
    work->global = gsl_matrix_alloc(work->g + 1, work->g + 1);
    work->step = gsl_matrix_alloc(work->runs, work->n);
    work->residual = gsl_matrix_alloc(work->n, work->set->n);
    const bool points = point_alloc(&work->here, work) && point_alloc(&work->there, work);
    return points && work->block && work->reflector && work->below && work->run &&
           work->global && work->step && work->residual;
}

static void work_free(struct oe_work *work)
{
    gsl_matrix_free(work->block);
    gsl_matrix_free(work->reflector);
    gsl_matrix_free(work->below);
    gsl_matrix_free(work->run);
    gsl_matrix_free(work->global);
    gsl_matrix_free(work->step);
    gsl_matrix_free(work->residual);
    gsl_matrix_free(work->here.initial);
    gsl_matrix_free(work->here.triangles);
    gsl_matrix_free(work->there.initial);
    gsl_matrix_free(work->there.triangles);
}

static void describe(struct oe_work *work, const struct model *model,
                     const struct data_set *set, const struct output_error_options *options)
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
        for (size_t k = set->run_start[0]; k < set->run_start[work->runs]; k++) {
            largest = fmax(largest, fabs(set->nu[i][k]));
        }
        /* An axis at rest gives no scale of its own. */
        work->rules.limit[i] = largest > 0.0 ? RUN_AWAY_RATIO * largest : HUGE_VAL;
        work->floor2[i] = largest > 0.0 ? pow(FLOOR_RATIO * largest, 2.0) : DBL_EPSILON;
    }
}

/* Where the search begins. */
static void place(struct oe_work *work, const double *start)
{
    const struct output_error_options *options = work->options;
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

/* The step from here, and there where it leads. */
static enum status propose(struct oe_work *work, double lambda, double *length)
{
    double scale[OE_GLOBALS_MAX];
    double step[OE_GLOBALS_MAX];
    bool free[OE_GLOBALS_MAX];
    memcpy(free, work->unknowns.free, sizeof free);
    unknowns_scale(&work->unknowns, &work->here.values, scale);
    do {
        const enum status st = oe_step(work, lambda, scale, free, step, length);
        if (st != STATUS_OK) {
            return st;
        }
    } while (unknowns_hold(&work->unknowns, &work->here.values, step, free));
    const double ratio =
        unknowns_move(&work->unknowns, &work->here.values, step, free, &work->there.values);
    gsl_matrix_memcpy(work->there.initial, work->step);
    gsl_matrix_scale(work->there.initial, ratio);
    gsl_matrix_add(work->there.initial, work->here.initial);
    return STATUS_OK;
}

/* Accept there. */
static void move(struct oe_work *work)
{
    const struct oe_point left = work->here;
    work->here = work->there;
    work->there = left;
}

/* Of -2 log likelihood: what counts as 1 with residuals as correlated as they are here. */
static double inflation(struct oe_work *work)
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
static bool is_slow(struct oe_work *work, double *past, size_t iteration)
{
    double *before = &past[iteration % SLOW_ITERATIONS];
    const double gain = *before - work->here.cost;
    const double most = SLOW_GAIN * (1.0 + CORRELATION_MAX) / (1.0 - CORRELATION_MAX);
    *before = work->here.cost;
    return iteration >= SLOW_ITERATIONS && gain > 0.0 && gain <= most &&
           gain <= SLOW_GAIN * inflation(work);
}

static enum status search(struct oe_work *work, size_t *iterations, enum dynamics_stop *stop)
{
    const struct output_error_options *o = work->options;
    double past[SLOW_ITERATIONS];
    double lambda = LAMBDA_START;
    for (*iterations = 0; *iterations < o->iterations_max; (*iterations)++) {
        double length = 0.0;
        work->unknowns.iteration = *iterations;
        if (o->go_on && !o->go_on(o->context, *iterations)) {
            *stop = DYNAMICS_STOP_CANCELLED;
            return STATUS_OK;
        }
        if (is_slow(work, past, *iterations)) {
            *stop = DYNAMICS_STOP_CONVERGED;
            return STATUS_OK;
        }
        enum status st = propose(work, lambda, &length);
        if (st == STATUS_OK && lambda <= LAMBDA_FREE && length <= STEP_TOLERANCE) {
            *stop = DYNAMICS_STOP_CONVERGED;
            return STATUS_OK;
        }
        if (st == STATUS_OK) {
            st = oe_evaluate(work, &work->there);
        }
        if (st != STATUS_OK) {
            return st;
        }
        const double gain = work->here.cost - work->there.cost;
        if (gain >= 0.0) {
            move(work);
            if (gain <= COST_TOLERANCE && lambda <= LAMBDA_FREE) {
                *stop = DYNAMICS_STOP_CONVERGED;
                return STATUS_OK;
            }
            lambda = fmax(0.2 * lambda, LAMBDA_MIN);
        } else {
            lambda *= 10.0;
        }
        if (lambda > LAMBDA_MAX) {
            *stop = DYNAMICS_STOP_STALLED;
            return STATUS_OK;
        }
    }
    *stop = DYNAMICS_STOP_LIMIT;
    return STATUS_OK;
}

/* A model that runs away may do so for its long steps only. */
static enum status begin(struct oe_work *work)
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

static void summarise(struct oe_work *work, struct output_error_report *report)
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
    for (size_t i = 0; i < work->p; i++) {
        report->at_bound[i] = unknowns_at_bound(&work->unknowns, &work->here.values, i);
    }
    report->delay_at_bound = unknowns_at_bound(&work->unknowns, &work->here.values, work->p);
    report->evaluations = work->evaluations;
    report->step_s = work->rules.step_s;
}

/* What only this method can say about itself. */
static void judge(const struct oe_work *work, const struct output_error_report *report,
                  struct dynamics_fit *fit)
{
    if (fit->stop != DYNAMICS_STOP_CONVERGED) {
        estimate_reason(&fit->estimate, ESTIMATE_MARGINAL, "the search ended early: %s",
                        dynamics_stop_name(fit->stop));
    }
    for (size_t i = 0; i < work->n; i++) {
        if (!report->axis[i].white && report->axis[i].n > 0) {
            const bool much = !residual_has_trace(&report->axis[i]);
            estimate_reason(&fit->estimate, much ? ESTIMATE_MARGINAL : ESTIMATE_PASS,
                            "residuals of %s are not white (next to each other %.2f): "
                            "%s that the model does not have",
                            work->model->axes[i].velocity, report->axis[i].correlation,
                            much ? "something acts" : "a trace of something");
        }
    }
    for (size_t i = 0; i < work->p; i++) {
        char name[128];
        if (report->at_bound[i]) {
            estimate_reason(&fit->estimate, ESTIMATE_MARGINAL, "%s stands at its bound %.4g",
                            dynamics_parameter_both(work->model, i, name, sizeof name),
                            work->here.values.theta[i]);
        }
    }
    if (report->delay_at_bound) {
        estimate_reason(&fit->estimate, ESTIMATE_MARGINAL,
                        "the delay stands at its bound of %.4g s", work->here.values.delay_s);
    }
}

/* Told to end in the middle of an iteration. */
static enum status give_up(struct oe_work *work, struct dynamics_fit *fit)
{
    fit->stop = DYNAMICS_STOP_CANCELLED;
    memcpy(fit->estimate.value, work->here.values.theta, work->p * sizeof *fit->estimate.value);
    gsl_matrix_set_all(work->residual, NAN);
    estimate_reason(&fit->estimate, ESTIMATE_FAIL, "the search ended early: %s",
                    dynamics_stop_name(fit->stop));
    return STATUS_OK;
}

static enum status run(struct oe_work *work, const double *start, struct dynamics_fit *fit,
                       struct output_error_report *report)
{
    place(work, start);
    enum status st = begin(work);
    if (st != STATUS_OK) {
        return st == STATUS_E_STALE ? give_up(work, fit) : st;
    }
    fit->n = work->set->n;
    fit->rows = work->n * work->counted;
    if (!isfinite(work->here.cost)) {
        fit->stop = DYNAMICS_STOP_DIVERGED;
        memcpy(fit->estimate.value, work->here.values.theta, work->p * sizeof *start);
        gsl_matrix_set_all(work->residual, NAN);
        estimate_reason(&fit->estimate, ESTIMATE_FAIL,
                        "the model runs away from the recording: wrong units, signs or start?");
        return STATUS_OK;
    }
    st = search(work, &fit->iterations, &fit->stop);
    if (st != STATUS_OK) {
        return st == STATUS_E_STALE ? give_up(work, fit) : st;
    }
    oe_residuals(work);
    summarise(work, report);
    for (size_t i = 0; i < work->n; i++) {
        fit->residual_sd[i] = sqrt(work->here.rss[i] / (double)work->counted);
    }
    st = oe_error_bars(work, fit, report);
    if (st == STATUS_OK) {
        judge(work, report, fit);
        dynamics_judge(fit, work->model, work->set);
    }
    return st;
}

enum status output_error_fit(const struct model *model, const struct data_set *set,
                             const double *start, const struct output_error_options *options,
                             double *const *residual, struct dynamics_fit *fit,
                             struct output_error_report *report)
{
    assert(model && set && start && options && fit && report);
    enum status st = unknowns_check(model, set, start, options);
    if (st != STATUS_OK) {
        return st;
    }
    struct oe_work work;
    struct output_error_report told = {.evaluations = 0};
    describe(&work, model, set, options);
    if (work.counted < 1) {
        return STATUS_E_EMPTY;
    }
    struct dynamics_fit out;
    dynamics_fit_start(&out, model, DYNAMICS_OUTPUT_ERROR, options->with_biases);
    st = work_alloc(&work) ? run(&work, start, &out, &told) : STATUS_E_NOMEM;
    if (st == STATUS_OK) {
        *fit = out;
        *report = told;
        for (size_t i = 0; residual && i < work.n; i++) {
            memcpy(residual[i], gsl_matrix_const_ptr(work.residual, i, 0),
                   set->n * sizeof *residual[i]);
        }
    }
    work_free(&work);
    return st;
}

enum status output_error_validate(const struct model *model, const struct data_set *set,
                                  const double *theta, bool with_biases, double delay_s,
                                  double *const *residual, struct output_error_report *report)
{
    struct output_error_options options;
    struct dynamics_fit fit;
    output_error_defaults(model, &options);
    options.with_biases = with_biases;
    options.delay_s = delay_s;
    for (size_t i = 0; i < DYNAMICS_P_MAX; i++) {
        options.fixed[i] = true;
    }
    return output_error_fit(model, set, theta, &options, residual, &fit, report);
}
