/* Entries summed for charts: in any order, late, repeated or removed, the store's series equal
 * those of its entries, and it reads few rows. */
#include "tests/support/check.h"

#include <sqlite3.h>

#include "base/numbers/random.h"
#include "logger/storage/store_parts.h"
#include "tests/support/store_fixture.h"

enum { ENTRIES_MAX = 30000, BATCH = 700 };

#define START_US INT64_C(1763617674000000)

/* Entries given to the store. */
static struct reported {
    int64_t t_us;
    double lag_s;
    enum verdict verdict;
    bool inconsistent, gone;
} reported[ENTRIES_MAX];
static size_t reported_count;
static struct random_source rng;

static void add_entry(struct store *s, int64_t t_us)
{
    struct reported *t = &reported[reported_count++];
    *t = (struct reported){.t_us = t_us,
                           .lag_s = random_uniform(&rng) < 0.1 ? nan("")
                                                               : random_uniform(&rng) - 0.5,
                           .verdict = (enum verdict)(random_uniform(&rng) * VERDICT_COUNT),
                           .inconsistent = random_uniform(&rng) < 0.2};
    struct store_row row =
        row_of(STORE_ENTRIES, "a", reported_count, t_us, verdict_name(t->verdict));
    row.lag_s = t->lag_s;
    row.inconsistent = t->inconsistent;
    CHECK("new", add(s, &row));
    row.n = reported_count + 1;
    row.pair = "b"; /* nothing may be reported of this pair */
    CHECK("new", add(s, &row));
}

struct bucket_sum {
    struct store_bucket all;
    int64_t width_us, newest_us;
    size_t rows;
    bool apart; /* newest first, none over an edge */
};

static bool add_bucket(void *context, const struct store_bucket *b)
{
    struct bucket_sum *sum = context;
    const int64_t slot = bucket_start(b->first_us, sum->width_us);
    sum->apart = sum->apart && slot <= sum->newest_us && b->count > 0;
    sum->newest_us = slot;
    sum->rows++;
    store_bucket_add(&sum->all, b);
    return true;
}

static struct store_bucket sum_up(int64_t since_us, int64_t until_us)
{
    struct store_bucket all = {0};
    for (size_t i = 0; i < reported_count; i++) {
        const struct reported *t = &reported[i];
        const bool valued = isfinite(t->lag_s);
        struct store_bucket one = {.first_us = t->t_us,
                                   .count = 1,
                                   .values = valued,
                                   .min = valued ? t->lag_s : 0.0,
                                   .max = valued ? t->lag_s : 0.0,
                                   .sum = valued ? t->lag_s : 0.0,
                                   .inconsistent = t->inconsistent};
        one.verdicts[t->verdict] = 1;
        if (!t->gone && t->t_us >= since_us && t->t_us < until_us) {
            store_bucket_add(&all, &one);
        }
    }
    return all;
}

static void expect_same(const char *name, const struct store_bucket *is,
                        const struct store_bucket *want)
{
    CHECK_INT(name, is->count, want->count);
    CHECK_INT(name, is->values, want->values);
    CHECK_INT(name, is->inconsistent, want->inconsistent);
    CHECK_INT(name, is->first_us, want->first_us);
    CHECK_NEAR(name, is->min, want->min, 0, 0);
    CHECK_NEAR(name, is->max, want->max, 0, 0);
    CHECK_NEAR(name, is->sum, want->sum, 1e-9, 1e-9);
    for (int v = 0; v < VERDICT_COUNT; v++) {
        CHECK_INT(name, is->verdicts[v], want->verdicts[v]);
    }
}

/* Compares the whole range, and random ranges, for each width. Returns how many rows the whole
 * range took at the widest. */
