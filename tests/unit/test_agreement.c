/* Whether estimates of one number agree: against values computed by hand, and over many draws.
 */
#include "identification/numeric/agreement.h"

#include "base/numbers/random.h"
#include "tests/support/check.h"

/* Two: Welch's t, squared; and by DerSimonian and Laird q = 8, w = 2, sum of squares 2, so that
 * the variance between is (8 - 1) / (2 - 2 / 2). */
static void test_by_hand(void)
{
    const struct estimate_of_one two[] = {{1.0, 1.0, HUGE_VAL}, {5.0, 1.0, HUGE_VAL}};
    struct agreement out;
    agreement_find(two, 2, &out);
    CHECK_NEAR("statistic", out.statistic, 8.0, 1e-12, 0.0);
    CHECK_NEAR("chi squared", out.p, 0.004677734981, 1e-6, 0.0);
    CHECK_NEAR("between", out.between_sd, sqrt(7.0), 1e-12, 0.0);
    CHECK_NEAR("mean", out.mean_variance, 3.5, 1e-12, 0.0);
    const struct estimate_of_one few[] = {{1.0, 1.0, 10.0}, {5.0, 1.0, 10.0}};
    agreement_find(few, 2, &out);
    CHECK_NEAR("Student's t of 20", out.p, 0.010379, 1e-3, 0.0);
    const struct estimate_of_one same[] = {{1.0, 0.5, 4.0}, {1.1, 0.2, 9.0}, {0.9, 0.3, 7.0}};
    agreement_find(same, 3, &out);
    CHECK("agree", out.p > 0.5);
    CHECK_NEAR("nothing between", out.between_sd, 0.0, 0.0, 0.0);
}

/* Errors from few samples, of different size: the test rejects equal values as often as
 * promised. */
static void test_honest(void)
{
    enum { DRAWS = 4000, FREEDOM = 6 };
    struct random_source draws = {.state = 3};
    size_t differ = 0;
    size_t found = 0;
    for (size_t draw = 0; draw < DRAWS; draw++) {
        struct estimate_of_one each[3];
        struct agreement out;
        for (size_t i = 0; i < COUNT(each); i++) {
            double squares = 0.0;
            for (size_t k = 0; k < FREEDOM; k++) {
                const double x = random_normal(&draws);
                squares += x * x;
            }
            const double sd = 1.0 + (double)i;
            each[i] = (struct estimate_of_one){sd * random_normal(&draws),
                                               sd * sqrt(squares / FREEDOM), FREEDOM};
        }
        agreement_find(each, COUNT(each), &out);
        differ += out.p < 0.05 ? 1 : 0;
        each[0].value += 10.0;
        agreement_find(each, COUNT(each), &out);
        found += out.p < 0.05 ? 1 : 0;
    }
    CHECK_NEAR("5 %", (double)differ / DRAWS, 0.05, 0.0, 0.015);
    CHECK("power", found > DRAWS * 3 / 4);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    CU_pSuite suite = CU_add_suite("agreement", NULL, NULL);
    CU_add_test(suite, "by hand", test_by_hand);
    CU_add_test(suite, "honest", test_honest);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? 0 : 1;
}
