/* The smart logger's table of 60 moves against numbers that another program computed. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <jansson.h>

#include "tests/support/moves_file.h"
#include "tests/support/travel_truth.h"

static struct moves_file file = {.lap = "lap1_s",
                                 .late_lap = "lap2_s",
                                 .state = "state",
                                 .rotation = "rotation_deg",
                                 .displacement = "displacement_mm",
                                 .rotation_factor = 3.14159265358979323846 / 180.0,
                                 .displacement_factor = 1e-3};
static json_t *expected;

/* The reference works in millimetres. */
static const double UNIT[TRAVEL_P] = {1.0, 1.0, 1.0, 1.0, 1e3};

static double read_number(const char *method, const char *key, size_t i)
{
    const json_t *row = json_object_get(json_object_get(expected, method), key);
    return json_number_value(json_is_array(row) ? json_array_get(row, i) : row);
}

static void test_ols(void)
{
    struct travel_fit fit;
    CU_ASSERT_EQUAL_FATAL(fit_robot(file.moves, file.count, TRAVEL_OLS, &fit), STATUS_OK);
    CHECK_INT("smartlog", file.count, 60);
    for (size_t j = 0; j < TRAVEL_P; j++) {
        CHECK_NEAR("ols", fit.beta[j], UNIT[j] * read_number("ols", "beta", j), 1e-5, 0.0);
        /* Written there with four digits. */
        CHECK_NEAR("ols", fit.beta_se[j], UNIT[j] * read_number("ols", "se", j), 5e-4, 0.0);
    }
    CHECK_NEAR("ols", fit.estimate.value[TRAVEL_INV_W], read_number("ols", "w", 0), 1e-5, 0.0);
    CHECK_NEAR("ols", fit.estimate.value[TRAVEL_INV_V], 1e-3 * read_number("ols", "v", 0), 1e-5,
               0.0);
    CHECK_INT("ols", fit.estimate.verdict, ESTIMATE_MARGINAL);
}

static void check_robust(const char *name, enum travel_method method)
{
    struct travel_fit fit;
    CU_ASSERT_EQUAL_FATAL(fit_robot(file.moves, file.count, method, &fit), STATUS_OK);
    for (size_t j = 0; j < TRAVEL_P; j++) {
        const double se = UNIT[j] * read_number(name, "se", j);
        CHECK_NEAR(name, fit.beta[j], UNIT[j] * read_number(name, "beta", j), 0.0, 0.05 * se);
        CHECK_NEAR(name, fit.beta_se[j], se, 0.1, 0.0);
    }
    CHECK_NEAR(name, fit.estimate.value[TRAVEL_INV_W], read_number(name, "w", 0), 5e-4, 0.0);
    CHECK_NEAR(name, fit.estimate.value[TRAVEL_INV_V], 1e-3 * read_number(name, "v", 0), 5e-4,
               0.0);
    CHECK_INT(name, fit.method, method);
    CHECK_INT(name, fit.estimate.verdict, ESTIMATE_PASS);
    CHECK_INT(name, fit.outliers, 3);
}

static void test_robust(void)
{
    check_robust("huber", TRAVEL_HUBER);
    check_robust("tukey", TRAVEL_TUKEY);
}

static void test_auto_sees_the_outliers(void)
{
    struct travel_fit chosen;
    struct travel_fit tukey;
    CU_ASSERT_EQUAL_FATAL(fit_robot(file.moves, file.count, TRAVEL_AUTO, &chosen), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(fit_robot(file.moves, file.count, TRAVEL_TUKEY, &tukey), STATUS_OK);
    CHECK_INT("auto", chosen.method, TRAVEL_TUKEY);
    CHECK("auto", truth_same(chosen.beta, tukey.beta, sizeof chosen.beta));
    CHECK("auto", chosen.estimate.reason_count > 0 &&
                      strstr(chosen.estimate.reasons[0], "method auto chose tukey"));
}

int main(void)
{
    struct err err = {.code = STATUS_OK};
    (void)gsl_set_error_handler_off();
    expected =
        json_load_file(TANDEM_SOURCE_DIR "/tests/golden/smartlog_expected.json", 0, NULL);
    if (!expected ||
        !moves_file_read(&file, TANDEM_SOURCE_DIR "/tests/golden/smartlog.csv", &err) ||
        err.code != STATUS_OK || CU_initialize_registry() != CUE_SUCCESS) {
        (void)fprintf(stderr, "cannot read the golden files: %s\n", err.text);
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("smartlog", NULL, NULL);
    CU_add_test(suite, "ols", test_ols);
    CU_add_test(suite, "robust", test_robust);
    CU_add_test(suite, "auto", test_auto_sees_the_outliers);
    const int code = check_run();
    json_decref(expected);
    return code;
}
