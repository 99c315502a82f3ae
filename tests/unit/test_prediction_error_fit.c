/* short: TANDEM_WITHOUT=bend */
/* Prediction error and the choice of a method: known noise, delay, models that run away, wrong
 * calls and memory that runs out. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

#include "base/numbers/random.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/model/models.h"
#include "identification/simulation/prediction_error.h"
#include "tests/support/gsl_memory.h"
#include "tests/support/usv_truth.h"

enum { P = USV3_PARAMETERS, N = USV3_AXES };

static struct usv_record record;
static const double *truth;

static struct data_set draw_seeded(double delay_s, bool with_forces, uint64_t state)
{
    static double force[USV_SAMPLES][N];
    for (size_t k = 0; k < USV_SAMPLES; k++) {
        for (size_t i = 0; i < N; i++) {
            force[k][i] = k == 0 ? 0.0 : 0.9 * force[k - 1][i] + 1.5 * usv_normal(&state);
        }
    }
    CU_ASSERT_EQUAL_FATAL(usv_read("W", &record), USV_SAMPLES);
    usv_drive(&record, truth, delay_s, with_forces ? force : NULL);
    usv_measure(&record, &state);
    return usv_set(&record);
}

static struct data_set draw_set(double delay_s, bool with_forces)
{
    return draw_seeded(delay_s, with_forces, 11);
}

/* Efforts that change at the samples: a delay of zero, or of one period, is a bend of the
 * likelihood, and in one recording of five its lowest point. */
static void test_bend(void)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        const double delay_s = seed % 2 == 0 ? 0.1 : 0.0;
        const struct data_set set = draw_seeded(delay_s, true, seed);
        struct search_options options;
        struct search_report report;
        struct dynamics_fit fit;
        search_defaults(&usv3_model, &options);
        options.fit_delay = true;
        options.delay_s_min = -0.1;
        options.delay_s_max = 0.3;
        CU_ASSERT_EQUAL_FATAL(
            prediction_error_fit(&usv3_model, &set, truth, &options, &fit, &report), STATUS_OK);
        CHECK_INT("stop", fit.stop, DYNAMICS_STOP_CONVERGED);
        CHECK("steps", fit.iterations < 40);
        CHECK_NEAR("freedom", fit.noise_freedom, 300.0, 0.0, 150.0);
        CHECK_NEAR("delay", fit.delay_s, delay_s, 0.0, 4.0 * fit.delay_se_s);
    }
}

static void test_two_runs(void)
{
    struct data_set set = draw_set(0.06, true);
    struct search_options options;
    struct search_report report;
    struct dynamics_fit fit;
    search_defaults(&usv3_model, &options);
    options.fit_delay = true;
    options.delay_s_max = 0.3;
    /* Two runs: the second begins in motion. */
    set.run_count = 2;
    set.run_start[1] = 700;
    set.run_start[2] = USV_SAMPLES;
    CU_ASSERT_EQUAL_FATAL(
        prediction_error_fit(&usv3_model, &set, truth, &options, &fit, &report), STATUS_OK);
    CHECK_INT("stop", fit.stop, DYNAMICS_STOP_CONVERGED);
    CHECK_NEAR("delay", fit.delay_s, 0.06, 0.0, 4.0 * fit.delay_se_s);
    CHECK("delay", fit.delay_se_s > 1e-4 && fit.delay_se_s < 0.01);
    CHECK_NEAR("noise", fit.force_sd[0], 3.4, 0.0, 0.7);
    CHECK("white", report.white);
    for (size_t i = 0; i < P; i++) {
        CHECK_NEAR(usv3_model.parameters[i].symbol, fit.estimate.value[i], truth[i], 0.0,
                   4.0 * fit.estimate.se_white[i]);
    }
}

/* The same motion: where nothing disturbs it output error is chosen, else prediction error. */
static void test_auto(void)
{
    const struct dynamics_options options = dynamics_options_defaults();
    struct dynamics_fit fit;
    struct data_set set = draw_set(0.0, false);
    CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(&usv3_model, &set, &options, &fit), STATUS_OK);
    CHECK_INT("calm", fit.method, DYNAMICS_OUTPUT_ERROR);
    CHECK_INT("calm", fit.estimate.verdict, ESTIMATE_PASS);
    CHECK_INT("calm", fit.estimate.rank, P);
    CHECK("calm", fit.estimate.reason_count == 1);
    set = draw_set(0.0, true);
    CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(&usv3_model, &set, &options, &fit), STATUS_OK);
    CHECK_INT("waves", fit.method, DYNAMICS_PEM);
    for (size_t i = 0; i < P; i++) {
        CHECK_NEAR(usv3_model.parameters[i].symbol, fit.estimate.value[i], truth[i], 0.0,
                   4.0 * fit.estimate.se_white[i]);
    }
}

