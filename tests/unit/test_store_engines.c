/* The store in PostgreSQL: the contract of every engine, the same answers as SQLite to the last
 * byte, texts that a server refuses, two writers, and a lost connection. It runs against a
 * server of its own. needs: real time, a minute */
#include "tests/support/check.h"

#include <stdarg.h>

#include "base/numbers/random.h"
#include "logger/storage/store_parts.h"
#include "service/engine/postgresql_schema.h"
#include "tests/support/postgresql_fixture.h"
#include "tests/support/store_contract.h"

static struct postgresql_cluster cluster;
static struct postgresql_target *server; /* `target` while stores are in it */
static struct postgresql *admin;

static void run_sql(const char *sql)
{
    struct err err = {0};
    if (postgresql_run_script(admin, "prepare the test", sql, 60000, &err) != STATUS_OK) {
        (void)fprintf(stderr, "%s: %s\n", sql, err.text);
        abort();
    }
}

static void empty_tables(void)
{
    run_sql("TRUNCATE applied, runs, pairs, entries, alarms, log, changes, fits, bars, buckets,"
            " folded");
}

static void open_server(void)
{
    int64_t from = 0;
    const struct postgresql_server address = {"127.0.0.1", cluster.ports[0]};
    const struct postgresql_params params = {.servers = &address,
                                             .server_count = 1,
                                             .database = "postgres",
                                             .user = "postgres",
                                             .password_file = cluster.password_file,
                                             .application = "test"};
    struct err err = {0};
    if (postgresql_target_create(&params, &server, &err) != STATUS_OK ||
        postgresql_open(server, POSTGRESQL_WRITABLE, 60000, &admin, &err) != STATUS_OK ||
        postgresql_schema_update(admin, &from, &err) != STATUS_OK) {
        (void)fprintf(stderr, "no database: %s\n", err.text);
        exit(EXIT_FAILURE);
    }
}

static void use_database(bool on)
{
    target = on ? server : NULL;
    empty_database = empty_tables;
}

/* --- the same answers ------------------------------------------------------------------- */

enum { ENGINES = 2, TEXT_MAX = 8 << 20 };

/* One store of each engine, given the same rows. */
static struct store *stores[ENGINES];
static struct store_reader *readers[ENGINES];
static char *answers[ENGINES];
static struct random_source rng;

static unsigned draw_below(unsigned below)
{
    return (unsigned)(random_uniform(&rng) * below);
}

struct answer {
    char *text;
    size_t bytes;
    int left; /* rows until it stops */
};

static void PRINTF_LIKE(2, 3) write_answer(struct answer *a, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    a->bytes += (size_t)vsnprintf(a->text + a->bytes, TEXT_MAX - a->bytes, format, values);
    va_end(values);
}

static bool write_row(void *context, const struct store_row *row)
{
    struct answer *a = context;
    write_answer(a, "%d %s %llu %lld %s %s %a %d %lld %.*s\n", (int)row->kind, row->pair,
                 (unsigned long long)row->n, (long long)row->t_us, row->id, row->type,
                 isnan(row->lag_s) ? 0.5 : row->lag_s, row->inconsistent, (long long)row->seq,
                 (int)row->json_bytes, row->json);
    return --a->left != 0;
}

static bool write_bucket(void *context, const struct store_bucket *b)
{
    struct answer *a = context;
    write_answer(a, "%lld %llu %llu %a %a %a %llu", (long long)b->first_us,
                 (unsigned long long)b->count, (unsigned long long)b->values,
                 b->values ? b->min : 0.0, b->values ? b->max : 0.0, b->sum,
                 (unsigned long long)b->inconsistent);
    for (int v = 0; v < VERDICT_COUNT; v++) {
        write_answer(a, " %llu", (unsigned long long)b->verdicts[v]);
    }
    write_answer(a, "\n");
    return true;
}

static void write_pages(struct answer *a, struct store_reader *r, struct store_query query,
                        int stop)
{
    char cursor[STORE_CURSOR_MAX] = "";
    query.cursor = cursor;
    for (int page = 0; page == 0 || (page < 12 && cursor[0] != '\0'); page++) {
        char next[STORE_CURSOR_MAX] = "?";
        a->left = stop;
        CHECK_INT("query", store_query(r, &query, write_row, a, next, NULL), STATUS_OK);
        write_answer(a, "%s\n", next);
        memcpy(cursor, next, sizeof cursor);
    }
}

