#include "service/experiments/follow_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service/cli/table.h"
#include "twin/models/usv3.h"

enum { COLUMNS_MAX = 1 + MODEL_AXES_MAX, ROWS_MAX = 10000000 };

struct rows {
    const struct experiment_file *file;
    const char *names[COLUMNS_MAX][2];
    struct table table;
};

static enum status check_time(void *context, const struct csv *csv, struct err *err)
{
    const struct table *table = &((const struct rows *)context)->table;
    const double *t_s = table->channel[0].values + table->count;
    const size_t column = table->channel[0].from.column[0];
    if (table->count > 0 && !(t_s[0] > t_s[-1])) {
        return csv_error(csv, column, err, "time must rise from row to row");
    }
    return table->count == 0 && t_s[0] > 0.0
               ? csv_error(csv, column, err, "the first row must be at 0 s or before")
               : STATUS_OK;
}

static enum status read_rows(const char *path, struct rows *rows, struct err *err)
{
    const struct csv_source source = {.path = path};
    const enum status status = table_read(&rows->table, &source, NULL, err);
    return status == STATUS_OK && rows->table.count == 0
               ? err_set(err, STATUS_E_PARSE, path, 0, 0, "there is no row")
               : status;
}

/* Wrench of both sides' thrusters under normalised commands. */
static void command_thrusters(const struct usv3_vessel *vessel, double left, double right,
                              double *tau)
{
    double thrust_n[USV3_THRUSTERS_MAX];
    struct allocation thrusters;
    usv3_actuators(vessel, &thrusters);
    for (size_t k = 0; k < vessel->thruster_count; k++) {
        thrust_n[k] = usv3_thrust_n(vessel, vessel->thrusters[k].y_m > 0.0 ? left : right);
    }
    (void)allocation_push(&thrusters, thrust_n, tau);
}

static void fill_grid(const struct rows *rows, struct follow_input *out)
{
    const struct experiment_file *file = rows->file;
    const struct table *table = &rows->table;
    const size_t axes = file->model->axis_count;
    const struct usv3_vessel *reference = usv3_vessel_find(file->reference.vessel);
    const struct usv3_vessel *plant = usv3_vessel_find(file->plant.vessel);
    const double h = out->input.step_s;
    const double keep = file->lag_s > 0.0 ? exp(-h / file->lag_s) : 0.0;
    double hand[MODEL_AXES_MAX] = {0};
    size_t row = 0;

    for (size_t k = 0; k < out->input.n; k++) {
        /* A row acts from its time on; half a microsecond is rounding. */
        while (row + 1 < table->count &&
               table->channel[0].values[row + 1] <= (double)k * h + 5e-7) {
            row++;
        }
        for (size_t i = 0; i + 1 < table->channels; i++) {
            hand[i] = keep * hand[i] + (1.0 - keep) * table->channel[1 + i].values[row];
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

static void add_column(struct rows *rows, const char *name)
{
    struct table *table = &rows->table;
    rows->names[table->channels][0] = name;
    table->channel[table->channels].names = rows->names[table->channels];
    table->channels++;
}

static void name_columns(const struct experiment_file *file, struct rows *rows)
{
    const bool sticks = file->sticks == EXPERIMENT_SURGE_YAW;
    add_column(rows, "t_s");
    for (size_t i = 0; file->sticks == EXPERIMENT_EFFORTS && i < file->model->axis_count; i++) {
        add_column(rows, file->model->axes[i].effort);
    }
    if (file->sticks != EXPERIMENT_EFFORTS) {
        add_column(rows, sticks ? "surge" : "left");
        add_column(rows, sticks ? "yaw" : "right");
    }
}

enum status follow_input_read(const struct experiment_file *file, struct follow_input *out,
                              struct err *err)
{
    struct rows rows = {.file = file,
                        .table = {.rows_max = ROWS_MAX, .strict = true, .on_row = check_time}};
    struct follow_input made = {.input = {.step_s = file->trial.input.step_s}};
    const size_t axes = file->model->axis_count;
    const double steps = file->trial.duration_s / made.input.step_s;
    rows.table.context = &rows;
    name_columns(file, &rows);
    enum status status = read_rows(file->input_path, &rows, err);
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
    table_free(&rows.table);
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
    const struct csv_source source = {.path = path};
    const struct csv_lines lines = {NULL, take_draw, NULL, &draws};
    enum status status = csv_file_read(&source, &lines, NULL, err);
    if (status == STATUS_OK && draws.n < rows) {
        status = err_set(err, STATUS_E_RANGE, path, 0, 0,
                         "%zu rows are too few, each of the %zu runs needs one", draws.n, rows);
    }
    return status;
}
