#include "identification/dynamics_estimate.h"

#include <math.h>
#include <stdio.h>

#include "identification/output_error.h"
#include "identification/prediction_error.h"

/* How late velocities may answer efforts where nobody says: 20 periods, in these bounds, and no
 * more than this share of a run, whose samples before take no part. */
static const double DELAY_PERIODS = 20.0;
static const double DELAY_S_MIN = 0.5;
static const double DELAY_S_MAX = 2.0;
static const double DELAY_RUN_SHARE = 0.125;
/* Stamps of efforts may be late themselves, so the delay may come out below zero. */
static const double EARLY_SHARE = 0.25;
/* A second search stays this many standard errors around what the first one found. */
static const double DELAY_ERRORS = 5.0;
/* A search that has not ended by then will not end well. */
enum { ITERATIONS_MAX = 100 };
/* A model that explains less of some axis is wrong, not disturbed. */
static const double R2_MIN = 0.5;
/* A value that fits worse by less than this in -2 log likelihood is as good: 95 %. */
static const double CHI2_95 = 3.84;

static bool is_whole(const struct dynamics_fit *fit)
{
    for (size_t i = 0; i < fit->p; i++) {
        if (!isfinite(fit->theta[i])) {
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

/* Who is asked before an iteration, and of which method. */
struct stage {
    const struct dynamics_options *options;
    enum dynamics_method method;
};

static bool go_on(void *context, size_t iteration)
{
    const struct stage *stage = context;
    return stage->options->go_on(stage->options->context, stage->method, iteration);
}

static void set_search(const struct model *model, const struct data_set *set,
                       struct stage *stage, struct output_error_options *search)
{
    const struct dynamics_options *options = stage->options;
    output_error_defaults(model, search);
    search->with_biases = options->biases;
    search->delay_s_max = delay_max_s(set, options);
    search->delay_s_min = -EARLY_SHARE * search->delay_s_max;
    search->fit_delay = search->delay_s_max > 0.0;
    search->iterations_max = ITERATIONS_MAX;
    search->go_on = options->go_on ? go_on : NULL;
    search->context = stage;
}

/* Around a delay that is nearly known. What is left out at the start of each run for the sake
 * of the latest delay shrinks with it. */
static void narrow(const struct dynamics_fit *from, double reach_s,
                   struct output_error_options *search)
{
    search->delay_s = from->delay_s;
    search->delay_s_min = fmax(search->delay_s_min, from->delay_s - reach_s);
    search->delay_s_max = fmin(search->delay_s_max, from->delay_s + reach_s);
}

/* What regression alone knows about the recording. */
static void keep_regression(const struct dynamics_fit *from, struct dynamics_fit *fit)
{
    fit->window_s = from->window_s;
    for (size_t i = 0; i < fit->p; i++) {
        fit->regressor_rms[i] = from->regressor_rms[i];
        fit->independence_ratio[i] = from->independence_ratio[i];
    }
}

/* weak_iv; where runs are too short for its windows, what derivatives say. */
static enum status find_start(const struct model *model, const struct data_set *set,
                              const struct dynamics_options *options,
                              struct dynamics_fit *start)
{
    struct dynamics_fit other;
    enum status st = dynamics_linear_fit(model, set, DYNAMICS_WEAK_IV, options, start);
    if (st != STATUS_OK || start->rows > start->p) {
        return st;
    }
    st = dynamics_linear_fit(model, set, DYNAMICS_OLS_SG, options, &other);
    if (st == STATUS_OK && is_whole(&other)) {
        *start = other;
    }
    return st == STATUS_E_MATH ? STATUS_OK : st;
}

/* output_error from a start: first with every delay that may be, then near the one it found. */
static enum status search_twice(const struct model *model, const struct data_set *set,
                                struct output_error_options *search,
                                const struct dynamics_fit *start, struct dynamics_fit *fit,
                                struct output_error_report *report)
{
    struct output_error_report second;
    struct dynamics_fit near;
    const struct output_error_options wide = *search;
    enum status st = output_error_fit(model, set, start->theta, search, NULL, fit, report);
    if (st != STATUS_OK || fit->stop != DYNAMICS_STOP_CONVERGED || !is_whole(fit) ||
        !isfinite(fit->delay_s) || report->delay_at_bound) {
        return st;
    }
    const double se_s = fmax(fit->delay_se_s, report->delay_se_hac_s);
    narrow(fit, fmax(DELAY_ERRORS * se_s, EARLY_SHARE * set->dt_s), search);
    st = output_error_fit(model, set, fit->theta, search, NULL, &near, &second);
    const bool better = near.stop == DYNAMICS_STOP_CONVERGED && !second.delay_at_bound;
    if (st == STATUS_OK && (better || near.stop == DYNAMICS_STOP_CANCELLED)) {
        near.iterations += fit->iterations;
        second.evaluations += report->evaluations;
        *fit = near;
        *report = second;
    } else {
        *search = wide;
    }
    return st == STATUS_E_MATH ? STATUS_OK : st;
}

/* How many residuals in a row tell as much as one that is independent. */
static double inflation(const struct model *model, const struct output_error_report *report)
{
    double rho = 0.0;
    for (size_t i = 0; i < model->axis_count; i++) {
        rho = fmax(rho, report->axis[i].correlation);
    }
    return (1.0 + fmin(rho, 0.99)) / (1.0 - fmin(rho, 0.99));
}

/* Mark what physical parameters a search pushed to zero although the start has them above it;
 * whether there are any beyond those marked already. */
static bool mark_pushed(const struct model *model, const struct dynamics_fit *start,
                        const struct output_error_report *report, bool *pushed)
{
    bool more = false;
    for (size_t i = 0; i < model->parameter_count; i++) {
        const bool now = !pushed[i] && report->at_bound[i] && start->theta[i] > 0.0;
        more = more || now;
        pushed[i] = pushed[i] || now;
    }
    return more;
}

static void hold(const struct model *model, const struct dynamics_fit *start, size_t i,
                 struct dynamics_fit *fit)
{
    const double se = sqrt(start->covariance[i][i]);
    fit->se[i] = start->se[i];
    fit->se_hac[i] = start->se_hac[i];
    fit->covariance[i][i] = start->covariance[i][i];
    fit->lo[i] = start->lo[i];
    fit->hi[i] = start->hi[i];
    fit->identifiable[i] = false;
    dynamics_reason(fit, DYNAMICS_MARGINAL,
                    "%s: simulation cannot tell zero from what %s says, %.4g with an error of "
                    "%.2g, so that stays",
                    model->parameters[i].name, dynamics_method_name(start->method),
                    fit->theta[i], se);
}

/* A damping of zero is what no robot has. Where the recording cannot tell zero from the start's
 * value, that one stays, with its error, and the others are found beside it. search is what fit
 * was found with. */
static enum status keep_positive(const struct model *model, const struct data_set *set,
                                 struct output_error_options *search,
                                 const struct dynamics_fit *start, struct dynamics_fit *fit,
                                 struct output_error_report *report)
{
    struct output_error_report other = *report;
    struct dynamics_fit held = *fit;
    bool *pushed = search->fixed;
    size_t count = 0;
    search->delay_s = isfinite(fit->delay_s) ? fit->delay_s : 0.0;
    while (is_whole(&held) && mark_pushed(model, start, &other, pushed)) {
        double from[DYNAMICS_P_MAX];
        for (size_t i = 0; i < fit->p; i++) {
            from[i] = pushed[i] ? start->theta[i] : held.theta[i];
        }
        const enum status st = output_error_fit(model, set, from, search, NULL, &held, &other);
        if (st != STATUS_OK) {
            return st == STATUS_E_MATH ? STATUS_OK : st;
        }
    }
    for (size_t i = 0; i < model->parameter_count; i++) {
        count += pushed[i] ? 1 : 0;
    }
    const double loss = 2.0 * (report->log_likelihood - other.log_likelihood);
    if (count == 0 || held.stop != DYNAMICS_STOP_CONVERGED ||
        loss > CHI2_95 * (double)count * inflation(model, report)) {
        return STATUS_OK;
    }
    held.iterations += fit->iterations;
    held.rank += count;
    for (size_t i = 0; i < model->parameter_count; i++) {
        if (pushed[i]) {
            hold(model, start, i, &held);
        }
    }
    *fit = held;
    *report = other;
    return STATUS_OK;
}

/* A start in *start, and output_error from there in *fit. Where that cannot be, *fit is the
 * start and says why; fit->method tells. */
static enum status simulate(const struct model *model, const struct data_set *set,
                            const struct dynamics_options *options, struct dynamics_fit *start,
                            struct dynamics_fit *fit, struct output_error_report *report)
{
    enum status st = find_start(model, set, options, start);
    if (st != STATUS_OK) {
        return st;
    }
    if (!is_whole(start)) {
        *fit = *start;
        dynamics_reason(fit, DYNAMICS_MARGINAL,
                        "output_error needs a start for every parameter: values are those of "
                        "%s",
                        dynamics_method_name(start->method));
        return STATUS_OK;
    }
    struct output_error_options search;
    struct stage stage = {options, DYNAMICS_OUTPUT_ERROR};
    set_search(model, set, &stage, &search);
    st = search_twice(model, set, &search, start, fit, report);
    if (st == STATUS_OK) {
        st = keep_positive(model, set, &search, start, fit, report);
    }
    if (st == STATUS_E_MATH) {
        *fit = *start;
        dynamics_reason(fit, DYNAMICS_FAIL,
                        "output_error cannot be computed from here, numbers overflow: values "
                        "are those of %s; check units, or ask for less with --method weak_iv",
                        dynamics_method_name(start->method));
        return STATUS_OK;
    }
    if (st == STATUS_OK) {
        keep_regression(start, fit);
        if (start->method == DYNAMICS_OLS_SG) {
            dynamics_reason(fit, DYNAMICS_PASS,
                            "started from ols_sg: the runs are too short for the windows of "
                            "weak_iv");
        }
    }
    return st;
}

/* From an output-error fit, which it gives back where that has no value for every parameter or
 * pem cannot be computed. */
static enum status predict(const struct model *model, const struct data_set *set,
                           const struct dynamics_options *options,
                           const struct dynamics_fit *from, struct dynamics_fit *fit)
{
    struct output_error_options search;
    struct prediction_error_report report;
    struct stage stage = {options, DYNAMICS_PEM};
    if (from->stop != DYNAMICS_STOP_CONVERGED || !is_whole(from)) {
        *fit = *from;
        dynamics_reason(fit, DYNAMICS_MARGINAL,
                        "pem needs a start for every parameter: values are those of %s",
                        dynamics_method_name(from->method));
        return STATUS_OK;
    }
    set_search(model, set, &stage, &search);
    if (isfinite(from->delay_s)) {
        narrow(from, fmax(2.0 * DELAY_ERRORS * from->delay_se_s, 2.0 * set->dt_s), &search);
    }
    const enum status st =
        prediction_error_fit(model, set, from->theta, &search, NULL, fit, &report);
    if (st == STATUS_E_MATH) {
        *fit = *from;
        dynamics_reason(fit, DYNAMICS_FAIL,
                        "pem cannot be computed from here, numbers overflow: values are those "
                        "of %s",
                        dynamics_method_name(from->method));
        return STATUS_OK;
    }
    if (st == STATUS_OK) {
        keep_regression(from, fit);
    }
    return st;
}

enum status dynamics_estimate(const struct model *model, const struct data_set *set,
                              enum dynamics_method method,
                              const struct dynamics_options *options, struct dynamics_fit *fit)
{
    struct output_error_report report;
    struct dynamics_fit start;
    struct dynamics_fit simulated;
    if (method != DYNAMICS_OUTPUT_ERROR && method != DYNAMICS_PEM) {
        return dynamics_linear_fit(model, set, method, options, fit);
    }
    const enum status st = simulate(model, set, options, &start, &simulated, &report);
    if (st != STATUS_OK || method == DYNAMICS_OUTPUT_ERROR ||
        simulated.stop == DYNAMICS_STOP_CANCELLED) {
        *fit = st == STATUS_OK ? simulated : *fit;
        return st;
    }
    return predict(model, set, options, &simulated, fit);
}

static bool explains(const struct model *model, const struct output_error_report *report)
{
    bool well = true;
    for (size_t i = 0; i < model->axis_count; i++) {
        well = well && report->axis[i].r2 >= R2_MIN;
    }
    return well;
}

/* Whether pem is to be taken; if not, why. A physical parameter at zero says that its noise is
 * not what disturbs this robot. */
static bool is_better(const struct model *model, const struct dynamics_fit *simulated,
                      const struct dynamics_fit *predicted, char doubt[DYNAMICS_TEXT_MAX])
{
    if (predicted->method != DYNAMICS_PEM) {
        (void)snprintf(doubt, DYNAMICS_TEXT_MAX, "cannot be computed");
        return false;
    }
    if (predicted->stop == DYNAMICS_STOP_CANCELLED) {
        return true;
    }
    if (predicted->stop != DYNAMICS_STOP_CONVERGED) {
        (void)snprintf(doubt, DYNAMICS_TEXT_MAX, "did not find an end: %s",
                       dynamics_stop_name(predicted->stop));
        return false;
    }
    for (size_t i = 0; i < model->parameter_count; i++) {
        if (model->parameters[i].sign != MODEL_ANY && simulated->theta[i] > 0.0 &&
            !(predicted->theta[i] > 0.0)) {
            (void)snprintf(doubt, DYNAMICS_TEXT_MAX, "takes %s to zero",
                           model->parameters[i].name);
            return false;
        }
    }
    return true;
}

enum status dynamics_estimate_auto(const struct model *model, const struct data_set *set,
                                   const struct dynamics_options *options,
                                   struct dynamics_fit *fit)
{
    struct output_error_report report;
    struct dynamics_fit weak;
    struct dynamics_fit simulated;
    struct dynamics_fit predicted;
    enum status st = simulate(model, set, options, &weak, &simulated, &report);
    if (st != STATUS_OK) {
        return st;
    }
    if (simulated.method != DYNAMICS_OUTPUT_ERROR || simulated.stop == DYNAMICS_STOP_DIVERGED) {
        *fit = weak;
        dynamics_reason(fit, DYNAMICS_MARGINAL,
                        "auto chose %s: the model cannot be simulated over the recording",
                        dynamics_method_name(weak.method));
        return STATUS_OK;
    }
    if (simulated.stop == DYNAMICS_STOP_CANCELLED) {
        *fit = simulated;
        return STATUS_OK;
    }
    *fit = simulated;
    if (report.white) {
        dynamics_reason(fit, DYNAMICS_PASS, "auto chose output_error: what it leaves is white");
        return STATUS_OK;
    }
    char doubt[DYNAMICS_TEXT_MAX] = "would need a model that explains more";
    if (simulated.stop == DYNAMICS_STOP_CONVERGED && is_whole(&simulated) &&
        explains(model, &report)) {
        st = predict(model, set, options, &simulated, &predicted);
        if (st != STATUS_OK) {
            return st;
        }
        if (is_better(model, &simulated, &predicted, doubt)) {
            *fit = predicted;
            dynamics_reason(fit, DYNAMICS_PASS,
                            "auto chose pem: what output_error leaves is not white");
            return STATUS_OK;
        }
    }
    dynamics_reason(fit, DYNAMICS_PASS,
                    "auto chose output_error with robust errors: what it leaves is not white, "
                    "and pem %s",
                    doubt);
    return STATUS_OK;
}