static const char *const pairs[] = {"a", "B", "z\u00e4", "pair-4"};
static const char *const jobs[] = {"j1", "j2", "quo\"te"};
static int64_t newest_us;

static struct store_query draw_query(void)
{
    static const char *const types[] = {",SYNC,late,", ",AHEAD,proposed,"};
    struct store_query query = everything;
    query.kind = (enum store_kind)draw_below(STORE_KIND_COUNT);
    query.kind = draw_below(2) ? query.kind : STORE_ENTRIES;
    query.newest_first = draw_below(2);
    query.limit = 1 + (int)draw_below(40) * (int)draw_below(25);
    query.pair = draw_below(2) ? pairs[draw_below(COUNT(pairs))] : NULL;
    query.type = draw_below(4) == 0 ? "SYNC" : NULL;
    query.types = draw_below(5) == 0 ? types[draw_below(2)] : NULL;
    if (draw_below(2)) {
        query.since_us = (int64_t)(random_uniform(&rng) * (double)newest_us);
        query.until_us = query.since_us + (int64_t)(random_uniform(&rng) * (double)newest_us);
    }
    if (query.kind == STORE_ENTRIES) {
        query.inconsistent = draw_below(4) == 0;
        query.team = draw_below(6) == 0 ? "te'am" : NULL;
        query.job = draw_below(6) == 0 ? jobs[draw_below(COUNT(jobs))] : NULL;
        query.version[SIDE_REAL] = draw_below(8) == 0 ? "1.0" : NULL;
    }
    return query;
}

static void write_chart(struct answer *a, struct store_reader *r, const char *pair,
                        int64_t since_us, int64_t until_us, int64_t width_us)
{
    bool any = false;
    int64_t oldest_us = 0;
    int64_t last_us = 0;
    CHECK_INT("span", store_span(r, pair, since_us, until_us, &any, &oldest_us, &last_us, NULL),
              STATUS_OK);
    write_answer(a, "%d %lld %lld\n", any, (long long)oldest_us, (long long)last_us);
    CHECK_INT("series",
              store_series(r, pair, since_us, until_us, width_us, write_bucket, a, NULL),
              STATUS_OK);
}

static void compare_answers(const char *name, const struct answer a[ENGINES])
{
    CHECK("answers fit", a[0].bytes < TEXT_MAX && a[1].bytes < TEXT_MAX);
    size_t at = 0;
    while (at < a[0].bytes && answers[0][at] == answers[1][at]) {
        at++;
    }
    const bool same = at == a[0].bytes && a[0].bytes == a[1].bytes;
    CHECK(name, same);
    if (!same) {
        at -= at < 200 ? at : 200;
        (void)fprintf(stderr, "%s\nSQLite:     %.400s\nPostgreSQL: %.400s\n", name,
                      answers[0] + at, answers[1] + at);
    }
}

/* Compares lists, charts, and rows in the order of storing. */
static void compare_stores(const char *name)
{
    struct answer a[ENGINES] = {{answers[0], 0, 0}, {answers[1], 0, 0}};
    for (int k = 0; k < 30; k++) {
        const struct store_query query = draw_query();
        const int stop = draw_below(3) == 0 ? 1 + (int)draw_below(7) : 0;
        const char *pair = pairs[draw_below(COUNT(pairs))];
        const int64_t since_us = (int64_t)(random_uniform(&rng) * (double)newest_us);
        const int64_t until_us = k % 4 == 0 ? INT64_MAX : since_us + 900000000;
        const int64_t width_us = store_widths_us[draw_below(STORE_WIDTHS)];
        const enum store_kind kind = (enum store_kind)draw_below(STORE_KIND_COUNT);
        for (int e = 0; e < ENGINES; e++) {
            uint64_t last = 0;
            write_pages(&a[e], readers[e], query, stop);
            write_chart(&a[e], readers[e], pair, k % 4 == 0 ? INT64_MIN : since_us, until_us,
                        width_us);
            CHECK_INT("last", store_last_seq(readers[e], kind, &last, NULL), STATUS_OK);
            a[e].left = 0;
            CHECK_INT("since",
                      store_since(readers[e], kind, last > 20 ? last - 20 : 0, 15, write_row,
                                  &a[e], NULL),
                      STATUS_OK);
            write_answer(&a[e], "%llu %llu\n", (unsigned long long)last,
                         (unsigned long long)store_read_mark(stores[e]).rows);
        }
    }
    compare_answers(name, a);
}

