/* needs: a minute */
/* short: TANDEM_RUNS=1 */
/* Prediction error on known truth, with unmeasured forces and without: bias, error bars, and
 * the output error of the same draws (docs/model/prediction_error.md). TANDEM_RUNS: draws,
 * default 10. */
#include "tests/support/campaign.h"

#include "identification/dynamics/dynamics_estimate.h"
#include "identification/model/models.h"
#include "identification/simulation/output_error.h"
#include "identification/simulation/prediction_error.h"
#include "tests/support/usv_truth.h"

enum { P = USV3_PARAMETERS, N = USV3_AXES };

/* Gauss-Markov forces: N, N, N m, and for how long they last. */
static const double force_sd[N] = {3.0, 3.0, 2.0};
static const double force_time_s = 1.0;

static const double *truth;
static struct usv_record record;

struct outcome {
    double error[P], error2[P];
    size_t inside[P];
};

static void draw_forces(uint64_t *state)
{
    static double force[USV_SAMPLES][N];
    const double retained = exp(-0.1 / force_time_s);
    for (size_t k = 0; k < USV_SAMPLES; k++) {
        for (size_t i = 0; i < N; i++) {
            const double fresh = force_sd[i] * usv_normal(state);
            force[k][i] =
                k == 0 ? fresh
                       : retained * force[k - 1][i] + sqrt(1.0 - retained * retained) * fresh;
        }
    }
    usv_drive(&record, truth, 0.0, force);
}

static void add_outcome(struct outcome *o, const struct dynamics_fit *fit, const double *se)
{
    for (size_t i = 0; i < P; i++) {
        const double e = fit->estimate.value[i] / truth[i] - 1.0;
        o->error[i] += e;
        o->error2[i] += e * e;
        o->inside[i] += fabs(fit->estimate.value[i] - truth[i]) <= 1.959964 * se[i];
    }
}

/* Returns the mean share of the intervals that hold. */
static double report_outcome(const char *forces, const char *method, const struct outcome *o)
{
    const double n = (double)campaign.runs;
    size_t held = 0;
    for (size_t i = 0; i < P; i++) {
        campaign_row(forces, campaign.runs, "%s, %s", method, usv3_model.parameters[i].symbol);
        campaign_value("bias_percent", 100.0 * o->error[i] / n);
        campaign_value("rmse_percent", 100.0 * sqrt(o->error2[i] / n));
        campaign_count("held", o->inside[i], campaign.runs);
        campaign_end();
        held += o->inside[i];
    }
    return (double)held / n / P;
}

static void repeat_runs(bool with_forces)
{
    static struct dynamics_fit fit;
    struct search_options options;
    struct search_report simulated;
    struct search_report search;
    struct outcome ordinary = {.error = {0.0}};
    struct outcome robust = {.error = {0.0}};
    struct outcome predicted = {.error = {0.0}};
    const char *forces = with_forces ? "with forces" : "without forces";
    const size_t runs = campaign.runs;
    uint64_t state = UINT64_C(0x9E3779B97F4A7C15) * (campaign.seed + 1);
    size_t white = 0;
    size_t white_simulated = 0;
    double noise[2 * N + 1] = {0.0};
    search_defaults(&usv3_model, &options);
    CU_ASSERT_EQUAL_FATAL(usv_read("W", &record), USV_SAMPLES);
    for (size_t run = 0; run < runs; run++) {
        if (with_forces) {
            draw_forces(&state);
        }
        usv_measure(&record, &state);
        const struct data_set set = usv_set(&record);
        CU_ASSERT_EQUAL_FATAL(
            output_error_fit(&usv3_model, &set, truth, &options, NULL, &fit, &simulated),
            STATUS_OK);
        add_outcome(&ordinary, &fit, fit.estimate.se_white);
        add_outcome(&robust, &fit, fit.se_hac);
        white_simulated += simulated.white;
        double start[P];
        memcpy(start, fit.estimate.value, sizeof start);
        CU_ASSERT_EQUAL_FATAL(
            prediction_error_fit(&usv3_model, &set, start, &options, &fit, &search), STATUS_OK);
        CHECK_INT("stop", fit.stop, DYNAMICS_STOP_CONVERGED);
        add_outcome(&predicted, &fit, fit.estimate.se_white);
        white += search.white;
        for (size_t i = 0; i < N; i++) {
            noise[i] += fit.velocity_sd[i] / (double)runs;
            noise[N + i] += fit.force_sd[i] / (double)runs;
        }
        noise[(size_t)2 * N] += fit.force_time_s / (double)runs;
    }
    campaign_row("noise", runs, "%s", forces);
    campaign_count("white_simulated", white_simulated, runs);
    campaign_count("white", white, runs);
    for (size_t i = 0; i < COUNT(noise); i++) {
        static const char *const names[] = {
            "velocity_1_mps", "velocity_2_mps", "velocity_3_radps", "force_1_n",
            "force_2_n",      "force_3_nm",     "force_time_s"};
        campaign_value(names[i], noise[i]);
    }
    campaign_end();
    (void)report_outcome(forces, "output error, ordinary", &ordinary);
    const double sandwich = report_outcome(forces, "output error, robust", &robust);
    const double mean = report_outcome(forces, "prediction error", &predicted);
    /* Levels for 100 draws of nine intervals each, which depend on each other; fewer wander. */
    const double slack = runs >= 100 ? 0.0 : 0.5 / sqrt((double)runs);
    CHECK("coverage", mean >= 0.90 - slack && mean <= 0.99 + slack);
    CHECK("robust coverage", sandwich >= 0.80 - slack);
    CHECK("white", (double)white >= (0.95 - slack) * (double)runs);
    for (size_t i = 0; i < P; i++) {
        const double se = sqrt(predicted.error2[i] / (double)runs / (double)runs);
        CHECK_NEAR("bias", predicted.error[i] / (double)runs, 0.0, 0.0, 4.0 * se);
        CHECK("efficient",
              !with_forces || runs < 50 || predicted.error2[i] < ordinary.error2[i]);
    }
}

