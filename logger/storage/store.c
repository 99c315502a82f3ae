#include "logger/storage/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "logger/message/json_write.h"
#include "logger/storage/store_parts.h"

const struct store_table store_tables[STORE_KIND_COUNT] = {
    [STORE_ENTRIES] = {"entries", "verdict", "lag_s, inconsistent"},
    [STORE_ALARMS] = {"alarms", "type", "NULL, 0"},
    [STORE_LOG] = {"log", "kind", "NULL, 0"},
    [STORE_CHANGES] = {"changes", "action", "NULL, 0"},
    [STORE_FITS] = {"fits", "model", "NULL, 0"},
    [STORE_BARS] = {"bars", "kind", "NULL, 0"},
};

/* --- opening -------------------------------------------------------------------------- */

static const struct store_engine *engine_of(const struct store_params *params)
{
    return params->target ? &store_postgresql : &store_sqlite;
}

enum status store_open(const struct store_params *params, struct store **out, struct err *err)
{
    return engine_of(params)->open(params, out, err);
}

enum status store_reopen(struct store *store, struct err *err)
{
    return store->engine->reopen(store, err);
}

void store_close(struct store *store)
{
    if (store) {
        store->engine->close(store);
    }
}

bool store_is_in_place(const struct store *store)
{
    return store->engine->is_in_place(store);
}

struct store_mark store_read_mark(const struct store *store)
{
    return store->mark;
}

enum status store_check_mark(struct store *store, const struct store_mark *mark,
                             struct err *err)
{
    return store->engine->check_mark(store, mark, err);
}

/* --- writing -------------------------------------------------------------------------- */

static bool text_fits(const char *text, size_t least, size_t capacity)
{
    const size_t bytes = text ? strnlen(text, capacity) : capacity;
    return bytes >= least && bytes < capacity;
}

bool store_row_is_valid(const struct store_row *row)
{
    return (unsigned)row->kind < STORE_KIND_COUNT && text_fits(row->pair, 1, EVENT_PAIR_MAX) &&
           text_fits(row->id, 0, EVENT_ID_MAX) && text_fits(row->type, 1, STORE_TYPE_MAX) &&
           row->n <= INT64_MAX && row->seq <= INT64_MAX && row->json &&
           row->json_bytes <= STORE_JSON_MAX;
}

bool store_is_of_team(const struct store_row *row)
{
    static const char team[] = "\"team\":";
    return memmem(row->json, row->json_bytes, team, sizeof team - 1) != NULL;
}

enum status store_begin(struct store *store, struct err *err)
{
    store->next = store->mark;
    store->adding = (struct store_counts){0};
    return store->engine->begin(store, err);
}

enum status store_add(struct store *store, const struct store_row *row, bool *is_new,
                      struct err *err)
{
    return store_row_is_valid(row)
               ? store->engine->add(store, row, is_new, err)
               : err_set(err, STATUS_E_ARG, FAULT_OUT_OF_RANGE, "store",
                         "a row of \"%s\" is beyond its limits", row->pair ? row->pair : "");
}

enum status store_commit(struct store *store, struct err *err)
{
    const enum status status = store->engine->commit(store, err);
    if (status == STATUS_OK) {
        store->adding.stored = store->next.rows - store->mark.rows;
        store->counts = store->adding;
        store->mark = store->next;
    }
    return status;
}

void store_rollback(struct store *store)
{
    store->engine->rollback(store);
    store->next = store->mark;
}

struct store_counts store_read_counts(const struct store *store)
{
    return store->counts;
}

enum status store_remove_before(struct store *store, int64_t before_us, int limit,
                                uint64_t *removed, struct err *err)
{
    uint64_t sum = 0;
    enum status status = store_begin(store, err);
    for (int kind = 0; kind < STORE_KIND_COUNT && status == STATUS_OK; kind++) {
        status =
            store->engine->remove(store, (enum store_kind)kind, before_us, limit, &sum, err);
    }
    if (status == STATUS_OK) {
        status = store_commit(store, err);
    }
    if (status != STATUS_OK) {
        store_rollback(store);
        return status;
    }
    *removed = sum;
    return STATUS_OK;
}

enum status store_check_wal(struct store *store, struct err *err)
{
    return store->engine->check_wal ? store->engine->check_wal(store, err) : STATUS_OK;
}

bool store_is_due(const struct store *store)
{
    return store->due;
}

enum status store_fold(struct store *store, bool *more, struct err *err)
{
    return store->engine->fold(store, more, err);
}

/* --- reading -------------------------------------------------------------------------- */

enum status store_reader_open(const struct store_params *params, struct store_reader **out,
                              struct err *err)
{
    return engine_of(params)->reader_open(params, out, err);
}

void store_reader_close(struct store_reader *reader)
{
    if (reader) {
        reader->engine->reader_close(reader);
    }
}

bool store_reader_is_in_place(const struct store_reader *reader)
{
    return reader->engine->reader_is_in_place(reader);
}

enum status store_holds(struct store_reader *reader, const struct store_row *row, bool *holds,
                        struct err *err)
{
    return reader->engine->holds(reader, row, holds, err);
}

void store_reader_hold(struct store_reader *reader, bool on)
{
    reader->engine->hold(reader, on);
}

enum status store_since(struct store_reader *reader, enum store_kind kind, uint64_t after,
                        int limit, store_row_fn *row, void *context, struct err *err)
{
    return reader->engine->since(reader, kind, after, limit, row, context, err);
}

enum status store_last_seq(struct store_reader *reader, enum store_kind kind, uint64_t *seq,
                           struct err *err)
{
    return reader->engine->last_seq(reader, kind, seq, err);
}

