#include "service/replay/rows.h"

#include <math.h>

#include "service/cli/version.h"
#include "twin/report/parameters_report.h"

/* A record that does not fit its buffer would be our own fault: the store refuses an empty one,
 * and says so. */
static void finish_row(struct store_row *row, struct json_writer *w)
{
    row->json = w->text;
    row->json_bytes = json_write_end(w) ? w->used : 0;
}

void row_of_entry(struct record_row *out, const struct entry *entry, const char *pair)
{
    struct json_writer w;
    json_write_start(&w, out->json, sizeof out->json, NULL, NULL);
    entry_write_json(&w, NULL, entry, pair);
    out->row = (struct store_row){
        .kind = STORE_ENTRIES,
        .pair = pair,
        .n = entry->n,
        .t_us = entry->t_us,
        .id = entry->id,
        .type = verdict_name(entry->verdict),
        .lag_s = entry->lag_us == LAB_TIME_NONE ? nan("") : lab_s(entry->lag_us),
    };
    finish_row(&out->row, &w);
}

void row_of_alarm(struct record_row *out, const struct alarm *alarm, const char *pair)
{
    struct json_writer w;
    json_write_start(&w, out->json, sizeof out->json, NULL, NULL);
    alarm_write_json(&w, NULL, alarm, pair);
    out->row = (struct store_row){
        .kind = STORE_ALARMS,
        .pair = pair,
        .n = alarm->n,
        .t_us = alarm->t_us,
        .id = alarm->id,
        .type = alarm_type_name(alarm->type),
        .lag_s = nan(""),
    };
    finish_row(&out->row, &w);
}

void row_of_event(struct record_row *out, const struct event *event, uint64_t n,
                  const char *pair)
{
    struct json_writer w;
    json_write_start(&w, out->json, sizeof out->json, NULL, NULL);
    event_write_json(&w, NULL, event, n);
    out->row = (struct store_row){
        .kind = STORE_LOG,
        .pair = pair,
        .n = n,
        .t_us = event->t_us,
        .id = "",
        .type = event_kind_name(event->kind),
        .lag_s = nan(""),
    };
    finish_row(&out->row, &w);
}

void row_of_change(struct change_row *out, const struct parameter_change *change,
                   const char *pair)
{
    struct json_writer w;
    json_write_start(&w, out->json, sizeof out->json, NULL, NULL);
    parameters_report_change(&w, NULL, change, pair, TANDEM_VERSION);
    out->row = (struct store_row){
        .kind = STORE_CHANGES,
        .pair = pair,
        .n = change->n,
        .t_us = change->t_us,
        .id = "",
        .type = parameter_action_name(change->action),
        .lag_s = nan(""),
    };
    finish_row(&out->row, &w);
}
