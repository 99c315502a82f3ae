#include "service/sim/experiment/joint_study.h"

#include <math.h>
#include <stdlib.h>

#include "service/tool/json_file.h"

struct track {
    struct joint_trial_point *points;
    size_t count, room;
};

static void store_point(void *context, const struct joint_trial_point *point)
{
    struct track *track = context;
    if (track->count < track->room) {
        track->points[track->count++] = *point;
    }
}

enum status joint_study_run(const struct joint_file *file, struct joint_study *out,
                            struct err *err)
{
    const size_t room = (size_t)(file->trial.duration_s / file->trial.sample_s) + 2;
    struct joint_study study = {.file = file, .point_room = room};
    study.points = calloc(POSITION_KIND_COUNT * room, sizeof study.points[0]);
    if (!study.points) {
        return err_no_memory(err, file->name, "not enough memory");
    }
    for (size_t i = 0; i < file->lag_count; i++) {
        for (size_t k = 0; k < POSITION_KIND_COUNT; k++) {
            struct joint_trial_params trial;
            struct track track = {study.points + k * room, 0, room};
            if (!file->runs[k]) {
                continue;
            }
            joint_file_trial(file, i, (enum position_kind)k, &trial);
            joint_trial_run(&trial, i == 0 ? store_point : NULL, &track, &study.result[i][k]);
            study.point_count = i == 0 ? track.count : study.point_count; /* the same for all */
        }
    }
    *out = study;
    return STATUS_OK;
}

void joint_study_free(struct joint_study *study)
{
    free(study->points);
    study->points = NULL;
    study->point_count = 0;
}

/* --- JSON ----------------------------------------------------------------------------------
 */

static void write_controllers(struct json_writer *w, const struct joint_study *study,
                              size_t lag)
{
    JSON_MAP(w, "controllers", int k = 0; k < POSITION_KIND_COUNT; k++) {
        const struct joint_trial_result *r = &study->result[lag][k];
        const struct joint_indices *paper = &study->file->paper[k];
        if (!study->file->runs[k]) {
            continue;
        }
        JSON_WRITE_OBJECT(w, position_kind_name((enum position_kind)k),
                          JSON_OF(&r->integral, ise, iae, itae),
                          JSON_OF(r, settle_s, rest_s, overshoot, final_error),
                          JSON("ise_sum", r->sum.ise), JSON("iae_sum", r->sum.iae),
                          JSON("itae_sum", r->sum.itae), JSON("paper_ise", paper->ise),
                          JSON("paper_iae", paper->iae), JSON("paper_itae", paper->itae));
    }
}

static void write_members(const void *what, struct json_writer *w)
{
    const struct joint_study *study = what;
    const struct joint_file *file = study->file;
    JSON_WRITE(w, JSON("experiment", file->name), JSON("purpose", file->purpose),
               JSON("kind", "joint"), JSON("runs", file->lag_count), JSON_WHOLE("lost", 0),
               JSON("set_point_rad", file->trial.set_point),
               JSON("duration_s", file->trial.duration_s),
               JSON("period_s", file->trial.control.period_s),
               JSON("sample_s", file->trial.sample_s), JSON("lag_s", file->lag_s[0]));
    write_controllers(w, study, 0);
    JSON_LIST(w, "lags", size_t i = 0; i < file->lag_count; i++) {
        JSON_OPEN(w, NULL, JSON("lag_s", file->lag_s[i]));
        write_controllers(w, study, i);
        json_write_close(w);
    }
}

/* --- CSV -----------------------------------------------------------------------------------
 */

static void write_controllers_csv(const void *what, FILE *out)
{
    csv_tables_unfold(json_file_document(write_members, what), "lags", "controllers",
                      "controller",
                      "lag_s controller ise iae itae settle_s rest_s overshoot final_error "
                      "ise_sum iae_sum itae_sum",
                      out);
}

static void write_run_csv(const void *what, FILE *out)
{
    const struct joint_study *study = what;
    (void)fputs("t_s,controller,q_rad,w_radps,command_radps\n", out);
    for (size_t k = 0; k < POSITION_KIND_COUNT; k++) {
        for (size_t i = 0; i < study->point_count && study->file->runs[k]; i++) {
            const struct joint_trial_point *p = &study->points[k * study->point_room + i];
            csv_tables_number(out, p->t_s, false);
            (void)fprintf(out, "%s,", position_kind_name((enum position_kind)k));
            csv_tables_number(out, p->q, false);
            csv_tables_number(out, p->w, false);
            csv_tables_number(out, p->command, true);
        }
    }
}

/* --- picture ------------------------------------------------------------------------------ */

/* Sizes in pixels. */
enum { WIDTH = 900, ROW_HEIGHT = 210, HEAD = 64, FOOT = 44, LEFT = 90, RIGHT = 24 };

/* Panels of the plot. */
enum row { ROW_POSITION, ROW_ERROR, ROW_SPEED, ROW_COMMAND, ROW_COUNT };

static const double ERROR_LEAST_RAD = 1e-4; /* lower end of the logarithmic panel */

/* The plot ends a little after the last controller has arrived. */
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
    static const char *const columns[ROW_COUNT] = {"3", "(distance($3))", "4", "5"};
    static const char *const colors[POSITION_KIND_COUNT] = {[POSITION_P] = "#9bb4c8",
                                                            [POSITION_FSM] = "#3c7a57",
                                                            [POSITION_PROFILE] = "#c8501e",
                                                            [POSITION_TIME_OPTIMAL] =
                                                                "#222222"};
    const double height = HEAD + FOOT + ROW_COUNT * ROW_HEIGHT;
    const double top = HEAD + (double)row * ROW_HEIGHT;
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
    for (size_t k = 0, begin = 0; k < POSITION_KIND_COUNT; k++) {
        if (study->file->runs[k]) {
            (void)fprintf(
                to, "%s $run every ::%zu::%zu using 1:%s with %s lc '%s' lw %s title '%s'",
                begin > 0 ? "," : "", begin, begin + study->point_count - 1, columns[row],
                row == ROW_COMMAND ? "steps" : "lines", colors[k],
                k == POSITION_TIME_OPTIMAL ? "1 dt 2" : "1.8",
                position_kind_name((enum position_kind)k));
            begin += study->point_count;
        }
    }
    (void)fputs("\nunset logscale y\nset yrange [*:*]\n"
                "set offsets 0, 0, graph 0.06, graph 0.06\n",
                to);
}

static void write_plot(FILE *to, const void *what)
{
    const struct joint_study *study = what;
    char title[JOINT_NAME_MAX + 64];
    (void)snprintf(title, sizeof title, "%s: %g rad, lag %g s", study->file->name,
                   study->file->trial.set_point, study->file->lag_s[0]);
    gnuplot_start(to, WIDTH, HEAD + FOOT + ROW_COUNT * ROW_HEIGHT);
    gnuplot_table(to, write_run_csv, study);
    (void)fprintf(to, "distance(q) = abs(%.9g - q) > %g ? abs(%.9g - q) : %g\n",
                  study->file->trial.set_point, 0.1 * ERROR_LEAST_RAD,
                  study->file->trial.set_point, 0.1 * ERROR_LEAST_RAD);
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

static const struct csv_table tables[] = {{"controllers.csv", write_controllers_csv},
                                          {"run.csv", write_run_csv}};

const struct experiment_output joint_output = {.members = write_members,
                                               .tables = tables,
                                               .table_count = COUNT(tables),
                                               .script = write_plot};
