/* service/identify/dynamics_page.c - fits dynamics and writes the result as a page or as
 * JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/utf8.h"
#include "service/identify/estimate_page.h"
#include "service/identify/identify.h"
#include "service/identify/identify_dynamics.h"
#include "service/tool/version.h"
#include "twin/report/fit_report.h"

/* ---- for people ---- */

/* Some models treat joints and slides alike, so the page says which units hold. */
static void print_units(const struct model *model, FILE *out)
{
    if (model->sticks) {
        (void)fputs(
            "  units: of effort by motion, as recorded: N m and rad give kg m^2, N m s, "
            "N m;\n  N and m give kg, N s/m, N; volts or amperes stand for the effort\n",
            out);
    }
}

static void print_derived(FILE *out, const char *symbol, const char *name,
                          const struct dynamics_derived *derived)
{
    estimate_page_row(out, symbol, name, derived->value, derived->se, derived->lo, derived->hi,
                      "derived");
}

static void print_parameters(const struct identify_result *result, FILE *out)
{
    const struct dynamics_fit *fit = &result->fit;
    const struct model *model = result->kind->model;
    struct dynamics_derived derived;
    estimate_page_parameters(out, &fit->estimate);
    for (size_t i = 0; i < model->derived_count; i++) {
        dynamics_derive(fit, model, i, &derived);
        print_derived(out, model->derived[i].symbol, model->derived[i].name, &derived);
    }
    if (isfinite(fit->delay_s)) {
        dynamics_derive_delay(fit, &derived);
        estimate_page_row(out, "", "delay_s", derived.value, derived.se, derived.lo, derived.hi,
                          "");
    }
    for (size_t i = 0; i < model->derived_count; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s_with_delay", model->derived[i].name);
        if (dynamics_derive_with_delay(fit, model, i, &derived)) {
            print_derived(out, "", name, &derived);
        }
    }
    print_units(model, out);
}

/* Prints the noise that the prediction error method found besides parameters. */
static void print_noise(const struct identify_result *result, FILE *out)
{
    const struct dynamics_fit *fit = &result->fit;
    const struct model *model = result->kind->model;
    if (!isfinite(fit->force_time_s)) {
        return;
    }
    (void)fprintf(out, "\n  unmeasured forces, lasting %.3g s, and noise\n", fit->force_time_s);
    for (size_t a = 0; a < model->axis_count; a++) {
        (void)fprintf(out, "  %-31s %10.3g  %-20s %10.3g\n", model_force_name(model, a),
                      fit->force_sd[a], model->axes[a].velocity, fit->velocity_sd[a]);
    }
}

/* Prints how well the data support each parameter, and what moves it. */
static void print_support(const struct identify_result *result, FILE *out)
{
    const struct dynamics_fit *fit = &result->fit;
    const struct dynamics_sensitivity *s = &result->sensitivity;
    (void)fprintf(out, "\n  %-4s %10s %9s %12s %12s", "", "excitation", "its own",
                  s->known ? "half window" : "", s->known ? "double" : "");
    if (result->head.reference[0].given) {
        (void)fprintf(out, " %12s %8s", "in use", "z");
    }
    (void)fputc('\n', out);
    for (size_t i = 0; i < fit->estimate.p; i++) {
        (void)fprintf(out, "  %-4s", fit->estimate.symbol[i]);
        estimate_page_cell(out, 10, PAGE_DIGITS, 3, fit->regressor_rms[i]);
        estimate_page_cell(out, 7, PAGE_DECIMALS, 0, 100.0 * fit->independence_ratio[i]);
        (void)fputs(" %", out);
        for (size_t k = 0; k < SENSITIVITY_COUNT && s->known; k++) {
            estimate_page_cell(out, 9, PAGE_SIGNED, 2, s->shift[k][i]);
            (void)fputs(" se", out);
        }
        if (result->head.reference[0].given) {
            estimate_page_cell(out, 12, PAGE_DIGITS, 5,
                               result->head.reference[0].values.value[i]);
            estimate_page_cell(out, 8, PAGE_SIGNED, 2, result->comparison.values.z[i]);
        }
        (void)fputc('\n', out);
    }
    (void)fputs("  excitation: root mean square of what the parameter multiplies; its own: the "
                "part of it\n  outside the column space of the others\n",
                out);
    if (s->known) {
        (void)fprintf(out,
                      "  half window, double: by how many standard errors %s moves with a "
                      "window of %.3g\n  and %.3g s instead of %.3g s\n",
                      dynamics_method_name(s->method), s->other_s[SENSITIVITY_HALF],
                      s->other_s[SENSITIVITY_DOUBLE], s->window_s);
    }
}

