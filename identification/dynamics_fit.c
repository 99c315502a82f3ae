#include "identification/dynamics_fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

ENUM_NAMES(dynamics_method, DYNAMICS_METHOD_COUNT, "ols_central", "ols_sg", "weak", "weak_iv",
           "output_error", "pem");

ENUM_NAMES(dynamics_stop, DYNAMICS_STOP_CANCELLED + 1, "direct", "converged", "stalled",
           "limit", "diverged", "cancelled");

const char *dynamics_parameter_name(const struct model *model, size_t i, char *text,
                                    size_t text_bytes)
{
    if (i < model->parameter_count) {
        (void)snprintf(text, text_bytes, "%s", model->parameters[i].name);
    } else if (i < model->parameter_count + model->axis_count) {
        (void)snprintf(text, text_bytes, "%s_bias",
                       model->axes[i - model->parameter_count].effort);
    } else {
        (void)snprintf(text, text_bytes, "unknown");
    }
    return text;
}

const char *dynamics_parameter_words(const struct model *model, size_t i, char *text,
                                     size_t text_bytes)
{
    const bool bias = i >= model->parameter_count;
    (void)snprintf(text, text_bytes, "%s%s", bias ? "constant " : "",
                   bias ? model->axes[i - model->parameter_count].effort_words
                        : model->parameters[i].words);
    return text;
}

const char *dynamics_parameter_both(const struct model *model, size_t i, char *text,
                                    size_t text_bytes)
{
    char words[64];
    char name[64];
    (void)dynamics_parameter_words(model, i, words, sizeof words);
    (void)dynamics_parameter_name(model, i, name, sizeof name);
    if (strcmp(words, name) == 0) {
        (void)snprintf(text, text_bytes, "%s", words);
    } else {
        (void)snprintf(text, text_bytes, "%s (%s)", words, name);
    }
    return text;
}

void dynamics_fit_start(struct dynamics_fit *fit, const struct model *model,
                        enum dynamics_method method, bool with_biases)
{
    memset(fit, 0, sizeof *fit);
    fit->method = method;
    fit->bias_count = with_biases ? model->axis_count : 0;
    estimate_start(&fit->estimate, model->parameter_count + fit->bias_count);
    for (size_t i = 0; i < fit->estimate.p; i++) {
        const bool bias = i >= model->parameter_count;
        char name[ESTIMATE_NAME_MAX];
        char symbol[ESTIMATE_SYMBOL_MAX];
        (void)dynamics_parameter_name(model, i, name, sizeof name);
        (void)snprintf(symbol, sizeof symbol, "b%u",
                       bias ? (unsigned)(i - model->parameter_count + 1) % 100 : 0);
        estimate_name(&fit->estimate, i, name, bias ? symbol : model->parameters[i].symbol);
    }
    for (size_t i = 0; i < DYNAMICS_P_MAX; i++) {
        fit->se_hac[i] = NAN;
        fit->delay_covariance[i] = NAN;
        fit->regressor_rms[i] = NAN;
        fit->independence_ratio[i] = NAN;
    }
    for (size_t i = 0; i < MODEL_AXES_MAX; i++) {
        fit->residual_sd[i] = NAN;
        fit->velocity_sd[i] = NAN;
        fit->force_sd[i] = NAN;
    }
    fit->window_s = NAN;
    fit->force_time_s = NAN;
    fit->delay_s = NAN;
    fit->delay_se_s = NAN;
    for (size_t r = 0; r < DATA_RUNS_MAX; r++) {
        for (size_t i = 0; i < MODEL_AXES_MAX; i++) {
            fit->initial[r][i] = NAN;
            fit->initial_se[r][i] = NAN;
        }
    }
}
