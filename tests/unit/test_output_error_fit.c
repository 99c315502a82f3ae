/* Output error: sensitivities, several runs, delay, biases, bounds, what the data leave open,
 * models that run away, wrong calls and memory that runs out. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

#include "identification/data/trajectory.h"
#include "identification/simulation/output_error.h"
#include "tests/support/gsl_memory.h"
#include "tests/support/usv_truth.h"

enum { P = USV3_PARAMETERS, N = USV3_AXES };

static struct usv_record record;
static const double *truth;

/* The recording with little noise, so that what must come out is known. */
static struct data_set quiet_set(double delay_s, double sd)
{
    uint64_t state = 7;
    CU_ASSERT_EQUAL_FATAL(usv_read("W", &record), USV_SAMPLES);
    usv_drive(&record, truth, delay_s, NULL);
    for (size_t k = 0; k < USV_SAMPLES; k++) {
        for (size_t i = 0; i < N; i++) {
            record.measured[i][k] = record.truth[i][k] + sd * usv_normal(&state);
        }
    }
    return usv_set(&record);
}

static enum status fit_set(const struct data_set *set, const struct search_options *options,
                           struct dynamics_fit *fit, struct search_report *report)
{
    double start[DYNAMICS_P_MAX] = {0.0};
    for (size_t i = 0; i < P; i++) {
        start[i] = truth[i] * (i % 2 ? 1.3 : 0.8);
    }
    return output_error_fit(&usv3_model, set, start, options, NULL, fit, report);
}

static void walk_to(const struct trajectory_rules *rules, const double *x, size_t sample,
                    struct trajectory *walk)
{
    trajectory_begin(walk, rules, 0, x + N, x[N + P + N], x);
    while (walk->at < sample) {
        CU_ASSERT_FATAL(trajectory_next(walk));
    }
}

static void test_sensitivities(void)
{
    static const double delays_s[] = {0.03, 0.1, 0.234, -0.05};
    const struct data_set set = quiet_set(0.0, 0.0);
    struct trajectory_rules rules = {.model = &usv3_model,
                                     .set = &set,
                                     .with_biases = true,
                                     .step_s = 0.02,
                                     .limit = {1e3, 1e3, 1e3}};
    const size_t columns = trajectory_columns(&rules);
    CHECK_INT("columns", columns, 2 * N + P + 1);
    for (size_t d = 0; d < COUNT(delays_s); d++) {
        double x[2 * N + P + 1] = {0.3, -0.1, 0.05};
        struct trajectory walk;
        struct trajectory up;
        struct trajectory down;
        memcpy(x + N, truth, P * sizeof *x);
        x[N + P] = 2.0;
        x[N + P + 2] = -1.0;
        /* Not on the kink that a delay of a whole sample is. */
        x[columns - 1] = delays_s[d] + 0.001;
        rules.sensitive = true;
        walk_to(&rules, x, 47, &walk);
        rules.sensitive = false;
        for (size_t j = 0; j < columns; j++) {
            const double was = x[j];
            const double h = 1e-5 * fmax(fabs(was), 0.1);
            char row[64];
            (void)snprintf(row, sizeof row, "delay %g column %zu", delays_s[d], j);
            x[j] = was + h;
            walk_to(&rules, x, 47, &up);
            x[j] = was - h;
            walk_to(&rules, x, 47, &down);
            x[j] = was;
            for (size_t i = 0; i < N; i++) {
                const double difference = (up.nu[i] - down.nu[i]) / (2.0 * h);
                CHECK_NEAR(row, walk.by[i * columns + j], difference, 2e-4, 1e-7);
            }
        }
    }
}

