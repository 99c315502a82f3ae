/* A fit of dynamics as a page for people and as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "logger/json_write.h"
#include "service/identify_dynamics.h"
#include "service/version.h"
#include "twin/dynamics_report.h"

static void write_out(void *context, const char *text, size_t bytes)
{
    (void)fwrite(text, 1, bytes, context);
}

static void print_parameters(const struct identify_result *result, FILE *out)
{
    const struct dynamics_fit *fit = &result->fit;
    const struct model *model = result->kind->model;
    (void)fprintf(out, "\n  %-22s %10s %9s  %-23s %7s\n", "parameter", "estimate", "error",
                  "95 % interval", "error");
    for (size_t i = 0; i < fit->p; i++) {
        char name[64];
        (void)dynamics_parameter_name(model, i, name, sizeof name);
        if (!isfinite(fit->theta[i])) {
            (void)fprintf(out, "  %-22s %10s\n", name, "unknown");
            continue;
        }
        const double se = sqrt(fit->covariance[i][i]);
        (void)fprintf(out, "  %-22s %10.5g %9.3g  %10.5g .. %-10.5g %5.1f %%%s\n", name,
                      fit->theta[i], se, fit->lo[i], fit->hi[i],
                      100.0 * se / fabs(fit->theta[i]),
                      fit->identifiable[i] ? "" : "  not identifiable");
    }
}

static void print_derived(const struct identify_result *result, FILE *out)
{
    const struct model *model = result->kind->model;
    for (size_t i = 0; i < model->derived_count; i++) {
        struct dynamics_derived derived;
        dynamics_derive(&result->fit, model, i, &derived);
        (void)fprintf(out, "  %-22s %10.5g %9.3g  %10.5g .. %-10.5g %5.1f %%  derived\n",
                      model->derived[i].name, derived.value, derived.se, derived.lo, derived.hi,
                      100.0 * derived.se / fabs(derived.value));
    }
}

static void print_scores(const struct model *model, const char *what,
                         const struct dynamics_check *check, FILE *out)
{
    if (!check->simulated) {
        (void)fprintf(out, "\n%s: could not be simulated\n", what);
        return;
    }
    (void)fprintf(out, "\n  %-22s %10s %10s %8s %8s %8s %9s\n", what, "RMSE", "MAE", "R2",
                  "fit", "1 step", "residual");
    for (size_t a = 0; a < model->axis_count; a++) {
        const struct dynamics_axis_check *axis = &check->axis[a];
        char one_step[32] = "-";
        if (axis->one_step.n > 0) {
            (void)snprintf(one_step, sizeof one_step, "%.4f", axis->one_step.r2);
        }
        (void)fprintf(out, "  %-22s %10.4g %10.4g %8.4f %6.1f %% %8s %9s\n",
                      model->axes[a].velocity, axis->run.rmse, axis->run.mae, axis->run.r2,
                      axis->run.fit_percent, one_step, axis->run.white ? "white" : "not white");
    }
}

static void print_card(const struct model *model, const struct data_card *card, FILE *out)
{
    (void)fprintf(
        out,
        "\ndata: %zu rows, %zu samples in %zu run%s, %.4g Hz, %.4g s, jitter %.1f %%%s"
        "\n",
        card->rows, card->used, card->runs, card->runs == 1 ? "" : "s", card->rate_hz,
        card->duration_s, 100.0 * card->jitter_ratio,
        card->resampled ? ", put on an even grid" : "");
    (void)fprintf(
        out,
        "      %zu incomplete, %zu repeated, %zu back in time, %zu gaps (%zu bridged), "
        "%zu in pieces too short\n",
        card->incomplete, card->duplicates, card->back_rows, card->gaps, card->bridged,
        card->short_rows);
    (void)fprintf(out, "\n  %-22s %10s %10s %10s %10s %10s\n", "channel", "least", "most",
                  "noise", "step", "at limit");
    for (size_t a = 0; a < model->axis_count; a++) {
        const struct data_channel *c = &card->nu[a];
        (void)fprintf(out, "  %-22s %10.4g %10.4g %10.3g %10.3g %8.1f %%\n",
                      model->axes[a].velocity, c->min, c->max, c->noise_sd, c->quantum,
                      100.0 * c->saturation_ratio);
    }
    for (size_t a = 0; a < model->axis_count; a++) {
        const struct data_channel *c = &card->tau[a];
        (void)fprintf(out, "  %-22s %10.4g %10.4g %10s %10s %8.1f %%\n", model->axes[a].effort,
                      c->min, c->max, "", "", 100.0 * c->saturation_ratio);
    }
    for (size_t a = 0; a < model->axis_count; a++) {
        if (card->derived_window[a] > 0) {
            (void)printf("  %s is derived from %s over %zu samples\n", model->axes[a].velocity,
                         model->axes[a].pose, card->derived_window[a]);
        }
    }
}

void dynamics_page_print(const struct identify_result *result, FILE *out)
{
    const struct dynamics_fit *fit = &result->fit;
    const struct model *model = result->kind->model;
    (void)fprintf(out, "%s by %s: %s\n", model->name, dynamics_method_name(fit->method),
                  dynamics_verdict_name(fit->verdict));
    for (size_t i = 0; i < fit->reason_count; i++) {
        (void)fprintf(out, "  because %s\n", fit->reasons[i]);
    }
    for (size_t i = 0; i < fit->advice_count; i++) {
        (void)fprintf(out, "  advice: %s\n", fit->advice[i]);
    }
    print_parameters(result, out);
    print_derived(result, out);
    (void)fprintf(out, "\n  scaled condition number %.3g, %zu equations, rank %zu of %zu\n",
                  fit->condition, fit->rows, fit->rank, fit->p);
    if (isfinite(fit->delay_s)) {
        (void)fprintf(out, "  velocities follow the efforts by %.4g s, error %.2g s\n",
                      fit->delay_s, fit->delay_se_s);
    }
    print_scores(model, "simulated", &result->own, out);
    if (result->is_held_out) {
        print_scores(model, "held out, simulated", &result->held_out, out);
    }
    print_card(model, &result->card, out);
    for (size_t i = 0; i < result->file_count; i++) {
        (void)fprintf(out, "file: %s, %" PRIu64 " bytes, fnv1a %016" PRIx64 "\n",
                      result->files[i].name, result->files[i].mark.bytes,
                      result->files[i].mark.hash);
    }
}

static void write_files(struct json_writer *w, const char *key,
                        const struct identify_file *files, size_t count)
{
    json_write_array(w, key);
    for (size_t i = 0; i < count; i++) {
        char hash[17];
        (void)snprintf(hash, sizeof hash, "%016" PRIx64, files[i].mark.hash);
        json_write_object(w, NULL);
        json_write_text(w, "name", files[i].name);
        json_write_int(w, "bytes", (int64_t)files[i].mark.bytes);
        json_write_text(w, "fnv1a", hash);
        json_write_close(w);
    }
    json_write_close(w);
}

void dynamics_page_json(const struct identify_result *result, FILE *out)
{
    const struct model *model = result->kind->model;
    char text[4096];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, write_out, out);
    json_write_object(&w, NULL);
    dynamics_report_fit(&w, model, &result->fit);
    json_write_object(&w, "fit");
    dynamics_report_check(&w, model, &result->own);
    json_write_close(&w);
    if (result->is_held_out) {
        json_write_object(&w, "held_out");
        dynamics_report_check(&w, model, &result->held_out);
        json_write_object(&w, "data");
        dynamics_report_card(&w, model, &result->held_out_card);
        json_write_close(&w);
        json_write_close(&w);
    } else {
        json_write_null(&w, "held_out");
    }
    json_write_object(&w, "data");
    dynamics_report_card(&w, model, &result->card);
    json_write_close(&w);
    json_write_object(&w, "provenance");
    json_write_text(&w, "version", TANDEM_VERSION);
    json_write_bool(&w, "biases", result->fit.bias_count > 0);
    write_files(&w, "files", result->files, result->file_count);
    write_files(&w, "held_out", result->held_out_files, result->held_out_count);
    json_write_close(&w);
    json_write_close(&w);
    (void)json_write_end(&w);
    (void)fputc('\n', out);
}
