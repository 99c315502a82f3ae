#include "tests/support/check.h"

#include "twin/control/pid.h"
#include "twin/control/servo_joint.h"

static struct servo_joint_params make_joint(double lag_s)
{
    return (struct servo_joint_params){lag_s, 1.0, 1.0, 0.0, HUGE_VAL};
}

/* --- the joint -----------------------------------------------------------------------------
 */

static void test_integrator(void)
{
    /* Ten seconds at 1 rad/s: 9.90, where the printed integrator ends at 0.11. */
    const struct servo_joint_params p = make_joint(0.1);
    struct servo_joint j = {0};
    for (int i = 0; i < 1000; i++) {
        servo_joint_step(&j, &p, SERVO_EULER, 0.01, 1.0, 0.0);
    }
    CHECK_NEAR("after 10 s", j.q_rad, 9.90, 0.0, 1e-9);
    for (int i = 0; i < 1000; i++) {
        servo_joint_step(&j, &p, SERVO_EULER, 0.01, 0.0, 0.0);
    }
    CHECK_NEAR("it stays where it stopped", j.q_rad, 10.0, 0.0, 1e-9);
}

static void test_exact(void)
{
    static const double lags[] = {0.0, 1e-9, 0.05, 0.3, 1e6};
    for (size_t i = 0; i < COUNT(lags); i++) {
        const struct servo_joint_params p = make_joint(lags[i]);
        struct servo_joint one = {0.5, 2.0};
        struct servo_joint many = one;
        servo_joint_step(&one, &p, SERVO_EXACT, 0.7, -1.0, 0.0);
        for (int k = 0; k < 700; k++) {
            servo_joint_step(&many, &p, SERVO_EXACT, 0.001, -1.0, 0.0);
        }
        const double left = lags[i] > 0.0 ? exp(-0.7 / lags[i]) : 0.0;
        CHECK_NEAR("speed", one.w_radps, -1.0 + 3.0 * left, 1e-12, 1e-12);
        CHECK_NEAR("in steps", many.w_radps, one.w_radps, 1e-9, 0.0);
        CHECK_NEAR("position in steps", many.q_rad, one.q_rad, 1e-9, 1e-9);
        if (lags[i] < 1.0) {
            CHECK_NEAR("position", one.q_rad, 0.5 - 0.7 + 3.0 * lags[i] * (1.0 - left), 1e-12,
                       1e-12);
        }
    }
}

static void test_euler_comes_near(void)
{
    const struct servo_joint_params p = {0.2, 2.0, 0.5, 0.0, HUGE_VAL};
    struct servo_joint exact = {0};
    struct servo_joint euler = {0};
    for (int k = 0; k < 10000; k++) {
        servo_joint_step(&exact, &p, SERVO_EXACT, 1e-4, 3.0, 0.0);
        servo_joint_step(&euler, &p, SERVO_EULER, 1e-4, 3.0, 0.0);
    }
    CHECK_NEAR("speed", euler.w_radps, exact.w_radps, 1e-4, 0.0);
    CHECK_NEAR("position", euler.q_rad, exact.q_rad, 1e-3, 0.0);
    CHECK_NEAR("gains", exact.q_rad, 0.5 * 6.0 * (1.0 - 0.2 * (1.0 - exp(-5.0))), 1e-9, 0.0);
}

static void test_limit_and_load(void)
{
    const struct servo_joint_params p = {0.1, 2.0, 1.0, 0.5, 3.0};
    struct servo_joint j = {0};
    for (int k = 0; k < 5000; k++) {
        servo_joint_step(&j, &p, k % 2 ? SERVO_EXACT : SERVO_EULER, 0.001, -100.0, 0.0);
        CHECK("within the limit", fabs(j.w_radps) <= 3.0 * (1.0 + 1e-12));
    }
    CHECK_NEAR("at the limit", j.w_radps, -3.0, 1e-9, 0.0);
    for (int k = 0; k < 5000; k++) {
        servo_joint_step(&j, &p, SERVO_EXACT, 0.001, 1.0, 2.0);
    }
    CHECK_NEAR("a load slows it down", j.w_radps, 1.0, 1e-9, 0.0);
}

/* --- the controller ------------------------------------------------------------------------
 */

struct loop {
    struct servo_joint_params motor;
    struct servo_joint joint;
    struct pid_params p;
    struct pid pid;
};

