/* needs: a minute, full */
/* Travel times on known truth: are the error bars honest, and is the rest as good as the
 * reference figures of docs/model/travel_time.md? Prints the tables of that page; TANDEM_RUNS
 * sets the number of recordings a row (default 400; the tables were made with 2000). */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "identification/travel/travel_kalman.h"
#include "identification/travel/travel_time.h"
#include "tests/support/travel_truth.h"

enum { RUNS = 400, RUNS_MAX = 10000, N_MAX = 200 };

static unsigned seed;
static int run_count = RUNS;

static const char *const noise_names[] = {"gauss", "student t3", "bluetooth"};

/* Share of intervals that hold the truth, and relative errors of the speeds in percent. */
struct outcome {
    double coverage[TRAVEL_P]; /* of t0, ta, tr, 1/w, 1/v */
    double speed_coverage[2];
    double w_median, w_p95, v_median, v_p95;
};

static struct outcome repeat(enum travel_method method, enum truth_noise noise, double sd_s,
                             size_t n)
{
    static double w_error[RUNS_MAX];
    static double v_error[RUNS_MAX];
    const double truth[TRAVEL_P] = {TRUTH.t0_s, TRUTH.ta_s, TRUTH.tr_s, 1.0 / TRUTH.w_radps,
                                    1.0 / TRUTH.v_mps};
    struct outcome out = {.w_median = 0.0};
    uint64_t state = UINT64_C(0x9E3779B97F4A7C15) * (seed + 1);
    for (int run = 0; run < run_count; run++) {
        struct travel_move moves[N_MAX];
        struct travel_fit fit;
        truth_moves(&state, MIX_ALL, noise, sd_s, moves, n);
        CU_ASSERT_EQUAL_FATAL(travel_time_fit(moves, n, method, &fit), STATUS_OK);
        for (size_t j = 0; j < TRAVEL_P; j++) {
            out.coverage[j] += fit.beta_lo[j] <= truth[j] && truth[j] <= fit.beta_hi[j];
        }
        out.speed_coverage[0] += fit.estimate.lo[TRAVEL_INV_W] <= TRUTH.w_radps &&
                                 !(TRUTH.w_radps > fit.estimate.hi[TRAVEL_INV_W]);
        out.speed_coverage[1] += fit.estimate.lo[TRAVEL_INV_V] <= TRUTH.v_mps &&
                                 !(TRUTH.v_mps > fit.estimate.hi[TRAVEL_INV_V]);
        w_error[run] = 100.0 * fabs(fit.estimate.value[TRAVEL_INV_W] / TRUTH.w_radps - 1.0);
        v_error[run] = 100.0 * fabs(fit.estimate.value[TRAVEL_INV_V] / TRUTH.v_mps - 1.0);
    }
    for (size_t j = 0; j < TRAVEL_P; j++) {
        out.coverage[j] *= 100.0 / run_count;
    }
    out.speed_coverage[0] *= 100.0 / run_count;
    out.speed_coverage[1] *= 100.0 / run_count;
    gsl_sort(w_error, 1, (size_t)run_count);
    gsl_sort(v_error, 1, (size_t)run_count);
    out.w_median = gsl_stats_quantile_from_sorted_data(w_error, 1, (size_t)run_count, 0.5);
    out.w_p95 = gsl_stats_quantile_from_sorted_data(w_error, 1, (size_t)run_count, 0.95);
    out.v_median = gsl_stats_quantile_from_sorted_data(v_error, 1, (size_t)run_count, 0.5);
    out.v_p95 = gsl_stats_quantile_from_sorted_data(v_error, 1, (size_t)run_count, 0.95);
    return out;
}

static void print_row(enum travel_method method, enum truth_noise noise, double sd_s, size_t n,
                      const struct outcome *o)
{
    (void)printf(
        "%-10s %2.0f ms  N %3zu  %-5s  w %5.2f /%6.2f  v %5.2f /%6.2f   coverage %5.1f "
        "%5.1f %5.1f %5.1f %5.1f\n",
        noise_names[noise], 1e3 * sd_s, n, travel_method_name(method), o->w_median, o->w_p95,
        o->v_median, o->v_p95, o->coverage[0], o->coverage[1], o->coverage[2], o->coverage[3],
        o->coverage[4]);
}

/* Percent; what a share of 95 % in so many runs may be off. */
static double slack(double standard_errors)
{
    return 100.0 * standard_errors * sqrt(0.95 * 0.05 / run_count);
}