/* Any delay, also of several samples and the other way round, from a start far off. */
static void test_delays(void)
{
    static const double delays_s[] = {0.0, 0.06, 0.37};
    for (size_t d = 0; d < COUNT(delays_s); d++) {
        const struct data_set set = quiet_set(delays_s[d], 1e-3);
        struct search_options options;
        struct search_report report;
        struct dynamics_fit fit;
        search_defaults(&usv3_model, &options);
        options.fit_delay = true;
        options.delay_s_min = -0.3;
        options.delay_s_max = 0.6;
        CU_ASSERT_EQUAL_FATAL(fit_set(&set, &options, &fit, &report), STATUS_OK);
        CHECK_INT("delay", fit.stop, DYNAMICS_STOP_CONVERGED);
        CHECK_NEAR("delay", fit.delay_s, delays_s[d], 0.0, 5e-4);
        CHECK("delay", fit.delay_se_s < 2e-4);
        for (size_t i = 0; i < P; i++) {
            CHECK_NEAR("delay", fit.estimate.value[i], truth[i], 0.01, 0.0);
        }
    }
    /* Efforts stamped late. */
    struct data_set set = quiet_set(0.0, 1e-3);
    struct search_options options;
    struct search_report report;
    struct dynamics_fit fit;
    for (size_t i = 0; i < N; i++) {
        set.nu[i] = record.measured[i] + 1;
    }
    set.n = USV_SAMPLES - 1;
    set.run_start[1] = set.n;
    search_defaults(&usv3_model, &options);
    options.fit_delay = true;
    options.delay_s_min = -0.3;
    options.delay_s_max = 0.6;
    CU_ASSERT_EQUAL_FATAL(fit_set(&set, &options, &fit, &report), STATUS_OK);
    CHECK_NEAR("early", fit.delay_s, -0.1, 0.0, 5e-4);
    /* A bound in the way is reported. */
    options.delay_s_min = 0.0;
    CU_ASSERT_EQUAL_FATAL(fit_set(&set, &options, &fit, &report), STATUS_OK);
    CHECK("bound", report.delay_at_bound);
    CHECK_NEAR("bound", fit.delay_s, 0.0, 0.0, 0.0);
    CHECK_INT("bound", fit.estimate.verdict, ESTIMATE_MARGINAL);
}

/* Pieces of one recording, each with its own start velocities. */
static void test_runs(void)
{
    struct data_set set = quiet_set(0.0, 2e-3);
    struct search_options options;
    struct search_report report;
    struct dynamics_fit whole;
    struct dynamics_fit pieces;
    double residual[N][USV_SAMPLES];
    double *const rows[N] = {residual[0], residual[1], residual[2]};
    search_defaults(&usv3_model, &options);
    CU_ASSERT_EQUAL_FATAL(fit_set(&set, &options, &whole, &report), STATUS_OK);
    set.run_count = 5;
    for (size_t r = 0; r <= 5; r++) {
        set.run_start[r] = 300 * r;
    }
    CU_ASSERT_EQUAL_FATAL(
        output_error_fit(&usv3_model, &set, truth, &options, rows, &pieces, &report),
        STATUS_OK);
    for (size_t i = 0; i < P; i++) {
        CHECK_NEAR("runs", pieces.estimate.value[i], whole.estimate.value[i], 0.0,
                   3.0 * pieces.estimate.se_white[i]);
        CHECK("runs", pieces.estimate.se_white[i] >= whole.estimate.se_white[i] &&
                          pieces.estimate.se_white[i] < 1.5 * whole.estimate.se_white[i]);
    }
    for (size_t r = 0; r < 5; r++) {
        for (size_t i = 0; i < N; i++) {
            const size_t k = 300 * r;
            CHECK_NEAR("start", pieces.initial[r][i], record.truth[i][k], 0.0, 5.0 * 2e-3);
            CHECK_NEAR("residual", residual[i][k], record.measured[i][k] - pieces.initial[r][i],
                       0.0, 1e-12);
        }
    }
    CHECK_INT("rows", pieces.rows, N * USV_SAMPLES);
    CHECK("likelihood", report.log_likelihood > 0.0);
}

