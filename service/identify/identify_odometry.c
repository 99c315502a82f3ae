/* service/identify/identify_odometry.c - tandem identify --model odometry: wheel radii, track
 * and the mounting of a pose sensor. */
#include <stdio.h>
#include <string.h>

#include "identification/fit/column_check.h"
#include "identification/odometry/odometry.h"
#include "service/identify/estimate_page.h"
#include "service/identify/identify.h"
#include "service/identify/parameters_in_use.h"
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

struct result {
    struct identify_head head;
    struct odometry_set set, held_out_set;
    struct odometry_fit fit;
    struct odometry_summary summary, held_out_summary;
    bool is_checked; /* held_out is valid */
    struct odometry_check held_out;
};

static enum status make_set(const struct table_rows *rows, bool held_out, void *what,
                            struct err *err)
{
    struct result *result = what;
    struct odometry_set *set = held_out ? &result->held_out_set : &result->set;
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
    const enum status st = odometry_set_make(
        &raw, set, held_out ? &result->held_out_summary : &result->summary, err);
    set->heading_m = rows->request->heading_m;
    return st;
}

static const struct table_form form = {CHANNELS, names[0], NAMES, ROWS_MAX, make_set};

static struct parameters_in_use_form name_parameters(void *what)
{
    struct odometry_fit *fit = &((struct result *)what)->fit;
    odometry_fit_start(fit);
    return (struct parameters_in_use_form){"odometry", {&fit->estimate}, false};
}

static enum status fit_data(void *what, struct err *err)
{
    struct result *result = what;
    const struct odometry_set *set = &result->set;
    enum status st = odometry_fit_run(&result->set, &result->summary, &result->fit);
    const struct copied_values values[] = {{set->x_m, 1, result->fit.noise_m},
                                           {set->y_m, 1, result->fit.noise_m}};
    st = st == STATUS_OK
             ? copied_values_judge(&result->fit.estimate, values, COUNT(values), set->n)
             : st;
    if (st == STATUS_OK && result->head.doubts) {
        odometry_judge_units(&result->fit, &result->summary);
    }
    return identify_fail(st, "data", "fit", err);
}

static enum status hold_out(void *what, struct err *err)
{
    struct result *result = what;
    const enum status st = odometry_check_run(&result->held_out_set, result->fit.estimate.value,
                                              &result->held_out);
    result->is_checked = st == STATUS_OK;
    if (result->is_checked) {
        odometry_judge_held_out(&result->fit, &result->held_out);
    }
    /* Undetermined parameters predict nothing, and the verdict says so. */
    return identify_fail(st == STATUS_E_ARG ? STATUS_OK : st, "data", "check", err);
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
    JSON_BLOCK(w, "held_out", result->is_checked) {
        odometry_report_check(w, &result->held_out);
        odometry_report_summary(w, "data", &result->held_out_summary);
    }
    parameters_in_use_write(w, &result->fit.estimate, &result->head.reference[0]);
    odometry_report_summary(w, "data", &result->summary);
}

static void write_options(const void *what, struct json_writer *w)
{
    json_write_real(w, "heading_m", ((const struct result *)what)->set.heading_m);
}

static bool describe_path(const void *what, char *text, size_t bytes)
{
    const struct result *result = what;
    (void)snprintf(text, bytes, "%.3g m, turned %.3g rad left and %.3g rad right",
                   result->fit.own.path_m, result->summary.turn_left_rad,
                   result->summary.turn_right_rad);
    return true;
}

static void print_page(const void *what, FILE *out)
{
    const struct odometry_fit *fit = &((const struct result *)what)->fit;
    (void)fprintf(out, "odometry of %zu poses in %zu run%s", fit->n, fit->runs,
                  fit->runs == 1 ? "" : "s");
    estimate_page_print(out, &fit->estimate);
}

const struct identify_method identify_odometry = {.bytes = sizeof(struct result),
                                                  .name = name_parameters,
                                                  .describe = describe_path,
                                                  .form = &form,
                                                  .fit = fit_data,
                                                  .hold_out = hold_out,
                                                  .write = write_members,
                                                  .write_options = write_options,
                                                  .print = print_page,
                                                  .release = release_result};
