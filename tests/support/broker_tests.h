/* tests/support/broker_tests.h - the main of tests that share one broker. */
#ifndef TESTS_SUPPORT_BROKER_TESTS_H
#define TESTS_SUPPORT_BROKER_TESTS_H

#include "tests/support/broker.h"
#include "tests/support/check.h"

/* Run the tests up to CU_TEST_INFO_NULL at a broker of their own. Returns the exit status: that
 * of check_run(), 77 without a mosquitto, which ctest counts as not run. */
static inline int broker_run_tests(struct broker *b, const char *suite_name,
                                   const CU_TestInfo *tests)
{
    if (broker_skip()) {
        (void)puts("SKIPPED: mosquitto is not installed");
        return 77;
    }
    CU_initialize_registry();
    if (!broker_init(b) || !broker_start(b)) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite(suite_name, NULL, NULL);
    for (const CU_TestInfo *test = tests; test->pName; test++) {
        CU_add_test(suite, test->pName, test->pTestFunc);
    }
    const int code = check_run();
    broker_finish(b, NULL);
    return code;
}

#endif
