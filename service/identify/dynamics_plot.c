/* service/identify/dynamics_plot.c - plots measured and simulated velocities, or writes them as
 * columns. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "service/identify/identify_curves.h"
#include "service/identify/identify_dynamics.h"
#include "service/tool/gnuplot.h"

enum { PARTS_MAX = 2 };

/* A column of the plot. */
struct dynamics_plot_part {
    const char *title;          /* "recording", "held out" */
    const struct data_set *set; /* measured */
    double *const *residual;    /* [axes][set->n]: measured - simulated; NaN: not simulated */
};

struct dynamics_plot {
    const struct model *model; /* one row per axis: velocities, and their residuals below */
    const char *title;         /* any text */
    size_t part_count;         /* 1 .. PARTS_MAX */
    struct dynamics_plot_part part[PARTS_MAX];
};

/* A curve with more points looks the same. */
enum { BUCKETS = 1000 };
/* Sizes in pixels. */
enum { COLUMN_WIDTH = 720, ROW_HEIGHT = 250, HEAD = 64, FOOT = 52, LEFT = 84, RIGHT = 20 };

static const char MEASURED[] = "#9bb4c8";
static const char SIMULATED[] = "#c8501e";
static const char RESIDUAL[] = "#5a6e7d";

/* The kinds of curves. */
enum curve { CURVE_MEASURED, CURVE_SIMULATED, CURVE_RESIDUAL };

/* Runs are drawn one after another with a gap between them. */
static double start_of_run(const struct data_set *set, size_t run)
{
    const double space = 0.02 * (double)set->n * set->dt_s;
    return (double)set->run_start[run] * set->dt_s + (double)run * space;
}

/* A curve of the plot. */
struct line {
    const struct dynamics_plot_part *part;
    enum curve curve;
    size_t axis;
};

static double line_at(const struct line *line, size_t k)
{
    const double measured = line->part->set->nu[line->axis][k];
    const double residual = line->part->residual[line->axis][k];
    return line->curve == CURVE_MEASURED    ? measured
           : line->curve == CURVE_SIMULATED ? measured - residual
                                            : residual;
}

/* Writes the least and the largest of samples from .. end - 1 of a run, in order of time. */
static void write_stretch(FILE *to, const struct line *line, size_t run, size_t from,
                          size_t end)
{
    const struct data_set *set = line->part->set;
    size_t low = end;
    size_t high = end;
    for (size_t k = from; k < end; k++) {
        const double y = line_at(line, k);
        if (isfinite(y)) {
            low = low == end || y < line_at(line, low) ? k : low;
            high = high == end || y > line_at(line, high) ? k : high;
        }
    }
    const size_t both[] = {low < high ? low : high, low < high ? high : low};
    for (size_t i = 0; i < 2 && both[i] < end; i++) {
        if (i == 0 || both[1] != both[0]) {
            (void)fprintf(to, "%.6g %.6g\n",
                          start_of_run(set, run) +
                              (double)(both[i] - set->run_start[run]) * set->dt_s,
                          line_at(line, both[i]));
        }
    }
}

static void write_curve(FILE *to, const struct dynamics_plot_part *part, size_t p,
                        enum curve curve, size_t axis)
{
    const struct line line = {part, curve, axis};
    const struct data_set *set = part->set;
    const size_t step = set->n / BUCKETS + 1;
    (void)fprintf(to, "$d%zu_%zu_%d << EOD\n", p, axis, (int)curve);
    for (size_t run = 0; run < set->run_count; run++) {
        const size_t end = set->run_start[run + 1];
        for (size_t k = set->run_start[run]; k < end; k += step) {
            write_stretch(to, &line, run, k, k + step < end ? k + step : end);
        }
        (void)fputs("\n", to); /* end of the line */
    }
    /* gnuplot rejects a block without a number */
    (void)fputs("NaN NaN\nEOD\n", to);
}

/* Places a panel, in ratios of the plot's size. */
static void place_part(FILE *to, const struct dynamics_plot *plot, size_t p, size_t axis,
                       bool lower)
{
    const double width = (double)plot->part_count * COLUMN_WIDTH;
    const double height = HEAD + FOOT + (double)plot->model->axis_count * ROW_HEIGHT;
    const double top = HEAD + (double)axis * ROW_HEIGHT;
    const double begin = top + (lower ? 0.68 : 0.02) * ROW_HEIGHT;
    const double end = top + (lower ? 0.91 : 0.60) * ROW_HEIGHT;
    gnuplot_place(to, ((double)p * COLUMN_WIDTH + LEFT) / width,
                  ((double)(p + 1) * COLUMN_WIDTH - RIGHT) / width, begin / height,
                  end / height);
}

