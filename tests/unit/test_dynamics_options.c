/* needs: a minute */
/* short: TANDEM_WITHOUT=outliers */
/* Further options of an estimator: a ridge, and robustness to outliers. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "identification/dynamics/dynamics_estimate.h"
#include "identification/model/models.h"
#include "tests/support/usv_truth.h"

enum { P = USV3_PARAMETERS, N = USV3_AXES };

static struct usv_record record;
static const double *truth;

static struct data_set read_set(void)
{
    CU_ASSERT_EQUAL_FATAL(usv_read("W", &record), USV_SAMPLES);
    struct data_set set = usv_set(&record);
    for (size_t i = 0; i < N; i++) {
        set.noise_sd[i] = usv_noise_sd[i];
    }
    return set;
}

static bool has_reason(const struct dynamics_fit *fit, const char *what)
{
    for (size_t i = 0; i < fit->estimate.reason_count; i++) {
        if (strstr(fit->estimate.reasons[i], what)) {
            return true;
        }
    }
    return false;
}

static struct dynamics_fit fit_by(const struct data_set *set, enum dynamics_method method,
                                  const struct dynamics_options *options)
{
    struct dynamics_fit fit;
    CU_ASSERT_EQUAL_FATAL(dynamics_estimate(&usv3_model, set, method, options, &fit),
                          STATUS_OK);
    return fit;
}

/* A ridge shrinks towards zero, little if it is small, and determines free parameters. */
static void test_ridge(void)
{
    struct data_set set = read_set();
    struct dynamics_options options = dynamics_options_defaults();
    for (int method = DYNAMICS_OLS_CENTRAL; method <= DYNAMICS_WEAK_IV; method++) {
        const enum dynamics_method m = (enum dynamics_method)method;
        options.ridge = 0.0;
        const struct dynamics_fit none = fit_by(&set, m, &options);
        options.ridge = 1e-5;
        const struct dynamics_fit small = fit_by(&set, m, &options);
        options.ridge = 1.0;
        const struct dynamics_fit large = fit_by(&set, m, &options);
        const char *name = dynamics_method_name(m);
        CHECK(name, !has_reason(&none, "ridge") && has_reason(&small, "ridge of 1e-05"));
        CHECK_INT(name, small.estimate.verdict, ESTIMATE_MARGINAL);
        CHECK_NEAR(name, small.ridge, 1e-5, 0.0, 0.0);
        double size_none = 0.0;
        double size_large = 0.0;
        for (size_t i = 0; i < P; i++) {
            CHECK_NEAR(name, small.estimate.value[i], none.estimate.value[i], 0.02, 0.0);
            size_none += pow(none.estimate.value[i] * none.regressor_rms[i], 2.0);
            size_large += pow(large.estimate.value[i] * none.regressor_rms[i], 2.0);
        }
        CHECK(name, size_large < 0.7 * size_none);
        CHECK(name, small.estimate.condition < none.estimate.condition * (1.0 + 1e-9));
    }
    /* Sway and yaw that never were. */
    for (size_t k = 0; k < USV_SAMPLES; k++) {
        record.measured[1][k] = record.measured[2][k] = 0.0;
        record.tau[1][k] = record.tau[2][k] = 0.0;
    }
    options.ridge = 0.0;
    const struct dynamics_fit open = fit_by(&set, DYNAMICS_WEAK, &options);
    options.ridge = 1e-4;
    const struct dynamics_fit given = fit_by(&set, DYNAMICS_WEAK, &options);
    CHECK("open", isnan(open.estimate.value[1]) && open.estimate.null_count > 0);
    CHECK("words", has_reason(&open, "the data do not determine: sway mass"));
    CHECK("names", strncmp(open.estimate.nulls[0], "sway_mass_kg", 12) == 0);
    CHECK_NEAR("kept", given.estimate.value[0], open.estimate.value[0], 0.01, 0.0);
}

