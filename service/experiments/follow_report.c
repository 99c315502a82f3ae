#include "service/experiments/follow_report.h"

#include <math.h>

/* --- for people --------------------------------------------------------------------------- */

static const char *text_of_drive(const struct trial_params *trial)
{
    switch (trial->drive) {
    case TRIAL_EFFORTS:
        return "open loop, the same efforts";
    case TRIAL_COMMANDS:
        return "open loop, the same commands";
    case TRIAL_FOLLOW:
    default:
        return trial->source == TRIAL_SHADOW ? "following by telemetry" : "following";
    }
}

static const char *name_of(const struct experiment_robot *robot)
{
    return robot->vessel[0] ? robot->vessel : "parameters of the file";
}

static void print_states(const struct follow_study *study, FILE *out)
{
    const struct experiment_paper *paper = &study->file->paper;
    (void)fprintf(out, "\n%-6s %10s %10s %10s %10s | %10s %10s | %10s %10s\n", "state", "RMSE",
                  "p95", "paper", "open loop", "MAE", "paper", "R2", "paper");
    for (size_t i = 0; i < study->states; i++) {
        const struct follow_state *s = &study->state[i];
        const double values[] = {s->rmse.median,    s->rmse.p95,   paper->rmse[i],
                                 s->open_loop_rmse, s->mae.median, paper->mae[i],
                                 s->r2.median,      paper->r2[i]};
        (void)fprintf(out, "%-6s", s->name);
        for (size_t k = 0; k < COUNT(values); k++) {
            char cell[EXPERIMENT_CELL_BYTES];
            (void)fprintf(out, "%s %10s", k == 4 || k == 6 ? " |" : "",
                          experiment_cell(values[k], 4, 'g', cell));
        }
        (void)fputc('\n', out);
    }
}

static void print_forces(const struct follow_study *study, FILE *out)
{
    const struct model *model = study->file->model;
    const struct trial_params *trial = &study->file->trial;
    if (trial->drive != TRIAL_FOLLOW) {
        return;
    }
    for (size_t i = 0; i < model->axis_count; i++) {
        if (isfinite(study->found_ratio[i])) {
            (void)fprintf(out, "force found along %s: %.1f %% of what acts%s\n",
                          study->state[i].name, 100.0 * study->found_ratio[i],
                          trial->follower.allocation.reaches[i] ? ""
                                                                : ", unmatched: nothing can "
                                                                  "push there");
        }
    }
    for (size_t i = 0; i < model->axis_count; i++) {
        if (!trial->follower.allocation.reaches[i] || study->saturated_ratio > 0.0) {
            (void)fprintf(out, "effort lacking, %s: %.3g (root mean square)\n",
                          model->axes[i].effort, study->unmatched_rms[i]);
        }
    }
    if (study->saturated_ratio > 0.0) {
        (void)fprintf(out, "at a limit of the actuators: %.2g %% of the time\n",
                      100.0 * study->saturated_ratio);
    }
}

static void print_page(const void *what, FILE *out)
{
    const struct follow_study *study = what;
    const struct experiment_file *file = study->file;
    experiment_title(file->name, file->purpose, out);
    (void)fprintf(out, "%s after %s: %s, %g s, control every %g ms\n", name_of(&file->plant),
                  name_of(&file->reference), text_of_drive(&file->trial),
                  file->trial.duration_s, 1e3 * file->trial.follower.period_s);
    (void)fprintf(out, "%zu of %u run%s (median, 95 %% quantile), seed %llu\n", study->runs,
                  (unsigned)file->runs, file->runs == 1 ? "" : "s",
                  (unsigned long long)file->seed);
    if (study->diverged > 0) {
        (void)fprintf(out, "LOST in %zu runs: velocities that are no numbers\n",
                      study->diverged);
    }
    print_states(study, out);
    print_forces(study, out);
}

/* --- JSON --------------------------------------------------------------------------------- */

/* Of one state: what its row in the JSON and in the table is made of, in this order. */
static const struct {
    const char *name, *worse;
    size_t offset;
} figures[] = {{"rmse", "p95", offsetof(struct follow_state, rmse)},
               {"mae", "p95", offsetof(struct follow_state, mae)},
               {"r2", "p5", offsetof(struct follow_state, r2)}};

static const struct follow_quantiles *figure_of(const struct follow_state *state, size_t k)
{
    const void *at = (const char *)state + figures[k].offset;
    return at;
}

