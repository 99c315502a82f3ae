/* The spool of a replay: lists come back whole and in order, and a file that cannot be written
 * is reported. */
#include "tests/support/check.h"

#include <signal.h>
#include <sys/resource.h>

#include "service/replay/spool.h"

struct seen {
    uint64_t next, rows, stop_after; /* 0: never */
    size_t list;
    bool wrong;
};

/* Row k of a list, of any length, its own. */
static size_t text_of(size_t list, uint64_t k, char text[512])
{
    const int n = snprintf(text, 512, "{\"list\":%zu,\"n\":%llu,\"fill\":\"%0*d\"}", list,
                           (unsigned long long)k, (int)((list * 7 + k * 13) % 300) + 1, 0);
    return (size_t)n;
}

static bool record_row(void *context, const struct spool_row *row)
{
    struct seen *seen = context;
    char text[512];
    const size_t bytes = text_of(seen->list, seen->next, text);
    const bool same =
        row->json_bytes == bytes && memcmp(row->json, text, bytes) == 0 &&
        row->t_us == (int64_t)(1000 * seen->next) &&
        (seen->next % 3 == 0 ? isnan(row->lag_s)
                             : fabs(row->lag_s - (double)seen->next / 8.0) < 1e-9);
    seen->wrong = seen->wrong || !same;
    seen->next++;
    return ++seen->rows != seen->stop_after;
}

static struct spool_row row_of(size_t list, uint64_t k, char text[512])
{
    return (struct spool_row){(int64_t)(1000 * k), k % 3 == 0 ? nan("") : (double)k / 8.0, text,
                              text_of(list, k, text)};
}

static enum status add_row(struct spool *s, size_t list, uint64_t k, struct err *err)
{
    char text[512];
    const struct spool_row row = row_of(list, k, text);
    return spool_add(s, list, &row, err);
}

static void expect_rows(struct spool *s, size_t list, uint64_t count, uint64_t newest,
                        uint64_t stop_after)
{
    char what[96];
    const uint64_t rows = newest > 0 && newest < count ? newest : count;
    struct seen seen = {.list = list, .next = count - rows, .stop_after = stop_after};
    (void)snprintf(what, sizeof what, "list %zu, newest %llu", list,
                   (unsigned long long)newest);
    CHECK_INT(what, spool_count(s, list), count);
    spool_each(s, list, newest, record_row, &seen);
    CHECK_INT(what, seen.rows, stop_after > 0 && stop_after < rows ? stop_after : rows);
    CHECK(what, !seen.wrong);
}

/* More rows than stay resident. */
enum { LISTS = 40, ROWS = 60000 };

/* Lists of very different length; the last one gets none. */
static size_t draw_list(void)
{
    const size_t draw = (size_t)rand() % (LISTS - 1);
    return rand() % 2 ? draw / 8 : draw;
}

static void expect_all(struct spool *s, const uint64_t count[LISTS])
{
    for (size_t list = 0; list < LISTS; list++) {
        expect_rows(s, list, count[list], 0, 0);
        expect_rows(s, list, count[list], 1, 0);
        expect_rows(s, list, count[list], 50, 0);
        expect_rows(s, list, count[list], UINT64_MAX, 7);
    }
    expect_rows(s, 0, count[0], 0, 0); /* again, out of order */
}

static void test_lists(void)
{
    struct spool *s = NULL;
    uint64_t count[LISTS] = {0};
    CU_ASSERT_EQUAL_FATAL(spool_create(LISTS, &s), STATUS_OK);
    srand(check_seed(5));
    for (int i = 0; i < ROWS; i++) {
        const size_t list = draw_list();
        CU_ASSERT_EQUAL_FATAL(add_row(s, list, count[list]++, NULL), STATUS_OK);
    }
    expect_all(s, count);
    spool_destroy(s);
}

static void test_nothing(void)
{
    struct spool *s = NULL;
    CU_ASSERT_EQUAL_FATAL(spool_create(3, &s), STATUS_OK);
    expect_rows(s, 2, 0, 0, 0);
    expect_rows(s, 0, 0, 9, 0);
    spool_destroy(s);
    spool_destroy(NULL);
}

/* No file may grow: as a full disk, but for the reason. */
static void test_full(void)
{
    struct rlimit before;
    struct spool *s = NULL;
    struct err err = {0};
    enum status status = STATUS_OK;
    (void)signal(SIGXFSZ, SIG_IGN);
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {8192, before.rlim_max};
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &small), 0);
    CU_ASSERT_EQUAL_FATAL(spool_create(2, &s), STATUS_OK);
    for (uint64_t k = 0; k < 10000 && status == STATUS_OK; k++) {
        status = add_row(s, k % 2, k / 2, &err);
    }
    CHECK_INT("told", status, STATUS_E_IO);
    CHECK_TEXT("why", fault_name(err.fault), "file_unwritable");
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &before), 0);
    spool_destroy(s);
}

/* If $TMPDIR is no directory, another place is used. */
static void test_elsewhere(void)
{
    struct spool *s = NULL;
    CU_ASSERT_EQUAL_FATAL(setenv("TMPDIR", "/nonexistent", 1), 0);
    CU_ASSERT_EQUAL_FATAL(spool_create(1, &s), STATUS_OK);
    for (uint64_t k = 0; k < 100; k++) {
        CU_ASSERT_EQUAL_FATAL(add_row(s, 0, k, NULL), STATUS_OK);
    }
    expect_rows(s, 0, 100, 0, 0);
    spool_destroy(s);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("spool", NULL, NULL);
    CU_add_test(suite, "lists", test_lists);
    CU_add_test(suite, "nothing", test_nothing);
    CU_add_test(suite, "full", test_full);
    CU_add_test(suite, "elsewhere", test_elsewhere);
    return check_run();
}
