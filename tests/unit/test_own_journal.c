/* Numbers of the lines in a file journal: after restarts, a power cut and retention. */
#include "tests/support/journal_fixture.h"

#include "service/engine/own_journal.h"

enum { DATABASE = 7123 };

static struct journal *journal;
static struct own_journal *own;
static uint64_t file_bytes;

static struct journal_params small_files(void)
{
    struct journal_params params = params_of(NULL);
    params.rotate_bytes = file_bytes;
    return params;
}

static enum status open_own(int64_t database, struct err *err)
{
    *err = (struct err){0};
    return own_journal_open(dir, journal_end(journal), database, &own, err);
}

static void open_both(void)
{
    const struct journal_params params = small_files();
    struct err err;
    journal = open_or_die(&params);
    CHECK_INT("open", open_own(DATABASE, &err), STATUS_OK);
    CHECK_TEXT("open", err.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(own);
}

static void close_both(void)
{
    own_journal_close(own);
    journal_close(journal);
    own = NULL;
}

/* Appends line n of the partition, n = count + 1 … last. */
static void append_lines(unsigned last)
{
    for (unsigned n = (unsigned)own_journal_count(own) + 1; n <= last; n++) {
        char line[256];
        struct journal_position after;
        const size_t bytes = make_line(line, sizeof line, n);
        CU_ASSERT_EQUAL_FATAL(journal_append(journal, line, bytes, T0_US + n * S_US, &after),
                              STATUS_OK);
        own_journal_add(own, after, bytes);
    }
}

static enum status read_line(int64_t n)
{
    char line[256];
    size_t bytes = 0;
    const enum status status = own_journal_read(own, n, line, sizeof line, &bytes, NULL);
    const struct journal_line read = {.text = line, .bytes = bytes};
    if (status == STATUS_OK) {
        CHECK_INT("number", line_number(&read), n);
    }
    return status;
}

static void check_lines(int64_t first, int64_t last)
{
    CHECK_INT("count", own_journal_count(own), last);
    CHECK_INT("beyond", read_line(last + 1), STATUS_E_STALE);
    CHECK_INT("before", read_line(0), STATUS_E_STALE);
    for (int64_t n = first; n <= last; n += 37) {
        CHECK_INT("forwards", read_line(n), STATUS_OK);
    }
    for (int64_t n = last; n >= first; n -= 211) {
        CHECK_INT("backwards", read_line(n), STATUS_OK);
    }
}

static void test_restarts(void)
{
    file_bytes = 20000;
    fresh_dir();
    open_both();
    CHECK_INT("none", own_journal_count(own), 0);
    CHECK_INT("none", read_line(1), STATUS_E_STALE);
    for (unsigned last = 0; last < 4500; last += 700) {
        append_lines(last);
        check_lines(1, last);
        close_both();
        open_both();
        check_lines(1, last);
    }
    char small[4];
    size_t bytes;
    CHECK_INT("long", own_journal_read(own, 1, small, sizeof small, &bytes, NULL),
              STATUS_E_FULL);
    close_both();
}

/* Lines that were there before have no number. */
static void test_lines_before(void)
{
    file_bytes = 20000;
    fresh_dir();
    const struct journal_params params = small_files();
    journal = open_or_die(&params);
    for (unsigned n = 9000; n < 9500; n++) {
        CHECK_INT("before", append(journal, n, T0_US), STATUS_OK);
    }
    journal_close(journal);
    open_both();
    append_lines(1500);
    close_both();
    open_both();
    check_lines(1, 1500);
    close_both();
}

/* The newest journal file loses its end, and the numbers that lie there. */
static void test_power_cut(void)
{
    fresh_dir();
    file_bytes = 1 << 20;
    open_both();
    append_lines(2500);
    char line[256];
    off_t kept = 0;
    for (unsigned n = 1; n <= 1800; n++) {
        kept += (off_t)make_line(line, sizeof line, n);
    }
    char *path = journal_file_path(dir, journal_end(journal).file);
    CU_ASSERT_PTR_NOT_NULL_FATAL(path);
    close_both();
    CHECK_INT("cut", truncate(path, kept), 0);
    for (int start = 0; start < 2; start++) {
        open_both();
        check_lines(1, 1800);
        close_both();
    }
    open_both();
    append_lines(4200);
    close_both();
    open_both();
    check_lines(1, 4200);
    close_both();
    /* A crash cut the only line. */
    CHECK_INT("cut", truncate(path, 10), 0);
    free(path);
    open_both();
    CHECK_INT("a piece", own_journal_count(own), 0);
    append_lines(3);
    check_lines(1, 3);
    close_both();
    open_both();
    check_lines(1, 3);
    close_both();
}

static void test_retention(void)
{
    file_bytes = 20000;
    fresh_dir();
    open_both();
    append_lines(4000);
    close_both();
    int64_t *starts = NULL;
    size_t files = 0;
    CHECK_INT("list", journal_files_list(dir, &starts, &files, NULL), STATUS_OK);
    CHECK("files", files > 4);
    char *path = journal_file_path(dir, starts[0]);
    CHECK_INT("remove", unlink(path), 0);
    free(path);
    free(starts);
    open_both();
    CHECK_INT("count", own_journal_count(own), 4000);
    CHECK_INT("gone", read_line(1), STATUS_E_STALE);
    CHECK_INT("there", read_line(3999), STATUS_OK);
    append_lines(5000);
    CHECK_INT("there", read_line(5000), STATUS_OK);
    close_both();
}

static void test_refused(void)
{
    static const struct {
        const char *name, *text;
        enum status status;
        const char *error;
    } cases[] = {
        {"another database", "database 5\n1 0 0\n", STATUS_E_STALE, "database 5, not to 7123"},
        {"empty", "", STATUS_E_PARSE, "no number of a line"},
        {"no anchor", "database 7123\n", STATUS_E_PARSE, "no number of a line"},
        {"words", "hello\n", STATUS_E_PARSE, "no number of a line"},
        {"first line missing", "database 7123\n1000 0 0\n", STATUS_E_PARSE,
         "no number of a line"},
        {"a file that is gone", "database 7123\n1 5 700\n", STATUS_E_STALE, "reading should go on"},
        {"a cut last line", "database 7123\n1 0 0\n10", STATUS_OK, ""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char path[160];
        struct err err;
        fresh_dir();
        const struct journal_params params = small_files();
        journal = open_or_die(&params);
        write_file("numbers", cases[i].text, strlen(cases[i].text), path);
        CHECK_INT(cases[i].name, open_own(DATABASE, &err), cases[i].status);
        CHECK(cases[i].name, strstr(err.text, cases[i].error) != NULL);
        close_both();
    }
}

int main(void)
{
    if (!mkdtemp(scratch_template(base, "own_journal")) ||
        CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("own journal", NULL, NULL);
    CU_add_test(suite, "restarts", test_restarts);
    CU_add_test(suite, "lines before", test_lines_before);
    CU_add_test(suite, "power cut", test_power_cut);
    CU_add_test(suite, "retention", test_retention);
    CU_add_test(suite, "refused", test_refused);
    const int result = check_run();
    fresh_dir();
    (void)rmdir(base);
    return result;
}
