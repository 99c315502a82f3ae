/* tandem identify --model arm_friction: inertia, friction and gravity of an arm's joints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "identification/arm/arm_friction.h"
#include "service/cli/json_file.h"
#include "service/cli/version.h"
#include "service/identify/estimate_page.h"
#include "service/identify/identify.h"
#include "twin/report/arm_report.h"

enum { CHANNELS = 1 + 3 * ARM_JOINTS, NAMES = 6, ROWS_MAX = 4000000 };

/* What each channel may be called, where --columns does not say. */
#define JOINT(letter, unit, n, rtde)                                                           \
    {                                                                                          \
        letter #n, letter #n "_" unit, letter #n "_actual_" unit, rtde, NULL                   \
    }
#define ANGLE(n, at)   JOINT("q", "rad", n, "actual_q_" #at)
#define SPEED(n, at)   JOINT("qd", "radps", n, "actual_qd_" #at)
#define CURRENT(n, at) JOINT("i", "a", n, "actual_current_" #at)
static const char *const names[CHANNELS][NAMES] = {
    {"t", "t_s", "timestamp", NULL},
    ANGLE(1, 0),
    ANGLE(2, 1),
    ANGLE(3, 2),
    ANGLE(4, 3),
    ANGLE(5, 4),
    ANGLE(6, 5),
    SPEED(1, 0),
    SPEED(2, 1),
    SPEED(3, 2),
    SPEED(4, 3),
    SPEED(5, 4),
    SPEED(6, 5),
    CURRENT(1, 0),
    CURRENT(2, 1),
    CURRENT(3, 2),
    CURRENT(4, 3),
    CURRENT(5, 4),
    CURRENT(6, 5),
};

static const double READING_SHARE = 0.7;

struct rows_in {
    const struct identify_request *request;
    struct table table;
    size_t part_start[IDENTIFY_FILES_MAX + 1];
};

struct result {
    struct arm_friction_fit fit;
    struct arm_friction_card card, held_out_card;
    struct identify_files files, held_out_files;
};

static bool tell_reading(void *context, uint64_t done, uint64_t total)
{
    return identify_go_on(((const struct rows_in *)context)->request, READING_SHARE, done,
                          total);
}

static enum status make_set(const struct rows_in *in, size_t parts,
                            struct arm_friction_set *set, struct arm_friction_card *card,
                            struct err *err)
{
    struct arm_friction_raw raw = {.n = in->table.count,
                                   .part_count = parts,
                                   .part_start = in->part_start,
                                   .t_s = in->table.channel[0].values};
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        raw.q_rad[j] = in->table.channel[1 + j].values;
        raw.qd_radps[j] = in->table.channel[1 + ARM_JOINTS + j].values;
        raw.current_a[j] = in->table.channel[1 + 2 * ARM_JOINTS + j].values;
    }
    return arm_friction_set_make(&raw, set, card, err);
}

static enum status load_rows(const struct identify_request *request,
                             const struct csv_source *inputs, size_t count,
                             struct identify_files *files, struct arm_friction_card *card,
                             struct arm_friction_set *set, struct err *err)
{
    struct rows_in *in = calloc(1, sizeof *in);
    if (!in) {
        return err_set(err, STATUS_E_NOMEM, "data", 0, 0, "no memory");
    }
    in->request = request;
    in->table.channels = CHANNELS;
    in->table.rows_max = ROWS_MAX;
    in->table.go_on = tell_reading;
    in->table.context = in;
    for (size_t c = 0; c < CHANNELS; c++) {
        in->table.channel[c].names = names[c];
        in->table.channel[c].given = identify_column(request, names[c][0]);
    }
    enum status st =
        identify_read_tables(&in->table, inputs, count, in->part_start, files, err);
    if (st == STATUS_OK) {
        st = make_set(in, count, set, card, err);
    }
    table_free(&in->table);
    free(in);
    return st;
}

