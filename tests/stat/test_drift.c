/* How often a change of a vessel's parameters is found and named by fits that follow each
 * other, under forces that nobody measures and without, and how often one is told where there
 * is none (docs/model/online.md, section 3). Fits of windows of 200 s each 300 s, as the lab
 * would make them; the vessel changes between the first two and the others. TANDEM_RUNS sets
 * the number of draws (default 1, under forces), TANDEM_SHOW tells each fit. */
#include "tests/support/check.h"

#include "base/random.h"
#include "identification/dynamics/dynamics_change.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "tests/support/usv_truth.h"

enum { N = USV3_AXES, P = USV3_PARAMETERS, HZ = 10, DRIVE_S = 1000, ALL = DRIVE_S * HZ };
enum { WINDOW_S = 200, FITS = 4, CHANGE_S = 450 };
static const int fit_s[FITS] = {100, 400, 700, 1000};
static const double LEVEL = 0.5 * 300.0 / 86400.0;

static const double truth[P] = {60.0, 75.0, 24.5, 18.0, 22.0, 30.0, 40.0, 19.0, 10.0};
static const double noise_sd[N] = {0.02, 0.01, 0.008};
static const double force_sd[N] = {3.0, 3.0, 1.5};
static const double effort_low[N] = {-25.0, -25.0, -18.0};
static const double effort_high[N] = {55.0, 25.0, 18.0};

static double t_s[ALL], tau[N][ALL], measured[N][ALL];
static uint64_t state;

/* The same efforts, noise and forces whatever changes. */
static void drive_vessel(const double *changed, bool with_forces, uint64_t seed)
{
    struct random_source source = {.state = seed};
    double nu[N] = {0.0};
    double pose[N] = {0.0};
    double force[N] = {0.0};
    double effort[N] = {0.0};
    int until[N] = {0};
    const double kept = exp(-1.0 / HZ);
    for (int k = 0; k < ALL; k++) {
        double acting[N];
        t_s[k] = (double)k / HZ;
        for (size_t i = 0; i < N; i++) {
            if (k >= until[i]) {
                until[i] = k + (int)random_between(&source, 2.0 * HZ, 6.5 * HZ);
                effort[i] = random_between(&source, effort_low[i], effort_high[i]);
            }
            force[i] = kept * force[i] +
                       sqrt(1.0 - kept * kept) * force_sd[i] * random_normal(&source);
            acting[i] = effort[i] + (with_forces ? force[i] : 0.0);
            measured[i][k] = nu[i] + noise_sd[i] * random_normal(&source);
            tau[i][k] = effort[i];
        }
        for (int f = 0; f < 4; f++) {
            model_step(&usv3_model, k < CHANGE_S * HZ ? truth : changed, nu, pose, acting, NULL,
                       0.25 / HZ);
        }
    }
}

static struct dynamics_reference fit_window(size_t i, bool with_forces)
{
    static struct dynamics_fit fit;
    const size_t from = fit_s[i] > WINDOW_S ? (size_t)(fit_s[i] - WINDOW_S) * HZ : 0;
    const struct dynamics_options options = dynamics_options_defaults();
    struct dynamics_reference out;
    struct data_set set = {.axes = N,
                           .n = (size_t)fit_s[i] * HZ - from,
                           .dt_s = 1.0 / HZ,
                           .t_s = t_s + from,
                           .run_count = 1};
    set.run_start[1] = set.n;
    for (size_t a = 0; a < N; a++) {
        set.nu[a] = measured[a] + from;
        set.tau[a] = tau[a] + from;
    }
    /* What the lab holds against each other, whatever auto chooses. */
    const enum dynamics_method method = with_forces ? DYNAMICS_PEM : DYNAMICS_OUTPUT_ERROR;
    CHECK("fit", dynamics_estimate(&usv3_model, &set, method, &options, &fit) == STATUS_OK);
    dynamics_reference_take(&out, &fit.estimate);
    return out;
}

