/* What changed between fits: nothing, one parameter, two at once, a payload, more of the same.
 */
#include "tests/support/check.h"

#include "identification/dynamics/dynamics_change.h"
#include "twin/models/usv3.h"

enum { P = USV3_PARAMETERS };

static const double truth[P] = {60.0, 75.0, 24.5, 18.0, 22.0, 30.0, 40.0, 19.0, 10.0};

/* Known to 5 %, linear and quadratic damping of one axis against each other. */
static struct dynamics_reference fit_of(const double *value)
{
    struct dynamics_reference fit = {.count = 1, .p = P};
    for (size_t i = 0; i < P; i++) {
        fit.value[i] = value[i];
        fit.covariance[i][i] = 0.0025 * truth[i] * truth[i];
    }
    for (size_t i = 3; i < P; i += 2) {
        fit.covariance[i][i + 1] = fit.covariance[i + 1][i] =
            -0.9 * 0.0025 * truth[i] * truth[i + 1];
    }
    return fit;
}

static struct dynamics_change change_to(const double *factor, const signed char *moved)
{
    double value[P];
    struct dynamics_change change;
    for (size_t i = 0; i < P; i++) {
        value[i] = truth[i] * factor[i];
    }
    const struct dynamics_reference old = fit_of(truth);
    const struct dynamics_reference new = fit_of(value);
    CHECK("compared",
          dynamics_change_find(&usv3_model, &old, &new, moved, 0.001, 0.05, &change));
    return change;
}

static void test_names(void)
{
    static const double none[P] = {1.05, 0.95, 1.05, 1, 1, 1.05, 0.98, 1, 1};
    static const double one[P] = {1, 1, 1, 1.5, 1, 1, 1, 1, 1};
    static const double two[P] = {1, 1, 1, 1.5, 1, 1, 1, 0.5, 1};
    static const double payload[P] = {1.4, 1.4, 1.4, 1, 1, 1, 1, 1, 1};
    CHECK_INT("none", change_to(none, NULL).count, 0);
    struct dynamics_change change = change_to(one, NULL);
    CHECK_INT("one", change.count, 1);
    CHECK_INT("which", change.parameter[0], 3);
    CHECK_NEAR("before", change.before[0], 18.0, 1e-9, 0.0);
    CHECK_NEAR("after", change.after[0], 27.0, 1e-9, 0.0);
    CHECK("far", change.z[0] > 10.0);
    change = change_to(two, NULL);
    CHECK_INT("two", change.count, 2);
    CHECK_INT("first", change.parameter[0] + change.parameter[1], 3 + 7);
    CHECK_NEAR("fall", change.after[change.parameter[1] == 7], 9.5, 1e-9, 0.0);
    change = change_to(payload, NULL);
    CHECK_INT("payload", change.count, 1);
    CHECK_INT("all masses", change.parameter[0], DYNAMICS_PAYLOAD);
    CHECK_NEAR("factor", change.after[0], 1.4, 1e-9, 0.0);
}

/* What was told goes on without a word; the way back, and another one, are told. */
static void test_goes_on(void)
{
    static const double one[P] = {1, 1, 1, 1.5, 1, 1, 1, 1, 1};
    static const double two[P] = {1, 1, 1, 1.5, 1, 1, 1, 0.5, 1};
    signed char moved[DYNAMICS_PAYLOAD + 1] = {0};
    moved[3] = 1;
    CHECK_INT("goes on", change_to(one, moved).count, 0);
    const struct dynamics_change change = change_to(two, moved);
    CHECK_INT("another", change.count, 1);
    CHECK_INT("which", change.parameter[0], 7);
    moved[3] = -1;
    CHECK_INT("back", change_to(one, moved).count, 1);
}

static void test_join(void)
{
    static double other[P];
    struct dynamics_reference mean = fit_of(truth);
    for (size_t i = 0; i < P; i++) {
        other[i] = 1.02 * truth[i];
    }
    const struct dynamics_reference more = fit_of(other);
    dynamics_reference_join(&mean, &more);
    CHECK_INT("two", mean.count, 2);
    for (size_t i = 0; i < P; i++) {
        CHECK_NEAR("mean", mean.value[i], 1.01 * truth[i], 1e-9, 0.0);
        CHECK_NEAR("surer", mean.covariance[i][i], 0.5 * more.covariance[i][i], 1e-9, 0.0);
    }
    const struct dynamics_reference nothing = {0};
    struct dynamics_change change;
    dynamics_reference_join(&mean, &nothing);
    CHECK_INT("still", mean.count, 2);
    CHECK("no fit",
          !dynamics_change_find(&usv3_model, &nothing, &more, NULL, 0.001, 0.05, &change));
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("dynamics_change", NULL, NULL);
    CU_add_test(suite, "names", test_names);
    CU_add_test(suite, "goes on", test_goes_on);
    CU_add_test(suite, "join", test_join);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
