/* An arm whose currents come late: the delay or lag is found, and inertias are the arm's. */
#include "tests/support/check.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "base/numbers/random.h"
#include "identification/arm/arm_friction.h"

enum { N = 3000 };
static const double period_s = 0.008;
static double t[N], q[ARM_JOINTS][N], qd[ARM_JOINTS][N], current[ARM_JOINTS][N];
static const double inertia[ARM_JOINTS] = {0.33, 0.6, 0.25, 0.09, 0.03, 0.02};

/* Angle of a joint, its speed and acceleration. */
static void move_joint(size_t j, double t_s, double out[3])
{
    const double rate = 1.3 + 0.37 * (double)j;
    out[0] = 0.8 * sin(rate * t_s) + 0.3 * sin(2.7 * rate * t_s + (double)j);
    out[1] = 0.8 * rate * cos(rate * t_s) + 0.81 * rate * cos(2.7 * rate * t_s + (double)j);
    out[2] = -0.8 * rate * rate * sin(rate * t_s) -
             2.187 * rate * rate * sin(2.7 * rate * t_s + (double)j);
}

static double find_current(size_t j, double t_s)
{
    double m[3];
    double all[ARM_JOINTS][3];
    move_joint(j, t_s, m);
    for (size_t k = 0; k < ARM_JOINTS; k++) {
        move_joint(k, t_s, all[k]);
    }
    const double gravity = j == 1   ? 3.0 * cos(all[1][0]) + 1.2 * cos(all[1][0] + all[2][0])
                           : j == 2 ? 1.5 * cos(all[1][0] + all[2][0])
                                    : 0.0;
    return inertia[j] * m[2] + 0.5 * m[1] + 0.4 * tanh(m[1] / 0.01) + gravity;
}

static void record_arm(double delay_s, double lag_s, struct arm_friction_set *set,
                       struct arm_friction_summary *summary)
{
    static const size_t parts[] = {0, N};
    struct random_source draws = {.state = 4};
    struct arm_friction_raw raw = {.n = N, .part_count = 1, .part_start = parts, .t_s = t};
    struct err err = {0};
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        double acts = find_current(j, 0.0);
        for (size_t k = 0; k < N; k++) {
            double m[3];
            t[k] = period_s * (double)k;
            move_joint(j, t[k], m);
            for (size_t f = 0; f < 8 && lag_s > 0.0; f++) {
                const double at_s = t[k] - period_s * (1.0 - (double)(f + 1) / 8.0);
                acts += (find_current(j, at_s) - acts) * (1.0 - exp(-period_s / 8.0 / lag_s));
            }
            q[j][k] = m[0];
            qd[j][k] = m[1] + 0.003 * random_normal(&draws);
            current[j][k] = (lag_s > 0.0 ? acts : find_current(j, t[k] - delay_s)) +
                            0.03 * random_normal(&draws);
        }
        raw.q_rad[j] = q[j];
        raw.qd_radps[j] = qd[j];
        raw.current_a[j] = current[j];
    }
    CU_ASSERT_EQUAL_FATAL(arm_friction_set_make(&raw, set, summary, &err), STATUS_OK);
}

static void test_late(void)
{
    static const struct {
        const char *name;
        double delay_s, lag_s;
    } rows[] = {{"in time", 0.0, 0.0},
                {"1 ms late", 0.0009, 0.0},
                {"32 ms late", 0.032, 0.0},
                {"16 ms early", -0.016, 0.0},
                {"lag of 20 ms", 0.0, 0.02}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arm_friction_set set;
        struct arm_friction_summary summary;
        static struct arm_friction_fit fit;
        record_arm(rows[i].delay_s, rows[i].lag_s, &set, &summary);
        CU_ASSERT_EQUAL_FATAL(arm_friction_fit_run(&set, &summary, true, &fit), STATUS_OK);
        const double total_s = fit.late.delay_s + fit.late.lag_s;
        const double truth_s = rows[i].delay_s + rows[i].lag_s;
        CHECK_INT(rows[i].name, fabs(total_s) > 0.0, i >= 2);
        CHECK_NEAR(rows[i].name, total_s, i >= 2 ? truth_s : 0.0, 0.1, 0.0);
        for (size_t j = 0; j < ARM_JOINTS; j++) {
            CHECK_NEAR(rows[i].name, fit.joint[j].estimate.value[0], inertia[j], 0.04, 0.0);
        }
        const bool said = estimate_has_reason(&fit.whole, REASON_DELAY_ASSUMED);
        CHECK_INT("a note, or a reason", said, i >= 2);
        if (i >= 2) {
            CHECK_INT("undecided", fit.whole.verdict == ESTIMATE_MARGINAL,
                      fit.late.chi2 < 26.0);
            CHECK("beyond five errors",
                  fabs(fit.late.found_s) > 5.0 * fit.late.se_s && fit.late.se_s > 0.0);
        }
        arm_friction_set_free(&set);
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("late currents", NULL, NULL);
    CU_add_test(suite, "late", test_late);
    return check_run();
}
