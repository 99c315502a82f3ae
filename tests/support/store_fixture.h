/* tests/support/store_fixture.h - a store in its own directory, rows to insert, and functions
 * that list them as a text. The test makes base with mkdtemp(). */
#ifndef TESTS_SUPPORT_STORE_FIXTURE_H
#define TESTS_SUPPORT_STORE_FIXTURE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logger/storage/store.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

static char base[SCRATCH_MAX];
static char path[128];
/* NULL: stores are in files. Else in this database, which empty_database() empties. */
static struct postgresql_target *target;
static void (*empty_database)(void);

static inline void fresh_path(void)
{
    if (target) {
        empty_database();
    }
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < COUNT(endings); i++) {
        char name[160];
        (void)snprintf(name, sizeof name, "%s/lab.db%s", base, endings[i]);
        (void)unlink(name);
    }
    (void)snprintf(path, sizeof path, "%s/lab.db", base);
}

static inline struct store_params fixture_params(const char *vfs)
{
    return (struct store_params){.path = path,
                                 .vfs = vfs,
                                 .busy_timeout_ms = target ? 60000 : 1000,
                                 .target = target,
                                 .partition = "lab",
                                 .all = true};
}

static inline struct store *open_store(const char *vfs)
{
    const struct store_params params = fixture_params(vfs);
    struct store *s = NULL;
    struct err err = {0};
    CHECK_INT("open", store_open(&params, &s, &err), STATUS_OK);
    CHECK_TEXT("open", err.text, "");
    if (!s) {
        abort();
    }
    return s;
}

static inline struct store_reader *open_reader(void)
{
    const struct store_params params = fixture_params(NULL);
    struct store_reader *r = NULL;
    struct err err = {0};
    CHECK_INT("reader", store_reader_open(&params, &r, &err), STATUS_OK);
    CHECK_TEXT("reader", err.text, "");
    if (!r) {
        abort();
    }
    return r;
}

static inline struct store_row row_of(enum store_kind kind, const char *pair, uint64_t n,
                                      int64_t t_us, const char *type)
{
    static char json[64];
    const int bytes = snprintf(json, sizeof json, "{\"pair\":\"%s\",\"n\":%llu}", pair,
                               (unsigned long long)n);
    return (struct store_row){.kind = kind,
                              .pair = pair,
                              .n = n,
                              .t_us = t_us,
                              .id = "c17",
                              .type = type,
                              .lag_s = kind == STORE_ENTRIES ? 0.25 * (double)n : nan(""),
                              .json = json,
                              .json_bytes = (size_t)bytes};
}

static inline bool add(struct store *s, const struct store_row *row)
{
    bool is_new = false;
    struct err err = {0};
    CHECK_INT("add", store_add(s, row, &is_new, &err), STATUS_OK);
    CHECK_TEXT("add", err.text, "");
    return is_new;
}

static inline void add_one(struct store *s, enum store_kind kind, const char *pair, uint64_t n,
                           int64_t t_us, const char *type)
{
    const struct store_row row = row_of(kind, pair, n, t_us, type);
    CHECK_INT("begin", store_begin(s, NULL), STATUS_OK);
    CHECK("new", add(s, &row));
    CHECK_INT("commit", store_commit(s, NULL), STATUS_OK);
}

/* Rows of a query as "pair:n pair:n …". */
struct listing {
    char text[8192];
    int rows;
    int stop_at; /* 0: never */
};

static inline bool list_row(void *context, const struct store_row *row)
{
    struct listing *listing = context;
    const size_t at = strlen(listing->text);
    (void)snprintf(listing->text + at, sizeof listing->text - at, "%s%s:%llu", at ? " " : "",
                   row->pair, (unsigned long long)row->n);
    listing->rows++;
    return listing->rows != listing->stop_at;
}

static const struct store_query everything = {
    .since_us = INT64_MIN, .until_us = INT64_MAX, .limit = STORE_PAGE_MAX};

static inline void expect(const char *name, struct store_reader *r, struct store_query query,
                          const char *want)
{
    struct listing listing = {0};
    char cursor[STORE_CURSOR_MAX] = "";
    struct err err = {0};
    /* All pages. */
    for (int page = 0; page < 1000; page++) {
        char next[STORE_CURSOR_MAX] = "?";
        query.cursor = cursor;
        CHECK_INT(name, store_query(r, &query, list_row, &listing, next, &err), STATUS_OK);
        memcpy(cursor, next, sizeof cursor);
        if (cursor[0] == '\0') {
            break;
        }
    }
    CHECK_TEXT(name, err.text, "");
    CHECK_TEXT(name, listing.text, want);
}

/* How many of each verdict, or type of alarms, a pair has; pair NULL: all pairs together. */
struct type_counts {
    char type[8][STORE_TYPE_MAX];
    int count[8], types;
};

static inline bool count_type(void *context, const struct store_row *row)
{
    struct type_counts *c = context;
    int i = 0;
    while (i < c->types && strcmp(c->type[i], row->type) < 0) {
        i++;
    }
    if (i == c->types || strcmp(c->type[i], row->type) != 0) {
        memmove(c->type[i + 1], c->type[i], sizeof c->type[0] * (size_t)(c->types - i));
        memmove(&c->count[i + 1], &c->count[i], sizeof c->count[0] * (size_t)(c->types - i));
        (void)snprintf(c->type[i], sizeof c->type[i], "%s", row->type);
        c->count[i] = 0;
        c->types++;
    }
    c->count[i]++;
    return true;
}

static inline void expect_counts(const char *name, enum store_kind kind, const char *pair,
                                 const char *want)
{
    struct store_reader *r = open_reader();
    struct type_counts counts = {0};
    struct store_query query = everything;
    char cursor[STORE_CURSOR_MAX] = "";
    char text[256] = "";
    query.kind = kind;
    query.pair = pair;
    query.cursor = cursor;
    do {
        char next[STORE_CURSOR_MAX] = "";
        CHECK_INT(name, store_query(r, &query, count_type, &counts, next, NULL), STATUS_OK);
        memcpy(cursor, next, sizeof cursor);
    } while (cursor[0] != '\0');
    for (int i = 0; i < counts.types; i++) {
        const size_t at = strlen(text);
        (void)snprintf(text + at, sizeof text - at, "%s%s:%d", at ? " " : "", counts.type[i],
                       counts.count[i]);
    }
    CHECK_TEXT(name, text, want);
    store_reader_close(r);
}

/* Two pairs with six entries and an alarm each. */
static inline void fill(struct store *s)
{
    static const char *const verdicts[] = {"AHEAD", "BEHIND", "SYNC"};
    CHECK_INT("begin", store_begin(s, NULL), STATUS_OK);
    for (uint64_t n = 1; n <= 6; n++) {
        struct store_row row =
            row_of(STORE_ENTRIES, "a", n, (int64_t)n * 10, verdicts[n % COUNT(verdicts)]);
        CHECK("new", add(s, &row));
        /* b: two rows share each time. */
        row = row_of(STORE_ENTRIES, "b", n, (int64_t)(n / 2) * 20, "SYNC");
        CHECK("new", add(s, &row));
    }
    struct store_row row = row_of(STORE_ALARMS, "a", 1, 25, "late");
    CHECK("new", add(s, &row));
    row = row_of(STORE_ALARMS, "b", 1, 15, "timeout");
    CHECK("new", add(s, &row));
    CHECK_INT("commit", store_commit(s, NULL), STATUS_OK);
}

#endif
