#include "service/replay/rows.h"

#include <math.h>

#include "service/tool/version.h"
#include "twin/report/pair_dynamics_report.h"
#include "twin/report/pair_report.h"

/* Only a bug of ours makes a record too large for its buffer. The store refuses the resulting
 * empty row and reports it. */
static struct store_row make_row(enum store_kind kind, const char *pair, uint64_t n,
                                 int64_t t_us, const char *id, const char *type,
                                 struct json_writer *w)
{
    const bool whole = json_write_end(w);
    return (struct store_row){.kind = kind,
                              .pair = pair,
                              .n = n,
                              .t_us = t_us,
                              .id = id,
                              .type = type,
                              .lag_s = nan(""),
                              .json = w->text,
                              .json_bytes = whole ? w->used : 0};
}

void row_of_entry(struct record_row *out, const struct entry *entry, const char *pair)
{
    struct json_writer w;
    json_write_start(&w, out->json, sizeof out->json, NULL, NULL);
    entry_write_json(&w, NULL, entry, pair);
    out->row = make_row(STORE_ENTRIES, pair, entry->n, entry->t_us, entry->id,
                        verdict_name(entry->verdict), &w);
    out->row.inconsistent = entry->consistency == INCONSISTENT;
    if (entry->lag_us != LAB_TIME_NONE) {
        out->row.lag_s = lab_s(entry->lag_us);
    }
}

void row_of_alarm(struct record_row *out, const struct alarm *alarm, const char *pair)
{
    struct json_writer w;
    json_write_start(&w, out->json, sizeof out->json, NULL, NULL);
    alarm_write_json(&w, NULL, alarm, pair);
    out->row = make_row(STORE_ALARMS, pair, alarm->n, alarm->t_us, alarm->id,
                        alarm_type_name(alarm->type), &w);
}

void row_of_event(struct record_row *out, const struct event *event, uint64_t n,
                  const char *pair)
{
    struct json_writer w;
    json_write_start(&w, out->json, sizeof out->json, NULL, NULL);
    event_write_json(&w, NULL, event, n);
    out->row = make_row(STORE_LOG, pair, n, event->t_us, "", event_kind_name(event->kind), &w);
}

void row_of_change(struct large_row *out, const struct parameter_change *change,
                   const char *pair)
{
    struct json_writer w;
    json_write_start(&w, out->json, sizeof out->json, NULL, NULL);
    parameters_report_change(&w, NULL, change, pair, TANDEM_VERSION);
    out->row = make_row(STORE_CHANGES, pair, change->n, change->t_us, "",
                        parameter_action_name(change->action), &w);
}

static void write_fit_row(struct large_row *out, const struct fit_record *record)
{
    struct json_writer w;
    json_write_start(&w, out->json, sizeof out->json, NULL, NULL);
    fit_record_write(&w, NULL, record);
    out->row = make_row(STORE_FITS, record->pair, record->n, record->t_us,
                        side_name(record->side), record->model, &w);
}

bool row_of_travel_fit(struct large_row *out, const struct effect *effect, enum side side,
                       const struct pair_fits *fits, const char *pair)
{
    const struct travel_fit *fit = &fits->fit[side];
    const struct profile_fit *profile = &fits->profile[side];
    const bool commanded = fits->commanded;
    if (fits->known[side]) {
        write_fit_row(
            out, &(struct fit_record){
                     .pair = pair,
                     .n = effect->n + side,
                     .t_us = effect->t_us,
                     .side = side,
                     .model = ROW_TRAVEL_TIME,
                     .method = travel_method_name(commanded ? profile->method : fit->method),
                     .samples = commanded ? profile->n : fit->n,
                     .estimate = commanded ? &profile->estimate : &fit->estimate,
                     .since_us = fits->since_us[side],
                     .until_us = fits->until_us[side],
                     .robot_version = fits->version[side]});
    }
    return fits->known[side];
}

void row_of_dynamics_fit(struct large_row *out, const struct effect *effect,
                         const struct pair_dynamics *dynamics, const char *pair)
{
    struct fit_record record = pair_dynamics_last_fit(dynamics, effect->side);
    record.pair = pair;
    record.n = effect->n;
    record.t_us = effect->t_us;
    write_fit_row(out, &record);
}

void row_of_bar(struct record_row *out, const struct bar *bar, const char *team, uint64_t n)
{
    struct json_writer w;
    json_write_start(&w, out->json, sizeof out->json, NULL, NULL);
    bar_write_json(&w, NULL, bar);
    out->row =
        make_row(STORE_BARS, team, n, bar->to_us, bar->robot, bar_kind_name(bar->kind), &w);
}
