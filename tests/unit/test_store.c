/* The store, its pages, and the queue before it; uses threads. */
#include "tests/support/check.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logger/store.h"
#include "logger/store_queue.h"
#include "logger/store_schema.h"
#include "twin/base/lab_time.h"

static char base[] = "/tmp/test_store.XXXXXX";
static char path[128];

static void fresh_path(void)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < COUNT(endings); i++) {
        char name[160];
        (void)snprintf(name, sizeof name, "%s/lab.db%s", base, endings[i]);
        (void)unlink(name);
    }
    (void)snprintf(path, sizeof path, "%s/lab.db", base);
}

static struct store *open_store(const char *vfs)
{
    const struct store_params params = {.path = path, .vfs = vfs, .busy_timeout_ms = 1000};
    struct store *s = NULL;
    struct err err = {0};
    CHECK_INT("open", store_open(&params, &s, &err), STATUS_OK);
    CHECK_TEXT("open", err.text, "");
    if (!s) {
        abort();
    }
    return s;
}

static struct store_reader *open_reader(void)
{
    struct store_reader *r = NULL;
    struct err err = {0};
    CHECK_INT("reader", store_reader_open(path, &r, &err), STATUS_OK);
    CHECK_TEXT("reader", err.text, "");
    if (!r) {
        abort();
    }
    return r;
}

static struct store_row row_of(enum store_kind kind, const char *pair, uint64_t n, int64_t t_us,
                               const char *type)
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

static bool add(struct store *s, const struct store_row *row)
{
    bool is_new = false;
    struct err err = {0};
    CHECK_INT("add", store_add(s, row, &is_new, &err), STATUS_OK);
    CHECK_TEXT("add", err.text, "");
    return is_new;
}

