#include "service/experiments/joint_report.h"

#include <math.h>
#include <stdio.h>

/* In pixels. */
enum { WIDTH = 900, ROW_HEIGHT = 210, HEAD = 64, FOOT = 44, LEFT = 90, RIGHT = 24 };

/* What is drawn of each controller. */
enum row { ROW_POSITION, ROW_ERROR, ROW_SPEED, ROW_COMMAND, ROW_COUNT };

static const double ERROR_LEAST_RAD = 1e-4; /* of the logarithmic panel */

static void write_data(FILE *to, const struct joint_study *study)
{
    for (size_t k = 0; k < POSITION_KIND_COUNT; k++) {
        if (!study->file->runs[k]) {
            continue;
        }
        (void)fprintf(to, "$d%zu << EOD\n", k);
        for (size_t i = 0; i < study->point_count; i++) {
            const struct joint_trial_point *p = &study->points[k * study->point_room + i];
            const double error = fabs(study->file->trial.set_point - p->q);
            (void)fprintf(to, "%.6g %.9g %.6g %.6g %.6g\n", p->t_s, p->q,
                          fmax(error, 0.1 * ERROR_LEAST_RAD), p->w, p->command);
        }
        (void)fputs("EOD\n", to);
    }
}

/* Until a little after the last of them has arrived. */
static double end_of(const struct joint_study *study)
{
    double end_s = 0.0;
    for (size_t k = 0; k < POSITION_KIND_COUNT; k++) {
        if (study->file->runs[k]) {
            end_s = fmax(end_s, 1.4 * study->result[0][k].settle_s);
        }
    }
    return end_s > 0.0 ? fmin(end_s, study->file->trial.duration_s)
                       : study->file->trial.duration_s;
}

static void write_row(FILE *to, const struct joint_study *study, enum row row)
{
    static const char *const names[ROW_COUNT] = {"q_rad", "error_rad", "w_radps",
                                                 "command_radps"};
    static const char *const colors[POSITION_KIND_COUNT] = {[POSITION_P] = "#9bb4c8",
                                                            [POSITION_FSM] = "#3c7a57",
                                                            [POSITION_PROFILE] = "#c8501e",
                                                            [POSITION_TIME_OPTIMAL] =
                                                                "#222222"};
    const double height = HEAD + FOOT + ROW_COUNT * ROW_HEIGHT;
    const double top = HEAD + (double)row * ROW_HEIGHT;
    bool first = true;
    gnuplot_place(to, (double)LEFT / WIDTH, 1.0 - (double)RIGHT / WIDTH,
                  (top + 0.04 * ROW_HEIGHT) / height, (top + 0.90 * ROW_HEIGHT) / height);
    (void)fputs(row + 1 == ROW_COUNT ? "set format x '%g'\nset xlabel 'time, s'\n"
                                     : "set format x ''\n",
                to);
    if (row == ROW_ERROR) {
        (void)fprintf(to, "set offsets 0, 0, 0, 0\nset logscale y\nset yrange [%g:*]\n",
                      ERROR_LEAST_RAD);
    }
    gnuplot_side(to, names[row], 0.08);
    (void)fprintf(to, "set key %s\nplot", row == ROW_POSITION ? "on" : "off");
    for (int k = 0; k < POSITION_KIND_COUNT; k++) {
        if (study->file->runs[k]) {
            (void)fprintf(to, "%s $d%d using 1:%d with %s lc '%s' lw %s title '%s'",
                          first ? "" : ",", k, (int)row + 2,
                          row == ROW_COMMAND ? "steps" : "lines", colors[k],
                          k == POSITION_TIME_OPTIMAL ? "1 dt 2" : "1.8",
                          position_kind_name((enum position_kind)k));
            first = false;
        }
    }
    (void)fputs("\nunset logscale y\nset yrange [*:*]\n"
                "set offsets 0, 0, graph 0.06, graph 0.06\n",
                to);
}

void joint_plot_write(FILE *to, const void *what)
{
    const struct joint_study *study = what;
    char title[JOINT_NAME_MAX + 64];
    (void)snprintf(title, sizeof title, "%s: %g rad, lag %g s", study->file->name,
                   study->file->trial.set_point, study->file->lag_s[0]);
    gnuplot_start(to, WIDTH, HEAD + FOOT + ROW_COUNT * ROW_HEIGHT);
    write_data(to, study);
    gnuplot_panels(to, title, " font 'sans-serif,11'");
    (void)fprintf(to,
                  "set xrange [0:%.6g]\n"
                  "set offsets 0, 0, graph 0.06, graph 0.06\n"
                  "set key at graph 0.99, graph 1.16 right horizontal samplen 2\n",
                  end_of(study));
    for (int row = 0; row < ROW_COUNT; row++) {
        write_row(to, study, (enum row)row);
    }
}
