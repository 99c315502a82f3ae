#include "twin/report/fit_report.h"

#include <math.h>
#include <stdio.h>

/* ---- members of every fit
 * ----------------------------------------------------------------- */

void estimate_report_column(struct json_writer *w, const char *key,
                            const struct estimate *estimate, const double *values)
{
    JSON_MAP(w, key, size_t i = 0; i < estimate->p; i++) {
        json_write_real(w, estimate->name[i], values[i]);
    }
}

static void write_intervals(struct json_writer *w, const char *key, const struct estimate *e,
                            const double *lo, const double *hi)
{
    JSON_MAP(w, key, size_t i = 0; i < e->p; i++) {
        json_write_two(w, e->name[i], lo[i], hi[i]);
    }
}

void estimate_report_intervals(struct json_writer *w, const struct estimate *estimate)
{
    write_intervals(w, "ci95", estimate, estimate->lo, estimate->hi);
}

/* Writes "ci95_open": null if no parameter has such an interval. */
static void write_open_intervals(struct json_writer *w, const struct estimate *e)
{
    for (size_t i = 0; i < e->p; i++) {
        if (isfinite(e->lo_open[i]) || isfinite(e->hi_open[i])) {
            write_intervals(w, "ci95_open", e, e->lo_open, e->hi_open);
            return;
        }
    }
    json_write_null(w, "ci95_open");
}

void estimate_report_marked(struct json_writer *w, const char *key,
                            const struct estimate *estimate, const bool *marked)
{
    JSON_LIST(w, key, size_t i = 0; i < estimate->p; i++) {
        if (marked[i]) {
            json_write_text(w, NULL, estimate->name[i]);
        }
    }
}

/* Rows and columns are in the order of "parameters". */
static void write_correlation(struct json_writer *w, const struct estimate *e)
{
    JSON_LIST(w, "correlation", size_t i = 0; i < e->p; i++) {
        JSON_LIST(w, NULL, size_t j = 0; j < e->p; j++) {
            json_write_real(w, NULL, estimate_correlation(e, i, j));
        }
    }
}

static void write_combinations(struct json_writer *w, const struct estimate *e)
{
    JSON_LIST(w, "combinations", size_t k = 0; k < e->combination_count; k++) {
        JSON_WRITE_OBJECT(w, NULL, JSON("name", e->combinations[k].name),
                          JSON("value", e->combinations[k].value),
                          JSON("se", e->combinations[k].se));
    }
}

/* Writes reasons from index begin to before end, and their codes. */
static void write_reasons(struct json_writer *w, const char *key, const char *codes_key,
                          const struct estimate *e, size_t begin, size_t end)
{
    json_write_texts(w, key, e->reasons[begin], ESTIMATE_TEXT_MAX, end - begin);
    JSON_LIST(w, codes_key, size_t i = begin; i < end; i++) {
        json_write_text(w, NULL, reason_code_name(e->reason_codes[i]));
    }
}

void estimate_report_verdict(struct json_writer *w, const struct estimate *e)
{
    const size_t first_note = estimate_first_note(e);
    json_write_text(w, "verdict", estimate_verdict_name(e->verdict));
    write_reasons(w, "reasons", "reason_codes", e, 0, first_note);
    write_reasons(w, "notes", "note_codes", e, first_note, e->reason_count);
    json_write_texts(w, "advice", e->advice[0], ESTIMATE_TEXT_MAX, e->advice_count);
}

void estimate_report(struct json_writer *w, const struct estimate *estimate)
{
    const struct estimate *e = estimate;
    double relative[ESTIMATE_P_MAX];
    for (size_t i = 0; i < e->p; i++) {
        relative[i] = e->se[i] / fabs(e->value[i]);
    }
    json_write_texts(w, "parameters", e->name[0], ESTIMATE_NAME_MAX, e->p);
    estimate_report_column(w, "values", e, e->value);
    estimate_report_column(w, "se", e, e->se);
    estimate_report_column(w, "se_white", e, e->se_white);
    estimate_report_column(w, "relative_se", e, relative);
    estimate_report_intervals(w, e);
    write_open_intervals(w, e);
    estimate_report_marked(w, "identifiable", e, e->identifiable);
    write_correlation(w, e);
    JSON_WRITE(w, JSON("rank", e->rank), JSON("condition", e->condition));
    json_write_texts(w, "null_directions", e->nulls[0], ESTIMATE_TEXT_MAX, e->null_count);
    write_combinations(w, e);
    estimate_report_verdict(w, e);
}

/* ---- travel times -------------------------------------------------------------------------
 */

