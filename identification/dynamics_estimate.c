#include "identification/dynamics_estimate.h"

#include <math.h>

#include "identification/output_error.h"

/* Stamps of efforts may be late themselves, so the delay may come out below zero. */
static const double DELAY_PERIODS_MIN = -5.0;
static const double DELAY_PERIODS_MAX = 20.0;

bool dynamics_estimate_knows(enum dynamics_method method)
{
    return method <= DYNAMICS_OUTPUT_ERROR;
}

static bool is_whole(const struct dynamics_fit *fit)
{
    for (size_t i = 0; i < fit->p; i++) {
        if (!isfinite(fit->theta[i])) {
            return false;
        }
    }
    return true;
}

static enum status simulate(const struct model *model, const struct data_set *set,
                            const struct dynamics_options *options, struct dynamics_fit *fit)
{
    struct output_error_options search;
    struct output_error_report report;
    struct dynamics_fit start;
    enum status st = dynamics_linear_fit(model, set, DYNAMICS_WEAK_IV, options, &start);
    if (st != STATUS_OK) {
        return st;
    }
    if (!is_whole(&start)) {
        dynamics_reason(&start, DYNAMICS_MARGINAL,
                        "output_error needs a start for every parameter: values are those of "
                        "weak_iv");
        *fit = start;
        return STATUS_OK;
    }
    output_error_defaults(model, &search);
    search.with_biases = options->biases;
    search.fit_delay = true;
    search.delay_s_min = DELAY_PERIODS_MIN * set->dt_s;
    search.delay_s_max = DELAY_PERIODS_MAX * set->dt_s;
    st = output_error_fit(model, set, start.theta, &search, NULL, fit, &report);
    for (size_t i = 0; st == STATUS_OK && i < fit->p; i++) {
        fit->regressor_rms[i] = start.regressor_rms[i];
        fit->independence_ratio[i] = start.independence_ratio[i];
    }
    return st;
}

enum status dynamics_estimate(const struct model *model, const struct data_set *set,
                              enum dynamics_method method,
                              const struct dynamics_options *options, struct dynamics_fit *fit)
{
    if (!dynamics_estimate_knows(method)) {
        return STATUS_E_ARG;
    }
    return method == DYNAMICS_OUTPUT_ERROR
               ? simulate(model, set, options, fit)
               : dynamics_linear_fit(model, set, method, options, fit);
}
