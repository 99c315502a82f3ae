#include "identification/dynamics_estimate.h"

#include <math.h>

#include "identification/output_error.h"
#include "identification/prediction_error.h"

/* Stamps of efforts may be late themselves, so the delay may come out below zero. */
static const double DELAY_PERIODS_MIN = -5.0;
static const double DELAY_PERIODS_MAX = 20.0;
/* A search that has not ended by then will not end well. */
enum { ITERATIONS_MAX = 40 };
/* A model that explains less of some axis is wrong, not disturbed. */
static const double R2_MIN = 0.5;

static bool is_whole(const struct dynamics_fit *fit)
{
    for (size_t i = 0; i < fit->p; i++) {
        if (!isfinite(fit->theta[i])) {
            return false;
        }
    }
    return true;
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
    search->fit_delay = true;
    search->delay_s_min = DELAY_PERIODS_MIN * set->dt_s;
    search->delay_s_max = DELAY_PERIODS_MAX * set->dt_s;
    search->iterations_max = ITERATIONS_MAX;
    search->go_on = options->go_on ? go_on : NULL;
    search->context = stage;
}

/* What regression alone knows about the recording. */
static void keep_regression(const struct dynamics_fit *from, struct dynamics_fit *fit)
{
    for (size_t i = 0; i < fit->p; i++) {
        fit->regressor_rms[i] = from->regressor_rms[i];
        fit->independence_ratio[i] = from->independence_ratio[i];
    }
}

/* weak_iv in *start, and output_error from there in *fit; as it is where there is no start. */
static enum status simulate(const struct model *model, const struct data_set *set,
                            const struct dynamics_options *options, struct dynamics_fit *start,
                            struct dynamics_fit *fit, struct output_error_report *report)
{
    struct output_error_options search;
    struct stage stage = {options, DYNAMICS_OUTPUT_ERROR};
    enum status st = dynamics_linear_fit(model, set, DYNAMICS_WEAK_IV, options, start);
    if (st != STATUS_OK) {
        return st;
    }
    if (!is_whole(start)) {
        *fit = *start;
        dynamics_reason(fit, DYNAMICS_MARGINAL,
                        "output_error needs a start for every parameter: values are those of "
                        "weak_iv");
        return STATUS_OK;
    }
    set_search(model, set, &stage, &search);
    st = output_error_fit(model, set, start->theta, &search, NULL, fit, report);
    if (st == STATUS_OK) {
        keep_regression(start, fit);
    }
    return st;
}

/* From an output-error fit, which it gives back where that has no value for every parameter. */
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
    search.delay_s = isfinite(from->delay_s) ? from->delay_s : 0.0;
    const enum status st =
        prediction_error_fit(model, set, from->theta, &search, NULL, fit, &report);
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
                        "auto chose weak_iv: the model cannot be simulated over the recording");
        return STATUS_OK;
    }
    if (simulated.stop == DYNAMICS_STOP_CANCELLED) {
        *fit = simulated;
        return STATUS_OK;
    }
    const char *why = "auto chose output_error: what it leaves is white";
    struct dynamics_fit *best = &simulated;
    if (!report.white && simulated.stop == DYNAMICS_STOP_CONVERGED && is_whole(&simulated) &&
        explains(model, &report)) {
        st = predict(model, set, options, &simulated, &predicted);
        if (st == STATUS_E_NOMEM) {
            return st;
        }
        if (st == STATUS_OK && (predicted.stop == DYNAMICS_STOP_CONVERGED ||
                                predicted.stop == DYNAMICS_STOP_CANCELLED)) {
            best = &predicted;
        }
    }
    *fit = *best;
    if (fit->method == DYNAMICS_PEM) {
        why = "auto chose pem: what output_error leaves is not white";
    } else if (!report.white) {
        why =
            "auto chose output_error with robust errors: what it leaves is not white, and pem "
            "has nothing to add";
    }
    dynamics_reason(fit, DYNAMICS_PASS, "%s", why);
    return STATUS_OK;
}
