/* web/http/history.h - what the server reads from the store: pages of records, as they stand
 * there.
 *
 * Every server thread gets a read-only connection of its own out of a small pool. A connection
 * that fails is closed and opened anew by a later request, so that a store which comes late, or
 * back, is read without a restart.
 */
#ifndef WEB_HTTP_HISTORY_H
#define WEB_HTTP_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "logger/storage/store.h"

struct history;

enum history_table { HISTORY_ENTRIES, HISTORY_ALARMS, HISTORY_LOG, HISTORY_CHANGES };

struct history_page {
    enum history_table table;
    const char *pair;
    int64_t since_us, until_us; /* since <= t < until */
    bool oldest;                /* oldest first */
    int kind;                   /* enum verdict or enum alarm_type; -1: every */
    const char *place;          /* where the page before ended; "": from the beginning */
    uint32_t limit;             /* 1..STORE_PAGE_MAX */
};

/* One record; json[bytes] is borrowed for the call. */
typedef void history_row(void *context, const char *json, size_t bytes);

/* path: the SQLite file; need not exist yet. connections: 1..8, one per server thread.
 * STATUS_E_NOMEM. */
MUST_USE enum status history_create(const char *path, unsigned connections,
                                    struct history **out);
void history_destroy(struct history *history); /* NULL allowed */

/* Calls row for up to page->limit records, in order. next becomes the place to go on, "" when
 * there is no more. STATUS_E_IO with the reason: the store cannot be read; rows may have been
 * handed out before. */
MUST_USE enum status history_read(struct history *history, const struct history_page *page,
                                  history_row *row, void *context, char next[STORE_CURSOR_MAX],
                                  struct err *err);

/* Calls row for up to limit records of a table in the order in which they were stored, those
 * behind `after` (seq of struct store_row). STATUS_E_IO with the reason. */
MUST_USE enum status history_since(struct history *history, enum history_table table,
                                   uint64_t after, int limit, store_row_fn *row, void *context,
                                   struct err *err);

/* store_span() and, when there are any, begin(context, oldest, newest) and store_points().
 * STATUS_E_IO with the reason; STATUS_E_NOMEM: begin returned false. */
typedef bool history_begin(void *context, int64_t oldest_us, int64_t newest_us);
MUST_USE enum status history_points(struct history *history, const char *pair, int64_t since_us,
                                    int64_t until_us, history_begin *begin,
                                    store_point_fn *point, void *context, struct err *err);

#endif
