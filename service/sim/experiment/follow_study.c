#include "service/sim/experiment/follow_study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "base/numbers/random.h"
#include "identification/model/usv3.h"
#include "service/tool/table.h"

enum { COLUMNS_MAX = 1 + MODEL_AXES_MAX, ROWS_MAX = 10000000 };

/* Figures of one run. */
struct run_figures {
    double rmse[TRIAL_STATES_MAX], mae[TRIAL_STATES_MAX], r2[TRIAL_STATES_MAX];
    double found_ratio[MODEL_AXES_MAX], unmatched_rms[MODEL_AXES_MAX];
};

struct study_run {
    const struct experiment_file *file;
    struct trial_params trial;
    struct trial_input input;
    double *reference, *plant;   /* efforts of both, the columns of trial.input */
    double *draws;               /* [runs][parameters], NULL: random draws */
    struct run_figures *figures; /* [runs] */
    struct trial_sample *flight;
    struct follow_study *study;
};

/* --- input -------------------------------------------------------------------------------- */

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
        return csv_error(csv, column, err, FAULT_TIME_NOT_RISING,
                         "time must rise from row to row");
    }
    return table->count == 0 && t_s[0] > 0.0
               ? csv_error(csv, column, err, FAULT_OUT_OF_RANGE,
                           "the first row must be at 0 s or before")
               : STATUS_OK;
}

static enum status read_rows(const char *path, struct rows *rows, struct err *err)
{
    const struct csv_source source = {.path = path};
    const enum status status = table_read(&rows->table, &source, NULL, err);
    return status == STATUS_OK && rows->table.count == 0
               ? err_set(err, STATUS_E_PARSE, FAULT_NO_DATA, path, "there is no row")
               : status;
}

/* Computes the wrench of both sides' thrusters under normalised commands. */
static void command_thrusters(const struct usv3_vessel *vessel, double left, double right,
                              double *tau)
{
    double thrust_n[USV3_THRUSTERS_MAX];
    struct allocation thrusters;
    usv3_actuators(vessel, &thrusters);
    for (size_t k = 0; k < vessel->thruster_count; k++) {
        thrust_n[k] = usv3_thrust_n(vessel, vessel->thrusters[k].y_m > 0.0 ? left : right);
    }
    (void)allocation_limit(&thrusters, thrust_n, tau);
}

