/* needs: threads */
/* The queue before the store; uses threads. */
#include "tests/support/check.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <unistd.h>

#include "logger/storage/store.h"
#include "logger/storage/store_queue.h"
#include "tests/support/store_chaos.h"
#include "tests/support/store_fixture.h"
#include "tests/support/wait.h"

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

static enum status push_row(struct store_queue *q, uint64_t n)
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
        CHECK_INT("push", push_row(q, n), STATUS_OK);
    }
    CHECK_INT("flush", store_queue_flush(q, 5000), STATUS_OK);
    CHECK("covers", store_queue_covers(q, 100) && !store_queue_covers(q, 101));
    for (uint64_t n = 96; n <= 105; n++) {
        CHECK_INT("push", push_row(q, n), STATUS_OK);
    }
    /* Without a call to flush, the clock commits. */
    struct store_queue_stats stats = {0};
    for (int64_t end_us = 0; stats.committed < 110 && wait_more(&end_us, 5000);) {
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
        CHECK_INT("push", push_row(q, n), STATUS_OK);
    }
    CHECK_INT("stop", store_queue_stop(q, 5000), STATUS_OK);
    struct store_reader *r = open_reader();
    expect_counts("all", STORE_ENTRIES, "a", "SYNC:120");
    store_reader_close(r);
    store_close(s);
    CHECK_INT("none", store_queue_stop(NULL, 0), STATUS_OK);
    params.batch_rows = 0;
    CHECK_INT("parameters", store_queue_start(&params, s, &q, NULL), STATUS_E_ARG);
}

/* Its own file cannot be written, the WAL can: rows are committed, the WAL grows, and the
 * daemon gets a report. */
static void wal_cannot_be_written_back(void)
{
    enum { ROWS = 600, JSON_BYTES = 16000 };
    static char json[JSON_BYTES + 1];
    struct store_queue_stats stats;
    memset(json, ' ', JSON_BYTES);
    memcpy(json, "{}", 2);
    fresh_path();
    chaos_between(1 << 30, 1 << 30, SQLITE_FULL);
    struct store *s = open_store("chaos");
    struct store_queue_params params;
    store_queue_params_init(&params);
    params.commit_ms = 1;
    struct store_queue *q = start_queue(&params, s);
    atomic_store(&chaos.main_fails, true);
    for (uint64_t n = 1; n <= ROWS; n++) {
        struct store_row row = row_of(STORE_ENTRIES, "a", n, (int64_t)n * 1000000, "SYNC");
        row.json = json;
        row.json_bytes = JSON_BYTES;
        CHECK_INT("push", store_queue_push(q, &row), STATUS_OK);
    }
    CHECK_INT("committed", store_queue_flush(q, 20000), STATUS_OK);
    CHECK_INT("push", push_row(q, ROWS + 1), STATUS_OK);
    CHECK_INT("committed", store_queue_flush(q, 20000), STATUS_OK);
    store_queue_stats(q, &stats);
    CHECK("the rows are in", !stats.failing && stats.failures == 0);
    CHECK("told", stats.upkeep_failures > 0);
    CHECK_TEXT("told", fault_name(stats.upkeep_error.fault), "store_failed");
    atomic_store(&chaos.main_fails, false);
    for (int k = 0; k < 2; k++) {
        const uint64_t before = stats.upkeep_failures;
        CHECK_INT("push", push_row(q, ROWS + 2 + (uint64_t)k), STATUS_OK);
        CHECK_INT("committed", store_queue_flush(q, 20000), STATUS_OK);
        store_queue_stats(q, &stats);
        CHECK("written back", k == 0 || stats.upkeep_failures == before);
    }
    CHECK_INT("stop", store_queue_stop(q, 5000), STATUS_OK);
    store_close(s);
}

/* Disk full: rows wait, then are dropped and counted, never the producer; with space back the
 * waiting ones are stored, and the queue still knows that it is behind. */