static void write_run_marks(FILE *to, const struct data_set *set)
{
    (void)fputs("unset arrow\n", to);
    for (size_t run = 1; run < set->run_count; run++) {
        const double t = start_of_run(set, run) - 0.01 * (double)set->n * set->dt_s;
        (void)fprintf(to,
                      "set arrow from %.6g, graph 0 to %.6g, graph 1 nohead lc '#cccccc' "
                      "lw 1 back\n",
                      t, t);
    }
}

/* Returns the largest residual, 1 for none; *rms gets the root mean square, NaN for none. */
static double largest_of(const struct dynamics_plot_part *part, size_t axis, double *rms)
{
    double most = 0.0;
    double sum = 0.0;
    size_t n = 0;
    for (size_t k = 0; k < part->set->n; k++) {
        const double e = fabs(part->residual[axis][k]);
        if (isfinite(e)) {
            most = fmax(most, e);
            sum += e * e;
            n++;
        }
    }
    *rms = n > 0 ? sqrt(sum / (double)n) : (double)NAN;
    return most > 0.0 ? most : 1.0;
}

static void write_residual(FILE *to, const struct dynamics_plot *plot, size_t p, size_t axis)
{
    const struct dynamics_plot_part *part = &plot->part[p];
    double rms = 0.0;
    const double most = largest_of(part, axis, &rms);
    const double tic = gnuplot_tic(most);
    char rms_text[64] = "could not be simulated";
    if (!isnan(rms)) {
        (void)snprintf(rms_text, sizeof rms_text, "RMSE %.3g", rms);
    }
    place_part(to, plot, p, axis, true);
    (void)fputs("unset title\nset key off\nset ylabel 'residual' offset 1,0\n", to);
    if (axis + 1 == plot->model->axis_count) {
        (void)fprintf(
            to, "set format x '%%g'\nset xlabel 'time, s%s'\n",
            part->set->run_count > 1 ? " (pieces of the recording one after the other)" : "");
    }
    (void)fprintf(to,
                  "set ytics (-%g, 0, %g)\nset yrange [%g:%g]\n"
                  "set label 1 '%s' at graph 0.995, graph 1.16 right front tc '#444444'\n"
                  "plot 0 with lines lc '#bbbbbb' lw 1 notitle, $d%zu_%zu_2 with lines "
                  "lc '%s' lw 1 notitle\nunset label 1\nset ytics autofreq\n"
                  "set yrange [*:*]\n",
                  tic, tic, -1.1 * most, 1.1 * most, rms_text, p, axis, RESIDUAL);
}

static void write_panels(FILE *to, const struct dynamics_plot *plot, size_t p, size_t axis)
{
    const struct dynamics_plot_part *part = &plot->part[p];
    const struct data_set *set = part->set;
    const double end = start_of_run(set, set->run_count - 1) +
                       (double)(set->n - set->run_start[set->run_count - 1]) * set->dt_s;
    write_run_marks(to, set);
    place_part(to, plot, p, axis, false);
    (void)fprintf(to, "set xrange [0:%.6g]\nset format x ''\nunset xlabel\nset ylabel ", end);
    gnuplot_label(to, plot->model->axes[axis].velocity);
    (void)fputs(axis == 0 ? " offset 1,0\nset title " : " offset 1,0\nunset title\n", to);
    if (axis == 0) {
        gnuplot_quoted(to, part->title);
        (void)fputs(" offset 0,0.2\n", to);
    }
    (void)fprintf(to,
                  "set key %s\n"
                  "plot $d%zu_%zu_0 with lines lc '%s' lw 1.6 title 'measured', "
                  "$d%zu_%zu_1 with lines lc '%s' lw 1.4 title 'simulated'\n",
                  axis == 0 && p == 0 ? "on" : "off", p, axis, MEASURED, p, axis, SIMULATED);
    write_residual(to, plot, p, axis);
}

static void write_script(FILE *to, const void *what)
{
    const struct dynamics_plot *plot = what;
    const size_t axes = plot->model->axis_count;
    gnuplot_start(to, plot->part_count * COLUMN_WIDTH, HEAD + FOOT + axes * ROW_HEIGHT);
    for (size_t p = 0; p < plot->part_count; p++) {
        for (size_t axis = 0; axis < axes; axis++) {
            for (int curve = CURVE_MEASURED; curve <= CURVE_RESIDUAL; curve++) {
                write_curve(to, &plot->part[p], p, (enum curve)curve, axis);
            }
        }
    }
    gnuplot_panels(to, plot->title, "");
    (void)fputs("set key at graph 0.99, graph 1.14 right horizontal samplen 2\n"
                "set ytics autofreq\n",
                to);
    for (size_t p = 0; p < plot->part_count; p++) {
        for (size_t axis = 0; axis < axes; axis++) {
            write_panels(to, plot, p, axis);
        }
    }
}

