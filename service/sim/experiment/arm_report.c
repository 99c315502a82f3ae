/* service/sim/experiment/arm_report.c - reports a struct arm_study in words, numbers and
 * plots. */
#include <math.h>

#include "base/numbers/lab_time.h"
#include "service/sim/experiment/arm_study.h"
#include "service/tool/json_file.h"

static const char *name_of(const struct arm_file *file)
{
    return file->recording_path[0] ? "a recording" : "a simulated arm";
}

/* ---- JSON ---- */

static void write_errors(struct json_writer *w, const char *key, const struct arm_errors *e)
{
    const double known = e->n > 0 ? 1.0 : nan("");
    JSON_WRITE_OBJECT(w, key, JSON("tool_rms_mm", 1e3 * arm_errors_tool_rms_m(e)),
                      JSON("tool_max_mm", 1e3 * e->tool_max_m * known),
                      JSON("joint_rms_mrad", 1e3 * arm_errors_joint_rms_rad(e)),
                      JSON("joint_max_mrad", 1e3 * e->joint_max_rad * known));
}

static void write_members(const void *what, struct json_writer *w)
{
    const struct arm_study *study = what;
    const struct arm_file *file = study->file;
    JSON_WRITE(w, JSON("experiment", file->name), JSON("purpose", file->purpose),
               JSON("kind", "arm"), JSON("arm", file->arm.name),
               JSON_BOOL("recorded", file->recording_path[0] != '\0'),
               JSON("runs", file->case_count), JSON_WHOLE("lost", 0),
               JSON("duration_s", study->duration_s));
    JSON_LIST(w, "telemetry", size_t i = 0; i < file->case_count; i++) {
        JSON_OPEN(w, NULL, JSON("rate_hz", file->telemetry[i].rate_hz),
                  JSON("late_s", file->telemetry[i].late_s));
        for (int k = 0; k < ARM_SHOWN_COUNT; k++) {
            write_errors(w, arm_shown_name((enum arm_shown)k), &study->shown[i][k]);
        }
        json_write_close(w);
    }
    JSON_OPEN(w, "commands", JSON("moves", study->commands.moves),
              JSON("others", study->commands.others));
    JSON_LIST(w, "begun", size_t i = 0; i < file->off_count; i++) {
        JSON_OPEN(w, NULL, JSON("off_s", file->off_s[i]));
        write_errors(w, "errors", &study->commanded[i]);
        json_write_close(w);
    }
    json_write_close(w);
}

/* ---- CSV ---- */

#define ERRORS " tool_rms_mm tool_max_mm joint_rms_mrad joint_max_mrad"

static void write_telemetry_csv(const void *what, FILE *out)
{
    csv_tables_unfold(json_file_document(write_members, what), "telemetry", NULL, "shown",
                      "rate_hz late_s shown" ERRORS, out);
}

static void write_commands_csv(const void *what, FILE *out)
{
    csv_tables_unfold(json_file_document(write_members, what), "commands.begun", NULL, "what",
                      "off_s" ERRORS, out);
}

static void write_run_csv(const void *what, FILE *out)
{
    const struct arm_study *study = what;
    (void)fputs("t_s,shown,tool_gap_mm", out);
    for (int j = 1; j <= ARM_JOINTS; j++) {
        (void)fprintf(out, ",q%d_rad,shown_q%d_rad", j, j);
    }
    (void)fputc('\n', out);
    for (size_t i = 0; i < study->point_count; i++) {
        const struct arm_point *p = &study->points[i];
        for (int k = 0; k < ARM_SHOWN_COUNT; k++) {
            csv_tables_number(out, lab_s(p->row.t_us), false);
            (void)fprintf(out, "%s,", arm_shown_name((enum arm_shown)k));
            csv_tables_number(out, 1e3 * p->tool_gap_m[k], false);
            for (size_t j = 0; j < ARM_JOINTS; j++) {
                csv_tables_number(out, p->row.q_rad[j], false);
                csv_tables_number(out, p->shown_rad[k][j], j + 1 == ARM_JOINTS);
            }
        }
    }
}

/* ---- picture ---- */

