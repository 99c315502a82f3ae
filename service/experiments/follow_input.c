#include "service/experiments/follow_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service/cli/csv_file.h"
#include "twin/models/usv3.h"

enum { COLUMNS_MAX = 1 + MODEL_AXES_MAX, ROWS_MAX = 10000000 };

struct rows {
    const struct experiment_file *file;
    const char *names[COLUMNS_MAX];
    size_t at[COLUMNS_MAX]; /* in the file */
    size_t columns;
    double *values; /* [n][columns] */
    size_t n, capacity;
};

static enum status take_header(void *context, const struct csv *csv, struct err *err)
{
    struct rows *rows = context;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < rows->columns && status == STATUS_OK; i++) {
        status = csv_require(csv, rows->names[i], &rows->at[i], err);
    }
    return status;
}

static enum status make_room(struct rows *rows, const struct csv *csv, struct err *err)
{
    if (rows->n == ROWS_MAX) {
        return csv_error(csv, 0, err, "more rows than an experiment can have");
    }
    if (rows->n == rows->capacity) {
        const size_t capacity = rows->capacity > 0 ? 2 * rows->capacity : 256;
        double *grown =
            realloc(rows->values, capacity * rows->columns * sizeof rows->values[0]);
        if (!grown) {
            return err_set(err, STATUS_E_NOMEM, csv->name, csv->line, 0, "not enough memory");
        }
        rows->values = grown;
        rows->capacity = capacity;
    }
    return STATUS_OK;
}

static enum status take_row(void *context, const struct csv *csv, struct err *err)
{
    struct rows *rows = context;
    enum status status = make_room(rows, csv, err);
    double *row = rows->values + rows->n * rows->columns;
    for (size_t i = 0; i < rows->columns && status == STATUS_OK; i++) {
        status = csv_number(csv, rows->at[i], &row[i], err);
    }
    if (status == STATUS_OK && rows->n > 0 && !(row[0] > row[-(ptrdiff_t)rows->columns])) {
        status = csv_error(csv, rows->at[0], err, "time must rise from row to row");
    }
    if (status == STATUS_OK && rows->n == 0 && row[0] > 0.0) {
        status = csv_error(csv, rows->at[0], err, "the first row must be at 0 s or before");
    }
    rows->n += status == STATUS_OK ? 1 : 0;
    return status;
}

static enum status read_rows(const char *path, struct rows *rows, csv_line *on_header,
                             csv_line *on_row, struct err *err)
{
    struct csv *csv = malloc(sizeof *csv);
    if (!csv) {
        return err_set(err, STATUS_E_NOMEM, path, 0, 0, "not enough memory");
    }
    csv_start(csv, path, on_header, on_row, rows);
    enum status status = csv_file_read(&(struct csv_source){.path = path}, csv, err);
    if (status == STATUS_OK && rows->n == 0) {
        status = err_set(err, STATUS_E_PARSE, path, 0, 0, "there is no row");
    }
    free(csv);
    return status;
}

/* Wrench of both sides' thrusters under normalised commands. */
static void command_thrusters(const struct usv3_vessel *vessel, double left, double right,
                              double *tau)
{
    double thrust_n[USV3_THRUSTERS_MAX];
    for (size_t k = 0; k < vessel->thruster_count; k++) {
        thrust_n[k] = usv3_thrust_n(vessel, vessel->thrusters[k].y_m > 0.0 ? left : right);
    }
    usv3_wrench(vessel, thrust_n, tau);
}

static void fill_grid(const struct rows *rows, struct follow_input *out)
{
    const struct experiment_file *file = rows->file;
    const size_t axes = file->model->axis_count;
    const struct usv3_vessel *reference = usv3_vessel_find(file->reference.vessel);
    const struct usv3_vessel *plant = usv3_vessel_find(file->plant.vessel);
    const double h = out->input.step_s;
    const double keep = file->lag_s > 0.0 ? exp(-h / file->lag_s) : 0.0;
    double hand[MODEL_AXES_MAX] = {0};
    size_t row = 0;

    for (size_t k = 0; k < out->input.n; k++) {
        /* A row acts from its time on; half a microsecond is rounding. */
        while (row + 1 < rows->n &&
               rows->values[(row + 1) * rows->columns] <= (double)k * h + 5e-7) {
            row++;
        }
        const double *wanted = rows->values + row * rows->columns + 1;
        for (size_t i = 0; i + 1 < rows->columns; i++) {
            hand[i] = keep * hand[i] + (1.0 - keep) * wanted[i];
        }
        if (file->sticks == EXPERIMENT_EFFORTS) {
            memcpy(out->reference + k * axes, hand, axes * sizeof hand[0]);
            memcpy(out->plant + k * axes, hand, axes * sizeof hand[0]);
            continue;
        }
        const bool sticks = file->sticks == EXPERIMENT_SURGE_YAW;
        const double left = sticks ? hand[0] - hand[1] : hand[0];
        const double right = sticks ? hand[0] + hand[1] : hand[1];
        command_thrusters(reference, left, right, out->reference + k * axes);
        command_thrusters(plant, left, right, out->plant + k * axes);
    }
}

