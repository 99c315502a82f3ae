#include "service/experiments/joint_report.h"

#include <math.h>

#include "logger/message/json_write.h"
#include "service/cli/csv_tables.h"
#include "service/cli/json_file.h"

enum { CELL_BYTES = 32 };

/* --- for people ----------------------------------------------------------------------------
 */

static const char *format_number(double value, char cell[CELL_BYTES])
{
    (void)snprintf(cell, CELL_BYTES, isfinite(value) ? "%.2f" : "-", value);
    return cell;
}

static void print_row(const struct joint_study *study, size_t lag, enum position_kind kind,
                      FILE *out)
{
    const struct joint_trial_result *r = &study->result[lag][kind];
    const struct joint_trial_result *best = &study->result[lag][POSITION_TIME_OPTIMAL];
    const double beyond = study->file->runs[POSITION_TIME_OPTIMAL]
                              ? 100.0 * (r->integral.iae / best->integral.iae - 1.0)
                              : nan("");
    char cell[CELL_BYTES];
    (void)fprintf(out, "%-13s %9.2f %8.3f %8.3f %8s %8.3f %10.4f %11.5f\n",
                  position_kind_name(kind), r->integral.ise, r->integral.iae, r->integral.itae,
                  format_number(beyond, cell), r->settle_s, r->overshoot,
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
        char cell[3][CELL_BYTES];
        if (file->runs[k]) {
            (void)fprintf(out, "%-13s %10.2f %10s | %9.2f %9s | %9.2f %9s\n",
                          position_kind_name((enum position_kind)k), sum->ise,
                          format_number(paper->ise, cell[0]), sum->iae,
                          format_number(paper->iae, cell[1]), sum->itae,
                          format_number(paper->itae, cell[2]));
        }
    }
}

void joint_report_page(const struct joint_study *study, FILE *out)
{
    const struct joint_file *file = study->file;
    const struct position_params *control = &file->trial.control;
    (void)fprintf(out, "%s", file->name);
    (void)fprintf(out, file->purpose[0] ? ": %s\n" : "\n", file->purpose);
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
        json_write_real(w, "ise", r->integral.ise);
        json_write_real(w, "iae", r->integral.iae);
        json_write_real(w, "itae", r->integral.itae);
        json_write_real(w, "settle_s", r->settle_s);
        json_write_real(w, "rest_s", r->rest_s);
        json_write_real(w, "overshoot", r->overshoot);
        json_write_real(w, "final_error", r->final_error);
        json_write_real(w, "ise_sum", r->sum.ise);
        json_write_real(w, "iae_sum", r->sum.iae);
        json_write_real(w, "itae_sum", r->sum.itae);
        json_write_real(w, "paper_ise", paper->ise);
        json_write_real(w, "paper_iae", paper->iae);
        json_write_real(w, "paper_itae", paper->itae);
        json_write_close(w);
    }
    json_write_close(w);
}

void joint_report_json(const struct joint_study *study, FILE *out)
{
    char text[4096];
    struct json_writer w;
    const struct joint_file *file = study->file;
    json_write_start(&w, text, sizeof text, json_file_flush, out);
    json_write_object(&w, NULL);
    json_write_text(&w, "experiment", file->name);
    json_write_text(&w, "purpose", file->purpose);
    json_write_text(&w, "kind", "joint");
    json_write_int(&w, "runs", (int64_t)file->lag_count);
    json_write_int(&w, "lost", 0);
    json_write_real(&w, "set_point_rad", file->trial.set_point);
    json_write_real(&w, "duration_s", file->trial.duration_s);
    json_write_real(&w, "period_s", file->trial.control.period_s);
    json_write_real(&w, "sample_s", file->trial.sample_s);
    json_write_real(&w, "lag_s", file->lag_s[0]);
    write_controllers(&w, study, 0);
    json_write_array(&w, "lags");
    for (size_t i = 0; i < file->lag_count; i++) {
        json_write_object(&w, NULL);
        json_write_real(&w, "lag_s", file->lag_s[i]);
        write_controllers(&w, study, i);
        json_write_close(&w);
    }
    json_write_close(&w);
    json_write_close(&w);
    (void)json_write_end(&w);
    (void)fputc('\n', out);
}

/* --- CSV -----------------------------------------------------------------------------------
 */

static void write_controllers_csv(const void *what, FILE *out)
{
    const struct joint_study *study = what;
    const struct joint_file *file = study->file;
    (void)fputs("lag_s,controller,ise,iae,itae,settle_s,rest_s,overshoot,final_error,ise_sum,"
                "iae_sum,itae_sum\n",
                out);
    for (size_t i = 0; i < file->lag_count; i++) {
        for (int k = 0; k < POSITION_KIND_COUNT; k++) {
            const struct joint_trial_result *r = &study->result[i][k];
            const double cells[] = {
                r->integral.ise, r->integral.iae, r->integral.itae, r->settle_s, r->rest_s,
                r->overshoot,    r->final_error,  r->sum.ise,       r->sum.iae,  r->sum.itae};
            if (!file->runs[k]) {
                continue;
            }
            csv_tables_number(out, file->lag_s[i], false);
            (void)fprintf(out, "%s,", position_kind_name((enum position_kind)k));
            for (size_t c = 0; c < COUNT(cells); c++) {
                csv_tables_number(out, cells[c], c + 1 == COUNT(cells));
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

enum status joint_report_csv(const struct joint_study *study, const char *folder,
                             struct err *err)
{
    static const struct csv_table tables[] = {{"controllers.csv", write_controllers_csv},
                                              {"run.csv", write_run_csv}};
    return csv_tables_write(folder, tables, COUNT(tables), study, err);
}
