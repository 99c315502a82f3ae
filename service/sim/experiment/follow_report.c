/* service/sim/experiment/follow_report.c - prints the results of `tandem follow` for people,
 * as JSON, as CSV and as a picture. */
#include <math.h>

#include "service/sim/experiment/follow_study.h"
#include "service/tool/json_file.h"

/* --- JSON --------------------------------------------------------------------------------- */

static void write_states(struct json_writer *w, const struct follow_study *study)
{
    const struct experiment_paper *paper = &study->file->paper;
    JSON_MAP(w, "states", size_t i = 0; i < study->states; i++) {
        const struct follow_state *s = &study->state[i];
        JSON_WRITE_OBJECT(
            w, s->name, JSON_OBJECT("rmse", JSON_OF(&s->rmse, median, p95)),
            JSON_OBJECT("mae", JSON_OF(&s->mae, median, p95)),
            JSON_OBJECT("r2", JSON("median", s->r2.median), JSON("p5", s->r2.p95)),
            JSON("open_loop_rmse", s->open_loop_rmse), JSON("paper_rmse", paper->rmse[i]),
            JSON("paper_mae", paper->mae[i]), JSON("paper_r2", paper->r2[i]));
    }
}

static void write_axes(struct json_writer *w, const char *key, const struct follow_study *study,
                       const double *values)
{
    JSON_MAP(w, key, size_t i = 0; i < study->file->model->axis_count; i++) {
        json_write_real(w, study->file->model->axes[i].effort, values[i]);
    }
}

static void write_members(const void *what, struct json_writer *w)
{
    const struct follow_study *study = what;
    const struct experiment_file *file = study->file;
    JSON_WRITE(w, JSON("experiment", file->name), JSON("purpose", file->purpose),
               JSON("model", file->model->name), JSON("runs", study->runs),
               JSON("lost", study->diverged), JSON("seed", file->seed),
               JSON("duration_s", file->trial.duration_s),
               JSON("period_s", file->trial.follower.period_s));
    write_states(w, study);
    write_axes(w, "found_ratio", study, study->found_ratio);
    write_axes(w, "unmatched_rms", study, study->unmatched_rms);
    json_write_real(w, "saturated_ratio", study->saturated_ratio);
}

/* --- CSV ---------------------------------------------------------------------------------- */