static void test_biases(void)
{
    struct data_set set = quiet_set(0.0, 1e-3);
    struct search_options options;
    struct search_report report;
    struct dynamics_fit fit;
    for (size_t k = 0; k < USV_SAMPLES; k++) {
        record.tau[0][k] += 4.0;
        record.tau[1][k] -= 2.5;
    }
    search_defaults(&usv3_model, &options);
    options.with_biases = true;
    CU_ASSERT_EQUAL_FATAL(fit_set(&set, &options, &fit, &report), STATUS_OK);
    CHECK_INT("biases", fit.estimate.p, P + N);
    CHECK_NEAR("biases", fit.estimate.value[P], 4.0, 0.0, 0.05);
    CHECK_NEAR("biases", fit.estimate.value[P + 1], -2.5, 0.0, 0.05);
    CHECK_NEAR("biases", fit.estimate.value[P + 2], 0.0, 0.0, 0.05);
    CHECK_INT("biases", fit.estimate.verdict, ESTIMATE_PASS);
    /* The fitted model predicts as well as it explains. */
    CU_ASSERT_EQUAL_FATAL(
        output_error_validate(&usv3_model, &set, fit.estimate.value, true, 0.0, NULL, &report),
        STATUS_OK);
    for (size_t i = 0; i < N; i++) {
        CHECK_NEAR("validate", report.axis[i].rmse, 1e-3, 0.1, 0.0);
    }
}

static void test_bounds(void)
{
    const struct data_set set = quiet_set(0.0, 1e-3);
    struct search_options options;
    struct search_report report;
    struct dynamics_fit fit;
    search_defaults(&usv3_model, &options);
    options.fixed[0] = true;
    options.upper[4] = 20.0;
    CU_ASSERT_EQUAL_FATAL(fit_set(&set, &options, &fit, &report), STATUS_OK);
    CHECK_NEAR("fixed", fit.estimate.value[0], 0.8 * truth[0], 1e-12, 0.0);
    CHECK_NEAR("fixed", fit.estimate.se_white[0], 0.0, 0.0, 1e-12);
    CHECK("fixed", !report.at_bound[0]);
    CHECK("bound", fit.estimate.value[4] <= 20.0 && report.at_bound[4]);
    CHECK("bound", !report.white && fit.estimate.verdict == ESTIMATE_MARGINAL);
    CHECK("robust", fit.se_hac[1] > fit.estimate.se_white[1]);
}

/* Without turns and slides yaw and sway cannot be estimated, and the report names them. */
/* Without efforts a motion determines only ratios of parameters: all but one of them, and one
 * combination each. */
static void test_combinations(void)
{
    struct data_set set = quiet_set(0.0, 0.0);
    struct search_options options;
    struct search_report report;
    struct dynamics_fit fit;
    uint64_t state = 3;
    double nu[N] = {1.5, 0.4, 0.6};
    double pose[N] = {0.0};
    const double none[N] = {0.0};
    for (size_t k = 0; k < USV_SAMPLES; k++) {
        for (size_t i = 0; i < N; i++) {
            record.tau[i][k] = 0.0;
            record.measured[i][k] = nu[i] + 1e-4 * usv_normal(&state);
        }
        model_step(&usv3_model, truth, nu, pose, none, NULL, 0.1);
    }
    search_defaults(&usv3_model, &options);
    CU_ASSERT_EQUAL_FATAL(
        output_error_fit(&usv3_model, &set, truth, &options, NULL, &fit, &report), STATUS_OK);
    CHECK_INT("rank", fit.estimate.rank, P - 1);
    CHECK_INT("nulls", fit.estimate.null_count, 1);
    CHECK_INT("combinations", fit.estimate.combination_count, P - 1);
    for (size_t k = 0; k < fit.estimate.combination_count; k++) {
        const struct estimate_combination *c = &fit.estimate.combinations[k];
        CHECK(c->name, strstr(c->name, " - ") != NULL);
        CHECK(c->name, c->se > 0.0 && fabs(c->value) < 4.0 * c->se + 1e-6);
    }
}