static void test_ridge_range(void)
{
    const struct data_set set = read_set();
    static const double bad[] = {-1e-9, HUGE_VAL, NAN};
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct dynamics_options options = dynamics_options_defaults();
        struct dynamics_fit fit;
        options.ridge = bad[i];
        CHECK_INT("range", dynamics_estimate(&usv3_model, &set, DYNAMICS_WEAK, &options, &fit),
                  STATUS_E_ARG);
        CHECK_INT("range", dynamics_estimate_auto(&usv3_model, &set, &options, &fit),
                  STATUS_E_ARG);
    }
    /* Search by simulation does not use it, and says so. */
    struct dynamics_options options = dynamics_options_defaults();
    const struct dynamics_fit none = fit_by(&set, DYNAMICS_OUTPUT_ERROR, &options);
    options.ridge = 0.01;
    const struct dynamics_fit fit = fit_by(&set, DYNAMICS_OUTPUT_ERROR, &options);
    CHECK("simulated", has_reason(&fit, "does without"));
    for (size_t i = 0; i < P; i++) {
        CHECK_NEAR("simulated", fit.estimate.value[i], none.estimate.value[i], 0.0,
                   0.02 * none.estimate.se_white[i]);
    }
}

/* The noise from prediction error is part of the fit, and so are robust errors, which equal the
 * ordinary ones if innovations are white. */
static void test_noise(void)
{
    static double force[USV_SAMPLES][N];
    uint64_t state = 23;
    struct data_set set = read_set();
    for (size_t k = 1; k < USV_SAMPLES; k++) {
        for (size_t i = 0; i < N; i++) {
            force[k][i] = 0.9 * force[k - 1][i] + 1.5 * usv_normal(&state);
        }
    }
    usv_drive(&record, truth, 0.0, force);
    usv_measure(&record, &state);
    const struct dynamics_options options = dynamics_options_defaults();
    const struct dynamics_fit fit = fit_by(&set, DYNAMICS_PEM, &options);
    CHECK_INT("noise", fit.method, DYNAMICS_PEM);
    for (size_t i = 0; i < N; i++) {
        CHECK_NEAR("velocity", fit.velocity_sd[i], usv_noise_sd[i], 0.1, 0.0);
        CHECK_NEAR("force", fit.force_sd[i], 3.44, 0.35, 0.0);
    }
    CHECK_NEAR("time", fit.force_time_s, 0.95, 0.5, 0.0);
    for (size_t i = 0; i < P; i++) {
        CHECK_NEAR("robust", fit.se_hac[i], fit.estimate.se_white[i], 0.25, 0.0);
    }
    const struct dynamics_fit other = fit_by(&set, DYNAMICS_OUTPUT_ERROR, &options);
    CHECK("unknown", isnan(other.force_time_s) && isnan(other.force_sd[0]));
}

