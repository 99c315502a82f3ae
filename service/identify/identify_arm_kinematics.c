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
#include "twin/report/arm_report.h"

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

static const char usual_arm[] = "ur5";
/* rad: rows of an arm that hardly moved count as one pose, because their errors are not
 * independent.
 */
static const double APART_RAD = 0.02;

struct result {
    struct identify_head head;
    struct poses {
        size_t n;
        struct arm_pair *pair; /* [n] */
        size_t rows, incomplete, near;
    } own, held_out;
    struct arm_geometry arm;
    struct arm_kinematics_fit fit;
};

static bool is_near(const struct arm_pair *a, const struct arm_pair *b)
{
    double apart = 0.0;
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        apart = fmax(apart, fabs(a->q_rad[j] - b->q_rad[j]));
    }
    return apart < APART_RAD;
}

/* Makes pairs from rows that have all numbers and differ from the previous pose. */
static enum status make_pairs(const struct table_rows *rows, bool held_out, void *what,
                              struct err *err)
{
    struct result *result = what;
    struct poses *poses = held_out ? &result->held_out : &result->own;
    const struct table *table = &rows->table;
    const char *arm = rows->request->arm;
    (void)arm_geometry_find(arm ? arm : usual_arm, &result->arm);
    *poses = (struct poses){.rows = table->count};
    poses->pair = calloc(table->count + 1, sizeof *poses->pair);
    if (!poses->pair) {
        return err_no_memory(err, "data", "no memory");
    }
    for (size_t i = 0; i < table->count; i++) {
        struct arm_pair *pair = &poses->pair[poses->n];
        bool fine = true;
        for (size_t c = 0; c < CHANNELS; c++) {
            const double value = table->channel[c].values[i];
            fine = fine && fabs(value) < 1e9;
            *(c < ARM_JOINTS ? &pair->q_rad[c] : &pair->pose[c - ARM_JOINTS]) = value;
        }
        const bool near = fine && poses->n > 0 && is_near(pair, pair - 1);
        poses->incomplete += fine ? 0 : 1;
        poses->near += near ? 1 : 0;
        poses->n += fine && !near ? 1 : 0;
    }
    return held_out && poses->n == 0 ? err_set(err, STATUS_E_EMPTY, FAULT_TOO_FEW, "data",
                                               "no row with all angles and a pose")
                                     : STATUS_OK;
}

static const struct table_form form = {CHANNELS, names[0], NAMES, ROWS_MAX, make_pairs};

static struct parameters_in_use_form name_parameters(void *what)
{
    struct arm_kinematics_fit *fit = &((struct result *)what)->fit;
    arm_kinematics_fit_start(fit);
    return (struct parameters_in_use_form){"arm_kinematics", {&fit->estimate}, false};
}

static enum status check_request(const struct model_row *row,
                                 const struct identify_request *request, struct err *err)
{
    struct arm_geometry arm;
    char arms[64] = "";
    (void)row;
    if (!request->arm || arm_geometry_find(request->arm, &arm)) {
        return STATUS_OK;
    }
    for (size_t i = 0; arm_geometry_name(i); i++) {
        names_append_new(arms, sizeof arms, arm_geometry_name(i));
    }
    return err_set(err, STATUS_E_ARG, FAULT_UNKNOWN_NAME, "arm",
                   "unknown arm '%s', known are %s", request->arm, arms);
}

static enum status fit_data(void *what, struct err *err)
{
    struct result *result = what;
    const struct arm_pairs pairs = {result->own.n, result->own.pair};
    const enum status st =
        arm_kinematics_fit_run(&result->arm, &pairs, result->head.doubts, &result->fit);
    if (st == STATUS_E_EMPTY) {
        return err_set(err, st, FAULT_TOO_FEW, "data",
                       "%zu rows with all angles and a pose, apart from each other by %g rad, "
                       "%d are needed",
                       pairs.n, APART_RAD, (int)ARM_KINEMATICS_POSES_MIN);
    }
    return identify_fail(st, "data", "fit", err);
}

static enum status hold_out(void *what, struct err *err)
{
    struct result *result = what;
    (void)err;
    arm_kinematics_hold_out(&result->arm,
                            &(struct arm_pairs){result->held_out.n, result->held_out.pair},
                            &result->fit);
    return STATUS_OK;
}

static void release_result(void *what)
{
    struct result *result = what;
    free(result->own.pair);
    free(result->held_out.pair);
}

static void write_members(const void *what, struct json_writer *w)
{
    const struct result *result = what;
    json_write_text(w, "arm", result->arm.name);
    arm_report_kinematics(w, &result->fit);
    parameters_in_use_write(w, &result->fit.estimate, &result->head.reference[0]);
    JSON_WRITE_OBJECT(w, "data", JSON_WHOLE("rows", result->own.rows),
                      JSON_WHOLE("incomplete", result->own.incomplete),
                      JSON_WHOLE("near", result->own.near));
}

static void print_page(const void *what, FILE *out)
{
    const struct result *result = what;
    const struct arm_kinematics_fit *fit = &result->fit;
    (void)fprintf(out, "arm_kinematics of %zu poses of a %s", fit->n, result->arm.name);
    (fit->converged ? estimate_page_print : estimate_page_verdict)(out, &fit->estimate);
}

const struct identify_method identify_arm_kinematics = {.bytes = sizeof(struct result),
                                                        .name = name_parameters,
                                                        .check = check_request,
                                                        .form = &form,
                                                        .fit = fit_data,
                                                        .hold_out = hold_out,
                                                        .write = write_members,
                                                        .print = print_page,
                                                        .release = release_result};
