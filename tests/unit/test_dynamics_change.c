/* Changes between fits: nothing, one parameter, two at once, a payload, more of the same. */
#include "tests/support/check.h"

#include "identification/dynamics/dynamics_change.h"
#include "identification/model/models.h"
#include "identification/model/usv3.h"

enum { P = USV3_PARAMETERS };

static const double truth[P] = {60.0, 75.0, 24.5, 18.0, 22.0, 30.0, 40.0, 19.0, 10.0};

/* Known to 5 %, linear and quadratic damping of one axis against each other. */
static struct dynamics_reference fit_of(const double *value)
{
    struct dynamics_reference fit = {.count = 1, .p = P, .freedom = 400.0};
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

/* Each parameter has an error of 2 %, independent of the others. */
static struct dynamics_change change_model(const struct model *model, const double *before,
                                           const double *factor)
{
    struct dynamics_change change;
    struct dynamics_reference old = {.count = 1, .freedom = 400.0};
    old.p = model->parameter_count;
    for (size_t i = 0; i < old.p; i++) {
        old.value[i] = before[i];
        old.covariance[i][i] = 0.0004 * before[i] * before[i];
    }
    struct dynamics_reference new = old;
    for (size_t i = 0; i < old.p; i++) {
        new.value[i] *= factor[i];
    }
    CHECK("compared", dynamics_change_find(model, &old, &new, NULL, 0.001, 0.05, &change));
    return change;
}

/* An effort that is worth less raises all that its axis alone knows; a payload raises what
 * multiplies accelerations and nothing else; a command's lag is neither. */
static void test_together(void)
{
    static const struct {
        const char *model;
        double before[6], factor[6];
        size_t reported;
        double after;
        const char *name;
    } rows[] = {
        {"first_order", {0.14, 0.6}, {1.25, 1.25}, DYNAMICS_EFFECT, 0.8, "effect of command"},
        {"first_order", {0.14, 0.6}, {1.5, 1.0}, 0, 0.21, "command_per_acceleration"},
        {"diffdrive",
         {0.3, 0.2, 0.01, 1.0, 0.02, 1.0},
         {1.3, 1.3, 1, 1, 1, 1},
         DYNAMICS_PAYLOAD,
         1.3,
         "payload"},
        {"diffdrive",
         {0.3, 0.2, 0.01, 1.0, 0.02, 1.0},
         {1.25, 1, 1.25, 1.25, 1, 1},
         DYNAMICS_EFFECT,
         0.8,
         "effect of"},
        {"usv3", {60, 75, 24.5, 18, 22, 30}, {1, 1, 1, 1, 1, 1}, DYNAMICS_DIRECTIONS, 0.0, ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct model *model = model_find(rows[i].model);
        char text[ESTIMATE_NAME_MAX];
        double before[DYNAMICS_P_MAX] = {40.0, 19.0, 10.0};
        double factor[DYNAMICS_P_MAX] = {1.0, 1.0, 1.0};
        for (size_t j = 0; j < model->parameter_count; j++) {
            before[j] = j < 6 ? rows[i].before[j] : 10.0;
            factor[j] = j < 6 ? rows[i].factor[j] : 1.0;
        }
        const struct dynamics_change change = change_model(model, before, factor);
        CHECK_INT(rows[i].model, change.count, rows[i].reported < DYNAMICS_DIRECTIONS ? 1 : 0);
        if (change.count > 0) {
            const char *name =
                dynamics_change_name(model, change.parameter[0], text, sizeof text);
            CHECK_INT(rows[i].model, change.parameter[0], rows[i].reported);
            CHECK_NEAR(rows[i].model, change.after[0], rows[i].after, 1e-9, 0.0);
            CHECK(name, strncmp(name, rows[i].name, strlen(rows[i].name)) == 0);
            CHECK_INT(name, change.rival[0], DYNAMICS_DIRECTIONS);
        }
    }
}

/* Linear and quadratic damping that the data cannot distinguish: one of them. */
static void test_rival(void)
{
    double value[P];
    struct dynamics_change change;
    struct dynamics_reference old = fit_of(truth);
    memcpy(value, truth, sizeof value);
    value[3] *= 1.2;
    for (size_t k = 0; k < 2; k++) {
        struct dynamics_reference new = fit_of(value);
        /* Known well in sum only. */
        const double apart = k == 0 ? 0.02 : 1e-4;
        for (size_t i = 3; i < 5; i++) {
            for (size_t j = 3; j < 5; j++) {
                const double both = truth[i] * truth[j];
                old.covariance[i][j] = new.covariance[i][j] =
                    both *(1e-4 + (i == j ? apart : -apart));
            }
        }
        CHECK("compared",
              dynamics_change_find(&usv3_model, &old, &new, NULL, 0.001, 0.05, &change));
        CHECK_INT("told", change.count, 1);
        const bool either = change.parameter[0] == 3 || change.rival[0] == 3;
        CHECK("one of", k == 0 ? change.rival[0] < DYNAMICS_DIRECTIONS : either);
    }
    CHECK_INT("certain", change.parameter[0], 3);
    CHECK_INT("certain", change.rival[0], DYNAMICS_DIRECTIONS);
}

/* A reported change continues silently; a return, and another change, are reported. */
static void test_goes_on(void)
{
    static const double one[P] = {1, 1, 1, 1.5, 1, 1, 1, 1, 1};
    static const double two[P] = {1, 1, 1, 1.5, 1, 1, 1, 0.5, 1};
    signed char moved[DYNAMICS_DIRECTIONS] = {0};
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
    CU_add_test(suite, "together", test_together);
    CU_add_test(suite, "rival", test_rival);
    CU_add_test(suite, "goes on", test_goes_on);
    CU_add_test(suite, "join", test_join);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
