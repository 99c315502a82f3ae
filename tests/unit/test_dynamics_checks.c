/* short: TANDEM_WITHOUT=causes */
/* Checks of a fit: its own recording, other windows, the parameters in use, and plausible
 * speeds and times of a robot.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <CUnit/Basic.h>
#include <gsl/gsl_errno.h>

#include "identification/dynamics/dynamics_check.h"
#include "identification/dynamics/dynamics_compare.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/dynamics/dynamics_sensitivity.h"
#include "identification/dynamics/dynamics_verdict.h"
#include "identification/model/models.h"
#include "identification/numeric/residual_test.h"
#include "tests/support/check.h"
#include "tests/support/gsl_memory.h"
#include "tests/support/usv_truth.h"
#include "twin/report/fit_report.h"

static const char *const names[] = {"W", "IB", "IA"};
static struct usv_record records[3];

static struct dynamics_fit fit_of(const struct data_set *set, enum dynamics_method method)
{
    const struct dynamics_options options = dynamics_options_defaults();
    struct dynamics_fit fit;
    CU_ASSERT_EQUAL_FATAL(dynamics_estimate(&usv3_model, set, method, &options, &fit),
                          STATUS_OK);
    return fit;
}

static struct dynamics_sensitivity sensitivity_of(const struct data_set *set,
                                                  enum dynamics_method method)
{
    const struct dynamics_options options = dynamics_options_defaults();
    struct dynamics_sensitivity found;
    CU_ASSERT_EQUAL_FATAL(
        dynamics_sensitivity_run(&usv3_model, set, method, &options, NAN, &found), STATUS_OK);
    return found;
}

static bool has_reason(const struct dynamics_fit *fit, const char *words)
{
    bool published = false;
    for (size_t i = 0; i < fit->estimate.reason_count; i++) {
        published = published || strstr(fit->estimate.reasons[i], words);
    }
    return published;
}

/* The weak form gives the same with half and double the window; derivatives do not, because
 * their bias depends on it. */
static void test_sensitivity(void)
{
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct data_set set = usv_set(&records[i]);
        struct dynamics_fit fit = fit_of(&set, DYNAMICS_WEAK_IV);
        struct dynamics_sensitivity found = sensitivity_of(&set, DYNAMICS_PEM);
        CHECK_INT(names[i], found.known, true);
        CHECK_INT(names[i], found.method, DYNAMICS_WEAK_IV);
        CHECK_INT(names[i], found.n, USV_SAMPLES);
        CHECK_NEAR(names[i], found.other_s[SENSITIVITY_DOUBLE], 2.0 * found.window_s, 0, 1e-12);
        for (size_t k = 0; k < 9; k++) {
            CHECK_INT(names[i], found.moved[k], false);
            CHECK_INT(names[i], fabs(found.shift[SENSITIVITY_HALF][k]) < 2.0, true);
            CHECK_INT(names[i], fabs(found.shift[SENSITIVITY_DOUBLE][k]) > 0.0, true);
        }
        dynamics_sensitivity_judge(&fit, &usv3_model, &found);
        CHECK_INT(names[i], has_reason(&fit, "lean on the filter"), false);

        fit = fit_of(&set, DYNAMICS_OLS_SG);
        found = sensitivity_of(&set, DYNAMICS_OLS_SG);
        CHECK_INT(names[i], found.method, DYNAMICS_OLS_SG);
        CHECK_INT(names[i], found.moved[0] && found.moved[1] && found.moved[2], true);
        dynamics_sensitivity_judge(&fit, &usv3_model, &found);
        CHECK_INT(names[i], has_reason(&fit, "estimates lean on the filter: through half of"),
                  true);
    }
}

/* A channel that follows its command 60 ms late; a new command every second. */
static struct data_set drive_channel(double t_s[USV_SAMPLES], double command[USV_SAMPLES],
                                     double velocity[USV_SAMPLES])
{
    enum { FINE = 20 };
    static const double theta[] = {0.26, 1.05};
    const double dt_s = 0.05;
    const double delay_s = 0.06;
    uint64_t seed = 11;
    double nu = 0.0;
    double pose = 0.0;
    for (size_t k = 0; k < USV_SAMPLES; k++) {
        t_s[k] = dt_s * (double)k;
        command[k] = k % 20 == 0 ? 2.0 * usv_uniform(&seed) - 1.0 : command[k - 1];
        velocity[k] = nu + 0.02 * usv_normal(&seed);
        for (size_t f = 0; f < FINE; f++) {
            const double late_s = dt_s * ((double)k + ((double)f + 0.5) / FINE) - delay_s;
            const double tau = late_s < 0.0 ? 0.0 : command[(size_t)(late_s / dt_s)];
            model_step(&first_order_model, theta, &nu, &pose, &tau, NULL, dt_s / FINE);
        }
    }
    return (struct data_set){.axes = 1,
                             .n = USV_SAMPLES,
                             .dt_s = dt_s,
                             .t_s = t_s,
                             .nu = {velocity},
                             .tau = {command},
                             .run_count = 1,
                             .run_start = {0, USV_SAMPLES},
                             .noise_sd = {0.02}};
}

