/* Move times of a real robot arm, if the data are available: in $TANDEM_DATA, else next to the
 * source tree. The data cannot be shipped. Six of the 24 moves are two or three in one, and
 * they are the long ones. Prints results and references. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "tests/support/moves_file.h"

enum { MOVES = 24, COMPOSITES = 6 };

static struct moves_file file = {.lap = "duration_actual_s",
                                 .rotation = "dq_max_rad",
                                 .displacement = "dq_max_rad", /* not read */
                                 .rotation_factor = 1.0,
                                 .displacement_factor = 0.0};

/* Least squares without the composites; with them it gives 0.74 and 0.26. */
static const double reference_radps = 1.034;
static const double reference_s = 0.706;

static struct travel_fit fit_all(enum travel_method method)
{
    struct travel_fit fit;
    CU_ASSERT_EQUAL_FATAL(travel_time_fit(file.moves, file.count, TRAVEL_TURNS, method, &fit),
                          STATUS_OK);
    (void)printf("%-5s (%s): %.4f | %.3f rad/s (%.4f), %.4f | %.3f s (%.4f); sd %.4f s, %zu "
                 "outliers, %s\n",
                 travel_method_name(method), travel_method_name(fit.method),
                 fit.estimate.value[TRAVEL_INV_W], reference_radps,
                 fit.estimate.se[TRAVEL_INV_W], fit.beta[TRAVEL_T0], reference_s,
                 fit.beta_se[TRAVEL_T0], fit.residual_s_sd, fit.outliers,
                 estimate_verdict_name(fit.estimate.verdict));
    return fit;
}

static bool has_reason(const struct travel_fit *fit, const char *text)
{
    for (size_t k = 0; k < fit->estimate.reason_count; k++) {
        if (strstr(fit->estimate.reasons[k], text)) {
            return true;
        }
    }
    return false;
}

static void test_robust(void)
{
    CHECK_INT("file", file.count, MOVES);
    (void)printf("\nreached | reference (error), all moves in\n");
    for (enum travel_method method = TRAVEL_TUKEY; method <= TRAVEL_AUTO; method++) {
        const struct travel_fit fit = fit_all(method);
        CHECK_INT("robust", fit.method, TRAVEL_TUKEY);
        CHECK_NEAR("robust", fit.estimate.value[TRAVEL_INV_W], reference_radps, 2e-3, 0.0);
        CHECK_NEAR("robust", fit.beta[TRAVEL_T0], reference_s, 0.0, 2e-3);
        CHECK("robust", fit.estimate.lo[TRAVEL_INV_W] < reference_radps &&
                            reference_radps < fit.estimate.hi[TRAVEL_INV_W]);
        CHECK("robust",
              fit.beta_lo[TRAVEL_T0] < reference_s && reference_s < fit.beta_hi[TRAVEL_T0]);
        CHECK_INT("robust", fit.outliers, COMPOSITES);
        CHECK_INT("robust", fit.estimate.verdict, ESTIMATE_MARGINAL);
        CHECK("robust", has_reason(&fit, "25 % of the laps are outliers"));
    }
}

/* Plain least squares follows the composites, and reports it. */
static void test_plain(void)
{
    const struct travel_fit fit = fit_all(TRAVEL_OLS);
    CHECK_NEAR("plain", fit.estimate.value[TRAVEL_INV_W], 0.74, 0.0, 5e-3);
    CHECK_NEAR("plain", fit.beta[TRAVEL_T0], 0.26, 0.0, 5e-3);
    CHECK_INT("plain", fit.estimate.verdict, ESTIMATE_MARGINAL);
    CHECK("plain", has_reason(&fit, "6 of 24 moves deviate"));
    CHECK_TEXT("plain", fit.estimate.advice[0], "use method tukey or auto");
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    if (!moves_file_find(&file, "ur5_ntnu/moves.csv")) {
        return EXIT_SUCCESS;
    }
    CU_pSuite suite = CU_add_suite("ur5", NULL, NULL);
    CU_add_test(suite, "robust", test_robust);
    CU_add_test(suite, "plain", test_plain);
    return check_run();
}
