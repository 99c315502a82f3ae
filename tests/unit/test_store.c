/* The store's writer: rows, versions, damage, failing disks, retention. */
#include "tests/support/check.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logger/storage/store.h"
#include "logger/storage/store_sqlite.h"
#include "tests/support/store_chaos.h"
#include "tests/support/store_fixture.h"
#include "tests/support/store_versions.h"

/* --- rows ----------------------------------------------------------------------------- */

static bool copy_row(void *context, const struct store_row *row)
{
    struct store_row *out = context;
    CHECK_TEXT("pair", row->pair, "r1");
    CHECK_TEXT("id", row->id, "c17");
    CHECK_TEXT("type", row->type, "AHEAD");
    CHECK("json", row->json_bytes == 9 && memcmp(row->json, "{\"a\":\"\0\"}", 9) == 0);
    *out = *row;
    return true;
}

/* Access is restricted whatever the umask, also for an older file that all could read, and for
 * SQLite's extra files. */
static void for_owner_and_group(void)
{
    static const char *const extra[] = {"", "-wal", "-shm"};
    const mode_t before = umask(0);
    for (int round = 0; round < 2; round++) {
        struct stat about;
        char name[512];
        if (round == 0) {
            fresh_path();
        } else {
            CHECK_INT("open to all", chmod(path, 0664), 0);
        }
        struct store *s = open_store(NULL);
        CHECK_INT("begin", store_begin(s, NULL), STATUS_OK);
        for (size_t i = 0; i < COUNT(extra); i++) {
            (void)snprintf(name, sizeof name, "%s%s", path, extra[i]);
            CHECK_INT(name, stat(name, &about), 0);
            CHECK_INT(name, about.st_mode & 0777, round == 0 ? 0640 : 0660);
        }
        store_close(s);
    }
    (void)umask(before);
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
    CHECK_INT("query", store_query(r, &query, copy_row, &got, next, NULL), STATUS_OK);
    CHECK("n", got.n == INT64_MAX);
    CHECK_INT("t_us", got.t_us, row.t_us - 1);
    CHECK_NEAR("lag_s", got.lag_s, -1.0 / 3.0, 0.0, 0.0);
    CHECK_TEXT("no more", next, "");
    expect_counts("counted once each", STORE_ENTRIES, "r1", "AHEAD:2");
    store_reader_close(r);
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

/* A store as that version left it, with the rows of version 1. */
static void make_version(int version)
{
    char sql[128];
    fresh_path();
    run_sql(version_1);
    for (int v = 1; v < version; v++) {
        run_sql(store_released_steps[v - 1]);
    }
    (void)snprintf(sql, sizeof sql, "UPDATE meta SET value = %d WHERE key = 'schema_version'",
                   version);
    run_sql(sql);
}

/* Every version that was ever released comes up to date with its rows, and is a store of its
 * own from then on. */
static void released_versions(void)
{
    CHECK_INT("all of them", COUNT(store_released_steps) + 2, STORE_SCHEMA_VERSION);
    for (int version = 1; version < STORE_SCHEMA_VERSION; version++) {
        make_version(version);
        struct err err = {0};
        struct store_reader *r = NULL;
        CHECK_INT("not by a reader",
                  store_reader_open(&(struct store_params){.path = path}, &r, &err),
                  STATUS_E_STALE);
        struct store *s = open_store(NULL);
        r = open_reader();
        expect("rows stay", r, everything, "r1:1 r2:1 r1:2");
        expect_counts("counted", STORE_ENTRIES, NULL, "AHEAD:1 SYNC:2");
        const struct store_mark mark = store_read_mark(s);
        CHECK("an identity", mark.store != 0 && mark.run == 0);
        CHECK_INT("rows", mark.rows, 4);
        add_one(s, STORE_ENTRIES, "r1", 3, 30, "SYNC");
        add_one(s, STORE_LOG, "r1", 1, 31, "command");
        add_one(s, STORE_CHANGES, "r1", 1, 32, "proposed");
        add_one(s, STORE_FITS, "r1", 1, 33, "travel_time");
        add_one(s, STORE_BARS, "cell", 1, 34, "task");
        CHECK_INT("goes on", store_read_mark(s).rows, 9);
        CHECK("by a run", store_read_mark(s).run != 0);
        store_reader_close(r);
        store_close(s);
        s = open_store(NULL);
        CHECK("the same store", store_read_mark(s).store == mark.store);
        CHECK_INT("its rows", store_read_mark(s).rows, 9);
        store_close(s);
    }
}

/* Older entries, of a team's commands and of others, are found by team and job. */
static void commands_of_teams(void)
{
    static const struct {
        const char *team, *job, *rows;
    } wanted[] = {{"cell", NULL, "r1:1 r1:2 r1:4"},
                  {"cell", "j1", "r1:1 r1:4"},
                  {NULL, "j1", "r1:1 r1:4"},
                  {NULL, "j2", "r1:2"},
                  {"hall", NULL, ""},
                  {"cell", "j9", ""},
                  {NULL, NULL, "r1:1 r1:2 r1:3 r1:4 r1:5"}};
    make_version(9);
    run_sql("DELETE FROM entries");
    run_sql("INSERT INTO entries(pair, n, t_us, id, verdict, json) VALUES"
            "('r1', 1, 10, 'a', 'SYNC', '{\"team\":\"cell\",\"job\":\"j1\",\"task\":\"Go\"}'),"
            "('r1', 2, 20, 'b', 'SYNC', '{\"team\":\"cell\",\"job\":\"j2\",\"task\":\"Go\"}'),"
            "('r1', 3, 30, 'c', 'SYNC', 'no JSON')");
    struct store *s = open_store(NULL);
    static const char json[] = "{\"team\":\"cell\",\"job\":\"j1\",\"task\":\"Go\"}";
    struct store_row row = {.kind = STORE_ENTRIES,
                            .pair = "r1",
                            .n = 4,
                            .t_us = 40,
                            .id = "d",
                            .type = "SYNC",
                            .json = json,
                            .json_bytes = sizeof json - 1};
    CHECK_INT("add", store_add(s, &row, NULL, NULL), STATUS_OK);
    row.n = 5;
    row.t_us = 50;
    row.json = "{\"team\":null,\"job\":null}";
    row.json_bytes = strlen(row.json);
    CHECK_INT("add", store_add(s, &row, NULL, NULL), STATUS_OK);
    struct store_reader *r = open_reader();
    for (size_t i = 0; i < COUNT(wanted); i++) {
        for (int limit = 1; limit < 4; limit++) {
            struct store_query query = everything;
            query.pair = "r1";
            query.team = wanted[i].team;
            query.job = wanted[i].job;
            query.limit = limit;
            expect(wanted[i].rows, r, query, wanted[i].rows);
        }
    }
    store_reader_close(r);
    store_close(s);
}

/* Versions of both programs, with texts that look like others'. */
static void entries_of_versions(void)
{
    static const struct {
        const char *real, *virtual, *rows;
    } wanted[] = {{NULL, "1.0", "r1:1 r1:2"},
                  {"2", "1.0", "r1:2"},
                  {"2", NULL, "r1:2 r1:3"},
                  {NULL, "1.1", ""},
                  {NULL, "1.0\"", "r1:4"},
                  {NULL, "%", ""},
                  {NULL, "\u00e9\n", "r1:5"},
                  {NULL, "", ""},
                  {NULL, NULL, "r1:1 r1:2 r1:3 r1:4 r1:5 r1:6"}};
    static const char *const json[] = {
        "{\"virtual_version\":\"1.0\"}",
        "{\"real_version\":\"2\",\"virtual_version\":\"1.0\"}",
        "{\"real_version\":\"2\"}",
        "{\"virtual_version\":\"1.0\\\"\"}",
        "{\"virtual_version\":\"\u00e9\\u000a\"}",
        "{\"differs\":\"\\\"virtual_version\\\":\\\"1.0\\\"\"}",
    };
    fresh_path();
    struct store *s = open_store(NULL);
    for (size_t i = 0; i < COUNT(json); i++) {
        const struct store_row row = {.kind = STORE_ENTRIES,
                                      .pair = "r1",
                                      .n = i + 1,
                                      .t_us = 10 * (int64_t)i,
                                      .id = "",
                                      .type = "SYNC",
                                      .json = json[i],
                                      .json_bytes = strlen(json[i])};
        CHECK_INT("add", store_add(s, &row, NULL, NULL), STATUS_OK);
    }
    struct store_reader *r = open_reader();
    for (size_t i = 0; i < COUNT(wanted); i++) {
        for (int limit = 1; limit < 4; limit++) {
            struct store_query query = everything;
            query.pair = "r1";
            query.version[SIDE_REAL] = wanted[i].real;
            query.version[SIDE_VIRTUAL] = wanted[i].virtual;
            query.limit = limit;
            expect(wanted[i].rows, r, query, wanted[i].rows);
        }
    }
    store_reader_close(r);
    store_close(s);
}

/* --- which store it is ------------------------------------------------------------------ */

static void copy_file(const char *from, const char *to)
{
    char command[400];
    (void)snprintf(command, sizeof command, "rm -f %s-wal %s-shm; cp %s %s", to, to, from, to);
    CHECK_INT(command, system(command), 0); // NOLINT(cert-env33-c): a test's own text
}

static void expect_mark(const char *row, const struct store_mark *mark, enum fault fault)
{
    struct store *s = open_store(NULL);
    struct err err = {0};
    const enum status want = fault ? STATUS_E_STALE : STATUS_OK;
    CHECK_INT(row, store_check_mark(s, mark, &err), want);
    CHECK_INT(row, err.fault, fault);
    store_close(s);
}

static void test_marks(void)
{
    char old[160];
    fresh_path();
    (void)snprintf(old, sizeof old, "%s/old.db", base);
    struct store *s = open_store(NULL);
    const struct store_mark first = store_read_mark(s);
    CHECK("empty", first.store != 0 && first.run == 0 && first.rows == 0);
    add_one(s, STORE_ENTRIES, "a", 1, 10, "SYNC");
    store_close(s);
    copy_file(path, old);
    s = open_store(NULL);
    add_one(s, STORE_ENTRIES, "a", 2, 20, "SYNC");
    const struct store_mark mark = store_read_mark(s);
    CHECK_INT("rows", mark.rows, 2);
    add_one(s, STORE_ENTRIES, "a", 3, 30, "SYNC");
    /* Retention removes rows, not the record of what was applied. */
    uint64_t removed = 0;
    CHECK_INT("remove", store_remove_before(s, 15, 10, &removed, NULL), STATUS_OK);
    CHECK_INT("removed", removed, 1);
    CHECK_INT("rows", store_read_mark(s).rows, 3);
    store_close(s);
    expect_mark("goes on", &mark, FAULT_NONE);
    expect_mark("from its beginning", &first, FAULT_NONE);
    /* Later runs change nothing about it. */
    for (uint64_t n = 4; n < 8; n++) {
        s = open_store(NULL);
        add_one(s, STORE_ENTRIES, "a", n, (int64_t)n * 10, "SYNC");
        store_close(s);
    }
    expect_mark("later runs", &mark, FAULT_NONE);
    copy_file(old, path);
    expect_mark("an older copy", &mark, FAULT_OUTDATED_COPY);
    /* That was written to, by another run, until it has as many and more. */
    s = open_store(NULL);
    add_one(s, STORE_ENTRIES, "a", 2, 21, "SYNC");
    add_one(s, STORE_ENTRIES, "a", 3, 31, "SYNC");
    store_close(s);
    expect_mark("another way", &mark, FAULT_OUTDATED_COPY);
    fresh_path();
    expect_mark("rebuilt", &mark, FAULT_STORE_REPLACED);
    (void)unlink(old);
}

/* Removed while it is open: made again at the same place, with its directory. */
static void test_reopened(void)
{
    fresh_path();
    char inside[160];
    (void)snprintf(inside, sizeof inside, "%s/new/deep/lab.db", base);
    struct store *s = open_store(NULL);
    add_one(s, STORE_ENTRIES, "a", 1, 10, "SYNC");
    struct store_reader *r = open_reader();
    const struct store_mark mark = store_read_mark(s);
    CHECK("in place", store_is_in_place(s) && store_reader_is_in_place(r));
    CHECK_INT("removed", unlink(path), 0);
    CHECK("not in place", !store_is_in_place(s) && !store_reader_is_in_place(r));
    store_reader_close(r);
    CHECK_INT("reopen", store_reopen(s, NULL), STATUS_OK);
    CHECK("in place", store_is_in_place(s));
    CHECK_INT("lacks", store_check_mark(s, &mark, NULL), STATUS_E_STALE);
    add_one(s, STORE_ENTRIES, "a", 2, 20, "SYNC");
    r = open_reader();
    expect("the new one", r, everything, "a:2");
    store_reader_close(r);
    store_close(s);
    const struct store_params params = {.path = inside};
    CHECK("not at a start", store_open(&params, &s, NULL) != STATUS_OK);
}

static void old_version(void)
{
    fresh_path();
    run_sql(version_1);
    struct store_reader *r = NULL;
    struct err err = {0};
    CHECK_INT("not by a reader",
              store_reader_open(&(struct store_params){.path = path}, &r, &err),
              STATUS_E_STALE);
    CHECK_INT("will be rewritten", store_outdated_entries(path), 3);
    CHECK_INT("no store", store_outdated_entries("/no/such/file"), 0);
    struct store *s = open_store(NULL);
    r = open_reader();
    expect("rows stay", r, everything, "r1:1 r2:1 r1:2");
    expect_counts("counted", STORE_ENTRIES, NULL, "AHEAD:1 SYNC:2");
    expect_counts("counted", STORE_ALARMS, "r1", "late:1");
    add_one(s, STORE_ENTRIES, "r1", 3, 30, "SYNC");
    expect_counts("goes on", STORE_ENTRIES, "r1", "SYNC:3");
    store_reader_close(r);
    store_close(s);
    CHECK_INT("up to date", store_outdated_entries(path), 0);
    s = open_store(NULL);
    store_close(s);
}

/* Rows of a store in which INCONSISTENT was a verdict. a's lags of SYNC reach 0.08 s, b's say
 * nothing: the usual 0.05 s; c's begin to be AHEAD at 0.03 s. */
static const char version_5_rows[] =
    "INSERT INTO entries(pair, n, t_us, id, verdict, lag_s, json) VALUES"
    "('a', 3, 31, '', 'SYNC', -0.08, '{\"verdict\":\"SYNC\"}'),"
    "('a', 4, 32, '', 'INCONSISTENT', -0.07, '{\"verdict\":\"INCONSISTENT\"}'),"
    "('a', 5, 33, '', 'INCONSISTENT', 0.4, '{\"verdict\":\"INCONSISTENT\"}'),"
    "('a', 6, 34, '', 'INCONSISTENT', -0.4,"
    "  '{\"verdict\":\"INCONSISTENT\",\"lag_uncertainty_s\":0.1}'),"
    "('a', 7, 35, '', 'INCONSISTENT', -0.4,"
    "  '{\"verdict\":\"INCONSISTENT\",\"lag_uncertainty_s\":0.5}'),"
    "('a', 8, 36, '', 'INCONSISTENT', 0.0,"
    "  '{\"verdict\":\"INCONSISTENT\",\"interrupted_s\":2}'),"
    "('a', 9, 37, '', 'TIMEOUT', NULL, '{\"verdict\":\"TIMEOUT\",\"lag_s\":null}'),"
    "('b', 2, 38, '', 'INCONSISTENT', -0.05, '{\"verdict\":\"INCONSISTENT\"}'),"
    "('b', 3, 39, '', 'INCONSISTENT', -0.051, '{\"verdict\":\"INCONSISTENT\"}'),"
    "('b', 4, 40, '', 'INCONSISTENT', NULL, 'no JSON'),"
    "('c', 1, 41, '', 'AHEAD', 0.03, '{\"verdict\":\"AHEAD\"}'),"
    "('c', 2, 42, '', 'INCONSISTENT', 0.04, '{\"verdict\":\"INCONSISTENT\"}');";

/* "n VERDICT consistent" by pair and n, and the rows that are reported as inconsistent. */
struct judged {
    char text[2048];
};

static bool record_judged(void *context, const struct store_row *row)
{
    struct judged *judged = context;
    const size_t at = strlen(judged->text);
    const char *published = strstr(row->json, "\"consistent\":");
    (void)snprintf(judged->text + at, sizeof judged->text - at, "%s%s%llu:%s%s:%.4s",
                   at ? " " : "", row->pair, (unsigned long long)row->n, row->type,
                   row->inconsistent ? "!" : "", published ? published + 13 : "none");
    const char *verdict = strstr(row->json, "\"verdict\":\"");
    CHECK(row->json, !verdict || strncmp(verdict + 11, row->type, strlen(row->type)) == 0);
    return true;
}

static void old_verdicts(void)
{
    fresh_path();
    run_sql(version_1);
    run_sql(version_5_rows);
    struct store *s = open_store(NULL);
    struct store_reader *r = open_reader();
    struct judged judged = {""};
    static const char *const pairs[] = {"a", "b", "c", "r1", "r2"};
    for (size_t i = 0; i < COUNT(pairs); i++) {
        char next[STORE_CURSOR_MAX];
        const struct store_query query = {.kind = STORE_ENTRIES,
                                          .pair = pairs[i],
                                          .since_us = INT64_MIN,
                                          .until_us = INT64_MAX,
                                          .limit = STORE_PAGE_MAX};
        CHECK_INT("read", store_query(r, &query, record_judged, &judged, next, NULL),
                  STATUS_OK);
    }
    CHECK_TEXT("rows", judged.text,
               "a3:SYNC:true a4:SYNC!:fals a5:AHEAD!:fals "
               "a6:BEHIND!:fals a7:UNRESOLVED!:fals a8:UNRESOLVED!:fals a9:TIMEOUT:null "
               "b2:SYNC!:fals b3:BEHIND!:fals b4:UNRESOLVED!:none "
               "c1:AHEAD:true c2:AHEAD!:fals r11:SYNC:true r12:SYNC:true r21:AHEAD:true");
    expect_counts("counted", STORE_ENTRIES, "a",
                  "AHEAD:1 BEHIND:1 SYNC:2 TIMEOUT:1 UNRESOLVED:2");
    struct store_query query = everything;
    query.inconsistent = true;
    expect("those alone", r, query, "a:4 a:5 a:6 a:7 a:8 b:2 b:3 b:4 c:2");
    query.pair = "b";
    query.newest_first = true;
    query.limit = 1;
    expect("of a pair", r, query, "b:4 b:3 b:2");
    store_reader_close(r);
    store_close(s);
}

static void check_refused(const char *name, enum status want, const char *code)
{
    const struct store_params params = {.path = path};
    struct store *s = NULL;
    struct store_reader *r = NULL;
    struct err err = {0};
    CHECK_INT(name, store_open(&params, &s, &err), want);
    CHECK_TEXT(name, err.where, path);
    CHECK_TEXT(name, fault_name(err.fault), code);
    CHECK(name, store_reader_open(&(struct store_params){.path = path}, &r, NULL) != STATUS_OK);
    CHECK(name, s == NULL && r == NULL);
}

static void test_refusals(void)
{
    fresh_path();
    run_sql(version_1);
    run_sql("UPDATE meta SET value = 99");
    check_refused("newer", STATUS_E_STALE, "version_mismatch");
    run_sql("UPDATE meta SET value = 'x'");
    check_refused("no version", STATUS_E_PARSE, "wrong_file");
    fresh_path();
    run_sql("CREATE TABLE songs(title); PRAGMA user_version = 7");
    check_refused("another program's", STATUS_E_PARSE, "wrong_file");
    fresh_path();
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    for (int i = 0; i < 200; i++) {
        CHECK("write", write(fd, "these are no pages of SQLite, but text\n", 39) == 39);
    }
    (void)close(fd);
    check_refused("text", STATUS_E_PARSE, "file_damaged");
    (void)snprintf(path, sizeof path, "%s/no/such/folder/lab.db", base);
    check_refused("no folder", STATUS_E_IO, "store_failed");
    (void)snprintf(path, sizeof path, "%s", base);
    check_refused("a folder", STATUS_E_IO, "store_failed");
}

/* Whatever bytes a bad disk changes: an error or a working store, never a crash. */
static void test_damaged_file(void)
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

/* --- failing disks ---------------------------------------------------------------------- */

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
            CHECK(err.text, !failed || err.fault == FAULT_STORE_FAILED);
            struct store_reader *r = open_reader();
            if (failed) {
                store_rollback(s);
                expect("nothing of it", r, everything, "");
                CHECK_INT("again", write_batch(s, &err), STATUS_OK);
            }
            expect_counts("all of it", STORE_ENTRIES, "a", "SYNC:50");
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
        expect_counts("and counted once", STORE_ENTRIES, NULL, "AHEAD:1 SYNC:2");
        store_reader_close(r);
        store_close(s);
    }
    CHECK("every operation failed once", n >= 5 && n < 200);
}