static void write_states(struct json_writer *w, const struct follow_study *study)
{
    const struct experiment_paper *paper = &study->file->paper;
    json_write_object(w, "states");
    for (size_t i = 0; i < study->states; i++) {
        const struct follow_state *s = &study->state[i];
        json_write_object(w, s->name);
        for (size_t k = 0; k < COUNT(figures); k++) {
            json_write_object(w, figures[k].name);
            json_write_real(w, "median", figure_of(s, k)->median);
            json_write_real(w, figures[k].worse, figure_of(s, k)->p95);
            json_write_close(w);
        }
        json_write_real(w, "open_loop_rmse", s->open_loop_rmse);
        json_write_real(w, "paper_rmse", paper->rmse[i]);
        json_write_real(w, "paper_mae", paper->mae[i]);
        json_write_real(w, "paper_r2", paper->r2[i]);
        json_write_close(w);
    }
    json_write_close(w);
}

static void write_axes(struct json_writer *w, const char *key, const struct follow_study *study,
                       const double *values)
{
    json_write_object(w, key);
    for (size_t i = 0; i < study->file->model->axis_count; i++) {
        json_write_real(w, study->file->model->axes[i].effort, values[i]);
    }
    json_write_close(w);
}

static void write_members(const void *what, struct json_writer *w)
{
    const struct follow_study *study = what;
    const struct experiment_file *file = study->file;
    json_write_text(w, "experiment", file->name);
    json_write_text(w, "purpose", file->purpose);
    json_write_text(w, "model", file->model->name);
    json_write_int(w, "runs", (int64_t)study->runs);
    json_write_int(w, "lost", (int64_t)study->diverged);
    json_write_int(w, "seed", (int64_t)file->seed);
    json_write_real(w, "duration_s", file->trial.duration_s);
    json_write_real(w, "period_s", file->trial.follower.period_s);
    write_states(w, study);
    write_axes(w, "found_ratio", study, study->found_ratio);
    write_axes(w, "unmatched_rms", study, study->unmatched_rms);
    json_write_real(w, "saturated_ratio", study->saturated_ratio);
}

/* --- CSV ---------------------------------------------------------------------------------- */

static void write_states_csv(const void *what, FILE *out)
{
    const struct follow_study *study = what;
    const struct experiment_paper *paper = &study->file->paper;
    (void)fputs("state,rmse_median,rmse_p95,mae_median,mae_p95,r2_median,r2_p5,open_loop_rmse,"
                "paper_rmse,paper_mae,paper_r2\n",
                out);
    for (size_t i = 0; i < study->states; i++) {
        const struct follow_state *s = &study->state[i];
        const double cells[] = {s->rmse.median, s->rmse.p95, s->mae.median,     s->mae.p95,
                                s->r2.median,   s->r2.p95,   s->open_loop_rmse, paper->rmse[i],
                                paper->mae[i],  paper->r2[i]};
        (void)fprintf(out, "%s,", s->name);
        for (size_t k = 0; k < COUNT(cells); k++) {
            csv_tables_number(out, cells[k], k + 1 == COUNT(cells));
        }
    }
}

static void write_run_csv(const void *what, FILE *out)
{
    const struct follow_study *study = what;
    const struct model *model = study->file->model;
    const size_t axes = model->axis_count;
    (void)fputs("t_s", out);
    for (size_t i = 0; i < 2 * axes; i++) {
        const struct model_axis *axis = &model->axes[i % axes];
        const char *name = i < axes ? axis->velocity : axis->pose;
        (void)fprintf(out, ",reference_%s,%s", name, name);
    }
    for (size_t i = 0; i < axes; i++) {
        const char *name = model->axes[i].effort;
        (void)fprintf(out, ",%s,unmatched_%s,disturbance_%s", name, name, name);
    }
    (void)fputc('\n', out);
    for (size_t k = 0; k < study->point_count; k++) {
        const struct trial_point *p = &study->points[k];
        csv_tables_number(out, p->t_s, false);
        for (size_t i = 0; i < 2 * axes; i++) {
            csv_tables_number(out, p->reference[i], false);
            csv_tables_number(out, p->actual[i], false);
        }
        for (size_t i = 0; i < axes; i++) {
            csv_tables_number(out, p->output.tau[i], false);
            csv_tables_number(out, p->output.unmatched[i], false);
            csv_tables_number(out, p->output.disturbance[i], i + 1 == axes);
        }
    }
}

static const struct csv_table tables[] = {{"states.csv", write_states_csv},
                                          {"run.csv", write_run_csv}};

const struct experiment_output follow_output = {.page = print_page,
                                                .members = write_members,
                                                .tables = tables,
                                                .table_count = COUNT(tables),
                                                .script = follow_plot_write};