static const struct row {
    const char *name;
    size_t parameter;
    double ratio;
    bool with_forces;
} rows[] = {{"d4 x 2, forces", 3, 2.0, true},
            {"none, forces", P, 1.0, true},
            {"d4 x 1.5, forces", 3, 1.5, true},
            {"d4 x 1.2, forces", 3, 1.2, true},
            {"payload + 15 %, forces", DYNAMICS_PAYLOAD, 1.15, true},
            {"d4 x 1.5", 3, 1.5, false},
            {"none", P, 1.0, false}};

static struct tally {
    size_t held, early, found[2], right, alone;
} tallies[COUNT(rows)];

static bool tells_change(const struct dynamics_reference *reference,
                         const struct dynamics_reference *newer, struct dynamics_change *change)
{
    CHECK("compared",
          dynamics_change_find(&usv3_model, reference, newer, NULL, LEVEL, 0.05, change));
    if (getenv("TANDEM_SHOW")) {
        (void)printf("chi2 %.1f of %zu: %zu, %zu by %+.2f, z %.1f\n", change->statistic,
                     change->df, change->count, change->parameter[0],
                     change->count ? change->after[0] / change->before[0] - 1.0 : 0.0,
                     change->z[0]);
    }
    return change->count > 0;
}

/* What is told after each of the last fits. */
static void judge_draw(const struct row *row, struct dynamics_reference reference,
                       uint64_t seed, struct tally *t)
{
    double changed[P];
    struct dynamics_change change;
    for (size_t j = 0; j < P; j++) {
        const bool moves = row->parameter == DYNAMICS_PAYLOAD ? j < 3 : j == row->parameter;
        changed[j] = truth[j] * (moves ? row->ratio : 1.0);
    }
    drive_vessel(changed, row->with_forces, seed);
    for (size_t i = 2; i < FITS; i++) {
        const struct dynamics_reference newer = fit_window(i, row->with_forces);
        t->held++;
        if (tells_change(&reference, &newer, &change)) {
            t->found[i - 2]++;
            t->right += change.parameter[0] == row->parameter;
            t->alone += change.count == 1;
            return;
        }
        dynamics_reference_join(&reference, &newer);
    }
}

/* The fits before a change are those of all rows. */
static void draw_worlds(bool with_forces, size_t count, uint64_t seed)
{
    struct dynamics_change change;
    drive_vessel(truth, with_forces, seed);
    struct dynamics_reference reference = fit_window(0, with_forces);
    const struct dynamics_reference second = fit_window(1, with_forces);
    const bool early = tells_change(&reference, &second, &change);
    dynamics_reference_join(&reference, &second);
    for (size_t r = 0; r < count; r++) {
        if (rows[r].with_forces == with_forces) {
            tallies[r].early += early;
            judge_draw(&rows[r], early ? second : reference, seed, &tallies[r]);
        }
    }
}

static void test_rows(void)
{
    const char *count = getenv("TANDEM_RUNS");
    const char *seed = getenv("TANDEM_SEED");
    const size_t runs = count ? strtoul(count, NULL, 10) : 1;
    state = UINT64_C(0x9E3779B97F4A7C15) * (seed ? strtoul(seed, NULL, 10) : 1);
    for (size_t run = 0; run < runs; run++) {
        state += UINT64_C(0xD1B54A32D192ED03);
        draw_worlds(true, count ? COUNT(rows) : 1, state);
        if (count) {
            draw_worlds(false, COUNT(rows), state);
        }
    }
    for (size_t r = 0; r < (count ? COUNT(rows) : 1); r++) {
        const struct tally *t = &tallies[r];
        const size_t found = t->found[0] + t->found[1];
        (void)printf("%-23s %zu draws: told before %zu; after one fit %zu, two %zu (%zu held); "
                     "right %zu, alone %zu\n",
                     rows[r].name, runs, t->early, t->found[0], t->found[1], t->held, t->right,
                     t->alone);
        CHECK(rows[r].name, t->early * 50 <= runs + 50);
        if (rows[r].parameter == P) {
            CHECK(rows[r].name, found * 50 <= t->held + 50);
        } else if (rows[r].ratio >= 1.5) {
            CHECK(rows[r].name, found * 100 >= runs * 95 && t->right * 100 >= found * 95);
        }
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("drift", NULL, NULL);
    CU_add_test(suite, "changes", test_rows);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