static void draw_row(struct store_row *row, char json[512], uint64_t n)
{
    static const char *const types[STORE_KIND_COUNT][2] = {
        {"SYNC", "AHEAD"},         {"late", "timeout"},        {"reply", "command"},
        {"proposed", "published"}, {"travel_time", "usv3_1%"}, {"hold", "task"}};
    static const char *const ids[] = {"", "c17", "it's", "a\\b%_\"", "\u00e9"};
    const bool is_late = draw_below(30) == 0;
    newest_us += is_late ? 0 : draw_below(4000000);
    *row = (struct store_row){
        .kind = draw_below(3) ? STORE_ENTRIES : (enum store_kind)draw_below(STORE_KIND_COUNT),
        .pair = pairs[draw_below(COUNT(pairs))],
        .n = n,
        .t_us = newest_us - (is_late ? (int64_t)draw_below(2000000000) : 0),
        .id = ids[draw_below(COUNT(ids))],
        .lag_s = draw_below(8) == 0 ? nan("") : random_uniform(&rng) - 0.5,
        .inconsistent = draw_below(6) == 0,
        .json = json};
    row->type = types[row->kind][draw_below(2)];
    const char *team = draw_below(4) ? "" : ",\"team\":\"te'am\"";
    /* The daemon writes no lone surrogate; SQLite and jsonb disagree about them. */
    row->json_bytes = (size_t)snprintf(
        json, 512, "{\"n\":%llu%s%s%s%s,\"text\":\"\\u0000 %s $1 ?1%s\"}",
        (unsigned long long)n, team,
        *team && draw_below(2) ? ",\"job\":\"quo\\\"te\",\"task\":7" : "",
        *team && draw_below(2) ? ",\"job\":\"j1\",\"task\":null" : "",
        draw_below(5) ? "" : ",\"real_version\":\"1.0\"", row->id, *team ? "" : " \\ud800");
}

/* Rows that the daemon numbers, rows that the store numbers, late ones, repeated ones, and ones
 * made again; some batches are discarded. */
static void add_batch(uint64_t *n, uint64_t *seq, uint32_t *attempt)
{
    const bool numbered = draw_below(3) > 0;
    const bool again = draw_below(6) == 0;
    const bool fails = draw_below(8) == 0;
    char json[512];
    *attempt += again;
    *seq += 1000; /* above those that the stores gave */
    for (int e = 0; e < ENGINES; e++) {
        CHECK_INT("begin", store_begin(stores[e], NULL), STATUS_OK);
    }
    for (int i = (int)draw_below(400); i > 0; i--) {
        struct store_row row;
        *n += draw_below(20) > 0;
        draw_row(&row, json, *n);
        row.again = again ? *attempt : 0;
        row.seq = numbered ? ++*seq : 0;
        const bool asks = draw_below(10) == 0;
        bool is_new[ENGINES] = {false};
        for (int e = 0; e < ENGINES; e++) {
            struct err err = {0};
            CHECK_INT("add", store_add(stores[e], &row, asks ? &is_new[e] : NULL, &err),
                      STATUS_OK);
            CHECK_TEXT("add", err.text, "");
        }
        CHECK_INT("new", is_new[1], is_new[0]);
    }
    struct store_counts counts[ENGINES];
    for (int e = 0; e < ENGINES; e++) {
        if (fails) {
            store_rollback(stores[e]);
        } else {
            CHECK_INT("commit", store_commit(stores[e], NULL), STATUS_OK);
        }
        counts[e] = store_read_counts(stores[e]);
    }
    CHECK_INT("stored", counts[1].stored, counts[0].stored);
    CHECK_INT("made again", counts[1].made_again, counts[0].made_again);
}