static void add_one(struct store *s, enum store_kind kind, const char *pair, uint64_t n,
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

static bool list_row(void *context, const struct store_row *row)
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

static void expect(const char *name, struct store_reader *r, struct store_query query,
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

static bool list_count(void *context, const char *type, uint64_t count)
{
    struct listing *listing = context;
    const size_t at = strlen(listing->text);
    (void)snprintf(listing->text + at, sizeof listing->text - at, "%s%s:%llu", at ? " " : "",
                   type, (unsigned long long)count);
    return true;
}

static void expect_counts(const char *name, struct store_reader *r, enum store_kind kind,
                          const char *pair, const char *want)
{
    struct listing listing = {0};
    CHECK_INT(name, store_counts(r, kind, pair, list_count, &listing, NULL), STATUS_OK);
    CHECK_TEXT(name, listing.text, want);
}

/* --- rows ----------------------------------------------------------------------------- */

static bool keep_row(void *context, const struct store_row *row)
{
    struct store_row *out = context;
    CHECK_TEXT("pair", row->pair, "r1");
    CHECK_TEXT("id", row->id, "c17");
    CHECK_TEXT("type", row->type, "AHEAD");
    CHECK("json", row->json_bytes == 9 && memcmp(row->json, "{\"a\":\"\0\"}", 9) == 0);
    *out = *row;
    return true;
}

static void round_trip(void)
{
    fresh_path();
    struct store *s = open_store(NULL);
    struct store_row row = {.kind = STORE_ENTRIES,
                            .pair = "r1",
                            .n = INT64_MAX,
                            .t_us = INT64_C(1795154155599953),
                            .id = "c17",
                            .type = "AHEAD",
                            .lag_s = -1.0 / 3.0,
                            .json = "{\"a\":\"\0\"}",
                            .json_bytes = 9};
    CHECK_INT("begin", store_begin(s, NULL), STATUS_OK);
    CHECK("new", add(s, &row));
    CHECK("not twice", !add(s, &row));
    row.t_us++;
    CHECK("another run of the lab", add(s, &row));
    CHECK_INT("commit", store_commit(s, NULL), STATUS_OK);

    struct store_reader *r = open_reader();
    struct store_query query = everything;
    query.until_us = row.t_us;
    struct store_row got = {0};
    char next[STORE_CURSOR_MAX];
    CHECK_INT("query", store_query(r, &query, keep_row, &got, next, NULL), STATUS_OK);
    CHECK("n", got.n == INT64_MAX);
    CHECK_INT("t_us", got.t_us, row.t_us - 1);
    CHECK_NEAR("lag_s", got.lag_s, -1.0 / 3.0, 0.0, 0.0);
    CHECK_TEXT("no more", next, "");
    expect_counts("counted once each", r, STORE_ENTRIES, "r1", "AHEAD:2");
    store_reader_close(r);
    store_close(s);
}

static void limits(void)
{
    fresh_path();
    struct store *s = open_store(NULL);
    const struct store_row good = row_of(STORE_ALARMS, "r1", 1, 1, "late");
    char long_text[64];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    struct store_row bad[9];
    for (size_t i = 0; i < COUNT(bad); i++) {
        bad[i] = good;
    }
    bad[0].pair = NULL;
    bad[1].pair = "";
    bad[2].pair = long_text;
    bad[3].id = long_text;
    bad[4].type = long_text;
    bad[5].type = "";
    bad[6].n = UINT64_MAX;
    bad[7].json_bytes = STORE_JSON_MAX + 1;
    bad[8].kind = STORE_KIND_COUNT;
    CHECK_INT("begin", store_begin(s, NULL), STATUS_OK);
    for (size_t i = 0; i < COUNT(bad); i++) {
        bool is_new = true;
        CHECK_INT("bad", store_add(s, &bad[i], &is_new, NULL), STATUS_E_ARG);
        CHECK("untouched", is_new);
    }
    CHECK("the batch is still good", add(s, &good));
    CHECK_INT("commit", store_commit(s, NULL), STATUS_OK);
    struct store_reader *r = open_reader();
    struct store_query query = everything;
    char next[STORE_CURSOR_MAX];
    struct listing listing = {0};
    static const int limits_out[] = {0, -1, STORE_PAGE_MAX + 1};
    for (size_t i = 0; i < COUNT(limits_out); i++) {
        query.limit = limits_out[i];
        CHECK_INT("limit", store_query(r, &query, list_row, &listing, next, NULL),
                  STATUS_E_RANGE);
    }
    store_reader_close(r);
    store_close(s);
    store_close(NULL);
    store_reader_close(NULL);
}

/* --- pages ---------------------------------------------------------------------------- */

static void fill(struct store *s)
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

static void pages(void)
{
    fresh_path();
    struct store *s = open_store(NULL);
    fill(s);
    struct store_reader *r = open_reader();
    for (int limit = 1; limit <= 13; limit++) {
        struct store_query query = everything;
        query.limit = limit;
        expect("all", r, query, "b:1 a:1 a:2 b:2 b:3 a:3 a:4 b:4 b:5 a:5 a:6 b:6");
        query.newest_first = true;
        expect("all, newest", r, query, "b:6 a:6 a:5 b:5 b:4 a:4 a:3 b:3 b:2 a:2 a:1 b:1");
        query.pair = "b";
        expect("pair, newest", r, query, "b:6 b:5 b:4 b:3 b:2 b:1");
        query.since_us = 20;
        query.until_us = 60;
        expect("since and until, newest", r, query, "b:5 b:4 b:3 b:2");
        query.newest_first = false;
        expect("since and until", r, query, "b:2 b:3 b:4 b:5");
        query.pair = NULL;
        expect("all pairs, since and until", r, query, "a:2 b:2 b:3 a:3 a:4 b:4 b:5 a:5");
        query.type = "SYNC";
        expect("verdict", r, query, "a:2 b:2 b:3 b:4 b:5 a:5");
        query.pair = "a";
        expect("pair and verdict", r, query, "a:2 a:5");
        query.type = "TIMEOUT";
        expect("none of it", r, query, "");
        query = everything;
        query.kind = STORE_ALARMS;
        query.limit = limit;
        expect("alarms", r, query, "b:1 a:1");
        query.type = "late";
        expect("alarms of a type", r, query, "a:1");
    }
    expect_counts("pair", r, STORE_ENTRIES, "a", "AHEAD:2 BEHIND:2 SYNC:2");
    expect_counts("all", r, STORE_ENTRIES, NULL, "AHEAD:2 BEHIND:2 SYNC:8");
    expect_counts("alarms", r, STORE_ALARMS, NULL, "late:1 timeout:1");
    expect_counts("nobody", r, STORE_ALARMS, "c", "");

    /* The callback may stop; the cursor goes on behind the last row it saw. */
    struct store_query query = everything;
    struct listing listing = {.stop_at = 3};
    char next[STORE_CURSOR_MAX];
    CHECK_INT("stop", store_query(r, &query, list_row, &listing, next, NULL), STATUS_OK);
    CHECK_TEXT("stop", listing.text, "b:1 a:1 a:2");
    query.cursor = next;
    listing = (struct listing){.stop_at = 1};
    char after[STORE_CURSOR_MAX];
    CHECK_INT("go on", store_query(r, &query, list_row, &listing, after, NULL), STATUS_OK);
    CHECK_TEXT("go on", listing.text, "b:2");
    store_reader_close(r);
    store_close(s);
}

/* Rows that come and go between two pages shift nothing. */
static void pages_while_writing(void)
{
    for (int newest = 0; newest < 2; newest++) {
        fresh_path();
        struct store *s = open_store(NULL);
        for (uint64_t n = 1; n <= 20; n++) {
            add_one(s, STORE_ENTRIES, "a", n, (int64_t)n * 10, "SYNC");
        }
        struct store_reader *r = open_reader();
        struct store_query query = everything;
        query.pair = "a";
        query.limit = 3;
        query.newest_first = newest;
        struct listing listing = {0};
        char cursor[STORE_CURSOR_MAX] = "";
        uint64_t next_n = 21;
        do {
            char next[STORE_CURSOR_MAX];
            query.cursor = cursor;
            CHECK_INT("page", store_query(r, &query, list_row, &listing, next, NULL),
                      STATUS_OK);
            memcpy(cursor, next, sizeof cursor);
            if (next_n <= 24) {
                /* Before and behind what was read. */
                add_one(s, STORE_ENTRIES, "a", next_n, (int64_t)next_n * 10, "SYNC");
                add_one(s, STORE_ENTRIES, "a", 100 + next_n, -(int64_t)next_n * 10, "SYNC");
                next_n++;
            }
        } while (cursor[0] != '\0');
        CHECK_TEXT("each old row once", listing.text,
                   newest ? "a:20 a:19 a:18 a:17 a:16 a:15 a:14 a:13 a:12 a:11 a:10 a:9 a:8 a:7"
                            " a:6 a:5 a:4 a:3 a:2 a:1 a:121 a:122 a:123 a:124"
                          : "a:1 a:2 a:3 a:4 a:5 a:6 a:7 a:8 a:9 a:10 a:11 a:12 a:13 a:14 a:15"
                            " a:16 a:17 a:18 a:19 a:20 a:21 a:22 a:23 a:24");
        store_reader_close(r);
        store_close(s);
    }
}

static void foreign_cursors(void)
{
    fresh_path();
    struct store *s = open_store(NULL);
    fill(s);
    struct store_reader *r = open_reader();
    struct store_query query = everything;
    query.pair = "a";
    query.limit = 2;
    struct listing listing = {0};
    char cursor[STORE_CURSOR_MAX];
    char next[STORE_CURSOR_MAX] = "?";
    CHECK_INT("page", store_query(r, &query, list_row, &listing, cursor, NULL), STATUS_OK);
    query.cursor = cursor;
    struct store_query others[5] = {query, query, query, query, query};
    others[0].pair = "b";
    others[1].pair = NULL;
    others[2].type = "SYNC";
    others[3].newest_first = true;
    others[4].kind = STORE_ALARMS;
    for (size_t i = 0; i < COUNT(others); i++) {
        struct err err = {0};
        CHECK_INT("another list", store_query(r, &others[i], list_row, &listing, next, &err),
                  STATUS_E_PARSE);
        CHECK_TEXT("where", err.where, "cursor");
    }
    for (size_t i = 0; cursor[i] != '\0'; i++) {
        char changed[STORE_CURSOR_MAX];
        memcpy(changed, cursor, sizeof changed);
        changed[i] = changed[i] == '1' ? '2' : '1';
        query.cursor = changed;
        CHECK_INT("changed", store_query(r, &query, list_row, &listing, next, NULL),
                  STATUS_E_PARSE);
        changed[i] = '\0';
        CHECK_INT("cut", store_query(r, &query, list_row, &listing, next, NULL),
                  i == 0 ? STATUS_OK : STATUS_E_PARSE);
    }
    char endless[2 * STORE_CURSOR_MAX];
    memset(endless, 'a', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    static const char *const nonsense[] = {"x", "' OR 1=1 --", "ABCDEF", "\xff\xfe"};
    for (size_t i = 0; i <= COUNT(nonsense); i++) {
        query.cursor = i < COUNT(nonsense) ? nonsense[i] : endless;
        CHECK_INT("nonsense", store_query(r, &query, list_row, &listing, next, NULL),
                  STATUS_E_PARSE);
    }
    store_reader_close(r);
    store_close(s);
}

/* No query reads more than its page: SQLite's plans search an index and sort nothing. */
static void plans(void)
{
    fresh_path();
    struct store *s = open_store(NULL);
    fill(s);
    sqlite3 *db = NULL;
    CHECK_INT("open", sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    for (int i = 0; i < 16; i++) {
        struct store_query query = everything;
        query.kind = i & 1 ? STORE_ALARMS : STORE_ENTRIES;
        query.pair = i & 2 ? "a" : NULL;
        query.type = i & 4 ? "SYNC" : NULL;
        query.newest_first = i & 8;
        char sql[STORE_SQL_MAX];
        char explain[STORE_SQL_MAX + 32];
        store_schema_query(&query, sql);
        (void)snprintf(explain, sizeof explain, "EXPLAIN QUERY PLAN %s", sql);
        sqlite3_stmt *statement = NULL;
        CHECK_INT(sql, sqlite3_prepare_v2(db, explain, -1, &statement, NULL), SQLITE_OK);
        int steps = 0;
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const char *plan = (const char *)sqlite3_column_text(statement, 3);
            CHECK(plan, strncmp(plan, "SEARCH", 6) == 0 && strstr(plan, "INDEX"));
            CHECK(plan, (strstr(plan, "pair=?") != NULL) == (query.pair != NULL));
            CHECK(plan, (strstr(plan, "verdict=?") || strstr(plan, "type=?")) ==
                            (query.type != NULL));
            steps++;
        }
        CHECK_INT(sql, steps, 1);
        (void)sqlite3_finalize(statement);
    }
    (void)sqlite3_close(db);
    store_close(s);
}

/* --- versions and damage ---------------------------------------------------------------- */

/* A store as version 1 of the schema left it. Never change this. */
static const char version_1[] =
    "PRAGMA application_id = 1414415437; PRAGMA journal_mode = WAL;"
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "INSERT INTO meta VALUES('schema_version', 1);"
    "CREATE TABLE entries(seq INTEGER PRIMARY KEY, pair TEXT NOT NULL, n INTEGER NOT NULL,"
    "  t_us INTEGER NOT NULL, id TEXT NOT NULL, verdict TEXT NOT NULL, lag_s REAL,"
    "  json TEXT NOT NULL, UNIQUE(pair, t_us, n));"
    "CREATE TABLE alarms(seq INTEGER PRIMARY KEY, pair TEXT NOT NULL, n INTEGER NOT NULL,"
    "  t_us INTEGER NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL,"
    "  json TEXT NOT NULL, UNIQUE(pair, t_us, n));"
    "CREATE INDEX entries_by_time ON entries(t_us, pair, n);"
    "CREATE INDEX alarms_by_time ON alarms(t_us, pair, n);"
    "INSERT INTO entries(pair, n, t_us, id, verdict, lag_s, json)"
    "  VALUES('r1', 1, 10, 'c1', 'SYNC', 0.5, '{}'), ('r1', 2, 20, 'c2', 'SYNC', NULL, '{}'),"
    "  ('r2', 1, 15, '', 'AHEAD', -1, '{}');"
    "INSERT INTO alarms(pair, n, t_us, id, type, json) VALUES('r1', 1, 12, 'c1', 'late', "
    "'{}');";

static void run_sql(const char *sql)
{
    sqlite3 *db = NULL;
    char *text = NULL;
    CHECK_INT("open", sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sql, sqlite3_exec(db, sql, NULL, NULL, &text), SQLITE_OK);
    CHECK_TEXT(sql, text ? text : "", "");
    sqlite3_free(text);
    (void)sqlite3_close(db);
}

static void old_version(void)
{
    fresh_path();
    run_sql(version_1);
    struct store_reader *r = NULL;
    struct err err = {0};
    CHECK_INT("not by a reader", store_reader_open(path, &r, &err), STATUS_E_STALE);
    struct store *s = open_store(NULL);
    r = open_reader();
    expect("rows stay", r, everything, "r1:1 r2:1 r1:2");
    expect_counts("counted", r, STORE_ENTRIES, NULL, "AHEAD:1 SYNC:2");
    expect_counts("counted", r, STORE_ALARMS, "r1", "late:1");
    add_one(s, STORE_ENTRIES, "r1", 3, 30, "SYNC");
    expect_counts("goes on", r, STORE_ENTRIES, "r1", "SYNC:3");
    store_reader_close(r);
    store_close(s);
    s = open_store(NULL);
    store_close(s);
}

static void refused(const char *name, enum status want, const char *text)
{
    const struct store_params params = {.path = path};
    struct store *s = NULL;
    struct store_reader *r = NULL;
    struct err err = {0};
    CHECK_INT(name, store_open(&params, &s, &err), want);
    CHECK_TEXT(name, err.where, path);
    CHECK(err.text, strstr(err.text, text) != NULL);
    CHECK(name, store_reader_open(path, &r, NULL) != STATUS_OK);
    CHECK(name, s == NULL && r == NULL);
}

static void refusals(void)
{
    fresh_path();
    run_sql(version_1);
    run_sql("UPDATE meta SET value = 99");
    refused("newer", STATUS_E_STALE, "has version 99, this program knows up to 4");
    run_sql("UPDATE meta SET value = 'x'");
    refused("no version", STATUS_E_PARSE, "not of this program");
    fresh_path();
    run_sql("CREATE TABLE songs(title); PRAGMA user_version = 7");
    refused("another program's", STATUS_E_PARSE, "not of this program");
    fresh_path();
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    for (int i = 0; i < 200; i++) {
        CHECK("write", write(fd, "these are no pages of SQLite, but text\n", 39) == 39);
    }
    (void)close(fd);
    refused("text", STATUS_E_PARSE, "damaged");
    (void)snprintf(path, sizeof path, "%s/no/such/folder/lab.db", base);
    refused("no folder", STATUS_E_IO, "unable to open");
    (void)snprintf(path, sizeof path, "%s", base);
    refused("a folder", STATUS_E_IO, "unable to open");
}

/* Whatever bytes a bad disk changes: an error or a working store, never a crash. */
static void damaged(void)
{
    fresh_path();
    struct store *s = open_store(NULL);
    CHECK_INT("begin", store_begin(s, NULL), STATUS_OK);
    for (uint64_t n = 1; n <= 2000; n++) {
        const struct store_row row = row_of(STORE_ENTRIES, "a", n, (int64_t)n, "SYNC");
        CHECK("new", add(s, &row));
    }
    CHECK_INT("commit", store_commit(s, NULL), STATUS_OK);
    store_close(s);
    struct stat about;
    CHECK_INT("stat", stat(path, &about), 0);
    int found = 0;
    int tries = 0;
    for (off_t at = 100; at < about.st_size; at += 1021, tries++) {
        unsigned char old[64];
        unsigned char rubbish[64];
        memset(rubbish, 0xa5, sizeof rubbish);
        const int fd = open(path, O_RDWR);
        const ssize_t n = pread(fd, old, sizeof old, at);
        CHECK("damage", n > 0 && pwrite(fd, rubbish, (size_t)n, at) == n);
        const struct store_params params = {.path = path};
        struct err err = {0};
        s = NULL;
        const enum status status = store_open(&params, &s, &err);
        CHECK("status", status == STATUS_OK || status == STATUS_E_PARSE);
        found += status == STATUS_E_PARSE;
        store_close(s);
        CHECK("mend", pwrite(fd, old, (size_t)n, at) == n);
        (void)close(fd);
    }
    CHECK("most of it is found", tries > 20 && found > tries / 2);
}

/* --- failing disks: a file layer whose n-th operation fails ------------------------------ */

static struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    _Atomic int calls;
    _Atomic int fail_from, fail_to;
    _Atomic int code;
} chaos;

struct chaos_file {
    sqlite3_file base;
    sqlite3_file *real;
};

static bool chaos_now(void)
{
    const int call = atomic_fetch_add(&chaos.calls, 1);
    return call >= atomic_load(&chaos.fail_from) && call < atomic_load(&chaos.fail_to);
}

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct chaos_file *)(void *)file)->real;
}