/* A delay makes the weak form depend on its window, unless the delay is given. */
static void test_sensitivity_late(void)
{
    static double t_s[USV_SAMPLES];
    static double command[USV_SAMPLES];
    static double velocity[USV_SAMPLES];
    static const double reported_s[] = {0.0, 0.06};
    const struct data_set set = drive_channel(t_s, command, velocity);
    const struct dynamics_options options = dynamics_options_defaults();
    struct dynamics_sensitivity found;
    double most[2] = {0.0};
    for (size_t i = 0; i < COUNT(reported_s); i++) {
        CU_ASSERT_EQUAL_FATAL(dynamics_sensitivity_run(&first_order_model, &set,
                                                       DYNAMICS_WEAK_IV, &options,
                                                       reported_s[i], &found),
                              STATUS_OK);
        for (size_t k = 0; k < 2; k++) {
            most[i] = fmax(most[i], fabs(found.shift[SENSITIVITY_HALF][k]));
        }
        CHECK_INT("efforts are as they were", set.tau[0] == command, true);
    }
    CHECK_INT("not reported", most[0] > 3.0, true);
    CHECK_INT("told", most[1] < 2.0, true);
    CHECK_INT("told", found.moved[0] || found.moved[1], false);
    allocations_left = 0;
    CHECK_INT("memory",
              dynamics_sensitivity_run(&first_order_model, &set, DYNAMICS_WEAK_IV, &options,
                                       0.1, &found),
              STATUS_E_NOMEM);
    allocations_left = -1;
}

static bool refuse_second(void *context, enum dynamics_method stage, size_t fit)
{
    size_t *asked = context;
    (*asked)++;
    return stage == DYNAMICS_WEAK && fit < 1;
}

static void test_sensitivity_unknown(void)
{
    const struct data_set set = usv_set(&records[0]);
    struct dynamics_options options = dynamics_options_defaults();
    size_t asked = 0;
    struct dynamics_sensitivity found = sensitivity_of(&set, DYNAMICS_OLS_CENTRAL);
    CHECK_INT("no window", found.known, false);
    options.go_on = refuse_second;
    options.context = &asked;
    CU_ASSERT_EQUAL(
        dynamics_sensitivity_run(&usv3_model, &set, DYNAMICS_WEAK, &options, 0.0, &found),
        STATUS_OK);
    CHECK_INT("cancelled", found.known, false);
    CHECK_INT("cancelled", asked, 2);
    allocations_left = 0;
    options.go_on = NULL;
    CHECK_INT("memory",
              dynamics_sensitivity_run(&usv3_model, &set, DYNAMICS_WEAK, &options, 0.0, &found),
              STATUS_E_NOMEM);
    allocations_left = -1;
}

