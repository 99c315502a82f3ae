/* Output error from a start, and helpers of the methods that simulate.
 */
#include <math.h>

#include "identification/dynamics/dynamics_estimate_parts.h"
#include "identification/dynamics/dynamics_thresholds.def"

/* Default range of the delay: 20 periods within these bounds. It is limited to a share of a
 * run, because samples before the latest delay are not used. */
static const double DELAY_PERIODS = 20.0;
static const double DELAY_S_MIN = 0.5;
static const double DELAY_S_MAX = 2.0;
static const double DELAY_RUN_SHARE = 0.125;
/* Stamps of efforts may be late themselves, so the delay may be negative by a period or this
 * time, whichever is larger. An earlier response has another cause. */
static const double EARLY_S_MIN = 0.02;
/* Robots that report the effort of the last step are one period early: it is no bound. */
static const double EARLY_PERIODS = 1.5;
/* Range of the second search: standard errors around the first result, or this share of a
 * period. */
static const double DELAY_ERRORS = 5.0;
static const double DELAY_SHARE = 0.25;
/* A search that has not ended after this many iterations does not converge. */
enum { ITERATIONS_MAX = 100 };

bool estimate_is_whole(const struct dynamics_fit *fit)
{
    for (size_t i = 0; i < fit->estimate.p; i++) {
        if (!isfinite(fit->estimate.value[i])) {
            return false;
        }
    }
    return true;
}

static double delay_max_s(const struct data_set *set, const struct dynamics_options *options)
{
    if (!isnan(options->delay_max_s)) {
        return options->delay_max_s;
    }
    const double run_s = set->dt_s * (double)set->n / (double)set->run_count;
    const double periods_s =
        fmin(fmax(DELAY_PERIODS * set->dt_s, DELAY_S_MIN), fmax(DELAY_S_MAX, set->dt_s));
    return fmin(periods_s, DELAY_RUN_SHARE * run_s);
}

/* Counters and simulators at rest give an exact zero, noise does not. */
static bool begins_at_rest(const struct data_set *set, size_t run)
{
    for (size_t i = 0; i < set->axes; i++) {
        if (fabs(set->nu[i][set->run_start[run]]) > 0.0) {
            return false;
        }
    }
    return true;
}

static bool go_on(void *context, size_t iteration)
{
    const struct estimate_stage *stage = context;
    return stage->options->go_on(stage->options->context, stage->method, iteration);
}

void estimate_set_search(const struct estimate_job *job, struct estimate_stage *stage,
                         struct search_options *search)
{
    search_defaults(job->model, search);
    search->with_biases = job->options->biases;
    for (size_t r = 0; r < job->set->run_count; r++) {
        search->at_rest[r] = job->options->from_rest || begins_at_rest(job->set, r);
    }
    search->delay_s_max = delay_max_s(job->set, job->options);
    search->delay_s_min =
        -fmin(fmax(EARLY_PERIODS * job->set->dt_s, EARLY_S_MIN), search->delay_s_max);
    search->fit_delay = search->delay_s_max > 0.0;
    search->iterations_max = ITERATIONS_MAX;
    search->budget = job->options->budget;
    search->go_on = job->options->go_on ? go_on : NULL;
    search->context = stage;
}

/* Narrows the search for the delay. Fewer samples at the start of each run are then left
 * out. */
void estimate_narrow(const struct dynamics_fit *from, double errors, double least_s,
                     struct search_options *search)
{
    const double reach_s = fmax(errors * from->delay_se_s, least_s);
    if (!isfinite(from->delay_s)) {
        search->fit_delay = false;
        return;
    }
    search->delay_s = from->delay_s;
    search->delay_s_min = fmax(search->delay_s_min, from->delay_s - reach_s);
    search->delay_s_max = fmin(search->delay_s_max, from->delay_s + reach_s);
}

/* Copies what only regression knows about the recording. */
void estimate_copy_regression(const struct dynamics_fit *from, struct dynamics_fit *fit)
{
    fit->window_s = from->window_s;
    for (size_t i = 0; i < fit->estimate.p; i++) {
        fit->regressor_rms[i] = from->regressor_rms[i];
        fit->independence_ratio[i] = from->independence_ratio[i];
    }
}

enum status estimate_by_regression(const struct estimate_job *job, enum dynamics_method method,
                                   struct dynamics_fit *fit)
{
    return dynamics_linear_fit(job->model, job->set, method, job->options, fit);
}

void estimate_fall_back(const struct dynamics_fit *from, enum estimate_verdict at_best,
                        const char *why, struct dynamics_fit *fit)
{
    *fit = *from;
    estimate_reason(&fit->estimate, REASON_METHOD_REPLACED, at_best,
                    "%s: values are those of %s", why, dynamics_method_name(from->method));
}

/* Starts from weak_iv, or from a regression with derivatives if runs are too short for its
 * windows. */