static enum status hold_out(const struct identify_request *request, struct result *result,
                            struct err *err)
{
    struct arm_friction_set set;
    enum status st = load_rows(request, request->validate, request->validate_count,
                               &result->held_out_files, &result->held_out_card, &set, err);
    if (st != STATUS_OK) {
        identify_blame_held_out(request, err);
        return st;
    }
    st = arm_friction_hold_out(&set, &result->fit);
    arm_friction_set_free(&set);
    return st == STATUS_OK
               ? st
               : err_set(err, st, "data", 0, 0, "the check failed: %s", status_name(st));
}

static enum status find_result(const struct identify_request *request, struct result *result,
                               struct err *err)
{
    struct arm_friction_set set;
    enum status st = load_rows(request, request->files, request->file_count, &result->files,
                               &result->card, &set, err);
    if (st != STATUS_OK) {
        return st;
    }
    if (request->go_on && !request->go_on(request->context, "fitting", 0.8)) {
        arm_friction_set_free(&set);
        return err_set(err, STATUS_E_STALE, "identify", 0, 0, "cancelled");
    }
    st = arm_friction_fit_run(&set, &result->card, identify_doubts(request), &result->fit);
    arm_friction_set_free(&set);
    if (st != STATUS_OK) {
        return err_set(err, st, "data", 0, 0, "the fit failed: %s", status_name(st));
    }
    st = request->validate_count > 0 ? hold_out(request, result, err) : STATUS_OK;
    if (st == STATUS_OK) {
        estimate_advise_worst(&result->fit.whole);
    }
    return st;
}

enum status identify_arm_friction_check(const struct model_row *row,
                                        const struct identify_request *request, struct err *err)
{
    (void)row;
    (void)request;
    (void)err;
    return STATUS_OK;
}

static void write_members(const void *what, struct json_writer *w)
{
    const struct result *result = what;
    arm_report_friction(w, &result->fit);
    json_write_object(w, "data");
    arm_report_friction_card(w, &result->card);
    json_write_close(w);
    if (json_write_known(w, "held_out_data", result->fit.is_held_out)) {
        arm_report_friction_card(w, &result->held_out_card);
        json_write_close(w);
    }
    json_write_object(w, "provenance");
    json_write_text(w, "version", TANDEM_VERSION);
    identify_files_json(w, "files", &result->files);
    identify_files_json(w, "held_out", &result->held_out_files);
    json_write_close(w);
}

static void print_joint(const struct result *result, size_t j, FILE *out)
{
    const struct arm_friction_joint *joint = &result->fit.joint[j];
    const struct estimate *e = &joint->estimate;
    (void)fprintf(out, "\njoint %zu: %s, %.4g A are left (R2 %.4f)", j + 1,
                  estimate_verdict_name(e->verdict), joint->own.rmse_a, joint->own.r2);
    if (result->fit.is_held_out) {
        (void)fprintf(out, "; held out %.4g A (R2 %.4f)", joint->held_out.rmse_a,
                      joint->held_out.r2);
    }
    estimate_page_head(out);
    for (size_t i = 0; i < e->p; i++) {
        estimate_page_parameter(out, e, i, "");
    }
}

static void print_page(const struct result *result, FILE *out)
{
    const struct arm_friction_card *card = &result->card;
    (void)fprintf(out, "arm_friction of %zu rows in %zu run%s: %s\n", card->used, card->runs,
                  card->runs == 1 ? "" : "s", estimate_verdict_name(result->fit.whole.verdict));
    estimate_page_verdict(out, &result->fit.whole);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        print_joint(result, j, out);
    }
    (void)fprintf(out,
                  "\ndata: %zu rows, %.4g s at %.4g Hz; %zu incomplete, %zu back in time, %zu "
                  "gaps, %zu in pieces too short\n",
                  card->rows, card->duration_s, card->rate_hz, card->incomplete,
                  card->back_rows, card->gaps, card->short_rows);
    identify_files_print(out, "file: ", &result->files);
}

enum status identify_arm_friction(const struct model_row *row,
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
        identify_tell(request, &result->fit.whole, false);
    }
    free(result);
    return st;
}
