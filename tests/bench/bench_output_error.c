/* Measures an output-error fit of 1500 samples, from derivatives by central differences to
 * error bars, against a floor in the same run: one plain simulation of the recording. Prints
 * one JSON line. */
#include <gsl/gsl_errno.h>

#include "identification/simulation/output_error.h"
#include "tests/bench/bench.h"
#include "tests/support/usv_truth.h"

enum { BATCHES = 31 };

static struct usv_record record;

static double floor_s(const double *theta)
{
    double nu[3] = {0.0, 0.0, 0.0};
    double pose[3] = {0.0, 0.0, 0.0};
    const double from_s = bench_cpu_s();
    for (size_t k = 0; k < USV_SAMPLES; k++) {
        const double tau[3] = {record.tau[0][k], record.tau[1][k], record.tau[2][k]};
        model_step(&usv3_model, theta, nu, pose, tau, NULL, 0.1);
    }
    if (!isfinite(nu[0])) {
        bench_fail("the simulation ran away");
    }
    return bench_cpu_s() - from_s;
}

int main(void)
{
    static const double start[] = {79.7871, 73.354,  65.8859, 46.6015, 23.9601,
                                   23.1509, 17.0397, 95.6978, 14.5417};
    double bare[BATCHES];
    double full[BATCHES];
    double delayed[BATCHES];
    struct search_options options;
    struct search_report report;
    struct dynamics_fit fit;

    (void)gsl_set_error_handler_off();
    if (usv_read("W", &record) != USV_SAMPLES) {
        bench_fail("tests/golden/usv_W.csv");
    }
    const struct data_set set = usv_set(&record);
    for (size_t i = 0; i < BATCHES; i++) {
        bare[i] = floor_s(usv3_vessel_find("wamv")->theta);
        search_defaults(&usv3_model, &options);
        for (int with_delay = 0; with_delay < 2; with_delay++) {
            options.fit_delay = with_delay;
            options.delay_s_min = -0.2;
            options.delay_s_max = 0.5;
            const double from_s = bench_cpu_s();
            const enum status st =
                output_error_fit(&usv3_model, &set, start, &options, NULL, &fit, &report);
            (with_delay ? delayed : full)[i] = bench_cpu_s() - from_s;
            if (st != STATUS_OK || fit.stop != DYNAMICS_STOP_CONVERGED) {
                bench_fail("the fit did not converge");
            }
        }
    }
    const double floor = bench_median(bare, BATCHES);
    const double median = bench_median(full, BATCHES);
    (void)printf(
        "{\"bench\":\"output_error\",\"samples\":%d,\"ms\":%.1f,\"ms_with_delay\":%.1f,"
        "\"floor_ms\":%.3f,\"ratio\":%.1f}\n",
        USV_SAMPLES, 1e3 * median, 1e3 * bench_median(delayed, BATCHES), 1e3 * floor,
        median / floor);
    return EXIT_SUCCESS;
}