static struct loop speed_loop(double lag_s, double closed_s)
{
    struct loop l = {.motor = {lag_s, 1.0, 1.0, 1.0, HUGE_VAL},
                     .p = {.out_lo = -HUGE_VAL, .out_hi = HUGE_VAL, .period_s = 0.001}};
    pid_tune_imc(&l.p, 1.0, lag_s, closed_s);
    return l;
}

static double step_loop(struct loop *l, double wanted, double load, double feedforward)
{
    const double u = pid_step(&l->pid, &l->p, wanted, l->joint.w_radps, feedforward);
    servo_joint_step(&l->joint, &l->motor, SERVO_EXACT, l->p.period_s, u, load);
    return u;
}

struct response {
    double overshoot_percent, settle_s, dip_percent, recovery_s;
};

/* A step of the set point, and a load of 0.3 after 4 s. */
static struct response simulate_response(struct loop *l, bool known)
{
    struct response r = {-1e9, 0.0, -1e9, 0.0};
    for (int i = 0; i < 8000; i++) {
        const double load = i > 4000 ? 0.3 : 0.0;
        (void)step_loop(l, 1.0, load, known ? load : 0.0);
        const double beyond = l->joint.w_radps - 1.0;
        const bool out = fabs(beyond) > 0.02;
        if (i < 4000) {
            r.overshoot_percent = fmax(r.overshoot_percent, 100.0 * beyond);
            r.settle_s = out ? 0.001 * (i + 1) : r.settle_s;
        } else {
            r.dip_percent = fmax(r.dip_percent, -100.0 * beyond);
            r.recovery_s = out ? 0.001 * (i - 4000 + 1) : r.recovery_s;
        }
    }
    return r;
}

static void test_imc(void)
{
    /* Independent values: the executable reference. */
    static const struct {
        double lag_s, closed_s;
        struct response printed, imc; /* with Ti = (lag + closed) / 2, and Ti = lag */
    } rows[] = {
        {0.50, 0.50, {-0.034, 1.955, 11.056, 2.062}, {-0.034, 1.955, 11.056, 2.062}},
        {0.50, 0.25, {2.335, 1.218, 7.153, 1.039}, {0.0, 0.977, 7.507, 1.316}},
        {0.50, 0.10, {4.623, 0.771, 3.733, 0.447}, {0.0, 0.389, 4.018, 0.658}},
        {0.50, 0.05, {4.093, 0.489, 2.172, 0.163}, {0.0, 0.193, 2.327, 0.250}},
        {0.70, 0.10, {4.515, 0.874, 2.882, 0.425}, {0.0, 0.389, 3.102, 0.638}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int printed = 0; printed < 2; printed++) {
            char row[64];
            struct loop l = speed_loop(rows[i].lag_s, rows[i].closed_s);
            const struct response *want = printed ? &rows[i].printed : &rows[i].imc;
            (void)snprintf(row, sizeof row, "lag %g closed %g printed %d", rows[i].lag_s,
                           rows[i].closed_s, printed);
            if (printed) {
                l.p.integral_s = 0.5 * (rows[i].lag_s + rows[i].closed_s);
            }
            const struct response got = simulate_response(&l, false);
            CHECK_NEAR(row, got.overshoot_percent, want->overshoot_percent, 0.0, 0.03);
            CHECK_NEAR(row, got.settle_s, want->settle_s, 0.005, 0.002);
            CHECK_NEAR(row, got.dip_percent, want->dip_percent, 0.0, 0.03);
            CHECK_NEAR(row, got.recovery_s, want->recovery_s, 0.005, 0.002);
        }
    }
    struct loop l = speed_loop(0.5, 0.1);
    CHECK_NEAR("a load that is known leaves no dip", simulate_response(&l, true).dip_percent,
               0.0, 0.0, 1e-6);
}

/* The lowest speed after 5 s of a speed that cannot be had and 3 s of 0.5, with commands of -1
 * to 1; inside: the controller knows of these limits. */
