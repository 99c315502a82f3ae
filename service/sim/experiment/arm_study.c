#include "service/sim/experiment/arm_study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "base/numbers/lab_time.h"
#include "service/tool/table.h"

enum { ROWS_MAX = 2000000, NAME_BYTES = 24 };
/* s between rows of a simulated arm, as CB3 controllers send them. */
static const double ROW_S = 0.008;

/* ---- the recording ---- */

/* Channels of each joint, in the order of the columns. */
enum channel { Q_TARGET, Q_ACTUAL, QD_TARGET, QD_ACTUAL, CHANNELS };

struct recording {
    struct table table;
    char text[1 + CHANNELS * ARM_JOINTS][NAME_BYTES];
    const char *names[1 + CHANNELS * ARM_JOINTS][2];
};

static enum status check_time(void *context, const struct csv *csv, struct err *err)
{
    const struct table *table = context;
    const double *t_s = table->channel[0].values + table->count;
    return table->count > 0 && !(lab_us(t_s[0]) > lab_us(t_s[-1]))
               ? csv_error(csv, table->channel[0].from.column[0], err, FAULT_TIME_NOT_RISING,
                           "time must rise from row to row")
               : STATUS_OK;
}

static void name_columns(struct recording *r)
{
    static const char *const forms[CHANNELS][2] = {{"q", "target_rad"},
                                                   {"q", "actual_rad"},
                                                   {"qd", "target_radps"},
                                                   {"qd", "actual_radps"}};
    r->table.channels = COUNT(r->names);
    (void)snprintf(r->text[0], NAME_BYTES, "t_s");
    for (unsigned i = 0; i < CHANNELS * ARM_JOINTS; i++) {
        const char *const *form = forms[i / ARM_JOINTS];
        (void)snprintf(r->text[1 + i], NAME_BYTES, "%s%u_%s", form[0], i % ARM_JOINTS + 1,
                       form[1]);
    }
    for (size_t i = 0; i < COUNT(r->names); i++) {
        r->names[i][0] = r->text[i];
        r->names[i][1] = NULL;
        r->table.channel[i].names = r->names[i];
    }
}

static void copy_rows(const struct table *table, struct arm_row *rows)
{
    for (size_t k = 0; k < table->count; k++) {
        double *const to[CHANNELS] = {rows[k].q_target_rad, rows[k].q_rad,
                                      rows[k].qd_target_radps, rows[k].qd_radps};
        rows[k].t_us = lab_us(table->channel[0].values[k]);
        for (size_t i = 0; i < CHANNELS * (size_t)ARM_JOINTS; i++) {
            to[i / ARM_JOINTS][i % ARM_JOINTS] = table->channel[1 + i].values[k];
        }
    }
}

static enum status read_recording(const char *path, struct arm_row **rows, size_t *n,
                                  struct err *err)
{
    const struct csv_source source = {.path = path};
    struct recording r = {
        .table = {.rows_max = ROWS_MAX, .strict = true, .on_row = check_time}};
    r.table.context = &r.table;
    name_columns(&r);
    enum status status = table_read(&r.table, &source, NULL, err);
    *rows = status == STATUS_OK ? calloc(r.table.count + 1, sizeof **rows) : NULL;
    if (status == STATUS_OK && !*rows) {
        status = err_no_memory(err, path, "not enough memory");
    }
    if (status == STATUS_OK) {
        copy_rows(&r.table, *rows);
        *n = r.table.count;
    }
    table_free(&r.table);
    return status;
}

static enum status record_moves(const struct arm_file *file, struct arm_row **rows, size_t *n,
                                struct err *err)
{
    /* A turn within the joints' range at these rates, and the rest after it, bound the run. */
    const double most_rad = 4.0 * PI;
    const double each_s =
        arm_duration_s(most_rad, file->rates.v_radps, file->rates.a_radps2) + file->rest_s;
    const double room = ceil((double)file->move_count * (each_s / ROW_S + 1.0));
    size_t refused = 0;
    *rows = room <= ROWS_MAX ? calloc((size_t)room, sizeof **rows) : NULL;
    if (!*rows) {
        return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "command.v_radps",
                       "moves so slow are too long: more than %d rows", ROWS_MAX);
    }
    *n = arm_record_moves(&file->arm, file->theta, &file->rates, file->moves, file->move_count,
                          file->rest_s, ROW_S, *rows, (size_t)room, &refused);
    return *n > 0
               ? STATUS_OK
               : err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "moves",
                         "number %zu is refused: a joint would leave its range", refused + 1);
}

/* ---- the study ---- */

struct point_store {
    struct arm_study *study;
    const struct arm_row *rows;
    enum arm_shown shown;
};

static void store_point(void *context, const struct arm_row *row,
                        const double shown_rad[ARM_JOINTS], double tool_gap_m)
{
    const struct point_store *k = context;
    struct arm_point *point = &k->study->points[row - k->rows];
    memcpy(point->shown_rad[k->shown], shown_rad, sizeof point->shown_rad[0]);
    point->tool_gap_m[k->shown] = tool_gap_m;
}

static void forget_points(struct arm_study *study, const struct arm_row *rows)
{
    for (size_t k = 0; k < study->point_count; k++) {
        struct arm_point *point = &study->points[k];
        point->row = rows[k];
        for (size_t i = 0; i < ARM_SHOWN_COUNT; i++) {
            point->tool_gap_m[i] = nan("");
            for (size_t j = 0; j < ARM_JOINTS; j++) {
                point->shown_rad[i][j] = nan("");
            }
        }
    }
}

static void run_cases(struct arm_study *study, const struct arm_row *rows, size_t n)
{
    const struct arm_file *file = study->file;
    for (size_t i = 0; i < file->case_count; i++) {
        for (int k = 0; k < ARM_SHOWN_COUNT; k++) {
            struct point_store point_store = {study, rows, (enum arm_shown)k};
            arm_shadow_run(&file->arm, file->theta, rows, n, &file->telemetry[i],
                           (enum arm_shown)k, i == 0 ? store_point : NULL, &point_store,
                           &study->shown[i][k]);
        }
    }
    for (size_t i = 0; i < file->off_count; i++) {
        arm_commands_run(&file->arm, &file->rates, rows, n, file->off_s[i], &study->commands,
                         &study->commanded[i]);
    }
}

enum status arm_study_run(const struct arm_file *file, struct arm_study *out, struct err *err)
{
    struct arm_study study = {.file = file};
    struct arm_row *rows = NULL;
    size_t n = 0;
    enum status status = file->recording_path[0]
                             ? read_recording(file->recording_path, &rows, &n, err)
                             : record_moves(file, &rows, &n, err);
    study.points = status == STATUS_OK ? calloc(n + 1, sizeof study.points[0]) : NULL;
    if (status == STATUS_OK && !study.points) {
        status = err_no_memory(err, file->name, "not enough memory");
    }
    if (status == STATUS_OK) {
        study.point_count = n;
        study.duration_s = n > 0 ? lab_s(rows[n - 1].t_us - rows[0].t_us) : 0.0;
        forget_points(&study, rows);
        run_cases(&study, rows, n);
        status = study.shown[0][0].n > 0
                     ? STATUS_OK
                     : err_set(err, STATUS_E_EMPTY, FAULT_NO_DATA, file->name,
                               "no joint moves while telemetry is there");
    }
    free(rows);
    if (status == STATUS_OK) {
        *out = study;
    } else {
        arm_study_free(&study);
    }
    return status;
}

void arm_study_free(struct arm_study *study)
{
    free(study->points);
    study->points = NULL;
    study->point_count = 0;
}