/* 95 % intervals of plain least squares must hold the truth in 95 % of the runs. */
static void test_coverage(void)
{
    static const size_t sizes[] = {20, 50, 200};
    (void)printf("\n");
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const struct outcome o = repeat(TRAVEL_OLS, TRUTH_GAUSS, 0.05, sizes[i]);
        print_row(TRAVEL_OLS, TRUTH_GAUSS, 0.05, sizes[i], &o);
        for (size_t j = 0; j < TRAVEL_P; j++) {
            CHECK_NEAR(travel_term_name((enum travel_term)j), o.coverage[j], 95.0, 0.0,
                       slack(3.3));
        }
        CHECK_NEAR("angular speed", o.speed_coverage[0], 95.0, 0.0, slack(3.3));
        CHECK_NEAR("linear speed", o.speed_coverage[1], 95.0, 0.0, slack(3.3));
    }
}

/* Reference: median / 95th percentile of |error| in percent. */
static const struct {
    enum travel_method method;
    enum truth_noise noise;
    double sd_s;
    size_t n;
    double w_median, w_p95, v_median, v_p95;
    double coverage_min; /* of ta, tr, 1/w, 1/v */
} reference[] = {
    {TRAVEL_OLS, TRUTH_GAUSS, 0.03, 50, 0.46, 1.46, 0.17, 0.50, 93},
    {TRAVEL_TUKEY, TRUTH_GAUSS, 0.03, 20, 0.84, 2.88, 0.30, 0.96, 91},
    {TRAVEL_TUKEY, TRUTH_GAUSS, 0.05, 20, 1.40, 4.78, 0.50, 1.60, 91},
    {TRAVEL_TUKEY, TRUTH_GAUSS, 0.05, 50, 0.79, 2.50, 0.29, 0.87, 93},
    {TRAVEL_TUKEY, TRUTH_GAUSS, 0.05, 200, 0.41, 1.23, 0.14, 0.40, 93},
    {TRAVEL_TUKEY, TRUTH_GAUSS, 0.08, 50, 1.27, 3.99, 0.47, 1.41, 93},
    {TRAVEL_HUBER, TRUTH_STUDENT3, 0.05, 50, 0.60, 1.86, 0.21, 0.63, 92},
    {TRAVEL_TUKEY, TRUTH_STUDENT3, 0.05, 20, 1.08, 3.63, 0.36, 1.23, 89},
    {TRAVEL_TUKEY, TRUTH_STUDENT3, 0.05, 50, 0.61, 1.89, 0.20, 0.62, 92},
    {TRAVEL_TUKEY, TRUTH_STUDENT3, 0.05, 200, 0.29, 0.83, 0.10, 0.30, 93},
    {TRAVEL_HUBER, TRUTH_BLUETOOTH, 0.05, 50, 0.60, 2.02, 0.21, 0.70, 92},
    {TRAVEL_TUKEY, TRUTH_BLUETOOTH, 0.05, 20, 0.90, 3.61, 0.32, 1.32, 87},
    {TRAVEL_TUKEY, TRUTH_BLUETOOTH, 0.05, 50, 0.51, 1.67, 0.18, 0.56, 92},
    {TRAVEL_TUKEY, TRUTH_BLUETOOTH, 0.05, 200, 0.25, 0.73, 0.08, 0.25, 93},
    {TRAVEL_AUTO, TRUTH_BLUETOOTH, 0.05, 50, 0.51, 1.67, 0.18, 0.56, 92},
    {TRAVEL_AUTO, TRUTH_GAUSS, 0.05, 50, 0.76, 2.43, 0.29, 0.83, 93},
};

static void test_reference(void)
{
    (void)printf("\n");
    for (size_t i = 0; i < COUNT(reference); i++) {
        char row[64];
        const struct outcome o =
            repeat(reference[i].method, reference[i].noise, reference[i].sd_s, reference[i].n);
        print_row(reference[i].method, reference[i].noise, reference[i].sd_s, reference[i].n,
                  &o);
        (void)snprintf(row, sizeof row, "%s, %s, N %zu", noise_names[reference[i].noise],
                       travel_method_name(reference[i].method), reference[i].n);
        /* The reference has two digits: half a unit of the last one on top. */
        CHECK(row, o.w_median <= 1.2 * reference[i].w_median + 0.005);
        CHECK(row, o.w_p95 <= 1.2 * reference[i].w_p95 + 0.005);
        CHECK(row, o.v_median <= 1.2 * reference[i].v_median + 0.005);
        CHECK(row, o.v_p95 <= 1.2 * reference[i].v_p95 + 0.005);
        for (size_t j = TRAVEL_TA; j < TRAVEL_P; j++) {
            CHECK(row, o.coverage[j] >= reference[i].coverage_min - slack(2.2));
            CHECK(row, o.coverage[j] <= 96.0 + slack(3.0));
        }
    }
}

