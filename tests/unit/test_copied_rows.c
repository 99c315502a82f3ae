/* Rows that repeat earlier ones to the bit: blocks on both sides of the limits. */
#include "tests/support/check.h"

#include "base/numbers/random.h"
#include "identification/data/copied_rows.h"
#include "identification/fit/column_check.h"
#include "service/identify/identify.h"
#include "service/selftest/selftest_recording.h"
#include "service/selftest/selftest_scenarios.h"

enum { N = 1000, FROM = 100, TO = 700 };

static double x[2][N];

/* Two columns of distinct values; `rows` from TO on are those from FROM on. */
static struct copied_rows find_copies(size_t columns, size_t rows, double sd, double quantum)
{
    struct random_source draws = {.state = 9};
    struct copied_column of[2];
    struct copied_rows found;
    for (size_t c = 0; c < 2; c++) {
        for (size_t k = 0; k < N; k++) {
            x[c][k] = round(random_between(&draws, -1e5, 1e5));
        }
        memcpy(&x[c][TO], &x[c][FROM], rows * sizeof x[c][0]);
        of[c] = (struct copied_column){x[c], sd, quantum};
    }
    CHECK_INT("found", copied_rows_find(of, columns, N, &found), STATUS_OK);
    return found;
}

static void test_blocks(void)
{
    CHECK_INT("none", find_copies(2, 0, 1e4, 1.0).total, 0);
    CHECK_INT("too short", find_copies(2, 7, 1e4, 1.0).total, 0);
    const struct copied_rows block = find_copies(2, 120, 1e4, 1.0);
    CHECK_INT("total", block.total, 120);
    CHECK_INT("from", block.from, FROM);
    CHECK_INT("to", block.to, TO);
    CHECK_INT("rows", block.rows, 120);
    CHECK_INT("shortest", find_copies(1, 8, 1e4, 1.0).total, 8);
}

/* Eight rows need 2 log 1000 + COPIED_SURPRISE, or 3.23 each: noise of 7.1 steps. */
static void test_chance(void)
{
    CHECK_INT("COPIED_SURPRISE", find_copies(1, 8, 6.9, 1.0).total, 0);
    CHECK_INT("COPIED_SURPRISE", find_copies(1, 8, 7.4, 1.0).total, 8);
    CHECK_INT("more rows", find_copies(1, 9, 6.9, 1.0).total, 9);
    CHECK_INT("noise below a step", find_copies(1, 200, 0.28, 1.0).total, 0);
    CHECK_INT("steps of decimals", find_copies(1, 8, 1.3, 0.0).total, 0);
}

/* A table that is given twice, and a value that stays. */
static void test_twice(void)
{
    struct copied_rows found;
    (void)find_copies(1, 0, 1e4, 1.0);
    memcpy(&x[0][N / 2], x[0], N / 2 * sizeof x[0][0]);
    const struct copied_column twice = {x[0], 1e4, 1.0};
    CHECK_INT("twice", copied_rows_find(&twice, 1, N, &found), STATUS_OK);
    CHECK_INT("twice", found.total, N / 2);
    CHECK_INT("twice", found.from, 0);
    for (size_t k = 0; k < N; k++) {
        x[0][k] = k < N / 2 ? (double)k : 3.0;
    }
    CHECK_INT("stays", copied_rows_find(&twice, 1, N, &found), STATUS_OK);
    CHECK_INT("stays", found.total, 0);
    CHECK_INT("few rows", copied_rows_find(&twice, 1, 15, &found), STATUS_OK);
    CHECK_INT("few rows", found.total, 0);
}

static void test_verdict(void)
{
    static const struct {
        size_t total;
        enum estimate_verdict verdict;
        size_t reasons;
    } rows[] = {{0, ESTIMATE_PASS, 0}, {10, ESTIMATE_PASS, 1}, {11, ESTIMATE_MARGINAL, 1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct copied_rows copied = {.total = rows[i].total, .from = 1, .to = 500};
        struct estimate e;
        estimate_start(&e, 1);
        copied_rows_judge(&e, &copied, 1000);
        CHECK_INT("COPIED_RATIO_MAX", e.verdict, rows[i].verdict);
        CHECK_INT("reason", estimate_has_reason(&e, REASON_COPIED), rows[i].reasons);
    }
}

/* Identifies `times` copies of one file; the result as text, for free(). */
static char *identify_copies(const struct model_row *row, const struct csv_source *file,
                             size_t times)
{
    const struct csv_source files[] = {*file, *file};
    struct identify_request request = identify_request_defaults();
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    request.files = files;
    request.file_count = times;
    request.json = true;
    CU_ASSERT_EQUAL_FATAL(identify_run(row, &request, to, NULL), STATUS_OK);
    (void)fclose(to);
    return text;
}

/* A file that is given twice is found among moves and paths, too. */
static void test_moves_and_paths(void)
{
    static const char *const models[] = {"travel_time", "arm_time", "odometry"};
    static const struct selftest_scenario right = {.name = "as_modelled"};
    for (size_t i = 0; i < COUNT(models); i++) {
        const struct model_row *row = model_row_find(models[i]);
        struct random_source draws = selftest_draws(3, 0);
        struct csv_source file = {.path = "once.csv"};
        char *table = NULL;
        CU_ASSERT_EQUAL_FATAL(
            selftest_record(row, &right, false, &draws, &table, &file.bytes, NULL), STATUS_OK);
        file.text = table;
        for (size_t times = 1; times <= 2; times++) {
            char *text = identify_copies(row, &file, times);
            CHECK_INT(models[i], strstr(text, "\"reason_codes\":[\"copied\"") != NULL,
                      times == 2);
            CHECK_INT(models[i], strstr(text, "\"verdict\":\"PASS\"") != NULL, times == 1);
            free(text);
        }
        free(table);
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    CU_pSuite suite = CU_add_suite("copied_rows", NULL, NULL);
    CU_add_test(suite, "blocks", test_blocks);
    CU_add_test(suite, "chance", test_chance);
    CU_add_test(suite, "twice", test_twice);
    CU_add_test(suite, "verdict", test_verdict);
    CU_add_test(suite, "moves and paths", test_moves_and_paths);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? 0 : 1;
}
