/* Singular values of scaled matrices, and one that GSL's rotations do not finish. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include <CUnit/Basic.h>
#include <gsl/gsl_errno.h>

#include "identification/numeric/svd.h"
#include "tests/support/check.h"

enum { P = 4 };

/* Normal equations of a joint: the rotations of gsl_linalg_SV_decomp_jacobi() never end. */
static const double stubborn[P * P] = {
    385003793.94848275,  5284087.1640922707, 1400990.6175777675,  -1729063.5586324125,
    5215666.1402421528,  95097733.413898304, 16548260.393339286,  1203391.7614181044,
    1431081.985029038,   16557952.800671076, 4776925.955772521,   -132762.38436803294,
    -1729858.5228690673, 1178308.3607719257, -105823.73212398124, 5861079.7337658964};
static const double scale[P] = {19621.969525415607, 9752.2203230433988, 2183.2105051520225,
                                2420.9666940637503};

static void test_stubborn(void)
{
    struct svd found;
    CU_ASSERT_EQUAL_FATAL(svd_find(stubborn, P, scale, scale, 1e-9, &found), STATUS_OK);
    CHECK_INT("rank", found.rank, P);
    CHECK_INT("condition", found.condition > 1.0 && found.condition < 1e3, true);
    for (size_t i = 0; i < P; i++) {
        CHECK_INT("order", i == 0 || found.s[i - 1] >= found.s[i], true);
        for (size_t j = 0; j < P; j++) {
            double sum = 0.0;
            for (size_t k = 0; k < P; k++) {
                sum += found.inverse[i * P + k] * stubborn[k * P + j];
            }
            CHECK_NEAR("inverse", sum * scale[i] / scale[j], i == j ? 1.0 : 0.0, 0.0, 1e-11);
        }
    }
}

static void test_not_finite(void)
{
    double m[P * P] = {1.0};
    struct svd found;
    m[5] = NAN;
    CHECK_INT("NaN", svd_find(m, P, NULL, scale, 1e-9, &found), STATUS_E_MATH);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    CU_pSuite suite = CU_add_suite("svd", NULL, NULL);
    CU_add_test(suite, "stubborn", test_stubborn);
    CU_add_test(suite, "not finite", test_not_finite);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? 0 : 1;
}