static void test_full(void)
{
    fresh_path();
    const struct store_params params = {.path = path, .pages_max = 52};
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
    CHECK_TEXT(err.text, fault_name(err.fault), "store_failed");
    store_rollback(s);
    uint64_t removed = 0;
    CHECK_INT("retention makes room", store_remove_before(s, 300, 1000, &removed, &err),
              STATUS_OK);
    CHECK_INT("removed", removed, 299);
    add_one(s, STORE_ENTRIES, "a", n, (int64_t)n, "SYNC");
    store_close(s);
}

static void test_retention(void)
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
    store_reader_close(r);
    store_close(s);
}

int main(void)
{
    if (!mkdtemp(scratch_template(base, "test_store")) ||
        CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("store", NULL, NULL);
    CU_add_test(suite, "chaos file layer", chaos_register);
    CU_add_test(suite, "round trip", round_trip);
    CU_add_test(suite, "for owner and group", for_owner_and_group);
    CU_add_test(suite, "released versions", released_versions);
    CU_add_test(suite, "commands of teams", commands_of_teams);
    CU_add_test(suite, "entries of versions", entries_of_versions);
    CU_add_test(suite, "marks", test_marks);
    CU_add_test(suite, "reopened", test_reopened);
    CU_add_test(suite, "old version", old_version);
    CU_add_test(suite, "old verdicts", old_verdicts);
    CU_add_test(suite, "refusals", test_refusals);
    CU_add_test(suite, "damaged", test_damaged_file);
    CU_add_test(suite, "batch fails", batch_fails);
    CU_add_test(suite, "opening fails", opening_fails);
    CU_add_test(suite, "full", test_full);
    CU_add_test(suite, "retention", test_retention);
    const int result = check_run();
    fresh_path();
    (void)rmdir(base);
    return result;
}
