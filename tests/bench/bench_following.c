/* Measures a control step, the law alone and a whole tick with telemetry of both sides, against
 * a floor of the same run: one integration step of the model. Then a thousand followers at 100
 * Hz: their share of a core. Prints one JSON line. */
#include <math.h>
#include <string.h>

#include "identification/model/usv3.h"
#include "tests/bench/bench.h"
#include "twin/following/pair_following.h"

enum { BATCHES = 31, STEPS = 20000, FOLLOWERS = 1000, PERIODS = 100, AXES = USV3_AXES };

/* Gains that suit a period of 10 ms. */
static void set_gains(struct follower_gains *gains)
{
    *gains = (struct follower_gains){.bandwidth_radps = {5.0, 5.0, 5.0},
                                     .rejection = FOLLOWER_OBSERVER,
                                     .observer_radps = 8.0,
                                     .blend_s = 0.5};
}

static void set_up(struct following_params *p)
{
    *p = (struct following_params){.follower = {.model = &usv3_model, .period_s = 0.01},
                                   .fidelity = {.model = &usv3_model,
                                                .window_us = 60000000,
                                                .target_m = 0.05,
                                                .target_us = 50000,
                                                .target_ratio = 0.95}};
    memcpy(p->follower.theta, usv3_vessel_find("wamv")->theta, sizeof(double[USV3_PARAMETERS]));
    set_gains(&p->follower.gains);
    allocation_direct(&p->follower.allocation, AXES, NULL);
    shadow_params_default(&p->real);
    p->real.model = &usv3_model;
    p->real.axes = AXES;
    memcpy(p->real.theta, usv3_vessel_find("iacquabot")->theta,
           sizeof(double[USV3_PARAMETERS]));
    p->simulated = p->real;
    p->simulated.drift_per_s = 1e4;
    p->simulated.blend_s = 0.0;
    memcpy(p->simulated.theta, p->follower.theta, sizeof p->simulated.theta);
}

static double floor_s(const struct following_params *p)
{
    double nu[AXES] = {0};
    double pose[AXES] = {0};
    const double tau[AXES] = {60.0, 0.0, 10.0};
    const double from_s = bench_cpu_s();
    for (int k = 0; k < STEPS; k++) {
        model_step(&usv3_model, p->follower.theta, nu, pose, tau, NULL, 0.01);
    }
    if (!(nu[0] > 0.0)) {
        bench_fail("the simulation did not move");
    }
    return (bench_cpu_s() - from_s) / STEPS;
}

static double law_s(const struct following_params *p)
{
    struct follower f = {0};
    struct follower_target target = {.nu = {0.5, 0.0, 0.1}};
    struct follower_output out;
    double nu[AXES] = {0};
    double sum = 0.0;
    const double pose[AXES] = {0};
    const double from_s = bench_cpu_s();
    for (int k = 0; k < STEPS; k++) {
        nu[0] = 0.5 + 1e-6 * (double)(k % 100);
        (void)follower_step(&f, &p->follower, &target, nu, pose, &out);
        sum += out.tau[0];
    }
    if (!isfinite(sum)) {
        bench_fail("the law gave no number");
    }
    return (bench_cpu_s() - from_s) / STEPS;
}

/* A second of telemetry at 50 Hz and ticks at 100 Hz, of all of them. */
static double fleet_s(struct following *all, const struct following_params *p, int64_t *now_us)
{
    const double tau[AXES] = {60.0, 0.0, 10.0};
    const double from_s = bench_cpu_s();
    uint64_t sent = 0;
    for (int k = 0; k < PERIODS; k++, *now_us += 10000) {
        const double nu[AXES] = {0.5 + 1e-4 * k, 0.0, 0.1};
        const double pose[AXES] = {0.005 * k, 0.0, 0.0};
        for (int i = 0; i < FOLLOWERS; i++) {
            unsigned changes = 0;
            if (k % 2 == 0) {
                (void)following_real(&all[i], p, *now_us, *now_us, nu, tau, pose);
                (void)following_simulated(&all[i], p, *now_us, *now_us, nu, pose);
            }
            sent += following_tick(&all[i], p, *now_us, &changes) ? 1 : 0;
        }
    }
    if (sent == 0) {
        bench_fail("no effort was sent");
    }
    return bench_cpu_s() - from_s;
}

int main(void)
{
    struct following_params p;
    double floors[BATCHES];
    double laws[BATCHES];
    double fleet[5];
    int64_t now_us = 1700000000000000;
    struct following *all = calloc(FOLLOWERS, sizeof *all);
    if (!all) {
        bench_fail("memory");
    }
    set_up(&p);
    for (size_t i = 0; i < BATCHES; i++) {
        floors[i] = floor_s(&p);
        laws[i] = law_s(&p);
    }
    for (int i = 0; i < FOLLOWERS; i++) {
        following_init(&all[i], now_us);
        following_want(&all[i], true);
    }
    (void)fleet_s(all, &p, &now_us); /* memory is touched for the first time */
    for (size_t i = 0; i < 5; i++) {
        fleet[i] = fleet_s(all, &p, &now_us);
    }
    free(all);
    const double floor = bench_median(floors, BATCHES);
    const double law = bench_median(laws, BATCHES);
    const double second = bench_median(fleet, 5);
    (void)printf("{\"bench\":\"following\",\"law_us\":%.3f,\"model_step_us\":%.3f,"
                 "\"ratio\":%.2f,\"tick_us\":%.3f,\"followers\":%d,\"core_ratio\":%.3f,"
                 "\"bytes_each\":%zu}\n",
                 1e6 * law, 1e6 * floor, law / floor, 1e6 * second / PERIODS / FOLLOWERS,
                 FOLLOWERS, second, sizeof(struct following));
    return EXIT_SUCCESS;
}
