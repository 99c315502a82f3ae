/* service/identify/identify_arm_kinematics.c - tandem identify --model arm_kinematics: how the
 * links of one arm differ from its nominal kind. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "identification/arm/arm_kinematics.h"
#include "service/identify/estimate_page.h"
#include "service/identify/identify.h"
#include "service/identify/parameters_in_use.h"
#include "service/identify/table_rows.h"
#include "twin/report/arm_report.h"
#include "twin/report/fit_report.h"

enum { CHANNELS = ARM_JOINTS + 6, NAMES = 5, ROWS_MAX = 1000000 };

#define ANGLE(n, at)                                                                           \
    {                                                                                          \
        "q" #n, "q" #n "_rad", "q" #n "_actual_rad", "actual_q_" #at, NULL                     \
    }
/* Names that each channel may have without --columns. */
static const char *const names[CHANNELS][NAMES] = {
    ANGLE(1, 0),
    ANGLE(2, 1),
    ANGLE(3, 2),
    ANGLE(4, 3),
    ANGLE(5, 4),
    ANGLE(6, 5),
    {"x", "x_m", "actual_TCP_pose_0", NULL},
    {"y", "y_m", "actual_TCP_pose_1", NULL},
    {"z", "z_m", "actual_TCP_pose_2", NULL},
    {"rx", "rx_rad", "actual_TCP_pose_3", NULL},
    {"ry", "ry_rad", "actual_TCP_pose_4", NULL},
    {"rz", "rz_rad", "actual_TCP_pose_5", NULL},
};

static const struct table_form form = {CHANNELS, names[0], NAMES, ROWS_MAX};
static const char usual_arm[] = "ur5";
/* rad: rows of an arm that hardly moved count as one pose, because their errors are not
 * independent.
 */
static const double APART_RAD = 0.02;

/* The poses read from tables. */
struct poses {
    size_t n;
    struct arm_pair *pairs;
};

struct result {
    struct identify_head head;
    struct poses own, held_out;
    struct arm_geometry arm;
    struct arm_kinematics_fit fit;
    struct rows_summary {
        size_t rows, incomplete, near;
    } summary, held_out_summary;
    struct reference_check reference;
    struct identify_files files, held_out_files;
};

static bool is_near(const struct arm_pair *a, const struct arm_pair *b)
{
    double apart = 0.0;
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        apart = fmax(apart, fabs(a->q_rad[j] - b->q_rad[j]));
    }
    return apart < APART_RAD;
}

/* Makes pairs from rows that have all numbers and differ from the previous pose; *pairs is to
 * be freed. */
static enum status make_pairs(const struct table *table, struct arm_pair **pairs, size_t *n,
                              struct rows_summary *summary, struct err *err)
{
    *n = 0;
    *summary = (struct rows_summary){.rows = table->count};
    *pairs = calloc(table->count + 1, sizeof **pairs);
    if (!*pairs) {
        return err_no_memory(err, "data", "no memory");
    }
    for (size_t i = 0; i < table->count; i++) {
        struct arm_pair *pair = &(*pairs)[*n];
        bool fine = true;
        for (size_t c = 0; c < CHANNELS; c++) {
            const double value = table->channel[c].values[i];
            fine = fine && fabs(value) < 1e9;
            *(c < ARM_JOINTS ? &pair->q_rad[c] : &pair->pose[c - ARM_JOINTS]) = value;
        }
        const bool near = fine && *n > 0 && is_near(pair, pair - 1);
        summary->incomplete += fine ? 0 : 1;
        summary->near += near ? 1 : 0;
        *n += fine && !near ? 1 : 0;
    }
    return STATUS_OK;
}

static enum status load_pairs(const struct identify_request *request, bool held_out,
                              struct identify_files *files, struct poses *poses,
                              struct rows_summary *summary, struct err *err)
{
    struct table_rows rows;
    enum status st = table_rows_read(request, &form, held_out, &rows, files, err);
    st = st == STATUS_OK ? make_pairs(&rows.table, &poses->pairs, &poses->n, summary, err) : st;
    table_free(&rows.table);
    return st;
}

static struct parameters_in_use_form name_references(struct arm_kinematics_fit *named)
{
    arm_kinematics_fit_start(named);
    return (struct parameters_in_use_form){"arm_kinematics", {&named->estimate}, false};
}

static enum status check_request(const struct model_row *row,
                                 const struct identify_request *request, struct err *err)
{
    struct arm_kinematics_fit named;
    struct arm_geometry arm;
    const struct parameters_in_use_form known = name_references(&named);
    (void)row;
    if (request->arm && !arm_geometry_find(request->arm, &arm)) {
        char arms[64] = "";
        for (size_t i = 0; arm_geometry_name(i); i++) {
            names_append_new(arms, sizeof arms, arm_geometry_name(i));
        }
        return err_set(err, STATUS_E_ARG, FAULT_UNKNOWN_NAME, "arm",
                       "unknown arm '%s', known are %s", request->arm, arms);
    }
    return parameters_in_use_check(request->reference, &known, err);
}

