#include "identification/simulation/free_parameters.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>

#include "identification/numeric/hac_covariance.h"
#include "identification/simulation/simulation_thresholds.def"

/* A positive parameter changes by at most the factor e in one step. */
static const double LOG_STEP_MAX = 1.0;

/* Number of samples that take some tens of milliseconds. */
enum { GO_ON_SAMPLES = 4096 };

enum status free_parameters_check(const struct model *model, const struct data_set *set,
                                  const double *start, const struct search_options *o)
{
    const size_t p = model->parameter_count + (o->with_biases ? model->axis_count : 0);
    if (!data_set_suits(set, model) || set->run_count > DATA_RUNS_MAX ||
        !isfinite(o->delay_s) || !(o->step_s >= 0.0) || !(set->dt_s > 0.0) ||
        (o->fit_delay && (!(o->delay_s_min <= o->delay_s) || !(o->delay_s <= o->delay_s_max) ||
                          !isfinite(o->delay_s_max - o->delay_s_min)))) {
        return STATUS_E_ARG;
    }
    for (size_t i = 0; i < p; i++) {
        if (!isfinite(start[i]) || !(o->lower[i] <= o->upper[i])) {
            return STATUS_E_ARG;
        }
    }
    if (set->run_count < 1 || set->run_start[set->run_count] == 0) {
        return STATUS_E_EMPTY;
    }
    for (size_t r = 0; r < set->run_count; r++) {
        if (set->run_start[r] >= set->run_start[r + 1]) {
            return STATUS_E_EMPTY;
        }
        for (size_t k = set->run_start[r]; k < set->run_start[r + 1]; k++) {
            bool well = isfinite(set->t_s[k]) &&
                        (k == set->run_start[r] || set->t_s[k] > set->t_s[k - 1]);
            for (size_t i = 0; i < set->axes; i++) {
                well = well && isfinite(set->nu[i][k]) && isfinite(set->tau[i][k]);
            }
            if (!well) {
                return STATUS_E_RANGE;
            }
        }
    }
    return STATUS_OK;
}

bool free_parameters_go_on(struct free_parameters *free_parameters)
{
    const struct search_options *o = free_parameters->options;
    if (++free_parameters->walked >= GO_ON_SAMPLES) {
        free_parameters->walked = 0;
        free_parameters->ended =
            free_parameters->ended ||
            (o->go_on && !o->go_on(o->context, free_parameters->iteration));
    }
    return !free_parameters->ended;
}

/* Returns whether a parameter is searched by its logarithm. */
static bool is_positive(const struct free_parameters *free_parameters, size_t i)
{
    return i < free_parameters->model->parameter_count &&
           free_parameters->model->parameters[i].sign == MODEL_POSITIVE;
}

void free_parameters_init(struct free_parameters *free_parameters, const struct model *model,
                          const struct search_options *options)
{
    *free_parameters = (struct free_parameters){.model = model, .options = options};
    free_parameters->p =
        model->parameter_count + (options->with_biases ? model->axis_count : 0);
    free_parameters->g = free_parameters->p + 1;
    for (size_t j = 0; j < free_parameters->p; j++) {
        free_parameters->free[j] = !options->fixed[j] && options->lower[j] < options->upper[j];
    }
    free_parameters->free[free_parameters->p] =
        options->fit_delay && options->delay_s_min < options->delay_s_max;
}

void free_parameters_start(const struct free_parameters *free_parameters, const double *start,
                           struct free_values *values)
{
    const struct search_options *o = free_parameters->options;
    for (size_t i = 0; i < free_parameters->p; i++) {
        double x = start[i];
        if (is_positive(free_parameters, i) && !(x > 0.0)) {
            x = x < 0.0 ? -x : 1.0;
        }
        values->theta[i] = o->fixed[i] ? start[i] : fmin(fmax(x, o->lower[i]), o->upper[i]);
    }
    values->delay_s = o->delay_s;
}

struct range {
    double at, lower, upper;
};

static struct range range_of(const struct free_parameters *free_parameters,
                             const struct free_values *at, size_t j)
{
    const struct search_options *o = free_parameters->options;
    return j < free_parameters->p ? (struct range){at->theta[j], o->lower[j], o->upper[j]}
                                  : (struct range){at->delay_s, o->delay_s_min, o->delay_s_max};
}

/* Fixes unknowns that a step would push through their bounds. Returns false if there are
 * none. */
static bool hold_bounded(const struct free_parameters *free_parameters,
                         const struct free_values *at, const double *step, bool *free)
{
    bool held = false;
    for (size_t j = 0; j < free_parameters->g; j++) {
        const struct range x = range_of(free_parameters, at, j);
        if (free[j] &&
            ((x.at <= x.lower && step[j] < 0.0) || (x.at >= x.upper && step[j] > 0.0))) {
            free[j] = false;
            held = true;
        }
    }
    return held;
}