static void write_states_csv(const void *what, FILE *out)
{
    csv_tables_unfold(json_file_document(write_members, what), NULL, "states", "state",
                      "state rmse.median rmse.p95 mae.median mae.p95 r2.median r2.p5 "
                      "open_loop_rmse paper_rmse paper_mae paper_r2",
                      out);
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

/* --- picture ------------------------------------------------------------------------------ */

/* A curve with more points looks the same. */
enum { POINTS = 2000 };
/* Longer titles do not fit above the plot. */
enum { TITLE_MAX = 110 };
/* Sizes in pixels. */
enum { COLUMN_WIDTH = 640, ROW_HEIGHT = 260, HEAD = 64, FOOT = 52, LEFT = 106, RIGHT = 20 };

static const double SIDE = 0.165; /* ratio of the width, distance of axis names from a panel */

static const char REFERENCE[] = "#9bb4c8";
static const char SIMULATED[] = "#c8501e";
static const char RESIDUAL[] = "#5a6e7d";
static const char EFFORT[] = "#3c7a57";

/* The data are run.csv: time, then reference and simulated for each state, then three columns
 * of each effort. */
static size_t column_of_state(size_t state)
{
    return 2 + 2 * state;
}

static size_t column_of_effort(const struct follow_study *study, size_t axis)
{
    return 2 + 2 * study->states + 3 * axis;
}

enum part { UPPER, LOWER };

static void place_panel(FILE *to, size_t axes, size_t column, size_t axis, enum part part)
{
    const double width = 2.0 * COLUMN_WIDTH;
    const double height = HEAD + FOOT + (double)axes * ROW_HEIGHT;
    const double top = HEAD + (double)axis * ROW_HEIGHT;
    gnuplot_place(to, ((double)column * COLUMN_WIDTH + LEFT) / width,
                  ((double)(column + 1) * COLUMN_WIDTH - RIGHT) / width,
                  (top + (part == LOWER ? 0.62 : 0.02) * ROW_HEIGHT) / height,
                  (top + (part == LOWER ? 0.91 : 0.54) * ROW_HEIGHT) / height);
    const bool last = part == LOWER && axis + 1 == axes;
    (void)fputs(last ? "set format x '%g'\nset xlabel 'time, s'\n"
                     : "set format x ''\nunset xlabel\n",
                to);
}

/* Plots reference and simulated. */
static void write_both(FILE *to, const struct follow_study *study, size_t column, size_t axis)
{
    const struct model_axis *names = &study->file->model->axes[axis];
    const size_t axes = study->file->model->axis_count;
    const size_t at = column_of_state(column * axes + axis);
    place_panel(to, axes, column, axis, UPPER);
    gnuplot_side(to, column == 0 ? names->velocity : names->pose, SIDE);
    (void)fprintf(to,
                  "set ytics autofreq\nset key %s\n"
                  "plot $run every step using 1:%zu with lines lc '%s' lw 4 title 'reference', "
                  "$run every step using 1:%zu with lines lc '%s' lw 1.4 title 'simulated'\n"
                  "set key off\n",
                  axis == 0 && column == 0 ? "on" : "off", at, REFERENCE, at + 1, SIMULATED);
}

/* Returns the largest error of an axis, or its largest effort. */
static double largest_of(const struct follow_study *study, size_t axis, bool effort)
{
    double most = 0.0;
    for (size_t k = 0; k < study->point_count; k++) {
        const struct trial_point *p = &study->points[k];
        const double y = effort ? p->output.tau[axis] : p->reference[axis] - p->actual[axis];
        most = isfinite(y) ? fmax(most, fabs(y)) : most;
    }
    return most > 0.0 ? most : 1.0;
}

/* Centres the scale at zero, with a round number on either side. */
static void write_scale(FILE *to, double most)
{
    const double tic = gnuplot_tic(most);
    (void)fprintf(to, "set ytics (%g, 0, %g)\nset yrange [%g:%g]\n", -tic, tic, -1.15 * most,
                  1.15 * most);
}

static void write_error(FILE *to, const struct follow_study *study, size_t axis)
{
    const size_t at = column_of_state(axis);
    place_panel(to, study->file->model->axis_count, 0, axis, LOWER);
    write_scale(to, largest_of(study, axis, false));
    gnuplot_side(to, "error", SIDE);
    (void)fprintf(
        to,
        "set label 1 'largest %.2g' at graph 0.995, graph 1.12 right front "
        "tc '#444444'\n"
        "plot 0 with lines lc '#bbbbbb' lw 1, "
        "$run every step using 1:($%zu-$%zu) with lines lc '%s' lw 1.2\nunset label 1\n"
        "set yrange [*:*]\n",
        largest_of(study, axis, false), at, at + 1, RESIDUAL);
}

static void write_effort(FILE *to, const struct follow_study *study, size_t axis)
{
    place_panel(to, study->file->model->axis_count, 1, axis, LOWER);
    write_scale(to, largest_of(study, axis, true));
    gnuplot_side(to, study->file->model->axes[axis].effort, SIDE);
    (void)fprintf(to,
                  "plot 0 with lines lc '#bbbbbb' lw 1, "
                  "$run every step using 1:%zu with lines lc '%s' lw 1.2\nset yrange [*:*]\n",
                  column_of_effort(study, axis), EFFORT);
}

static void write_plot(FILE *to, const void *what)
{
    const struct follow_study *study = what;
    const size_t axes = study->file->model->axis_count;
    char title[EXPERIMENT_NAME_MAX + EXPERIMENT_TEXT_MAX];
    const int length = snprintf(title, sizeof title, "%s%s%s", study->file->name,
                                study->file->purpose[0] ? ": " : "", study->file->purpose);
    gnuplot_start(to, 2 * COLUMN_WIDTH, HEAD + FOOT + axes * ROW_HEIGHT);
    gnuplot_table(to, write_run_csv, study);
    (void)fprintf(to, "step = %zu\n", study->point_count / POINTS + 1);
    gnuplot_panels(to, length <= TITLE_MAX ? title : study->file->name,
                   " font 'sans-serif,11'");
    (void)fprintf(to,
                  "set ytics autofreq\n"
                  "set key at graph 0.99, graph 1.14 right horizontal samplen 2\n"
                  "set xrange [0:%.6g]\n",
                  study->file->trial.duration_s);
    for (size_t axis = 0; axis < axes; axis++) {
        write_both(to, study, 0, axis);
        write_error(to, study, axis);
        write_both(to, study, 1, axis);
        write_effort(to, study, axis);
    }
}

static const struct csv_table tables[] = {{"states.csv", write_states_csv},
                                          {"run.csv", write_run_csv}};

const struct experiment_output follow_output = {.members = write_members,
                                                .tables = tables,
                                                .table_count = COUNT(tables),
                                                .script = write_plot};
