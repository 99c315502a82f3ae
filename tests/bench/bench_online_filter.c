/* Measures one sample of a vessel's online filter (nine parameters) against a floor in the same
 * run: one Runge-Kutta step of the model. Prints one JSON line. */
#include "identification/online/online_filter.h"
#include "tests/bench/bench.h"
#include "tests/support/usv_truth.h"

enum { BATCHES = 31, REPEATS = 20, SAMPLES = REPEATS * USV_SAMPLES };

static struct usv_record record;
static struct online_filter filter;

static double floor_s(const double *theta)
{
    double nu[3] = {0.0, 0.0, 0.0};
    double pose[3] = {0.0, 0.0, 0.0};
    const double from_s = bench_cpu_s();
    for (size_t k = 0; k < SAMPLES; k++) {
        const size_t at = k % USV_SAMPLES;
        const double tau[3] = {record.tau[0][at], record.tau[1][at], record.tau[2][at]};
        model_step(&usv3_model, theta, nu, pose, tau, NULL, 0.1);
    }
    if (!isfinite(nu[0])) {
        bench_fail("the simulation ran away");
    }
    return (bench_cpu_s() - from_s) / SAMPLES;
}

static double step_s(const struct online_params *p, const struct online_start *start)
{
    bool drifted = false;
    struct online_drift drift;
    online_filter_reset(&filter, &usv3_model, p);
    if (!online_filter_start(&filter, &usv3_model, start)) {
        bench_fail("the start is not physical");
    }
    const double from_s = bench_cpu_s();
    for (size_t k = 0; k < SAMPLES; k++) {
        const size_t at = k % USV_SAMPLES;
        struct online_sample s = {.t_us = (int64_t)k * 100000, .nu_count = 3, .tau_count = 3};
        for (size_t i = 0; i < 3; i++) {
            s.nu[i] = record.measured[i][at];
            s.tau[i] = record.tau[i][at];
        }
        (void)online_filter_step(&filter, &usv3_model, p, &s, &drifted, &drift);
    }
    const double took_s = (bench_cpu_s() - from_s) / SAMPLES;
    if (filter.gate[ONLINE_USED] < SAMPLES / 2) {
        bench_fail("most samples were passed over");
    }
    return took_s;
}

int main(void)
{
    double bare[BATCHES];
    double full[BATCHES];
    struct online_params p = online_params_defaults();
    struct online_start start;
    if (usv_read("W", &record) != USV_SAMPLES) {
        bench_fail("tests/golden/usv_W.csv");
    }
    for (size_t j = 0; j < USV3_PARAMETERS; j++) {
        start.theta[j] = usv3_vessel_find("wamv")->theta[j];
        start.se[j] = 0.05 * start.theta[j];
    }
    for (size_t i = 0; i < 3; i++) {
        start.noise_sd[i] = usv_noise_sd[i];
        start.walk_sd[i] = 0.1 * usv_noise_sd[i];
    }
    for (size_t i = 0; i < BATCHES; i++) {
        bare[i] = floor_s(start.theta);
        full[i] = step_s(&p, &start);
    }
    const double floor = bench_median(bare, BATCHES);
    const double step = bench_median(full, BATCHES);
    (void)printf("{\"bench\":\"online_filter\",\"samples\":%d,\"us\":%.2f,\"floor_us\":%.3f,"
                 "\"ratio\":%.1f,\"bytes\":%zu}\n",
                 SAMPLES, 1e6 * step, 1e6 * floor, step / floor, sizeof filter);
    return EXIT_SUCCESS;
}
