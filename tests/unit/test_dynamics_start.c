/* needs: a minute */
/* short: 'TANDEM_WITHOUT=drifting sensor,coloured noise' */
/* The choice of window, start and delay range, and the reports when a method cannot be
 * computed: short runs, fast sampling, decompositions that fail, memory that runs out. */
#include "tests/support/check.h"

#include <dlfcn.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>

#include "identification/data/data_view.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/model/models.h"
#include "tests/support/gsl_memory.h"
#include "tests/support/usv_truth.h"

enum { N_MAX = 60000 };

static double t_s[N_MAX];
static double y[N_MAX];
static double command[N_MAX];

/* Singular value decompositions fail after this number of calls. */
static long decompositions_left = -1;

int gsl_linalg_SV_decomp_jacobi(gsl_matrix *a, gsl_matrix *v, gsl_vector *s)
{
    union {
        void *object;
        int (*function)(gsl_matrix *, gsl_matrix *, gsl_vector *);
    } next = {.object = dlsym(RTLD_NEXT, "gsl_linalg_SV_decomp_jacobi")};
    if (decompositions_left == 0) {
        return GSL_ETOL;
    }
    decompositions_left -= decompositions_left > 0;
    return next.function(a, v, s);
}

/* The stub replaces rotations that do not end. */
int gsl_linalg_SV_decomp(gsl_matrix *a, gsl_matrix *v, gsl_vector *s, gsl_vector *work)
{
    union {
        void *object;
        int (*function)(gsl_matrix *, gsl_matrix *, gsl_vector *, gsl_vector *);
    } next = {.object = dlsym(RTLD_NEXT, "gsl_linalg_SV_decomp")};
    return decompositions_left == 0 ? GSL_ETOL : next.function(a, v, s, work);
}

struct drive {
    double dt_s, tau_s, gain, delay_s, noise;
    size_t runs, samples; /* in each */
    size_t hold;          /* samples between changes of the command */
};

/* The time of a run in samples, which is no edge; nothing before the run. */
static double find_commanded(const struct drive *d, size_t run, double sample)
{
    const double size = 20.0 + 20.0 * (double)(run % 3);
    if (sample < 0.0) {
        return 0.0;
    }
    return (size_t)(sample / (double)d->hold) % 2 == 0 ? size : -0.5 * size;
}

/* Runs from rest under commands of several sizes, integrated exactly. */
static struct data_set simulate_drive(const struct drive *d)
{
    enum { FINE = 50 };
    uint64_t state = 5;
    struct data_set set = {.axes = 1,
                           .n = d->runs * d->samples,
                           .dt_s = d->dt_s,
                           .t_s = t_s,
                           .nu = {y},
                           .tau = {command},
                           .run_count = d->runs,
                           .noise_sd = {d->noise}};
    const double fade = exp(-d->dt_s / FINE / d->tau_s);
    CU_ASSERT_FATAL(set.n <= N_MAX);
    for (size_t r = 0; r < d->runs; r++) {
        double now = 0.0;
        set.run_start[r + 1] = (r + 1) * d->samples;
        for (size_t k = 0; k < d->samples; k++) {
            const size_t at = r * d->samples + k;
            t_s[at] = 1000.0 * (double)r + (double)k * d->dt_s;
            command[at] = find_commanded(d, r, (double)k + 0.5);
            y[at] = now + d->noise * usv_normal(&state);
            for (int i = 0; i < FINE; i++) {
                const double sample = (double)k + (i + 0.5) / FINE - d->delay_s / d->dt_s;
                const double to = d->gain * find_commanded(d, r, sample);
                now = to + (now - to) * fade;
            }
        }
    }
    return set;
}

static bool has_reason(const struct dynamics_fit *fit, const char *what)
{
    for (size_t i = 0; i < fit->estimate.reason_count; i++) {
        if (strstr(fit->estimate.reasons[i], what)) {
            return true;
        }
    }
    return false;
}

