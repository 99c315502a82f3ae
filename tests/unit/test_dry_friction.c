/* short: 'TANDEM_WITHOUT=finds wheels,lags' */
/* A differential drive with friction in its wheels: it rests until the command exceeds its
 * friction, stops in finite time, and pivots about a wheel that sticks. Tests the sensitivities
 * of a simulation, the wheel distance from a recording, a fit without friction, which is
 * reported, and lags of any model that are too short for the samples. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "base/numbers/random.h"
#include "identification/data/trajectory.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/dynamics/dynamics_verdict.h"
#include "identification/dynamics/model_choice.h"
#include "identification/model/models.h"

enum { SAMPLES = 800, FINE = 20, P = 8 };

static const double DT_S = 0.05;
static const double truth[P] = {0.25, 0.18, 0.03, 1.05, 0.15, 1.08, 0.05, 0.4};

static double t_s[SAMPLES], tau[2][SAMPLES], nu[2][SAMPLES];

static const struct model *make_rubbing(double half_track_m)
{
    static struct model model;
    model = *diffdrive_friction_row.model;
    model.width = half_track_m;
    return &model;
}

static void apply_force(const struct model *model, const double *command, double seconds,
                        double *at)
{
    double pose[MODEL_AXES_MAX] = {0.0};
    for (int k = 0; k < (int)(seconds * 1000.0 + 0.5); k++) {
        model_step(model, truth, at, pose, command, NULL, 1e-3);
    }
}

/* Each wheel holds where the command of its share is below its friction. */
static void test_at_rest(void)
{
    static const struct {
        const char *row;
        double half_track_m, command[2];
        bool moves;
    } rows[] = {
        {"ahead, below", 0.1, {0.049, 0.0}, false},
        {"ahead, beyond", 0.1, {0.051, 0.0}, true},
        {"back, below", 0.1, {-0.049, 0.0}, false},
        {"turn, below", 0.1, {0.0, 0.39}, false},
        {"turn, beyond", 0.1, {0.0, -0.41}, true},
        {"both add up on a wheel", 0.1, {0.03, 0.2}, true},
        {"both, below", 0.1, {0.02, 0.2}, false},
        {"apart, each for itself", 0.0, {0.04, 0.3}, false},
        {"apart, beyond", 0.0, {0.04, 0.41}, true},
        {"far apart", 0.6, {0.02, 0.2}, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        double at[2] = {0.0, 0.0};
        apply_force(make_rubbing(rows[i].half_track_m), rows[i].command, 2.0, at);
        CHECK(rows[i].row, (hypot(at[0], at[1]) > 1e-4) == rows[i].moves);
        CHECK(rows[i].row, rows[i].moves || hypot(at[0], at[1]) < 1e-12);
    }
}

static void test_drives_and_stops(void)
{
    const double command[] = {0.5, 0.0};
    const double none[] = {0.0, 0.0};
    const double tau_s = truth[0] / truth[3];
    for (double after_s = 0.1; after_s < 1.0; after_s += 0.2) {
        double at[2] = {0.0, 0.0};
        apply_force(make_rubbing(0.1), command, after_s, at);
        CHECK_NEAR("driving", at[0],
                   (0.5 - truth[6]) / truth[3] * (1.0 - exp(-after_s / tau_s)), 1e-6, 0.0);
        CHECK_NEAR("driving", at[1], 0.0, 0.0, 1e-12);
    }
    const double stop_s = tau_s * log(1.0 + 0.4 * truth[3] / truth[6]);
    double at[2] = {0.4, 0.0};
    apply_force(make_rubbing(0.1), none, stop_s - 0.03, at);
    CHECK("coasting", at[0] > 0.004);
    apply_force(make_rubbing(0.1), none, 0.1, at);
    CHECK("stopped", fabs(at[0]) < 1e-4);
    apply_force(make_rubbing(0.1), none, 0.2, at);
    CHECK("stopped", fabs(at[0]) < 1e-9);
}

/* The inner wheel's command is below its friction: the robot turns about it, and its friction
 * is what holds, not what slides. */
static void test_pivots(void)
{
    const double h = 0.1;
    const double command[] = {0.1, 1.295};
    double at[2] = {0.0, 0.0};
    apply_force(make_rubbing(h), command, 5.0, at);
    /* The inner wheel's friction needs no effort here: -t3 + t4 h + t7 / 2 ahead. */
    CHECK_NEAR("turns", at[1], 1.0, 1e-6, 0.0);
    CHECK_NEAR("pivots", at[0], h * at[1], 1e-9, 0.0);
}

/* Commands of random size and length; the robot under them, late_s later, with noise. */
static struct data_set record_run(const struct model *model, const double *theta, double late_s,
                                  double noise, uint64_t seed)
{
    struct random_source random = {.state = seed};
    static const double most[] = {0.5, 2.0};
    double at[2] = {0.0, 0.0};
    double pose[MODEL_AXES_MAX] = {0.0};
    struct data_set set = {.axes = model->axis_count,
                           .n = SAMPLES,
                           .dt_s = DT_S,
                           .t_s = t_s,
                           .run_count = 1,
                           .run_start = {0, SAMPLES}};
    for (size_t a = 0; a < set.axes; a++) {
        double until_s = 0.0;
        double held = 0.0;
        for (size_t k = 0; k < SAMPLES; k++) {
            t_s[k] = DT_S * (double)k;
            if (t_s[k] >= until_s) {
                held = random_between(&random, -most[a], most[a]);
                until_s += random_between(&random, 0.3, 2.0);
            }
            tau[a][k] = held;
        }
        set.tau[a] = tau[a];
        set.nu[a] = nu[a];
        set.noise_sd[a] = noise;
    }
    for (size_t k = 0; k < SAMPLES; k++) {
        for (size_t a = 0; a < set.axes; a++) {
            nu[a][k] = at[a] + noise * random_between(&random, -1.7, 1.7);
        }
        for (int f = 0; f < FINE * 10; f++) {
            const double now_s = DT_S * ((double)k + ((double)f + 0.5) / (FINE * 10)) - late_s;
            const size_t held = now_s < 0.0 ? 0 : (size_t)(now_s / DT_S);
            double command[2] = {0.0, 0.0};
            for (size_t a = 0; a < set.axes && now_s >= 0.0; a++) {
                command[a] = tau[a][held];
            }
            model_step(model, theta, at, pose, command, NULL, DT_S / (FINE * 10));
        }
    }
    return set;
}

static void walk_model(const struct model *model, const struct data_set *set,
                       const double *theta, double (*to)[2], double (*by)[2][P])
{
    const struct trajectory_rules rules = {.model = model,
                                           .set = set,
                                           .sensitive = by != NULL,
                                           .limit = {1e9, 1e9},
                                           .step_s = 0.001};
    const double rest[2] = {0.0, 0.0};
    struct trajectory at;
    const size_t m = trajectory_columns(&rules);
    trajectory_begin(&at, &rules, 0, theta, 0.02, rest);
    for (size_t k = 0; k + 1 < set->n && trajectory_next(&at); k++) {
        for (size_t a = 0; a < 2; a++) {
            to[k][a] = at.nu[a];
            for (size_t i = 0; by && i < P; i++) {
                by[k][a][i] = at.by[a * m + 2 + i];
            }
        }
    }
}

/* Against differences, over sticking and sliding wheels. The rate by which what holds comes to
 * rest goes with t4 / t1 and t6 / t2, which sensitivities leave out: nothing to do with what is
 * measured, and some percent of them. */
static void test_sensitivities(void)
{
    static double up[SAMPLES][2], down[SAMPLES][2], by[SAMPLES][2][P];
    static const double widths[] = {0.1, 0.0, 0.3};
    for (size_t w = 0; w < COUNT(widths); w++) {
        const struct model *model = make_rubbing(widths[w]);
        const struct data_set set = record_run(model, truth, 0.02, 0.0, 5);
        walk_model(model, &set, truth, up, by);
        for (size_t i = 0; i < P; i++) {
            double theta[P];
            double apart = 0.0;
            double size = 0.0;
            const double step = 1e-4 * truth[i];
            memcpy(theta, truth, sizeof theta);
            theta[i] = truth[i] + step;
            walk_model(model, &set, theta, up, NULL);
            theta[i] = truth[i] - step;
            walk_model(model, &set, theta, down, NULL);
            for (size_t k = 0; k + 1 < SAMPLES; k++) {
                for (size_t a = 0; a < 2; a++) {
                    const double want = (up[k][a] - down[k][a]) / (2.0 * step);
                    apart += (by[k][a][i] - want) * (by[k][a][i] - want);
                    size += want * want;
                }
            }
            CHECK_NEAR(model->parameters[i].name, sqrt(apart / size), 0.0, 0.0,
                       i == 0 || i == 3 ? 0.08 : 0.01);
        }
    }
}

/* From 0.1 m the search finds the wheels where they are, and the fit then holds the truth. */
static void test_finds_wheels(void)
{
    static const double widths[] = {0.08, 0.125};
    for (size_t w = 0; w < COUNT(widths); w++) {
        const struct data_set set =
            record_run(make_rubbing(widths[w]), truth, 0.02, 0.003, 11 + w);
        const struct dynamics_options options = dynamics_options_for(make_rubbing(0.1));
        struct dynamics_fit fit;
        struct model model = *diffdrive_friction_row.model;
        CHECK_INT("tune", model_tune(&set, &options, &model), STATUS_OK);
        CHECK_NEAR("half track", model.width, widths[w], 0.015, 0.0);
        CHECK_INT("fit", dynamics_estimate_auto(&model, &set, &options, &fit), STATUS_OK);
        for (size_t i = 6; i < P; i++) {
            CHECK_NEAR(model.parameters[i].name, fit.estimate.value[i], truth[i], 0.03, 0.0);
        }
    }
}

static void judge_model(const struct model *model, const struct data_set *set,
                        struct dynamics_fit *fit)
{
    const struct dynamics_options options = dynamics_options_for(model);
    const struct model_limits any = {.plausible = NULL};
    struct data_summary summary = {
        .rows = set->n, .used = set->n, .runs = 1, .duration_s = DT_S * SAMPLES, .dt_s = DT_S};
    struct dynamics_check check;
    for (size_t a = 0; a < set->axes; a++) {
        summary.nu[a].sd = summary.tau[a].sd = 0.3;
        summary.nu[a].signal_ratio = 50.0;
    }
    CHECK_INT("fit", dynamics_estimate_auto(model, set, &options, fit), STATUS_OK);
    CHECK_INT("check", dynamics_check_run(model, fit, set, &check), STATUS_OK);
    dynamics_check_judge(fit, model, &summary, &any, &check, NULL);
}

static bool has_reason(char (*texts)[ESTIMATE_TEXT_MAX], size_t count, const char *words)
{
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        found = found || strstr(texts[i], words);
    }
    return found;
}

