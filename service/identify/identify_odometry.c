/* service/identify/identify_odometry.c - tandem identify --model odometry: wheel radii, track
 * and the mounting of a pose sensor. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "identification/odometry/odometry.h"
#include "service/identify/estimate_page.h"
#include "service/identify/identify.h"
#include "service/identify/parameters_in_use.h"
#include "service/identify/table_rows.h"
#include "twin/report/fit_report.h"

enum { CHANNELS = 6, NAMES = 4, ROWS_MAX = 20000000 };

/* Names that each channel may have without --columns. */
static const char *const names[CHANNELS][NAMES] = {
    {"t", "t_s", NULL},
    {"wheel_left", "wheel_left_rad", NULL},
    {"wheel_right", "wheel_right_rad", NULL},
    {"x", "x_m", "cam_x_m", NULL},
    {"y", "y_m", "cam_y_m", NULL},
    {"theta", "theta_rad", "cam_theta_rad", NULL},
};

_Static_assert(IDENTIFY_FILES_MAX <= (int)ODOMETRY_RUNS_MAX, "a run for each file");

static const struct table_form form = {CHANNELS, names[0], NAMES, ROWS_MAX};

struct result {
    struct identify_head head;
    struct odometry_set set, held_out_set;
    struct odometry_fit fit;
    struct odometry_summary summary, held_out_summary;
    bool is_held_out; /* the two members for held-out data are valid */
    struct odometry_check held_out;
    double heading_m;
    struct reference_check reference;
    struct identify_files files, held_out_files;
};

static enum status make_set(const struct table_rows *rows, struct odometry_set *set,
                            struct odometry_summary *summary, struct err *err)
{
    const struct table_channel *channel = rows->table.channel;
    struct odometry_raw raw = {.n = rows->table.count,
                               .t_s = channel[0].values,
                               .wheel_left_rad = channel[1].values,
                               .wheel_right_rad = channel[2].values,
                               .x_m = channel[3].values,
                               .y_m = channel[4].values,
                               .theta_rad = channel[5].values,
                               .part_count = rows->part_count};
    memcpy(raw.part_start, rows->part_start, (raw.part_count + 1) * sizeof *raw.part_start);
    const enum status st = odometry_set_make(&raw, set, summary, err);
    set->heading_m = rows->request->heading_m;
    return st;
}

/* The rows are freed before the fit begins. */
static enum status load_rows(const struct identify_request *request, bool held_out,
                             struct identify_files *files, struct odometry_summary *summary,
                             struct odometry_set *set, struct err *err)
{
    struct table_rows rows;
    enum status st = table_rows_read(request, &form, held_out, &rows, files, err);
    st = st == STATUS_OK ? make_set(&rows, set, summary, err) : st;
    table_free(&rows.table);
    return st;
}

/* Names that --reference accepts. */
static struct parameters_in_use_form name_references(struct odometry_fit *named)
{
    odometry_fit_start(named);
    return (struct parameters_in_use_form){"odometry", {&named->estimate}, false};
}

static enum status check_request(const struct model_row *row,
                                 const struct identify_request *request, struct err *err)
{
    struct odometry_fit named;
    const struct parameters_in_use_form known = name_references(&named);
    (void)row;
    return parameters_in_use_check(request->reference, &known, err);
}

static enum status read_request(const struct identify_request *request, void *what,
                                struct err *err)
{
    struct result *result = what;
    const struct parameters_in_use_form known = name_references(&result->fit);
    enum status st =
        parameters_in_use_read(request->reference, &known, &result->reference, err);
    result->heading_m = request->heading_m;
    st = st == STATUS_OK
             ? load_rows(request, false, &result->files, &result->summary, &result->set, err)
             : st;
    if (st == STATUS_OK && request->validate_count > 0) {
        st = load_rows(request, true, &result->held_out_files, &result->held_out_summary,
                       &result->held_out_set, err);
        identify_blame_held_out(request, st, err);
    }
    return st;
}