static void print_score(const char *name, const char *kind, const struct residual_summary *s,
                        bool whiteness, FILE *out)
{
    (void)fprintf(out, "  %-20s %-10s %10.4g %10.4g", name, kind, s->rmse, s->mae);
    estimate_page_cell(out, 8, PAGE_DECIMALS, 4, s->r2);
    estimate_page_cell(out, 6, PAGE_DECIMALS, 1, s->fit_percent);
    (void)fputs(" %", out);
    /* Residuals between noisy samples are autocorrelated even for the best model, so whiteness
     * is only judged when simulated. */
    if (whiteness) {
        estimate_page_cell(out, 8, PAGE_DECIMALS, 2, s->correlation);
        estimate_page_cell(out, 7, PAGE_DECIMALS, 1, s->runs_z);
        estimate_page_cell(out, 9, PAGE_DIGITS, 2, s->ljung_box_p);
        (void)fputs(s->white ? "  white" : "  not white", out);
    }
    (void)fputc('\n', out);
}

static void print_scores(const struct model *model, const char *what,
                         const struct dynamics_check *check, FILE *out)
{
    (void)fprintf(out, "\n%s\n", what);
    if (isfinite(check->effort_r2)) {
        (void)fprintf(out, "  %-20s computed from the motion: R2 %.4f\n", model->axes[0].effort,
                      check->effort_r2);
    }
    if (!check->simulated) {
        (void)fputs("  could not be simulated\n", out);
        return;
    }
    (void)fprintf(out, "  %-20s %-10s %10s %10s %8s %8s %8s %7s %9s\n", "velocity", "predicted",
                  "RMSE", "MAE", "R2", "fit", "next", "runs z", "p");
    for (size_t a = 0; a < model->axis_count; a++) {
        print_score(model->axes[a].velocity, "simulated", &check->axis[a].run, true, out);
        print_score("", "one step", &check->axis[a].one_step, false, out);
    }
    for (size_t a = 0; a < model->axis_count; a++) {
        const struct dynamics_axis_check *axis = &check->axis[a];
        (void)fprintf(out,
                      "  %-20s %zu outliers; follows efforts by %.3f, noise alone stays below "
                      "%.3f\n",
                      model->axes[a].velocity, axis->outliers, axis->input_correlation,
                      axis->input_correlation_bound);
    }
}

/* Prints evidence against constant parameters, by each cut of the recording. */
static void print_parts(const struct identify_result *result, FILE *out)
{
    const struct stability *stability = &result->own.check.stability;
    if (!stability->tested) {
        return;
    }
    (void)fputs("\nparts of the recording, and what differs most between them (p: chance of as "
                "much where none does)\n",
                out);
    for (size_t i = 0; i < stability->count; i++) {
        const struct stability_test *test = &stability->tests[i];
        const bool effort = test->cut >= STABILITY_LEVEL;
        (void)fprintf(out, "  %-10s %-10s p %-8.2g %-24s", stability_cut_name(test->cut),
                      effort ? result->kind->model->axes[test->axis].effort : "", test->p,
                      result->fit.estimate.name[test->entry]);
        for (size_t part = 0; part < test->parts; part++) {
            (void)fprintf(out, " %10.4g +- %7.2g", test->value[part], test->se[part]);
        }
        (void)fputc('\n', out);
    }
    for (size_t a = 0; a < result->kind->model->axis_count; a++) {
        const struct stability_shape *shape = &stability->shape[a];
        if (isnan(shape->p)) {
            continue;
        }
        (void)fprintf(out, "  %-9s %-10s p %-8.2g %-24s", "shape",
                      result->kind->model->axes[a].effort, shape->p, "worth at -1 -1/3 1/3 1");
        for (size_t k = 0; k < STABILITY_WORTHS; k++) {
            estimate_page_cell(out, 11, PAGE_DIGITS, 4, shape->worth[k]);
        }
        (void)fputc('\n', out);
    }
}