/* y = gain command with a lag: a = tau / gain, b = 1 / gain. */
static void check_fit(const char *row, const struct drive *d, const struct dynamics_fit *fit)
{
    CHECK_NEAR(row, fit->estimate.value[0], d->tau_s / d->gain, 0.0,
               4.5 * fit->estimate.se_white[0]);
    CHECK_NEAR(row, fit->estimate.value[1], 1.0 / d->gain, 0.0,
               4.5 * fit->estimate.se_white[1]);
    CHECK(row, fit->estimate.se_white[0] < 0.1 * fit->estimate.value[0] &&
                   fit->estimate.se_white[1] < 0.1 * fit->estimate.value[1]);
    CHECK(row, fit->estimate.verdict != ESTIMATE_FAIL);
}

/* Machines and recordings of all sizes without options for windows or delays. */
static void test_windows(void)
{
    static const struct {
        const char *row;
        struct drive drive;
        double half_s_min, half_s_max; /* of the window */
        const char *start;             /* its report about its start; NULL: none */
    } cases[] = {
        {"vessel", {0.1, 4.0, 0.02, 0.0, 0.01, 2, 600, 120}, 2.0, 2.0, NULL},
        {"motor", {0.01, 0.2, 1.6, 0.0, 0.5, 6, 100, 50}, 0.08, 0.13, NULL},
        {"servo", {0.001, 0.02, 1.0, 0.0, 0.2, 2, 4000, 200}, 0.02, 0.4, NULL},
        {"late servo", {0.001, 0.05, 1.0, 0.12, 0.2, 2, 4000, 400}, 0.02, 0.8, NULL},
        {"short", {0.1, 0.4, 1.0, 0.0, 0.2, 20, 50, 20}, 0.4, 0.7, NULL},
        {"scraps", {0.1, 0.4, 1.0, 0.0, 0.1, 60, 8, 4}, 0.2, 0.4, "started from ols_sg"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *row = cases[i].row;
        const struct data_set set = simulate_drive(&cases[i].drive);
        const struct dynamics_options options = dynamics_options_defaults();
        struct dynamics_fit fit;
        CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(&first_order_model, &set, &options, &fit),
                              STATUS_OK);
        CHECK_INT(row, fit.method, DYNAMICS_OUTPUT_ERROR);
        CHECK_INT(row, fit.stop, DYNAMICS_STOP_CONVERGED);
        check_fit(row, &cases[i].drive, &fit);
        CHECK_NEAR(row, fit.delay_s, cases[i].drive.delay_s, 0.0,
                   4.5 * fit.delay_se_s + 1e-4 * set.dt_s);
        CHECK(row, 0.5 * fit.window_s >= cases[i].half_s_min - 1e-9);
        CHECK(row, 0.5 * fit.window_s <= cases[i].half_s_max + 1e-9);
        CHECK(row, has_reason(&fit, "started from") == (cases[i].start != NULL));
        CHECK(row, !cases[i].start || has_reason(&fit, cases[i].start));
    }
}

/* The first length samples of every period of the vessel's recording. */
static struct data_set cut_vessel(size_t length, size_t period)
{
    static struct usv_record record;
    CU_ASSERT_EQUAL_FATAL(usv_read("W", &record), USV_SAMPLES);
    struct data_set set = usv_set(&record);
    set.n = 0;
    set.run_count = 0;
    for (size_t from = 0; from + length <= USV_SAMPLES; from += period) {
        for (size_t k = 0; k < length; k++) {
            record.t_s[set.n] = record.t_s[from + k];
            for (size_t a = 0; a < 3; a++) {
                record.measured[a][set.n] = record.measured[a][from + k];
                record.tau[a][set.n] = record.tau[a][from + k];
            }
            set.n++;
        }
        set.run_start[++set.run_count] = set.n;
    }
    for (size_t a = 0; a < 3; a++) {
        set.noise_sd[a] = usv_noise_sd[a];
    }
    return set;
}