/* Computes the residuals of a data set, NaN when the model cannot be simulated; residual[0] is
 * to be freed. */
static enum status compute_residuals(const struct identify_result *result,
                                     const struct data_set *set, double **residual)
{
    struct dynamics_fit fit = result->fit;
    bool simulated = false;
    residual[0] = calloc(set->axes * set->n, sizeof **residual);
    if (!residual[0]) {
        return STATUS_E_NOMEM;
    }
    for (size_t a = 1; a < set->axes; a++) {
        residual[a] = residual[0] + a * set->n;
    }
    fit.delay_s -= result->lag.delay_s; /* the efforts of the set have this part */
    const enum status st =
        dynamics_check_residuals(result->kind->model, &fit, set, residual, &simulated);
    for (size_t k = 0; k < set->axes * set->n && !simulated; k++) {
        residual[0][k] = (double)NAN;
    }
    return st;
}

/* Adds the residuals of a data set as a column of the plot. */
static enum status add_part(const struct identify_result *result,
                            const struct identify_data *data, const char *title,
                            double **residual, struct dynamics_plot *plot)
{
    const struct data_set *set = &data->table.set;
    plot->part[plot->part_count++] = (struct dynamics_plot_part){title, set, residual};
    return compute_residuals(result, set, residual);
}

enum status identify_dynamics_plot(const struct identify_result *result, const char *path,
                                   struct err *err)
{
    const struct model *model = result->kind->model;
    double *residual[PARTS_MAX][MODEL_AXES_MAX] = {{NULL}};
    char title[256];
    struct dynamics_plot plot = {.model = model, .title = title};
    (void)snprintf(title, sizeof title, "%s by %s: %s", model->name,
                   dynamics_method_name(result->fit.method),
                   estimate_verdict_name(result->fit.estimate.verdict));
    const struct identify_data *const parts[] = {&result->own, &result->held_out};
    char titles[COUNT(parts)][160];
    enum status st = STATUS_OK;
    for (size_t i = 0; i < COUNT(parts) && parts[i]->files && st == STATUS_OK; i++) {
        const size_t more = parts[i]->files->count - 1;
        const int used =
            snprintf(titles[i], sizeof titles[i], "%s: %s", i == 0 ? "recording" : "held out",
                     parts[i]->files->file[0].name);
        if (more > 0 && (size_t)used < sizeof titles[i]) {
            (void)snprintf(titles[i] + used, sizeof titles[i] - (size_t)used, " and %zu more",
                           more);
        }
        st = add_part(result, parts[i], titles[i], residual[i], &plot);
    }
    st = st == STATUS_OK ? gnuplot_draw(write_script, &plot, path, err)
                         : err_set(err, st, FAULT_FIT_FAILED, "plot", "%s", status_name(st));
    for (size_t i = 0; i < COUNT(parts); i++) {
        free(residual[i][0]);
    }
    return st;
}

/* ---- columns ---- */

static void write_part(struct json_writer *w, const struct identify_result *result,
                       const struct identify_data *data, const char *part)
{
    const struct model *model = result->kind->model;
    const struct data_set *set = &data->table.set;
    double *residual[MODEL_AXES_MAX] = {NULL};
    struct curve_set curves = {.part = part,
                               .name = data->files->file[0].name,
                               .n = set->n,
                               .t_s = set->t_s,
                               .run_count = set->run_count,
                               .run_start = set->run_start};
    if (compute_residuals(result, set, residual) == STATUS_OK) {
        for (size_t a = 0; a < model->axis_count; a++) {
            const struct model_axis *axis = &model->axes[a];
            curves.column[curves.column_count++] = (struct curve_column){
                axis->velocity, axis->velocity_words, set->nu[a], residual[a]};
            curves.column[curves.column_count++] =
                (struct curve_column){axis->effort, axis->effort_words, set->tau[a], NULL};
        }
        identify_curves_write(w, &curves);
    }
    free(residual[0]);
}

void identify_dynamics_curves(struct json_writer *w, const struct identify_result *result)
{
    json_write_array(w, "curves");
    write_part(w, result, &result->own, "recording");
    if (result->held_out.files) {
        write_part(w, result, &result->held_out, "held_out");
    }
    json_write_close(w);
}
