/* Friction of a real UR5's joints from its currents, if the data are available: in
 * $TANDEM_DATA, else next to the source tree. The data cannot be shipped. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "service/identify/identify.h"

#include <jansson.h>

/* Results of another program (numpy, SciPy's filtfilt), rounded: R2 of the fit and held out,
 * residual, inertia, viscous and Coulomb friction. */
static const double TABLE[6][6] = {
    {.863, .903, .315, .326, .887, .717},  {.981, .985, .281, .607, .907, .748},
    {.975, .971, .150, .245, .163, 1.028}, {.847, .849, .105, .089, .332, .108},
    {.946, .937, .032, .012, .112, .221},  {.400, .408, .222, .010, .118, .168},
};

static char path[2][1024];

static bool find_data(void)
{
    static const char *const names[] = {"m6_verify.csv", "m7_verify_short.csv"};
    const char *data = getenv("TANDEM_DATA");
    for (size_t k = 0; k < COUNT(names); k++) {
        (void)snprintf(path[k], sizeof path[k], "%s/ur5_ntnu/%s",
                       data && *data ? data : TANDEM_SOURCE_DIR "/../shared/data", names[k]);
        FILE *file = fopen(path[k], "rb");
        if (!file) {
            (void)printf("SKIPPED: no %s; set TANDEM_DATA to the recordings\n", path[k]);
            return false;
        }
        (void)fclose(file);
    }
    return true;
}

static json_t *fit_recording(void)
{
    struct identify_request request = identify_request_defaults();
    const struct csv_source file = {.path = path[0]};
    struct err err = {0};
    char *text = NULL;
    size_t bytes = 0;
    request.files = &file;
    request.file_count = 1;
    request.validate[0].path = path[1];
    request.validate_count = 1;
    request.json = true;
    FILE *to = open_memstream(&text, &bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(to);
    const struct model_row *row = model_row_find("arm_friction");
    const enum status st = identify_run(row, &request, to, &err);
    CU_ASSERT_EQUAL_FATAL(fclose(to), 0);
    CU_ASSERT_EQUAL_FATAL(st, STATUS_OK);
    json_t *fit = json_loadb(text, bytes, 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(fit);
    free(text);
    return fit;
}

static double number_of(const json_t *of, const char *object, const char *member)
{
    return json_number_value(json_object_get(json_object_get(of, object), member));
}

static void test_table(void)
{
    static const char *const terms[][2] = {
        {"inertia", "as2"}, {"viscous", "as"}, {"coulomb", "a"}};
    json_t *fit = fit_recording();
    const json_t *joints = json_object_get(fit, "joints");
    for (size_t j = 0; j < 6; j++) {
        const json_t *joint = json_array_get(joints, j);
        char row[16];
        (void)snprintf(row, sizeof row, "joint %zu", j + 1);
        CHECK_NEAR(row, number_of(joint, "fit", "r2"), TABLE[j][0], 0.0, 6e-4);
        CHECK_NEAR(row, number_of(joint, "held_out", "r2"), TABLE[j][1], 0.0, 6e-4);
        CHECK_NEAR(row, number_of(joint, "fit", "rmse_a"), TABLE[j][2], 0.0, 6e-4);
        for (size_t k = 0; k < COUNT(terms); k++) {
            char name[64];
            (void)snprintf(name, sizeof name, "%s%zu_%s", terms[k][0], j + 1, terms[k][1]);
            /* The other program does not take the noise of the speeds off the inertias. */
            CHECK_NEAR(name, number_of(fit, "values", name), TABLE[j][3 + k],
                       k == 0 ? 0.09 : 0.012, 6e-4);
        }
        const char *verdict = json_string_value(json_object_get(joint, "verdict"));
        (void)printf("%s: %s\n", row, verdict);
        /* Joint 6 carries no load: what moves its current is not in the model. Those that carry
         * the arm are explained. */
        CHECK(row, j != 5 || strcmp(verdict, "MARGINAL") == 0);
        CHECK(row, j > 1 || strcmp(verdict, "PASS") == 0);
        /* Its inertia is known to 58 % only. */
        CHECK(row, j != 4 || strcmp(verdict, "MARGINAL") == 0);
        CHECK(row, strcmp(verdict, "FAIL") != 0);
    }
    json_decref(fit);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (!find_data()) {
        return EXIT_SUCCESS;
    }
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("arm friction", NULL, NULL);
    CU_add_test(suite, "table", test_table);
    return check_run();
}