/* A delay of 60 ms in the fit and none in the set in use; a mass 5 standard errors off. */
static void test_compare(void)
{
    const struct data_set set = usv_set(&records[0]);
    const struct dynamics_fit fit = fit_of(&set, DYNAMICS_OUTPUT_ERROR);
    struct reference_values current;
    struct dynamics_comparison found;
    reference_start(&current);
    CU_ASSERT_EQUAL_FATAL(dynamics_compare(&usv3_model, &fit, &set, &current, &found),
                          STATUS_OK);
    CHECK_INT("nothing given", found.simulated, true);
    CHECK_INT("nothing given", isnan(found.values.z[0]) && isnan(found.values.z[9]), true);
    CHECK_NEAR("nothing given", found.effect_rmse[0], 0.0, 0, 0);
    CHECK_NEAR("noise is left", found.fit_rmse[0], 0.03, 0.1, 0);

    const double se = sqrt(fit.estimate.covariance[0][0]);
    current.value[0] = fit.estimate.value[0] - 5.0 * se;
    current.value[1] = fit.estimate.value[1] + 4.0 * sqrt(fit.estimate.covariance[1][1]);
    current.se[1] = sqrt(3.0 * fit.estimate.covariance[1][1]);
    current.delay_s = fit.delay_s + 0.1;
    CU_ASSERT_EQUAL_FATAL(dynamics_compare(&usv3_model, &fit, &set, &current, &found),
                          STATUS_OK);
    CHECK_NEAR("exact", found.values.z[0], 5.0, 1e-9, 0);
    CHECK_NEAR("with an error of its own", found.values.z[1], -2.0, 1e-9, 0);
    CHECK_NEAR("delay", found.values.z[9], -0.1 / fit.delay_se_s, 1e-9, 0);
    CHECK_INT("effect", found.effect_rmse[0] > 0.005, true);
    CHECK_INT("effect", found.reference_rmse[0] > found.fit_rmse[0], true);

    CHECK_INT("outside", found.values.contradicted[0] && found.values.contradicted[9], true);
    CHECK_INT("with an error of its own", found.values.contradicted[1], true);
    CHECK_INT("all", found.values.contradicts && found.values.df > 2.5, true);

    /* The given interval equals the printed one, on both sides; for one parameter, all together
     * are that one. */
    const double ends[] = {fit.estimate.lo[0], fit.estimate.hi[0]};
    for (size_t i = 0; i < 4; i++) {
        const double to_middle = i < 2 ? 1e-6 : -1e-6;
        reference_start(&current);
        current.value[0] = ends[i % 2] + to_middle * (fit.estimate.value[0] - ends[i % 2]);
        CU_ASSERT_EQUAL_FATAL(dynamics_compare(&usv3_model, &fit, &set, &current, &found),
                              STATUS_OK);
        CHECK_INT("at the end", found.values.contradicted[0], i >= 2);
        CHECK_INT("at the end", found.values.contradicts, i >= 2);
        struct dynamics_fit reported = fit;
        dynamics_compare_judge(&reported, &usv3_model, &current, &found);
        CHECK_INT("told", has_reason(&reported, "contradicts the parameters in use: surge_"),
                  i >= 2);
        CHECK_INT("a note", reported.estimate.verdict, fit.estimate.verdict);
    }

    current.value[0] = -1.0;
    CU_ASSERT_EQUAL_FATAL(dynamics_compare(&usv3_model, &fit, &set, &current, &found),
                          STATUS_OK);
    CHECK_INT("no such vessel", found.simulated, false);
    for (long left = 0; left < 2; left++) {
        allocations_left = left;
        CHECK_INT("memory", dynamics_compare(&usv3_model, &fit, &set, &current, &found),
                  STATUS_E_NOMEM);
    }
    allocations_left = -1;
}

/* One step ahead and simulated are distinguished, with a delay as without. */
static void test_one_step(void)
{
    static struct usv_record late;
    static const double delays[] = {0.0, 0.06, 0.35};
    uint64_t seed = 7;
    late = records[0];
    for (size_t i = 0; i < COUNT(delays); i++) {
        const struct data_set set = usv_set(&late);
        struct dynamics_check check;
        char row[32];
        (void)snprintf(row, sizeof row, "%g s", delays[i]);
        usv_drive(&late, usv3_vessel_find("wamv")->theta, delays[i], NULL);
        usv_measure(&late, &seed);
        const struct dynamics_fit fit = fit_of(&set, DYNAMICS_OUTPUT_ERROR);
        CHECK_NEAR(row, fit.delay_s, delays[i], 0, 0.005);
        CU_ASSERT_EQUAL_FATAL(dynamics_check_run(&usv3_model, &fit, &set, &check), STATUS_OK);
        CHECK_INT(row, check.simulated, true);
        for (size_t a = 0; a < 3; a++) {
            const struct dynamics_axis_check *axis = &check.axis[a];
            CHECK_NEAR(row, axis->run.rmse, usv_noise_sd[a], 0.06, 0);
            /* Noise of this sample, plus a part of the previous one. */
            CHECK_NEAR(row, axis->one_step.rmse, sqrt(2.0) * usv_noise_sd[a], 0.12, 0);
            const size_t lost = (size_t)ceil(delays[i] / 0.1 + 0.01) + 1;
            CHECK_INT(row, axis->one_step.n + lost >= USV_SAMPLES, true);
            CHECK_INT(row, axis->one_step.n < USV_SAMPLES, true);
            CHECK_NEAR(row, axis->one_step.correlation, -0.5, 0, 0.1);
        }
    }
}

