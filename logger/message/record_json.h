/* logger/message/record_json.h - entries and alarms as JSON objects, the same over MQTT, HTTP,
 * in the store and in replays (docs/protocol.md). Pure.
 */
#ifndef LOGGER_MESSAGE_RECORD_JSON_H
#define LOGGER_MESSAGE_RECORD_JSON_H

#include "logger/message/json_write.h"
#include "logger/message/record.h"

enum { RECORD_JSON_MAX = 3968 }; /* bytes that always suffice for one record */

/* pair: the pair's id. */
void entry_write_json(struct json_writer *w, const char *key, const struct entry *entry,
                      const char *pair);
/* A row: true, false or null. */
#define CONSISTENCY_ROW(key, x)                                                                \
    ((x) == CONSISTENCY_UNKNOWN ? JSON_NULL(key) : JSON_BOOL(key, (x) == CONSISTENT))
void alarm_write_json(struct json_writer *w, const char *key, const struct alarm *alarm,
                      const char *pair);
/* Writes one event of `record: all`, without its payload's text. */
void event_write_json(struct json_writer *w, const char *key, const struct event *event,
                      uint64_t n);

/* The columns of a table of records in CSV: members of these objects, in their order. */
struct record_table {
    const char *name; /* "entries", "alarms", "log" … */
    const char *const *columns;
    size_t column_count;
};

extern const struct record_table record_entries, record_alarms, record_log, record_changes,
    record_fits, record_bars;

#endif