static size_t expect_all(const char *name, struct store_reader *r, int64_t newest_us)
{
    size_t rows = 0;
    for (int level = -1; level < STORE_WIDTHS; level++) {
        for (int k = 0; k < 3; k++) {
            const double span = (double)(newest_us - START_US);
            const int64_t since_us =
                START_US + (k == 0 ? 0 : (int64_t)(random_uniform(&rng) * span));
            const int64_t until_us =
                k == 0 ? newest_us + 1
                       : since_us + 1 + (int64_t)(random_uniform(&rng) * 0.3 * span);
            struct bucket_sum sum = {.width_us = level < 0 ? 1 : store_widths_us[level],
                                     .newest_us = INT64_MAX,
                                     .apart = true};
            CHECK_INT(
                name,
                store_series(r, "a", since_us, until_us, sum.width_us, add_bucket, &sum, NULL),
                STATUS_OK);
            CHECK(name, sum.apart);
            const struct store_bucket want = sum_up(since_us, until_us);
            expect_same(name, &sum.all, &want);
            rows = k == 0 ? sum.rows : rows;
        }
    }
    return rows;
}

static void fold_all(struct store *s)
{
    bool more = true;
    for (int k = 0; k < 1000 && more; k++) {
        CHECK_INT("fold", store_fold(s, &more, NULL), STATUS_OK);
    }
    CHECK("folded", !more && !store_is_due(s));
}

