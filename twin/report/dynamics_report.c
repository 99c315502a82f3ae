#include "twin/report/dynamics_report.h"

#include <stdio.h>

#include "twin/report/estimate_report.h"

/* Parameters of a sign that no robot has. */
static void write_unphysical(struct json_writer *w, const struct model *model,
                             const struct dynamics_fit *fit)
{
    json_write_array(w, "unphysical");
    for (size_t i = 0; i < model->parameter_count; i++) {
        if (model->parameters[i].sign != MODEL_ANY && fit->estimate.value[i] < 0.0) {
            json_write_text(w, NULL, model->parameters[i].name);
        }
    }
    json_write_close(w);
}

static void write_quantity(struct json_writer *w, const char *name,
                           const struct dynamics_derived *derived)
{
    json_write_object(w, name);
    json_write_real(w, "value", derived->value);
    json_write_real(w, "se", derived->se);
    json_write_two(w, "ci95", derived->lo, derived->hi);
    json_write_close(w);
}

static void write_derived(struct json_writer *w, const struct model *model,
                          const struct dynamics_fit *fit)
{
    json_write_object(w, "derived");
    for (size_t i = 0; i < model->derived_count; i++) {
        struct dynamics_derived derived;
        char name[64];
        dynamics_derive(fit, model, i, &derived);
        write_quantity(w, model->derived[i].name, &derived);
        if (dynamics_derive_late(fit, model, i, &derived)) {
            (void)snprintf(name, sizeof name, "%s_with_delay", model->derived[i].name);
            write_quantity(w, name, &derived);
        }
    }
    json_write_close(w);
}

/* Unknown but to prediction error. */
static void write_noise(struct json_writer *w, const struct model *model,
                        const struct dynamics_fit *fit)
{
    json_write_object(w, "noise");
    json_write_object(w, "velocity_sd");
    for (size_t a = 0; a < model->axis_count; a++) {
        json_write_real(w, model->axes[a].velocity, fit->velocity_sd[a]);
    }
    json_write_close(w);
    json_write_object(w, "force_sd");
    for (size_t a = 0; a < model->axis_count; a++) {
        json_write_real(w, model->axes[a].effort, fit->force_sd[a]);
    }
    json_write_close(w);
    json_write_real(w, "force_time_s", fit->force_time_s);
    json_write_close(w);
}

static void write_outliers(struct json_writer *w, const struct model *model,
                           const struct dynamics_fit *fit)
{
    if (!fit->robust) {
        json_write_null(w, "outliers");
        return;
    }
    json_write_object(w, "outliers");
    for (size_t a = 0; a < model->axis_count; a++) {
        json_write_int(w, model->axes[a].velocity, (int64_t)fit->outliers[a]);
    }
    json_write_close(w);
}

void dynamics_report_fit(struct json_writer *w, const struct model *model,
                         const struct dynamics_fit *fit)
{
    struct dynamics_derived delay;
    json_write_text(w, "model", model->name);
    json_write_text(w, "method", dynamics_method_name(fit->method));
    json_write_int(w, "n", (int64_t)fit->n);
    json_write_int(w, "rows", (int64_t)fit->rows);
    json_write_int(w, "iterations", (int64_t)fit->iterations);
    json_write_text(w, "stop", dynamics_stop_name(fit->stop));
    estimate_report(w, &fit->estimate);
    estimate_report_column(w, "se_hac", &fit->estimate, fit->se_hac);
    write_unphysical(w, model, fit);
    estimate_report_column(w, "regressor_rms", &fit->estimate, fit->regressor_rms);
    estimate_report_column(w, "regressor_independence_ratio", &fit->estimate,
                           fit->independence_ratio);
    const bool simulates = fit->method == DYNAMICS_OUTPUT_ERROR || fit->method == DYNAMICS_PEM;
    json_write_object(w, "residual_sd");
    for (size_t a = 0; a < model->axis_count; a++) {
        const struct model_axis *axis = &model->axes[a];
        json_write_real(w, simulates ? axis->velocity : axis->effort, fit->residual_sd[a]);
    }
    json_write_close(w);
    dynamics_derive_delay(fit, &delay);
    write_quantity(w, "delay_s", &delay);
    write_noise(w, model, fit);
    json_write_real(w, "ridge", fit->ridge);
    write_outliers(w, model, fit);
    write_derived(w, model, fit);
}