static void apply_step(const struct free_parameters *free_parameters,
                       const struct free_values *from, const double *coordinate,
                       const bool *free, struct free_step *step)
{
    step->ratio = 1.0;
    for (size_t j = 0; j < free_parameters->p; j++) {
        if (is_positive(free_parameters, j) &&
            fabs(coordinate[j]) * step->ratio > LOG_STEP_MAX) {
            step->ratio = LOG_STEP_MAX / fabs(coordinate[j]);
        }
    }
    step->to = *from;
    for (size_t j = 0; j < free_parameters->g; j++) {
        const struct range x = range_of(free_parameters, from, j);
        const double move = step->ratio * coordinate[j];
        const double moved = is_positive(free_parameters, j) ? x.at * exp(move) : x.at + move;
        if (free[j]) {
            *(j < free_parameters->p ? &step->to.theta[j] : &step->to.delay_s) =
                fmin(fmax(moved, x.lower), x.upper);
        }
    }
}

void free_parameters_step(const struct free_parameters *free_parameters,
                          const struct free_values *at, const double *r, size_t stride,
                          double lambda, struct free_step *step)
{
    double scale[FREE_PARAMETERS_MAX]; /* d(value) / d(coordinate) */
    double coordinate[FREE_PARAMETERS_MAX] = {0.0};
    bool free[FREE_PARAMETERS_MAX];
    memcpy(free, free_parameters->free, sizeof free);
    for (size_t j = 0; j < free_parameters->g; j++) {
        scale[j] = is_positive(free_parameters, j) ? at->theta[j] : 1.0;
    }
    do {
        step->length =
            damped_step(r, stride, free_parameters->g, lambda, scale, free, coordinate);
    } while (hold_bounded(free_parameters, at, coordinate, free));
    for (size_t j = 0; j < free_parameters->g; j++) {
        step->by[j] = scale[j] * coordinate[j];
    }
    apply_step(free_parameters, at, coordinate, free, step);
}

bool free_parameters_is_over(struct free_parameters *free_parameters, size_t iteration,
                             enum search_stop *stop)
{
    const struct search_options *o = free_parameters->options;
    free_parameters->iteration = iteration;
    if (step_budget_is_spent(o->budget)) {
        *stop = SEARCH_LIMIT;
        return true;
    }
    *stop = SEARCH_CANCELLED;
    return o->go_on && !o->go_on(o->context, iteration);
}

enum dynamics_stop free_parameters_stop(enum search_stop stop)
{
    static const enum dynamics_stop stops[] = {[SEARCH_CONVERGED] = DYNAMICS_STOP_CONVERGED,
                                               [SEARCH_STALLED] = DYNAMICS_STOP_STALLED,
                                               [SEARCH_LIMIT] = DYNAMICS_STOP_LIMIT,
                                               [SEARCH_CANCELLED] = DYNAMICS_STOP_CANCELLED};
    return stops[stop];
}

static bool is_at_bound(const struct free_parameters *free_parameters,
                        const struct free_values *at, size_t j)
{
    const struct range x = range_of(free_parameters, at, j);
    return free_parameters->free[j] && (x.at <= x.lower || x.at >= x.upper);
}

double free_parameters_settled_s(const struct free_parameters *free_parameters,
                                 const struct data_set *set, size_t run)
{
    const struct search_options *o = free_parameters->options;
    const double delay_s = o->fit_delay ? o->delay_s_max : o->delay_s;
    const double from_s = set->t_s[set->run_start[run]];
    return delay_s > 0.0 && !o->at_rest[run] ? from_s + delay_s : from_s;
}

double free_parameters_limit(const struct data_set *set, size_t axis, double *largest)
{
    *largest = 0.0;
    for (size_t k = set->run_start[0]; k < set->run_start[set->run_count]; k++) {
        *largest = fmax(*largest, fabs(set->nu[axis][k]));
    }
    /* An axis at rest has no scale of its own. */
    return *largest > 0.0 ? RUN_AWAY_RATIO * *largest : HUGE_VAL;
}

double free_parameters_step_s(const struct free_parameters *free_parameters,
                              const struct data_set *set, const struct free_values *at)
{
    const double asked_s = free_parameters->options->step_s;
    return asked_s > 0.0 ? asked_s : trajectory_step_s(free_parameters->model, at->theta, set);
}

void free_parameters_responses(const struct model *model, const double *theta,
                               const struct data_set *set, double *response_s)
{
    double nu[MODEL_AXES_MAX];
    double tau[MODEL_AXES_MAX];
    double pose[MODEL_AXES_MAX];
    double slope[MODEL_AXES_MAX * MODEL_AXES_MAX];
    const size_t n = set->axes;
    for (size_t a = 0; a < n; a++) {
        nu[a] = gsl_stats_sd_m(set->nu[a], 1, set->n, 0.0);
        tau[a] = gsl_stats_mean(set->tau[a], 1, set->n);
    }
    model->slope(model, theta, data_set_pose(set, 0, pose), nu, model->rows_under ? tau : NULL,
                 slope);
    for (size_t a = 0; a < n; a++) {
        const double rate = -slope[a * n + a];
        response_s[a] = rate > 0.0 ? 1.0 / rate : HUGE_VAL;
    }
}