static void same_answers(void)
{
    rng = random_stream(check_seed(5), 0);
    newest_us = INT64_C(1700000000000000);
    uint64_t n = 0;
    uint64_t seq = 1000000;
    uint32_t attempt = 0;
    for (int e = 0; e < ENGINES; e++) {
        use_database(e == 1);
        fresh_path();
        stores[e] = open_store(NULL);
        readers[e] = open_reader();
        answers[e] = malloc(TEXT_MAX);
        CU_ASSERT_PTR_NOT_NULL_FATAL(answers[e]);
    }
    for (int round = 0; round < 6; round++) {
        for (int batch = 0; batch < 3; batch++) {
            add_batch(&n, &seq, &attempt);
        }
        compare_stores("after adding");
        uint64_t removed[ENGINES] = {0};
        const int64_t before_us = newest_us - 3000000000;
        for (int e = 0; e < ENGINES; e++) {
            bool more = true;
            CHECK_INT("remove",
                      store_remove_before(stores[e], before_us, 50, &removed[e], NULL),
                      STATUS_OK);
            CHECK_INT("fold", store_fold(stores[e], &more, NULL), STATUS_OK);
        }
        CHECK_INT("removed", removed[1], removed[0]);
        compare_stores("after removing");
    }
    CHECK("much was compared", n > 1000);
    for (int e = 0; e < ENGINES; e++) {
        store_reader_close(readers[e]);
        store_close(stores[e]);
        free(answers[e]);
    }
    use_database(true);
}

/* --- what only a server refuses ------------------------------------------------------------
 */

static struct store_row text_row(uint64_t n, const char *id, const char *json, size_t bytes)
{
    return (struct store_row){.kind = STORE_ENTRIES,
                              .pair = "a",
                              .n = n,
                              .t_us = (int64_t)n,
                              .id = id,
                              .type = "SYNC",
                              .lag_s = 0.0,
                              .json = json,
                              .json_bytes = bytes,
                              .seq = n};
}

/* Texts are never SQL. A row that the server cannot hold is left out and counted, and the
 * others of its batch are stored. */
static void hostile_texts(void)
{
    static char large[STORE_JSON_MAX];
    memset(large, '\'', sizeof large);
    fresh_path();
    struct store *s = open_store(NULL);
    struct store_row rows[] = {
        text_row(1, "'; DROP TABLE entries; --", "{}", 2),
        text_row(2, "\xff\xfe", "{}", 2),
        text_row(3, "$1", "{\"a\":\"\0\"}", 9),
        text_row(4, "\\", "\"$1%s\\x00\"", 10),
        text_row(5, "\xed\xa0\x80", "{}", 2), /* a surrogate */
        text_row(6, "{\"a\",NULL}", "NULL", 4),
        text_row(7, "c7", "{\"a\":\"\xc3\"}", 9), /* half a character */
        text_row(8, "c8", large, sizeof large),
        text_row(9, "c9", "", 0),
        text_row(INT64_MAX, "c10", "1e999", 5),
    };
    rows[COUNT(rows) - 1].t_us = 99;
    CHECK_INT("begin", store_begin(s, NULL), STATUS_OK);
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(rows[i].id, store_add(s, &rows[i], NULL, NULL), STATUS_OK);
    }
    CHECK_INT("commit", store_commit(s, NULL), STATUS_OK);
    const struct store_counts counts = store_read_counts(s);
    CHECK_INT("stored", counts.stored, 6);
    CHECK_INT("refused", counts.refused, 4);
    CHECK("reason", strstr(counts.refusal.text, "22021") != NULL);
    struct store_reader *r = open_reader();
    char want[128];
    (void)snprintf(want, sizeof want, "a:1 a:4 a:6 a:8 a:9 a:%lld", (long long)INT64_MAX);
    expect("the others", r, everything, want);
    struct store_query query = everything;
    query.pair = "\xff";
    expect("a pair that is no UTF-8", r, query, "");
    bool holds = false;
    CHECK_INT("looked up", store_holds(r, &rows[0], &holds, NULL), STATUS_OK);
    CHECK("as written", holds);
    CHECK_INT("looked up", store_holds(r, &rows[1], &holds, NULL), STATUS_OK);
    CHECK("left out", !holds);
    store_reader_close(r);

    /* The same row with another content is counted. */
    struct store_row other = rows[0];
    other.json = "{\"b\":1}";
    other.json_bytes = 7;
    CHECK_INT("begin", store_begin(s, NULL), STATUS_OK);
    CHECK_INT("same", store_add(s, &rows[3], NULL, NULL), STATUS_OK);
    CHECK_INT("other", store_add(s, &other, NULL, NULL), STATUS_OK);
    CHECK_INT("commit", store_commit(s, NULL), STATUS_OK);
    CHECK_INT("differs", store_read_counts(s).differing, 1);
    CHECK_INT("stored", store_read_counts(s).stored, 0);
    store_close(s);
}