/* Writes the law of accelerating robots in the form of the plain one. */
static void write_accelerating(struct json_writer *w, const struct travel_accelerating *law)
{
    JSON_WRITE(
        w, JSON_KNOWN("with_accelerations", law->known,
                      JSON_OBJECT("values", JSON("t0_s", law->t0_s),
                                  JSON("angular_speed_radps", law->speed[0]),
                                  JSON("linear_speed_mps", law->speed[1]),
                                  JSON("angular_acceleration_radps2", law->acceleration[0]),
                                  JSON("linear_acceleration_mps2", law->acceleration[1])),
                      JSON_OBJECT("se", JSON("t0_s", law->t0_se_s),
                                  JSON("angular_speed_radps", law->speed_se[0]),
                                  JSON("linear_speed_mps", law->speed_se[1]),
                                  JSON("angular_acceleration_radps2", law->acceleration_se[0]),
                                  JSON("linear_acceleration_mps2", law->acceleration_se[1])),
                      JSON("residual_s_sd", law->residual_s_sd), JSON("gain", law->gain)));
}

static void write_not_excluded(struct json_writer *w, const struct travel_not_excluded *most)
{
    JSON_WRITE(w, JSON_KNOWN("not_excluded", most->effect < TRAVEL_EFFECTS,
                             JSON("effect", travel_effect_name(most->effect)),
                             JSON("below", most->below > 0.0 ? most->below : (double)NAN),
                             JSON("lap_s", most->lap_s), JSON("lap_ratio", most->lap_ratio)));
}

void travel_report_members(struct json_writer *w, const struct travel_fit *fit)
{
    JSON_WRITE(w, JSON("n", fit->n), JSON("method", travel_method_name(fit->method)));
    estimate_report(w, &fit->estimate);
    JSON_WRITE(w,
               JSON_OF(fit, rmse_s, r2, residual_s_sd, outliers, refused, residual_s_p05,
                       residual_s_p95, lap_step_s),
               JSON("least_rotation_rad", fit->least_rad),
               JSON("least_displacement_m", fit->least_m));
    write_accelerating(w, &fit->accelerating);
    write_not_excluded(w, &fit->not_excluded);
}

void profile_report_members(struct json_writer *w, const struct profile_fit *fit)
{
    JSON_WRITE(w, JSON("n", fit->n), JSON("method", travel_method_name(fit->method)));
    estimate_report(w, &fit->estimate);
    JSON_WRITE(w, JSON_OF(fit, rmse_s, r2, residual_s_sd, outliers, refused),
               JSON_NULL("with_accelerations")); /* the law has them already */
}

/* ---- fits over time
 * ----------------------------------------------------------------------- */

void fit_record_write(struct json_writer *w, const char *key, const struct fit_record *record)
{
    const struct estimate *e = record->estimate;
    JSON_OPEN(w, key, JSON("pair", record->pair), JSON("n", record->n),
              JSON_SECONDS("t", record->t_us), JSON("side", side_name(record->side)),
              JSON("model", record->model), JSON("method", record->method),
              JSON("samples", record->samples), JSON_SECONDS("data_since_t", record->since_us),
              JSON_SECONDS("data_until_t", record->until_us));
    estimate_report_column(w, "values", e, e->value);
    estimate_report_column(w, "se", e, e->se);
    estimate_report_intervals(w, e);
    json_write_text(w, "verdict", estimate_verdict_name(e->verdict));
    json_write_texts(w, "reasons", e->reasons[0], ESTIMATE_TEXT_MAX, e->reason_count);
    JSON_WRITE(w, JSON_OPTIONAL("robot_version", record->robot_version));
    json_write_close(w);
}

void between_report(struct json_writer *w, const struct between *found)
{
    JSON_WRITE(w, JSON("n", found->n), JSON("value", found->value), JSON("se", found->se),
               JSON_TWO("ci95", found->lo, found->hi), JSON("sd_between", found->sd_between),
               JSON("sd_between_dl", found->sd_moments), JSON("Q", found->q),
               JSON("df", found->n - 1), JSON("p", found->p),
               JSON_TWO("another", found->another_lo, found->another_hi),
               JSON_TWO("another_as_fitted", found->another_fit_lo, found->another_fit_hi));
}

/* ---- odometry -----------------------------------------------------------------------------
 */

/* Writes the tests of a scale that depends on something, in no order. */
static void write_scale(struct json_writer *w, const struct odometry_scale *scale)
{
    JSON_OPEN(w, "scale", JSON("segments", scale->segments));
    JSON_MAP(w, "tests", enum odometry_covariate by = 0; by < ODOMETRY_COVARIATES; by++) {
        JSON_WRITE_OBJECT(w, odometry_covariate_name(by),
                          JSON_OF(&scale->test[by], way, turn, f, p));
    }
    json_write_close(w);
}