/* Low-pass filtered velocities: innovations stay correlated, and pem is not chosen. */
static void test_filtered(void)
{
    enum { ROWS = 2000 };
    static double t[ROWS], nu[ROWS], tau[ROWS];
    const double theta[] = {0.5, 1.0, 0.0};
    const struct dynamics_options options = dynamics_options_defaults();
    struct random_source draws = {.state = 1};
    struct dynamics_fit fit;
    double w[MODEL_AXES_MAX] = {0.0};
    double filtered = 0.0;
    struct data_set set = {.axes = 1, .n = ROWS, .dt_s = 0.05, .t_s = t, .run_count = 1};
    for (size_t k = 0; k < ROWS; k++) {
        t[k] = 0.05 * (double)k;
        tau[k] = k % 40 == 0 ? random_between(&draws, -1.0, 1.0) : tau[k - 1];
        filtered += 0.6 * (w[0] + 0.02 * random_normal(&draws) - filtered);
        nu[k] = filtered;
        model_step(&first_order_model, theta, w, NULL, &tau[k], NULL, 0.05);
    }
    set.run_start[1] = ROWS;
    set.nu[0] = nu;
    set.tau[0] = tau;
    set.noise_sd[0] = 0.02;
    CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(&first_order_model, &set, &options, &fit),
                          STATUS_OK);
    CHECK_INT("filtered", fit.method, DYNAMICS_OUTPUT_ERROR);
}

static void test_arguments(void)
{
    struct data_set set = draw_set(0.0, false);
    struct search_options options;
    struct search_report report;
    struct dynamics_fit fit;
    search_defaults(&usv3_model, &options);
    const double light[P] = {1e-9, 1e-9, 1e-9};
    CU_ASSERT_EQUAL_FATAL(
        prediction_error_fit(&usv3_model, &set, light, &options, &fit, &report), STATUS_OK);
    CHECK_INT("diverged", fit.stop, DYNAMICS_STOP_DIVERGED);
    CHECK_INT("diverged", fit.estimate.verdict, ESTIMATE_FAIL);
    for (size_t n = 2; n < 12; n++) {
        set.n = n;
        set.run_start[1] = n;
        CHECK_INT("short",
                  prediction_error_fit(&usv3_model, &set, truth, &options, &fit, &report),
                  STATUS_OK);
        CHECK("short", fit.estimate.verdict != ESTIMATE_PASS);
    }
    set.n = 1;
    set.run_start[1] = 1;
    CHECK_INT("one", prediction_error_fit(&usv3_model, &set, truth, &options, &fit, &report),
              STATUS_E_EMPTY);
}

static void test_no_memory(void)
{
    struct data_set set = draw_set(0.0, false);
    struct search_options options;
    struct search_report report;
    enum status st = STATUS_E_NOMEM;
    long n = 0;
    search_defaults(&usv3_model, &options);
    set.n = 60;
    set.run_start[1] = 60;
    for (; n < 100 && st == STATUS_E_NOMEM; n++) {
        struct dynamics_fit fit;
        memset(&fit, 0x5a, sizeof fit);
        const struct dynamics_fit before = fit;
        allocations_left = n;
        st = prediction_error_fit(&usv3_model, &set, truth, &options, &fit, &report);
        allocations_left = -1;
        if (st != STATUS_OK) {
            CHECK_INT("no memory", st, STATUS_E_NOMEM);
            CHECK("no memory", memcmp(&fit, &before, sizeof fit) == 0);
        }
    }
    CHECK_INT("no memory", st, STATUS_OK);
    CHECK("no memory", n > 9);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    truth = usv3_vessel_find("wamv")->theta;
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("prediction error", NULL, NULL);
    CU_add_test(suite, "bend", test_bend);
    CU_add_test(suite, "two runs", test_two_runs);
    CU_add_test(suite, "auto", test_auto);
    CU_add_test(suite, "filtered", test_filtered);
    CU_add_test(suite, "arguments", test_arguments);
    CU_add_test(suite, "no memory", test_no_memory);
    return check_run();
}
