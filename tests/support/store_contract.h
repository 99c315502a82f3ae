/* tests/support/store_contract.h - what every engine of the store must do: pages and cursors,
 * limits, rows that are looked up, rows that are made again. */
#ifndef TESTS_SUPPORT_STORE_CONTRACT_H
#define TESTS_SUPPORT_STORE_CONTRACT_H

#include "tests/support/store_fixture.h"

static void test_pages(void)
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
    expect_counts("pair", STORE_ENTRIES, "a", "AHEAD:2 BEHIND:2 SYNC:2");
    expect_counts("all", STORE_ENTRIES, NULL, "AHEAD:2 BEHIND:2 SYNC:8");
    expect_counts("alarms", STORE_ALARMS, NULL, "late:1 timeout:1");
    expect_counts("nobody", STORE_ALARMS, "c", "");

    /* The callback may stop; the cursor continues after the last row it saw. */
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

static bool holds_row(struct store_reader *r, const struct store_row *row)
{
    bool found = false;
    CHECK_INT("looked", store_holds(r, row, &found, NULL), STATUS_OK);
    return found;
}

static bool holds_number(struct store_reader *r, uint64_t n)
{
    const struct store_row row = row_of(STORE_ENTRIES, "a", n, (int64_t)n * 10, "SYNC");
    return holds_row(r, &row);
}

/* Held, it knows what was there; let go, and held again, what has come since. */
static void held_reader(void)
{
    fresh_path();
    struct store *s = open_store(NULL);
    add_one(s, STORE_ENTRIES, "a", 1, 10, "SYNC");
    struct store_reader *r = open_reader();
    for (uint64_t n = 2; n <= 3; n++) {
        store_reader_hold(r, true);
        store_reader_hold(r, true);
        CHECK("existing rows", holds_number(r, n - 1));
        add_one(s, STORE_ENTRIES, "a", n, (int64_t)n * 10, "SYNC");
        CHECK("of another moment", !holds_number(r, n));
        store_reader_hold(r, false);
        store_reader_hold(r, false);
        CHECK("rows that exist now", holds_number(r, n));
    }
    store_reader_hold(r, true);
    store_reader_close(r);
    store_close(s);
}

/* Searched in the order of storing, with leaps forwards and back, twice, and numbers that do
 * not exist: the answer is that of the rows, whatever the earlier queries. */
static void looked_for_in_turn(void)
{
    enum { ROWS = 40 };
    static const uint64_t leaps[] = {1,  2,  3,  4,  9,  10, 11, 10, 10, 12, 7,  8, 9, 31, 30,
                                     29, 30, 31, 32, 32, 33, 38, 39, 40, 41, 40, 1, 2, 3};
    static const char *const types[] = {"late", "timeout"};
    fresh_path();
    struct store *s = open_store(NULL);
    for (uint64_t n = 1; n <= ROWS; n++) {
        if (n % 10 != 0) {
            add_one(s, STORE_ENTRIES, "a", n, (int64_t)n * 10, "SYNC");
            add_one(s, STORE_ALARMS, "a", n, (int64_t)n * 10, types[n % 2]);
        }
    }
    struct store_reader *r = open_reader();
    for (int held = 0; held < 2; held++) {
        store_reader_hold(r, held);
        for (size_t i = 0; i < COUNT(leaps); i++) {
            const uint64_t n = leaps[i];
            const bool there = n % 10 != 0 && n <= ROWS;
            struct store_row row = row_of(STORE_ENTRIES, "b", n, (int64_t)n * 10, "SYNC");
            CHECK("of this pair", !holds_row(r, &row));
            row = row_of(STORE_ENTRIES, "a", n, (int64_t)n * 10, "AHEAD");
            row.id = "another";
            CHECK("of this id", !holds_row(r, &row));
            CHECK_INT("entry", holds_number(r, n), there);
            row = row_of(STORE_ALARMS, "a", n, (int64_t)n * 10, types[i % 2]);
            CHECK_INT("of this type", holds_row(r, &row), there && n % 2 == i % 2);
            row.type = types[n % 2];
            CHECK_INT("alarm", holds_row(r, &row), there);
        }
        const uint64_t since = ROWS + 10 + (uint64_t)held;
        add_one(s, STORE_ENTRIES, "a", since, (int64_t)since * 10, "SYNC");
        CHECK_INT("what has come since", holds_number(r, since), !held);
    }
    store_reader_close(r);
    store_close(s);
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
    static const char *const nonsense[] = {"x",   "' OR 1=1 --", "ABCDEF", "\xff\xfe", "1",
                                           "1 2", "1 2 ",        "1  r1",  " "};
    for (size_t i = 0; i <= COUNT(nonsense); i++) {
        query.cursor = i < COUNT(nonsense) ? nonsense[i] : endless;
        CHECK_INT("nonsense", store_query(r, &query, list_row, &listing, next, NULL),
                  STATUS_E_PARSE);
    }
    store_reader_close(r);
    store_close(s);
}

