/* Measures a step of each position controller of a joint, and planning a profile, against a
 * floor of the same run: one step of the joint. Prints one JSON line. */
#include <math.h>

#include "tests/bench/bench.h"
#include "twin/control/position_control.h"
#include "twin/control/servo_joint.h"

enum { BATCHES = 31, STEPS = 20000, PLANS = 2000 };

static const struct servo_joint_params joint = {0.1, 1.0, 1.0, 0.0, HUGE_VAL};

static struct position_params make_params(enum position_kind kind)
{
    struct position_params p = {.kind = kind,
                                .period_s = 0.001,
                                .command_max = 10.0,
                                .command_min = 0.1,
                                .gain_per_s = 1.0,
                                .stop = 0.05,
                                .near_by = 0.2,
                                .tracking_per_s = 20.0,
                                .lag_s = 0.1,
                                .position_gain = 1.0,
                                .limits = {10.0, 200.0, 200.0, 1e4}};
    p.slow = position_slow_window(&p, 0.1);
    return p;
}

static double floor_s(void)
{
    struct servo_joint j = {0};
    const double from_s = bench_cpu_s();
    for (int k = 0; k < STEPS; k++) {
        servo_joint_step(&j, &joint, SERVO_EXACT, 0.001, 10.0, 0.0);
    }
    if (!(j.q_rad > 100.0)) {
        bench_fail("the joint did not move");
    }
    return (bench_cpu_s() - from_s) / STEPS;
}

/* There and back every four seconds, with the joint, whose share is the floor. */
static double step_s(enum position_kind kind)
{
    const struct position_params p = make_params(kind);
    struct position_control c = {0};
    struct servo_joint j = {0};
    double highest = 0.0;
    const double from_s = bench_cpu_s();
    for (int k = 0; k < STEPS; k++) {
        double u = 0.0;
        (void)position_step(&c, &p, k / 4000 % 2 == 0 ? 5.0 : 0.0, j.q_rad, j.w_radps, &u);
        servo_joint_step(&j, &joint, SERVO_EXACT, 0.001, u, 0.0);
        highest = fmax(highest, j.q_rad);
    }
    if (!(highest > 4.5)) {
        bench_fail("the joint did not get there");
    }
    return (bench_cpu_s() - from_s) / STEPS;
}

static double plan_s(void)
{
    const struct motion_limits limits = {10.0, 200.0, 100.0, 1e4};
    struct motion_profile profile;
    double sum = 0.0;
    const double from_s = bench_cpu_s();
    for (int k = 0; k < PLANS; k++) {
        const struct motion start = {0.0, 3.0, 0.0};
        motion_profile_make(&profile, &limits, &start, 0.1 + 1e-4 * k);
        sum += profile.duration_s;
    }
    if (!(sum > 0.0)) {
        bench_fail("computing a profile took no time");
    }
    return (bench_cpu_s() - from_s) / PLANS;
}

int main(void)
{
    double samples[POSITION_KIND_COUNT + 2][BATCHES];
    double median[POSITION_KIND_COUNT + 2];
    for (size_t i = 0; i < BATCHES; i++) {
        for (int kind = 0; kind < POSITION_KIND_COUNT; kind++) {
            samples[kind][i] = step_s((enum position_kind)kind);
        }
        samples[POSITION_KIND_COUNT][i] = floor_s();
        samples[POSITION_KIND_COUNT + 1][i] = plan_s();
    }
    for (size_t k = 0; k < POSITION_KIND_COUNT + 2; k++) {
        median[k] = bench_median(samples[k], BATCHES);
    }
    (void)printf("{\"bench\":\"joint\",\"p_us\":%.4f,\"fsm_us\":%.4f,\"profile_us\":%.4f,"
                 "\"time_optimal_us\":%.4f,\"joint_step_us\":%.4f,\"plan_us\":%.3f}\n",
                 1e6 * median[POSITION_P], 1e6 * median[POSITION_FSM],
                 1e6 * median[POSITION_PROFILE], 1e6 * median[POSITION_TIME_OPTIMAL],
                 1e6 * median[POSITION_KIND_COUNT], 1e6 * median[POSITION_KIND_COUNT + 1]);
    return EXIT_SUCCESS;
}
