#include "service/experiments/follow_study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "service/experiments/follow_input.h"
#include "twin/robots/robot.h"

/* What one run is remembered by. */
struct run_figures {
    double rmse[TRIAL_STATES_MAX], mae[TRIAL_STATES_MAX], r2[TRIAL_STATES_MAX];
    double found_ratio[MODEL_AXES_MAX], unmatched_rms[MODEL_AXES_MAX];
};

struct study_run {
    const struct experiment_file *file;
    struct trial_params trial;
    struct follow_input input;
    double *draws;               /* [runs][parameters], NULL: own */
    struct run_figures *figures; /* [runs] */
    struct trial_sample *flight;
    struct follow_study *study;
};

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
    follow_input_free(&w->input);
    free(w->draws);
    free(w->figures);
    free(w->flight);
}

/* Theta of one run; draws: standard normal numbers, or NULL for those of random. */
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
    w->trial.input = w->input.input;
    w->trial.seed = file->seed * UINT64_C(0xBF58476D1CE4E5B9) + run;
    draw_theta(&file->reference, n, NULL, &random, w->trial.reference);
    draw_theta(&file->plant, n, w->draws ? w->draws + run * n : NULL, &random, w->trial.plant);
}

static void keep_point(void *context, const struct trial_point *point)
{
    struct follow_study *study = context;
    study->points[study->point_count++] = *point;
}

static void keep_figures(struct study_run *w, const struct trial_result *result)
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

/* Of one figure of all runs, which stands at first in those of the first run. */
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

/* What would happen without the follower, robots as they are best known. */
static void run_open_loop(struct study_run *w)
{
    struct trial_result result;
    w->trial = w->file->trial;
    w->trial.input = w->input.input;
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
        trial_run(&w->trial, w->flight, run == 0 ? keep_point : NULL, study, &result);
        keep_figures(w, &result);
    }
    if (study->runs == 0) {
        return err_set(err, STATUS_E_EMPTY, w->file->name, 0, 0,
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
    struct study_run w = {.file = file, .study = &study};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < study.states; i++) {
        experiment_state_name(file->model, i, study.state[i].name, sizeof study.state[i].name);
    }
    if (!allocate_run(&w)) {
        status = err_set(err, STATUS_E_NOMEM, file->name, 0, 0, "not enough memory");
    }
    if (status == STATUS_OK) {
        status = follow_input_read(file, &w.input, err);
    }
    if (status == STATUS_OK && w.draws) {
        status = follow_draws_read(file->draws_path, file->runs, file->model->parameter_count,
                                   w.draws, err);
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