static enum status find_start(const struct estimate_job *job, struct dynamics_fit *start)
{
    struct dynamics_fit other;
    enum status st = estimate_by_regression(job, DYNAMICS_WEAK_IV, start);
    if (st != STATUS_OK || start->rows > start->estimate.p) {
        return st;
    }
    st = estimate_by_regression(job, DYNAMICS_OLS_SG, &other);
    if (st == STATUS_OK && estimate_is_whole(&other)) {
        *start = other;
    }
    return st == STATUS_E_MATH ? STATUS_OK : st;
}

/* Runs output_error twice: first with all possible delays, then near the result. */
static enum status search_twice(const struct estimate_job *job, struct search_options *search,
                                const struct dynamics_fit *start, struct dynamics_fit *fit,
                                struct search_report *report)
{
    struct search_report second;
    struct dynamics_fit near;
    const struct search_options wide = *search;
    enum status st = output_error_fit(job->model, job->set, start->estimate.value, search, NULL,
                                      fit, report);
    if (st != STATUS_OK || fit->stop != DYNAMICS_STOP_CONVERGED || !estimate_is_whole(fit) ||
        !search->fit_delay || (report->delay_at_bound && isfinite(fit->delay_s))) {
        return st;
    }
    const bool found = isfinite(fit->delay_s);
    estimate_narrow(fit, DELAY_ERRORS, DELAY_SHARE * job->set->dt_s, search);
    st = output_error_fit(job->model, job->set, fit->estimate.value, search, NULL, &near,
                          &second);
    const bool better = near.stop == DYNAMICS_STOP_CONVERGED && !second.delay_at_bound;
    if (st == STATUS_OK && (better || near.stop == DYNAMICS_STOP_CANCELLED)) {
        near.iterations += fit->iterations;
        *fit = near;
        *report = second;
        if (!found) {
            estimate_reason(&fit->estimate, REASON_DELAY_ASSUMED, ESTIMATE_PASS,
                            "efforts do not change inside the runs, so the delay is unknown: "
                            "zero is assumed");
        }
    } else {
        *search = wide;
    }
    return st == STATUS_E_MATH ? STATUS_OK : st;
}

/* Returns how many consecutive residuals carry the information of one independent residual. */
static double residuals_as_one(const struct model *model, const struct search_report *report)
{
    double rho = 0.0;
    for (size_t i = 0; i < model->axis_count; i++) {
        rho = fmax(rho, report->axis[i].correlation);
    }
    return (1.0 + fmin(rho, 0.99)) / (1.0 - fmin(rho, 0.99));
}

/* Marks physical parameters that a search pushed to zero although the start is positive.
 * Returns whether there are new ones. */
static bool mark_pushed(const struct model *model, const struct dynamics_fit *start,
                        const struct search_report *report, bool *pushed)
{
    bool more = false;
    for (size_t i = 0; i < model->parameter_count; i++) {
        const bool now = !pushed[i] && report->at_bound[i] && start->estimate.value[i] > 0.0;
        more = more || now;
        pushed[i] = pushed[i] || now;
    }
    return more;
}

static void hold_at_start(const struct model *model, const struct dynamics_fit *start, size_t i,
                          struct dynamics_fit *fit)
{
    const double se = sqrt(start->estimate.covariance[i][i]);
    char name[128];
    fit->estimate.se_white[i] = start->estimate.se_white[i];
    fit->se_hac[i] = start->se_hac[i];
    fit->estimate.covariance[i][i] = start->estimate.covariance[i][i];
    fit->estimate.lo[i] = start->estimate.lo[i];
    fit->estimate.hi[i] = start->estimate.hi[i];
    fit->estimate.identifiable[i] = false;
    estimate_reason(&fit->estimate, REASON_NOT_DETERMINED, ESTIMATE_MARGINAL,
                    "%s: simulation cannot distinguish zero from the value of %s, %.4g with an "
                    "error of %.2g, which is kept",
                    dynamics_parameter_both(model, i, name, sizeof name),
                    dynamics_method_name(start->method), fit->estimate.value[i], se);
}

/* No robot has a damping of zero. If the recording cannot distinguish zero from the start's
 * value, that value is kept with its error, and the other parameters are fitted again.
 * search holds the options with which fit was found. */