enum status store_series(struct store_reader *reader, const char *pair, int64_t since_us,
                         int64_t until_us, int64_t width_us, store_bucket_fn *emit,
                         void *context, struct err *err)
{
    int level = STORE_WIDTHS - 1;
    while (level >= 0 && store_widths_us[level] > width_us) {
        level--;
    }
    return reader->engine->series(reader, level, pair, since_us, until_us, emit, context, err);
}

enum status store_span(struct store_reader *reader, const char *pair, int64_t since_us,
                       int64_t until_us, bool *any, int64_t *oldest_us, int64_t *newest_us,
                       struct err *err)
{
    return reader->engine->span(reader, pair, since_us, until_us, any, oldest_us, newest_us,
                                err);
}

struct page {
    const struct store_query *query;
    store_row_fn *row;
    void *context;
    struct store_key last; /* of the last row passed on */
    int rows;
    bool more;
};

static void copy_pair(const char *pair, char out[EVENT_PAIR_MAX])
{
    const size_t n = strnlen(pair, EVENT_PAIR_MAX - 1);
    memcpy(out, pair, n);
    out[n] = '\0';
}

const char *store_query_type(const struct store_query *query)
{
    return query->types ? query->types : query->type;
}

/* Formats "t_us.n.check.pair". The check covers the query, so that a cursor of another list is
 * refused instead of giving a meaningless page. */
static void write_cursor(const struct store_query *query, const struct store_key *key,
                         char out[STORE_CURSOR_MAX])
{
    char all[STORE_SQL_MAX];
    const char *const *version = query->version;
    (void)snprintf(
        all, sizeof all, "%d %d %d %s %s %s %s %s %s %lld %lld %lld %lld %s", (int)query->kind,
        query->newest_first, query->inconsistent, query->pair ? query->pair : "",
        store_query_type(query) ? store_query_type(query) : "", query->team ? query->team : "",
        query->job ? query->job : "", version[SIDE_REAL] ? version[SIDE_REAL] : "",
        version[SIDE_VIRTUAL] ? version[SIDE_VIRTUAL] : "",
        (long long)(query->moving ? 0 : query->since_us),
        (long long)(query->moving ? 0 : query->until_us), (long long)key->t_us,
        (long long)key->n, key->pair);
    (void)snprintf(out, STORE_CURSOR_MAX, "%lld.%lld.%llx.%s", (long long)key->t_us,
                   (long long)key->n, (unsigned long long)hash_text(all), key->pair);
}

static bool read_cursor(const struct store_query *query, const char *text,
                        struct store_key *key)
{
    char again[STORE_CURSOR_MAX];
    char *end = NULL;
    const char *pair = strrchr(text, '.');
    key->t_us = strtoll(text, &end, 10);
    key->n = strtoll(*end ? end + 1 : end, NULL, 10);
    copy_pair(pair ? pair + 1 : "", key->pair);
    write_cursor(query, key, again);
    return strcmp(text, again) == 0;
}

/* One row more than requested shows whether there is a next page. */
static bool add_page_row(void *context, const struct store_row *row)
{
    struct page *page = context;
    page->more = page->rows == page->query->limit;
    if (page->more) {
        return false;
    }
    page->rows++;
    page->last.t_us = row->t_us;
    page->last.n = (int64_t)row->n;
    copy_pair(row->pair, page->last.pair);
    page->more = !page->row(page->context, row);
    return !page->more;
}

bool store_has_version(const struct store_query *query)
{
    return query->version[SIDE_REAL] || query->version[SIDE_VIRTUAL];
}

/* No text within a record contains the bytes of the member, because its quotes are escaped. */
const char *store_version_member(const struct store_query *query, enum side side,
                                 char out[STORE_MEMBER_MAX])
{
    const char *version = query->version[side];
    char object[STORE_MEMBER_MAX];
    const size_t bytes =
        JSON_FORMAT(object, sizeof object,
                    JSON(side == SIDE_REAL ? "real_version" : "virtual_version", version));
    out[0] = '\0';
    if (version && bytes > 2) {
        (void)snprintf(out, STORE_MEMBER_MAX, "%.*s", (int)bytes - 2, object + 1);
    }
    return out;
}

size_t store_query_shape(const struct store_query *query)
{
    return (store_has_version(query) ? 128U : 0U) | (query->types ? 64U : 0U) |
           (query->job ? 32U : 0U) | (query->team ? 16U : 0U) |
           (query->inconsistent ? 8U : 0U) | (query->newest_first ? 4U : 0U) |
           (query->pair ? 2U : 0U) | (query->type ? 1U : 0U);
}

enum status store_query(struct store_reader *reader, const struct store_query *query,
                        store_row_fn *row, void *context, char next_cursor[STORE_CURSOR_MAX],
                        struct err *err)
{
    if (query->limit < 1 || query->limit > STORE_PAGE_MAX) {
        return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "limit", "must be from 1 to %d",
                       STORE_PAGE_MAX);
    }
    /* No row has n < 0 or an empty pair, so this key lies before all rows of its t_us. Above it
     * is "from since_us on", below it is "before until_us". */
    struct store_key from = {.t_us = query->newest_first ? query->until_us : query->since_us,
                             .n = -1};
    if (query->cursor && query->cursor[0] != '\0' &&
        !read_cursor(query, query->cursor, &from)) {
        return err_set(err, STATUS_E_PARSE, FAULT_BAD_CURSOR, "cursor",
                       "is not a cursor of this list: use the one from the previous page");
    }
    struct page page = {.query = query, .row = row, .context = context};
    next_cursor[0] = '\0';
    const enum status status =
        reader->engine->query(reader, query, &from, add_page_row, &page, err);
    if (page.more) {
        write_cursor(query, &page.last, next_cursor);
    }
    return status;
}
