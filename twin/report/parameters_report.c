#include "twin/report/parameters_report.h"

#include <stdio.h>

#include "twin/report/dynamics_report.h"
#include "twin/report/estimate_report.h"
#include "twin/report/travel_report.h"

static const char *method_name(const struct parameter_set *set)
{
    return set->model > 0 ? dynamics_method_name((enum dynamics_method)set->method)
                          : travel_method_name((enum travel_method)set->method);
}

static void write_terms(struct json_writer *w, const struct parameter_set *set)
{
    struct estimate e;
    estimate_start(&e, set->count);
    for (size_t j = 0; j < set->count; j++) {
        char text[ESTIMATE_NAME_MAX];
        (void)snprintf(e.name[j], sizeof e.name[j], "%s", parameters_term_name(set, j, text));
        estimate_set(&e, j, set->value[j], set->se[j]);
    }
    estimate_report_column(w, "values", &e, e.value);
    estimate_report_column(w, "se", &e, e.se);
    if (set->model > 0) {
        estimate_report_intervals(w, &e);
    }
}

void parameters_report_set(struct json_writer *w, const char *key,
                           const struct parameter_set *set)
{
    char hash[20];
    if (!set || set->version == 0) {
        json_write_null(w, key);
        return;
    }
    (void)snprintf(hash, sizeof hash, "%016llx", (unsigned long long)set->data_hash);
    json_write_object(w, key);
    json_write_int(w, "version", set->version);
    json_write_text(w, "model", parameters_model_name(set));
    json_write_text(w, "state", parameter_state_name(set->state));
    json_write_seconds(w, "made_t", set->made_us);
    json_write_text(w, "method", method_name(set));
    json_write_int(w, "n", set->n);
    json_write_seconds(w, "data_since_t", set->since_us);
    json_write_seconds(w, "data_until_t", set->until_us);
    json_write_text(w, "data_hash", hash);
    json_write_text(w, "verdict", estimate_verdict_name((enum estimate_verdict)set->verdict));
    write_terms(w, set);
    json_write_close(w);
}

void parameters_report_book(struct json_writer *w, const struct parameter_book *book)
{
    parameters_report_set(w, "active", parameters_find(book, PARAMETERS_ACTIVE));
    parameters_report_set(w, "candidate", parameters_find(book, PARAMETERS_CANDIDATE));
    json_write_array(w, "sets");
    for (size_t k = 0; k < PARAMETERS_KEPT; k++) {
        if (book->set[k].version > 0) {
            parameters_report_set(w, NULL, &book->set[k]);
        }
    }
    json_write_close(w);
}

void parameters_report_checks(struct json_writer *w, const char *key,
                              const struct parameter_checks *checks)
{
    json_write_array(w, key);
    for (enum parameter_check k = CHECK_EXCITATION; k < PARAMETERS_CHECKS; k++) {
        json_write_object(w, NULL);
        json_write_text(w, "name", parameter_check_name(k));
        json_write_text(w, "verdict", estimate_verdict_name(checks->check[k].verdict));
        json_write_text(w, "detail", checks->check[k].detail);
        json_write_close(w);
    }
    json_write_close(w);
}

void parameters_report_change(struct json_writer *w, const char *key,
                              const struct parameter_change *change, const char *pair,
                              const char *code_version)
{
    json_write_object(w, key);
    json_write_text(w, "pair", pair);
    json_write_int(w, "n", (int64_t)change->n);
    json_write_seconds(w, "t", change->t_us);
    json_write_text(w, "action", parameter_action_name(change->action));
    json_write_text(w, "by", change->by);
    json_write_int(w, "version", change->version);
    json_write_text(w, "detail", change->detail);
    json_write_text(w, "code_version", code_version);
    parameters_report_set(w, "set", change->set);
    if (change->dynamics) {
        json_write_object(w, "fit");
        dynamics_report_fit(w, change->model, change->dynamics);
        json_write_close(w);
        parameters_report_checks(w, "checks", change->checks);
    } else if (change->fit) {
        travel_report_write(w, "fit", change->fit);
        parameters_report_checks(w, "checks", change->checks);
    }
    json_write_close(w);
}
