#include "service/experiments/follow_report.h"

#include <math.h>
#include <stdio.h>

/* A curve of more points cannot be told from one of so many. */
enum { POINTS = 2000 };
/* Longer ones do not fit above the picture. */
enum { TITLE_MAX = 110 };
/* In pixels. */
enum { COLUMN_WIDTH = 640, ROW_HEIGHT = 260, HEAD = 64, FOOT = 52, LEFT = 106, RIGHT = 20 };

static const double SIDE = 0.165; /* names of axes stand so far left of a panel */

static const char REFERENCE[] = "#9bb4c8";
static const char SIMULATED[] = "#c8501e";
static const char LEFT_OVER[] = "#5a6e7d";
static const char EFFORT[] = "#3c7a57";

/* Columns of the data: time, then of each state reference and simulated, then the efforts. */
static size_t column_of_state(size_t state)
{
    return 2 + 2 * state;
}

static size_t column_of_effort(const struct follow_study *study, size_t axis)
{
    return 2 + 2 * study->states + axis;
}

static void write_data(FILE *to, const struct follow_study *study)
{
    const size_t axes = study->file->model->axis_count;
    const size_t step = study->point_count / POINTS + 1;
    (void)fputs("$run << EOD\n", to);
    for (size_t k = 0; k < study->point_count; k += step) {
        const struct trial_point *p = &study->points[k];
        (void)fprintf(to, "%.6g", p->t_s);
        for (size_t i = 0; i < study->states; i++) {
            (void)fprintf(to, " %.9g %.9g", p->reference[i], p->actual[i]);
        }
        for (size_t i = 0; i < axes; i++) {
            (void)fprintf(to, " %.6g", p->output.tau[i]);
        }
        (void)fputs("\n", to);
    }
    (void)fputs("EOD\n", to);
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

/* Reference and simulated. */
static void write_both(FILE *to, const struct follow_study *study, size_t column, size_t axis)
{
    const struct model_axis *names = &study->file->model->axes[axis];
    const size_t axes = study->file->model->axis_count;
    const size_t at = column_of_state(column * axes + axis);
    place_panel(to, axes, column, axis, UPPER);
    gnuplot_side(to, column == 0 ? names->velocity : names->pose, SIDE);
    (void)fprintf(to,
                  "set ytics autofreq\nset key %s\n"
                  "plot $run using 1:%zu with lines lc '%s' lw 4 title 'reference', "
                  "$run using 1:%zu with lines lc '%s' lw 1.4 title 'simulated'\n"
                  "set key off\n",
                  axis == 0 && column == 0 ? "on" : "off", at, REFERENCE, at + 1, SIMULATED);
}

/* The largest of the errors of an axis, or of its efforts. */
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

/* Zero in the middle, and a round number to either side. */
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
    (void)fprintf(to,
                  "set label 1 'largest %.2g' at graph 0.995, graph 1.12 right front "
                  "tc '#444444'\n"
                  "plot 0 with lines lc '#bbbbbb' lw 1, "
                  "$run using 1:($%zu-$%zu) with lines lc '%s' lw 1.2\nunset label 1\n"
                  "set yrange [*:*]\n",
                  largest_of(study, axis, false), at, at + 1, LEFT_OVER);
}

static void write_effort(FILE *to, const struct follow_study *study, size_t axis)
{
    place_panel(to, study->file->model->axis_count, 1, axis, LOWER);
    write_scale(to, largest_of(study, axis, true));
    gnuplot_side(to, study->file->model->axes[axis].effort, SIDE);
    (void)fprintf(to,
                  "plot 0 with lines lc '#bbbbbb' lw 1, "
                  "$run using 1:%zu with lines lc '%s' lw 1.2\nset yrange [*:*]\n",
                  column_of_effort(study, axis), EFFORT);
}

void follow_plot_write(FILE *to, const void *what)
{
    const struct follow_study *study = what;
    const size_t axes = study->file->model->axis_count;
    char title[EXPERIMENT_NAME_MAX + EXPERIMENT_TEXT_MAX];
    const int length = snprintf(title, sizeof title, "%s%s%s", study->file->name,
                                study->file->purpose[0] ? ": " : "", study->file->purpose);
    gnuplot_start(to, 2 * COLUMN_WIDTH, HEAD + FOOT + axes * ROW_HEIGHT);
    write_data(to, study);
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
