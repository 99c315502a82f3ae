/* Several recordings: mean, spread between recordings, odd ones; and the reason of a common
 * fit. */
#include "tests/support/check.h"

#include "identification/fit/fitted_numbers.h"
#include "service/identify/identify_between.h"

/* Expected values come from an independent program (numpy, scipy). */
static const struct {
    const char *name;
    size_t n;
    double value[8], se[8];
    struct between want;
} tables[] = {
    {"dead band",
     8,
     {.010101, .0080777, .009791, .0089543, .0090869, .010738, .011114, .0090022},
     {.000215, .000143, .000228, .000237, .000587, .000234, .00027, .000226},
     {.value = .00961309,
      .se = .000367597,
      .lo = .00874386,
      .hi = .0104823,
      .sd_between = .00100058,
      .sd_moments = .00112845,
      .q = 178.288,
      .p = 4.47917e-35,
      .another_lo = .00709246,
      .another_hi = .0121337,
      .another_fit_lo = .00703395,
      .another_fit_hi = .0121922,
      .odd = 8,
      .odd_p = .762752}},
    {"alike",
     5,
     {1.0, 1.1, .95, 1.02, .99},
     {.1, .12, .09, .1, .11},
     {.value = 1.00409,
      .se = .0458568,
      .lo = .876771,
      .hi = 1.13141,
      .q = 1.04339,
      .p = .903146,
      .another_lo = .876771,
      .another_hi = 1.13141,
      .another_fit_lo = .698645,
      .another_fit_hi = 1.30954,
      .odd = 5,
      .odd_p = 2.2536}},
    {"three",
     3,
     {1.6, 1.75, 1.5},
     {.002, .003, .002},
     {.value = 1.61665,
      .se = .0726457,
      .lo = 1.30408,
      .hi = 1.92922,
      .sd_between = .125799,
      .sd_moments = .112436,
      .q = 4886.36,
      .another_lo = .991615,
      .another_hi = 2.24169,
      .another_fit_lo = .991556,
      .another_fit_hi = 2.24175,
      .odd = 3,
      .odd_p = NAN}},
    {"one odd",
     6,
     {1.6, 1.61, 1.59, 1.605, 1.598, 1.9},
     {.005, .005, .005, .005, .005, .005},
     {.value = 1.6505,
      .se = .0499758,
      .lo = 1.52203,
      .hi = 1.77897,
      .sd_between = .122313,
      .sd_moments = .122313,
      .q = 2997.1,
      .another_lo = 1.31085,
      .another_hi = 1.99015,
      .another_fit_lo = 1.31061,
      .another_fit_hi = 1.99039,
      .odd = 5,
      .odd_p = 2.07089e-5}},
};

static void test_tables(void)
{
    for (size_t i = 0; i < COUNT(tables); i++) {
        const struct between *want = &tables[i].want;
        struct between found;
        between_find(tables[i].value, tables[i].se, tables[i].n, &found);
        const double pairs[][2] = {
            {found.value, want->value},
            {found.se, want->se},
            {found.lo, want->lo},
            {found.hi, want->hi},
            {found.sd_between, want->sd_between},
            {found.sd_moments, want->sd_moments},
            {found.q, want->q},
            {found.p, want->p},
            {found.another_lo, want->another_lo},
            {found.another_hi, want->another_hi},
            {found.another_fit_lo, want->another_fit_lo},
            {found.another_fit_hi, want->another_fit_hi},
        };
        for (size_t k = 0; k < COUNT(pairs); k++) {
            CHECK_NEAR(tables[i].name, pairs[k][0], pairs[k][1], 1e-3, 1e-12);
        }
        CHECK_INT(tables[i].name, found.odd, want->odd);
        CHECK(tables[i].name, isnan(want->odd_p)
                                  ? isnan(found.odd_p)
                                  : fabs(found.odd_p / want->odd_p - 1.0) < 1e-2);
    }
}

/* Another order, unit or sign gives the same spread. */
static void test_invariance(void)
{
    for (size_t i = 0; i < COUNT(tables); i++) {
        const size_t n = tables[i].n;
        double value[8], se[8];
        struct between a, b;
        for (size_t k = 0; k < n; k++) {
            value[k] = -1000.0 * tables[i].value[n - 1 - k];
            se[k] = 1000.0 * tables[i].se[n - 1 - k];
        }
        between_find(tables[i].value, tables[i].se, n, &a);
        between_find(value, se, n, &b);
        CHECK_NEAR(tables[i].name, b.value, -1000.0 * a.value, 1e-6, 0.0);
        CHECK_NEAR(tables[i].name, b.sd_between, 1000.0 * a.sd_between, 1e-6, 1e-12);
        CHECK_INT(tables[i].name, b.odd, a.odd == n ? n : n - 1 - a.odd);
    }
}