static void meet_failing_disk(int code)
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
    CHECK_INT("push", push_row(q, 1), STATUS_OK);
    CHECK_INT("flush", store_queue_flush(q, 5000), STATUS_OK);
    chaos_between(0, 1 << 30, code);
    int refused_rows = 0;
    for (uint64_t n = 2; n <= 71; n++) {
        const enum status status = push_row(q, n);
        CHECK("status", status == STATUS_OK || status == STATUS_E_FULL);
        refused_rows += status == STATUS_E_FULL;
    }
    CHECK_INT("refused", refused_rows, 20);
    CHECK_INT("flush", store_queue_flush(q, 50), STATUS_E_IO);
    struct store_queue_stats stats;
    store_queue_stats(q, &stats);
    for (int64_t end_us = 0; stats.failures < 2 && wait_more(&end_us, 5000);) {
        store_queue_stats(q, &stats);
    }
    CHECK("failing", stats.failing && stats.failures >= 2);
    CHECK("back-off", stats.failures < 60);
    CHECK_TEXT("failing", fault_name(stats.last_error.fault), "store_failed");
    CHECK_INT("dropped", stats.dropped, 20);
    CHECK_INT("reported once", stats.lacks, 1);
    CHECK_INT("waiting", stats.waiting_rows, 50);
    CHECK("behind", stats.behind && !store_queue_covers(q, 1));
    chaos_between(1 << 30, 1 << 30, SQLITE_OK);
    CHECK_INT("space again", store_queue_flush(q, 5000), STATUS_OK);
    store_queue_stats(q, &stats);
    CHECK("healthy", !stats.failing);
    CHECK("still behind", stats.behind);
    store_queue_backfilled(q, stats.missed - 1);
    CHECK("a row was dropped meanwhile", !store_queue_covers(q, 1));
    CHECK_INT("committed", stats.committed, 51);
    chaos_between(0, 1 << 30, code);
    CHECK_INT("push", push_row(q, 100), STATUS_OK);
    CHECK_INT("stop reports the remaining rows", store_queue_stop(q, 30), STATUS_E_IO);
    chaos_between(1 << 30, 1 << 30, SQLITE_OK);
    struct store_reader *r = open_reader();
    expect_counts("what was accepted", STORE_ENTRIES, "a", "SYNC:51");
    store_reader_close(r);
    store_close(s);
}

static void queue_meets_failing_disk(void)
{
    meet_failing_disk(SQLITE_FULL);
    meet_failing_disk(SQLITE_READONLY);
    meet_failing_disk(SQLITE_IOERR_WRITE);
}

/* A journal that has the lines on the disk, or not. */
struct gate {
    _Atomic bool synced;
    _Atomic uint64_t asked;
};

static bool ask_gate(void *context, struct err *err)
{
    struct gate *gate = context;
    (void)atomic_fetch_add(&gate->asked, 1);
    return atomic_load(&gate->synced) ||
           err_set(err, STATUS_E_IO, FAULT_JOURNAL_FAILED, "gate", "not synced") == STATUS_OK;
}

/* No row is committed before the journal has its line on the disk. */
static void queue_waits_for_journal(void)
{
    fresh_path();
    struct store *s = open_store(NULL);
    struct gate gate = {0};
    struct store_queue_params params;
    store_queue_params_init(&params);
    params.commit_ms = 1;
    params.batch_rows = 4;
    params.retry_ms_min = params.retry_ms_max = 1;
    params.before_commit = ask_gate;
    params.context = &gate;
    struct store_queue *q = start_queue(&params, s);
    struct store_queue_stats stats = {0};
    for (uint64_t n = 1; n <= 10; n++) {
        CHECK_INT("push", push_row(q, n), STATUS_OK);
    }
    for (int64_t end_us = 0; stats.failures < 3 && wait_more(&end_us, 5000);) {
        store_queue_stats(q, &stats);
    }
    CHECK("tried again", stats.failures >= 3 && stats.failing);
    CHECK_TEXT("why", fault_name(stats.last_error.fault), "journal_failed");
    CHECK_INT("nothing is committed", stats.committed, 0);
    CHECK("covers nothing", !store_queue_covers(q, 1));
    expect_counts("nothing is in the store", STORE_ENTRIES, "a", "");
    atomic_store(&gate.synced, true);
    CHECK_INT("flush", store_queue_flush(q, 5000), STATUS_OK);
    store_queue_stats(q, &stats);
    CHECK("all is well", !stats.failing && stats.committed == 10 && stats.batches >= 3);
    CHECK_INT("asked before each batch", atomic_load(&gate.asked),
              stats.batches + stats.failures);
    expect_counts("all", STORE_ENTRIES, "a", "SYNC:10");
    atomic_store(&gate.synced, false);
    CHECK_INT("push", push_row(q, 11), STATUS_OK);
    CHECK_INT("the last row waits too", store_queue_stop(q, 30), STATUS_E_IO);
    expect_counts("as before", STORE_ENTRIES, "a", "SYNC:10");
    store_close(s);
}

