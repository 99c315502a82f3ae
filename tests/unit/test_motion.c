/* A recording in which nothing moves is refused before any simulation, and a search that goes
 * on too long ends with its best values. */
#include "tests/support/check.h"

#include <math.h>

#include <gsl/gsl_errno.h>

#include "base/numbers/random.h"
#include "identification/data/motion_test.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/model/models.h"

enum { N = 3000 };
static const double dt_s = 0.01;
static double t[N], effort[N], velocity[N];

/* A joint, or noise of this autocorrelation where nothing moves. */
static struct data_set record_joint(size_t n, bool moves, double memory, uint64_t seed)
{
    struct random_source draws = {.state = seed};
    double w = 0.0;
    double noise = 0.0;
    struct data_set set = {
        .axes = 1, .n = n, .dt_s = dt_s, .t_s = t, .run_count = 1, .noise_sd = {0.06}};
    for (size_t k = 0; k < n; k++) {
        t[k] = dt_s * (double)k;
        effort[k] = k % 60 == 0 ? random_between(&draws, -1.5, 1.5) : effort[k - 1];
        noise = memory * noise + 0.06 * random_normal(&draws);
        velocity[k] = w + noise;
        for (size_t f = 0; f < 20 && moves; f++) {
            w += dt_s / 20.0 * (effort[k] - 0.25 * w - 0.3 * tanh(w / 0.01)) / 0.1;
        }
    }
    set.run_start[1] = n;
    set.nu[0] = velocity;
    set.tau[0] = effort;
    return set;
}

static void test_noise(void)
{
    static const struct {
        size_t n;
        bool moves;
        double memory, at_most, at_least;
    } rows[] = {{200, false, 0.0, 2.5, 0.0},  {700, false, 0.0, 2.0, 0.0},
                {3000, false, 0.0, 1.6, 0.0}, {3000, false, 0.5, 6.2, 2.0},
                {700, true, 0.0, 1e9, 71.0},  {3000, true, 0.0, 1e9, 71.0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            const struct data_set set =
                record_joint(rows[i].n, rows[i].moves, rows[i].memory, seed);
            struct motion_test test;
            motion_test_find(&set, 0, &test);
            CHECK("ratio",
                  test.slow_ratio <= rows[i].at_most && test.slow_ratio >= rows[i].at_least);
            CHECK("follows", rows[i].moves == (test.follows_errors >= 4.5));
            CHECK_INT("moves", motion_test_moves(&set), rows[i].moves);
        }
    }
}

/* Slow noise alone is no motion, and a weak response within noise is one. */
static void test_limits(void)
{
    struct random_source draws = {.state = 3};
    struct data_set set = record_joint(N, false, 0.55, 8);
    struct motion_test test;
    motion_test_find(&set, 0, &test);
    CHECK("below the limit of 8, above half of it",
          test.slow_ratio < 8.0 && test.slow_ratio > 2.2);
    CHECK("noise", !motion_test_moves(&set));
    set = record_joint(N, false, 0.8, 8);
    motion_test_find(&set, 0, &test);
    CHECK("twice the limit", test.slow_ratio > 8.0 && test.slow_ratio < 40.0);
    CHECK("motion", motion_test_moves(&set));
    set = record_joint(N, false, 0.0, 8);
    for (size_t k = 0; k < N; k++) {
        effort[k] = random_normal(&draws);
        velocity[k] = 0.06 * (0.12 * effort[k] + random_normal(&draws));
    }
    motion_test_find(&set, 0, &test);
    CHECK("a response",
          test.slow_ratio < 2.0 && test.follows_errors > 4.5 && test.follows_errors < 9.0);
    CHECK("motion", motion_test_moves(&set));
}

static void test_still(void)
{
    const struct model *model = &joint_models[0][2];
    struct dynamics_options options = dynamics_options_for(model);
    struct step_budget budget = {.limit = 1000};
    struct dynamics_fit fit;
    const struct data_set set = record_joint(N, false, 0.0, 4);
    options.budget = &budget;
    CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(model, &set, &options, &fit), STATUS_OK);
    CHECK_INT("verdict", fit.estimate.verdict, ESTIMATE_FAIL);
    CHECK_INT("reason", fit.estimate.reason_codes[0], REASON_NO_MOTION);
    CHECK_INT("stop", fit.stop, DYNAMICS_STOP_STILL);
    CHECK("values", isnan(fit.estimate.value[0]) && isnan(fit.estimate.lo[0]));
    CHECK_INT("steps", budget.used, 0);
}

static void test_budget(void)
{
    const struct model *model = &joint_models[0][0];
    struct dynamics_options options = dynamics_options_for(model);
    const struct data_set set = record_joint(N, true, 0.0, 4);
    struct step_budget budget = dynamics_options_budget(&set);
    struct dynamics_fit fit[2];
    const struct data_set vessel = {.axes = 3, .n = N};
    CHECK_INT("limit", budget.limit, 10000000 + 4000 * N);
    CHECK_INT("limit of axes", dynamics_options_budget(&vessel).limit, 30000000 + 4000 * N);
    budget.limit = 240000; /* a few simulations */
    for (size_t k = 0; k < COUNT(fit); k++) {
        budget.used = 0;
        options.budget = &budget;
        CU_ASSERT_EQUAL_FATAL(
            dynamics_estimate(model, &set, DYNAMICS_OUTPUT_ERROR, &options, &fit[k]),
            STATUS_OK);
        CHECK("bounded", budget.used >= budget.limit && budget.used < 2 * budget.limit);
        CHECK("not PASS", fit[k].estimate.verdict != ESTIMATE_PASS);
        CHECK("said", estimate_has_reason(&fit[k].estimate, REASON_SEARCH_FAILED));
    }
    CHECK("same input, same values",
          memcmp(fit[0].estimate.value, fit[1].estimate.value, 4 * sizeof(double)) == 0);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("motion", NULL, NULL);
    CU_add_test(suite, "noise", test_noise);
    CU_add_test(suite, "limits", test_limits);
    CU_add_test(suite, "still", test_still);
    CU_add_test(suite, "budget", test_budget);
    return check_run();
}