static void name_columns(const struct experiment_file *file, struct rows *rows)
{
    rows->names[rows->columns++] = "t_s";
    if (file->sticks == EXPERIMENT_EFFORTS) {
        for (size_t i = 0; i < file->model->axis_count; i++) {
            rows->names[rows->columns++] = file->model->axes[i].effort;
        }
        return;
    }
    const bool sticks = file->sticks == EXPERIMENT_SURGE_YAW;
    rows->names[rows->columns++] = sticks ? "surge" : "left";
    rows->names[rows->columns++] = sticks ? "yaw" : "right";
}

enum status follow_input_read(const struct experiment_file *file, struct follow_input *out,
                              struct err *err)
{
    struct rows rows = {.file = file};
    struct follow_input made = {.input = {.step_s = file->trial.input.step_s}};
    const size_t axes = file->model->axis_count;
    const double steps = file->trial.duration_s / made.input.step_s;
    name_columns(file, &rows);
    enum status status = read_rows(file->input_path, &rows, take_header, take_row, err);
    if (status == STATUS_OK && steps > ROWS_MAX) {
        status =
            err_set(err, STATUS_E_RANGE, "duration_s", 0, 0, "%g s are too long: at most %g",
                    file->trial.duration_s, ROWS_MAX * made.input.step_s);
    }
    if (status == STATUS_OK) {
        made.input.n = (size_t)steps + 1;
        made.reference = malloc(made.input.n * axes * sizeof made.reference[0]);
        made.plant = malloc(made.input.n * axes * sizeof made.plant[0]);
        if (made.reference && made.plant) {
            fill_grid(&rows, &made);
            made.input.reference = made.reference;
            made.input.plant = made.plant;
            *out = made;
        } else {
            follow_input_free(&made);
            status = err_set(err, STATUS_E_NOMEM, file->input_path, 0, 0, "not enough memory");
        }
    }
    free(rows.values);
    return status;
}

void follow_input_free(struct follow_input *input)
{
    free(input->reference);
    free(input->plant);
    *input = (struct follow_input){0};
}

/* --- draws ------------------------------------------------------------------------------- */

struct draws {
    size_t rows, columns, n;
    double *values;
};

static enum status take_draw(void *context, const struct csv *csv, struct err *err)
{
    struct draws *draws = context;
    enum status status = STATUS_OK;
    if (csv->names.count != draws->columns) {
        return csv_error(csv, 0, err, "as many columns as the model has parameters are wanted");
    }
    for (size_t i = 0; i < draws->columns && status == STATUS_OK && draws->n < draws->rows;
         i++) {
        status = csv_number(csv, i, &draws->values[draws->n * draws->columns + i], err);
    }
    draws->n++;
    return status;
}

enum status follow_draws_read(const char *path, size_t rows, size_t columns, double *values,
                              struct err *err)
{
    struct draws draws = {.rows = rows, .columns = columns, .values = values};
    struct csv *csv = malloc(sizeof *csv);
    if (!csv) {
        return err_set(err, STATUS_E_NOMEM, path, 0, 0, "not enough memory");
    }
    csv_start(csv, path, NULL, take_draw, &draws);
    enum status status = csv_file_read(&(struct csv_source){.path = path}, csv, err);
    free(csv);
    if (status == STATUS_OK && draws.n < rows) {
        status = err_set(err, STATUS_E_RANGE, path, 0, 0,
                         "%zu rows are too few, each of the %zu runs needs one", draws.n, rows);
    }
    return status;
}