static enum status enforce_positive(const struct estimate_job *job,
                                    struct search_options *search,
                                    const struct dynamics_fit *start, struct dynamics_fit *fit,
                                    struct search_report *report)
{
    struct search_report other = *report;
    struct dynamics_fit held = *fit;
    bool *pushed = search->fixed;
    size_t count = 0;
    search->delay_s = isfinite(fit->delay_s) ? fit->delay_s : 0.0;
    while (estimate_is_whole(&held) && mark_pushed(job->model, start, &other, pushed)) {
        double from[DYNAMICS_P_MAX];
        for (size_t i = 0; i < fit->estimate.p; i++) {
            from[i] = pushed[i] ? start->estimate.value[i] : held.estimate.value[i];
        }
        const enum status st =
            output_error_fit(job->model, job->set, from, search, NULL, &held, &other);
        if (st != STATUS_OK) {
            return st == STATUS_E_MATH ? STATUS_OK : st;
        }
    }
    for (size_t i = 0; i < job->model->parameter_count; i++) {
        count += pushed[i] ? 1 : 0;
    }
    const double loss = 2.0 * (report->log_likelihood - other.log_likelihood);
    if (count == 0 || held.stop != DYNAMICS_STOP_CONVERGED ||
        loss > CHI2_95 * (double)count * residuals_as_one(job->model, report)) {
        return STATUS_OK;
    }
    held.iterations += fit->iterations;
    held.estimate.rank += count;
    for (size_t i = 0; i < job->model->parameter_count; i++) {
        if (pushed[i]) {
            hold_at_start(job->model, start, i, &held);
        }
    }
    *fit = held;
    *report = other;
    return STATUS_OK;
}

/* Returns whether a parameter that must be positive is significantly negative. */
static bool is_reversed(const struct model *model, const struct dynamics_fit *start)
{
    for (size_t i = 0; i < model->parameter_count; i++) {
        if (model->parameters[i].sign == MODEL_POSITIVE && start->estimate.hi[i] < 0.0) {
            return true;
        }
    }
    return false;
}

/* Removes terms of arbitrary sign from the start. If such a term is hardly excited, its
 * value from regression can make a stable simulation diverge. */
static struct dynamics_fit calm_down(const struct model *model,
                                     const struct dynamics_fit *start)
{
    struct dynamics_fit calm = *start;
    for (size_t i = 0; i < model->parameter_count; i++) {
        calm.estimate.value[i] =
            model->parameters[i].sign == MODEL_ANY ? 0.0 : calm.estimate.value[i];
    }
    return calm;
}

/* Search of a batch fit. The sum of squares of simulated residuals has many minima, and a
 * distant start, a wrong delay or an unphysical sign leads into a wrong one. The stages are:
 * (1) regression, which needs no start, gives one; (2) the delay is searched over its whole
 * range; (3) it is searched again near the result, with the samples that the wide range had
 * cost; (4) a model that diverges gets a start without terms of arbitrary sign; (5) a
 * parameter that ended at zero, although the data cannot distinguish zero from the start's
 * value, is kept at the start. Each stage keeps the result of the previous one
 * (docs/model/output_error.md). */

/* Computes a start in *start, and output_error from it in *fit. If that is impossible, *fit
 * is the start with a reason, and fit->method says so. */
enum status estimate_by_simulation(const struct estimate_job *job, struct dynamics_fit *start,
                                   struct dynamics_fit *fit, struct search_report *report)
{
    enum status st = find_start(job, start);
    if (st != STATUS_OK) {
        return st;
    }
    if (!estimate_is_whole(start)) {
        estimate_fall_back(start, ESTIMATE_MARGINAL,
                           "output_error needs a start for every parameter", fit);
        return STATUS_OK;
    }
    if (is_reversed(job->model, start)) {
        estimate_fall_back(start, ESTIMATE_FAIL,
                           "output_error has no start with the signs of a robot", fit);
        return STATUS_OK;
    }
    struct search_options search;
    struct estimate_stage stage = {job->options, DYNAMICS_OUTPUT_ERROR};
    estimate_set_search(job, &stage, &search);
    st = search_twice(job, &search, start, fit, report);
    if (st == STATUS_OK && fit->stop == DYNAMICS_STOP_DIVERGED) {
        const struct dynamics_fit calm = calm_down(job->model, start);
        st = search_twice(job, &search, &calm, fit, report);
    }
    if (st == STATUS_OK) {
        st = enforce_positive(job, &search, start, fit, report);
    }
    if (st == STATUS_E_MATH) {
        *fit = *start;
        estimate_reason(&fit->estimate, REASON_METHOD_REPLACED, ESTIMATE_FAIL,
                        "output_error cannot be computed from here, numbers overflow: values "
                        "are those of %s; check units, or ask for less with --method weak_iv",
                        dynamics_method_name(start->method));
        return STATUS_OK;
    }
    if (st == STATUS_OK) {
        estimate_copy_regression(start, fit);
        if (job->options->ridge > 0.0) {
            estimate_reason(&fit->estimate, REASON_METHOD_CHOSEN, ESTIMATE_PASS,
                            "the ridge has part in the start only: output_error does without");
        }
        if (start->method == DYNAMICS_OLS_SG) {
            estimate_reason(&fit->estimate, REASON_METHOD_CHOSEN, ESTIMATE_PASS,
                            "started from ols_sg: the runs are too short for the windows of "
                            "weak_iv");
        }
    }
    return st;
}