static int chaos_close(sqlite3_file *f)
{
    sqlite3_file *real = real_of(f);
    const int code = real->pMethods ? real->pMethods->xClose(real) : SQLITE_OK;
    free(real);
    return code;
}
static int chaos_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    return real_of(f)->pMethods->xRead(real_of(f), to, n, at);
}
static int chaos_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
    return chaos_now() ? atomic_load(&chaos.code)
                       : real_of(f)->pMethods->xWrite(real_of(f), from, n, at);
}
static int chaos_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    return chaos_now() ? SQLITE_IOERR_TRUNCATE
                       : real_of(f)->pMethods->xTruncate(real_of(f), size);
}
static int chaos_sync(sqlite3_file *f, int flags)
{
    return chaos_now() ? SQLITE_IOERR_FSYNC : real_of(f)->pMethods->xSync(real_of(f), flags);
}
static int chaos_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return real_of(f)->pMethods->xFileSize(real_of(f), size);
}
static int chaos_lock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xLock(real_of(f), level);
}
static int chaos_unlock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xUnlock(real_of(f), level);
}
static int chaos_reserved(sqlite3_file *f, int *out)
{
    return real_of(f)->pMethods->xCheckReservedLock(real_of(f), out);
}
static int chaos_control(sqlite3_file *f, int op, void *arg)
{
    return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
}
static int chaos_sector(sqlite3_file *f)
{
    return real_of(f)->pMethods->xSectorSize(real_of(f));
}
static int chaos_device(sqlite3_file *f)
{
    return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}
