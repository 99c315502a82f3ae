/* logger/message/record_columns.h - the columns of each table of records in CSV: the members of
 * the JSON objects of record_json.h, in their order. Pure. */
#ifndef LOGGER_MESSAGE_RECORD_COLUMNS_H
#define LOGGER_MESSAGE_RECORD_COLUMNS_H

#include <stddef.h>

struct record_table {
    const char *name; /* "entries", "alarms", "log" */
    const char *const *columns;
    size_t column_count;
};

extern const struct record_table record_entries, record_alarms, record_log, record_changes;

#endif