static void test_limits(void)
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

/* A rebuilt row is left out if it exists already, whatever its number, and uses none of the new
 * numbers. */
static void made_again(void)
{
    fresh_path();
    struct store *s = open_store(NULL);
    add_one(s, STORE_ENTRIES, "a", 41, 10, "SYNC");
    add_one(s, STORE_ALARMS, "a", 7, 10, "late");
    bool is_new = true;
    CHECK_INT("begin", store_begin(s, NULL), STATUS_OK);
    static const struct {
        const char *row;
        enum store_kind kind;
        uint64_t n;
        int64_t t_us;
        const char *type;
        bool is_new;
    } rows[] = {
        {"there", STORE_ENTRIES, 1, 10, "SYNC", false},
        {"another verdict", STORE_ENTRIES, 1, 10, "AHEAD", false},
        {"another time", STORE_ENTRIES, 2, 11, "SYNC", true},
        {"the same instant", STORE_ENTRIES, 3, 11, "SYNC", true},
        {"twice", STORE_ENTRIES, 3, 11, "SYNC", false},
        {"alarm that is there", STORE_ALARMS, 1, 10, "late", false},
        {"alarm of another type", STORE_ALARMS, 2, 10, "timeout", true},
        {"event", STORE_LOG, 1, 10, "command", true},
        {"change", STORE_CHANGES, 1, 10, "proposed", true},
        {"fit", STORE_FITS, 1, 10, "travel_time", true},
        {"fit of another model", STORE_FITS, 2, 10, "usv3", true},
        {"bar", STORE_BARS, 1, 10, "hold", true},
        {"bar of another kind", STORE_BARS, 2, 10, "task", true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct store_row row = row_of(rows[i].kind, "a", rows[i].n, rows[i].t_us, rows[i].type);
        row.again = 1;
        CHECK_INT(rows[i].row, store_add(s, &row, &is_new, NULL), STATUS_OK);
        CHECK_INT(rows[i].row, is_new, rows[i].is_new);
    }
    CHECK_INT("commit", store_commit(s, NULL), STATUS_OK);
    CHECK_INT("rows", store_read_mark(s).rows, 11);
    struct store_reader *r = open_reader();
    uint64_t seq = 0;
    CHECK_INT("last", store_last_seq(r, STORE_ENTRIES, &seq, NULL), STATUS_OK);
    CHECK_INT("its place", seq, 1);
    CHECK_INT("last", store_last_seq(r, STORE_CHANGES, &seq, NULL), STATUS_OK);
    CHECK_INT("no place", seq, 0);
    expect("entries", r, everything, "a:41 a:2 a:3");
    store_reader_close(r);
    /* A second attempt finds what the first one made. */
    CHECK_INT("begin", store_begin(s, NULL), STATUS_OK);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct store_row row =
            row_of(rows[i].kind, "a", rows[i].n + 100, rows[i].t_us, rows[i].type);
        row.again = 2;
        CHECK_INT(rows[i].row, store_add(s, &row, &is_new, NULL), STATUS_OK);
        CHECK_INT(rows[i].row, is_new, rows[i].kind == STORE_LOG);
    }
    CHECK_INT("commit", store_commit(s, NULL), STATUS_OK);
    store_close(s);
}

static void add_contract(CU_pSuite suite)
{
    CU_add_test(suite, "pages", test_pages);
    CU_add_test(suite, "pages while writing", pages_while_writing);
    CU_add_test(suite, "held reader", held_reader);
    CU_add_test(suite, "looked for in turn", looked_for_in_turn);
    CU_add_test(suite, "foreign cursors", foreign_cursors);
    CU_add_test(suite, "limits", test_limits);
    CU_add_test(suite, "made again", made_again);
}

#endif