size_t free_parameters_lags(const struct free_parameters *free_parameters,
                            const struct search_report *report, size_t counted, size_t most)
{
    double rho = 0.0;
    for (size_t i = 0; i < free_parameters->model->axis_count; i++) {
        rho = fmax(rho, fabs(report->axis[i].correlation));
    }
    const size_t lags = hac_lags(rho, counted);
    return lags < most ? lags : most;
}

void free_parameters_report(const struct free_parameters *free_parameters,
                            const struct free_values *at, struct search_report *report)
{
    for (size_t i = 0; i < free_parameters->p; i++) {
        report->at_bound[i] = is_at_bound(free_parameters, at, i);
    }
    report->delay_at_bound = is_at_bound(free_parameters, at, free_parameters->p);
}

void free_parameters_judge(const struct free_parameters *free_parameters,
                           const struct free_values *at, const struct search_report *report,
                           const struct data_set *set, const char *const words[3],
                           struct dynamics_fit *fit)
{
    const struct model *model = free_parameters->model;
    if (fit->stop != DYNAMICS_STOP_CONVERGED) {
        estimate_reason(&fit->estimate, REASON_SEARCH_FAILED, ESTIMATE_MARGINAL,
                        "the search ended early: %s", dynamics_stop_name(fit->stop));
    }
    for (size_t i = 0; i < model->axis_count; i++) {
        if (!report->axis[i].white && report->axis[i].n > 0 &&
            !(model->channels && fit->method == DYNAMICS_OUTPUT_ERROR)) {
            /* Unmeasured forces would correlate neighbours positively. */
            const bool slope = set->derived[i] && report->axis[i].correlation < 0.0;
            /* A joint's steady efforts and missing terms are tested apart, so that the size of
             * the coloured part decides. Noise that grows with the speed has a trace of it. */
            const double coloured =
                sqrt(1.0 - report->axis[i].r2) * fmin(residual_memory(&report->axis[i]), 1.0);
            const bool small = model->sticks && coloured < COLOURED_SHARE_MAX;
            const bool much = !slope && !small && !residual_has_trace(&report->axis[i]);
            estimate_reason(&fit->estimate, REASON_AUTOCORRELATED,
                            much ? ESTIMATE_MARGINAL : ESTIMATE_PASS,
                            "%s of %s are not white (next to each other %.2f): %s", words[0],
                            model->axes[i].velocity, report->axis[i].correlation,
                            much    ? words[1]
                            : slope ? "it is the slope of positions, whose noise is "
                                      "autocorrelated; errors allow for that"
                                    : words[2]);
        }
    }
    for (size_t i = 0; i < free_parameters->p; i++) {
        char name[128];
        if (report->at_bound[i]) {
            estimate_reason(&fit->estimate, REASON_AT_BOUND, ESTIMATE_MARGINAL,
                            "%s stands at its bound %.4g",
                            dynamics_parameter_both(model, i, name, sizeof name), at->theta[i]);
        }
    }
    if (report->delay_at_bound) {
        estimate_reason(&fit->estimate, REASON_AT_BOUND, ESTIMATE_MARGINAL,
                        "the delay stands at its bound of %.4g s", at->delay_s);
    }
}

void free_parameters_give_up(const struct free_parameters *free_parameters,
                             const struct free_values *at, enum dynamics_stop stop,
                             struct dynamics_fit *fit)
{
    fit->stop = stop;
    memcpy(fit->estimate.value, at->theta, free_parameters->p * sizeof *at->theta);
    if (stop == DYNAMICS_STOP_DIVERGED) {
        estimate_reason(&fit->estimate, REASON_NOT_SIMULATED, ESTIMATE_FAIL,
                        "the model runs away from the recording: wrong units, signs or start?");
    } else {
        estimate_reason(&fit->estimate, REASON_SEARCH_FAILED, ESTIMATE_FAIL,
                        "the search ended early: %s", dynamics_stop_name(stop));
    }
}

enum { ITERATIONS_MAX = 100 };

void search_defaults(const struct model *model, struct search_options *options)
{
    *options = (struct search_options){.iterations_max = ITERATIONS_MAX};
    for (size_t i = 0; i < DYNAMICS_P_MAX; i++) {
        const bool any = i >= model->parameter_count || model->parameters[i].sign == MODEL_ANY;
        options->lower[i] = any ? -HUGE_VAL : 0.0;
        options->upper[i] = HUGE_VAL;
    }
}