static void write_channel(struct json_writer *w, const char *key, const struct data_channel *c,
                          bool motion)
{
    json_write_object(w, key);
    json_write_real(w, "min", c->min);
    json_write_real(w, "max", c->max);
    json_write_real(w, "mean", c->mean);
    json_write_real(w, "sd", c->sd);
    if (motion) {
        json_write_real(w, "noise_sd", c->noise_sd);
        json_write_real(w, "signal_ratio", c->signal_ratio);
        json_write_real(w, "quantum", c->quantum);
    }
    json_write_real(w, "saturation_ratio", c->saturation_ratio);
    json_write_close(w);
}

void dynamics_report_card(struct json_writer *w, const struct model *model,
                          const struct data_card *card)
{
    json_write_int(w, "rows", (int64_t)card->rows);
    json_write_int(w, "used", (int64_t)card->used);
    json_write_int(w, "runs", (int64_t)card->runs);
    json_write_real(w, "duration_s", card->duration_s);
    json_write_real(w, "rate_hz", card->rate_hz);
    json_write_real(w, "dt_s", card->dt_s);
    json_write_real(w, "jitter_ratio", card->jitter_ratio);
    json_write_bool(w, "resampled", card->resampled);
    json_write_int(w, "incomplete", (int64_t)card->incomplete);
    json_write_int(w, "duplicates", (int64_t)card->duplicates);
    json_write_int(w, "back_steps", (int64_t)card->back_steps);
    json_write_int(w, "back_rows", (int64_t)card->back_rows);
    json_write_int(w, "gaps", (int64_t)card->gaps);
    json_write_int(w, "bridged", (int64_t)card->bridged);
    json_write_int(w, "missing", (int64_t)card->missing);
    json_write_int(w, "jumps", (int64_t)card->jumps);
    json_write_real(w, "gap_s_max", card->gap_s_max);
    json_write_int(w, "short_rows", (int64_t)card->short_rows);
    json_write_object(w, "channels");
    for (size_t a = 0; a < model->axis_count; a++) {
        write_channel(w, model->axes[a].velocity, &card->nu[a], true);
    }
    for (size_t a = 0; a < model->axis_count; a++) {
        write_channel(w, model->axes[a].effort, &card->tau[a], false);
    }
    for (size_t a = 0; a < model->axis_count; a++) {
        if (card->pose[a].max > card->pose[a].min) {
            write_channel(w, model->axes[a].pose, &card->pose[a], true);
        }
    }
    json_write_close(w);
    json_write_object(w, "derived_window");
    for (size_t a = 0; a < model->axis_count; a++) {
        if (card->derived_window[a] > 0) {
            json_write_int(w, model->axes[a].velocity, (int64_t)card->derived_window[a]);
        }
    }
    json_write_close(w);
}

static void write_summary(struct json_writer *w, const char *key,
                          const struct residual_summary *s)
{
    json_write_object(w, key);
    json_write_int(w, "n", (int64_t)s->n);
    json_write_real(w, "rmse", s->rmse);
    json_write_real(w, "mae", s->mae);
    json_write_real(w, "r2", s->r2);
    json_write_real(w, "fit_percent", s->fit_percent);
    json_write_real(w, "mean", s->mean);
    json_write_real(w, "correlation", s->correlation);
    json_write_real(w, "runs_z", s->runs_z);
    json_write_real(w, "ljung_box_p", s->ljung_box_p);
    json_write_bool(w, "white", s->white);
    json_write_close(w);
}