static int chaos_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
    return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, out);
}
static int chaos_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    return real_of(f)->pMethods->xShmLock(real_of(f), offset, n, flags);
}
static void chaos_shm_barrier(sqlite3_file *f)
{
    real_of(f)->pMethods->xShmBarrier(real_of(f));
}
static int chaos_shm_unmap(sqlite3_file *f, int remove)
{
    return real_of(f)->pMethods->xShmUnmap(real_of(f), remove);
}

static const sqlite3_io_methods chaos_methods = {
    .iVersion = 2,
    .xClose = chaos_close,
    .xRead = chaos_read,
    .xWrite = chaos_write,
    .xTruncate = chaos_truncate,
    .xSync = chaos_sync,
    .xFileSize = chaos_size,
    .xLock = chaos_lock,
    .xUnlock = chaos_unlock,
    .xCheckReservedLock = chaos_reserved,
    .xFileControl = chaos_control,
    .xSectorSize = chaos_sector,
    .xDeviceCharacteristics = chaos_device,
    .xShmMap = chaos_shm_map,
    .xShmLock = chaos_shm_lock,
    .xShmBarrier = chaos_shm_barrier,
    .xShmUnmap = chaos_shm_unmap,
};

static int chaos_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                      int *out_flags)
{
    (void)vfs;
    struct chaos_file *f = (struct chaos_file *)(void *)file;
    f->base.pMethods = NULL;
    f->real = calloc(1, (size_t)chaos.real->szOsFile);
    const int code = chaos.real->xOpen(chaos.real, name, f->real, flags, out_flags);
    if (code == SQLITE_OK) {
        f->base.pMethods = &chaos_methods;
    } else {
        free(f->real);
    }
    return code;
}

