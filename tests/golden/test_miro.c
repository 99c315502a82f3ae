/* Wheels of a real robot under a camera, if the data are available: in $TANDEM_DATA, else next
 * to the source tree. The data cannot be shipped. Prints results and references. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "tests/support/odometry_file.h"

static struct odometry_file files[2];
static struct odometry_fit fits[2];
static struct odometry_check across[2]; /* [i]: the other run by the parameters of run i */

static bool load_runs(void)
{
    const char *data = getenv("TANDEM_DATA");
    for (int run = 0; run < 2; run++) {
        char path[1024];
        (void)snprintf(path, sizeof path, "%s/miro_diffdrive/run%d.csv",
                       data && *data ? data : TANDEM_SOURCE_DIR "/../shared/data", run + 1);
        if (!odometry_file_read(&files[run], path)) {
            (void)printf("SKIPPED: no %s; set TANDEM_DATA to the recordings\n", path);
            return false;
        }
    }
    return true;
}

static void make_set(int run, struct odometry_set *set, struct odometry_summary *summary)
{
    const struct odometry_raw raw = odometry_file_raw(&files[run]);
    struct err err = {.code = STATUS_OK};
    CU_ASSERT_EQUAL_FATAL(odometry_set_make(&raw, set, summary, &err), STATUS_OK);
}

/* With the weight of the reference, which leaves the heading to slip: positions of run 2. */
static struct odometry_check by_weight;
static const double REFERENCE_HEADING_M = 0.5;

