/* The store's reader: pages, their cursors, counts, and how SQLite finds the rows. */
#include "tests/support/check.h"

#include <sqlite3.h>

#include "logger/storage/store.h"
#include "tests/support/store_contract.h"

/* No query reads more than its page: SQLite's plans search an index and sort nothing. */
static void test_query_plans(void)
{
    fresh_path();
    struct store *s = open_store(NULL);
    fill(s);
    sqlite3 *db = NULL;
    CHECK_INT("open", sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    for (int i = 0; i < 40; i++) {
        struct store_query query = everything;
        query.job = i >= 32 ? "j1" : NULL; /* of a pair, whose job it is */
        query.kind = i & 1 && !query.job ? STORE_ALARMS : STORE_ENTRIES;
        query.pair = i & 2 || query.job ? "a" : NULL;
        query.type = i & 4 && !query.job ? "SYNC" : NULL;
        query.newest_first = i & 8;
        query.inconsistent = i & 16;
        if (query.inconsistent && (query.type || query.kind != STORE_ENTRIES)) {
            continue; /* nobody requests both */
        }
        char sql[STORE_SQL_MAX];
        char explain[STORE_SQL_MAX + 32];
        store_query_sql(&query, sql);
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
            CHECK(plan, (strstr(plan, "inconsistent") != NULL) == query.inconsistent);
            CHECK(plan, (strstr(plan, "job=?") != NULL) == (query.job != NULL));
            steps++;
        }
        CHECK_INT(sql, steps, 1);
        (void)sqlite3_finalize(statement);
    }
    (void)sqlite3_close(db);
    store_close(s);
}

int main(void)
{
    if (!mkdtemp(scratch_template(base, "test_store")) ||
        CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("store reader", NULL, NULL);
    add_contract(suite);
    CU_add_test(suite, "plans", test_query_plans);
    const int result = check_run();
    fresh_path();
    (void)rmdir(base);
    return result;
}