void odometry_report_fit(struct json_writer *w, const struct odometry_fit *fit)
{
    JSON_WRITE(w, JSON("model", "odometry"),
               JSON_OF(fit, n, outliers, runs, iterations, converged));
    estimate_report(w, &fit->estimate);
    JSON_WRITE(w, JSON_OF(fit, noise_m, noise_rad, slip_m, slip_rad));
    write_scale(w, &fit->scale);
}

void odometry_report_check(struct json_writer *w, const struct odometry_check *check)
{
    JSON_WRITE(w, JSON("n", check->poses),
               JSON_OF(check, position_rmse_m, position_max_m, heading_rmse_rad, position_r2,
                       heading_r2, path_m));
}

void odometry_report_summary(struct json_writer *w, const char *key,
                             const struct odometry_summary *summary)
{
    JSON_WRITE_OBJECT(w, key,
                      JSON_OF(summary, rows, used, poses, runs, incomplete, held, pose_missing,
                              stale, duplicates, back_steps, back_rows, gaps),
                      JSON_OF(summary, cuts, wheel_jumps, short_rows, duration_s, rate_hz,
                              gap_s_max, turn_left_rad, turn_right_rad));
}

/* ---- dynamics -----------------------------------------------------------------------------
 */

void dynamics_report_axes(struct json_writer *w, const char *key, const struct model *model,
                          bool efforts, const double *values)
{
    JSON_MAP(w, key, size_t a = 0; a < model->axis_count; a++) {
        json_write_real(w, efforts ? model_force_name(model, a) : model->axes[a].velocity,
                        values[a]);
    }
}

/* Lists parameters with a sign that no robot has. */
static void write_unphysical(struct json_writer *w, const struct model *model,
                             const struct dynamics_fit *fit)
{
    JSON_LIST(w, "unphysical", size_t i = 0; i < model->parameter_count; i++) {
        if (model->parameters[i].sign != MODEL_ANY && fit->estimate.value[i] < 0.0) {
            json_write_text(w, NULL, model->parameters[i].name);
        }
    }
}

void dynamics_report_derived(struct json_writer *w, const char *key,
                             const struct dynamics_derived *derived)
{
    JSON_WRITE_OBJECT(w, key, JSON("value", derived->value), JSON("se", derived->se),
                      JSON_TWO("ci95", derived->lo, derived->hi));
}

static void write_derived(struct json_writer *w, const struct model *model,
                          const struct dynamics_fit *fit)
{
    JSON_MAP(w, "derived", size_t i = 0; i < model->derived_count; i++) {
        struct dynamics_derived derived;
        char name[64];
        dynamics_derive(fit, model, i, &derived);
        dynamics_report_derived(w, model->derived[i].name, &derived);
        if (dynamics_derive_with_delay(fit, model, i, &derived)) {
            (void)snprintf(name, sizeof name, "%s_with_delay", model->derived[i].name);
            dynamics_report_derived(w, name, &derived);
        }
    }
}

/* Only prediction error estimates the noise. */
static void write_noise(struct json_writer *w, const struct model *model,
                        const struct dynamics_fit *fit)
{
    json_write_object(w, "noise");
    dynamics_report_axes(w, "velocity_sd", model, false, fit->velocity_sd);
    dynamics_report_axes(w, "force_sd", model, true, fit->force_sd);
    json_write_real(w, "force_time_s", fit->force_time_s);
    json_write_close(w);
}

static void write_outliers(struct json_writer *w, const struct model *model,
                           const struct dynamics_fit *fit)
{
    JSON_BLOCK(w, "outliers", fit->robust) {
        for (size_t a = 0; a < model->axis_count; a++) {
            json_write_int(w, model->axes[a].velocity, (int64_t)fit->outliers[a]);
        }
    }
}

