/* tests/support/check.h - checks that print the row and both values (CUnit's own do not). */
#ifndef TESTS_SUPPORT_CHECK_H
#define TESTS_SUPPORT_CHECK_H

/* Debian's CUnit headers use FILE and fabs() without including them. */
#include <math.h>
#include <stdio.h>

#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>

#include <stdlib.h>
#include <string.h>

#include "base/errors/status.h"

/* |got - want| <= abs_tol + rel_tol * |want|; NaN never passes. */
#define CHECK_NEAR(row, got, want, rel_tol, abs_tol)                                           \
    check_near((row), #got, (got), (want), (rel_tol), (abs_tol), __FILE__, __LINE__)

#define CHECK_INT(row, got, want)                                                              \
    check_int((row), #got, (long long)(got), (long long)(want), __FILE__, __LINE__)

#define CHECK_TEXT(row, got, want) check_text((row), #got, (got), (want), __FILE__, __LINE__)

#define CHECK(row, condition)                                                                  \
    check_true((row), #condition, (condition) ? 1 : 0, __FILE__, __LINE__)

static inline void check_report(int ok, const char *text, const char *file, int line)
{
    CU_assertImplementation(ok ? CU_TRUE : CU_FALSE, (unsigned)line, text, file, "", CU_FALSE);
}

static inline void check_near(const char *row, const char *what, double got, double want,
                              double rel_tol, double abs_tol, const char *file, int line)
{
    const int ok = fabs(got - want) <= abs_tol + rel_tol * fabs(want);
    char text[256];
    (void)snprintf(text, sizeof text, "[%s] %s = %.17g, want %.17g", row, what, got, want);
    check_report(ok, text, file, line);
}

static inline void check_int(const char *row, const char *what, long long got, long long want,
                             const char *file, int line)
{
    char text[256];
    (void)snprintf(text, sizeof text, "[%s] %s = %lld, want %lld", row, what, got, want);
    check_report(got == want, text, file, line);
}

static inline void check_text(const char *row, const char *what, const char *got,
                              const char *want, const char *file, int line)
{
    char text[1024];
    (void)snprintf(text, sizeof text, "[%s] %s = \"%s\", want \"%s\"", row, what,
                   got ? got : "(null)", want);
    check_report(got && strcmp(got, want) == 0, text, file, line);
}

static inline void check_true(const char *row, const char *what, int ok, const char *file,
                              int line)
{
    char text[256];
    (void)snprintf(text, sizeof text, "[%s] %s", row, what);
    check_report(ok, text, file, line);
}

/* The seed of a property or stat test: TANDEM_SEED, or the default. Printed, so that a failure
 * can be repeated. */
static inline unsigned check_seed(unsigned fallback)
{
    const char *text = getenv("TANDEM_SEED");
    const unsigned seed = text && *text ? (unsigned)strtoul(text, NULL, 10) : fallback;
    (void)printf("seed %u\n", seed);
    return seed;
}

/* The number of draws of a test: TANDEM_RUNS, or the default; at most `most`. */
static inline size_t check_runs(size_t fallback, size_t most)
{
    const char *text = getenv("TANDEM_RUNS");
    const size_t runs = text ? strtoul(text, NULL, 10) : fallback;
    return runs < 1 ? 1 : runs > most ? most : runs;
}

/* Cases that TANDEM_WITHOUT names, "one,another", are left out: a short form. A name that none
 * has is a failure. */
static inline int check_leave_out(void)
{
    const char *text = getenv("TANDEM_WITHOUT");
    char name[64];
    int length = 0;
    for (; text && sscanf(text, "%63[^,]%n", name, &length) == 1; text += length) {
        CU_pTest test = NULL;
        for (CU_pSuite suite = CU_get_registry()->pSuite; suite; suite = suite->pNext) {
            test = test ? test : CU_get_test_by_name(name, suite);
        }
        if (!test || CU_set_test_active(test, CU_FALSE) != CUE_SUCCESS) {
            (void)fprintf(stderr, "TANDEM_WITHOUT: no case \"%s\"\n", name);
            return 0;
        }
        (void)printf("left out: %s\n", name);
        length += text[length] == ',';
    }
    return 1;
}

/* End of every test main: run all, and turn the outcome into an exit status. */
static inline int check_run(void)
{
    if (!check_leave_out()) {
        return EXIT_FAILURE;
    }
    CU_set_fail_on_inactive(CU_FALSE);
    CU_basic_set_mode(CU_BRM_NORMAL);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    /* Not the count itself: an exit status is modulo 256. */
    return ran == CUE_SUCCESS && failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