static void chaos_register(void)
{
    chaos.real = sqlite3_vfs_find(NULL);
    chaos.vfs = *chaos.real;
    chaos.vfs.zName = "chaos";
    chaos.vfs.szOsFile = sizeof(struct chaos_file);
    chaos.vfs.xOpen = chaos_open;
    CHECK_INT("vfs", sqlite3_vfs_register(&chaos.vfs, 0), SQLITE_OK);
}

static void chaos_between(int from, int to, int code)
{
    atomic_store(&chaos.code, code);
    atomic_store(&chaos.fail_to, to);
    atomic_store(&chaos.fail_from, from);
    atomic_store(&chaos.calls, 0);
}

/* Write rows 1 to 50 in one batch. */
static enum status write_batch(struct store *s, struct err *err)
{
    enum status status = store_begin(s, err);
    for (uint64_t n = 1; n <= 50 && status == STATUS_OK; n++) {
        const struct store_row row = row_of(STORE_ENTRIES, "a", n, (int64_t)n, "SYNC");
        status = store_add(s, &row, NULL, err);
    }
    return status == STATUS_OK ? store_commit(s, err) : status;
}

static void batch_fails(void)
{
    static const int codes[] = {SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_READONLY};
    for (size_t c = 0; c < COUNT(codes); c++) {
        bool failed = true;
        int n = 0;
        for (; failed && n < 200; n++) {
            fresh_path();
            chaos_between(1 << 30, 1 << 30, SQLITE_OK);
            struct store *s = open_store("chaos");
            struct err err = {0};
            chaos_between(n, n + 1, codes[c]);
            const enum status status = write_batch(s, &err);
            failed = status != STATUS_OK;
            CHECK("status", status == STATUS_OK || status == STATUS_E_IO);
            CHECK(err.text, !failed || strstr(err.text, "cannot write the store") != NULL);
            struct store_reader *r = open_reader();
            if (failed) {
                store_rollback(s);
                expect("nothing of it", r, everything, "");
                CHECK_INT("again", write_batch(s, &err), STATUS_OK);
            }
            expect_counts("all of it", r, STORE_ENTRIES, "a", "SYNC:50");
            struct store_query query = everything;
            query.since_us = 49;
            expect("all of it", r, query, "a:49 a:50");
            store_reader_close(r);
            store_close(s);
        }
        CHECK("every operation failed once", n >= 5 && n < 200);
    }
}

static void opening_fails(void)
{
    bool failed = true;
    int n = 0;
    for (; failed && n < 200; n++) {
        fresh_path();
        run_sql(version_1);
        chaos_between(n, 1 << 30, SQLITE_FULL);
        const struct store_params params = {.path = path, .vfs = "chaos"};
        struct store *s = NULL;
        struct err err = {0};
        failed = store_open(&params, &s, &err) != STATUS_OK;
        CHECK("told", !failed || err.text[0] != '\0');
        store_close(s);
        chaos_between(1 << 30, 1 << 30, SQLITE_OK);
        s = open_store("chaos");
        struct store_reader *r = open_reader();
        expect("the old rows are there", r, everything, "r1:1 r2:1 r1:2");
        expect_counts("and counted once", r, STORE_ENTRIES, NULL, "AHEAD:1 SYNC:2");
        store_reader_close(r);
        store_close(s);
    }
    CHECK("every operation failed once", n >= 5 && n < 200);
}

static void full(void)
{
    fresh_path();
    const struct store_params params = {.path = path, .pages_max = 40};
    struct store *s = NULL;
    CHECK_INT("open", store_open(&params, &s, NULL), STATUS_OK);
    struct err err = {0};
    enum status status = STATUS_OK;
    uint64_t n = 0;
    while (status == STATUS_OK && n < 100000) {
        n++;
        const struct store_row row = row_of(STORE_ENTRIES, "a", n, (int64_t)n, "SYNC");
        status = store_begin(s, &err);
        if (status == STATUS_OK) {
            status = store_add(s, &row, NULL, &err);
        }
        if (status == STATUS_OK) {
            status = store_commit(s, &err);
        }
    }
    CHECK_INT("full", status, STATUS_E_IO);
    CHECK(err.text, strstr(err.text, "full") != NULL);
    store_rollback(s);
    uint64_t removed = 0;
    CHECK_INT("retention makes room", store_remove_before(s, 300, 1000, &removed, &err),
              STATUS_OK);
    CHECK_INT("removed", removed, 299);
    add_one(s, STORE_ENTRIES, "a", n, (int64_t)n, "SYNC");
    store_close(s);
}

static void retention(void)
{
    fresh_path();
    struct store *s = open_store(NULL);
    fill(s);
    uint64_t removed = 0;
    CHECK_INT("one each", store_remove_before(s, 30, 1, &removed, NULL), STATUS_OK);
    CHECK_INT("one each", removed, 2);
    struct store_reader *r = open_reader();
    expect("the oldest went", r, everything, "a:1 a:2 b:2 b:3 a:3 a:4 b:4 b:5 a:5 a:6 b:6");
    CHECK_INT("the rest", store_remove_before(s, 30, 100, &removed, NULL), STATUS_OK);
    CHECK_INT("the rest", removed, 5);
    expect("at the limit stays", r, everything, "a:3 a:4 b:4 b:5 a:5 a:6 b:6");
    CHECK_INT("nothing left", store_remove_before(s, 30, 100, &removed, NULL), STATUS_OK);
    CHECK_INT("nothing left", removed, 0);
    expect_counts("counts are of all time", r, STORE_ENTRIES, "a", "AHEAD:2 BEHIND:2 SYNC:2");
    store_reader_close(r);
    store_close(s);
}