void dynamics_report_fit(struct json_writer *w, const struct model *model,
                         const struct dynamics_fit *fit)
{
    struct dynamics_derived delay;
    JSON_WRITE(w, JSON("model", model->name), JSON("method", dynamics_method_name(fit->method)),
               JSON_OF(fit, n, rows, iterations), JSON("stop", dynamics_stop_name(fit->stop)));
    estimate_report(w, &fit->estimate);
    estimate_report_column(w, "se_hac", &fit->estimate, fit->se_hac);
    write_unphysical(w, model, fit);
    estimate_report_column(w, "regressor_rms", &fit->estimate, fit->regressor_rms);
    estimate_report_column(w, "regressor_independence_ratio", &fit->estimate,
                           fit->independence_ratio);
    const bool simulates = fit->method == DYNAMICS_OUTPUT_ERROR || fit->method == DYNAMICS_PEM;
    dynamics_report_axes(w, "residual_sd", model, !simulates, fit->residual_sd);
    dynamics_derive_delay(fit, &delay);
    dynamics_report_derived(w, "delay_s", &delay);
    write_noise(w, model, fit);
    json_write_real(w, "ridge", fit->ridge);
    write_outliers(w, model, fit);
    write_derived(w, model, fit);
}

static void write_channel(struct json_writer *w, const char *key, const struct data_channel *c,
                          bool motion)
{
    JSON_WRITE_OBJECT(w, key, JSON_OF(c, min, max, mean, sd),
                      JSON_IF(motion, JSON_GROUP(JSON_OF(c, noise_sd, signal_ratio))),
                      JSON_OF(c, quantum, repeat_ratio, hold_rows, saturation_ratio));
}

void dynamics_report_summary(struct json_writer *w, const struct model *model,
                             const struct data_summary *summary)
{
    JSON_WRITE(w,
               JSON_OF(summary, rows, used, runs, duration_s, rate_hz, dt_s, jitter_ratio,
                       resampled, incomplete, duplicates, back_steps, back_rows),
               JSON_OF(summary, gaps, bridged, missing, jumps, gap_s_max, short_rows, joined,
                       row_s, repeated));
    json_write_object(w, "channels");
    for (size_t a = 0; a < model->axis_count; a++) {
        write_channel(w, model->axes[a].velocity, &summary->nu[a], true);
    }
    for (size_t a = 0; a < model->axis_count; a++) {
        write_channel(w, model->axes[a].effort, &summary->tau[a], false);
    }
    for (size_t a = 0; a < model->axis_count; a++) {
        if (summary->pose[a].max > summary->pose[a].min) {
            write_channel(w, model->axes[a].pose, &summary->pose[a], true);
        }
    }
    json_write_close(w);
    JSON_MAP(w, "derived_window", size_t a = 0; a < model->axis_count; a++) {
        if (summary->derived_window[a] > 0) {
            json_write_int(w, model->axes[a].velocity, (int64_t)summary->derived_window[a]);
        }
    }
}

static void write_summary(struct json_writer *w, const char *key,
                          const struct residual_summary *s)
{
    JSON_WRITE_OBJECT(w, key,
                      JSON_OF(s, n, rmse, mae, r2, fit_percent, mean, correlation, runs_z,
                              ljung_box_p, white));
}

/* Writes whether each axis responds in proportion to its effort. */
static void write_shapes(struct json_writer *w, const struct model *model,
                         const struct stability *stability)
{
    JSON_LIST(w, "effort_shapes", size_t a = 0; a < model->axis_count; a++) {
        JSON_WRITE_OBJECT(w, NULL, JSON("effort", model->axes[a].effort),
                          JSON_OF(&stability->shape[a], statistic, df, p),
                          JSON_NUMBERS("at", stability_worth_at, STABILITY_WORTHS),
                          JSON_NUMBERS("worth", stability->shape[a].worth, STABILITY_WORTHS));
    }
}

/* Writes how the parts of the recording agree: for each way to split it, the parameter that
 * differs most. */
static void write_parts(struct json_writer *w, const struct model *model,
                        const struct estimate *estimate, const struct stability *stability)
{
    if (!stability->tested) {
        JSON_WRITE(w, JSON_NULL("parts"), JSON_NULL("effort_shapes"));
        return;
    }
    JSON_LIST(w, "parts", size_t i = 0; i < stability->count; i++) {
        const struct stability_test *test = &stability->tests[i];
        JSON_WRITE_OBJECT(
            w, NULL, JSON("cut", stability_cut_name(test->cut)),
            JSON("effort",
                 test->cut >= STABILITY_LEVEL ? model->axes[test->axis].effort : NULL),
            JSON_OF(test, statistic, df, p), JSON("parameter", estimate->name[test->entry]),
            JSON_NUMBERS("values", test->value, test->parts),
            JSON_NUMBERS("se", test->se, test->parts));
    }
    write_shapes(w, model, stability);
}

