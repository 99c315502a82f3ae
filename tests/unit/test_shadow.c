#include "tests/support/check.h"

#include "identification/model/usv3.h"
#include "twin/following/shadow.h"

enum { AXES = USV3_AXES, TICK_US = 10000 };

static const double PUSH[AXES] = {80.0, 0.0, 20.0};
static const double NOTHING[AXES] = {0};

static struct shadow_params make_params(enum shadow_method method)
{
    struct shadow_params p;
    shadow_params_default(&p);
    p.method = method;
    p.model = &usv3_model;
    p.axes = AXES;
    memcpy(p.theta, usv3_vessel_find("iacquabot")->theta, sizeof p.theta[0] * USV3_PARAMETERS);
    return p;
}

/* A robot under constant efforts, and what its telemetry does to the target. */
struct scenario {
    struct shadow s;
    struct shadow_params p;
    int64_t now_us;
    double nu[AXES], pose[AXES];
    struct follower_target target;
    double jump; /* largest change of the target from tick to tick */
};

static struct scenario begin_scenario(enum shadow_method method)
{
    return (struct scenario){.p = make_params(method), .now_us = 1000000};
}

static void step_tick(struct scenario *c, bool received)
{
    double was[AXES];
    memcpy(was, c->target.nu, sizeof was);
    model_step(&usv3_model, c->p.theta, c->nu, c->pose, PUSH, NULL, 1e-6 * TICK_US);
    c->now_us += TICK_US;
    if (received) {
        shadow_sample(&c->s, &c->p, c->now_us, c->now_us, c->nu, PUSH, c->pose);
    }
    shadow_target(&c->s, &c->p, c->now_us, 1e-6 * TICK_US, &c->target);
    for (size_t i = 0; i < AXES; i++) {
        c->jump = fmax(c->jump, fabs(c->target.nu[i] - was[i]));
    }
}

static void test_late_samples(void)
{
    /* Exact model, no noise, samples 200 ms old: the target is the robot's present velocity. */
    struct scenario c = begin_scenario(SHADOW_MODEL);
    double seen[64][AXES] = {{0}};
    for (int k = 0; k < 2000; k++) {
        memcpy(seen[k % 64], c.nu, sizeof c.nu);
        if (k >= 20 && k % 2 == 0) {
            shadow_sample(&c.s, &c.p, c.now_us - 20L * TICK_US, c.now_us, seen[(k - 20) % 64],
                          PUSH, NULL);
        }
        shadow_target(&c.s, &c.p, c.now_us, 1e-6 * TICK_US, &c.target);
        if (k > 300) {
            CHECK_NEAR("surge", c.target.nu[0], c.nu[0], 0.0, 2e-6);
            CHECK_NEAR("yaw", c.target.nu[2], c.nu[2], 0.0, 2e-6);
        }
        double next[AXES];
        double pose[AXES] = {0};
        memcpy(next, c.nu, sizeof next);
        model_step(&usv3_model, c.p.theta, next, pose, PUSH, NULL, 1e-6 * TICK_US);
        if (k > 300) {
            CHECK_NEAR("step average", c.target.nu_dot[0],
                       (next[0] - c.nu[0]) / (1e-6 * TICK_US), 0.0, 1e-5);
        }
        memcpy(c.nu, next, sizeof next);
        c.now_us += TICK_US;
    }
    CHECK_NEAR("latency", c.s.latency_s, 0.2, 0.0, 1e-9);
}

static void test_gates(void)
{
    struct scenario c = begin_scenario(SHADOW_MODEL);
    static const double bad[AXES] = {NAN, 0.0, 0.0};
    for (int k = 0; k < 10; k++) {
        step_tick(&c, true);
    }
    const int64_t now = c.now_us;
    const struct shadow before = c.s;
    CHECK_INT("again", shadow_sample(&c.s, &c.p, now, now, c.nu, PUSH, NULL), SHADOW_DUPLICATE);
    CHECK_INT("overtaken", shadow_sample(&c.s, &c.p, now - 5000, now, c.nu, PUSH, NULL),
              SHADOW_OLD);
    CHECK_INT("no number", shadow_sample(&c.s, &c.p, now + 1, now + 1, bad, PUSH, NULL),
              SHADOW_NOT_FINITE);
    CHECK_INT("no effort", shadow_sample(&c.s, &c.p, now + 1, now + 1, c.nu, bad, NULL),
              SHADOW_NOT_FINITE);
    CHECK("none of them counted as the robot's",
          memcmp(c.s.nu, before.nu, sizeof before.nu) == 0);
    CHECK_INT("of the future",
              shadow_sample(&c.s, &c.p, now + 9000000, now + 10000, c.nu, PUSH, NULL),
              SHADOW_CLAMPED);
    CHECK_INT("counts as of now", c.s.at_us, now + 10000);
    CHECK_INT("of long ago",
              shadow_sample(&c.s, &c.p, now - 90000000, now + 2000000, c.nu, PUSH, NULL),
              SHADOW_CLAMPED);
    CHECK_INT("counts as a second old", c.s.at_us, now + 1000000);
    CHECK_INT("all counted", c.s.count[SHADOW_ACCEPTED], 12);
    for (int g = 0; g < SHADOW_GATE_COUNT; g++) {
        CHECK("has a name", strcmp(shadow_gate_name((enum shadow_gate)g), "unknown") != 0);
    }
}