/* Adds a recording with one number and one reason. */
static void add_recording(struct identify_between *between, double value, double se,
                          enum reason_code code)
{
    struct estimate e;
    struct fitted_numbers numbers = {.count = 0};
    estimate_start(&e, 1);
    estimate_name(&e, 0, "gain", "k");
    estimate_set(&e, 0, value, se, HUGE_VAL);
    e.identifiable[0] = true;
    if (code < REASON_CODES) {
        estimate_reason(&e, code, ESTIMATE_MARGINAL, "a reason");
    }
    fitted_numbers_add_estimate(&numbers, &e);
    between->recording[between->count].name = "some.csv";
    identify_between_add(between, &e, &numbers);
    between->count++;
}

static enum estimate_verdict judge_recordings(struct identify_between *between,
                                              struct estimate *e)
{
    between->worst = numbers_between_find(between->number, between->number_count);
    estimate_start(e, 0);
    estimate_reason(e, REASON_CHANGES_WITH_TIME, ESTIMATE_MARGINAL, "it changes with time");
    estimate_advise(e, "a warm robot");
    identify_between_judge(between, e);
    return e->verdict;
}

/* A difference is the only reason of what no single recording shows. */
static void test_cause(void)
{
    static struct identify_between between;
    struct estimate e;
    memset(&between, 0, sizeof between);
    add_recording(&between, 1.6, 0.001, REASON_CODES);
    add_recording(&between, 1.7, 0.001, REASON_CODES);
    add_recording(&between, 1.5, 0.001, REASON_CODES);
    CHECK_INT("steady", judge_recordings(&between, &e), ESTIMATE_MARGINAL);
    CHECK_INT("steady", e.reason_count, 1);
    CHECK_INT("steady", e.reason_codes[0], REASON_PARTS_DIFFER);
    CHECK("steady", e.advice_count == 1 && !strstr(e.advice[0], "warm"));
    estimate_start(&e, 0);
    estimate_reason(&e, REASON_POOR_FIT, ESTIMATE_FAIL, "it explains little");
    identify_between_judge(&between, &e);
    CHECK_INT("far apart", e.verdict, ESTIMATE_FAIL);
    CHECK_INT("far apart", e.reason_count, 1);
    CHECK_INT("far apart", e.reason_codes[0], REASON_PARTS_DIFFER);
    add_recording(&between, 1.55, 0.001, REASON_CHANGES_WITH_TIME);
    CHECK_INT("one warms", judge_recordings(&between, &e), ESTIMATE_MARGINAL);
    CHECK_INT("one warms", e.reason_count, 2);
    CHECK_INT("one warms", e.reason_codes[0], REASON_PARTS_DIFFER);
}

/* Recordings that determine nothing do not count, and equal ones give no reason. */
static void test_counted(void)
{
    static struct identify_between between;
    struct estimate e;
    memset(&between, 0, sizeof between);
    add_recording(&between, 1.6, 0.01, REASON_CODES);
    add_recording(&between, 1.61, 0.01, REASON_CODES);
    add_recording(&between, 0.2, 0.11, REASON_CODES); /* an error above half the value */
    CHECK_INT("two", judge_recordings(&between, &e), ESTIMATE_MARGINAL);
    CHECK_INT("two", e.reason_codes[0], REASON_CHANGES_WITH_TIME);
    CHECK_INT("two", between.number[0].n, 2);
    add_recording(&between, 1.595, 0.01, REASON_CODES);
    (void)judge_recordings(&between, &e);
    CHECK_INT("alike", between.number[0].found.n, 3);
    CHECK("alike", between.worst == NULL);
    /* p of Q just inside and just outside of the limit. */
    for (int outside = 0; outside < 2; outside++) {
        const double off = outside ? 0.0304 : 0.0302; /* Q of 9.24 and 9.12; 1 % is 9.21 */
        memset(&between, 0, sizeof between);
        add_recording(&between, 1.6, 0.01, REASON_CODES);
        add_recording(&between, 1.6 - off / sqrt(2.0), 0.01, REASON_CODES);
        add_recording(&between, 1.6 + off / sqrt(2.0), 0.01, REASON_CODES);
        (void)judge_recordings(&between, &e);
        CHECK(outside ? "outside" : "inside", (between.worst != NULL) == (outside == 1));
    }
}

/* The oddest of five, just inside and just outside of 5 %. */
static void test_odd_limit(void)
{
    const double se[5] = {0.01, 0.01, 0.01, 0.01, 0.01};
    double p[2];
    for (int outside = 0; outside < 2; outside++) {
        const double off = outside ? 0.0665 : 0.0640;
        const double value[5] = {1.0, 1.001, 0.999, 1.0, 1.0 + off};
        struct between found;
        between_find(value, se, 5, &found);
        p[outside] = found.odd_p;
        CHECK_INT(outside ? "outside" : "inside", found.odd, outside ? 4 : 5);
    }
    CHECK("near the limit", p[0] < 0.054 && p[1] > 0.046);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    CU_pSuite suite = CU_add_suite("between", NULL, NULL);
    CU_add_test(suite, "tables", test_tables);
    CU_add_test(suite, "invariance", test_invariance);
    CU_add_test(suite, "cause", test_cause);
    CU_add_test(suite, "counted", test_counted);
    CU_add_test(suite, "odd limit", test_odd_limit);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? 0 : 1;
}