void dynamics_report_asks(struct json_writer *w, const struct estimate *estimate,
                          const struct stability *held_out)
{
    JSON_BLOCK(w, "asks_for", held_out->tested) {
        double values[ESTIMATE_P_MAX];
        for (size_t i = 0; i < estimate->p; i++) {
            values[i] = estimate->value[i] + held_out->moved[i];
        }
        estimate_report_column(w, "values", estimate, values);
        estimate_report_column(w, "se", estimate, held_out->moved_se);
        JSON_WRITE(w, JSON("statistic", held_out->moved_statistic),
                   JSON("df", held_out->moved_df), JSON("p", held_out->moved_p));
    }
}

void dynamics_report_check(struct json_writer *w, const struct model *model,
                           const struct estimate *estimate, const struct dynamics_check *check)
{
    static const char *const parts[] = {"simulated", "one_step", "residuals"};
    JSON_WRITE(w, JSON("motion_s", check->motion_s), JSON("effort_r2", check->effort_r2));
    for (size_t part = 0; part < COUNT(parts); part++) {
        if (!json_write_known(w, parts[part], check->simulated)) {
            continue;
        }
        for (size_t a = 0; a < model->axis_count; a++) {
            const struct dynamics_axis_check *axis = &check->axis[a];
            const char *name = model->axes[a].velocity;
            if (part < 2) {
                write_summary(w, name, part == 0 ? &axis->run : &axis->one_step);
                continue;
            }
            JSON_WRITE_OBJECT(w, name, JSON("input_correlation", axis->input_correlation),
                              JSON("input_correlation_bound", axis->input_correlation_bound),
                              JSON("outliers", axis->outliers));
        }
        json_write_close(w);
    }
    write_parts(w, model, estimate, &check->stability);
}

void dynamics_report_sensitivity(struct json_writer *w, const struct estimate *estimate,
                                 const struct dynamics_sensitivity *sensitivity)
{
    static const char *const names[SENSITIVITY_COUNT] = {"half", "double"};
    JSON_BLOCK(w, "filter_sensitivity", sensitivity->known) {
        JSON_WRITE(w, JSON("method", dynamics_method_name(sensitivity->method)),
                   JSON("n", sensitivity->n), JSON("window_s", sensitivity->window_s));
        for (size_t k = 0; k < SENSITIVITY_COUNT; k++) {
            JSON_OPEN(w, names[k], JSON("window_s", sensitivity->other_s[k]));
            estimate_report_column(w, "shift_se", estimate, sensitivity->shift[k]);
            json_write_close(w);
        }
        estimate_report_marked(w, "moved", estimate, sensitivity->moved);
    }
}

/* Writes the comparison with the reference, for any kind of estimate. */
static void write_compared(struct json_writer *w, const struct estimate *estimate,
                           const struct reference_values *current,
                           const struct reference_comparison *found)
{
    estimate_report_column(w, "reference", estimate, current->value);
    estimate_report_column(w, "reference_se", estimate, current->se);
    estimate_report_column(w, "z", estimate, found->z);
    estimate_report_marked(w, "contradicted", estimate, found->contradicted);
    JSON_WRITE(w, JSON("chi_squared", found->statistic), JSON_OF(found, df, p, contradicts));
}

void reference_report(struct json_writer *w, const struct estimate *estimate,
                      const struct reference_values *current,
                      const struct reference_comparison *found)
{
    JSON_BLOCK(w, "comparison", found != NULL) {
        write_compared(w, estimate, current, found);
    }
}

void dynamics_report_comparison(struct json_writer *w, const struct model *model,
                                const struct estimate *estimate,
                                const struct reference_values *current,
                                const struct dynamics_comparison *comparison)
{
    JSON_BLOCK(w, "comparison", comparison != NULL) {
        write_compared(w, estimate, current, &comparison->values);
        JSON_WRITE(w, JSON("reference_delay_s", current->delay_s),
                   JSON("delay_z", comparison->values.z[estimate->p]),
                   JSON("delay_contradicted", comparison->values.contradicted[estimate->p]));
        if (comparison->simulated) {
            dynamics_report_axes(w, "effect_rmse", model, false, comparison->effect_rmse);
            dynamics_report_axes(w, "fit_rmse", model, false, comparison->fit_rmse);
            dynamics_report_axes(w, "reference_rmse", model, false, comparison->reference_rmse);
        } else {
            JSON_WRITE(w, JSON_NULL("effect_rmse"), JSON_NULL("fit_rmse"),
                       JSON_NULL("reference_rmse"));
        }
    }
}

void dynamics_report_options(struct json_writer *w, const struct dynamics_options *options)
{
    JSON_WRITE(w,
               JSON_OF(options, biases, pooled, from_rest, half_width_s, stride_s, sg_window,
                       sg_order, iv_iterations, hac_s, reach_s, delay_max_s, robust),
               JSON("ridge", options->ridge));
}
