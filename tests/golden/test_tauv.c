/* needs: a minute */
/* short: TANDEM_WITHOUT=simulated */
/* An underwater vehicle in its horizontal plane, driven by commanded forces, if the data are
 * available: in $TANDEM_DATA, else next to the source tree. The data cannot be shipped. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "identification/dynamics/dynamics_check.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/model/usv3.h"

enum { ROWS_MAX = 10000, COLUMNS = 10, WINDOWS = 12 };

static const int windows[WINDOWS] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14};

/* t, pose [3], velocity [3], force [3] */
static double column[COLUMNS][ROWS_MAX];
static struct data_raw raw;

static int load_window(const char *path)
{
    char line[512];
    FILE *in = fopen(path, "r");
    if (!in) {
        (void)printf("SKIPPED: no %s; set TANDEM_DATA to the recordings\n", path);
        return 0;
    }
    int head = 1;
    while (raw.n < ROWS_MAX && fgets(line, sizeof line, in)) {
        char *at = line;
        for (size_t i = 0; i < COLUMNS && !head; i++) {
            column[i][raw.n] = strtod(at, &at);
            at += *at == ',';
        }
        raw.n += head ? 0 : 1;
        head = 0;
    }
    (void)fclose(in);
    return 1;
}

static int load_recording(void)
{
    const char *data = getenv("TANDEM_DATA");
    raw = (struct data_raw){.axes = USV3_AXES, .t_s = column[0], .part_count = WINDOWS};
    for (size_t i = 0; i < WINDOWS; i++) {
        char path[1024];
        (void)snprintf(path, sizeof path, "%s/tauv_auv/win_%02d.csv",
                       data && *data ? data : TANDEM_SOURCE_DIR "/../shared/data", windows[i]);
        raw.part_start[i] = raw.n;
        if (!load_window(path)) {
            return 0;
        }
    }
    raw.part_start[WINDOWS] = raw.n;
    for (size_t a = 0; a < USV3_AXES; a++) {
        raw.nu[a] = column[4 + a];
        raw.tau[a] = column[7 + a];
    }
    return 1;
}

static void fit_windows(enum dynamics_method method, struct dynamics_fit *fit,
                        struct dynamics_check *check)
{
    struct data_table table;
    struct data_summary summary;
    struct dynamics_options options = dynamics_options_defaults();
    options.biases = true;
    CU_ASSERT_EQUAL_FATAL(data_table_make(&raw, &table, &summary, NULL), STATUS_OK);
    CHECK_INT("runs", summary.runs, WINDOWS);
    CHECK_INT("rows", summary.used, 7163);
    CU_ASSERT_EQUAL_FATAL(dynamics_estimate(&usv3_model, &table.set, method, &options, fit),
                          STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(dynamics_check_run(&usv3_model, fit, &table.set, check), STATUS_OK);
    data_table_free(&table);
}

/* Joint least squares on filtered derivatives, as it is known for these data: masses move by a
 * factor of up to 1.5 with the filter, damping by less. */
static void test_weak(void)
{
    static const double reference[USV3_PARAMETERS] = {63.3, 48.9,  10.5, 48.1, 132.0,
                                                      87.6, 114.0, 7.7,  7.6};
    static const double factor[USV3_PARAMETERS] = {1.3, 1.3, 1.15, 1.3, 1.7,
                                                   1.2, 1.8, 1.2,  1.2};
    struct dynamics_fit fit;
    struct dynamics_check check;
    fit_windows(DYNAMICS_WEAK, &fit, &check);
    (void)printf("%-22s %10s %10s %10s\n", "weak", "reached", "error", "reference");
    for (size_t i = 0; i < USV3_PARAMETERS; i++) {
        const char *name = usv3_model.parameters[i].name;
        (void)printf("%-22s %10.4g %10.3g %10.4g\n", name, fit.estimate.value[i], fit.se_hac[i],
                     reference[i]);
        CHECK(name, fit.estimate.value[i] > reference[i] / factor[i]);
        CHECK(name, fit.estimate.value[i] < reference[i] * factor[i]);
    }
    CHECK_NEAR("surge bias", fit.estimate.value[9], 0.13, 0.0, 0.5);
    CHECK_NEAR("sway bias", fit.estimate.value[10], 2.8, 0.0, 0.5);
    CHECK_NEAR("yaw bias", fit.estimate.value[11], -0.28, 0.0, 0.2);
}

static void test_simulated(void)
{
    struct dynamics_fit fit;
    struct dynamics_check check;
    double mean = 0.0;
    fit_windows(DYNAMICS_OUTPUT_ERROR, &fit, &check);
    (void)printf("output_error: delay %.3f s, error %.3f; simulated R2", fit.delay_s,
                 fit.delay_se_s);
    for (size_t a = 0; a < USV3_AXES; a++) {
        (void)printf(" %.3f", check.axis[a].run.r2);
        mean += check.axis[a].run.r2 / USV3_AXES;
        CHECK("not white", !check.axis[a].run.white);
    }
    (void)printf(" (reference, of the equations: 0.739 0.656 0.672); %s\n",
                 estimate_verdict_name(fit.estimate.verdict));
    CHECK("explained", mean > 0.68);
    CHECK_INT("ended", fit.stop, DYNAMICS_STOP_CONVERGED);
    for (size_t i = 0; i < USV3_PARAMETERS; i++) {
        CHECK(usv3_model.parameters[i].name, fit.estimate.value[i] > 0.0);
    }
    CHECK("delay", fit.delay_s > 0.1 && fit.delay_s < 0.4);
    CHECK("doubted", fit.estimate.verdict != ESTIMATE_PASS && fit.estimate.reason_count > 0);
    CHECK("advised", fit.estimate.advice_count > 0);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (!load_recording()) {
        return EXIT_SUCCESS;
    }
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("tauv", NULL, NULL);
    CU_add_test(suite, "weak", test_weak);
    CU_add_test(suite, "simulated", test_simulated);
    return check_run();
}