/* One sample in twenty of each velocity is a wrong number: found, and the estimate stays. */
static void test_outliers(void)
{
    static const enum dynamics_method methods[] = {DYNAMICS_WEAK_IV, DYNAMICS_OUTPUT_ERROR,
                                                   DYNAMICS_PEM};
    struct data_set set = read_set();
    struct dynamics_options options = dynamics_options_defaults();
    struct dynamics_fit clean[COUNT(methods)];
    uint64_t state = 31;
    size_t spoilt[N] = {0};
    for (size_t m = 0; m < COUNT(methods); m++) {
        clean[m] = fit_by(&set, methods[m], &options);
        CHECK("not asked", !clean[m].robust && clean[m].outliers[0] == 0);
    }
    for (size_t k = 0; k < USV_SAMPLES; k++) {
        for (size_t i = 0; i < N; i++) {
            if (usv_uniform(&state) < 0.05) {
                record.measured[i][k] += (20.0 + 80.0 * usv_uniform(&state)) * usv_noise_sd[i] *
                                         (usv_uniform(&state) < 0.5 ? -1.0 : 1.0);
                spoilt[i]++;
            }
        }
    }
    const struct dynamics_fit misled = fit_by(&set, DYNAMICS_WEAK_IV, &options);
    options.robust = true;
    double worst_misled = 0.0;
    double wider = 0.0; /* of output error, on average */
    for (size_t m = 0; m < COUNT(methods); m++) {
        const struct dynamics_fit fit = fit_by(&set, methods[m], &options);
        const char *name = dynamics_method_name(methods[m]);
        CHECK_INT(name, fit.method, methods[m]);
        CHECK(name, fit.robust && has_reason(&fit, "were replaced"));
        for (size_t i = 0; i < N; i++) {
            CHECK_NEAR(name, (double)fit.outliers[i], (double)spoilt[i], 0.1, 0.0);
        }
        for (size_t i = 0; i < P; i++) {
            const double se = sqrt(clean[m].estimate.covariance[i][i]);
            CHECK_NEAR(name, fit.estimate.value[i], clean[m].estimate.value[i], 0.0, 3.0 * se);
            worst_misled = fmax(
                worst_misled, fabs(misled.estimate.value[i] - clean[0].estimate.value[i]) / se);
            wider += methods[m] == DYNAMICS_OUTPUT_ERROR
                         ? fit.estimate.se_white[i] / clean[m].estimate.se_white[i] / P
                         : 0.0;
        }
    }
    /* One sample in twenty less: 2.6 %, and a little for the biweight. */
    CHECK_NEAR("errors", wider, 1.035, 0.0, 0.02);
    CHECK("misled", worst_misled > 6.0);
}

/* More samples than a search by simulation accepts: regression with the delay from a part of
 * them. */
static void test_many_samples(void)
{
    enum { MANY = 51000 };
    static double t_s[MANY];
    static double nu[MANY];
    static double tau[MANY];
    const double a = 0.26;
    const double b = 1.05;
    const double retained = exp(-0.05 * b / a);
    uint64_t state = 7;
    size_t spoilt = 0;
    double y = 0.0;
    for (size_t k = 0; k < MANY; k++) {
        const bool wrong = usv_uniform(&state) < 0.02;
        t_s[k] = 0.05 * (double)k;
        tau[k] = k % 20 == 0 ? 2.0 * usv_uniform(&state) - 1.0 : tau[k - 1];
        nu[k] = y + 0.02 * usv_normal(&state) + (wrong ? 2.0 * usv_uniform(&state) + 0.5 : 0.0);
        spoilt += wrong ? 1 : 0;
        y = retained * y + (1.0 - retained) * tau[k] / b;
    }
    struct data_set set = {.axes = 1,
                           .n = MANY,
                           .dt_s = 0.05,
                           .t_s = t_s,
                           .nu = {nu},
                           .tau = {tau},
                           .run_count = 1,
                           .run_start = {0, MANY},
                           .noise_sd = {0.02}};
    struct dynamics_options options = dynamics_options_defaults();
    struct dynamics_fit fit;
    options.robust = true;
    CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(&first_order_model, &set, &options, &fit),
                          STATUS_OK);
    CHECK_INT("regressed", fit.method, DYNAMICS_WEAK_IV);
    CHECK_NEAR("found", (double)fit.outliers[0], (double)spoilt, 0.005, 0.0);
    CHECK_NEAR("lag", fit.estimate.value[0], a, 0.0, 4.0 * sqrt(fit.estimate.covariance[0][0]));
    CHECK_NEAR("drag", fit.estimate.value[1], b, 0.0,
               4.0 * sqrt(fit.estimate.covariance[1][1]));
    CHECK_NEAR("lag", fit.estimate.value[0], a, 0.01, 0.0);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    truth = usv3_vessel_find("wamv")->theta;
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("dynamics_options", NULL, NULL);
    CU_add_test(suite, "ridge", test_ridge);
    CU_add_test(suite, "ridge range", test_ridge_range);
    CU_add_test(suite, "noise", test_noise);
    CU_add_test(suite, "outliers", test_outliers);
    CU_add_test(suite, "many samples", test_many_samples);
    return check_run();
}
