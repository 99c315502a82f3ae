/* Whole files through the CSV reader: their format, an early end, unreadable files. */
#include "tests/support/check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/numbers/hash.h"
#include "service/tool/csv_file.h"
#include "tests/support/scratch.h"

enum { LONG_BYTES = 3000001 }; /* no whole number of pieces */

/* A header and lines of numbers. */
static char expected_byte(size_t i)
{
    return i == 0 ? 'a' : i % 8 == 1 ? '\n' : (char)('0' + (i * 7 + i / 1000) % 10);
}

struct rows {
    size_t count, most; /* of rows; the last one returns false */
};

static enum status record_row(void *context, const struct csv *csv, struct err *err)
{
    struct rows *rows = context;
    (void)csv;
    return ++rows->count == rows->most
               ? err_set(err, STATUS_E_RANGE, FAULT_TOO_MANY, "row", "enough")
               : STATUS_OK;
}

static char *make_text(size_t bytes)
{
    char *text = malloc(bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    for (size_t i = 0; i < bytes; i++) {
        text[i] = expected_byte(i);
    }
    return text;
}

static void write_file(char path[SCRATCH_MAX], const char *text, size_t bytes)
{
    const int file = mkstemp(scratch_template(path, "csv_file"));
    CU_ASSERT_FATAL(file >= 0);
    CU_ASSERT_FATAL(write(file, text, bytes) == (ssize_t)bytes);
    (void)close(file);
}

static void check_whole(size_t bytes)
{
    char path[SCRATCH_MAX];
    char *text = make_text(bytes);
    write_file(path, text, bytes);
    const struct csv_source sources[] = {{.path = path},
                                         {.path = "text", .text = text, .bytes = bytes}};
    for (size_t i = 0; i < COUNT(sources); i++) {
        struct rows rows = {0};
        struct file_mark mark;
        const struct csv_lines lines = {.row = record_row, .context = &rows};
        CHECK_INT("read", csv_file_read(&sources[i], &lines, &mark, NULL), STATUS_OK);
        CHECK_INT("rows", rows.count, (bytes + 5) / 8);
        CHECK_INT("mark", mark.bytes, bytes);
        CU_ASSERT_EQUAL(mark.hash, hash_bytes(HASH_START, text, bytes));
    }
    (void)unlink(path);
    free(text);
}

static void test_whole(void)
{
    check_whole(2);
    check_whole(16384);
    check_whole(65536);
    check_whole(LONG_BYTES);
}

/* A row ends the reading. */
static void test_stop(void)
{
    char path[SCRATCH_MAX];
    char *text = make_text(LONG_BYTES);
    write_file(path, text, LONG_BYTES);
    for (size_t most = 1; most < 100000; most *= 10) {
        struct rows rows = {.most = most};
        const struct csv_source source = {.path = path};
        const struct csv_lines lines = {.row = record_row, .context = &rows};
        CHECK_INT("read", csv_file_read(&source, &lines, NULL, NULL), STATUS_E_RANGE);
        CHECK_INT("rows", rows.count, most);
    }
    (void)unlink(path);
    free(text);
}

static void test_failure(void)
{
    static const char *const paths[] = {"/tmp", "/nowhere/at/all.csv"};
    for (size_t i = 0; i < COUNT(paths); i++) {
        struct rows rows = {0};
        const struct csv_source source = {.path = paths[i]};
        const struct csv_lines lines = {.row = record_row, .context = &rows};
        CHECK_INT(paths[i], csv_file_read(&source, &lines, NULL, NULL), STATUS_E_IO);
        CHECK_INT("nothing is read", rows.count, 0);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("csv_file", NULL, NULL);
    CU_add_test(suite, "whole files", test_whole);
    CU_add_test(suite, "stop", test_stop);
    CU_add_test(suite, "failure", test_failure);
    return check_run();
}
