#include "twin/report/travel_report.h"

#include <math.h>

static void write_terms(struct json_writer *w, const struct travel_fit *fit)
{
    json_write_object(w, "values");
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        json_write_real(w, travel_term_name(j), fit->estimate.value[j]);
    }
    json_write_close(w);
    json_write_object(w, "se");
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        json_write_real(w, travel_term_name(j), fit->estimate.se[j]);
    }
    json_write_close(w);
    json_write_object(w, "ci95");
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        json_write_two(w, travel_term_name(j), fit->estimate.lo[j], fit->estimate.hi[j]);
    }
    json_write_close(w);
    json_write_array(w, "identifiable");
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        if (fit->estimate.identifiable[j]) {
            json_write_text(w, NULL, travel_term_name(j));
        }
    }
    json_write_close(w);
}

static void write_combinations(struct json_writer *w, const struct travel_fit *fit)
{
    json_write_array(w, "combinations");
    for (size_t k = 0; k < fit->estimate.combination_count; k++) {
        const struct estimate_combination *c = &fit->estimate.combinations[k];
        json_write_object(w, NULL);
        json_write_text(w, "name", c->name);
        json_write_real(w, "value", c->value);
        json_write_real(w, "se", c->se);
        json_write_close(w);
    }
    json_write_close(w);
}

void travel_report_members(struct json_writer *w, const struct travel_fit *fit)
{
    json_write_int(w, "n", (int64_t)fit->n);
    json_write_text(w, "method", travel_method_name(fit->method));
    write_terms(w, fit);
    write_combinations(w, fit);
    json_write_int(w, "rank", (int64_t)fit->estimate.rank);
    json_write_real(w, "condition", fit->estimate.condition);
    json_write_real(w, "rmse_s", fit->rmse_s);
    json_write_real(w, "r2", fit->r2);
    json_write_real(w, "residual_s_sd", fit->residual_s_sd);
    json_write_int(w, "outliers", (int64_t)fit->outliers);
    json_write_int(w, "refused", (int64_t)fit->refused);
    json_write_text(w, "verdict", estimate_verdict_name(fit->estimate.verdict));
    json_write_texts(w, "reasons", fit->estimate.reasons[0], ESTIMATE_TEXT_MAX,
                     fit->estimate.reason_count);
    json_write_texts(w, "advice", fit->estimate.advice[0], ESTIMATE_TEXT_MAX,
                     fit->estimate.advice_count);
}

void travel_report_write(struct json_writer *w, const char *key, const struct travel_fit *fit)
{
    json_write_object(w, key);
    travel_report_members(w, fit);
    json_write_close(w);
}
