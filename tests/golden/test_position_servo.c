/* Recordings of simulated position servos with known truth, whose fits by an independent
 * program are the reference (docs/model/position_servo.md): loop, friction, play, profile. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "tests/support/servo_file.h"

static struct servo_file file;

static struct servo_fit fit_golden(const char *name)
{
    char path[1024];
    (void)snprintf(path, sizeof path, TANDEM_SOURCE_DIR "/tests/golden/servo/%s.csv", name);
    CU_ASSERT_FATAL(servo_file_read(&file, path, "", HUGE_VAL));
    const struct servo_fit fit = servo_file_fit(&file);
    servo_print(name, &fit);
    return fit;
}

/* The truth of all: 18 rad/s, 1.1, a droop of -0.02, 45 ms. */
static void check_loop(const char *row, const struct servo_fit *fit, double dead_band_rad)
{
    const double *value = fit->estimate.value;
    CHECK_NEAR(row, value[SERVO_NATURAL_FREQUENCY], 18.0, 0.005, 0.0);
    CHECK_NEAR(row, value[SERVO_DAMPING_RATIO], 1.1, 0.005, 0.0);
    CHECK_NEAR(row, value[SERVO_POSITION_GAIN], 18.0 / 2.2, 0.005, 0.0);
    CHECK_NEAR(row, value[SERVO_DEAD_BAND], dead_band_rad, 0.005, 1e-4);
    CHECK_NEAR(row, value[SERVO_DROOP], -0.02, 0.005, 0.0);
    CHECK_NEAR(row, value[SERVO_DELAY], 0.045, 0.0, 5e-4);
    CHECK_INT(row, fit->estimate.verdict, ESTIMATE_PASS);
}

static void test_friction(void)
{
    const struct servo_fit linear = fit_golden("linear");
    check_loop("linear", &linear, 0.012);
    CHECK("linear", linear.play_chi2 < 26.0);
    CHECK_NEAR("linear", linear.estimate.value[SERVO_PLAY], 0.0, 0.0, 0.0);
    CHECK("linear", linear.estimate.hi[SERVO_PLAY] < 0.002);
    CHECK_INT("linear", linear.limit, SERVO_NO_LIMIT);
    const struct servo_fit friction = fit_golden("friction");
    check_loop("friction", &friction, 0.03);
    CHECK("friction", friction.play_chi2 < 26.0);
}

static void test_play(void)
{
    const struct servo_fit fit = fit_golden("play");
    check_loop("play", &fit, 0.001);
    CHECK_NEAR("play", fit.estimate.value[SERVO_PLAY], 0.024, 0.005, 0.0);
    CHECK("play", fit.play_chi2 > 5000.0);
}

static void test_profile(void)
{
    const struct servo_fit fit = fit_golden("profile");
    CHECK_INT("profile", fit.limit, SERVO_PROFILE);
    CHECK_NEAR("profile", fit.estimate.value[SERVO_SPEED_LIMIT], 1.5, 0.01, 0.0);
    CHECK_NEAR("profile", fit.estimate.value[SERVO_ACCELERATION_LIMIT], 30.0, 0.01, 0.0);
    CHECK_NEAR("profile", fit.estimate.value[SERVO_DELAY], 0.045, 0.0, 3e-3);
    CHECK("profile", fit.own.rmse_rad <= 0.0006);
    CHECK_INT("profile", fit.estimate.verdict, ESTIMATE_PASS);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("position servo", NULL, NULL);
    CU_add_test(suite, "friction", test_friction);
    CU_add_test(suite, "play", test_play);
    CU_add_test(suite, "profile", test_profile);
    return check_run();
}
