/* A joint that friction holds to the last digit, under steps that act late: its rests are
 * found, and without them the regression determines the delay. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "base/numbers/random.h"
#include "identification/data/moving_samples.h"
#include "identification/dynamics/input_delay.h"
#include "identification/model/models.h"

enum { N = 2000, FINE = 50 };

static const double truth[4] = {0.1, 0.25, 0.3, 0.05};
static const double dt_s = 0.01;
static const double noise = 0.003;
static double t[N], tau[N], nu[N], pose[N];

/* Coulomb's law by impulses; each effort acts late_s after its row. */
static struct data_set record_run(double late_s, uint64_t seed)
{
    struct random_source draws = {.state = seed};
    const double h_s = dt_s / FINE;
    double w = 0.0;
    double q = 0.0;
    for (size_t k = 0; k < N; k++) {
        t[k] = dt_s * (double)k;
        tau[k] = k % 90 == 0 ? random_between(&draws, -1.5, 1.5) : tau[k - 1];
        tau[k] = k % 450 < 90 ? 0.1 : tau[k]; /* less than friction: it comes to rest */
    }
    for (size_t k = 0; k < N; k++) {
        nu[k] = w + noise * random_normal(&draws);
        pose[k] = q;
        for (size_t f = 0; f < FINE; f++) {
            const double acts_s = t[k] + ((double)f + 0.5) * h_s - late_s;
            const double effort = acts_s < 0.0 ? 0.0 : tau[(size_t)(acts_s / dt_s)];
            const double freely = w + h_s * (effort - truth[1] * w - truth[3]) / truth[0];
            w = copysign(fmax(fabs(freely) - h_s * truth[2] / truth[0], 0.0), freely);
            q += h_s * w;
        }
    }
    struct data_set set = {
        .axes = 1, .n = N, .dt_s = dt_s, .t_s = t, .run_count = 1, .noise_sd = {noise}};
    set.run_start[1] = N;
    set.nu[0] = nu;
    set.tau[0] = tau;
    set.pose[0] = pose;
    return set;
}

static void test_pieces(void)
{
    const struct data_set set = record_run(0.0, 3);
    struct data_set moving;
    gsl_vector *columns = NULL;
    CU_ASSERT_EQUAL_FATAL(moving_samples_copy(&set, &moving, &columns), STATUS_OK);
    CHECK("pieces", moving.run_count > 3 && moving.n > N / 2 && moving.n < N);
    CHECK_INT("whole", moving.run_start[moving.run_count], moving.n);
    for (size_t r = 0; r < moving.run_count; r++) {
        for (size_t k = moving.run_start[r]; k + 1 < moving.run_start[r + 1]; k++) {
            const size_t at = (size_t)lround(moving.t_s[k] / dt_s);
            CHECK_NEAR("even", moving.t_s[k + 1] - moving.t_s[k], dt_s, 1e-9, 0.0);
            CHECK_NEAR("velocity", moving.nu[0][k], nu[at], 0.0, 0.0);
            CHECK_NEAR("effort", moving.tau[0][k], tau[at], 0.0, 0.0);
            CHECK_NEAR("pose", moving.pose[0][k], pose[at], 0.0, 0.0);
        }
    }
    gsl_vector_free(columns);
    for (size_t k = 0; k < N; k++) {
        nu[k] = k % 2 == 0 ? noise : -noise;
    }
    CHECK_INT("at rest all the time", moving_samples_copy(&set, &moving, &columns),
              STATUS_E_EMPTY);
}

static void test_late(void)
{
    static const double late_s[] = {0.0, 0.003, 0.013, 0.045};
    const struct model *model = &joint_models[0][2];
    const struct dynamics_options options = dynamics_options_for(model);
    for (size_t i = 0; i < COUNT(late_s); i++) {
        const struct data_set set = record_run(late_s[i], 7 + i);
        struct data_set moving;
        struct dynamics_fit fit;
        gsl_vector *columns = NULL;
        CU_ASSERT_EQUAL_FATAL(moving_samples_copy(&set, &moving, &columns), STATUS_OK);
        CHECK_INT("fit", input_delay_fit(model, &moving, &options, -0.02, 0.2, &fit),
                  STATUS_OK);
        CHECK_NEAR("delay", fit.delay_s, late_s[i], 0.0, 0.001);
        CHECK("its error", fit.delay_se_s > 0.0 && fit.delay_se_s < 0.002);
        for (size_t k = 0; k < 4; k++) {
            const double errors =
                fabs(fit.estimate.value[k] - truth[k]) / sqrt(fit.estimate.covariance[k][k]);
            CHECK(model->parameters[k].name, errors < 4.0);
            CHECK_NEAR(model->parameters[k].name, fit.estimate.value[k], truth[k], 0.05, 0.01);
        }
        /* Beyond what may be: at once, and no delay. */
        if (late_s[i] > 0.04) {
            CHECK_INT("fit", input_delay_fit(model, &moving, &options, -0.02, 0.03, &fit),
                      STATUS_OK);
            CHECK("none", isnan(fit.delay_s));
        }
        gsl_vector_free(columns);
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("late efforts", NULL, NULL);
    CU_add_test(suite, "pieces", test_pieces);
    CU_add_test(suite, "late", test_late);
    return check_run();
}