static void fit_by_weight(void)
{
    struct odometry_set set;
    struct odometry_set other;
    struct odometry_summary summary;
    struct odometry_fit fit;
    make_set(0, &set, &summary);
    make_set(1, &other, &summary);
    set.heading_m = other.heading_m = REFERENCE_HEADING_M;
    CU_ASSERT_EQUAL_FATAL(odometry_fit_run(&set, &summary, &fit), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(odometry_check_run(&other, fit.estimate.value, &by_weight),
                          STATUS_OK);
    odometry_set_free(&set);
    odometry_set_free(&other);
}

static void fit_both(void)
{
    for (int run = 0; run < 2; run++) {
        struct odometry_set set;
        struct odometry_set other;
        struct odometry_summary summary;
        make_set(run, &set, &summary);
        CU_ASSERT_EQUAL_FATAL(odometry_fit_run(&set, &summary, &fits[run]), STATUS_OK);
        make_set(1 - run, &other, &summary);
        CU_ASSERT_EQUAL_FATAL(
            odometry_check_run(&other, fits[run].estimate.value, &across[run]), STATUS_OK);
        odometry_set_free(&set);
        odometry_set_free(&other);
    }
}

/* Results of other programs' fits of whole paths: radii, track, position RMSE of a coordinate;
 * and of the parameters of run 1 on run 2. */
static const double reference[2][4] = {{0.1566, 0.1558, 0.554, 0.024},
                                       {0.1579, 0.1575, 0.558, 0.015}};
static const double reference_across[2] = {0.026, 0.029}; /* m, rad */

static void print_table(void)
{
    (void)printf("\n%-26s %26s %26s\n", "reached (error) | reference", "run 1", "run 2");
    for (enum odometry_parameter i = 0; i < ODOMETRY_P; i++) {
        (void)printf("%-26s", odometry_parameter_name(i));
        for (int run = 0; run < 2; run++) {
            char text[16] = "-";
            if (i < ODOMETRY_SENSOR_X) {
                (void)snprintf(text, sizeof text, "%.4f", reference[run][i]);
            }
            (void)printf("  %8.4f (%6.4f) | %6s", fits[run].estimate.value[i],
                         fits[run].estimate.se[i], text);
        }
        (void)printf("\n");
    }
    for (int run = 0; run < 2; run++) {
        const struct odometry_fit *f = &fits[run];
        (void)printf("run %d: %s, %zu poses, %zu left out; position %.4f | %.3f m, heading "
                     "%.4f rad\n",
                     run + 1, estimate_verdict_name(f->estimate.verdict), f->n, f->outliers,
                     f->own.position_rmse_m, reference[run][3], f->own.heading_rmse_rad);
        (void)printf("       noise %.4f m %.4f rad, slip %.3f m %.3f rad after 1 m\n",
                     f->noise_m, f->noise_rad, f->slip_m, f->slip_rad);
    }
    (void)printf("run 2 by run 1: position %.4f | %.3f m, heading %.4f | %.3f rad\n",
                 across[0].position_rmse_m, reference_across[0], across[0].heading_rmse_rad,
                 reference_across[1]);
    (void)printf(
        "       a radian like %.1f m, as the reference has it: position %.4f m, heading "
        "%.4f rad\n",
        REFERENCE_HEADING_M, by_weight.position_rmse_m, by_weight.heading_rmse_rad);
    (void)printf("run 1 by run 2: position %.4f m, heading %.4f rad\n",
                 across[1].position_rmse_m, across[1].heading_rmse_rad);
}

static void test_runs(void)
{
    fit_both();
    fit_by_weight();
    print_table();
    for (int run = 0; run < 2; run++) {
        const struct odometry_fit *f = &fits[run];
        const char *row = run == 0 ? "run 1" : "run 2";
        /* Around gaps of run 1 more than 2 % of its poses jump. */
        CHECK_INT(row, f->estimate.verdict, run == 0 ? ESTIMATE_MARGINAL : ESTIMATE_PASS);
        CHECK_INT(row, f->estimate.rank, ODOMETRY_P);
        CHECK(row, f->converged);
        for (size_t i = 0; i < ODOMETRY_SENSOR_X; i++) {
            CHECK_NEAR(row, f->estimate.value[i], reference[run][i], 4e-3, 0.0);
            CHECK(row, f->estimate.lo[i] < reference[run][i] &&
                           reference[run][i] < f->estimate.hi[i]);
            /* The other run of the same robot is no surprise. */
            CHECK_NEAR(row, f->estimate.value[i], fits[1 - run].estimate.value[i], 0.0,
                       2.0 * hypot(f->estimate.se[i], fits[1 - run].estimate.se[i]));
        }
        CHECK_NEAR(row, f->own.position_rmse_m, reference[run][3], 0.05, 0.0);
        CHECK(row, f->estimate.lo[ODOMETRY_SENSOR_DELAY] > 0.02 &&
                       f->estimate.hi[ODOMETRY_SENSOR_DELAY] < 0.07);
    }
    CHECK("across", across[0].position_rmse_m <= 1.13 * reference_across[0]);
    CHECK("across", across[0].heading_rmse_rad <= 0.75 * reference_across[1]);
    CHECK("as the reference", by_weight.position_rmse_m <= reference_across[0]);
    CHECK("as the reference", by_weight.heading_rmse_rad <= reference_across[1]);
    CHECK("across", across[1].position_rmse_m <= 0.028);
    CHECK("across", across[1].heading_rmse_rad <= 0.036);
}

/* Both runs are one robot's: one fit, two start poses. */
static void test_together(void)
{
    static struct odometry_file both;
    struct odometry_set set;
    struct odometry_summary summary;
    struct odometry_fit fit;
    both.count = 0;
    size_t half = 0;
    for (int run = 0; run < 2; run++) {
        half = run == 1 ? both.count : 0;
        for (size_t k = 0; k < files[run].count; k++, both.count++) {
            for (size_t c = 0; c < ODOMETRY_FILE_COLUMNS; c++) {
                both.at[c][both.count] = files[run].at[c][k];
            }
        }
    }
    struct odometry_raw raw = odometry_file_raw(&both);
    raw.part_count = 2;
    raw.part_start[1] = half;
    raw.part_start[2] = both.count;
    CU_ASSERT_EQUAL_FATAL(odometry_set_make(&raw, &set, &summary, NULL), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(odometry_fit_run(&set, &summary, &fit), STATUS_OK);
    odometry_set_free(&set);
    (void)printf("together: radii %.4f %.4f, track %.4f m, position %.4f m\n",
                 fit.estimate.value[ODOMETRY_RADIUS_RIGHT],
                 fit.estimate.value[ODOMETRY_RADIUS_LEFT], fit.estimate.value[ODOMETRY_TRACK],
                 fit.own.position_rmse_m);
    CHECK_INT("together", fit.runs, 2);
    CHECK_INT("together", fit.estimate.verdict, ESTIMATE_PASS);
    CHECK("together", fit.estimate.se[ODOMETRY_TRACK] < fits[0].estimate.se[ODOMETRY_TRACK]);
    CHECK_NEAR("together", fit.own.position_rmse_m, 0.02, 0.1, 0.0);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    if (!load_runs()) {
        return EXIT_SUCCESS;
    }
    CU_pSuite suite = CU_add_suite("miro", NULL, NULL);
    CU_add_test(suite, "runs", test_runs);
    CU_add_test(suite, "together", test_together);
    return check_run();
}