/* Prints the parameter values that held-out data would ask for. */
static void print_asks(const struct identify_result *result, FILE *out)
{
    const struct stability *held = &result->held_out.check.stability;
    const struct estimate *e = &result->fit.estimate;
    if (!held->tested) {
        return;
    }
    (void)fprintf(out, "  asks for (p %.2g that it is the fit's)\n", held->moved_p);
    for (size_t i = 0; i < e->p; i++) {
        (void)fprintf(out, "  %-31s", e->name[i]);
        estimate_page_cell(out, 12, PAGE_DIGITS, 5, e->value[i] + held->moved[i]);
        (void)fputs(" +-", out);
        estimate_page_cell(out, 10, PAGE_DIGITS, 2, held->moved_se[i]);
        (void)fputc('\n', out);
    }
}

/* Prints which parameter set predicts the recording better, and whether the difference is
 * visible. */
static void print_comparison(const struct identify_result *result, FILE *out)
{
    const struct model *model = result->kind->model;
    const struct dynamics_comparison *c = &result->comparison;
    const size_t p = result->fit.estimate.p;
    size_t contradicted = c->values.contradicted[p] ? 1 : 0;
    size_t given = isfinite(result->head.reference[0].values.delay_s) ? 1 : 0;
    for (size_t i = 0; i < p; i++) {
        given += isfinite(result->head.reference[0].values.value[i]) ? 1 : 0;
        contradicted += c->values.contradicted[i] ? 1 : 0;
    }
    (void)fprintf(out,
                  "\nparameters in use: the recording contradicts %zu of the %zu given, %s "
                  "together (chi squared %.3g of %.0f, p %.2g)\n",
                  contradicted, given, c->values.contradicts ? "and all" : "not all",
                  c->values.statistic, c->values.df, c->values.p);
    if (isfinite(c->values.z[p])) {
        (void)fprintf(out, "  delay_s %.4g in use, z %+.2f%s\n",
                      result->head.reference[0].values.delay_s, c->values.z[p],
                      c->values.contradicted[p] ? ", contradicted" : "");
    }
    if (!c->simulated) {
        (void)fputs("  they, or those of the fit, cannot be simulated\n", out);
        return;
    }
    (void)fprintf(out, "  %-20s %14s %14s %14s\n", "RMSE, simulated", "fit to in use",
                  "fit to data", "in use to data");
    for (size_t a = 0; a < model->axis_count; a++) {
        (void)fprintf(out, "  %-20s %14.4g %14.4g %14.4g\n", model->axes[a].velocity,
                      c->effect_rmse[a], c->fit_rmse[a], c->reference_rmse[a]);
    }
}

static void print_journal(const struct dynamics_journal_summary *j, FILE *out)
{
    char pair[sizeof j->pair];
    (void)snprintf(pair, sizeof pair, "%s", j->pair);
    (void)fprintf(
        out, "      journal: pair %s, %" PRIu64 " samples in %" PRIu64 " lines, stamped by",
        utf8_tame(pair), j->samples, j->lines);
    for (int stamp = 0; stamp < JOURNAL_STAMP_COUNT; stamp++) {
        if (j->stamped[stamp] > 0) {
            (void)fprintf(out, " %s (%" PRIu64 ")",
                          journal_stamp_name((enum journal_stamp)stamp), j->stamped[stamp]);
        }
    }
    (void)fprintf(
        out,
        "\n      %" PRIu64 " restarts, %" PRIu64 " lost in %" PRIu64 " gaps of seq, %" PRIu64
        " repeated, %" PRIu64 " malformed, %" PRIu64 " lines unreadable\n",
        j->restarts, j->lost, j->sequence_gaps, j->repeated, j->malformed, j->unreadable);
    if (j->controlled > 0) {
        (void)fprintf(out,
                      "      efforts of %" PRIu64 " samples are those of virtual/control\n",
                      j->controlled);
    }
}

