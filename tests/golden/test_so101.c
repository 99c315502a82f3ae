/* short: TANDEM_RUNS=1 TANDEM_WITHOUT=verdicts */
/* Three joints of a real SO-101 arm, if the data are available: in $TANDEM_DATA, else next to
 * the source tree. The part of the chirp below 2 Hz must predict other motions; recordings that
 * cannot determine the servo must say why. TANDEM_RUNS: joints. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "tests/support/servo_file.h"

static struct servo_file file;
static const char *const joints[] = {"rotation_", "elbow_", "wrist_roll_"};
/* Least R2 of prbs_excitation and step_response, predicted by the chirp below 2 Hz. */
static const double prbs_min[] = {0.98, 0.93, 0.98};
static const double STEP_MIN = 0.98, BELOW_2_HZ_S = 100.0;

static bool load_motion(const char *motion, size_t joint, double until_s)
{
    char path[1024];
    const char *data = getenv("TANDEM_DATA");
    (void)snprintf(path, sizeof path, "%s/so101/%s.csv",
                   data && *data ? data : TANDEM_SOURCE_DIR "/../shared/data", motion);
    if (!servo_file_read(&file, path, joints[joint], until_s)) {
        (void)printf("SKIPPED: no %s; set TANDEM_DATA to the recordings\n", path);
        return false;
    }
    return true;
}

static struct servo_fit fit_motion(const char *motion, size_t joint, double until_s)
{
    char name[128];
    CU_ASSERT_FATAL(load_motion(motion, joint, until_s));
    const struct servo_fit fit = servo_file_fit(&file);
    (void)snprintf(name, sizeof name, "%s%s", joints[joint], motion);
    servo_print(name, &fit);
    return fit;
}

static double predict_motion(const struct servo_fit *fit, const char *motion, size_t joint)
{
    CU_ASSERT_FATAL(load_motion(motion, joint, HUGE_VAL));
    const struct servo_check check = servo_file_check(&file, fit);
    (void)printf("  %s%s: R2 %.4f, %.3g rad\n", joints[joint], motion, check.r2,
                 check.rmse_rad);
    return check.r2;
}

static void test_predictions(void)
{
    const size_t runs = check_runs(COUNT(joints), COUNT(joints));
    for (size_t j = 0; j < runs; j++) {
        const struct servo_fit fit = fit_motion("chirp_sweep", j, BELOW_2_HZ_S);
        CHECK(joints[j], fit.own.r2 > 0.996);
        CHECK(joints[j], predict_motion(&fit, "prbs_excitation", j) >= prbs_min[j]);
        CHECK(joints[j], predict_motion(&fit, "step_response", j) >= STEP_MIN);
        (void)predict_motion(&fit, "multisine", j);
        (void)predict_motion(&fit, "backlash_detection", j);
    }
}

static void test_verdicts(void)
{
    for (size_t j = 0; j < COUNT(joints); j++) {
        const struct servo_fit whole = fit_motion("chirp_sweep", j, HUGE_VAL);
        CHECK_INT(joints[j], whole.estimate.verdict, ESTIMATE_MARGINAL);
        CHECK(joints[j], whole.fast_radps > 1.4 && whole.fast_radps < 2.7);
        CHECK(joints[j], whole.fast_hz > 1.4 && whole.fast_hz < 2.7);
        const struct servo_fit slow = fit_motion("multisine", j, HUGE_VAL);
        CHECK_INT(joints[j], slow.estimate.verdict, ESTIMATE_MARGINAL);
        CHECK(joints[j], servo_has_reason(&slow, REASON_POOR_EXCITATION));
        (void)predict_motion(&slow, "prbs_excitation", j);
        const struct servo_fit band = fit_motion("backlash_detection", j, HUGE_VAL);
        CHECK(joints[j], band.estimate.verdict != ESTIMATE_PASS);
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    if (!load_motion("chirp_sweep", 0, HUGE_VAL)) {
        return EXIT_SUCCESS;
    }
    CU_pSuite suite = CU_add_suite("so101", NULL, NULL);
    CU_add_test(suite, "predictions", test_predictions);
    CU_add_test(suite, "verdicts", test_verdicts);
    return check_run();
}
