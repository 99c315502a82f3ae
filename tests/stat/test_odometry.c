/* needs: full */
/* Wheel radii, track and mounting on known truth: bias, spread and coverage over many draws of
 * noise and slip (docs/model/odometry.md). TANDEM_RUNS: draws, default 25. */
#include "tests/support/campaign.h"

#include "tests/support/odometry_truth.h"

static struct odometry_record record;
static double truth[ODOMETRY_P]; /* as the recording shows it */

struct outcome {
    double error[ODOMETRY_P], error2[ODOMETRY_P];
    size_t inside[ODOMETRY_P], white[ODOMETRY_P], pass;
    double noise_m, noise_rad, slip_m, slip_rad;
};

static void draw_odometry(const struct odometry_scenario *world, size_t parts, uint64_t *state,
                          struct outcome *sum)
{
    static const double starts[2][3] = {{1.0, -2.0, 0.7}, {-0.5, 0.3, -2.9}};
    struct odometry_set set;
    struct odometry_summary summary;
    struct odometry_fit fit;
    record.n = 0;
    struct odometry_raw raw = {.part_count = parts};
    size_t at[3] = {0};
    for (size_t part = 0; part < parts; part++) {
        odometry_drive(&record, odometry_path, COUNT(odometry_path), world, starts[part],
                       state);
        at[part + 1] = record.n;
    }
    raw = odometry_record_raw(&record);
    raw.part_count = parts;
    memcpy(raw.part_start, at, sizeof at);
    CU_ASSERT_EQUAL_FATAL(odometry_set_make(&raw, &set, &summary, NULL), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(odometry_fit_run(&set, &summary, &fit), STATUS_OK);
    odometry_set_free(&set);
    CHECK("converged", fit.converged);
    sum->pass += fit.estimate.verdict == ESTIMATE_PASS;
    sum->noise_m += fit.noise_m;
    sum->noise_rad += fit.noise_rad;
    sum->slip_m += fit.slip_m;
    sum->slip_rad += fit.slip_rad;
    for (size_t i = 0; i < ODOMETRY_P; i++) {
        const double e = fit.estimate.value[i] - truth[i];
        sum->error[i] += e;
        sum->error2[i] += e * e;
        sum->inside[i] += fit.estimate.lo[i] <= truth[i] && truth[i] <= fit.estimate.hi[i];
        sum->white[i] += fabs(e) <= 1.959964 * fit.estimate.se_white[i];
    }
}

/* least: percent that are covered, of many draws; fewer wander by some standard errors more. */
static void test_world(const char *row, const struct odometry_scenario *world, size_t parts,
                       double least)
{
    const size_t runs = campaign.runs;
    const double n = (double)runs;
    struct outcome o = {.pass = 0};
    uint64_t state = UINT64_C(0x9E3779B97F4A7C15) * (campaign.seed + 1);
    for (size_t run = 0; run < runs; run++) {
        draw_odometry(world, parts, &state, &o);
    }
    campaign_row("fits", runs, "%s", row);
    campaign_count("pass", o.pass, runs);
    campaign_value("noise_m", o.noise_m / n);
    campaign_value("noise_rad", o.noise_rad / n);
    campaign_value("slip_m", o.slip_m / n);
    campaign_value("slip_rad", o.slip_rad / n);
    campaign_end();
    for (enum odometry_parameter i = 0; i < ODOMETRY_P; i++) {
        const double rmse = sqrt(o.error2[i] / n);
        const double percent = 100.0 * (double)o.inside[i] / n;
        const double slack = 300.0 * sqrt(0.95 * 0.05 / n);
        campaign_row(row, runs, "%s", odometry_parameter_name(i));
        campaign_value("bias", o.error[i] / n);
        campaign_value("rmse", rmse);
        campaign_count("held", o.inside[i], runs);
        campaign_count("held_if_white", o.white[i], runs);
        campaign_end();
        CHECK_NEAR(row, o.error[i] / n, 0.0, 0.0, rmse * (0.1 + 3.0 / sqrt(n)));
        CHECK_NEAR(row, fmin(percent, least), least, 0.0, slack);
    }
}

static void test_noise(void)
{
    const struct odometry_scenario world = {
        .noise_m = 0.003, .noise_rad = 0.003, .dt_s = 0.0625};
    test_world("noise alone", &world, 1, 90.0);
}

static void test_slip(void)
{
    const struct odometry_scenario world = {.noise_m = 0.002,
                                            .noise_rad = 0.002,
                                            .slip_m = 0.005,
                                            .slip_rad = 0.02,
                                            .dt_s = 0.0625};
    test_world("slip", &world, 1, 90.0);
    test_world("slip, two runs", &world, 2, 90.0);
}

/* Wheels read at 10 Hz on a clock of their own, rows with poses at 16 Hz: a reading in a row is
 * 0 .. 50 ms old when it is new, and the residuals of poses are autocorrelated. */
static void test_held(void)
{
    const struct odometry_scenario world = {.noise_m = 0.002,
                                            .noise_rad = 0.002,
                                            .slip_m = 0.005,
                                            .slip_rad = 0.005,
                                            .dt_s = 0.0625,
                                            .hold_s = 0.1};
    truth[ODOMETRY_SENSOR_DELAY] -= 0.025; /* the mean age of a reading */
    test_world("slow wheels", &world, 1, 80.0);
    truth[ODOMETRY_SENSOR_DELAY] += 0.025;
}

static void test_both(void)
{
    const struct odometry_scenario world = {.noise_m = 0.012,
                                            .noise_rad = 0.014,
                                            .slip_m = 0.02,
                                            .slip_rad = 0.015,
                                            .dt_s = 0.0625};
    test_world("much of both", &world, 1, 90.0);
}

int main(void)
{
    CU_pSuite suite = campaign_open("odometry", 1, 25, 0);
    memcpy(truth, odometry_truth, sizeof truth);
    CU_add_test(suite, "noise", test_noise);
    CU_add_test(suite, "slip", test_slip);
    CU_add_test(suite, "held", test_held);
    CU_add_test(suite, "both", test_both);
    return check_run();
}