/* A vessel for seconds at a time. */
static void test_short_runs(void)
{
    static const struct {
        const char *row;
        size_t length, period;
        double relative; /* the error of a mass is below this */
        const char *start;
    } cases[] = {
        {"6 s", 60, 74, 0.01, NULL},
        {"3 s", 30, 74, 0.02, NULL},
        {"0.8 s", 8, 40, 0.1, "started from ols_sg"},
    };
    const double *truth = usv3_vessel_find("wamv")->theta;
    const struct dynamics_options options = dynamics_options_defaults();
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *row = cases[i].row;
        const struct data_set set = cut_vessel(cases[i].length, cases[i].period);
        struct dynamics_fit fit;
        CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(&usv3_model, &set, &options, &fit),
                              STATUS_OK);
        CHECK_INT(row, fit.method, DYNAMICS_OUTPUT_ERROR);
        CHECK_INT(row, fit.stop, DYNAMICS_STOP_CONVERGED);
        CHECK(row,
              fit.estimate.verdict <= (cases[i].start ? ESTIMATE_MARGINAL : ESTIMATE_PASS));
        CHECK(row, has_reason(&fit, "started from") == (cases[i].start != NULL));
        for (size_t k = 0; k < USV3_PARAMETERS; k++) {
            const double se = sqrt(fit.estimate.covariance[k][k]);
            CHECK_NEAR(row, fit.estimate.value[k], truth[k], 0.0, 4.5 * se);
            CHECK(row, k > 2 || se < cases[i].relative * truth[k]);
        }
        CHECK_NEAR(row, fit.delay_s, 0.0, 0.0, 4.5 * fit.delay_se_s);
    }
}

/* Lag and delay replace each other: their sum has a smaller error than each alone. */
static void test_lag_and_delay(void)
{
    static const struct drive motor = {0.01, 0.05, 1.0, 0.03, 1.0, 6, 400, 40};
    const struct data_set set = simulate_drive(&motor);
    struct dynamics_options options = dynamics_options_defaults();
    struct dynamics_derived lag;
    struct dynamics_derived both;
    struct dynamics_fit fit;
    CU_ASSERT_EQUAL_FATAL(
        dynamics_estimate(&first_order_model, &set, DYNAMICS_OUTPUT_ERROR, &options, &fit),
        STATUS_OK);
    dynamics_derive(&fit, &first_order_model, 1, &lag);
    CU_ASSERT_FATAL(dynamics_derive_with_delay(&fit, &first_order_model, 1, &both));
    CHECK_NEAR("sum", both.value, lag.value + fit.delay_s, 0.0, 1e-12);
    CHECK_NEAR("truth", both.value, 0.08, 0.0, 4.5 * both.se);
    CHECK("better than apart", both.se < 0.9 * hypot(lag.se, fit.delay_se_s));
    CHECK("better than the lag", both.se < lag.se);
    CHECK("interval", both.lo < both.value && both.value < both.hi);
    CHECK("a gain", !dynamics_derive_with_delay(&fit, &first_order_model, 0, &both));
    options.delay_max_s = 0.0;
    CU_ASSERT_EQUAL_FATAL(
        dynamics_estimate(&first_order_model, &set, DYNAMICS_OUTPUT_ERROR, &options, &fit),
        STATUS_OK);
    CHECK("no delay", !dynamics_derive_with_delay(&fit, &first_order_model, 1, &both));
}

/* Autocorrelated noise: the delay's interval has its coverage. */
static void test_coloured_noise(void)
{
    enum { DRAWS = 60 };
    static const struct drive motor = {0.01, 0.2, 1.0, 0.03, 0.0, 6, 400, 40};
    const struct dynamics_options options = dynamics_options_defaults();
    uint64_t state = 11;
    double z2 = 0.0;
    size_t inside = 0;
    for (size_t d = 0; d < DRAWS; d++) {
        const struct data_set set = simulate_drive(&motor);
        struct dynamics_derived delay;
        struct dynamics_fit fit;
        double error = 0.0;
        for (size_t k = 0; k < set.n; k++) {
            error = 0.9 * error + 0.3 * usv_normal(&state);
            y[k] += error;
        }
        CU_ASSERT_EQUAL_FATAL(
            dynamics_estimate(&first_order_model, &set, DYNAMICS_OUTPUT_ERROR, &options, &fit),
            STATUS_OK);
        dynamics_derive_delay(&fit, &delay);
        inside += delay.lo <= motor.delay_s && motor.delay_s <= delay.hi ? 1 : 0;
        z2 += pow((delay.value - motor.delay_s) / delay.se, 2.0) / DRAWS;
    }
    (void)printf("\ncoloured noise: interval of the delay holds it in %zu of %d, scatter %.2f "
                 "standard errors\n",
                 inside, DRAWS, sqrt(z2));
    CHECK("inside", inside >= 51);
    CHECK_NEAR("scatter", sqrt(z2), 1.0, 0.25, 0.0);
}