/* The same numbers in other units, and the first reason. */
static void test_units(void)
{
    static const struct {
        const char *row;
        double u, r, t; /* numbers as they are, times this */
        enum estimate_verdict verdict;
        const char *first;
    } rows[] = {
        {"SI", 1, 1, 1, ESTIMATE_PASS, ""},
        {"deg/s", 1, 57.29577951, 1, ESTIMATE_FAIL, "is it in deg/s"},
        {"cm/s", 100, 1, 1, ESTIMATE_FAIL, "is it in cm/s"},
        {"mm/s", 1000, 1, 1, ESTIMATE_FAIL, "is it in mm/s"},
        {"ms", 1, 1, 1000, ESTIMATE_FAIL, "are the times in ms"},
        {"minutes", 1, 1, 1 / 60.0, ESTIMATE_FAIL, "are the times in minutes"},
        {"a wild sample", -1, 1, 1, ESTIMATE_FAIL, "wild samples"},
    };
    const struct model_limits limits = {
        .nu_max = {30.0, 30.0, 8.0}, .motion_s_min = 0.2, .motion_s_max = 300.0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct usv_record other;
        struct dynamics_check check = {.motion_s = 2.4 * rows[i].t};
        struct data_summary summary = {
            .rows = 1500, .used = 1500, .runs = 1, .duration_s = 150.0 * rows[i].t};
        struct data_set set = usv_set(&other);
        other = records[0];
        for (size_t k = 0; k < USV_SAMPLES; k++) {
            other.t_s[k] *= rows[i].t;
            other.measured[0][k] *= fabs(rows[i].u);
            other.measured[2][k] *= rows[i].r;
        }
        set.dt_s *= rows[i].t;
        struct dynamics_fit fit;
        dynamics_fit_start(&fit, &usv3_model, DYNAMICS_WEAK, false);
        estimate_reason(&fit.estimate, REASON_METHOD_CHOSEN, ESTIMATE_PASS,
                        "what else there is");
        for (size_t a = 0; a < 3; a++) {
            double most = 0.0;
            for (size_t k = 0; k < USV_SAMPLES; k++) {
                most = fmax(most, fabs(set.nu[a][k]));
            }
            summary.nu[a] = (struct data_channel){
                .min = -most, .max = most, .sd = 0.5 * most, .signal_ratio = 50.0};
        }
        if (rows[i].u < 0.0) {
            summary.nu[0].max = 1000.0;
        }
        struct dynamics_check measured;
        struct dynamics_fit unknown;
        dynamics_fit_start(&unknown, &usv3_model, DYNAMICS_WEAK, false);
        CU_ASSERT_EQUAL_FATAL(dynamics_check_run(&usv3_model, &unknown, &set, &measured),
                              STATUS_OK);
        CHECK_NEAR(rows[i].row, measured.motion_s, check.motion_s, 0.6, 0);
        check.simulated = true;
        for (size_t a = 0; a < 3; a++) {
            check.axis[a].run.r2 = 0.99;
        }
        dynamics_check_judge(&fit, &usv3_model, &summary, &limits, &check, NULL);
        CHECK_INT(rows[i].row, fit.estimate.verdict, rows[i].verdict);
        CHECK_INT(rows[i].row, strstr(fit.estimate.reasons[0], rows[i].first) != NULL, true);
        CHECK_INT(rows[i].row, fit.estimate.reason_count, rows[i].first[0] ? 2 : 1);
        CHECK_INT(rows[i].row, fit.estimate.advice_count, rows[i].first[0] ? 1 : 0);
    }
}

/* Few rows do not determine the unit of time. */
static void test_unit_of_few(void)
{
    const struct model_limits limits = {
        .nu_max = {30.0, 30.0, 8.0}, .motion_s_min = 0.2, .motion_s_max = 300.0};
    for (size_t n = 29; n <= 30; n++) {
        for (int slow = 0; slow < 2; slow++) {
            const struct data_summary summary = {
                .rows = n, .used = n, .runs = 1, .duration_s = 3.0};
            const struct dynamics_check own = {.motion_s = slow ? 1000.0 : 0.04,
                                               .simulated = true};
            struct dynamics_fit fit;
            dynamics_fit_start(&fit, &usv3_model, DYNAMICS_WEAK, false);
            dynamics_check_judge(&fit, &usv3_model, &summary, &limits, &own, NULL);
            bool guessed = false;
            for (size_t i = 0; i < fit.estimate.reason_count; i++) {
                guessed = guessed || strstr(fit.estimate.reasons[i], "are the times in");
            }
            CHECK_INT("guessed", guessed, n >= 30);
        }
    }
}

/* Nor do runs that are over before a robot has changed its velocity. */
static void test_unit_of_short_runs(void)
{
    const struct model_limits limits = {
        .nu_max = {30.0, 30.0, 8.0}, .motion_s_min = 0.2, .motion_s_max = 300.0};
    for (size_t runs = 1; runs <= 15; runs += 14) {
        const struct data_summary summary = {
            .rows = 135, .used = 135, .runs = runs, .duration_s = 12.0};
        const struct dynamics_check own = {.motion_s = 0.15, .simulated = true};
        struct dynamics_fit fit;
        dynamics_fit_start(&fit, &usv3_model, DYNAMICS_WEAK, false);
        dynamics_check_judge(&fit, &usv3_model, &summary, &limits, &own, NULL);
        CHECK_INT("guessed",
                  strstr(fit.estimate.reasons[0], "are the times in minutes") != NULL,
                  runs == 1);
    }
}