static double lowest_after_limit(struct loop *l, bool inside)
{
    double lowest = 1.0;
    l->p.out_lo = inside ? -1.0 : -HUGE_VAL;
    l->p.out_hi = inside ? 1.0 : HUGE_VAL;
    for (int i = 0; i < 8000; i++) {
        const double u = pid_step(&l->pid, &l->p, i < 5000 ? 2.0 : 0.5, l->joint.w_radps, 0.0);
        if (inside && i < 5000) {
            CHECK_NEAR("at the limit", u, 1.0, 0.0, 1e-9);
        } else if (inside && i == 5000) {
            CHECK("off it at once", u < 1.0);
        }
        servo_joint_step(&l->joint, &l->motor, SERVO_EXACT, l->p.period_s,
                         fmin(fmax(u, -1.0), 1.0), 0.0);
        lowest = i < 5000 ? lowest : fmin(lowest, l->joint.w_radps);
    }
    return lowest;
}

static void test_windup(void)
{
    struct loop l = speed_loop(0.5, 0.1);
    l.p.tracking_s = 0.05;
    const double lowest = lowest_after_limit(&l, true);
    CHECK("little below the wanted value", lowest > 0.38 && lowest < 0.5);
    CHECK_NEAR("there", l.joint.w_radps, 0.5, 0.0, 5e-3);
    struct loop free = speed_loop(0.5, 0.1);
    CHECK("without, it does not even come down in 3 s", lowest_after_limit(&free, false) > 0.9);
}

static void test_derivative(void)
{
    const struct pid_params p = {.gain = 2.0,
                                 .derivative_s = 0.1,
                                 .filter_s = 0.05,
                                 .out_lo = -HUGE_VAL,
                                 .out_hi = HUGE_VAL,
                                 .period_s = 0.01};
    struct pid s = {0};
    CHECK_NEAR("starts without a kick", pid_step(&s, &p, 0.0, 5.0, 0.0), -10.0, 1e-12, 0.0);
    CHECK_NEAR("a step of the set point", pid_step(&s, &p, 1.0, 5.0, 0.0), -8.0, 1e-12, 0.0);
    double u = 0.0;
    for (int i = 1; i <= 200; i++) {
        u = pid_step(&s, &p, 0.0, 5.0 + 0.03 * i, 0.0);
    }
    CHECK_NEAR("a ramp of 3 a second", u, 2.0 * (-11.0 - 0.1 * 3.0), 1e-9, 0.0);
}

static void test_what_is_no_number(void)
{
    struct loop l = speed_loop(0.5, 0.1);
    for (int i = 0; i < 100; i++) {
        (void)step_loop(&l, 1.0, 0.0, 0.0);
    }
    const struct pid before = l.pid;
    CHECK("measured", isfinite(pid_step(&l.pid, &l.p, 1.0, nan(""), 0.0)));
    CHECK("wanted", isfinite(pid_step(&l.pid, &l.p, HUGE_VAL, 1.0, nan(""))));
    CHECK("nothing of it stays", memcmp(&before, &l.pid, sizeof before) == 0);
}

static void test_check(void)
{
    struct pid_params p = speed_loop(0.5, 0.1).p;
    struct err err = {0};
    CHECK_INT("good", pid_check(&p, &err), STATUS_OK);
    p.out_hi = p.out_lo;
    CHECK_INT("limits", pid_check(&p, &err), STATUS_E_RANGE);
    CHECK_TEXT("are named", err.where, "out_lo, out_hi");
    p = speed_loop(0.5, 0.1).p;
    p.integral_s = -1.0;
    CHECK_INT("integral", pid_check(&p, NULL), STATUS_E_RANGE);
    p = speed_loop(0.5, 0.1).p;
    p.gain = nan("");
    CHECK_INT("gain", pid_check(&p, NULL), STATUS_E_RANGE);
    p = speed_loop(0.5, 0.1).p;
    p.period_s = 0.0;
    CHECK_INT("period", pid_check(&p, NULL), STATUS_E_RANGE);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("servo joint and PID", NULL, NULL);
    CU_add_test(suite, "integrator", test_integrator);
    CU_add_test(suite, "exact", test_exact);
    CU_add_test(suite, "euler", test_euler_comes_near);
    CU_add_test(suite, "limit and load", test_limit_and_load);
    CU_add_test(suite, "internal model control", test_imc);
    CU_add_test(suite, "windup", test_windup);
    CU_add_test(suite, "derivative", test_derivative);
    CU_add_test(suite, "no number", test_what_is_no_number);
    CU_add_test(suite, "check", test_check);
    return check_run();
}