/* No more is left out at the start of a run than the delay that was found asks for. */
static void test_delay_loss(void)
{
    const struct drive motor = {0.01, 0.2, 1.6, 0.03, 0.5, 6, 100, 50};
    const struct data_set set = simulate_drive(&motor);
    struct dynamics_options options = dynamics_options_defaults();
    struct dynamics_fit fit;
    options.delay_max_s = 0.5;
    CU_ASSERT_EQUAL_FATAL(
        dynamics_estimate(&first_order_model, &set, DYNAMICS_OUTPUT_ERROR, &options, &fit),
        STATUS_OK);
    check_fit("late motor", &motor, &fit);
    CHECK_NEAR("late motor", fit.delay_s, 0.03, 0.0, 4.5 * fit.delay_se_s);
    CHECK("late motor", fit.rows >= 6 * 90);
    /* Not sought: nothing is left out, and the delay is not known. */
    options.delay_max_s = 0.0;
    CU_ASSERT_EQUAL_FATAL(
        dynamics_estimate(&first_order_model, &set, DYNAMICS_OUTPUT_ERROR, &options, &fit),
        STATUS_OK);
    CHECK("not sought", isnan(fit.delay_s));
    CHECK_INT("not sought", fit.rows, 600);
}

/* One command a run. From rest the first response determines the delay, and no sample is left
 * out; in motion nothing does, and the delay counts as none. */
static void test_steps_from_rest(void)
{
    struct drive motor = {0.01, 0.2, 1.6, 0.03, 0.5, 6, 100, 1000};
    const struct dynamics_options options = dynamics_options_defaults();
    struct dynamics_fit fit;
    struct data_set set = simulate_drive(&motor);
    for (size_t r = 0; r < motor.runs; r++) {
        y[set.run_start[r]] = 0.0;
    }
    CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(&first_order_model, &set, &options, &fit),
                          STATUS_OK);
    CHECK_INT("at rest", fit.method, DYNAMICS_OUTPUT_ERROR);
    check_fit("at rest", &motor, &fit);
    CHECK_NEAR("at rest", fit.delay_s, 0.03, 0.0, 4.5 * fit.delay_se_s);
    CHECK("at rest", fit.delay_se_s < 2e-3);
    CHECK_INT("at rest", fit.rows, set.n);
    CHECK_INT("at rest", fit.estimate.verdict, ESTIMATE_PASS);
    for (size_t r = 0; r < motor.runs; r++) {
        CHECK_NEAR("at rest", fit.initial[r][0], 0.0, 0.0, 0.0);
    }
    motor.delay_s = 0.0;
    set = simulate_drive(&motor);
    CU_ASSERT_EQUAL_FATAL(
        dynamics_estimate(&first_order_model, &set, DYNAMICS_OUTPUT_ERROR, &options, &fit),
        STATUS_OK);
    check_fit("in motion", &motor, &fit);
    CHECK("in motion", isnan(fit.delay_s) && has_reason(&fit, "the delay is unknown"));
    CHECK_INT("in motion", fit.rows, set.n);
}

/* Too long to be simulated unasked: all samples are regressed, with the delay of a part of
 * them, which neither rest nor a silent beginning hides. */