/* AUTO must not cry wolf: how often Gaussian noise sends it to Tukey. */
static void test_auto(void)
{
    static const size_t sizes[] = {20, 50, 200};
    (void)printf("\n");
    for (int noise = TRUTH_GAUSS; noise <= TRUTH_BLUETOOTH; noise++) {
        for (size_t i = 0; i < COUNT(sizes); i++) {
            uint64_t state = UINT64_C(77) + seed;
            size_t tukey = 0;
            for (int run = 0; run < run_count / 2; run++) {
                struct travel_move moves[N_MAX];
                struct travel_fit fit;
                truth_moves(&state, MIX_ALL, (enum truth_noise)noise, 0.05, moves, sizes[i]);
                CU_ASSERT_EQUAL_FATAL(travel_time_fit(moves, sizes[i], TRAVEL_AUTO, &fit),
                                      STATUS_OK);
                tukey += fit.method == TRAVEL_TUKEY;
            }
            const double percent = 200.0 * (double)tukey / run_count;
            (void)printf("auto, %-10s N %3zu: tukey in %5.1f %%\n", noise_names[noise],
                         sizes[i], percent);
            CHECK("auto, gauss", noise != TRUTH_GAUSS || percent < 10.0);
            CHECK("auto, bluetooth", noise != TRUTH_BLUETOOTH || percent > 60.0);
        }
    }
}

/* 400 moves; both speeds fall by 12 % over moves 100 to 300. Root mean square of the relative
 * error in percent over moves 100 to 400. */
static void ramp(enum truth_noise noise, int runs, double rms[2])
{
    const struct travel_kalman_params p = travel_kalman_defaults(1.0, 0.18);
    uint64_t state = UINT64_C(0xD1B54A32D192ED03) * (seed + 1);
    double sum[2] = {0.0, 0.0};
    for (int run = 0; run < runs; run++) {
        struct travel_kalman k;
        travel_kalman_reset(&k, &p);
        for (int i = 0; i < 400; i++) {
            const double share = fmin(fmax((i - 100) / 200.0, 0.0), 1.0);
            struct truth now = TRUTH;
            now.w_radps *= 1.0 - 0.12 * share;
            now.v_mps *= 1.0 - 0.12 * share;
            struct travel_move move = truth_command(&state, truth_below(&state, 3));
            struct travel_drift drift;
            move.lap_s =
                fmax(truth_lap_s(&now, &move) + truth_noise_s(&state, noise, 0.05), 1e-3);
            (void)travel_kalman_step(&k, &p, i * INT64_C(3000000), &move, &drift);
            if (i >= 100) {
                const double w = 1.0 / k.beta[TRAVEL_INV_W] / now.w_radps - 1.0;
                const double v = 1.0 / k.beta[TRAVEL_INV_V] / now.v_mps - 1.0;
                sum[0] += w * w;
                sum[1] += v * v;
            }
        }
    }
    rms[0] = 100.0 * sqrt(sum[0] / (runs * 300.0));
    rms[1] = 100.0 * sqrt(sum[1] / (runs * 300.0));
}

static void test_ramp(void)
{
    double rms[2];
    (void)printf("\n");
    ramp(TRUTH_GAUSS, 500, rms);
    (void)printf("ramp, gauss:     rms error w %.2f %%, v %.2f %%\n", rms[0], rms[1]);
    CHECK("gauss", rms[0] <= 1.33 && rms[1] <= 0.64);
    ramp(TRUTH_BLUETOOTH, 500, rms);
    (void)printf("ramp, bluetooth: rms error w %.2f %%, v %.2f %%\n", rms[0], rms[1]);
    CHECK("bluetooth", rms[0] <= 1.6 && rms[1] <= 0.8);
}