static void spool(void)
{
    const struct store_params params = {.path = "", .spool = true};
    struct store *s = NULL;
    CHECK_INT("open", store_open(&params, &s, NULL), STATUS_OK);
    CHECK_INT("begin", store_begin(s, NULL), STATUS_OK);
    for (uint64_t n = 1; n <= 300; n++) {
        static const char *const pairs[] = {"b", "c", "a"};
        const struct store_row row =
            row_of(STORE_ENTRIES, pairs[n % 3], 1000 - n, (int64_t)n, "SYNC");
        CHECK("new", add(s, &row));
    }
    CHECK_INT("commit", store_commit(s, NULL), STATUS_OK);
    struct listing listing = {.stop_at = 4};
    CHECK_INT("each", store_each(s, STORE_ENTRIES, NULL, list_row, &listing, NULL), STATUS_OK);
    CHECK_TEXT("by pair and n", listing.text, "a:701 a:704 a:707 a:710");
    listing = (struct listing){.stop_at = 2};
    CHECK_INT("each", store_each(s, STORE_ENTRIES, "c", list_row, &listing, NULL), STATUS_OK);
    CHECK_TEXT("one pair", listing.text, "c:702 c:705");
    listing = (struct listing){0};
    CHECK_INT("each", store_each(s, STORE_ENTRIES, NULL, list_row, &listing, NULL), STATUS_OK);
    CHECK_INT("all", listing.rows, 300);
    CHECK_INT("none", store_each(s, STORE_ALARMS, NULL, list_row, &listing, NULL), STATUS_OK);
    CHECK_INT("none", listing.rows, 300);
    store_close(s);
}

/* --- the queue ------------------------------------------------------------------------ */

static struct store_queue *start_queue(const struct store_queue_params *params, struct store *s)
{
    struct store_queue *q = NULL;
    struct err err = {0};
    CHECK_INT("start", store_queue_start(params, s, &q, &err), STATUS_OK);
    if (!q) {
        abort();
    }
    return q;
}

static enum status push(struct store_queue *q, uint64_t n)
{
    const struct store_row row = row_of(STORE_ENTRIES, "a", n, (int64_t)n * 1000000, "SYNC");
    return store_queue_push(q, &row);
}

static void queue_commits(void)
{
    fresh_path();
    struct store *s = open_store(NULL);
    struct store_queue_params params;
    store_queue_params_init(&params);
    params.commit_ms = 5;
    params.batch_rows = 7;
    struct store_queue *q = start_queue(&params, s);
    CHECK_INT("nothing to do", store_queue_flush(q, 5000), STATUS_OK);
    for (uint64_t n = 1; n <= 100; n++) {
        CHECK_INT("push", push(q, n), STATUS_OK);
    }
    CHECK_INT("flush", store_queue_flush(q, 5000), STATUS_OK);
    CHECK("covers", store_queue_covers(q, 100) && !store_queue_covers(q, 101));
    for (uint64_t n = 96; n <= 105; n++) {
        CHECK_INT("push", push(q, n), STATUS_OK);
    }
    /* Without anybody who flushes, the clock commits. */
    struct store_queue_stats stats = {0};
    for (int i = 0; i < 1000 && stats.committed < 110; i++) {
        (void)usleep(5000);
        store_queue_stats(q, &stats);
    }
    CHECK_INT("committed", stats.committed, 110);
    CHECK_INT("stored", stats.stored, 105);
    CHECK("in batches", stats.batches >= 17 && stats.batches < 110);
    CHECK_INT("nothing waits", stats.waiting_rows, 0);
    CHECK("healthy", !stats.failing && !stats.behind && stats.last_error.code == STATUS_OK);
    struct store_row bad = row_of(STORE_ENTRIES, "", 1, 1, "SYNC");
    CHECK_INT("bad row", store_queue_push(q, &bad), STATUS_E_ARG);
    for (uint64_t n = 106; n <= 120; n++) {
        CHECK_INT("push", push(q, n), STATUS_OK);
    }
    CHECK_INT("stop", store_queue_stop(q, 5000), STATUS_OK);
    struct store_reader *r = open_reader();
    expect_counts("all", r, STORE_ENTRIES, "a", "SYNC:120");
    store_reader_close(r);
    store_close(s);
    CHECK_INT("none", store_queue_stop(NULL, 0), STATUS_OK);
    params.batch_rows = 0;
    CHECK_INT("parameters", store_queue_start(&params, s, &q, NULL), STATUS_E_ARG);
}

/* Disk full: rows wait, then are dropped and counted, never the producer; with space back the
 * waiting ones are stored, and the queue still knows that it is behind. */
static void meet_failing_disk(int code, const char *text)
{
    fresh_path();
    chaos_between(1 << 30, 1 << 30, SQLITE_OK);
    struct store *s = open_store("chaos");
    struct store_queue_params params;
    store_queue_params_init(&params);
    params.commit_ms = 1;
    params.rows_max = 50;
    params.retry_ms_min = 1;
    params.retry_ms_max = 10;
    struct store_queue *q = start_queue(&params, s);
    CHECK_INT("push", push(q, 1), STATUS_OK);
    CHECK_INT("flush", store_queue_flush(q, 5000), STATUS_OK);
    chaos_between(0, 1 << 30, code);
    int refused_rows = 0;
    for (uint64_t n = 2; n <= 71; n++) {
        const enum status status = push(q, n);
        CHECK("status", status == STATUS_OK || status == STATUS_E_FULL);
        refused_rows += status == STATUS_E_FULL;
    }
    CHECK_INT("refused", refused_rows, 20);
    CHECK_INT("flush", store_queue_flush(q, 50), STATUS_E_IO);
    struct store_queue_stats stats;
    store_queue_stats(q, &stats);
    CHECK("failing", stats.failing && stats.failures >= 2);
    CHECK("back-off", stats.failures < 60);
    CHECK(stats.last_error.text, strstr(stats.last_error.text, text) != NULL);
    CHECK_INT("dropped", stats.dropped, 20);
    CHECK_INT("waiting", stats.waiting_rows, 50);
    CHECK("behind", stats.behind && !store_queue_covers(q, 1));
    chaos_between(1 << 30, 1 << 30, SQLITE_OK);
    CHECK_INT("space again", store_queue_flush(q, 5000), STATUS_OK);
    store_queue_stats(q, &stats);
    CHECK("healthy", !stats.failing);
    CHECK("still behind", stats.behind);
    CHECK_INT("committed", stats.committed, 51);
    chaos_between(0, 1 << 30, code);
    CHECK_INT("push", push(q, 100), STATUS_OK);
    CHECK_INT("stop tells of what is left", store_queue_stop(q, 30), STATUS_E_IO);
    chaos_between(1 << 30, 1 << 30, SQLITE_OK);
    struct store_reader *r = open_reader();
    expect_counts("what was accepted", r, STORE_ENTRIES, "a", "SYNC:51");
    store_reader_close(r);
    store_close(s);
}