static enum status fit_data(void *what, struct err *err)
{
    struct result *result = what;
    enum status st = identify_ask_on(&result->head.caller, "fitting", 0.8, err);
    if (st != STATUS_OK) {
        return st;
    }
    st = odometry_fit_run(&result->set, &result->summary, &result->fit);
    if (st != STATUS_OK) {
        return err_set(err, st, FAULT_FIT_FAILED, "data", "the fit failed: %s",
                       status_name(st));
    }
    if (result->head.doubts) {
        odometry_judge_units(&result->fit, &result->summary);
    }
    return st;
}

static enum status hold_out(struct result *result, struct err *err)
{
    const enum status st = odometry_check_run(&result->held_out_set, result->fit.estimate.value,
                                              &result->held_out);
    if (st == STATUS_OK) {
        result->is_held_out = true;
        odometry_judge_held_out(&result->fit, &result->held_out);
    }
    /* Undetermined parameters predict nothing, and the verdict says so. */
    return st == STATUS_OK || st == STATUS_E_ARG
               ? STATUS_OK
               : err_set(err, st, FAULT_FIT_FAILED, "data", "the check failed: %s",
                         status_name(st));
}

static enum status judge_fit(void *what, struct err *err)
{
    struct result *result = what;
    const enum status st = result->held_out_files.count > 0 ? hold_out(result, err) : STATUS_OK;
    if (st == STATUS_OK) {
        identify_conclude(&result->head, &result->fit.estimate, &result->reference);
    }
    return st;
}

static void release_result(void *what)
{
    struct result *result = what;
    odometry_set_free(&result->set);
    odometry_set_free(&result->held_out_set);
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
        odometry_report_summary(w, &result->held_out_summary);
        json_write_close(w);
        json_write_close(w);
    }
    parameters_in_use_write(w, &result->fit.estimate, &result->reference);
    json_write_object(w, "data");
    odometry_report_summary(w, &result->summary);
    json_write_close(w);
    identify_open_provenance(w);
    json_write_real(w, "heading_m", result->heading_m);
    identify_close_provenance(w, &result->files, &result->held_out_files);
}

static void print_check(const char *what, const struct odometry_check *check, FILE *out)
{
    (void)fprintf(out,
                  "  %-10s %6zu poses, %.4g m: position RMSE %.4g m (R2 %.4f), at most %.3g m "
                  "off; heading RMSE %.4g rad (R2 %.4f)\n",
                  what, check->poses, check->path_m, check->position_rmse_m, check->position_r2,
                  check->position_max_m, check->heading_rmse_rad, check->heading_r2);
}

static void print_summary(const struct odometry_summary *summary, FILE *out)
{
    (void)fprintf(
        out,
        "\ndata: %zu rows, %zu poses in %zu run%s, %.4g Hz, %.4g s, turned %.3g rad left "
        "and %.3g rad right\n",
        summary->rows, summary->poses, summary->runs, summary->runs == 1 ? "" : "s",
        summary->rate_hz, summary->duration_s, summary->turn_left_rad, summary->turn_right_rad);
    (void)fprintf(
        out,
        "      %zu incomplete, %zu without a pose, %zu with an old one, %zu repeated, "
        "%zu back in time, %zu gaps, %zu cuts, %zu in pieces too short\n",
        summary->incomplete, summary->pose_missing, summary->stale, summary->duplicates,
        summary->back_rows, summary->gaps, summary->cuts, summary->short_rows);
}

static void print_page(const void *what, FILE *out)
{
    const struct result *result = what;
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
    parameters_in_use_print(out, e, &result->reference);
    (void)snprintf(jumps, sizeof jumps, ", %zu poses skipped because they jump", fit->outliers);
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
    print_summary(&result->summary, out);
    identify_files_print(out, "file: ", &result->files);
}

const struct identify_method identify_odometry = {.bytes = sizeof(struct result),
                                                  .check = check_request,
                                                  .read = read_request,
                                                  .fit = fit_data,
                                                  .judge = judge_fit,
                                                  .write = write_members,
                                                  .print = print_page,
                                                  .release = release_result};
