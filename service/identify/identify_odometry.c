/* tandem identify --model odometry: wheel radii, track and the mounting of a pose sensor. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "identification/odometry/odometry.h"
#include "service/cli/json_file.h"
#include "service/cli/version.h"
#include "service/identify/current_parameters.h"
#include "service/identify/estimate_page.h"
#include "service/identify/identify.h"
#include "twin/report/fit_report.h"

enum { CHANNELS = 6, NAMES = 4, ROWS_MAX = 20000000 };

/* What each channel may be called, where --columns does not say. */
static const char *const names[CHANNELS][NAMES] = {
    {"t", "t_s", NULL},
    {"wheel_left", "wheel_left_rad", NULL},
    {"wheel_right", "wheel_right_rad", NULL},
    {"x", "x_m", "cam_x_m", NULL},
    {"y", "y_m", "cam_y_m", NULL},
    {"theta", "theta_rad", "cam_theta_rad", NULL},
};

_Static_assert(IDENTIFY_FILES_MAX <= (int)ODOMETRY_RUNS_MAX, "a run for each file");

/* Reading is most of the work. */
static const double READING_SHARE = 0.7;

struct rows_in {
    const struct identify_request *request;
    struct table table;
    struct odometry_raw raw;
};

struct result {
    struct odometry_fit fit;
    struct odometry_card card, held_out_card;
    bool is_held_out; /* card above and check below are valid */
    struct odometry_check held_out;
    double heading_m;
    struct current_values current;
    bool is_compared; /* with them; comparison is valid */
    struct current_comparison comparison;
    struct identify_files files, held_out_files;
};

static bool tell_reading(void *context, uint64_t done, uint64_t total)
{
    return identify_go_on(((const struct rows_in *)context)->request, READING_SHARE, done,
                          total);
}

static enum status read_inputs(struct rows_in *in, const struct csv_source *inputs,
                               size_t count, struct identify_files *files, struct err *err)
{
    struct table *table = &in->table;
    table->channels = CHANNELS;
    table->rows_max = ROWS_MAX;
    table->go_on = tell_reading;
    table->context = in;
    for (size_t c = 0; c < CHANNELS; c++) {
        table->channel[c].names = names[c];
        table->channel[c].given = identify_column(in->request, names[c][0]);
    }
    const enum status st =
        identify_read_tables(table, inputs, count, in->raw.part_start, files, err);
    if (st != STATUS_OK) {
        return st;
    }
    in->raw.part_count = count;
    in->raw.n = table->count;
    in->raw.t_s = table->channel[0].values;
    in->raw.wheel_left_rad = table->channel[1].values;
    in->raw.wheel_right_rad = table->channel[2].values;
    in->raw.x_m = table->channel[3].values;
    in->raw.y_m = table->channel[4].values;
    in->raw.theta_rad = table->channel[5].values;
    return STATUS_OK;
}

/* The rows are given back before the fit begins. */
static enum status load_rows(const struct identify_request *request,
                             const struct csv_source *inputs, size_t count,
                             struct identify_files *files, struct odometry_card *card,
                             struct odometry_set *set, struct err *err)
{
    struct rows_in *in = calloc(1, sizeof *in);
    if (!in) {
        return err_set(err, STATUS_E_NOMEM, "data", 0, 0, "no memory");
    }
    in->request = request;
    enum status st = read_inputs(in, inputs, count, files, err);
    if (st == STATUS_OK) {
        st = odometry_set_make(&in->raw, set, card, err);
        set->heading_m = request->heading_m;
    }
    table_free(&in->table);
    free(in);
    return st;
}

static enum status hold_out(const struct identify_request *request, struct result *result,
                            struct err *err)
{
    struct odometry_set set;
    enum status st = load_rows(request, request->validate, request->validate_count,
                               &result->held_out_files, &result->held_out_card, &set, err);
    if (st != STATUS_OK) {
        identify_blame_held_out(request, err);
        return st;
    }
    st = odometry_check_run(&set, result->fit.estimate.value, &result->held_out);
    odometry_set_free(&set);
    if (st == STATUS_OK) {
        result->is_held_out = true;
        odometry_judge_held_out(&result->fit, &result->held_out);
    }
    /* Parameters that are not known foretell nothing, and the verdict says so. */
    return st == STATUS_OK || st == STATUS_E_ARG
               ? STATUS_OK
               : err_set(err, st, "data", 0, 0, "the check failed: %s", status_name(st));
}

static enum status fit_inputs(const struct identify_request *request, struct result *result,
                              struct err *err)
{
    struct odometry_set set;
    result->heading_m = request->heading_m;
    enum status st = load_rows(request, request->files, request->file_count, &result->files,
                               &result->card, &set, err);
    if (st != STATUS_OK) {
        return st;
    }
    if (request->go_on && !request->go_on(request->context, "fitting", 0.8)) {
        odometry_set_free(&set);
        return err_set(err, STATUS_E_STALE, "identify", 0, 0, "cancelled");
    }
    st = odometry_fit_run(&set, &result->card, &result->fit);
    odometry_set_free(&set);
    if (st != STATUS_OK) {
        return err_set(err, st, "data", 0, 0, "the fit failed: %s", status_name(st));
    }
    if (identify_doubts(request)) {
        odometry_judge_units(&result->fit, &result->card);
    }
    return request->validate_count > 0 ? hold_out(request, result, err) : STATUS_OK;
}