static void queue_meets_failing_disk(void)
{
    meet_failing_disk(SQLITE_FULL, "full");
    meet_failing_disk(SQLITE_READONLY, "readonly");
    meet_failing_disk(SQLITE_IOERR_WRITE, "I/O error");
}

/* Rows that fill the ring to the last byte, committed as one batch. */
static void queue_filled_exactly(void)
{
    enum { PIECE = 2048, PIECES = 2 * STORE_JSON_MAX / PIECE };
    static char json[PIECE];
    memset(json, 'x', sizeof json);
    fresh_path();
    chaos_between(1 << 30, 1 << 30, SQLITE_OK);
    struct store *s = open_store("chaos");
    struct store_queue_params params;
    store_queue_params_init(&params);
    params.bytes_max = (size_t)PIECE * PIECES;
    params.commit_ms = 0;
    params.retry_ms_min = params.retry_ms_max = 1;
    struct store_queue *q = start_queue(&params, s);
    struct store_row row = row_of(STORE_ENTRIES, "a", 0, 0, "SYNC");
    row.json = json;
    row.json_bytes = PIECE - 56; /* header and texts take the rest */
    uint64_t total = 0;
    for (int round = 0; round < 4; round++) {
        struct store_queue_stats stats;
        chaos_between(0, 1 << 30, SQLITE_FULL);
        int pushed = 0;
        do {
            row.n = ++total;
            row.t_us = (int64_t)total;
            pushed++;
        } while (store_queue_push(q, &row) == STATUS_OK);
        total--;
        store_queue_stats(q, &stats);
        CHECK_INT("to the last byte", stats.waiting_bytes, params.bytes_max);
        CHECK_INT("pieces", pushed - 1, PIECES);
        chaos_between(1 << 30, 1 << 30, SQLITE_OK);
        CHECK_INT("flush", store_queue_flush(q, 20000), STATUS_OK);
        store_queue_stats(q, &stats);
        CHECK_INT("empty", stats.waiting_bytes, 0);
    }
    CHECK_INT("stop", store_queue_stop(q, 5000), STATUS_OK);
    struct store_reader *r = open_reader();
    char want[32];
    (void)snprintf(want, sizeof want, "SYNC:%llu", (unsigned long long)total);
    expect_counts("all", r, STORE_ENTRIES, "a", want);
    store_reader_close(r);
    store_close(s);
}

