/* needs: full */
/* Output error on known truth: bias, error bars and delay, over many draws of the noise
 * (docs/model/output_error.md). TANDEM_RUNS: draws, default 40. */
#include "tests/support/campaign.h"

#include "identification/simulation/output_error.h"
#include "tests/support/usv_truth.h"

enum { P = USV3_PARAMETERS };

static const double *truth; /* of the WAM-V */

static struct usv_record record;

/* Sums over the draws; entry P is the delay, in seconds. */
struct outcome {
    double error[P + 1], error2[P + 1]; /* relative; of the delay absolute */
    size_t inside[P], inside_hac[P];
    size_t interval[P + 1]; /* lo .. hi of the fit */
    size_t white;
    double steps, delay_s;
};

static void draw_fit(const struct search_options *options, uint64_t *state, struct outcome *sum)
{
    struct search_report report;
    struct dynamics_derived delay;
    struct dynamics_fit fit;
    double start[P];
    usv_measure(&record, state);
    /* Disturbs it by the error of derivatives by differences. */
    for (size_t i = 0; i < P; i++) {
        start[i] = truth[i] * (0.6 + 0.8 * usv_uniform(state));
    }
    const struct data_set set = usv_set(&record);
    CU_ASSERT_EQUAL_FATAL(
        output_error_fit(&usv3_model, &set, start, options, NULL, &fit, &report), STATUS_OK);
    CHECK_INT("stop", fit.stop, DYNAMICS_STOP_CONVERGED);
    sum->white += report.white;
    sum->steps += (double)fit.iterations;
    for (size_t i = 0; i < P; i++) {
        const double e = fit.estimate.value[i] / truth[i] - 1.0;
        sum->error[i] += e;
        sum->error2[i] += e * e;
        sum->inside[i] +=
            fabs(fit.estimate.value[i] - truth[i]) <= 1.959964 * fit.estimate.se_white[i];
        sum->inside_hac[i] +=
            fabs(fit.estimate.value[i] - truth[i]) <= 1.959964 * fit.se_hac[i];
        sum->interval[i] += fit.estimate.lo[i] <= truth[i] && truth[i] <= fit.estimate.hi[i];
    }
    if (options->fit_delay) {
        const double e = fit.delay_s - sum->delay_s;
        sum->error[P] += e;
        sum->error2[P] += e * e;
        dynamics_derive_delay(&fit, &delay);
        sum->interval[P] += delay.lo <= sum->delay_s && sum->delay_s <= delay.hi;
    }
}

static struct outcome repeat_fits(const char *row, const struct search_options *options,
                                  double delay_s)
{
    const size_t runs = campaign.runs;
    const double n = (double)runs;
    const size_t count = options->fit_delay ? P + 1 : P;
    struct outcome o = {.delay_s = delay_s};
    uint64_t state = UINT64_C(0x9E3779B97F4A7C15) * (campaign.seed + 1);
    for (size_t run = 0; run < runs; run++) {
        draw_fit(options, &state, &o);
    }
    campaign_row("searches", runs, "%s", row);
    campaign_value("steps", o.steps / n);
    campaign_count("white", o.white, runs);
    campaign_end();
    for (size_t i = 0; i < count; i++) {
        const double unit = i < P ? 100.0 : 1000.0;
        campaign_row(row, runs, "%s", i < P ? usv3_model.parameters[i].symbol : "delay, ms");
        campaign_value("bias_percent", unit * o.error[i] / n);
        campaign_value("rmse_percent", unit * sqrt(o.error2[i] / n));
        if (i < P) {
            campaign_count("ordinary", o.inside[i], runs);
            campaign_count("robust", o.inside_hac[i], runs);
        }
        campaign_count("interval", o.interval[i], runs);
        campaign_end();
    }
    return o;
}

static void check_bias(const char *row, const struct outcome *o, double level, double level_d9)
{
    for (size_t i = 0; i < P; i++) {
        const double n = (double)campaign.runs;
        const double noise = campaign.runs >= 200 ? 0.0 : 3.0 * sqrt(o->error2[i] / n / n);
        CHECK_NEAR(row, o->error[i] / n, 0.0, 0.0, (i == 8 ? level_d9 : level) + noise);
    }
}

static void check_coverage(const char *row, const struct outcome *o, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double share =
            (double)(i < P ? o->inside[i] : o->interval[P]) / (double)campaign.runs;
        CHECK(row,
              share >= 0.90 - campaign_slack(0.90) && share <= 0.98 + campaign_slack(0.98));
    }
}

static void test_measurement_noise(void)
{
    struct search_options options;
    search_defaults(&usv3_model, &options);
    CU_ASSERT_EQUAL_FATAL(usv_read("W", &record), USV_SAMPLES);
    const struct outcome o = repeat_fits("measurement noise", &options, 0.0);
    check_bias("measurement noise", &o, 0.0015, 0.01);
    check_coverage("measurement noise", &o, P);
    CHECK("white", (double)o.white / (double)campaign.runs >= 0.96 - campaign_slack(0.96));
}

static void test_delay(void)
{
    struct search_options options;
    search_defaults(&usv3_model, &options);
    options.fit_delay = true;
    options.delay_s_min = -0.2;
    options.delay_s_max = 0.5;
    CU_ASSERT_EQUAL_FATAL(usv_read("W", &record), USV_SAMPLES);
    usv_drive(&record, truth, 0.06, NULL);
    const struct outcome o = repeat_fits("60 ms late", &options, 0.06);
    check_bias("delay", &o, 0.0015, 0.01);
    check_coverage("delay", &o, P + 1);
    CHECK_NEAR("delay", o.error[P] / (double)campaign.runs, 0.0, 0.0, 0.0005);
    CHECK_NEAR("delay", sqrt(o.error2[P] / (double)campaign.runs), 0.0, 0.0, 0.003);
}

int main(void)
{
    CU_pSuite suite = campaign_open("output_error", 20240601, 40, 0);
    truth = usv3_vessel_find("wamv")->theta;
    CU_add_test(suite, "measurement noise", test_measurement_noise);
    CU_add_test(suite, "delay", test_delay);
    return check_run();
}
