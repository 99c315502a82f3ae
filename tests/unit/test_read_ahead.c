/* Reading ahead of who works on it: pieces in order, an end and a stop; uses threads. */
#include "tests/support/check.h"

#include <stdbool.h>

#include "base/hash.h"
#include "service/cli/read_ahead.h"

enum { LONG_BYTES = 3000001 }; /* more than is read ahead, and no whole number of pieces */

static char expected_byte(size_t i)
{
    return (char)('a' + (i * 7 + i / 1000) % 26);
}

static FILE *make_file(size_t bytes, uint64_t *hash)
{
    FILE *file = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    *hash = HASH_START;
    for (size_t i = 0; i < bytes; i++) {
        const char c = expected_byte(i);
        (void)fputc(c, file);
        *hash = hash_bytes(*hash, &c, 1);
    }
    rewind(file);
    return file;
}

static void check_whole(size_t bytes)
{
    struct read_ahead *reader = NULL;
    struct file_mark mark;
    uint64_t hash = 0;
    FILE *file = make_file(bytes, &hash);
    size_t at = 0;
    size_t n = 0;
    bool same = true;
    CHECK_INT("start", read_ahead_start(file, &reader), STATUS_OK);
    for (const char *piece; (piece = read_ahead_next(reader, &n));) {
        for (size_t i = 0; i < n; i++) {
            same = same && piece[i] == expected_byte(at++);
        }
    }
    CU_ASSERT_TRUE(same);
    CHECK_INT("bytes", at, bytes);
    CU_ASSERT_PTR_NULL(read_ahead_next(reader, &n));
    CHECK_INT("failure", read_ahead_end(reader, &mark), 0);
    CHECK_INT("mark", mark.bytes, bytes);
    CU_ASSERT_EQUAL(mark.hash, hash);
    read_ahead_stop(reader);
    (void)fclose(file);
}

static void test_whole(void)
{
    check_whole(0);
    check_whole(1);
    check_whole(65536);
    check_whole(LONG_BYTES);
}

/* With pieces read that nobody took, and a thread that waits for room. */
static void test_stop(void)
{
    for (size_t taken = 0; taken < 3; taken++) {
        struct read_ahead *reader = NULL;
        uint64_t hash = 0;
        size_t n = 0;
        FILE *file = make_file(LONG_BYTES, &hash);
        CHECK_INT("start", read_ahead_start(file, &reader), STATUS_OK);
        for (size_t i = 0; i < taken; i++) {
            CU_ASSERT_PTR_NOT_NULL(read_ahead_next(reader, &n));
        }
        read_ahead_stop(reader);
        (void)fclose(file);
    }
    read_ahead_stop(NULL);
}

/* A file that was opened for writing cannot be read. */
static void test_failure(void)
{
    struct read_ahead *reader = NULL;
    struct file_mark mark;
    size_t n = 0;
    FILE *file = fopen("/dev/null", "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CHECK_INT("start", read_ahead_start(file, &reader), STATUS_OK);
    while (read_ahead_next(reader, &n)) {
        CHECK_INT("nothing is read", n, 0);
    }
    CU_ASSERT_NOT_EQUAL(read_ahead_end(reader, &mark), 0);
    read_ahead_stop(reader);
    (void)fclose(file);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("read_ahead", NULL, NULL);
    CU_add_test(suite, "whole files", test_whole);
    CU_add_test(suite, "stop", test_stop);
    CU_add_test(suite, "failure", test_failure);
    return check_run();
}