/* The ring in all its states: rows of every length, a memory of a few of them. */
static void queue_ring(void)
{
    fresh_path();
    struct store *s = open_store(NULL);
    struct store_queue_params params;
    store_queue_params_init(&params);
    params.bytes_max = 2 * (size_t)STORE_JSON_MAX;
    params.commit_ms = 0;
    params.batch_rows = 5;
    struct store_queue *q = start_queue(&params, s);
    static char json[STORE_JSON_MAX];
    unsigned random = 12345;
    uint64_t full_count = 0;
    for (uint64_t n = 1; n <= 3000; n++) {
        random = random * 1103515245U + 12345U;
        const size_t bytes =
            (random >> 8) % 7 == 0 ? (random >> 12) % sizeof json : (random >> 12) % 3000;
        memset(json, 'a' + (int)(n % 26), bytes);
        const struct store_row row = {.kind = n % 5 ? STORE_ENTRIES : STORE_ALARMS,
                                      .pair = n % 2 ? "a" : "a much longer name of a pair",
                                      .n = n,
                                      .t_us = (int64_t)n,
                                      .id = n % 3 ? "" : "c123456",
                                      .type = n % 5 ? "UNRESOLVED" : "late",
                                      .lag_s = n % 4 ? (double)n : nan(""),
                                      .json = json,
                                      .json_bytes = bytes};
        enum status status = store_queue_push(q, &row);
        for (int i = 0; status == STATUS_E_FULL && i < 10000; i++) {
            full_count++;
            (void)usleep(200);
            status = store_queue_push(q, &row);
        }
        CHECK_INT("push", status, STATUS_OK);
    }
    CHECK("it was full at times", full_count > 0);
    CHECK_INT("stop", store_queue_stop(q, 20000), STATUS_OK);
    struct store_reader *r = open_reader();
    expect_counts("all", r, STORE_ENTRIES, NULL, "UNRESOLVED:2400");
    expect_counts("all", r, STORE_ALARMS, NULL, "late:600");
    sqlite3 *db = NULL;
    CHECK_INT("open", sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    /* Each text is made of its own letter alone. */
    sqlite3_stmt *statement = NULL;
    CHECK_INT(
        "prepare",
        sqlite3_prepare_v2(
            db,
            "SELECT count(*) FROM (SELECT n, json, pair, id, lag_s FROM entries UNION ALL"
            "  SELECT n, json, pair, id, CASE n % 4 WHEN 0 THEN NULL ELSE n END FROM alarms)"
            " WHERE replace(json, char(97 + n % 26), '') = ''"
            "  AND pair = CASE n % 2 WHEN 1 THEN 'a' ELSE 'a much longer name of a pair' END"
            "  AND id = CASE n % 3 WHEN 0 THEN 'c123456' ELSE '' END"
            "  AND lag_s IS CASE n % 4 WHEN 0 THEN NULL ELSE n END",
            -1, &statement, NULL),
        SQLITE_OK);
    CHECK_INT("step", sqlite3_step(statement), SQLITE_ROW);
    CHECK_INT("every row as it was", sqlite3_column_int(statement, 0), 3000);
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
    store_reader_close(r);
    store_close(s);
}

static void queue_retention(void)
{
    fresh_path();
    struct store *s = open_store(NULL);
    struct store_queue_params params;
    store_queue_params_init(&params);
    params.commit_ms = 0;
    params.retain_s = 100.0;
    struct store_queue *q = start_queue(&params, s);
    for (uint64_t n = 1; n <= 400; n++) {
        CHECK_INT("push", push(q, n), STATUS_OK); /* one a second */
        CHECK_INT("flush", store_queue_flush(q, 5000), STATUS_OK);
    }
    CHECK_INT("stop", store_queue_stop(q, 5000), STATUS_OK);
    struct store_reader *r = open_reader();
    struct listing listing = {0};
    char next[STORE_CURSOR_MAX];
    CHECK_INT("query", store_query(r, &everything, list_row, &listing, next, NULL), STATUS_OK);
    CHECK("the last 100 s, a minute more at most", listing.rows >= 100 && listing.rows <= 161);
    store_reader_close(r);
    store_close(s);
}

/* Two producers, a reader that pages, somebody who asks: for the thread sanitizer. */
struct race {
    struct store_queue *queue;
    _Atomic bool over;
    _Atomic int pages;
    _Atomic int pushed;
};

enum { RACE_ROWS = 4000 };

static void *race_push(void *context)
{
    struct race *race = context;
    for (;;) {
        const int n = atomic_fetch_add(&race->pushed, 1) + 1;
        if (n > RACE_ROWS) {
            return NULL;
        }
        const struct store_row row = {.kind = STORE_ENTRIES,
                                      .pair = "a",
                                      .n = (uint64_t)n,
                                      .t_us = n,
                                      .id = "",
                                      .type = "SYNC",
                                      .lag_s = 0.0,
                                      .json = "{}",
                                      .json_bytes = 2};
        while (store_queue_push(race->queue, &row) != STATUS_OK) {
            (void)usleep(100);
        }
    }
}

static bool is_in_order(void *context, const struct store_row *row)
{
    int64_t *last_us = context;
    const bool ok = row->t_us < *last_us;
    *last_us = row->t_us;
    return ok;
}

static void *race_read(void *context)
{
    struct race *race = context;
    struct store_reader *r = NULL;
    if (store_reader_open(path, &r, NULL) != STATUS_OK) {
        return NULL;
    }
    while (!atomic_load(&race->over)) {
        struct store_query query = everything;
        char next[STORE_CURSOR_MAX];
        int64_t last_us = INT64_MAX;
        query.newest_first = true;
        query.limit = 50;
        if (store_query(r, &query, is_in_order, &last_us, next, NULL) != STATUS_OK) {
            break;
        }
        struct store_queue_stats stats;
        store_queue_stats(race->queue, &stats);
        atomic_fetch_add(&race->pages, 1);
        (void)usleep(500);
    }
    store_reader_close(r);
    return NULL;
}

static void race(void)
{
    fresh_path();
    struct store *s = open_store(NULL);
    struct store_queue_params params;
    store_queue_params_init(&params);
    params.commit_ms = 2;
    params.rows_max = 300;
    struct race state = {.queue = start_queue(&params, s)};
    pthread_t threads[3];
    CHECK_INT("thread", pthread_create(&threads[0], NULL, race_read, &state), 0);
    CHECK_INT("thread", pthread_create(&threads[1], NULL, race_push, &state), 0);
    CHECK_INT("thread", pthread_create(&threads[2], NULL, race_push, &state), 0);
    (void)pthread_join(threads[1], NULL);
    (void)pthread_join(threads[2], NULL);
    CHECK_INT("flush", store_queue_flush(state.queue, 20000), STATUS_OK);
    atomic_store(&state.over, true);
    (void)pthread_join(threads[0], NULL);
    CHECK("the reader read", atomic_load(&state.pages) > 0);
    CHECK_INT("stop", store_queue_stop(state.queue, 5000), STATUS_OK);
    struct store_reader *r = open_reader();
    expect_counts("all", r, STORE_ENTRIES, "a", "SYNC:4000");
    store_reader_close(r);
    store_close(s);
}

int main(void)
{
    if (!mkdtemp(base) || CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("store", NULL, NULL);
    CU_add_test(suite, "chaos file layer", chaos_register);
    CU_add_test(suite, "round trip", round_trip);
    CU_add_test(suite, "limits", limits);
    CU_add_test(suite, "pages", pages);
    CU_add_test(suite, "pages while writing", pages_while_writing);
    CU_add_test(suite, "foreign cursors", foreign_cursors);
    CU_add_test(suite, "plans", plans);
    CU_add_test(suite, "old version", old_version);
    CU_add_test(suite, "refusals", refusals);
    CU_add_test(suite, "damaged", damaged);
    CU_add_test(suite, "batch fails", batch_fails);
    CU_add_test(suite, "opening fails", opening_fails);
    CU_add_test(suite, "full", full);
    CU_add_test(suite, "retention", retention);
    CU_add_test(suite, "spool", spool);
    CU_add_test(suite, "queue commits", queue_commits);
    CU_add_test(suite, "queue meets a failing disk", queue_meets_failing_disk);
    CU_add_test(suite, "queue filled exactly", queue_filled_exactly);
    CU_add_test(suite, "queue's ring", queue_ring);
    CU_add_test(suite, "queue and retention", queue_retention);
    CU_add_test(suite, "race", race);
    const int result = check_run();
    fresh_path();
    (void)rmdir(base);
    return result;
}
