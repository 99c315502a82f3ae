/* service/identify/identify_arm_friction.c - tandem identify --model arm_friction: inertia,
 * friction and gravity of an arm's joints. */
#include <math.h>
#include <stdio.h>

#include "identification/arm/arm_friction.h"
#include "service/identify/estimate_page.h"
#include "service/identify/identify.h"
#include "service/identify/parameters_in_use.h"
#include "service/identify/table_rows.h"
#include "twin/report/arm_report.h"

enum { CHANNELS = 1 + 3 * ARM_JOINTS, NAMES = 6, ROWS_MAX = 4000000 };

/* Names that each channel may have without --columns. */
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

static const struct table_form form = {CHANNELS, names[0], NAMES, ROWS_MAX};

struct result {
    struct identify_head head;
    struct arm_friction_set set, held_out_set;
    struct arm_friction_fit fit;
    struct arm_friction_summary summary, held_out_summary;
    struct reference_check reference[ARM_JOINTS];
    struct reference_comparison compared; /* all joints together */
    struct identify_files files, held_out_files;
};

static enum status make_set(const struct table_rows *rows, struct arm_friction_set *set,
                            struct arm_friction_summary *summary, struct err *err)
{
    const struct table_channel *channel = rows->table.channel;
    struct arm_friction_raw raw = {.n = rows->table.count,
                                   .part_count = rows->part_count,
                                   .part_start = rows->part_start,
                                   .t_s = channel[0].values};
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        raw.q_rad[j] = channel[1 + j].values;
        raw.qd_radps[j] = channel[1 + ARM_JOINTS + j].values;
        raw.current_a[j] = channel[1 + 2 * ARM_JOINTS + j].values;
    }
    return arm_friction_set_make(&raw, set, summary, err);
}

static enum status load_rows(const struct identify_request *request, bool held_out,
                             struct identify_files *files, struct arm_friction_summary *summary,
                             struct arm_friction_set *set, struct err *err)
{
    struct table_rows rows;
    enum status st = table_rows_read(request, &form, held_out, &rows, files, err);
    st = st == STATUS_OK ? make_set(&rows, set, summary, err) : st;
    table_free(&rows.table);
    return st;
}

/* Names that --reference accepts. */
static struct parameters_in_use_form name_references(struct arm_friction_fit *named)
{
    _Static_assert((int)PARAMETERS_IN_USE_PARTS_MAX >= (int)ARM_JOINTS,
                   "a part for each joint");
    struct parameters_in_use_form known = {.model = "arm_friction"};
    arm_friction_fit_start(named);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        known.part[j] = &named->joint[j].estimate;
    }
    return known;
}

static enum status check_request(const struct model_row *row,
                                 const struct identify_request *request, struct err *err)
{
    struct arm_friction_fit named;
    const struct parameters_in_use_form known = name_references(&named);
    (void)row;
    return parameters_in_use_check(request->reference, &known, err);
}

/* Names the joints that contradict the values in use. Tests of all joints together, or
 * corrected for the number of joints, decide whether any is named. */
static void judge_references(struct result *result, const char *model)
{
    struct estimate *whole = &result->fit.whole;
    bool named_any = false;
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        parameters_in_use_compare(&result->reference[j], &result->fit.joint[j].estimate);
    }
    reference_combine(result->reference, ARM_JOINTS, &result->compared);
    for (size_t j = 0; j < ARM_JOINTS && result->compared.contradicts; j++) {
        const struct reference_check *in_use = &result->reference[j];
        const struct estimate *e = &result->fit.joint[j].estimate;
        if (in_use->given && in_use->comparison.contradicts) {
            reference_judge(whole, model, e, &in_use->values, &in_use->comparison);
            named_any = true;
        }
    }
    if (!named_any) { /* only all joints together contradict */
        reference_judge(whole, model, whole, &result->reference[0].values, &result->compared);
    }
}

static enum status read_request(const struct identify_request *request, void *what,
                                struct err *err)
{
    struct result *result = what;
    const struct parameters_in_use_form known = name_references(&result->fit);
    enum status st = parameters_in_use_read(request->reference, &known, result->reference, err);
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
    st =
        arm_friction_fit_run(&result->set, &result->summary, result->head.doubts, &result->fit);
    return st == STATUS_OK ? st
                           : err_set(err, st, FAULT_FIT_FAILED, "data", "the fit failed: %s",
                                     status_name(st));
}

static enum status judge_fit(void *what, struct err *err)
{
    struct result *result = what;
    const enum status st = result->held_out_files.count > 0
                               ? arm_friction_hold_out(&result->held_out_set, &result->fit)
                               : STATUS_OK;
    if (st != STATUS_OK) {
        return err_set(err, st, FAULT_FIT_FAILED, "data", "the check failed: %s",
                       status_name(st));
    }
    judge_references(result, result->head.row->name);
    estimate_advise_worst(&result->fit.whole);
    identify_report_outcome(&result->head.caller, &result->fit.whole,
                            result->compared.contradicts);
    return st;
}

static void release_result(void *what)
{
    struct result *result = what;
    arm_friction_set_free(&result->set);
    arm_friction_set_free(&result->held_out_set);
}

static void write_members(const void *what, struct json_writer *w)
{
    const struct result *result = what;
    arm_report_friction(w, &result->fit, result->reference, &result->compared);
    json_write_object(w, "data");
    arm_report_friction_summary(w, &result->summary);
    json_write_close(w);
    if (json_write_known(w, "held_out_data", result->fit.is_held_out)) {
        arm_report_friction_summary(w, &result->held_out_summary);
        json_write_close(w);
    }
    identify_open_provenance(w);
    identify_close_provenance(w, &result->files, &result->held_out_files);
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
    for (size_t i = 0; i < e->p; i++) {
        if (result->reference[j].given && isfinite(result->reference[j].values.value[i])) {
            parameters_in_use_print(out, e, &result->reference[j]);
            break;
        }
    }
}

static void print_page(const void *what, FILE *out)
{
    const struct result *result = what;
    const struct arm_friction_summary *summary = &result->summary;
    (void)fprintf(out, "arm_friction of %zu rows in %zu run%s: %s\n", summary->used,
                  summary->runs, summary->runs == 1 ? "" : "s",
                  estimate_verdict_name(result->fit.whole.verdict));
    estimate_page_verdict(out, &result->fit.whole);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        print_joint(result, j, out);
    }
    if (result->compared.df > 0.0) {
        (void)fprintf(out, "\nthe recording %s what is in use (all joints, p %.2g)\n",
                      result->compared.contradicts ? "contradicts" : "does not contradict",
                      result->compared.p);
    }
    (void)fprintf(out,
                  "\ndata: %zu rows, %.4g s at %.4g Hz; %zu incomplete, %zu back in time, %zu "
                  "gaps, %zu in pieces too short\n",
                  summary->rows, summary->duration_s, summary->rate_hz, summary->incomplete,
                  summary->back_rows, summary->gaps, summary->short_rows);
    identify_files_print(out, "file: ", &result->files);
}

const struct identify_method identify_arm_friction = {.bytes = sizeof(struct result),
                                                      .check = check_request,
                                                      .read = read_request,
                                                      .fit = fit_data,
                                                      .judge = judge_fit,
                                                      .write = write_members,
                                                      .print = print_page,
                                                      .release = release_result};