static bool wait_reopened(struct store_queue *q, uint64_t times)
{
    struct store_queue_stats stats;
    store_queue_stats(q, &stats);
    for (int64_t end_us = 0; stats.reopened < times && wait_more(&end_us, 5000);) {
        store_queue_look(q);
        store_queue_stats(q, &stats);
    }
    return stats.reopened == times;
}

/* The file is removed, and later restored: each time the queue reports whether rows are
 * missing, until they are rebuilt. */
static void queue_loses_its_file(void)
{
    char aside[160];
    fresh_path();
    (void)snprintf(aside, sizeof aside, "%s/aside.db", base);
    struct store *s = open_store(NULL);
    struct store_queue_params params;
    store_queue_params_init(&params);
    params.commit_ms = 1;
    params.retry_ms_min = 1;
    struct store_queue *q = start_queue(&params, s);
    CHECK_INT("push", push_row(q, 1), STATUS_OK);
    CHECK_INT("flush", store_queue_flush(q, 5000), STATUS_OK);
    CHECK_INT("moved", rename(path, aside), 0);
    CHECK("created again", wait_reopened(q, 1));
    struct store_queue_stats stats;
    store_queue_stats(q, &stats);
    CHECK("behind", stats.behind && stats.lacks == 1 && !store_queue_covers(q, 1));
    CHECK_TEXT("lacks", fault_name(stats.lack.fault), "store_replaced");
    /* The row again, and one that just happened. */
    struct store_row row = row_of(STORE_ENTRIES, "a", 1, 1000000, "SYNC");
    row.again = 1;
    CHECK_INT("again", store_queue_push(q, &row), STATUS_OK);
    CHECK_INT("push", push_row(q, 2), STATUS_OK);
    CHECK_INT("flush", store_queue_flush(q, 5000), STATUS_OK);
    store_queue_backfilled(q, 0);
    store_queue_stats(q, &stats);
    CHECK("not of that lack", stats.behind);
    store_queue_backfilled(q, 1);
    store_queue_stats(q, &stats);
    CHECK("mended", !stats.behind && store_queue_covers(q, 3));
    CHECK_INT("made again", stats.made_again, 1);
    expect_counts("rows", STORE_ENTRIES, "a", "SYNC:2");
    /* The old one back: it has not got what came since. */
    CHECK_INT("put back", rename(aside, path), 0);
    CHECK("opened", wait_reopened(q, 2));
    CHECK("behind", !store_queue_covers(q, 3));
    CHECK_INT("stop", store_queue_stop(q, 1000), STATUS_OK);
    store_close(s);
}