static void test_long(void)
{
    static const struct drive late = {0.1, 0.4, 1.0, 0.13, 0.2, 2, 30000, 25};
    struct dynamics_options options = dynamics_options_defaults();
    struct dynamics_fit fit;
    struct dynamics_fit without;
    const struct data_set set = simulate_drive(&late);
    CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(&first_order_model, &set, &options, &fit),
                          STATUS_OK);
    CHECK_INT("late", fit.method, DYNAMICS_WEAK_IV);
    CHECK_INT("late", fit.n, set.n);
    CHECK_INT("late", fit.stop, DYNAMICS_STOP_CONVERGED);
    CHECK_INT("late", fit.estimate.verdict, ESTIMATE_PASS);
    CHECK("late", has_reason(&fit, "60000 samples") && !has_reason(&fit, "no delay was"));
    CHECK_NEAR("late", fit.delay_s, 0.13, 0.0, 4.5 * fit.delay_se_s);
    CHECK("late", fit.delay_se_s > 0.0 && fit.delay_se_s < 2e-3);
    for (size_t i = 0; i < fit.estimate.p; i++) {
        /* The weak form itself is off by a few tenths of a percent on so coarse a grid. */
        CHECK_NEAR("late", fit.estimate.value[i], i == 0 ? 0.4 : 1.0, 5e-3,
                   4.5 * sqrt(fit.estimate.covariance[i][i]));
        CHECK("late", sqrt(fit.estimate.covariance[i][i]) < 0.01);
    }
    CU_ASSERT_EQUAL_FATAL(
        dynamics_linear_fit(&first_order_model, &set, DYNAMICS_WEAK_IV, &options, &without),
        STATUS_OK);
    CHECK("the delay counts", fabs(without.estimate.value[0] - 0.4) > 0.02);
    CHECK("so does its error", fit.se_hac[0] > without.se_hac[0]);

    options.delay_max_s = 0.0;
    CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(&first_order_model, &set, &options, &fit),
                          STATUS_OK);
    CHECK_INT("not sought", fit.method, DYNAMICS_WEAK_IV);
    CHECK("not sought", isnan(fit.delay_s) && has_reason(&fit, "no delay was sought"));
    CHECK_NEAR("not sought", fit.estimate.value[0], without.estimate.value[0], 0.0, 0.0);
}

/* The part is where efforts change; its earlier efforts are known, too. */
static void test_busiest(void)
{
    static const struct drive quiet = {0.1, 0.4, 1.0, 0.0, 0.2, 3, 1000, 25};
    struct data_set set = simulate_drive(&quiet);
    size_t from = 0;
    for (size_t k = 0; k < set.n; k++) {
        command[k] = k < 2600 ? 20.0 : command[k];
    }
    const struct data_set part = data_view_busiest(&set, 400, &from);
    CHECK("busiest", from > 2500 && from + part.n <= 3000);
    CHECK_INT("busiest", part.n, 400);
    CHECK_INT("busiest", part.run_start[1], 400);
    CHECK("busiest", part.nu[0] == y + from && part.tau[0] == command + from);
    CHECK_INT("as long as a run", data_view_busiest(&set, 5000, &from).n, 1000);
    CHECK_INT("as long as a run", from, 2000);
    const struct data_set first = data_view_first(&set, 1004);
    CHECK_INT("first", first.run_count, 1);
    CHECK_INT("first", first.n, 1000);
    CHECK_INT("first", data_view_first(&set, 1200).n, 1200);

    static const double steps[] = {1.0, 2.0, 4.0, 8.0};
    double late[4];
    struct data_set few = {.axes = 1, .n = 4, .dt_s = 0.1, .tau = {steps}, .run_count = 1};
    few.run_start[1] = 4;
    data_view_delay(&few, 0.125, late);
    CHECK_NEAR("late", late[0], 1.0, 0.0, 1e-12);
    CHECK_NEAR("late", late[1], 1.0, 0.0, 1e-12);
    CHECK_NEAR("late", late[2], 0.75 * 2.0 + 0.25 * 1.0, 0.0, 1e-12);
    CHECK_NEAR("late", late[3], 0.75 * 4.0 + 0.25 * 2.0, 0.0, 1e-12);
    few.tau[0] = steps;
    data_view_delay(&few, -0.1, late);
    CHECK_NEAR("early", late[0], 2.0, 0.0, 1e-12);
    CHECK_NEAR("early", late[3], 8.0, 0.0, 1e-12);
}