static void fill_grid(const struct rows *rows, struct study_run *out)
{
    const struct experiment_file *file = rows->file;
    const struct table *table = &rows->table;
    const size_t axes = file->model->axis_count;
    const struct usv3_vessel *reference = usv3_vessel_find(file->reference.vessel);
    const struct usv3_vessel *plant = usv3_vessel_find(file->plant.vessel);
    const double h = out->input.step_s;
    const double decay = file->lag_s > 0.0 ? exp(-h / file->lag_s) : 0.0;
    double hand[MODEL_AXES_MAX] = {0};
    size_t row = 0;

    for (size_t k = 0; k < out->input.n; k++) {
        /* A row holds from its time on; half a microsecond is rounding. */
        while (row + 1 < table->count &&
               table->channel[0].values[row + 1] <= (double)k * h + 5e-7) {
            row++;
        }
        for (size_t i = 0; i + 1 < table->channels; i++) {
            hand[i] = decay * hand[i] + (1.0 - decay) * table->channel[1 + i].values[row];
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

/* Reads the robots' commands from the experiment's CSV file onto an even grid. */
static enum status read_input(struct study_run *w, struct err *err)
{
    const struct experiment_file *file = w->file;
    struct rows rows = {.file = file,
                        .table = {.rows_max = ROWS_MAX, .strict = true, .on_row = check_time}};
    const size_t axes = file->model->axis_count;
    const double steps = file->trial.duration_s / w->input.step_s;
    rows.table.context = &rows;
    name_columns(file, &rows);
    enum status status = read_rows(file->input_path, &rows, err);
    if (status == STATUS_OK && steps > ROWS_MAX) {
        status = err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "duration_s",
                         "%g s are too long: at most %g", file->trial.duration_s,
                         ROWS_MAX * w->input.step_s);
    }
    if (status == STATUS_OK) {
        w->input.n = (size_t)steps + 1;
        w->reference = malloc(w->input.n * axes * sizeof w->reference[0]);
        w->plant = malloc(w->input.n * axes * sizeof w->plant[0]);
        if (w->reference && w->plant) {
            fill_grid(&rows, w);
            w->input.reference = w->reference;
            w->input.plant = w->plant;
        } else {
            status = err_no_memory(err, file->input_path, "not enough memory");
        }
    }
    table_free(&rows.table);
    return status;
}

/* --- draws ------------------------------------------------------------------------------- */

struct draws {
    size_t rows, columns, n;
    double *values; /* [rows][columns] */
};

static enum status read_draw(void *context, const struct csv *csv, struct err *err)
{
    struct draws *draws = context;
    enum status status = STATUS_OK;
    if (csv->names.count != draws->columns) {
        return csv_error(csv, 0, err, FAULT_WRONG_COUNT,
                         "as many columns as the model has parameters are wanted");
    }
    for (size_t i = 0; i < draws->columns && status == STATUS_OK && draws->n < draws->rows;
         i++) {
        status = csv_number(csv, i, &draws->values[draws->n * draws->columns + i], err);
    }
    draws->n++;
    return status;
}

/* Reads at least as many draws as there are runs; the surplus is ignored. */
static enum status read_draws(const struct study_run *w, struct err *err)
{
    const char *path = w->file->draws_path;
    struct draws draws = {w->file->runs, w->file->model->parameter_count, 0, w->draws};
    const struct csv_source source = {.path = path};
    const struct csv_lines lines = {NULL, read_draw, NULL, &draws};
    enum status status = csv_file_read(&source, &lines, NULL, err);
    if (status == STATUS_OK && draws.n < draws.rows) {
        status = err_set(err, STATUS_E_RANGE, FAULT_TOO_FEW, path,
                         "%zu rows are too few, each of the %zu runs needs one", draws.n,
                         draws.rows);
    }
    return status;
}

/* --- runs --------------------------------------------------------------------------------- */

static bool allocate_run(struct study_run *w)
{
    const struct experiment_file *file = w->file;
    const size_t points = (size_t)(file->trial.duration_s / file->trial.record_s) + 2;
    w->figures = calloc(file->runs, sizeof w->figures[0]);
    w->flight = calloc(TRIAL_IN_FLIGHT_MAX, sizeof w->flight[0]);
    w->study->points = calloc(points, sizeof w->study->points[0]);
    if (file->draws_path[0]) {
        w->draws = calloc(file->runs * file->model->parameter_count, sizeof w->draws[0]);
    }
    return w->figures && w->flight && w->study->points && (w->draws || !file->draws_path[0]);
}

static void free_run(struct study_run *w)
{
    free(w->reference);
    free(w->plant);
    free(w->draws);
    free(w->figures);
    free(w->flight);
}

/* Draws the parameters of one run; draws: standard normal numbers, or NULL for those of
 * random. */
static void draw_theta(const struct experiment_robot *robot, size_t n, const double *draws,
                       struct random_source *random, double *theta)
{
    for (size_t i = 0; i < n; i++) {
        const double z = draws ? draws[i] : random_normal(random);
        theta[i] = robot->theta[i] + (robot->spread ? z * robot->standard_error[i] : 0.0);
    }
}

static void prepare_run(struct study_run *w, size_t run)
{
    const struct experiment_file *file = w->file;
    const size_t n = file->model->parameter_count;
    /* One run's draws do not depend on another's. */
    struct random_source random = {.state = file->seed * UINT64_C(0x9E3779B97F4A7C15) + run};
    w->trial = file->trial;
    w->trial.input = w->input;
    w->trial.seed = file->seed * UINT64_C(0xBF58476D1CE4E5B9) + run;
    draw_theta(&file->reference, n, NULL, &random, w->trial.reference);
    draw_theta(&file->plant, n, w->draws ? w->draws + run * n : NULL, &random, w->trial.plant);
}

static void store_point(void *context, const struct trial_point *point)
{
    struct follow_study *study = context;
    study->points[study->point_count++] = *point;
}

static void store_figures(struct study_run *w, const struct trial_result *result)
{
    struct follow_study *study = w->study;
    if (result->diverged) {
        study->diverged++;
        return;
    }
    struct run_figures *figures = &w->figures[study->runs++];
    for (size_t i = 0; i < study->states; i++) {
        figures->rmse[i] = tracking_rmse(&result->state[i]);
        figures->mae[i] = tracking_mae(&result->state[i]);
        figures->r2[i] = tracking_r2(&result->state[i]);
    }
    memcpy(figures->found_ratio, result->found_ratio, sizeof figures->found_ratio);
    memcpy(figures->unmatched_rms, result->unmatched_rms, sizeof figures->unmatched_rms);
    study->saturated_ratio += result->saturated_ratio;
}

/* Quantiles of one figure over all runs; first points to the figure of the first run. */
static struct follow_quantiles find_quantiles(double *first, size_t runs, double worse)
{
    const size_t stride = sizeof(struct run_figures) / sizeof(double);
    gsl_sort(first, stride, runs);
    return (struct follow_quantiles){
        gsl_stats_median_from_sorted_data(first, stride, runs),
        gsl_stats_quantile_from_sorted_data(first, stride, runs, worse)};
}

static void summarise_runs(struct study_run *w)
{
    struct follow_study *study = w->study;
    struct run_figures *first = w->figures;
    for (size_t i = 0; i < study->states; i++) {
        struct follow_state *state = &study->state[i];
        state->rmse = find_quantiles(&first->rmse[i], study->runs, 0.95);
        state->mae = find_quantiles(&first->mae[i], study->runs, 0.95);
        state->r2 = find_quantiles(&first->r2[i], study->runs, 0.05);
    }
    for (size_t i = 0; i < w->file->model->axis_count; i++) {
        study->found_ratio[i] =
            find_quantiles(&first->found_ratio[i], study->runs, 0.95).median;
        study->unmatched_rms[i] =
            find_quantiles(&first->unmatched_rms[i], study->runs, 0.95).median;
    }
    study->saturated_ratio /= (double)study->runs;
}

/* Simulates without the follower, with the best known parameters. */
static void run_open_loop(struct study_run *w)
{
    struct trial_result result;
    w->trial = w->file->trial;
    w->trial.input = w->input;
    w->trial.drive = w->file->sticks == EXPERIMENT_EFFORTS ? TRIAL_EFFORTS : TRIAL_COMMANDS;
    trial_run(&w->trial, w->flight, NULL, NULL, &result);
    for (size_t i = 0; i < w->study->states; i++) {
        w->study->state[i].open_loop_rmse =
            w->file->trial.drive == TRIAL_FOLLOW ? tracking_rmse(&result.state[i]) : nan("");
    }
}

static enum status run_all(struct study_run *w, follow_go_on *go_on, void *context,
                           struct err *err)
{
    struct follow_study *study = w->study;
    for (size_t run = 0; run < w->file->runs; run++) {
        struct trial_result result;
        if (go_on && !go_on(context, run, w->file->runs)) {
            break;
        }
        prepare_run(w, run);
        const enum status status = trial_check(&w->trial, err);
        if (status != STATUS_OK) {
            return status;
        }
        trial_run(&w->trial, w->flight, run == 0 ? store_point : NULL, study, &result);
        store_figures(w, &result);
    }
    if (study->runs == 0) {
        return err_set(err, STATUS_E_EMPTY,
                       study->diverged > 0 ? FAULT_DIVERGED : FAULT_CANCELLED, w->file->name,
                       study->diverged > 0 ? "the simulated robot was lost in every run: lower "
                                             "bandwidths or a shorter period are wanted"
                                           : "stopped before a run was finished");
    }
    run_open_loop(w);
    summarise_runs(w);
    return STATUS_OK;
}

enum status follow_study_run(const struct experiment_file *file, follow_go_on *go_on,
                             void *context, struct follow_study *out, struct err *err)
{
    struct follow_study study = {.file = file, .states = 2 * file->model->axis_count};
    struct study_run w = {
        .file = file, .study = &study, .input.step_s = file->trial.input.step_s};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < study.states; i++) {
        experiment_state_name(file->model, i, study.state[i].name, sizeof study.state[i].name);
    }
    if (!allocate_run(&w)) {
        status = err_no_memory(err, file->name, "not enough memory");
    }
    if (status == STATUS_OK) {
        status = read_input(&w, err);
    }
    if (status == STATUS_OK && w.draws) {
        status = read_draws(&w, err);
    }
    if (status == STATUS_OK) {
        status = run_all(&w, go_on, context, err);
    }
    free_run(&w);
    if (status == STATUS_OK) {
        *out = study;
    } else {
        follow_study_free(&study);
    }
    return status;
}

void follow_study_free(struct follow_study *study)
{
    free(study->points);
    study->points = NULL;
    study->point_count = 0;
}