static void test_silence_and_return(void)
{
    for (int method = 0; method < SHADOW_METHOD_COUNT; method++) {
        struct scenario c = begin_scenario((enum shadow_method)method);
        for (int k = 0; k < 1000; k++) {
            step_tick(&c, true);
        }
        const double cruise = c.target.nu[0];
        CHECK_INT("tracking", c.s.state, SHADOW_TRACKING);
        c.jump = 0.0;
        for (int k = 0; k < 80; k++) {
            step_tick(&c, false);
        }
        CHECK_INT("holding", c.s.state, SHADOW_HOLDING);
        CHECK_NEAR("the velocity", c.target.nu[0], cruise, 0.05, 0.0);
        for (int k = 0; k < 120; k++) {
            step_tick(&c, false);
        }
        CHECK_INT("stopping", c.s.state, SHADOW_STOPPING);
        CHECK("slower", c.target.nu[0] < 0.8 * cruise && c.target.nu_dot[0] < 0.0);
        for (int k = 0; k < 200; k++) {
            step_tick(&c, false);
        }
        CHECK_INT("stopped", c.s.state, SHADOW_STOPPED);
        CHECK_NEAR("at rest", c.target.nu[0], 0.0, 0.0, 0.0);
        CHECK("down without a jump", c.jump < 0.02);
        c.jump = 0.0;
        for (int k = 0; k < 500; k++) {
            step_tick(&c, true);
        }
        CHECK_INT("tracking again", c.s.state, SHADOW_TRACKING);
        CHECK("up without a jump", c.jump < 0.04);
        CHECK_NEAR("and there again", c.target.nu[0], c.nu[0], 0.0, 1e-3);
    }
}

static void test_before_the_first_sample(void)
{
    struct scenario c = begin_scenario(SHADOW_MODEL);
    struct follower_target target = {.nu = {1.0}};
    CHECK("nothing yet", !shadow_target(&c.s, &c.p, c.now_us, 0.01, &target));
    CHECK_NEAR("a standstill", target.nu[0], 0.0, 0.0, 0.0);
    CHECK_INT("idle", c.s.state, SHADOW_IDLE);
    shadow_sample(&c.s, &c.p, c.now_us, c.now_us, (double[AXES]){1.0, 0.0, 0.0}, NOTHING, NULL);
    CHECK("now there is", shadow_target(&c.s, &c.p, c.now_us, 0.01, &target));
    CHECK_NEAR("from a standstill", target.nu[0], 0.0, 0.0, 1e-9);
}

/* A reported rate replaces that of the samples, but not through zero. */
static void test_given_rates(void)
{
    struct scenario c = begin_scenario(SHADOW_RAMP);
    const double falling[AXES] = {-5.0, 0.0, NAN};
    const double rising[AXES] = {5.0, -5.0, 0.0};
    const double applied[][AXES] = {{0.2, 0.0, 0.0}, {0.1, 0.1, 0.0}, {0.0, -0.1, 0.0}};
    for (size_t k = 0; k < COUNT(applied); k++) {
        shadow_sample(&c.s, &c.p, c.now_us, c.now_us, NOTHING, applied[k], NULL);
        c.now_us += TICK_US;
    }
    shadow_set_rate(&c.s, &c.p, falling);
    CHECK_NEAR("no number: as the samples have it", c.s.tau_dot[0], 0.0, 0, 0);
    shadow_set_rate(&c.s, &c.p, (const double[AXES]){-5.0, -5.0, 3.0});
    CHECK_NEAR("has braked", c.s.tau_dot[0], 0.0, 0, 0);
    CHECK_NEAR("goes on", c.s.tau_dot[1], -5.0, 0, 0);
    CHECK_NEAR("begins", c.s.tau_dot[2], 3.0, 0, 0);
    shadow_set_rate(&c.s, &c.p, rising);
    CHECK_NEAR("turns round", c.s.tau_dot[0], 5.0, 0, 0);
}

/* The gain: as a steady Kalman filter's, for any sample time. */
static void test_noise_is_filtered(void)
{
    struct scenario c = begin_scenario(SHADOW_MODEL);
    unsigned state = 1;
    double square = 0.0;
    int n = 0;
    for (int k = 0; k < 4000; k++) {
        model_step(&usv3_model, c.p.theta, c.nu, c.pose, PUSH, NULL, 0.02);
        c.now_us += 20000;
        double noisy[AXES];
        for (size_t i = 0; i < AXES; i++) {
            double sum = 0.0;
            for (int j = 0; j < 12; j++) {
                state = state * 1664525U + 1013904223U;
                sum += (double)state / 4294967296.0;
            }
            noisy[i] = c.nu[i] + 0.03 * (sum - 6.0);
        }
        shadow_sample(&c.s, &c.p, c.now_us, c.now_us, noisy, PUSH, NULL);
        if (k > 1000) {
            square += (c.s.nu[0] - c.nu[0]) * (c.s.nu[0] - c.nu[0]);
            n++;
        }
    }
    CHECK("a fifth of the noise is left, or less", sqrt(square / n) < 0.2 * 0.03);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("shadow", NULL, NULL);
    CU_add_test(suite, "late samples", test_late_samples);
    CU_add_test(suite, "gates", test_gates);
    CU_add_test(suite, "silence and return", test_silence_and_return);
    CU_add_test(suite, "before the first sample", test_before_the_first_sample);
    CU_add_test(suite, "reported rates", test_given_rates);
    CU_add_test(suite, "noise is filtered", test_noise_is_filtered);
    return check_run();
}