/* The plain model reports friction if there is some, and not otherwise. */
static void test_friction_reported(void)
{
    struct dynamics_fit fit;
    struct data_set set = record_run(make_rubbing(0.08), truth, 0.02, 0.003, 3);
    judge_model(&diffdrive_model, &set, &fit);
    CHECK("reported", fit.estimate.verdict != ESTIMATE_PASS);
    CHECK("reported",
          has_reason(fit.estimate.reasons, fit.estimate.reason_count, "dry friction of"));
    CHECK("reported",
          has_reason(fit.estimate.advice, fit.estimate.advice_count, "diffdrive_friction"));
    set = record_run(&diffdrive_model, truth, 0.02, 0.003, 3);
    judge_model(&diffdrive_model, &set, &fit);
    CHECK_INT("none", fit.estimate.verdict, ESTIMATE_PASS);
    CHECK("none", !has_reason(fit.estimate.advice, fit.estimate.advice_count, "friction"));
}

/* Time constants against the sampling: a visible one is fitted, a shorter one is FAIL. */
static void test_lags(void)
{
    static const struct {
        double periods, late_s, noise;
        bool reported;
    } rows[] = {
        {0.02, 0.06, 0.005, false}, {0.02, 0.0, 0.0, false},  {0.1, 0.073, 0.01, false},
        {0.1, 0.034, 0.02, false},  {0.8, 0.06, 0.005, true}, {0.8, 0.034, 0.02, true},
        {2.0, 0.06, 0.02, true},    {5.0, 0.0, 0.02, true},   {20.0, 0.08, 0.02, true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const double theta[] = {1.05 * DT_S * rows[i].periods, 1.05};
        struct dynamics_fit fit;
        char name[32];
        const struct data_set set =
            record_run(&first_order_model, theta, rows[i].late_s, rows[i].noise, 21 + i);
        judge_model(&first_order_model, &set, &fit);
        const bool unreported =
            has_reason(fit.estimate.reasons, fit.estimate.reason_count, "within a sample");
        (void)snprintf(name, sizeof name, "%g periods", rows[i].periods);
        CHECK_INT(name, unreported, !rows[i].reported);
        CHECK_INT(name, fit.estimate.verdict == ESTIMATE_FAIL, !rows[i].reported);
        CHECK_INT(name, has_reason(fit.estimate.advice, fit.estimate.advice_count, "ten times"),
                  !rows[i].reported);
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("dry friction", NULL, NULL);
    CU_add_test(suite, "stands", test_at_rest);
    CU_add_test(suite, "drives and stops", test_drives_and_stops);
    CU_add_test(suite, "pivots", test_pivots);
    CU_add_test(suite, "sensitivities", test_sensitivities);
    CU_add_test(suite, "finds wheels", test_finds_wheels);
    CU_add_test(suite, "reported", test_friction_reported);
    CU_add_test(suite, "lags", test_lags);
    return check_run();
}
