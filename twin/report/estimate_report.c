#include "twin/report/estimate_report.h"

#include <math.h>

void estimate_report_column(struct json_writer *w, const char *key,
                            const struct estimate *estimate, const double *values)
{
    json_write_object(w, key);
    for (size_t i = 0; i < estimate->p; i++) {
        json_write_real(w, estimate->name[i], values[i]);
    }
    json_write_close(w);
}

void estimate_report_intervals(struct json_writer *w, const struct estimate *estimate)
{
    json_write_object(w, "ci95");
    for (size_t i = 0; i < estimate->p; i++) {
        json_write_two(w, estimate->name[i], estimate->lo[i], estimate->hi[i]);
    }
    json_write_close(w);
}

void estimate_report_marked(struct json_writer *w, const char *key,
                            const struct estimate *estimate, const bool *marked)
{
    json_write_array(w, key);
    for (size_t i = 0; i < estimate->p; i++) {
        if (marked[i]) {
            json_write_text(w, NULL, estimate->name[i]);
        }
    }
    json_write_close(w);
}

/* Rows and columns in the order of "parameters". */
static void write_correlation(struct json_writer *w, const struct estimate *e)
{
    json_write_array(w, "correlation");
    for (size_t i = 0; i < e->p; i++) {
        json_write_array(w, NULL);
        for (size_t j = 0; j < e->p; j++) {
            json_write_real(w, NULL, estimate_correlation(e, i, j));
        }
        json_write_close(w);
    }
    json_write_close(w);
}

static void write_combinations(struct json_writer *w, const struct estimate *e)
{
    json_write_array(w, "combinations");
    for (size_t k = 0; k < e->combination_count; k++) {
        json_write_object(w, NULL);
        json_write_text(w, "name", e->combinations[k].name);
        json_write_real(w, "value", e->combinations[k].value);
        json_write_real(w, "se", e->combinations[k].se);
        json_write_close(w);
    }
    json_write_close(w);
}

void estimate_report(struct json_writer *w, const struct estimate *estimate)
{
    const struct estimate *e = estimate;
    double relative[ESTIMATE_P_MAX];
    for (size_t i = 0; i < e->p; i++) {
        relative[i] = e->se[i] / fabs(e->value[i]);
    }
    json_write_texts(w, "parameters", e->name[0], ESTIMATE_NAME_MAX, e->p);
    estimate_report_column(w, "values", e, e->value);
    estimate_report_column(w, "se", e, e->se);
    estimate_report_column(w, "se_white", e, e->se_white);
    estimate_report_column(w, "relative_se", e, relative);
    estimate_report_intervals(w, e);
    estimate_report_marked(w, "identifiable", e, e->identifiable);
    write_correlation(w, e);
    json_write_int(w, "rank", (int64_t)e->rank);
    json_write_real(w, "condition", e->condition);
    json_write_texts(w, "null_directions", e->nulls[0], ESTIMATE_TEXT_MAX, e->null_count);
    write_combinations(w, e);
    json_write_text(w, "verdict", estimate_verdict_name(e->verdict));
    json_write_texts(w, "reasons", e->reasons[0], ESTIMATE_TEXT_MAX, e->reason_count);
    json_write_texts(w, "advice", e->advice[0], ESTIMATE_TEXT_MAX, e->advice_count);
}