static void test_open(void)
{
    struct data_set set = quiet_set(0.0, 0.0);
    struct search_options options;
    struct search_report report;
    struct dynamics_fit fit;
    uint64_t state = 3;
    memset(record.tau[2], 0, sizeof record.tau[2]);
    usv_drive(&record, truth, 0.0, NULL);
    usv_measure(&record, &state);
    search_defaults(&usv3_model, &options);
    CU_ASSERT_EQUAL_FATAL(fit_set(&set, &options, &fit, &report), STATUS_OK);
    CHECK("surge", fit.estimate.identifiable[0] && fit.estimate.identifiable[3] &&
                       fit.estimate.identifiable[4]);
    CHECK_NEAR("surge", fit.estimate.value[0], truth[0], 0.03, 0.0);
    for (size_t i = 5; i < P; i++) {
        CHECK(usv3_model.parameters[i].symbol, !fit.estimate.identifiable[i]);
    }
    CHECK("verdict", fit.estimate.verdict == ESTIMATE_FAIL && fit.estimate.reason_count > 0);
    CHECK("advice", fit.estimate.advice_count > 0);
}

static bool stop_at_two(void *context, size_t iteration)
{
    *(size_t *)context = iteration;
    return iteration < 2;
}

static void test_stops(void)
{
    const struct data_set set = quiet_set(0.0, 1e-3);
    struct search_options options;
    struct search_report report;
    struct dynamics_fit fit;
    size_t last = 0;
    search_defaults(&usv3_model, &options);
    options.go_on = stop_at_two;
    options.context = &last;
    CU_ASSERT_EQUAL_FATAL(fit_set(&set, &options, &fit, &report), STATUS_OK);
    CHECK_INT("cancelled", fit.stop, DYNAMICS_STOP_CANCELLED);
    CHECK_INT("cancelled", last, 2);
    options.go_on = NULL;
    options.iterations_max = 1;
    CU_ASSERT_EQUAL_FATAL(fit_set(&set, &options, &fit, &report), STATUS_OK);
    CHECK_INT("limit", fit.stop, DYNAMICS_STOP_LIMIT);
    CHECK_INT("limit", fit.iterations, 1);
    /* A hull without mass or damping is thrown out of the water: the fit reports it and
     * ends. */
    search_defaults(&usv3_model, &options);
    const double light[P] = {1e-9, 1e-9, 1e-9};
    CU_ASSERT_EQUAL_FATAL(
        output_error_fit(&usv3_model, &set, light, &options, NULL, &fit, &report), STATUS_OK);
    CHECK_INT("diverged", fit.stop, DYNAMICS_STOP_DIVERGED);
    CHECK_INT("diverged", fit.estimate.verdict, ESTIMATE_FAIL);
    CHECK("diverged", isnan(fit.estimate.se_white[0]) && isnan(fit.estimate.lo[0]));
    /* Signs that no robot has are put right. */
    double wrong[P];
    for (size_t i = 0; i < P; i++) {
        wrong[i] = -truth[i];
    }
    CU_ASSERT_EQUAL_FATAL(
        output_error_fit(&usv3_model, &set, wrong, &options, NULL, &fit, &report), STATUS_OK);
    CHECK_INT("signs", fit.stop, DYNAMICS_STOP_CONVERGED);
    CHECK_NEAR("signs", fit.estimate.value[7], truth[7], 1e-2, 0.0);
}

/* Nothing but rounding left over: no division by it. */
static void test_perfect(void)
{
    const struct data_set set = quiet_set(0.0, 0.0);
    struct search_options options;
    struct search_report report;
    struct dynamics_fit fit;
    search_defaults(&usv3_model, &options);
    options.step_s = 0.1 / 20.0 * 1.001;
    CU_ASSERT_EQUAL_FATAL(fit_set(&set, &options, &fit, &report), STATUS_OK);
    CHECK_INT("perfect", fit.stop, DYNAMICS_STOP_CONVERGED);
    for (size_t i = 0; i < P; i++) {
        CHECK_NEAR("perfect", fit.estimate.value[i], truth[i], 1e-5, 0.0);
    }
}