/* --- writers, partitions, lost connections -------------------------------------------------
 */

static struct store *open_as(const char *partition)
{
    struct store_params params = fixture_params(NULL);
    struct store *s = NULL;
    params.partition = partition;
    CHECK_INT("open", store_open(&params, &s, NULL), STATUS_OK);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    return s;
}

/* Lists show all partitions, what a daemon asks for itself only its own. */
static void several_partitions(void)
{
    fresh_path();
    struct store *s[] = {open_as("north"), open_as("south")};
    add_one(s[0], STORE_ENTRIES, "a", 1, 10, "SYNC");
    add_one(s[1], STORE_ENTRIES, "b", 1, 20, "SYNC");
    add_one(s[1], STORE_ENTRIES, "b", 2, 30, "SYNC");
    struct store_params params = fixture_params(NULL);
    params.partition = "north";
    for (int all = 0; all < 2; all++) {
        struct store_reader *r = NULL;
        uint64_t seq = 0;
        params.all = all;
        CHECK_INT("reader", store_reader_open(&params, &r, NULL), STATUS_OK);
        CU_ASSERT_PTR_NOT_NULL_FATAL(r);
        expect("lists", r, everything, all ? "a:1 b:1 b:2" : "a:1");
        CHECK_INT("last", store_last_seq(r, STORE_ENTRIES, &seq, NULL), STATUS_OK);
        CHECK_INT("its own", seq, 1);
        store_reader_close(r);
    }
    uint64_t removed = 0;
    CHECK_INT("remove", store_remove_before(s[0], 100, 10, &removed, NULL), STATUS_OK);
    CHECK_INT("its own", removed, 1);
    store_close(s[0]);
    store_close(s[1]);
}

/* A second writer of a partition stops the first one, which says so and stays stopped. */
static void second_writer(void)
{
    fresh_path();
    struct store *first = open_store(NULL);
    add_one(first, STORE_ENTRIES, "a", 1, 10, "SYNC");
    struct store *second = open_store(NULL);
    add_one(second, STORE_ENTRIES, "a", 2, 20, "SYNC");
    struct err err = {0};
    CHECK_INT("refused", store_begin(first, &err), STATUS_E_IO);
    CHECK_TEXT("refused", fault_name(err.fault), "store_replaced");
    store_rollback(first);
    CHECK("asks again", !store_is_in_place(first));
    err = (struct err){0};
    CHECK_INT("stopped", store_reopen(first, &err), STATUS_E_IO);
    CHECK_TEXT("stopped", fault_name(err.fault), "store_replaced");
    add_one(second, STORE_ENTRIES, "a", 3, 30, "SYNC");
    struct store_reader *r = open_reader();
    expect("both", r, everything, "a:1 a:2 a:3");
    store_reader_close(r);
    store_close(first);
    store_close(second);
}