/* A start measured against the effort does not exist with the signs of a robot. */
static void test_reversed(void)
{
    const struct drive motor = {0.01, 0.2, 1.6, 0.0, 0.5, 6, 100, 50};
    const struct data_set set = simulate_drive(&motor);
    const struct dynamics_options options = dynamics_options_defaults();
    struct dynamics_fit fit;
    for (size_t k = 0; k < set.n; k++) {
        y[k] = -y[k];
    }
    for (int method = DYNAMICS_OUTPUT_ERROR; method <= DYNAMICS_METHOD_COUNT; method++) {
        const enum status st =
            method == DYNAMICS_METHOD_COUNT
                ? dynamics_estimate_auto(&first_order_model, &set, &options, &fit)
                : dynamics_estimate(&first_order_model, &set, (enum dynamics_method)method,
                                    &options, &fit);
        CHECK_INT("reversed", st, STATUS_OK);
        CHECK_INT("reversed", fit.method, DYNAMICS_WEAK_IV);
        CHECK_INT("reversed", fit.estimate.verdict, ESTIMATE_FAIL);
        CHECK("reversed", has_reason(&fit, "check signs"));
    }
}

/* A sensor whose error drifts: prediction error treats it as forces, output error stays right,
 * and auto chooses it. */
/* Drift of a sensor is no force: `auto` confuses them in few recordings (5 of 60). */
static void test_drifting_sensor(void)
{
    const struct drive motor = {0.01, 0.2, 1.6, 0.0, 0.0, 2, 3000, 80};
    const struct data_set set = simulate_drive(&motor);
    const struct dynamics_options options = dynamics_options_defaults();
    static double still[N_MAX];
    unsigned simulated = 0;
    memcpy(still, y, sizeof still);
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct dynamics_fit fit;
        uint64_t state = seed;
        double error = 0.0;
        double before = 0.0;
        for (size_t k = 0; k < set.n; k++) {
            const double drawn = usv_normal(&state);
            error = 0.98 * error + 0.3 * (drawn + 0.9 * before);
            before = drawn;
            y[k] = still[k] + error;
        }
        CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(&first_order_model, &set, &options, &fit),
                              STATUS_OK);
        if (fit.method != DYNAMICS_OUTPUT_ERROR) {
            continue;
        }
        simulated++;
        CHECK("drift", has_reason(&fit, "with robust errors"));
        CHECK_NEAR("drift", fit.estimate.value[0], 0.2 / 1.6, 0.0, 4.5 * fit.se_hac[0]);
        CHECK_NEAR("drift", fit.estimate.value[1], 1.0 / 1.6, 0.0, 4.5 * fit.se_hac[1]);
    }
    CHECK("drift", simulated >= 7);
}

static void test_motion_time(void)
{
    struct drive d = {0.01, 0.2, 1.0, 0.0, 0.0, 1, 4000, 100};
    struct data_set set = simulate_drive(&d);
    const double moving_s = motion_time_s(&set, 2.0);
    CHECK("moving", moving_s > 0.1 && moving_s < 0.5);
    d.noise = 2.0; /* of 20 to 30 */
    set = simulate_drive(&d);
    CHECK_NEAR("noisy", motion_time_s(&set, 2.0), moving_s, 0.3, 0.0);
    CHECK_NEAR("bounded", motion_time_s(&set, 0.05), 0.05, 0.0, 1e-12);
    set.noise_sd[0] = 10.0;
    CHECK_NEAR("noise only", motion_time_s(&set, 2.0), 2.0, 0.0, 1e-12);
    for (size_t k = 0; k < set.n; k++) {
        y[k] = 3.0;
    }
    CHECK_NEAR("still", motion_time_s(&set, 2.0), 2.0, 0.0, 1e-12);
}