void dynamics_report_check(struct json_writer *w, const struct model *model,
                           const struct dynamics_check *check)
{
    static const char *const parts[] = {"simulated", "one_step", "residuals"};
    json_write_real(w, "motion_s", check->motion_s);
    for (size_t part = 0; part < COUNT(parts); part++) {
        if (!check->simulated) {
            json_write_null(w, parts[part]);
            continue;
        }
        json_write_object(w, parts[part]);
        for (size_t a = 0; a < model->axis_count; a++) {
            const struct dynamics_axis_check *axis = &check->axis[a];
            const char *name = model->axes[a].velocity;
            if (part < 2) {
                write_summary(w, name, part == 0 ? &axis->run : &axis->one_step);
                continue;
            }
            json_write_object(w, name);
            json_write_real(w, "input_correlation", axis->input_correlation);
            json_write_real(w, "input_correlation_bound", axis->input_correlation_bound);
            json_write_int(w, "outliers", (int64_t)axis->outliers);
            json_write_close(w);
        }
        json_write_close(w);
    }
}

void dynamics_report_sensitivity(struct json_writer *w, const struct estimate *estimate,
                                 const struct dynamics_sensitivity *sensitivity)
{
    static const char *const names[SENSITIVITY_COUNT] = {"half", "double"};
    if (!sensitivity->known) {
        json_write_null(w, "filter_sensitivity");
        return;
    }
    json_write_object(w, "filter_sensitivity");
    json_write_text(w, "method", dynamics_method_name(sensitivity->method));
    json_write_int(w, "n", (int64_t)sensitivity->n);
    json_write_real(w, "window_s", sensitivity->window_s);
    for (size_t k = 0; k < SENSITIVITY_COUNT; k++) {
        json_write_object(w, names[k]);
        json_write_real(w, "window_s", sensitivity->other_s[k]);
        estimate_report_column(w, "shift_se", estimate, sensitivity->shift[k]);
        json_write_close(w);
    }
    estimate_report_marked(w, "moved", estimate, sensitivity->moved);
    json_write_close(w);
}

static void write_axes(struct json_writer *w, const char *key, const struct model *model,
                       const double *values)
{
    json_write_object(w, key);
    for (size_t a = 0; a < model->axis_count; a++) {
        json_write_real(w, model->axes[a].velocity, values[a]);
    }
    json_write_close(w);
}

void dynamics_report_comparison(struct json_writer *w, const struct model *model,
                                const struct estimate *estimate,
                                const struct dynamics_current *current,
                                const struct dynamics_comparison *comparison)
{
    if (!comparison) {
        json_write_null(w, "comparison");
        return;
    }
    json_write_object(w, "comparison");
    estimate_report_column(w, "current", estimate, current->value);
    estimate_report_column(w, "current_se", estimate, current->se);
    json_write_real(w, "current_delay_s", current->delay_s);
    estimate_report_column(w, "z", estimate, comparison->z);
    json_write_real(w, "delay_z", comparison->delay_z);
    if (comparison->simulated) {
        write_axes(w, "effect_rmse", model, comparison->effect_rmse);
        write_axes(w, "fit_rmse", model, comparison->fit_rmse);
        write_axes(w, "current_rmse", model, comparison->current_rmse);
    } else {
        json_write_null(w, "effect_rmse");
        json_write_null(w, "fit_rmse");
        json_write_null(w, "current_rmse");
    }
    json_write_close(w);
}

void dynamics_report_options(struct json_writer *w, const struct dynamics_options *options)
{
    json_write_bool(w, "biases", options->biases);
    json_write_bool(w, "pooled", options->pooled);
    json_write_bool(w, "from_rest", options->from_rest);
    json_write_real(w, "half_width_s", options->half_width_s);
    json_write_real(w, "stride_s", options->stride_s);
    json_write_int(w, "sg_window", (int64_t)options->sg_window);
    json_write_int(w, "sg_order", (int64_t)options->sg_order);
    json_write_int(w, "iv_iterations", (int64_t)options->iv_iterations);
    json_write_real(w, "hac_s", options->hac_s);
    json_write_real(w, "reach_s", options->reach_s);
    json_write_real(w, "delay_max_s", options->delay_max_s);
    json_write_bool(w, "robust", options->robust);
    json_write_real(w, "ridge", options->ridge);
}
