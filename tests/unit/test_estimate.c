/* Every fit returns its reasons in order and intervals of the right width. */
#include <math.h>
#include <string.h>

#include "identification/fit/estimate.h"
#include "identification/fit/reference.h"
#include "tests/support/check.h"

static void test_reason_first(void)
{
    struct estimate e;
    estimate_start(&e, 1);
    for (int i = 0; i < ESTIMATE_TEXTS_MAX; i++) {
        estimate_reason(&e, REASON_POOR_FIT, ESTIMATE_MARGINAL, "reason %d", i);
    }
    estimate_reason_first(&e, REASON_HELD_OUT, ESTIMATE_FAIL, "%s", "before all");
    CHECK_INT("full", e.reason_count, ESTIMATE_TEXTS_MAX);
    CHECK_INT("full", e.verdict, ESTIMATE_FAIL);
    CHECK_INT("full", strcmp(e.reasons[0], "before all"), 0);
    CHECK_INT("full", strcmp(e.reasons[1], "reason 0"), 0);
    CHECK_INT("full", strcmp(e.reasons[ESTIMATE_TEXTS_MAX - 1], "reason 14"), 0);
}

/* The reason of the verdict comes first, and lesser reasons do not hide it. */
static void test_worst_first(void)
{
    struct estimate e;
    estimate_start(&e, 1);
    estimate_reason(&e, REASON_POOR_FIT, ESTIMATE_PASS, "a note");
    for (int i = 0; i < ESTIMATE_TEXTS_MAX; i++) {
        estimate_reason(&e, REASON_POOR_FIT, ESTIMATE_MARGINAL, "doubt %d", i);
    }
    estimate_reason(&e, REASON_POOR_FIT, ESTIMATE_FAIL, "%s", "one");
    estimate_reason(&e, REASON_TOO_FEW, ESTIMATE_FAIL, "%s", "two");
    estimate_reason(&e, REASON_POOR_FIT, ESTIMATE_FAIL, "%s", "one");
    estimate_reason(&e, REASON_POOR_FIT, ESTIMATE_PASS, "%s", "another note");
    CHECK_INT("full", e.reason_count, ESTIMATE_TEXTS_MAX);
    CHECK_INT("worst", strcmp(e.reasons[0], "one"), 0);
    CHECK_INT("worst", strcmp(e.reasons[1], "two"), 0);
    CHECK_INT("worst", strcmp(e.reasons[2], "doubt 0"), 0);
    CHECK_INT("worst", strcmp(e.reasons[ESTIMATE_TEXTS_MAX - 1], "doubt 13"), 0);
    CHECK_INT("worst", e.reason_verdicts[1], ESTIMATE_FAIL);
    CHECK_INT("code", e.reason_codes[0], REASON_POOR_FIT);
    CHECK_INT("code", e.reason_codes[1], REASON_TOO_FEW);
    CHECK_INT("code", strcmp(reason_code_name(e.reason_codes[1]), "too_few"), 0);
    CHECK_INT("worst", e.reason_verdicts[ESTIMATE_TEXTS_MAX - 1], ESTIMATE_MARGINAL);
}

/* Notes stand behind all reasons and change no verdict. */
static void test_notes(void)
{
    struct estimate e;
    estimate_start(&e, 1);
    CHECK_INT("none", estimate_first_note(&e), 0);
    estimate_note(&e, REASON_UNEVEN_SAMPLING, "periods differ by %d %%", 21);
    CHECK_INT("a note", e.verdict, ESTIMATE_PASS);
    CHECK_INT("a note", estimate_first_note(&e), 0);
    estimate_reason(&e, REASON_POOR_FIT, ESTIMATE_MARGINAL, "a doubt");
    CHECK_INT("behind", estimate_first_note(&e), 1);
    CHECK_TEXT("behind", e.reasons[1], "periods differ by 21 %");
    CHECK_INT("open", isnan(e.lo_open[0]) && isnan(e.hi_open[0]), 1);
}

/* A verdict below PASS comes with advice: the usual one of its worst reason. */
static void test_usual_advice(void)
{
    static const struct {
        enum reason_code code;
        const char *advice;
    } rows[] = {{REASON_ROWS_UNUSABLE, "no number"},
                {REASON_UNEVEN_SAMPLING, "where they are measured"},
                {REASON_NOT_SIMULATED, "exchanged columns"},
                {REASON_AUTOCORRELATED, "look for other influences"},
                {REASON_POOR_FIT, "record again"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *row = reason_code_name(rows[i].code);
        struct estimate e;
        estimate_start(&e, 1);
        estimate_reason(&e, rows[i].code, ESTIMATE_PASS, "a note");
        estimate_advise_worst(&e);
        CHECK_INT(row, e.advice_count, 0);
        estimate_reason(&e, rows[i].code, ESTIMATE_FAIL, "it is so");
        estimate_advise_worst(&e);
        CHECK_INT(row, e.advice_count, 1);
        CHECK(row, strstr(e.advice[0], rows[i].advice) != NULL);
        estimate_advise_worst(&e);
        CHECK_INT(row, e.advice_count, 1);
    }
}

/* Tables of Student's law. */
static void test_reach(void)
{
    CHECK_NEAR("five", estimate_reach(5.0), 2.570582, 1e-6, 0);
    CHECK_NEAR("thirty", estimate_reach(30.0), 2.042272, 1e-6, 0);
    CHECK_NEAR("known", estimate_reach(INFINITY), 1.959964, 1e-6, 0);
    CHECK("too few", isnan(estimate_reach(4.0)) && isnan(estimate_reach(0.0)));
    CHECK("none", isnan(estimate_reach(-3.0)) && isnan(estimate_reach(nan(""))));
}

/* A value in use between both intervals is contradicted only without the open one. */
static void test_open_interval(void)
{
    for (int open = 0; open < 2; open++) {
        struct estimate e;
        struct reference_values used;
        struct reference_comparison found;
        estimate_start(&e, 1);
        estimate_name(&e, 0, "speed", "v");
        estimate_set(&e, 0, 1.0, 0.1, INFINITY);
        e.covariance[0][0] = 0.01;
        e.lo_open[0] = open ? 0.5 : (double)NAN;
        e.hi_open[0] = open ? 1.5 : (double)NAN;
        reference_start(&used);
        used.value[0] = 1.3;
        reference_compare(&e, &used, &found);
        CHECK_INT("between both", found.contradicts, !open);
        CHECK_INT("between both", found.contradicted[0], !open);
        used.value[0] = 1.6;
        reference_compare(&e, &used, &found);
        CHECK("beyond both", found.contradicts && found.contradicted[0]);
        reference_judge(&e, "robot", &e, &used, &found);
        CHECK("beyond both", strstr(e.reasons[0], open ? "0.5 to 1.5" : "0.804 to 1.196"));
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("estimate", NULL, NULL);
    CU_add_test(suite, "reason first", test_reason_first);
    CU_add_test(suite, "worst first", test_worst_first);
    CU_add_test(suite, "notes", test_notes);
    CU_add_test(suite, "usual advice", test_usual_advice);
    CU_add_test(suite, "open interval", test_open_interval);
    CU_add_test(suite, "reach", test_reach);
    return check_run();
}