/* Rows that fill the queue to the last byte, committed as one batch. */
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
    struct store_queue_stats stats;
    chaos_between(0, 1 << 30, SQLITE_FULL);
    CHECK_INT("push", store_queue_push(q, &row), STATUS_OK);
    store_queue_stats(q, &stats);
    row.json_bytes += PIECE - stats.waiting_bytes; /* header and texts take the rest */
    chaos_between(1 << 30, 1 << 30, SQLITE_OK);
    CHECK_INT("flush", store_queue_flush(q, 20000), STATUS_OK);
    uint64_t total = 0;
    for (int round = 0; round < 4; round++) {
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
    (void)snprintf(want, sizeof want, "SYNC:%llu", (unsigned long long)total + 1);
    expect_counts("all", STORE_ENTRIES, "a", want);
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
    expect_counts("all", STORE_ENTRIES, NULL, "UNRESOLVED:2400");
    expect_counts("all", STORE_ALARMS, NULL, "late:600");
    sqlite3 *db = NULL;
    CHECK_INT("open", sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    /* Each text consists of its own letter alone. */
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

static void wait_for_removed(struct store_queue *q, uint64_t rows)
{
    struct store_queue_stats stats = {0};
    for (int64_t end_us = 0; stats.removed < rows && wait_more(&end_us, 20000);) {
        store_queue_stats(q, &stats);
    }
    CHECK_INT("removed", stats.removed, rows);
}

/* Far more rows than one step removes are old at once. All of them go, although no row comes.
 */
static void queue_retention(void)
{
    enum { OLD = 3500, NEW = 50 };
    fresh_path();
    struct store *s = open_store(NULL);
    struct store_queue_params params;
    store_queue_params_init(&params);
    params.commit_ms = 0;
    params.retain_s = 100.0;
    struct store_queue *q = start_queue(&params, s);
    for (uint64_t n = 1; n <= OLD; n++) {
        const struct store_row row = row_of(STORE_ENTRIES, "a", n, (int64_t)n, "SYNC");
        CHECK_INT("push", store_queue_push(q, &row), STATUS_OK);
    }
    CHECK_INT("flush", store_queue_flush(q, 5000), STATUS_OK);
    for (uint64_t n = OLD + 1; n <= OLD + NEW; n++) {
        CHECK_INT("push", push_row(q, n), STATUS_OK); /* one a second */
    }
    wait_for_removed(q, OLD);
    /* More than a minute of lab time later, the next rows are old. */
    CHECK_INT("push", push_row(q, OLD + NEW + 100), STATUS_OK);
    wait_for_removed(q, OLD + NEW - 1);
    CHECK_INT("stop", store_queue_stop(q, 5000), STATUS_OK);
    expect_counts("the last 100 s", STORE_ENTRIES, "a", "SYNC:2");
    store_close(s);
}

/* Two producers, a reader that pages, and a client that queries: for the thread sanitizer. */
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
    if (store_reader_open(&(struct store_params){.path = path}, &r, NULL) != STATUS_OK) {
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

static void add_n(void *context, const struct store_row *row)
{
    *(uint64_t *)context += row->n;
}

/* Rows that another daemon stores are held: the old ones go, the newest ones are stored when it
 * ends. */
static void test_held(void)
{
    fresh_path();
    struct store *s = open_store(NULL);
    struct store_queue_params params;
    store_queue_params_init(&params);
    params.commit_ms = 1;
    params.holds = true;
    struct store_queue *q = start_queue(&params, s);
    for (uint64_t n = 1; n <= 100; n++) {
        store_queue_advance(q, (int64_t)n * 1000000);
        CHECK_INT("push", push_row(q, n), STATUS_OK);
    }
    uint64_t sum = 0;
    struct store_queue_stats stats;
    store_queue_list_held(q, 2000000, add_n, &sum);
    store_queue_stats(q, &stats);
    CHECK_INT("within two seconds", sum, 98 + 99 + 100);
    CHECK_INT("of the last minute", stats.waiting_rows, 61);
    CHECK("nothing is stored", stats.batches == 0 && !stats.behind);
    store_queue_release(q);
    CHECK_INT("flush", store_queue_flush(q, 5000), STATUS_OK);
    store_queue_stats(q, &stats);
    CHECK_INT("stored", stats.stored, 61);
    CHECK_INT("stop", store_queue_stop(q, 1000), STATUS_OK);
    store_close(s);
}

/* Too many rows push out the oldest ones, and the store lacks them. */
static void test_held_too_many(void)
{
    fresh_path();
    struct store *s = open_store(NULL);
    struct store_queue_params params;
    store_queue_params_init(&params);
    params.rows_max = 10;
    params.holds = true;
    struct store_queue *q = start_queue(&params, s);
    uint64_t sum = 0;
    for (uint64_t n = 1; n <= 12; n++) {
        CHECK_INT("push", push_row(q, n), STATUS_OK);
    }
    struct store_queue_stats stats;
    store_queue_list_held(q, 0, add_n, &sum);
    store_queue_stats(q, &stats);
    CHECK_INT("the newest", sum, 75);
    CHECK("the store lacks rows", stats.behind && stats.lacks == 1);
    CHECK_INT("stop", store_queue_stop(q, 1000), STATUS_OK);
    store_close(s);
}

static void test_race(void)
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
    expect_counts("all", STORE_ENTRIES, "a", "SYNC:4000");
    store_reader_close(r);
    store_close(s);
}

int main(void)
{
    if (!mkdtemp(scratch_template(base, "test_store")) ||
        CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("store queue", NULL, NULL);
    CU_add_test(suite, "chaos file layer", chaos_register);
    CU_add_test(suite, "queue commits", queue_commits);
    CU_add_test(suite, "queue meets a failing disk", queue_meets_failing_disk);
    CU_add_test(suite, "queue waits for the journal", queue_waits_for_journal);
    CU_add_test(suite, "WAL cannot be written back", wal_cannot_be_written_back);
    CU_add_test(suite, "queue loses its file", queue_loses_its_file);
    CU_add_test(suite, "queue filled exactly", queue_filled_exactly);
    CU_add_test(suite, "queue's ring", queue_ring);
    CU_add_test(suite, "queue and retention", queue_retention);
    CU_add_test(suite, "rows held", test_held);
    CU_add_test(suite, "too many rows held", test_held_too_many);
    CU_add_test(suite, "race", test_race);
    const int result = check_run();
    fresh_path();
    (void)rmdir(base);
    return result;
}
