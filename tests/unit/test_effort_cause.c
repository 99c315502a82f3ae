/* A joint whose effort acts through a lag, or whose friction, load or supply drifts. */
#include "tests/support/check.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "base/numbers/random.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/model/models.h"

enum { N = 2000, FINE = 50 };
static const double dt_s = 0.01;
static double t[N], effort[N], velocity[N];

struct recording {
    const char *name;
    double lag_s, drag, inertia, supply; /* drifts from the first to the last row */
    enum effort_effect effect;
    double size, tolerance;
};

static const struct recording recordings[] = {
    {"steady", 0.0, 0.0, 0.0, 0.0, EFFORT_EFFECTS, 0.0, 0.0},
    {"lag of 20 ms", 0.02, 0.0, 0.0, 0.0, EFFORT_LAG, 0.02, 0.1},
    {"lag of 5 ms", 0.005, 0.0, 0.0, 0.0, EFFORT_LAG, 0.005, 0.35},
    {"warms up", 0.0, -0.1, 0.0, 0.0, EFFORT_DRAG_DRIFTS, -0.1, 0.3},
    {"load grows", 0.0, 0.0, 0.1, 0.0, EFFORT_INERTIA_DRIFTS, 0.1, 0.3},
    {"supply sags", 0.0, 0.0, 0.0, -0.05, EFFORT_DRIFTS, -0.05, 0.3},
};

static struct data_set record_joint(const struct recording *of, uint64_t seed)
{
    struct random_source draws = {.state = seed};
    struct data_set set = {
        .axes = 1, .n = N, .dt_s = dt_s, .t_s = t, .run_count = 1, .noise_sd = {0.02}};
    const double h_s = dt_s / FINE;
    double w = 0.0;
    for (size_t k = 0; k < N; k++) {
        t[k] = dt_s * (double)k;
        effort[k] = k % 50 == 0 ? random_between(&draws, -2.0, 2.0) : effort[k - 1];
    }
    double acts = effort[0];
    for (size_t k = 0; k < N; k++) {
        const double phase = (double)k / N - 0.5;
        velocity[k] = w + 0.02 * random_normal(&draws);
        for (size_t f = 0; f < FINE; f++) {
            acts = of->lag_s > 0.0 ? acts + (effort[k] - acts) * (1.0 - exp(-h_s / of->lag_s))
                                   : effort[k];
            w += h_s *
                 (acts * (1.0 + of->supply * phase) - 0.3 * (1.0 + of->drag * phase) * w -
                  0.4 * tanh(w / 0.01) - 0.05) /
                 (0.05 * (1.0 + of->inertia * phase));
        }
    }
    set.run_start[1] = N;
    set.nu[0] = velocity;
    set.tau[0] = effort;
    return set;
}

static void test_findings(void)
{
    const struct model *model = &joint_models[0][2];
    const struct dynamics_options options = dynamics_options_for(model);
    for (size_t i = 0; i < COUNT(recordings); i++) {
        const struct recording *of = &recordings[i];
        const struct data_set set = record_joint(of, 3 + i);
        struct effort_cause cause;
        struct dynamics_fit fit;
        CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(model, &set, &options, &fit), STATUS_OK);
        CU_ASSERT_EQUAL_FATAL(dynamics_estimate_cause(model, &set, &options, &fit, &cause),
                              STATUS_OK);
        CHECK_INT(of->name, cause.effect, of->effect);
        CHECK_NEAR(of->name, cause.size, of->effect == EFFORT_EFFECTS ? cause.size : of->size,
                   of->tolerance, 0.0);
        effort_cause_judge(model, &cause, &cause.lag, &fit);
        CHECK_INT(of->name, estimate_has_reason(&fit.estimate, REASON_CAUSE),
                  of->effect != EFFORT_EFFECTS && of->effect != EFFORT_LAG);
    }
}

/* With the lag in the efforts, the values are the joint's. */
static void test_lag(void)
{
    const struct model *model = &joint_models[0][2];
    const struct dynamics_options options = dynamics_options_for(model);
    const struct data_set set = record_joint(&recordings[1], 9);
    gsl_vector_view column = gsl_vector_view_array(effort, N);
    struct data_table table = {set, &column.vector};
    struct effort_cause cause;
    struct dynamics_fit fit;
    CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(model, &set, &options, &fit), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(dynamics_estimate_cause(model, &set, &options, &fit, &cause),
                          STATUS_OK);
    const double before = fit.estimate.value[0];
    CU_ASSERT_EQUAL_FATAL(effort_lag_apply(&table, &cause.lag), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(model, &set, &options, &fit), STATUS_OK);
    const double se = fit.estimate.se[0];
    effort_lag_widen(model, &set, &cause.lag, &fit);
    CHECK("without it 5 % off", fabs(before / 0.05 - 1.0) > 0.03);
    CHECK_NEAR("inertia", fit.estimate.value[0], 0.05, 0.004, 0.0);
    CHECK_NEAR("viscous friction", fit.estimate.value[1], 0.3, 0.005, 0.0);
    CHECK("wider", fit.estimate.se[0] > se);
}

/* A lag longer than J / Fv may be the joint's own: the open interval has the inertia of both.
 */
static void test_exchange(void)
{
    const struct model *model = &joint_models[0][2];
    const struct effort_cause none = {.effect = EFFORT_EFFECTS};
    const double lags_s[] = {0.0539, 0.02};
    for (size_t i = 0; i < COUNT(lags_s); i++) {
        const struct effort_lag lag = {.lag_s = lags_s[i], .lag_se_s = 0.001};
        struct dynamics_fit fit;
        struct estimate *e = &fit.estimate;
        dynamics_fit_start(&fit, model, DYNAMICS_WEAK, true);
        estimate_set(e, 0, 0.003, 1e-5, HUGE_VAL);
        estimate_set(e, 1, 0.11, 1e-4, HUGE_VAL);
        effort_cause_judge(model, &none, &lag, &fit);
        CHECK_INT("nearly alike", estimate_has_reason(e, REASON_NEARLY_ALIKE), i == 0);
        CHECK_INT("verdict", e->verdict, i == 0 ? ESTIMATE_MARGINAL : ESTIMATE_PASS);
        CHECK("open above both", i > 0 || (e->hi_open[0] > 0.006 && e->hi_open[0] < 0.0063));
        CHECK("open from the fit", i > 0 || fabs(e->lo_open[0] - e->lo[0]) < 1e-12);
        CHECK("not open", i == 0 || isnan(e->hi_open[0]));
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("lags and drifts", NULL, NULL);
    CU_add_test(suite, "findings", test_findings);
    CU_add_test(suite, "lag", test_lag);
    CU_add_test(suite, "exchange", test_exchange);
    return check_run();
}
