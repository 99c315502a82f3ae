#include "identification/dynamics_fit.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

ENUM_NAMES(dynamics_method, DYNAMICS_METHOD_COUNT, "ols_central", "ols_sg", "weak", "weak_iv",
           "output_error", "pem");

ENUM_NAMES(dynamics_verdict, DYNAMICS_FAIL + 1, "PASS", "MARGINAL", "FAIL");

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
    fit->p = model->parameter_count + fit->bias_count;
    for (size_t i = 0; i < DYNAMICS_P_MAX; i++) {
        fit->theta[i] = NAN;
        fit->se[i] = NAN;
        fit->se_hac[i] = NAN;
        fit->lo[i] = NAN;
        fit->hi[i] = NAN;
        fit->delay_covariance[i] = NAN;
        fit->regressor_rms[i] = NAN;
        fit->independence_ratio[i] = NAN;
        for (size_t k = 0; k < DYNAMICS_P_MAX; k++) {
            fit->covariance[i][k] = NAN;
        }
    }
    fit->condition = NAN;
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

static void add_text(char list[][DYNAMICS_TEXT_MAX], size_t *count, const char *text)
{
    for (size_t i = 0; i < *count; i++) {
        if (strcmp(list[i], text) == 0) {
            return;
        }
    }
    if (*count < DYNAMICS_TEXTS_MAX) {
        (void)snprintf(list[*count], DYNAMICS_TEXT_MAX, "%s", text);
        (*count)++;
    }
}

/* Puts a reason at its place of the list; a full one loses its last. */
static void put_reason(struct dynamics_fit *fit, size_t at, enum dynamics_verdict at_best,
                       const char *text)
{
    if (at == DYNAMICS_TEXTS_MAX) {
        return;
    }
    fit->reason_count -= fit->reason_count == DYNAMICS_TEXTS_MAX ? 1 : 0;
    const size_t after = fit->reason_count - at;
    (void)memmove(fit->reasons[at + 1], fit->reasons[at], after * sizeof fit->reasons[0]);
    (void)memmove(&fit->reason_verdicts[at + 1], &fit->reason_verdicts[at],
                  after * sizeof fit->reason_verdicts[0]);
    (void)snprintf(fit->reasons[at], DYNAMICS_TEXT_MAX, "%s", text);
    fit->reason_verdicts[at] = at_best;
    fit->reason_count++;
}

static void add_reason(struct dynamics_fit *fit, enum dynamics_verdict at_best, bool first,
                       const char *text)
{
    if (at_best > fit->verdict) {
        fit->verdict = at_best;
    }
    for (size_t i = 0; i < fit->reason_count; i++) {
        if (strcmp(fit->reasons[i], text) == 0) {
            return;
        }
    }
    size_t at = first ? 0 : fit->reason_count;
    while (at > 0 && fit->reason_verdicts[at - 1] < at_best) {
        at--;
    }
    put_reason(fit, at, at_best, text);
}

void dynamics_reason(struct dynamics_fit *fit, enum dynamics_verdict at_best,
                     const char *format, ...)
{
    char text[DYNAMICS_TEXT_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    add_reason(fit, at_best, false, text);
}

void dynamics_reason_first(struct dynamics_fit *fit, enum dynamics_verdict at_best,
                           const char *format, ...)
{
    char text[DYNAMICS_TEXT_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    add_reason(fit, at_best, true, text);
}

void dynamics_advise(struct dynamics_fit *fit, const char *format, ...)
{
    char text[DYNAMICS_TEXT_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    add_text(fit->advice, &fit->advice_count, text);
}