static int64_t count_rows(const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    CHECK_INT(sql, sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    CHECK_INT(sql, sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    CHECK_INT(sql, sqlite3_step(statement), SQLITE_ROW);
    const int64_t n = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
    return n;
}

/* Entries some seconds apart, in bursts and with pauses of hours; some come late, by little or
 * by much. */
static void random_orders(void)
{
    rng = random_stream(check_seed(23), 0);
    for (int round = 0; round < 4; round++) {
        const double late = round == 0 ? 0.0 : 0.02 * round;
        int64_t now_us = START_US;
        fresh_path();
        reported_count = 0;
        struct store *s = open_store(NULL);
        while (reported_count < 6000) {
            CHECK_INT("begin", store_begin(s, NULL), STATUS_OK);
            for (int i = 0; i < BATCH; i++) {
                const double x = random_uniform(&rng);
                const double back = random_uniform(&rng) < late ? random_uniform(&rng) : 0.0;
                now_us += x < 0.001 ? INT64_C(20000000000) * (round + 1)
                          : x < 0.5 ? 30000
                                    : (int64_t)(x * 8e6);
                add_entry(s, now_us - (int64_t)(back * back * (double)(now_us - START_US)));
            }
            CHECK_INT("commit", store_commit(s, NULL), STATUS_OK);
        }
        struct store_reader *r = open_reader();
        const size_t rows = expect_all("as added", r, now_us);
        CHECK("few rows", rows < 1200);
        CHECK("kept", count_rows("SELECT count(*) FROM buckets WHERE pair = 'a'") > 100);
        store_reader_close(r);
        store_close(s);
    }
}

/* A batch that fails leaves nothing behind; a removed row is in no bucket any more, and a row
 * that comes back from the journal is. */
static void test_replaced_rows(void)
{
    fresh_path();
    rng = random_stream(7, 0);
    reported_count = 0;
    struct store *s = open_store(NULL);
    int64_t now_us = START_US;
    for (int part = 0; part < 2; part++) {
        CHECK_INT("begin", store_begin(s, NULL), STATUS_OK);
        for (int i = 0; i < 3000; i++, now_us += 1700000) {
            add_entry(s, now_us);
        }
        CHECK_INT("commit", store_commit(s, NULL), STATUS_OK);
        if (part == 0) {
            CHECK_INT("begin", store_begin(s, NULL), STATUS_OK);
            for (int i = 0; i < 600; i++) {
                add_entry(s, now_us + i);
            }
            store_rollback(s);
            reported_count -= 600;
        }
    }
    struct store_reader *r = open_reader();
    (void)expect_all("whole", r, now_us);
    for (int step = 1; step <= 4; step++) {
        uint64_t removed = 0;
        const int64_t before_us = reported[500 * step].t_us;
        for (int limit = 400; limit > 0; limit = removed > 0 ? limit : 0) {
            CHECK_INT("remove", store_remove_before(s, before_us, limit, &removed, NULL),
                      STATUS_OK);
            const int64_t left_us = count_rows("SELECT min(t_us) FROM entries");
            for (size_t i = 0; i < reported_count; i++) {
                reported[i].gone = reported[i].t_us < left_us;
            }
            (void)expect_all("shortened", r, now_us);
        }
    }
    /* The whole again; those that are there stay. */
    CHECK_INT("begin", store_begin(s, NULL), STATUS_OK);
    for (size_t i = 0; i < reported_count; i++) {
        struct store_row row = row_of(STORE_ENTRIES, "a", i + 1, reported[i].t_us,
                                      verdict_name(reported[i].verdict));
        row.lag_s = reported[i].lag_s;
        row.inconsistent = reported[i].inconsistent;
        row.again = 1;
        CHECK("as it was", add(s, &row) == reported[i].gone);
        reported[i].gone = false;
    }
    CHECK_INT("commit", store_commit(s, NULL), STATUS_OK);
    (void)expect_all("again", r, now_us);
    store_reader_close(r);
    store_close(s);
}

/* Entries of a version without buckets are served unchanged, and summed slice by slice; so are
 * many of the same time. */
static void of_before(void)
{
    fresh_path();
    rng = random_stream(11, 0);
    reported_count = 0;
    struct store *s = open_store(NULL);
    int64_t now_us = START_US;
    CHECK_INT("begin", store_begin(s, NULL), STATUS_OK);
    for (int i = 0; i < 12000; i++, now_us += i < 6000 ? 1 : 900000) {
        add_entry(s, i < 5500 ? START_US : now_us);
    }
    CHECK_INT("commit", store_commit(s, NULL), STATUS_OK);
    store_close(s);
    sqlite3 *db = NULL;
    CHECK_INT("open", sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT("as before",
              sqlite3_exec(db,
                           "DROP TABLE buckets; DROP TABLE folded;"
                           "CREATE TABLE counts(kind, pair);"
                           "INSERT INTO counts SELECT DISTINCT 0, pair FROM entries;"
                           "UPDATE meta SET value = 10 WHERE key = 'schema_version'",
                           NULL, NULL, NULL),
              SQLITE_OK);
    (void)sqlite3_close(db);
    s = open_store(NULL);
    CHECK("waits", store_is_due(s));
    struct store_reader *r = open_reader();
    CHECK_INT("one by one", expect_all("not added up", r, now_us), 12000);
    bool more = false;
    for (int slice = 0; slice < 3; slice++) {
        CHECK_INT("fold", store_fold(s, &more, NULL), STATUS_OK);
        CHECK("in slices", more);
        (void)expect_all("in part", r, now_us);
    }
    fold_all(s);
    CHECK("few rows", expect_all("added up", r, now_us) < 200);
    CHECK_INT("of both", count_rows("SELECT count(*) FROM folded WHERE due = 0"), 2);
    store_reader_close(r);
    store_close(s);
}

static void test_widths(void)
{
    CHECK_INT("least", store_width_below(0), 1);
    CHECK_INT("least", store_width_below(49999), 1);
    for (int level = 0; level < STORE_WIDTHS; level++) {
        const int64_t width_us = store_widths_us[level];
        CHECK_INT("itself", store_width_below(width_us), width_us);
        CHECK_INT("below", store_width_below(width_us + 1), width_us);
        CHECK("a multiple", level == 0 || width_us % store_widths_us[level - 1] == 0);
    }
    CHECK_INT("before 1970", bucket_start(-1, 10), -10);
    CHECK_INT("before 1970", bucket_start(-10, 10), -10);
    CHECK_INT("after", bucket_start(19, 10), 10);
}

int main(void)
{
    if (!mkdtemp(scratch_template(base, "test_store")) ||
        CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("store series", NULL, NULL);
    CU_add_test(suite, "widths", test_widths);
    CU_add_test(suite, "random orders", random_orders);
    CU_add_test(suite, "restored", test_replaced_rows);
    CU_add_test(suite, "the earlier ones", of_before);
    const int result = check_run();
    fresh_path();
    (void)rmdir(base);
    return result;
}
