/* service/identify/identify_position_servo.c - tandem identify --model position_servo: loop,
 * friction and delay of a servo from commanded and measured positions. */
#include <string.h>

#include "identification/servo/servo_fit.h"
#include "service/identify/estimate_page.h"
#include "service/identify/identify.h"
#include "twin/report/servo_report.h"

enum { CHANNELS = 3, NAMES = 4, ROWS_MAX = 2000000 };

/* Names that each channel may have without --columns. */
static const char *const names[CHANNELS][NAMES] = {
    {"t", "t_s", NULL},
    {"command", "command_rad", NULL},
    {"position", "position_rad", NULL},
};

_Static_assert(IDENTIFY_FILES_MAX <= (int)SERVO_RUNS_MAX, "a run for each file");

struct result {
    struct identify_head head;
    struct servo_set set, held_out_set;
    struct servo_summary summary, held_out_summary;
    struct servo_fit fit;
    bool is_checked; /* held_out is valid */
    struct servo_check held_out;
};

static enum status make_set(const struct table_rows *rows, bool held_out, void *what,
                            struct err *err)
{
    struct result *result = what;
    const struct table_channel *channel = rows->table.channel;
    struct servo_raw raw = {.n = rows->table.count,
                            .t_s = channel[0].values,
                            .command_rad = channel[1].values,
                            .position_rad = channel[2].values,
                            .part_count = rows->part_count};
    memcpy(raw.part_start, rows->part_start, (raw.part_count + 1) * sizeof *raw.part_start);
    return servo_set_make(&raw, held_out ? &result->held_out_set : &result->set,
                          held_out ? &result->held_out_summary : &result->summary, err);
}

static const struct table_form form = {CHANNELS, names[0], NAMES, ROWS_MAX, make_set};

static struct parameters_in_use_form name_parameters(void *what)
{
    struct servo_fit *fit = &((struct result *)what)->fit;
    servo_fit_start(fit);
    return (struct parameters_in_use_form){"position_servo", {&fit->estimate}, false};
}

static enum status fit_data(void *what, struct err *err)
{
    struct result *result = what;
    const enum status st = servo_fit_run(&result->set, &result->summary, &result->fit);
    if (st == STATUS_OK && result->head.doubts) {
        servo_judge_units(&result->fit, &result->summary);
    }
    return identify_fail(st, "data", "fit", err);
}

static enum status hold_out(void *what, struct err *err)
{
    struct result *result = what;
    const enum status st =
        servo_check_run(&result->held_out_set, &result->fit, &result->held_out);
    result->is_checked = st == STATUS_OK;
    if (result->is_checked) {
        servo_judge_held_out(&result->fit, &result->held_out);
    }
    /* Undetermined parameters predict nothing, and the verdict says so. */
    return identify_fail(st == STATUS_E_ARG ? STATUS_OK : st, "data", "check", err);
}

static void release_result(void *what)
{
    struct result *result = what;
    servo_set_free(&result->set);
    servo_set_free(&result->held_out_set);
}

static void write_members(const void *what, struct json_writer *w)
{
    const struct result *result = what;
    servo_report_fit(w, &result->fit);
    json_write_object(w, "fit");
    servo_report_check(w, &result->fit.own);
    json_write_close(w);
    JSON_BLOCK(w, "held_out", result->is_checked) {
        servo_report_check(w, &result->held_out);
        servo_report_summary(w, "data", &result->held_out_summary);
    }
    parameters_in_use_write(w, &result->fit.estimate, &result->head.reference[0]);
    servo_report_summary(w, "data", &result->summary);
}

/* One value of the command determines nothing. */
static bool describe_commands(const void *what, char *text, size_t bytes)
{
    const struct servo_summary *data = &((const struct result *)what)->summary;
    (void)snprintf(text, bytes, "commands of %.3g .. %.3g rad, %.4g s", data->command_min_rad,
                   data->command_max_rad, data->duration_s);
    return data->command_max_rad > data->command_min_rad;
}

static void print_page(const void *what, FILE *out)
{
    const struct servo_fit *fit = &((const struct result *)what)->fit;
    (void)fprintf(out, "servo from %zu positions in %zu run%s", fit->n, fit->runs,
                  fit->runs == 1 ? "" : "s");
    estimate_page_print(out, &fit->estimate);
}

const struct identify_method identify_position_servo = {.bytes = sizeof(struct result),
                                                        .name = name_parameters,
                                                        .form = &form,
                                                        .describe = describe_commands,
                                                        .fit = fit_data,
                                                        .hold_out = hold_out,
                                                        .write = write_members,
                                                        .print = print_page,
                                                        .release = release_result};