static enum status read_request(const struct identify_request *request, void *what,
                                struct err *err)
{
    struct result *result = what;
    const struct parameters_in_use_form known = name_references(&result->fit);
    enum status st =
        parameters_in_use_read(request->reference, &known, &result->reference, err);
    (void)arm_geometry_find(request->arm ? request->arm : usual_arm, &result->arm);
    st = st == STATUS_OK
             ? load_pairs(request, false, &result->files, &result->own, &result->summary, err)
             : st;
    if (st == STATUS_OK && request->validate_count > 0) {
        st = load_pairs(request, true, &result->held_out_files, &result->held_out,
                        &result->held_out_summary, err);
        if (st == STATUS_OK && result->held_out.n == 0) {
            st = err_set(err, STATUS_E_EMPTY, FAULT_TOO_FEW, "data",
                         "no row with all angles and a pose");
        }
        identify_blame_held_out(request, st, err);
    }
    return st;
}

static enum status fit_data(void *what, struct err *err)
{
    struct result *result = what;
    const struct arm_pairs pairs = {result->own.n, result->own.pairs};
    enum status st = identify_ask_on(&result->head.caller, "fitting", 0.8, err);
    if (st != STATUS_OK) {
        return st;
    }
    st = arm_kinematics_fit_run(&result->arm, &pairs, result->head.doubts, &result->fit);
    if (st == STATUS_E_EMPTY) {
        return err_set(err, st, FAULT_TOO_FEW, "data",
                       "%zu rows with all angles and a pose, apart from each other by %g rad, "
                       "%d are needed",
                       pairs.n, APART_RAD, (int)ARM_KINEMATICS_POSES_MIN);
    }
    return st == STATUS_OK ? st
                           : err_set(err, st, FAULT_FIT_FAILED, "data", "the fit failed: %s",
                                     status_name(st));
}

static enum status judge_fit(void *what, struct err *err)
{
    struct result *result = what;
    (void)err;
    if (result->held_out_files.count > 0) {
        arm_kinematics_hold_out(&result->arm,
                                &(struct arm_pairs){result->held_out.n, result->held_out.pairs},
                                &result->fit);
    }
    identify_conclude(&result->head, &result->fit.estimate, &result->reference);
    return STATUS_OK;
}

static void release_result(void *what)
{
    struct result *result = what;
    free(result->own.pairs);
    free(result->held_out.pairs);
}

static void write_members(const void *what, struct json_writer *w)
{
    const struct result *result = what;
    json_write_text(w, "arm", result->arm.name);
    arm_report_kinematics(w, &result->fit);
    parameters_in_use_write(w, &result->fit.estimate, &result->reference);
    json_write_object(w, "data");
    json_write_int(w, "rows", (int64_t)result->summary.rows);
    json_write_int(w, "incomplete", (int64_t)result->summary.incomplete);
    json_write_int(w, "near", (int64_t)result->summary.near);
    json_write_close(w);
    identify_open_provenance(w);
    identify_close_provenance(w, &result->files, &result->held_out_files);
}

static void print_check(const char *what, const struct arm_kinematics_check *check, FILE *out)
{
    (void)fprintf(out,
                  "  %-22s %6zu poses: the tool %.4f mm off in the mean, at most %.4f mm; %.3f "
                  "mrad (rms), at most %.3f\n",
                  what, check->n, 1e3 * check->mean_m, 1e3 * check->max_m, 1e3 * check->rms_rad,
                  1e3 * check->max_rad);
}

static void print_fit(const struct result *result, FILE *out)
{
    const struct arm_kinematics_fit *fit = &result->fit;
    const struct estimate *e = &fit->estimate;
    char outliers[64];
    estimate_page_head(out);
    for (size_t i = 0; i < e->p; i++) {
        estimate_page_parameter(out, e, i, "");
    }
    parameters_in_use_print(out, e, &result->reference);
    (void)snprintf(outliers, sizeof outliers, ", %zu poses left out as outliers",
                   fit->outliers);
    estimate_page_rank(out, e, outliers);
    (void)fprintf(out,
                  "  noise of a coordinate %.3g m, %.3g rad; the tool's place is known to %.3g "
                  "m\n\n",
                  fit->noise_m, fit->noise_rad, fit->tool_se_m);
}

static void print_page(const void *what, FILE *out)
{
    const struct result *result = what;
    const struct arm_kinematics_fit *fit = &result->fit;
    (void)fprintf(out, "arm_kinematics of %zu poses of a %s: %s\n", fit->n, result->arm.name,
                  estimate_verdict_name(fit->estimate.verdict));
    estimate_page_verdict(out, &fit->estimate);
    if (fit->converged) {
        print_fit(result, out);
    }
    print_check("nominal arm", &fit->nominal, out);
    if (fit->converged) {
        print_check("fit", &fit->own, out);
        print_check("each fifth, held out", &fit->crossed, out);
    }
    if (fit->converged && fit->is_held_out) {
        print_check("held out", &fit->held_out, out);
    }
    (void)fprintf(out, "\ndata: %zu rows, %zu incomplete, %zu near the one before\n",
                  result->summary.rows, result->summary.incomplete, result->summary.near);
    identify_files_print(out, "file: ", &result->files);
}

const struct identify_method identify_arm_kinematics = {.bytes = sizeof(struct result),
                                                        .check = check_request,
                                                        .read = read_request,
                                                        .fit = fit_data,
                                                        .judge = judge_fit,
                                                        .write = write_members,
                                                        .print = print_page,
                                                        .release = release_result};