/* A column without information is named, and its consequences come after it. */
static void test_dead_columns(void)
{
    static double level[USV_SAMPLES];
    static const struct {
        const char *row;
        size_t nu, tau; /* axes of the first kind that are level */
        double value;
        const char *reason, *advice;
        bool first;
    } rows[] = {
        {"no effort", 0, 3, 0.0, "no effort acts in this recording", "record the efforts",
         true},
        {"no sway thrust", 0, 0, 0.0, "", "", false},
        {"surge stuck", 1, 0, 0.5, "u_mps is 0.5 in every row",
         "whether the sensor of the surge speed was on", false},
        {"nothing moves", 3, 0, 0.0, "nothing changes its speed",
         "whether the sensor of the surge speed was on", true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct data_set set = usv_set(&records[0]);
        for (size_t k = 0; k < USV_SAMPLES; k++) {
            level[k] = rows[i].value;
        }
        for (size_t a = 0; a < 3; a++) {
            set.nu[a] = a < rows[i].nu ? level : set.nu[a];
            set.tau[a] = a < rows[i].tau ? level : set.tau[a];
        }
        const struct dynamics_fit fit = fit_of(&set, DYNAMICS_WEAK);
        bool advised = false;
        for (size_t k = 0; k < fit.estimate.advice_count; k++) {
            advised = advised || strstr(fit.estimate.advice[k], rows[i].advice);
            CHECK(rows[i].row,
                  rows[i].tau < 3 || !strstr(fit.estimate.advice[k], "never pushed"));
        }
        CHECK(rows[i].row, has_reason(&fit, rows[i].reason) || !rows[i].reason[0]);
        CHECK(rows[i].row, advised || !rows[i].advice[0]);
        CHECK(rows[i].row, has_reason(&fit, "in every row") == (rows[i].nu > 0));
        CHECK(rows[i].row, has_reason(&fit, "no effort acts") == (rows[i].tau == 3));
        CHECK_INT(rows[i].row, fit.estimate.verdict == ESTIMATE_FAIL, rows[i].reason[0] != 0);
        CHECK(rows[i].row,
              !rows[i].first || strncmp(fit.estimate.reasons[0], rows[i].reason, 20) == 0);
    }
}

/* A simulation worse than the mean is not one that explains nothing. */
static void test_worse_than_mean(void)
{
    static const struct model_limits none;
    const struct data_summary summary = {.rows = 1000, .used = 1000, .runs = 1};
    struct dynamics_check own = {.simulated = true, .motion_s = 0.4};
    struct dynamics_fit fit;
    own.axis[0].run.r2 = -7.2;
    dynamics_fit_start(&fit, &first_order_model, DYNAMICS_OUTPUT_ERROR, false);
    dynamics_check_judge(&fit, &first_order_model, &summary, &none, &own, NULL);
    CHECK_INT("worse", fit.estimate.verdict, ESTIMATE_FAIL);
    CHECK("worse", has_reason(&fit, "worse than its mean does (R2 -7.2)"));
    CHECK("worse", !has_reason(&fit, "0 %"));
}

/* Times 0, 1, 2 are implausible, unless the user allows them. */
static void test_row_numbers(void)
{
    static const struct model_limits none;
    const struct data_summary summary = {
        .rows = 1000, .used = 1000, .runs = 1, .counted = true};
    struct dynamics_check own = {.simulated = true, .motion_s = 0.4};
    own.axis[0].run.r2 = 1.0;
    for (int doubts = 0; doubts < 2; doubts++) {
        struct dynamics_fit fit;
        dynamics_fit_start(&fit, &first_order_model, DYNAMICS_OUTPUT_ERROR, false);
        dynamics_check_judge(&fit, &first_order_model, &summary, doubts ? &none : NULL, &own,
                             NULL);
        CHECK_INT("doubted", has_reason(&fit, "row numbers"), doubts);
        CHECK_INT("verdict", fit.estimate.verdict, doubts ? ESTIMATE_MARGINAL : ESTIMATE_PASS);
    }
}

/* A damping that noise put below zero is simulated as zero; a negative one is not simulated. */
static void test_nearly_zero(void)
{
    const struct data_set set = usv_set(&records[0]);
    struct dynamics_fit fit = fit_of(&set, DYNAMICS_WEAK);
    struct dynamics_check zero;
    struct dynamics_check check;
    fit.estimate.value[8] = 0.0;
    CU_ASSERT_EQUAL_FATAL(dynamics_check_run(&usv3_model, &fit, &set, &zero), STATUS_OK);
    CHECK("zero", zero.simulated);
    fit.estimate.value[8] = -0.1;
    fit.estimate.hi[8] = 0.2;
    CU_ASSERT_EQUAL_FATAL(dynamics_check_run(&usv3_model, &fit, &set, &check), STATUS_OK);
    CHECK("nearly zero", check.simulated);
    CHECK_NEAR("nearly zero", check.axis[2].run.rmse, zero.axis[2].run.rmse, 0.0, 1e-12);
    CHECK_NEAR("nearly zero", check.axis[2].one_step.rmse, zero.axis[2].one_step.rmse, 0.0,
               1e-12);
    fit.estimate.hi[8] = -0.05;
    CU_ASSERT_EQUAL_FATAL(dynamics_check_run(&usv3_model, &fit, &set, &check), STATUS_OK);
    CHECK("negative", !check.simulated);
}

/* Wrong samples that were not rejected are reported, but not the residuals of a poor model. */
static void test_outliers_reported(void)
{
    static const struct model_limits none;
    static const struct {
        const char *row;
        size_t outliers;
        double correlation;
        bool robust, reported;
    } rows[] = {{"by chance", 4, 0.0, false, false},
                {"wrong ones", 5, 0.0, false, true},
                {"wrong ones", 500, -0.2, false, true},
                {"poor model", 50, 0.95, false, false},
                {"replaced", 500, 0.0, true, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct data_summary summary = {.rows = 1000, .used = 1000, .runs = 1};
        struct dynamics_check own = {.simulated = true, .motion_s = 0.4};
        struct dynamics_fit fit;
        own.axis[0].run.r2 = 0.99;
        own.axis[0].run.n = 1000;
        own.axis[0].run.correlation = rows[i].correlation;
        own.axis[0].outliers = rows[i].outliers;
        dynamics_fit_start(&fit, &first_order_model, DYNAMICS_OUTPUT_ERROR, false);
        fit.robust = rows[i].robust;
        dynamics_check_judge(&fit, &first_order_model, &summary, &none, &own, NULL);
        CHECK_INT(rows[i].row, has_reason(&fit, "beyond 4 standard deviations"),
                  rows[i].reported);
        CHECK_INT(rows[i].row, fit.estimate.verdict, ESTIMATE_PASS);
    }
}

/* A misfit counts by the size of the residual, unless it is negligible against the motion. */
static void test_misfit(void)
{
    static const struct model_limits none;
    static const struct {
        const char *row;
        double follows, r2, correlation;
        size_t outliers;
        enum estimate_verdict verdict;
        const char *says;
    } rows[] = {
        {"efforts", 0.35, 0.962, 0.99, 0, ESTIMATE_MARGINAL, "correlated with efforts (0.35)"},
        {"arm, samples", 0.05, 0.962, 0.99, 3273, ESTIMATE_MARGINAL, "the model does not hold"},
        {"significant", 0.1, 0.962, 0.99, 0, ESTIMATE_PASS, NULL},
        {"not felt", 0.35, 0.99999, 0.99, 3273, ESTIMATE_PASS, NULL},
        {"a few", 0.05, 0.962, 0.99, 400, ESTIMATE_PASS, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct data_summary summary = {.rows = 10264, .used = 10264, .runs = 1};
        struct dynamics_check own = {.simulated = true, .motion_s = 0.4};
        struct dynamics_fit fit;
        own.axis[0].run.n = 10264;
        own.axis[0].run.r2 = rows[i].r2;
        own.axis[0].run.correlation = rows[i].correlation;
        own.axis[0].outliers = rows[i].outliers;
        own.axis[0].input_correlation = rows[i].follows;
        own.axis[0].input_correlation_bound = 0.034;
        dynamics_fit_start(&fit, &first_order_model, DYNAMICS_WEAK, false);
        dynamics_check_judge(&fit, &first_order_model, &summary, &none, &own, NULL);
        CHECK_INT(rows[i].row, fit.estimate.verdict, rows[i].verdict);
        CHECK(rows[i].row,
              rows[i].says ? has_reason(&fit, rows[i].says) : fit.estimate.reason_count == 0);
    }
}

/* A joint that a controller held strays in simulation: efforts decide where they are explained.
 */
static void test_effort(void)
{
    static const struct model_limits none;
    static const struct {
        const char *row;
        double r2, effort_r2;
        enum estimate_verdict verdict;
        const char *says;
    } rows[] = {
        {"held by a controller", -7.2, 0.92, ESTIMATE_PASS, "92 % of the variance of effort"},
        {"not that well", -7.2, 0.78, ESTIMATE_MARGINAL, "judged by efforts"},
        {"neither", 0.38, 0.6, ESTIMATE_MARGINAL, "the model explains 38 %"},
        {"efforts unknown", -7.2, (double)NAN, ESTIMATE_FAIL, "worse than its mean"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int held_out = 0; held_out < 2; held_out++) {
            const struct data_summary summary = {.rows = 1000, .used = 1000, .runs = 1};
            struct dynamics_check fine = {
                .simulated = true, .motion_s = 0.4, .effort_r2 = 0.99};
            fine.axis[0].run.n = 1000;
            fine.axis[0].run.r2 = 0.99;
            struct dynamics_check check = fine;
            struct dynamics_fit fit;
            check.axis[0].run.r2 = rows[i].r2;
            check.axis[0].input_correlation = 0.5;
            check.effort_r2 = rows[i].effort_r2;
            dynamics_fit_start(&fit, &joint_models[0][2], DYNAMICS_WEAK, false);
            dynamics_check_judge(&fit, &joint_models[0][2], &summary, &none,
                                 held_out ? &fine : &check, held_out ? &check : NULL);
            CHECK_INT(rows[i].row, fit.estimate.verdict, rows[i].verdict);
            CHECK(rows[i].row, has_reason(&fit, rows[i].says));
        }
    }
}

static bool gives_advice(const struct dynamics_fit *fit, const char *words)
{
    bool published = false;
    for (size_t i = 0; i < fit->estimate.advice_count; i++) {
        published = published || strstr(fit->estimate.advice[i], words);
    }
    return published;
}

/* Changes of a vessel, and the expected report: the cause, and the advice. */
static void test_causes(void)
{
    static const struct model_limits none;
    static const struct {
        const char *row;
        double force[3]; /* constant */
        double rudder;   /* of the yaw moment, by the square of the surge speed */
        const char *reason, *advice;
    } rows[] = {
        {"nothing", {0}, 0, NULL, NULL},
        {"slope", {6, 0, 0}, 0, "a constant additional surge force of", "--biases"},
        {"wind", {0, -6, 0}, 0, "a constant additional sway force of -", "--biases"},
        {"thruster", {0, 0, -3}, 0, "a constant additional yaw moment of -", "--biases"},
        {"rudder", {0}, 4, "", "forces depend on more than the efforts given"},
    };
    static double force[USV_SAMPLES][3];
    static struct usv_record bent;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct data_summary summary = {
            .rows = USV_SAMPLES,
            .used = USV_SAMPLES,
            .runs = 1,
            .tau = {{.sd = 30}, {.sd = 30}, {.sd = 10}},
            .nu = {{.signal_ratio = 50}, {.signal_ratio = 50}, {.signal_ratio = 50}}};
        struct dynamics_check own;
        uint64_t seed = 5;
        bent = records[0];
        for (size_t k = 0; k < USV_SAMPLES; k++) {
            const double u = bent.truth[0][k];
            memcpy(force[k], rows[i].force, sizeof force[k]);
            force[k][2] += rows[i].rudder * (u * u - 0.2) * bent.tau[2][k];
        }
        usv_drive(&bent, usv3_vessel_find("wamv")->theta, 0.0, force);
        usv_measure(&bent, &seed);
        const struct data_set set = usv_set(&bent);
        struct dynamics_fit fit = fit_of(&set, DYNAMICS_OUTPUT_ERROR);
        CU_ASSERT_EQUAL_FATAL(dynamics_check_run(&usv3_model, &fit, &set, &own), STATUS_OK);
        dynamics_check_judge(&fit, &usv3_model, &summary, &none, &own, NULL);
        CHECK(rows[i].row, !rows[i].reason || has_reason(&fit, rows[i].reason));
        CHECK(rows[i].row, !rows[i].advice || gives_advice(&fit, rows[i].advice));
        CHECK(rows[i].row, rows[i].reason || !has_reason(&fit, "a constant "));
        CHECK(rows[i].row,
              fit.estimate.verdict == ESTIMATE_PASS || fit.estimate.advice_count > 0);
    }
}

/* Autocorrelation of residuals does not depend on their number. */
static void test_memory(void)
{
    enum { LONG = 40000 };
    static double residual[LONG];
    static const double retains[] = {0.0, 0.03, 0.3};
    for (size_t i = 0; i < COUNT(retains); i++) {
        const size_t start[] = {0, LONG};
        struct residual_summary found;
        uint64_t state = 1;
        double last = 0.0;
        for (size_t k = 0; k < LONG; k++) {
            double fresh = -6.0;
            for (int n = 0; n < 12; n++) {
                state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                fresh += (double)(state >> 11U) * 0x1p-53;
            }
            last = retains[i] * last + fresh;
            residual[k] = last;
        }
        residual_summarise(residual, residual, start, 1, &found);
        CHECK_INT("white", found.white, i == 0);
        CHECK_NEAR("memory", residual_memory(&found), retains[i], 0.1, 0.015);
        residual_summarise(residual, residual, start, 0, &found);
        CHECK("none", isnan(residual_memory(&found)));
    }
}

/* A part that begins late in the recording is summarised by its own rows alone. */
static void test_summary_of_a_part(void)
{
    enum { COUNT_ALL = 60, FIRST = 20 };
    double residual[COUNT_ALL];
    double measured[COUNT_ALL];
    for (size_t k = 0; k < COUNT_ALL; k++) {
        measured[k] = k < FIRST ? 100.0 : (double)(k % 7);
        residual[k] = k < FIRST ? -50.0 : 0.1 * (double)(k % 3) - 0.1;
    }
    struct residual_summary part;
    struct residual_summary alone;
    residual_summarise(residual, measured, (const size_t[]){FIRST, COUNT_ALL}, 1, &part);
    residual_summarise(residual + FIRST, measured + FIRST,
                       (const size_t[]){0, COUNT_ALL - FIRST}, 1, &alone);
    CHECK_INT("rows", part.n, COUNT_ALL - FIRST);
    CHECK_NEAR("rmse", part.rmse, alone.rmse, 0.0, 0.0);
    CHECK_NEAR("r2", part.r2, alone.r2, 0.0, 0.0);
    CHECK("r2 of these rows", part.r2 > 0.99 && part.r2 < 1.0);
}

/* The JSON reports parts of the recording and values that held-out data ask for. */
static void test_report_parts(void)
{
    static char text[16384];
    struct json_writer w;
    struct dynamics_fit fit;
    struct dynamics_check check = {.stability = {.tested = true,
                                                 .count = 2,
                                                 .tests = {{.cut = STABILITY_HALVES,
                                                            .parts = 2,
                                                            .statistic = 12.5,
                                                            .df = 9,
                                                            .p = 0.25,
                                                            .entry = 1,
                                                            .value = {75, 60},
                                                            .se = {0.5, NAN}},
                                                           {.cut = STABILITY_LEVEL,
                                                            .axis = 2,
                                                            .parts = 3,
                                                            .statistic = 30,
                                                            .df = 2,
                                                            .p = 1e-6,
                                                            .entry = 0,
                                                            .value = {1, 2, 4},
                                                            .se = {1, 1, 1}}},
                                                 .moved = {2, -0.5, NAN},
                                                 .moved_se = {0.25, 0.125, NAN},
                                                 .moved_statistic = 40,
                                                 .moved_df = 9,
                                                 .moved_p = 0.0625}};
    dynamics_fit_start(&fit, &usv3_model, DYNAMICS_WEAK, false);
    fit.estimate.value[0] = 60;
    fit.estimate.value[1] = 75;
    for (size_t tested = 0; tested < 2; tested++) {
        check.stability.tested = tested;
        json_write_start(&w, text, sizeof text - 1, NULL, NULL);
        json_write_object(&w, NULL);
        dynamics_report_check(&w, &usv3_model, &fit.estimate, &check);
        dynamics_report_asks(&w, &fit.estimate, &check.stability);
        json_write_close(&w);
        CU_ASSERT_FATAL(json_write_end(&w));
        text[w.used] = '\0';
        CHECK("parts",
              strstr(text, tested
                               ? "\"parts\":[{\"cut\":\"halves\",\"effort\":null,"
                                 "\"statistic\":12.5,\"df\":9,\"p\":0.25,\"parameter\":"
                                 "\"sway_mass_kg\",\"values\":[75,60],\"se\":[0.5,null]},"
                                 "{\"cut\":\"level\",\"effort\":\"tau_r_nm\",\"statistic\":30,"
                                 "\"df\":2,\"p\":0.000001,\"parameter\":\"surge_mass_kg\","
                                 "\"values\":[1,2,4],\"se\":[1,1,1]}]"
                               : "\"parts\":null"));
        CHECK("asks", strstr(text, tested ? "\"asks_for\":{\"values\":{\"surge_mass_kg\":62,"
                                            "\"sway_mass_kg\":74.5,\"yaw_inertia_kgm2\":null,"
                                          : "\"asks_for\":null"));
        CHECK("asks", !tested || strstr(text, "\"se\":{\"surge_mass_kg\":0.25,"
                                              "\"sway_mass_kg\":0.125,"));
        CHECK("asks", !tested || strstr(text, "\"statistic\":40,\"df\":9,\"p\":0.0625}"));
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    for (size_t i = 0; i < COUNT(names); i++) {
        if (usv_read(names[i], &records[i]) != USV_SAMPLES) {
            return 1;
        }
    }
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    CU_pSuite suite = CU_add_suite("dynamics_checks", NULL, NULL);
    CU_add_test(suite, "sensitivity", test_sensitivity);
    CU_add_test(suite, "sensitivity late", test_sensitivity_late);
    CU_add_test(suite, "sensitivity unknown", test_sensitivity_unknown);
    CU_add_test(suite, "compare", test_compare);
    CU_add_test(suite, "one step", test_one_step);
    CU_add_test(suite, "units", test_units);
    CU_add_test(suite, "unit of few", test_unit_of_few);
    CU_add_test(suite, "unit of short runs", test_unit_of_short_runs);
    CU_add_test(suite, "memory", test_memory);
    CU_add_test(suite, "nearly zero", test_nearly_zero);
    CU_add_test(suite, "outliers reported", test_outliers_reported);
    CU_add_test(suite, "misfit", test_misfit);
    CU_add_test(suite, "effort", test_effort);
    CU_add_test(suite, "report parts", test_report_parts);
    CU_add_test(suite, "summary of a part", test_summary_of_a_part);
    CU_add_test(suite, "causes", test_causes);
    CU_add_test(suite, "dead columns", test_dead_columns);
    CU_add_test(suite, "row numbers", test_row_numbers);
    CU_add_test(suite, "worse than the mean", test_worse_than_mean);
    return check_run();
}
