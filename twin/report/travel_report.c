#include "twin/report/travel_report.h"

#include <math.h>

/* When all moves are of one class (all turn and drive, say), the delays show in their sum only.
 * The model lap = t0 + ... with one delay is then what can be said. Returns that sum, or NULL.
 */
static const struct travel_combination *only_delay(const struct travel_fit *fit)
{
    const struct travel_combination *found = NULL;
    for (size_t k = 0; k < fit->combination_count; k++) {
        const struct travel_combination *c = &fit->combinations[k];
        if (!(fabs(c->coefficient[TRAVEL_T0]) > 0.0)) {
            continue;
        }
        if (found || fabs(c->coefficient[TRAVEL_INV_W]) > 0.0 ||
            fabs(c->coefficient[TRAVEL_INV_V]) > 0.0) {
            return NULL;
        }
        found = c;
    }
    return found;
}

static struct travel_value one_delay(const struct travel_fit *fit)
{
    const struct travel_combination *c = only_delay(fit);
    const double nothing = nan("");
    if (!c) {
        return (struct travel_value){nothing, nothing, nothing, nothing};
    }
    /* The Student quantile is that of the terms that stand alone. */
    double quantile = nothing;
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        if (fit->identifiable[j] && fit->se[j] > 0.0) {
            quantile = (fit->hi[j] - fit->beta[j]) / fit->se[j];
        }
    }
    return (struct travel_value){c->value, c->se, c->value - quantile * c->se,
                                 c->value + quantile * c->se};
}

struct travel_value travel_report_value(const struct travel_fit *fit, enum travel_term term)
{
    if (term == TRAVEL_INV_W) {
        return (struct travel_value){fit->angular_speed_radps, fit->angular_speed_se,
                                     fit->angular_speed_lo, fit->angular_speed_hi};
    }
    if (term == TRAVEL_INV_V) {
        return (struct travel_value){fit->linear_speed_mps, fit->linear_speed_se,
                                     fit->linear_speed_lo, fit->linear_speed_hi};
    }
    if (term == TRAVEL_T0 && !fit->identifiable[TRAVEL_T0]) {
        return one_delay(fit);
    }
    return (struct travel_value){fit->beta[term], fit->se[term], fit->lo[term], fit->hi[term]};
}

static void write_terms(struct json_writer *w, const struct travel_fit *fit)
{
    json_write_object(w, "values");
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        json_write_real(w, travel_term_name(j), travel_report_value(fit, j).value);
    }
    json_write_close(w);
    json_write_object(w, "se");
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        json_write_real(w, travel_term_name(j), travel_report_value(fit, j).se);
    }
    json_write_close(w);
    json_write_object(w, "ci95");
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        const struct travel_value v = travel_report_value(fit, j);
        json_write_two(w, travel_term_name(j), v.lo, v.hi);
    }
    json_write_close(w);
    json_write_array(w, "identifiable");
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        if (fit->identifiable[j]) {
            json_write_text(w, NULL, travel_term_name(j));
        }
    }
    json_write_close(w);
}

static void write_combinations(struct json_writer *w, const struct travel_fit *fit)
{
    json_write_array(w, "combinations");
    for (size_t k = 0; k < fit->combination_count; k++) {
        const struct travel_combination *c = &fit->combinations[k];
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
    json_write_int(w, "rank", (int64_t)fit->rank);
    json_write_real(w, "condition", fit->condition);
    json_write_real(w, "rmse_s", fit->rmse_s);
    json_write_real(w, "r2", fit->r2);
    json_write_real(w, "residual_s_sd", fit->residual_s_sd);
    json_write_int(w, "outliers", (int64_t)fit->outliers);
    json_write_int(w, "refused", (int64_t)fit->refused);
    json_write_text(w, "verdict", travel_verdict_name(fit->verdict));
    json_write_texts(w, "reasons", fit->reasons[0], TRAVEL_TEXT_MAX, fit->reason_count);
    json_write_texts(w, "advice", fit->advice[0], TRAVEL_TEXT_MAX, fit->advice_count);
}

void travel_report_write(struct json_writer *w, const char *key, const struct travel_fit *fit)
{
    json_write_object(w, key);
    travel_report_members(w, fit);
    json_write_close(w);
}
