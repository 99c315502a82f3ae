#include "service/experiments/joint_report.h"

#include <math.h>
#include <string.h>

/* What a result is told by, in this order. */
#define RESULT(name, m)                                                                        \
    {                                                                                          \
        name, offsetof(struct joint_trial_result, m)                                           \
    }
static const struct {
    const char *name;
    size_t offset;
} figures[] = {RESULT("ise", integral.ise),        RESULT("iae", integral.iae),
               RESULT("itae", integral.itae),      RESULT("settle_s", settle_s),
               RESULT("rest_s", rest_s),           RESULT("overshoot", overshoot),
               RESULT("final_error", final_error), RESULT("ise_sum", sum.ise),
               RESULT("iae_sum", sum.iae),         RESULT("itae_sum", sum.itae)};

static double figure_of(const struct joint_trial_result *result, size_t k)
{
    double value;
    memcpy(&value, (const char *)result + figures[k].offset, sizeof value);
    return value;
}

/* --- for people ----------------------------------------------------------------------------
 */

static void print_row(const struct joint_study *study, size_t lag, enum position_kind kind,
                      FILE *out)
{
    const struct joint_trial_result *r = &study->result[lag][kind];
    const struct joint_trial_result *best = &study->result[lag][POSITION_TIME_OPTIMAL];
    const double beyond = study->file->runs[POSITION_TIME_OPTIMAL]
                              ? 100.0 * (r->integral.iae / best->integral.iae - 1.0)
                              : nan("");
    char cell[EXPERIMENT_CELL_BYTES];
    (void)fprintf(out, "%-13s %9.2f %8.3f %8.3f %8s %8.3f %10.4f %11.5f\n",
                  position_kind_name(kind), r->integral.ise, r->integral.iae, r->integral.itae,
                  experiment_cell(beyond, 2, 'f', cell), r->settle_s, r->overshoot,
                  fabs(r->final_error) < 5e-6 ? 0.0 : r->final_error);
}

static void print_sums(const struct joint_study *study, FILE *out)
{
    const struct joint_file *file = study->file;
    (void)fprintf(out, "\nlag %g s, sums over samples every %g ms\n", file->lag_s[0],
                  1e3 * file->trial.sample_s);
    (void)fprintf(out, "%-13s %10s %10s | %9s %9s | %9s %9s\n", "controller", "ISE", "paper",
                  "IAE", "paper", "ITAE", "paper");
    for (int k = 0; k < POSITION_KIND_COUNT; k++) {
        const struct joint_indices *sum = &study->result[0][k].sum;
        const struct joint_indices *paper = &file->paper[k];
        char cell[3][EXPERIMENT_CELL_BYTES];
        if (file->runs[k]) {
            (void)fprintf(out, "%-13s %10.2f %10s | %9.2f %9s | %9.2f %9s\n",
                          position_kind_name((enum position_kind)k), sum->ise,
                          experiment_cell(paper->ise, 2, 'f', cell[0]), sum->iae,
                          experiment_cell(paper->iae, 2, 'f', cell[1]), sum->itae,
                          experiment_cell(paper->itae, 2, 'f', cell[2]));
        }
    }
}

static void print_page(const void *what, FILE *out)
{
    const struct joint_study *study = what;
    const struct joint_file *file = study->file;
    const struct position_params *control = &file->trial.control;
    experiment_title(file->name, file->purpose, out);
    (void)fprintf(out, "from 0 to %g rad in %g s, commands %g to %g rad/s every %g ms\n",
                  file->trial.set_point, file->trial.duration_s, control->command_min,
                  control->command_max, 1e3 * control->period_s);
    for (size_t i = 0; i < file->lag_count; i++) {
        (void)fprintf(out, "\nlag %g s\n%-13s %9s %8s %8s %8s %8s %10s %11s\n", file->lag_s[i],
                      "controller", "ISE", "IAE", "ITAE", "IAE +%", "2 % s", "over rad",
                      "left rad");
        for (int k = 0; k < POSITION_KIND_COUNT; k++) {
            if (file->runs[k]) {
                print_row(study, i, (enum position_kind)k, out);
            }
        }
    }
    print_sums(study, out);
}

/* --- JSON ----------------------------------------------------------------------------------
 */

static void write_controllers(struct json_writer *w, const struct joint_study *study,
                              size_t lag)
{
    json_write_object(w, "controllers");
    for (int k = 0; k < POSITION_KIND_COUNT; k++) {
        const struct joint_trial_result *r = &study->result[lag][k];
        const struct joint_indices *paper = &study->file->paper[k];
        if (!study->file->runs[k]) {
            continue;
        }
        json_write_object(w, position_kind_name((enum position_kind)k));
        for (size_t i = 0; i < COUNT(figures); i++) {
            json_write_real(w, figures[i].name, figure_of(r, i));
        }
        json_write_real(w, "paper_ise", paper->ise);
        json_write_real(w, "paper_iae", paper->iae);
        json_write_real(w, "paper_itae", paper->itae);
        json_write_close(w);
    }
    json_write_close(w);
}

static void write_members(const void *what, struct json_writer *w)
{
    const struct joint_study *study = what;
    const struct joint_file *file = study->file;
    json_write_text(w, "experiment", file->name);
    json_write_text(w, "purpose", file->purpose);
    json_write_text(w, "kind", "joint");
    json_write_int(w, "runs", (int64_t)file->lag_count);
    json_write_int(w, "lost", 0);
    json_write_real(w, "set_point_rad", file->trial.set_point);
    json_write_real(w, "duration_s", file->trial.duration_s);
    json_write_real(w, "period_s", file->trial.control.period_s);
    json_write_real(w, "sample_s", file->trial.sample_s);
    json_write_real(w, "lag_s", file->lag_s[0]);
    write_controllers(w, study, 0);
    json_write_array(w, "lags");
    for (size_t i = 0; i < file->lag_count; i++) {
        json_write_object(w, NULL);
        json_write_real(w, "lag_s", file->lag_s[i]);
        write_controllers(w, study, i);
        json_write_close(w);
    }
    json_write_close(w);
}

/* --- CSV -----------------------------------------------------------------------------------
 */

static void write_controllers_csv(const void *what, FILE *out)
{
    const struct joint_study *study = what;
    const struct joint_file *file = study->file;
    (void)fputs("lag_s,controller", out);
    for (size_t c = 0; c < COUNT(figures); c++) {
        (void)fprintf(out, ",%s", figures[c].name);
    }
    (void)fputc('\n', out);
    for (size_t i = 0; i < file->lag_count; i++) {
        for (int k = 0; k < POSITION_KIND_COUNT; k++) {
            if (!file->runs[k]) {
                continue;
            }
            csv_tables_number(out, file->lag_s[i], false);
            (void)fprintf(out, "%s,", position_kind_name((enum position_kind)k));
            for (size_t c = 0; c < COUNT(figures); c++) {
                csv_tables_number(out, figure_of(&study->result[i][k], c),
                                  c + 1 == COUNT(figures));
            }
        }
    }
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

static const struct csv_table tables[] = {{"controllers.csv", write_controllers_csv},
                                          {"run.csv", write_run_csv}};

const struct experiment_output joint_output = {.page = print_page,
                                               .members = write_members,
                                               .tables = tables,
                                               .table_count = COUNT(tables),
                                               .script = joint_plot_write};