/* What --current can name. */
static struct current_form name_current(struct odometry_fit *named)
{
    odometry_fit_start(named);
    return (struct current_form){"odometry", &named->estimate, false};
}

enum status identify_odometry_check(const struct model_row *row,
                                    const struct identify_request *request, struct err *err)
{
    struct odometry_fit named;
    const struct current_form form = name_current(&named);
    (void)row;
    return current_parameters_check(request->current, &form, err);
}

/* Fitted, held against the parameters in use, and with advice. */
static enum status find_result(const struct identify_request *request, struct result *result,
                               struct err *err)
{
    struct estimate *e = &result->fit.estimate;
    enum status st = STATUS_OK;
    if (request->current) {
        const struct current_form form = name_current(&result->fit);
        result->is_compared = true;
        st = current_parameters_read(request->current, &form, &result->current, err);
    }
    st = st == STATUS_OK ? fit_inputs(request, result, err) : st;
    if (st == STATUS_OK && result->is_compared) {
        current_compare(e, &result->current, &result->comparison);
        current_judge(e, "odometry", e, &result->current, &result->comparison);
    }
    if (st == STATUS_OK) {
        estimate_advise_worst(e);
    }
    return st;
}

static void write_members(const void *what, struct json_writer *w)
{
    const struct result *result = what;
    odometry_report_fit(w, &result->fit);
    json_write_object(w, "fit");
    odometry_report_check(w, &result->fit.own);
    json_write_close(w);
    if (json_write_known(w, "held_out", result->is_held_out)) {
        odometry_report_check(w, &result->held_out);
        json_write_object(w, "data");
        odometry_report_card(w, &result->held_out_card);
        json_write_close(w);
        json_write_close(w);
    }
    current_report(w, &result->fit.estimate, &result->current,
                   result->is_compared ? &result->comparison : NULL);
    json_write_object(w, "data");
    odometry_report_card(w, &result->card);
    json_write_close(w);
    json_write_object(w, "provenance");
    json_write_text(w, "version", TANDEM_VERSION);
    json_write_real(w, "heading_m", result->heading_m);
    identify_files_json(w, "files", &result->files);
    identify_files_json(w, "held_out", &result->held_out_files);
    json_write_close(w);
}

static void print_check(const char *what, const struct odometry_check *check, FILE *out)
{
    (void)fprintf(out,
                  "  %-10s %6zu poses, %.4g m: position RMSE %.4g m (R2 %.4f), at most %.3g m "
                  "off; heading RMSE %.4g rad (R2 %.4f)\n",
                  what, check->poses, check->path_m, check->position_rmse_m, check->position_r2,
                  check->position_max_m, check->heading_rmse_rad, check->heading_r2);
}

static void print_card(const struct odometry_card *card, FILE *out)
{
    (void)fprintf(
        out,
        "\ndata: %zu rows, %zu poses in %zu run%s, %.4g Hz, %.4g s, turned %.3g rad left "
        "and %.3g rad right\n",
        card->rows, card->poses, card->runs, card->runs == 1 ? "" : "s", card->rate_hz,
        card->duration_s, card->turn_left_rad, card->turn_right_rad);
    (void)fprintf(
        out,
        "      %zu incomplete, %zu without a pose, %zu with an old one, %zu repeated, "
        "%zu back in time, %zu gaps, %zu cuts, %zu in pieces too short\n",
        card->incomplete, card->pose_missing, card->stale, card->duplicates, card->back_rows,
        card->gaps, card->cuts, card->short_rows);
}

static void print_page(const struct result *result, FILE *out)
{
    const struct odometry_fit *fit = &result->fit;
    const struct estimate *e = &fit->estimate;
    char jumps[64];
    (void)fprintf(out, "odometry of %zu poses in %zu run%s: %s\n", fit->n, fit->runs,
                  fit->runs == 1 ? "" : "s", estimate_verdict_name(fit->estimate.verdict));
    estimate_page_verdict(out, e);
    estimate_page_head(out);
    for (size_t i = 0; i < e->p; i++) {
        estimate_page_parameter(out, e, i, "");
    }
    estimate_page_correlation(out, e);
    if (result->is_compared) {
        estimate_page_current(out, e, &result->current, &result->comparison);
    }
    (void)snprintf(jumps, sizeof jumps, ", %zu poses left out as they jump", fit->outliers);
    estimate_page_rank(out, e, jumps);
    (void)fprintf(
        out,
        "  noise of a pose %.3g m, %.3g rad; slip after 1 m of the wheels %.3g m, %.3g "
        "rad\n\n",
        fit->noise_m, fit->noise_rad, fit->slip_m, fit->slip_rad);
    print_check("fit", &fit->own, out);
    if (result->is_held_out) {
        print_check("held out", &result->held_out, out);
    }
    print_card(&result->card, out);
    identify_files_print(out, "file: ", &result->files);
}

enum status identify_odometry(const struct model_row *row,
                              const struct identify_request *request, FILE *out,
                              struct err *err)
{
    (void)row;
    struct result *result = calloc(1, sizeof *result);
    if (!result) {
        return err_set(err, STATUS_E_NOMEM, "identify", 0, 0, "no memory");
    }
    const enum status st = find_result(request, result, err);
    if (st == STATUS_OK && request->json) {
        json_file_print(out, write_members, result);
    } else if (st == STATUS_OK) {
        print_page(result, out);
    }
    if (st == STATUS_OK) {
        identify_tell(request, &result->fit.estimate, result->comparison.contradicts);
    }
    free(result);
    return st;
}