static void print_summary(const struct model *model, const char *what,
                          const struct identify_data *data, FILE *out)
{
    const struct data_summary *summary = &data->summary;
    (void)fprintf(out,
                  "\n%s: %zu rows, %zu samples in %zu run%s, %.4g Hz, %.4g s, jitter %.1f %%%s"
                  "\n",
                  what, summary->rows, summary->used, summary->runs,
                  summary->runs == 1 ? "" : "s", summary->rate_hz, summary->duration_s,
                  100.0 * summary->jitter_ratio,
                  summary->resampled ? ", put on an even grid" : "");
    (void)fprintf(
        out,
        "      %zu incomplete, %zu repeated, %zu back in time, %zu missing (%zu where an "
        "effort changed), %zu gaps (%zu bridged), %zu in pieces too short\n",
        summary->incomplete, summary->duplicates, summary->back_rows, summary->missing,
        summary->jumps, summary->gaps, summary->bridged, summary->short_rows);
    if (data->is_journal) {
        print_journal(&data->journal, out);
    }
    (void)fprintf(out, "  %-22s %10s %10s %10s %10s %10s %10s %10s\n", "channel", "least",
                  "most", "sd", "noise", "step", "repeats", "at limit");
    for (size_t a = 0; a < 2 * model->axis_count; a++) {
        const bool velocity = a < model->axis_count;
        const size_t at = velocity ? a : a - model->axis_count;
        const struct model_axis *axis = &model->axes[at];
        const struct data_channel *c = velocity ? &summary->nu[at] : &summary->tau[at];
        (void)fprintf(out, "  %-22s %10.4g %10.4g %10.4g",
                      velocity ? axis->velocity : axis->effort, c->min, c->max, c->sd);
        estimate_page_cell(out, 10, PAGE_DIGITS, 3, velocity ? c->noise_sd : (double)NAN);
        estimate_page_cell(out, 10, PAGE_DIGITS, 3, c->quantum);
        (void)fprintf(out, " %8.1f %% %8.1f %%\n", 100.0 * c->repeat_ratio,
                      100.0 * c->saturation_ratio);
    }
    identify_files_print(out, "  file ", &data->files);
}

/* Prints "width is 0.05, of 0.01 0.05 0.2". */
static void print_variants(const struct identify_result *result, FILE *out)
{
    const struct model_row *row = result->kind;
    if (result->variants.count == 0) {
        return;
    }
    (void)fprintf(out, "\n  %s is %g, of", row->variant, row->model->width);
    for (size_t k = 0; k < row->variant_count; k++) {
        (void)fprintf(out, " %g", row->variants[k].model->width);
    }
    (void)fputc('\n', out);
}

static void print_page(const void *what, FILE *out)
{
    const struct identify_result *result = what;
    const struct model *model = result->kind->model;
    const struct estimate *e = &result->fit.estimate;
    char equations[48];
    (void)fprintf(out, "%s by %s", model->name, dynamics_method_name(result->fit.method));
    estimate_page_verdict(out, e);
    print_parameters(result, out);
    if (result->turn_over_velocity > 0.0) {
        (void)fprintf(
            out,
            "\n  dry friction turns over within %g of rest (in the unit of the velocity)\n",
            result->turn_over_velocity);
    }
    print_variants(result, out);
    if (result->tuned.width > 0.0) {
        (void)fprintf(out,
                      "\n  dry friction is that of two wheels, each %.3g m from the middle\n",
                      result->tuned.width);
    } else if (result->tuned.name) {
        (void)fputs(
            "\n  dry friction of driving and of turning are taken apart: no distance of two "
            "wheels explains more\n",
            out);
    }
    print_noise(result, out);
    print_support(result, out);
    estimate_page_correlation(out, e);
    (void)snprintf(equations, sizeof equations, ", %zu equations", result->fit.rows);
    estimate_page_rank(out, e, equations);
    print_scores(model, "on the recording itself", &result->own.check, out);
    if (result->head.is_held_out) {
        print_scores(model, "on held-out data", &result->held_out.check, out);
    }
    (void)fputs(
        "  next: correlation of one residual with the next; runs z, p: of signs, and of "
        "Ljung and Box\n",
        out);
    if (result->head.is_held_out) {
        print_asks(result, out);
    }
    print_parts(result, out);
    if (result->head.reference[0].given) {
        print_comparison(result, out);
    }
    print_summary(model, "data", &result->own, out);
    if (result->head.is_held_out) {
        print_summary(model, "held out", &result->held_out, out);
    }
    (void)fprintf(out, "\ntandem %s, method %s\n", TANDEM_VERSION, result->asked);
}