/* Sizes in pixels; a curve with more points looks the same. */
enum {
    WIDTH = 1000,
    ROW_HEIGHT = 260,
    HEAD = 64,
    FOOT = 48,
    LEFT = 90,
    RIGHT = 24,
    POINTS = 4000
};

enum panel { PANEL_ANGLES, PANEL_GAP, PANELS };

/* s of the run that are drawn, about three moves. */
static const double DRAWN_S = 30.0;
static const double GAP_LEAST_MM = 0.01; /* mm, lower end of the logarithmic panel */

static void place_panel(FILE *to, enum panel panel)
{
    const double height = HEAD + FOOT + PANELS * ROW_HEIGHT;
    const double top = HEAD + (double)panel * ROW_HEIGHT;
    gnuplot_place(to, (double)LEFT / WIDTH, 1.0 - (double)RIGHT / WIDTH,
                  (top + 0.06 * ROW_HEIGHT) / height, (top + 0.88 * ROW_HEIGHT) / height);
    (void)fputs(panel + 1 == PANELS ? "set format x '%g'\nset xlabel 'time, s'\n"
                                    : "set format x ''\nunset xlabel\n",
                to);
}

static void write_angles(FILE *to)
{
    static const char *const colors[ARM_JOINTS] = {"#222222", "#c8501e", "#3c7a57",
                                                   "#9bb4c8", "#5a6e7d", "#b08a2e"};
    place_panel(to, PANEL_ANGLES);
    gnuplot_side(to, "q_rad", 0.08);
    (void)fputs("plot", to);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        (void)fprintf(to,
                      "%s $run every step using ($1-begin):%zu with lines lc '%s' lw 1.6 title "
                      "'joint %zu'",
                      j > 0 ? "," : "", 2 * j + 4, colors[j], j + 1);
    }
    (void)fputc('\n', to);
}

static void write_gaps(FILE *to)
{
    static const char *const colors[ARM_SHOWN_COUNT] = {"#9bb4c8", "#3c7a57", "#c8501e",
                                                        "#222222"};
    place_panel(to, PANEL_GAP);
    gnuplot_side(to, "tools apart, mm", 0.08);
    (void)fprintf(to, "set logscale y\nset yrange [%g:*]\nplot", GAP_LEAST_MM);
    for (int k = 0; k < ARM_SHOWN_COUNT; k++) {
        (void)fprintf(to,
                      "%s $run every step::%d using ($1-begin):(gap($3)) with lines lc '%s' lw "
                      "1.2 title '%s'",
                      k > 0 ? "," : "", k, colors[k], arm_shown_name((enum arm_shown)k));
    }
    (void)fputc('\n', to);
}

static void write_plot(FILE *to, const void *what)
{
    const struct arm_study *study = what;
    const struct arm_telemetry *t = &study->file->telemetry[0];
    char title[ARM_NAME_MAX + 96];
    (void)snprintf(title, sizeof title, "%s: %s, %g Hz, %g ms late", study->file->name,
                   name_of(study->file), t->rate_hz, 1e3 * t->late_s);
    gnuplot_start(to, WIDTH, HEAD + FOOT + PANELS * ROW_HEIGHT);
    gnuplot_table(to, write_run_csv, study); /* a row for each time and each way to show it */
    (void)fprintf(to, "step = %zu\nbegin = %.9g\ngap(mm) = mm > %g ? mm : %g\n",
                  ARM_SHOWN_COUNT * (study->point_count / POINTS + 1),
                  study->point_count > 0 ? lab_s(study->points[0].row.t_us) : 0.0,
                  0.1 * GAP_LEAST_MM, 0.1 * GAP_LEAST_MM);
    gnuplot_panels(to, title, " font 'sans-serif,11'");
    (void)fprintf(to,
                  "set xrange [0:%.6g]\n"
                  "set key at graph 0.99, graph 1.13 right horizontal samplen 2\n",
                  fmin(study->duration_s, DRAWN_S));
    write_angles(to);
    write_gaps(to);
}

static const struct csv_table tables[] = {{"telemetry.csv", write_telemetry_csv},
                                          {"commands.csv", write_commands_csv},
                                          {"run.csv", write_run_csv}};

const struct experiment_output arm_output = {.members = write_members,
                                             .tables = tables,
                                             .table_count = COUNT(tables),
                                             .script = write_plot};