static void test_arguments(void)
{
    struct data_set set = quiet_set(0.0, 1e-3);
    struct search_options options;
    struct search_report report;
    struct dynamics_fit fit;
    memset(&fit, 0x5a, sizeof fit);
    const struct dynamics_fit before = fit;
    search_defaults(&usv3_model, &options);
    set.run_count = 0;
    CHECK_INT("no run", fit_set(&set, &options, &fit, &report), STATUS_E_EMPTY);
    set.run_count = 1;
    set.run_start[1] = 0;
    CHECK_INT("no sample", fit_set(&set, &options, &fit, &report), STATUS_E_EMPTY);
    set.run_start[1] = USV_SAMPLES;
    set.axes = 2;
    CHECK_INT("axes", fit_set(&set, &options, &fit, &report), STATUS_E_ARG);
    set.axes = 3;
    record.t_s[10] = record.t_s[9];
    CHECK_INT("time", fit_set(&set, &options, &fit, &report), STATUS_E_RANGE);
    record.t_s[10] = 1.0;
    record.measured[1][20] = nan("");
    CHECK_INT("number", fit_set(&set, &options, &fit, &report), STATUS_E_RANGE);
    record.measured[1][20] = 0.0;
    options.fit_delay = true;
    options.delay_s_min = 0.1;
    options.delay_s_max = 0.2;
    CHECK_INT("delay", fit_set(&set, &options, &fit, &report), STATUS_E_ARG);
    options.delay_s_min = 0.0;
    options.delay_s_max = 1e6;
    CHECK_INT("all delay", fit_set(&set, &options, &fit, &report), STATUS_E_EMPTY);
    options.fit_delay = false;
    options.lower[3] = 2.0;
    options.upper[3] = 1.0;
    CHECK_INT("bounds", fit_set(&set, &options, &fit, &report), STATUS_E_ARG);
    CHECK("untouched", memcmp(&fit, &before, sizeof fit) == 0);
    /* The shortest possible recording gives a verdict, not a crash. */
    search_defaults(&usv3_model, &options);
    for (size_t n = 1; n < 12; n++) {
        set.n = n;
        set.run_start[1] = n;
        CHECK_INT("short", fit_set(&set, &options, &fit, &report), STATUS_OK);
        CHECK("short", fit.estimate.verdict != ESTIMATE_PASS);
    }
}

static void test_no_memory(void)
{
    struct data_set set = quiet_set(0.0, 1e-3);
    struct search_options options;
    struct search_report report;
    enum status st = STATUS_E_NOMEM;
    long n = 0;
    search_defaults(&usv3_model, &options);
    set.n = 50;
    set.run_start[1] = 50;
    for (; n < 100 && st == STATUS_E_NOMEM; n++) {
        struct dynamics_fit fit;
        memset(&fit, 0x5a, sizeof fit);
        const struct dynamics_fit before = fit;
        allocations_left = n;
        st = fit_set(&set, &options, &fit, &report);
        allocations_left = -1;
        if (st != STATUS_OK) {
            CHECK_INT("no memory", st, STATUS_E_NOMEM);
            CHECK("no memory", memcmp(&fit, &before, sizeof fit) == 0);
        }
    }
    CHECK_INT("no memory", st, STATUS_OK);
    CHECK("no memory", n > 5);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    truth = usv3_vessel_find("wamv")->theta;
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("output error", NULL, NULL);
    CU_add_test(suite, "sensitivities", test_sensitivities);
    CU_add_test(suite, "delays", test_delays);
    CU_add_test(suite, "runs", test_runs);
    CU_add_test(suite, "biases", test_biases);
    CU_add_test(suite, "bounds", test_bounds);
    CU_add_test(suite, "combinations", test_combinations);
    CU_add_test(suite, "open", test_open);
    CU_add_test(suite, "stops", test_stops);
    CU_add_test(suite, "perfect", test_perfect);
    CU_add_test(suite, "arguments", test_arguments);
    CU_add_test(suite, "no memory", test_no_memory);
    return check_run();
}
