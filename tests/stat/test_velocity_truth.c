/* short: TANDEM_RUNS=1 */
/* Robots that follow velocity commands, on known truth: bias, error bars and delay over many
 * draws of commands and noise, by the path the command line takes
 * (docs/model/velocity_dynamics.md and first_order.md). TANDEM_RUNS: draws, default 12. */
#include "tests/support/campaign.h"

#include "identification/dynamics/dynamics_estimate.h"
#include "identification/model/models.h"
#include "tests/support/usv_truth.h"

enum { SAMPLES = 1200, FINE = 20, ROWS_MAX = MODEL_PARAMETERS_MAX + 8 };

static const double DT_S = 0.05;

/* Knowledge about a robot, and its drive. */
struct truth {
    const char *name;
    const struct model *model;
    double theta[MODEL_PARAMETERS_MAX];
    double delay_s; /* a whole number of fine steps */
    double noise_sd[MODEL_AXES_MAX];
    double command_min[MODEL_AXES_MAX], command_max[MODEL_AXES_MAX];
    double hold_s_min, hold_s_max; /* of one command */
    double bias_max;               /* of the mean of the draws, relative, at 200 of them */
};

static const struct truth truths[] = {
    {.name = "diffdrive",
     .model = &diffdrive_model,
     .theta = {0.25, 0.18, 0.03, 1.05, 0.15, 1.08},
     .delay_s = 0.08,
     .noise_sd = {0.005, 0.01},
     .command_min = {-0.2, -2.0},
     .command_max = {0.8, 2.0},
     .hold_s_min = 0.3,
     .hold_s_max = 2.0,
     .bias_max = 0.005},
    {.name = "dry friction",
     .model = NULL, /* that of diffdrive_friction_row */
     .theta = {0.25, 0.18, 0.03, 1.05, 0.15, 1.08, 0.04, 0.35},
     .delay_s = 0.08,
     .noise_sd = {0.005, 0.01},
     .command_min = {-0.2, -2.0},
     .command_max = {0.8, 2.0},
     .hold_s_min = 0.3,
     .hold_s_max = 2.0,
     .bias_max = 0.005},
    {.name = "first_order",
     .model = &first_order_model,
     .theta = {0.26, 1.05},
     .delay_s = 0.06,
     .noise_sd = {0.02},
     .command_min = {-1.0},
     .command_max = {1.0},
     .hold_s_min = 0.3,
     .hold_s_max = 2.0,
     .bias_max = 0.002},
    {.name = "dead band",
     .model = &first_order_deadband_model,
     .theta = {0.14, 0.6, 5.0},
     .delay_s = 0.06,
     .noise_sd = {0.8},
     .command_min = {-60.0},
     .command_max = {60.0},
     .hold_s_min = 0.3,
     .hold_s_max = 2.0,
     .bias_max = 0.005},
    {.name = "no dead band",
     .model = &first_order_deadband_model,
     .theta = {0.14, 0.6, 0.0},
     .delay_s = 0.06,
     .noise_sd = {0.8},
     .command_min = {-60.0},
     .command_max = {60.0},
     .hold_s_min = 0.3,
     .hold_s_max = 2.0,
     .bias_max = 0.005},
};

static double t_s[SAMPLES];
static double command[MODEL_AXES_MAX][SAMPLES];
static double clean[MODEL_AXES_MAX][SAMPLES];
static double measured[MODEL_AXES_MAX][SAMPLES];

/* Commands of random size and length, and what the robot does under them, from rest. */
static void simulate_drive(const struct truth *truth, uint64_t *state)
{
    double nu[MODEL_AXES_MAX] = {0.0};
    double pose[MODEL_AXES_MAX] = {0.0};
    const size_t axes = truth->model->axis_count;
    for (size_t a = 0; a < axes; a++) {
        double until_s = 0.0;
        double held = 0.0;
        for (size_t k = 0; k < SAMPLES; k++) {
            t_s[k] = DT_S * (double)k;
            if (t_s[k] >= until_s) {
                held = truth->command_min[a] +
                       (truth->command_max[a] - truth->command_min[a]) * usv_uniform(state);
                held = usv_uniform(state) < 0.15 ? 0.0 : held;
                until_s += truth->hold_s_min +
                           (truth->hold_s_max - truth->hold_s_min) * usv_uniform(state);
            }
            command[a][k] = held;
        }
    }
    for (size_t k = 0; k < SAMPLES; k++) {
        for (size_t a = 0; a < axes; a++) {
            clean[a][k] = nu[a];
        }
        for (size_t f = 0; f < FINE; f++) {
            const double late_s =
                DT_S * ((double)k + ((double)f + 0.5) / FINE) - truth->delay_s;
            double tau[MODEL_AXES_MAX] = {0.0};
            for (size_t a = 0; a < axes && late_s >= 0.0; a++) {
                tau[a] = command[a][(size_t)(late_s / DT_S)];
            }
            model_step(truth->model, truth->theta, nu, pose, tau, NULL, DT_S / FINE);
        }
    }
}

static struct data_set measure_truth(const struct truth *truth, uint64_t *state)
{
    struct data_set set = {.axes = truth->model->axis_count,
                           .n = SAMPLES,
                           .dt_s = DT_S,
                           .t_s = t_s,
                           .run_count = 1,
                           .run_start = {0, SAMPLES}};
    for (size_t a = 0; a < set.axes; a++) {
        for (size_t k = 0; k < SAMPLES; k++) {
            measured[a][k] = clean[a][k] + truth->noise_sd[a] * usv_normal(state);
        }
        set.nu[a] = measured[a];
        set.tau[a] = command[a];
        set.noise_sd[a] = truth->noise_sd[a];
    }
    return set;
}