/* A decomposition that fails in a later stage leaves what the stage before it found. */
static void test_failed_decomposition(void)
{
    const struct drive motor = {0.01, 0.2, 1.6, 0.0, 0.5, 6, 100, 50};
    const struct data_set set = simulate_drive(&motor);
    const struct dynamics_options options = dynamics_options_defaults();
    size_t from_start = 0;
    size_t from_simulation = 0;
    for (long n = 0; n < 12; n++) {
        struct dynamics_fit fit;
        for (int method = DYNAMICS_OUTPUT_ERROR; method <= DYNAMICS_PEM; method++) {
            decompositions_left = n;
            const enum status st = dynamics_estimate(
                &first_order_model, &set, (enum dynamics_method)method, &options, &fit);
            CHECK("status", st == STATUS_OK || (st == STATUS_E_MATH && n < 5));
            if (st == STATUS_OK && (int)fit.method != method) {
                CHECK_INT("asked for", fit.estimate.verdict, ESTIMATE_FAIL);
                CHECK("said", has_reason(&fit, "cannot be computed") ||
                                  has_reason(&fit, "needs a start"));
                CHECK("values",
                      isfinite(fit.estimate.value[0]) && isfinite(fit.estimate.se_white[0]));
                from_start += fit.method == DYNAMICS_WEAK_IV ? 1 : 0;
                from_simulation += fit.method == DYNAMICS_OUTPUT_ERROR ? 1 : 0;
            }
        }
        decompositions_left = n;
        const enum status st = dynamics_estimate_auto(&first_order_model, &set, &options, &fit);
        CHECK("auto", st == STATUS_OK || (st == STATUS_E_MATH && n < 5));
        CHECK("auto", st != STATUS_OK || fit.estimate.verdict != ESTIMATE_FAIL);
        CHECK("auto", st != STATUS_OK || has_reason(&fit, "auto chose"));
        CHECK("auto", st != STATUS_OK || fit.method >= DYNAMICS_OUTPUT_ERROR ||
                          has_reason(&fit, "no delay was found"));
    }
    decompositions_left = -1;
    CHECK("start unchanged", from_start > 0);
    CHECK("simulation unchanged", from_simulation > 0);
}

static void test_no_memory(void)
{
    static const struct drive drives[] = {{0.01, 0.2, 1.6, 0.0, 0.5, 3, 60, 30},
                                          {0.1, 0.4, 1.0, 0.0, 0.1, 30, 8, 4}};
    struct dynamics_options options = dynamics_options_defaults();
    for (size_t i = 0; i < COUNT(drives); i++) {
        const struct data_set set = simulate_drive(&drives[i]);
        options.robust = i == 0;
        enum status st = STATUS_E_NOMEM;
        long n = 0;
        for (; n < 2000 && st == STATUS_E_NOMEM; n++) {
            struct dynamics_fit fit;
            memset(&fit, 0x5a, sizeof fit);
            const struct dynamics_fit before = fit;
            allocations_left = n;
            st = dynamics_estimate(&first_order_model, &set, DYNAMICS_PEM, &options, &fit);
            allocations_left = -1;
            CHECK("no memory", st == STATUS_OK || st == STATUS_E_NOMEM);
            CHECK("kept", st == STATUS_OK || memcmp(&fit, &before, sizeof fit) == 0);
        }
        CHECK_INT("no memory", st, STATUS_OK);
        CHECK("no memory", n > 20);
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("dynamics_start", NULL, NULL);
    CU_add_test(suite, "windows", test_windows);
    CU_add_test(suite, "short runs", test_short_runs);
    CU_add_test(suite, "lag and delay", test_lag_and_delay);
    CU_add_test(suite, "coloured noise", test_coloured_noise);
    CU_add_test(suite, "delay loss", test_delay_loss);
    CU_add_test(suite, "steps from rest", test_steps_from_rest);
    CU_add_test(suite, "long", test_long);
    CU_add_test(suite, "busiest", test_busiest);
    CU_add_test(suite, "reversed", test_reversed);
    CU_add_test(suite, "drifting sensor", test_drifting_sensor);
    CU_add_test(suite, "motion time", test_motion_time);
    CU_add_test(suite, "failed decomposition", test_failed_decomposition);
    CU_add_test(suite, "no memory", test_no_memory);
    return check_run();
}