static void test_forces(void)
{
    repeat_runs(true);
}

static void test_no_forces(void)
{
    repeat_runs(false);
}

/* A joint with dry friction, 10 s at 100 Hz: where forces act too, output error finds the delay
 * two samples off, and the likelihood of one step has a valley for each sample. */
static void drive_joint(uint64_t *state, double *t_s, double *nu, double *tau)
{
    enum { SAMPLES = 1000, FINE = 20 };
    static const double theta[] = {0.1, 0.25, 0.3, 0.05};
    const double delay_s = 0.008;
    const double retained = exp(-0.01 / FINE / 0.1);
    double w = 0.0;
    double force = 0.0;
    size_t until = 0;
    for (size_t k = 0; k < SAMPLES; k++) {
        t_s[k] = 0.01 * (double)k;
        nu[k] = w + 0.003 * usv_normal(state);
        tau[k] = k < until ? tau[k - 1] : -3.0 + 6.0 * usv_uniform(state);
        until += k < until ? 0 : 30 + (size_t)(120.0 * usv_uniform(state));
        for (size_t f = 0; f < FINE; f++) {
            const double late_s = 0.01 * ((double)k + ((double)f + 0.5) / FINE) - delay_s;
            force =
                retained * force + sqrt(1.0 - retained * retained) * 0.12 * usv_normal(state);
            const double applied = (late_s >= 0.0 ? tau[(size_t)(late_s / 0.01)] : 0.0) + force;
            model_step(&joint_models[0][2], theta, &w, NULL, &applied, NULL, 0.01 / FINE);
        }
    }
}

static void test_joint(void)
{
    enum { SAMPLES = 1000 };
    static double t_s[SAMPLES];
    static double nu[SAMPLES];
    static double tau[SAMPLES];
    const struct dynamics_options options = dynamics_options_defaults();
    struct data_set set = {.axes = 1,
                           .n = SAMPLES,
                           .dt_s = 0.01,
                           .t_s = t_s,
                           .nu = {nu},
                           .tau = {tau},
                           .run_count = 1,
                           .run_start = {0, SAMPLES},
                           .noise_sd = {0.003}};
    const size_t runs = (campaign.runs + 1) / 2;
    size_t converged = 0;
    for (size_t run = 0; run < runs; run++) {
        uint64_t state = campaign.seed + 1000003 * run;
        struct dynamics_fit fit;
        drive_joint(&state, t_s, nu, tau);
        CU_ASSERT_EQUAL_FATAL(
            dynamics_estimate(&joint_models[0][2], &set, DYNAMICS_PEM, &options, &fit),
            STATUS_OK);
        CHECK_INT("joint", fit.method, DYNAMICS_PEM);
        converged += fit.stop == DYNAMICS_STOP_CONVERGED;
        CHECK_NEAR("inertia", fit.estimate.value[0], 0.1, 0.05, 0.0);
        CHECK_NEAR("dry friction", fit.estimate.value[2], 0.3, 0.3, 0.0);
        CHECK_NEAR("delay", fit.delay_s, 0.008, 0.0, 0.001);
    }
    campaign_row("joint", runs, "dry friction");
    campaign_count("converged", converged, runs);
    campaign_end();
    CHECK("joint", campaign_is_enough(converged, runs, 0.97));
}

int main(void)
{
    CU_pSuite suite = campaign_open("prediction_error", 20240601, 10, 0);
    truth = usv3_vessel_find("wamv")->theta;
    CU_add_test(suite, "forces", test_forces);
    CU_add_test(suite, "no forces", test_no_forces);
    CU_add_test(suite, "joint", test_joint);
    return check_run();
}