/* The mark detects a database that was emptied, or set back. */
static void marks_of_database(void)
{
    fresh_path();
    struct store *s = open_store(NULL);
    const struct store_mark first = store_read_mark(s);
    CHECK("empty", first.store != 0 && first.run == 0 && first.rows == 0);
    add_one(s, STORE_ENTRIES, "a", 1, 10, "SYNC");
    const struct store_mark mark = store_read_mark(s);
    CHECK_INT("rows", mark.rows, 1);
    run_sql("CREATE TABLE old_applied AS TABLE applied; CREATE TABLE old_runs AS TABLE runs");
    add_one(s, STORE_ENTRIES, "a", 2, 20, "SYNC");
    const struct store_mark later = store_read_mark(s);
    CHECK_INT("goes on", store_reopen(s, NULL), STATUS_OK);
    CHECK_INT("goes on", store_check_mark(s, &mark, NULL), STATUS_OK);
    CHECK_INT("goes on", store_check_mark(s, &later, NULL), STATUS_OK);
    run_sql("BEGIN; DELETE FROM applied; DELETE FROM runs; DELETE FROM entries WHERE n = 2;"
            "INSERT INTO applied TABLE old_applied; INSERT INTO runs TABLE old_runs; COMMIT;"
            "DROP TABLE old_applied, old_runs");
    struct err err = {0};
    CHECK_INT("set back", store_begin(s, NULL), STATUS_E_IO);
    CHECK_INT("set back", store_reopen(s, NULL), STATUS_OK);
    CHECK_INT("set back", store_check_mark(s, &later, &err), STATUS_E_STALE);
    CHECK_TEXT("set back", fault_name(err.fault), "outdated_copy");
    add_one(s, STORE_ENTRIES, "a", 3, 30, "SYNC");
    empty_tables();
    CHECK_INT("emptied", store_reopen(s, NULL), STATUS_OK);
    CHECK_INT("emptied", store_check_mark(s, &mark, NULL), STATUS_E_STALE);
    store_close(s);
}

/* The server ends the connection in a batch. The same rows are added again over a new one. */
static void lost_connection(void)
{
    fresh_path();
    struct store *s = open_store(NULL);
    struct store_reader *r = open_reader();
    add_one(s, STORE_ENTRIES, "a", 1, 10, "SYNC");
    expect("before", r, everything, "a:1");
    const struct store_mark mark = store_read_mark(s);
    const struct store_row row = row_of(STORE_ENTRIES, "a", 2, 20, "SYNC");
    CHECK_INT("begin", store_begin(s, NULL), STATUS_OK);
    CHECK("new", add(s, &row));
    run_sql("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'");
    struct err err = {0};
    CHECK_INT("lost", store_commit(s, &err), STATUS_E_IO);
    CHECK("said", err.text[0] != '\0');
    store_rollback(s);
    CHECK("not in place", !store_is_in_place(s));
    CHECK_INT("again", store_reopen(s, NULL), STATUS_OK);
    CHECK_INT("has all", store_check_mark(s, &mark, NULL), STATUS_OK);
    add_one(s, STORE_ENTRIES, "a", 2, 20, "SYNC");
    struct store_query query = everything;
    char next[STORE_CURSOR_MAX];
    struct listing listing = {0};
    CHECK_INT("lost", store_query(r, &query, list_row, &listing, next, NULL), STATUS_E_IO);
    CHECK("not in place", !store_reader_is_in_place(r));
    store_reader_close(r);
    r = open_reader();
    expect("after", r, everything, "a:1 a:2");
    store_reader_close(r);
    store_close(s);
}

int main(void)
{
    /* A server that rounds real numbers changes no answer. */
    cluster_start(&cluster, 1, "extra_float_digits=-10");
    if (!mkdtemp(scratch_template(base, "test_store")) ||
        CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    open_server();
    use_database(true);
    CU_pSuite suite = CU_add_suite("store engines", NULL, NULL);
    add_contract(suite);
    CU_add_test(suite, "same answers", same_answers);
    CU_add_test(suite, "hostile texts", hostile_texts);
    CU_add_test(suite, "several partitions", several_partitions);
    CU_add_test(suite, "second writer", second_writer);
    CU_add_test(suite, "marks", marks_of_database);
    CU_add_test(suite, "lost connection", lost_connection);
    const int result = check_run();
    postgresql_close(admin);
    postgresql_target_destroy(server);
    target = NULL;
    fresh_path();
    (void)rmdir(base);
    cluster_stop(&cluster);
    return result;
}