/* ---- JSON ---- */

#define JOURNAL(field) JSON_MEMBER(struct dynamics_journal_summary, field)
static const struct json_member journal_members[] = {
    JOURNAL(pair),    JOURNAL(lines),    JOURNAL(unreadable), JOURNAL(malformed),
    JOURNAL(samples), JOURNAL(others),   JOURNAL(restarts),   JOURNAL(sequence_gaps),
    JOURNAL(lost),    JOURNAL(repeated), JOURNAL(controlled)};

static void write_summary(struct json_writer *w, const struct model *model,
                          const struct identify_data *data)
{
    json_write_object(w, "data");
    dynamics_report_summary(w, model, &data->summary);
    if (json_write_known(w, "journal", data->is_journal)) {
        json_write_members(w, journal_members, COUNT(journal_members), &data->journal);
        json_write_counts(w, "stamped", &journal_stamp_names, data->journal.stamped);
        json_write_close(w);
    }
    json_write_close(w);
}

static void write_held_out(struct json_writer *w, const struct model *model,
                           const struct estimate *estimate, const struct identify_data *data)
{
    if (json_write_known(w, "held_out", data->files.count > 0)) {
        dynamics_report_check(w, model, estimate, &data->check);
        dynamics_report_asks(w, estimate, &data->check.stability);
        write_summary(w, model, data);
        json_write_close(w);
    }
}

static void write_provenance(struct json_writer *w, const struct identify_result *result)
{
    identify_open_provenance(w);
    json_write_object(w, "options");
    json_write_text(w, "method", result->asked);
    json_write_text(w, "hold", names_text(&input_interpolation_names, result->hold.hold));
    json_write_real(w, "turn_over_velocity",
                    result->turn_over_velocity > 0.0 ? result->turn_over_velocity
                                                     : (double)NAN);
    json_write_text(w, "variant", result->variants.count > 0 ? result->kind->variant : NULL);
    json_write_real(w, "variant_value",
                    result->variants.count > 0 ? result->kind->model->width : (double)NAN);
    json_write_real(w, "half_track_m", result->tuned.name ? result->tuned.width : (double)NAN);
    dynamics_report_options(w, &result->options);
    json_write_close(w);
    identify_close_provenance(w, &result->own.files, &result->held_out.files);
}

static void write_members(const void *what, struct json_writer *w)
{
    const struct identify_result *result = what;
    const struct model *model = result->kind->model;
    dynamics_report_fit(w, model, &result->fit);
    json_write_object(w, "fit");
    dynamics_report_check(w, model, &result->fit.estimate, &result->own.check);
    json_write_close(w);
    write_held_out(w, model, &result->fit.estimate, &result->held_out);
    dynamics_report_sensitivity(w, &result->fit.estimate, &result->sensitivity);
    dynamics_report_comparison(w, model, &result->fit.estimate,
                               &result->head.reference[0].values,
                               result->head.reference[0].given ? &result->comparison : NULL);
    write_summary(w, model, &result->own);
    write_provenance(w, result);
}

const struct identify_method identify_dynamics = {.bytes = sizeof(struct identify_result),
                                                  .name = identify_dynamics_name,
                                                  .check = identify_dynamics_check,
                                                  .derive = identify_dynamics_derive,
                                                  .describe = identify_dynamics_describe,
                                                  .load = identify_dynamics_load,
                                                  .fit = identify_dynamics_fit,
                                                  .judge = identify_dynamics_judge,
                                                  .write = write_members,
                                                  .print = print_page,
                                                  .release = identify_result_free};