/* Alarms where nothing changes: fewer than one in 10 000 moves, for every mix of moves. */
static void test_false_alarms(void)
{
    static const char *const mixes[MIX_COUNT] = {"turns", "drives", "both", "all",
                                                 "turns and drives"};
    const struct travel_kalman_params p = travel_kalman_defaults(1.0, 0.18);
    (void)printf("\n");
    for (int noise = TRUTH_GAUSS; noise <= TRUTH_BLUETOOTH; noise += 2) {
        for (int mix = 0; mix < MIX_COUNT; mix++) {
            uint64_t state = UINT64_C(0xA0761D6478BD642F) * (seed + 1);
            size_t alarms = 0;
            for (int run = 0; run < 200; run++) {
                struct travel_kalman k;
                travel_kalman_reset(&k, &p);
                for (int i = 0; i < 1000; i++) {
                    struct travel_move move =
                        truth_command(&state, truth_kind(&state, (enum truth_mix)mix));
                    struct travel_drift drift;
                    move.lap_s = fmax(truth_lap_s(&TRUTH, &move) +
                                          truth_noise_s(&state, (enum truth_noise)noise, 0.05),
                                      1e-3);
                    alarms += travel_kalman_step(&k, &p, i, &move, &drift);
                }
            }
            (void)printf("false alarms, %-10s %-17s %.2f in 10 000 moves\n", noise_names[noise],
                         mixes[mix], (double)alarms / 20.0);
            CHECK(mixes[mix], alarms < 20);
        }
    }
}

/* A step of one speed at move 200: found, named and sized. */
static void test_steps(void)
{
    static const double steps[] = {-0.5, -0.12, -0.05, 0.05, 0.3};
    const struct travel_kalman_params p = travel_kalman_defaults(1.0, 0.18);
    (void)printf("\n");
    for (int noise = TRUTH_GAUSS; noise <= TRUTH_BLUETOOTH; noise += 2) {
        for (size_t s = 0; s < COUNT(steps); s++) {
            uint64_t state = UINT64_C(0xE7037ED1A0B428DB) * (seed + 1);
            size_t found = 0;
            size_t named = 0;
            double delay = 0.0;
            double size = 0.0;
            double off = 0.0;
            for (int run = 0; run < 300; run++) {
                struct travel_kalman k;
                travel_kalman_reset(&k, &p);
                for (int i = 0; i < 400; i++) {
                    struct truth now = TRUTH;
                    now.w_radps *= i < 200 ? 1.0 : 1.0 + steps[s];
                    struct travel_move move = truth_command(&state, truth_below(&state, 3));
                    struct travel_drift drift;
                    move.lap_s = fmax(truth_lap_s(&now, &move) +
                                          truth_noise_s(&state, (enum truth_noise)noise, 0.05),
                                      1e-3);
                    if (!travel_kalman_step(&k, &p, i, &move, &drift) || i < 200) {
                        continue;
                    }
                    found++;
                    delay += i - 200;
                    if (drift.term == TRAVEL_INV_W) {
                        named++;
                        size += drift.change_ratio;
                        off += fabs((double)drift.since_us - 200.0);
                    }
                    break;
                }
            }
            (void)printf(
                "step of w by %+3.0f %%, %-10s found %5.1f %% after %4.1f moves, named "
                "%5.1f %%, mean size %+5.1f %%, start off by %4.1f moves\n",
                100.0 * steps[s], noise_names[noise], (double)found / 3.0,
                delay / (double)found, 100.0 * (double)named / (double)found,
                100.0 * size / (double)named, off / (double)named);
            CHECK("found", found >= 250);
            CHECK("named", (double)named >= 0.9 * (double)found);
            CHECK_NEAR("size", size / (double)named, steps[s], 0.0, 0.02);
        }
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    const char *count = getenv("TANDEM_RUNS");
    run_count = count ? atoi(count) : RUNS;
    if (run_count < 2 || run_count > RUNS_MAX) {
        (void)fprintf(stderr, "TANDEM_RUNS: from 2 to %d\n", RUNS_MAX);
        return EXIT_FAILURE;
    }
    seed = check_seed(1);
    CU_pSuite suite = CU_add_suite("travel_time", NULL, NULL);
    CU_add_test(suite, "coverage", test_coverage);
    CU_add_test(suite, "reference", test_reference);
    CU_add_test(suite, "auto", test_auto);
    CU_add_test(suite, "ramp", test_ramp);
    CU_add_test(suite, "false alarms", test_false_alarms);
    CU_add_test(suite, "steps", test_steps);
    return check_run();
}
