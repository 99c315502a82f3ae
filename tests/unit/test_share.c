/* Shares and their differences. Expected values come from an independent program (scipy). */
#include "tests/support/check.h"

#include "identification/numeric/share.h"

static void test_single(void)
{
    static const struct {
        double k, n, lo, hi;
    } rows[] = {{0, 6, 0.0, 0.39033428790216534},
                {6, 6, 0.6096657120978346, 1.0},
                {12.5, 25, 0.3175224322423106, 0.6824775677576894},
                {79, 80, 0.9325372992233133, 0.9977900244795476}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct share got = share_find(rows[i].k, rows[i].n, 0.95);
        CHECK_NEAR("share", got.lo, rows[i].lo, 0, 1e-12);
        CHECK_NEAR("share", got.hi, rows[i].hi, 0, 1e-12);
    }
    CHECK("of nothing", isnan(share_find(0, 0, 0.95).value));
}

static void test_independent(void)
{
    static const struct {
        size_t k_a, n_a, k_b, n_b;
        double value, lo, hi;
    } rows[] = {
        {0, 6, 6, 6, 1.0, 0.44798395618951337, 1.0},
        {13, 25, 20, 26, 0.24923076923076926, -0.01209494824183227, 0.4699886679534957},
        {80, 80, 78, 80, -0.025000000000000022, -0.08664432985578019, 0.024269976180523102}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct share got =
            share_difference(rows[i].k_a, rows[i].n_a, rows[i].k_b, rows[i].n_b, 0.95);
        CHECK_NEAR("difference", got.value, rows[i].value, 0, 1e-12);
        CHECK_NEAR("difference", got.lo, rows[i].lo, 0, 1e-12);
        CHECK_NEAR("difference", got.hi, rows[i].hi, 0, 1e-12);
    }
}

static void test_paired(void)
{
    static const struct {
        struct share_pairs pairs;
        double value, lo, hi, p;
    } rows[] = {
        {{24, 53, 1, 1},
         -0.6582278481012658,
         -0.7531794542787527,
         -0.5292263100518828,
         6.106226635438361e-15},
        {{6, 0, 0, 0}, 0.0, -0.3903342879021654, 0.3903342879021654, 1.0},
        {{0, 0, 0, 6}, 0.0, -0.39033428790216534, 0.39033428790216534, 1.0},
        {{10, 5, 5, 5}, 0.0, -0.24354506244551483, 0.24354506244551483, 1.0},
        {{20, 1, 3, 2}, 0.07692307692307687, -0.10016772120767681, 0.2572570355793765, 0.625},
        {{0, 12, 13, 0}, 0.04, -0.33002966099286435, 0.39937428091774063, 1.0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct share got = share_paired_difference(&rows[i].pairs, 0.95);
        CHECK_NEAR("paired", got.value, rows[i].value, 0, 1e-12);
        CHECK_NEAR("paired", got.lo, rows[i].lo, 0, 1e-12);
        CHECK_NEAR("paired", got.hi, rows[i].hi, 0, 1e-12);
        CHECK_NEAR("paired", share_paired_p(&rows[i].pairs), rows[i].p, 0, 1e-12);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("share", NULL, NULL);
    CU_ADD_TEST(suite, test_single);
    CU_ADD_TEST(suite, test_independent);
    CU_ADD_TEST(suite, test_paired);
    return check_run();
}
