/* Numbers of a fit by their names; a combination that is as unknown as its parts is none. */
#include "tests/support/check.h"

#include "identification/fit/fitted_numbers.h"
#include "identification/fit/null_space.h"
#include "identification/model/models.h"

static void test_names(void)
{
    struct fitted_numbers numbers = {.count = 0};
    struct fitted_number extra = {.name = "gain", .value = 2.0, .derived = true};
    struct estimate e;
    estimate_start(&e, 2);
    estimate_name(&e, 0, "a", "a");
    estimate_name(&e, 1, "b", "b");
    estimate_set(&e, 0, 1.0, 0.1, HUGE_VAL);
    e.identifiable[0] = true;
    fitted_numbers_add_estimate(&numbers, &e);
    fitted_numbers_add(&numbers, &extra);
    CHECK_INT("count", numbers.count, 3);
    CHECK("known", numbers.number[0].known && !numbers.number[1].known);
    CHECK_NEAR("derived", fitted_numbers_find(&numbers, "gain")->value, 2.0, 0.0, 0.0);
    CHECK("none", fitted_numbers_find(&numbers, "c") == NULL);
    for (size_t i = 0; i < FITTED_NUMBERS_MAX; i++) {
        fitted_numbers_add(&numbers, &extra);
    }
    CHECK_INT("full", numbers.count, FITTED_NUMBERS_MAX);
}

/* The first two parameters have the same effect: their sum is known, or not. */
static void test_combination(void)
{
    static const struct {
        double sum_se;
        size_t count;
    } rows[] = {{0.1, 1}, {2.9, 1}, {3.1, 0}, {1e9, 0}};
    const double v[4] = {sqrt(0.5), sqrt(0.5), sqrt(0.5), -sqrt(0.5)};
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct dynamics_fit fit;
        struct null_space space;
        const double half = 0.25 * rows[i].sum_se * rows[i].sum_se;
        const struct null_parameters unknown = {.model = &first_order_model,
                                                .index = {0, 1},
                                                .length = {1.0, 1.0},
                                                .value = {1.0, 2.0},
                                                .covariance = {{half, half}, {half, half}}};
        dynamics_fit_start(&fit, &first_order_model, DYNAMICS_WEAK, false);
        null_space_find(&space, v, 2, 1);
        null_space_report(&space, &unknown, &fit);
        CHECK_INT("combinations", fit.estimate.combination_count, rows[i].count);
        if (rows[i].count > 0) {
            CHECK_NEAR("value", fit.estimate.combinations[0].value, 3.0, 1e-9, 0.0);
            CHECK_NEAR("error", fit.estimate.combinations[0].se, rows[i].sum_se, 1e-9, 0.0);
        }
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    CU_pSuite suite = CU_add_suite("fitted_numbers", NULL, NULL);
    CU_add_test(suite, "names", test_names);
    CU_add_test(suite, "combination", test_combination);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? 0 : 1;
}