/* One quantity over the draws. */
struct tally {
    const char *name;
    double want, error, error2;
    size_t inside, identified;
};

static void count_result(struct tally *tally, const char *name, double want, double got,
                         double lo, double hi, bool identified)
{
    tally->name = name;
    tally->want = want;
    tally->error += got - want;
    tally->error2 += (got - want) * (got - want);
    tally->inside += lo <= want && want <= hi;
    tally->identified += identified;
}

/* Parameters, derived quantities, delay: in this order. Returns their number. */
static size_t count_all(const struct truth *truth, const struct dynamics_fit *fit,
                        struct tally *tally)
{
    const struct model *model = truth->model;
    size_t row = 0;
    for (size_t i = 0; i < model->parameter_count; i++, row++) {
        count_result(&tally[row], model->parameters[i].name, truth->theta[i],
                     fit->estimate.value[i], fit->estimate.lo[i], fit->estimate.hi[i],
                     fit->estimate.identifiable[i]);
    }
    for (size_t i = 0; i < model->derived_count; i++, row++) {
        double gradient[MODEL_PARAMETERS_MAX];
        struct dynamics_derived is;
        dynamics_derive(fit, model, i, &is);
        count_result(&tally[row], model->derived[i].name,
                     model_derive(model, i, truth->theta, gradient), is.value, is.lo, is.hi,
                     true);
    }
    const double reach_s = 1.959964 * fit->delay_se_s;
    count_result(&tally[row], "delay_s", truth->delay_s, fit->delay_s, fit->delay_s - reach_s,
                 fit->delay_s + reach_s, true);
    return row + 1;
}

static size_t repeat_runs(const struct truth *truth, struct tally *tally, size_t *white)
{
    uint64_t state = UINT64_C(0x9E3779B97F4A7C15) * (campaign.seed + 1);
    const struct dynamics_options options = dynamics_options_defaults();
    size_t rows = 0;
    for (size_t run = 0; run < campaign.runs; run++) {
        struct dynamics_fit fit;
        simulate_drive(truth, &state);
        const struct data_set set = measure_truth(truth, &state);
        CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(truth->model, &set, &options, &fit),
                              STATUS_OK);
        *white += fit.method == DYNAMICS_OUTPUT_ERROR;
        rows = count_all(truth, &fit, tally);
    }
    return rows;
}

static void report_rows(const struct truth *truth, const struct tally *tally, size_t rows,
                        size_t white)
{
    const size_t runs = campaign.runs;
    for (size_t i = 0; i < rows; i++) {
        const double unit = tally[i].want > 0.0 ? 100.0 / tally[i].want : 1.0;
        campaign_row(truth->name, runs, "%s", tally[i].name);
        campaign_value("truth", tally[i].want);
        campaign_value(tally[i].want > 0.0 ? "bias_percent" : "bias",
                       unit * tally[i].error / (double)runs);
        campaign_value(tally[i].want > 0.0 ? "rmse_percent" : "rmse",
                       unit * sqrt(tally[i].error2 / (double)runs));
        campaign_count("held", tally[i].inside, runs);
        campaign_count("identifiable", tally[i].identified, runs);
        campaign_end();
    }
    campaign_row("method", runs, "%s", truth->name);
    campaign_count("output_error", white, runs);
    campaign_end();
}

static void test_truth(const struct truth *truth)
{
    struct tally tally[ROWS_MAX] = {{0}};
    size_t white = 0;
    const double n = (double)campaign.runs;
    const size_t rows = repeat_runs(truth, tally, &white);
    report_rows(truth, tally, rows, white);
    CHECK(truth->name, (double)white >= (0.9 - campaign_slack(0.9)) * n);
    for (size_t i = 0; i < rows; i++) {
        const double noise = 3.0 * sqrt(tally[i].error2) / n;
        const double scale = tally[i].want > 0.0 ? tally[i].want : truth->command_max[0];
        const double share = (double)tally[i].inside / n;
        CHECK_NEAR(tally[i].name, tally[i].error / n, 0.0, 0.0,
                   truth->bias_max * scale + noise);
        CHECK(tally[i].name, share >= 0.90 - campaign_slack(0.90));
        /* A zero parameter is at its bound in half of the draws, and its interval contains
         * it. */
        CHECK(tally[i].name, !(tally[i].want > 0.0) || share <= 0.98 + campaign_slack(0.98));
        CHECK(tally[i].name, !(tally[i].want > 0.0) || tally[i].identified == campaign.runs);
        CHECK(tally[i].name, tally[i].want > 0.0 || (double)tally[i].identified <= 0.2 * n);
    }
    CHECK_NEAR("delay", sqrt(tally[rows - 1].error2 / n), 0.0, 0.0, 0.003);
}

static void test_diffdrive(void)
{
    test_truth(&truths[0]);
}

static void test_first_order(void)
{
    test_truth(&truths[2]);
}

static void test_dry_friction(void)
{
    struct truth truth = truths[1];
    truth.model = diffdrive_friction_row.model;
    test_truth(&truth);
}

static void test_dead_band(void)
{
    test_truth(&truths[3]);
}

static void test_no_dead_band(void)
{
    test_truth(&truths[4]);
}

int main(void)
{
    CU_pSuite suite = campaign_open("velocity_truth", 20240601, 12, 0);
    CU_add_test(suite, "diffdrive", test_diffdrive);
    CU_add_test(suite, "dry friction", test_dry_friction);
    CU_add_test(suite, "first order", test_first_order);
    CU_add_test(suite, "dead band", test_dead_band);
    CU_add_test(suite, "no dead band", test_no_dead_band);
    return check_run();
}
