/* logger/storage/store_row.h - the rows of a store and what can be asked of them, as plain
 * data. */
#ifndef LOGGER_STORAGE_STORE_ROW_H
#define LOGGER_STORAGE_STORE_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logger/message/event.h"

enum {
    STORE_TYPE_MAX = 24,        /* bytes of a verdict's or alarm type's name with its NUL */
    STORE_JSON_MAX = 64 * 1024, /* bytes of a record */
    STORE_PAGE_MAX = 1000,      /* rows of one query */
    STORE_CURSOR_MAX = 256      /* bytes of a cursor with its NUL */
};

enum store_kind { STORE_ENTRIES, STORE_ALARMS, STORE_LOG, STORE_CHANGES, STORE_KIND_COUNT };

/* One entry, alarm or event. All texts are borrowed. */
struct store_row {
    enum store_kind kind;
    const char *pair; /* 1..EVENT_PAIR_MAX - 1 bytes */
    uint64_t n;       /* its number in the pair, <= INT64_MAX */
    int64_t t_us;     /* lab time: of the command, of the alarm */
    const char *id;   /* of the command, "" when there is none */
    const char
        *type;    /* an entry's verdict, an alarm's type, an event's kind, a change's action */
    double lag_s; /* of an entry; NaN: none */
    const char *json; /* [json_bytes] the record as it is served, no NUL needed */
    size_t json_bytes;
    uint64_t seq; /* its place in the order of storing, above all before; 0: the next one */
};

struct store_query {
    enum store_kind kind;
    const char *pair;   /* NULL: all pairs */
    const char *type;   /* NULL: every verdict or alarm type */
    int64_t since_us;   /* t_us >= this; INT64_MIN: no limit */
    int64_t until_us;   /* t_us < this; INT64_MAX: no limit */
    bool newest_first;  /* else oldest first; by t_us, then pair, then n */
    int limit;          /* 1..STORE_PAGE_MAX rows */
    const char *cursor; /* next_cursor of the page before; NULL or "": the first page */
};

#endif
