/* Linear estimators against estimates and standard errors computed independently for the data
 * sets usv_*.csv (usv_expected.csv), and what the equations say without noise. */
#include "tests/support/check.h"

#include "identification/dynamics/dynamics_linear.h"
#include "identification/model/usv3.h"

enum { SAMPLES = 1500, COLUMNS = 10 };

struct recording {
    double column[COLUMNS][SAMPLES];
    struct data_set set;
};

/* The golden files: t, effort [3], measured [3], true [3]. */
static void load_recording(const char *name, bool measured, struct recording *r)
{
    char path[256];
    char line[512];
    size_t n = 0;
    (void)snprintf(path, sizeof path, "%s/tests/golden/%s.csv", TANDEM_SOURCE_DIR, name);
    FILE *in = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(in);
    while (n < SAMPLES && fgets(line, sizeof line, in)) {
        char *at = line;
        if (line[0] == '#') {
            continue;
        }
        for (size_t i = 0; i < COLUMNS; i++) {
            r->column[i][n] = strtod(at, &at);
            at += *at == ',';
        }
        n++;
    }
    (void)fclose(in);
    CHECK_INT(name, n, SAMPLES);
    r->set = (struct data_set){.axes = 3, .n = n, .dt_s = 0.1, .t_s = r->column[0]};
    r->set.run_count = 1;
    r->set.run_start[1] = n;
    for (size_t a = 0; a < 3; a++) {
        r->set.tau[a] = r->column[1 + a];
        r->set.nu[a] = r->column[(measured ? 4 : 7) + a];
    }
}

/* The reference numbers weigh all equations alike, and the motion begins at rest. */
static enum dynamics_method method_of(const char *name, struct dynamics_options *options)
{
    *options = dynamics_options_defaults();
    options->pooled = true;
    options->from_rest = true;
    enum dynamics_method method = DYNAMICS_WEAK;
    if (strncmp(name, "ols_sg", 6) == 0) {
        method = DYNAMICS_OLS_SG;
        (void)sscanf(name, "ols_sg%zu_%zu", &options->sg_window, &options->sg_order);
    } else if (strcmp(name, "weak_noise_free") != 0) {
        method = (enum dynamics_method)names_value(&dynamics_method_names, name);
        CHECK(name, method < DYNAMICS_METHOD_COUNT);
    }
    return method;
}

static void check_row(const char *file, const char *name, const double *want)
{
    static struct recording recording;
    struct dynamics_options options;
    struct dynamics_fit fit;
    char row[64];
    const bool noise_free = strcmp(name, "weak_noise_free") == 0;
    (void)snprintf(row, sizeof row, "%s %s", file, name);
    load_recording(file, !noise_free, &recording);
    const enum dynamics_method method = method_of(name, &options);
    const enum status st =
        dynamics_linear_fit(&usv3_model, &recording.set, method, &options, &fit);
    CHECK_INT(row, st, STATUS_OK);
    if (st != STATUS_OK) {
        return;
    }
    const double *truth =
        usv3_vessel_find(strcmp(file, "usv_W") == 0 ? "wamv" : "iacquabot")->theta;
    double worst = 0.0;
    double worst_se = 0.0;
    for (size_t i = 0; i < USV3_PARAMETERS; i++) {
        if (noise_free) {
            CHECK_NEAR(row, 100.0 * (fit.estimate.value[i] / truth[i] - 1.0), want[i], 0.01,
                       2e-4);
            continue;
        }
        const double se = method == DYNAMICS_WEAK_IV ? fit.se_hac[i] : fit.estimate.se_white[i];
        CHECK_NEAR(row, fit.estimate.value[i], want[i], 1e-4, 0.0);
        CHECK_NEAR(row, se, want[USV3_PARAMETERS + i], 1e-3, 0.0);
        worst = fmax(worst, fabs(fit.estimate.value[i] / want[i] - 1.0));
        worst_se = fmax(worst_se, fabs(se / want[USV3_PARAMETERS + i] - 1.0));
    }
    (void)printf("%-24s estimates within %.1e, errors within %.1e, condition %.1f\n", row,
                 worst, worst_se, fit.estimate.condition);
}

static void test_expected(void)
{
    char line[1024];
    int rows = 0;
    FILE *in = fopen(TANDEM_SOURCE_DIR "/tests/golden/usv_expected.csv", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(in);
    while (fgets(line, sizeof line, in)) {
        double want[2 * USV3_PARAMETERS] = {0.0};
        char *method = strchr(line, ',');
        if (line[0] == '#' || !method) {
            continue;
        }
        *method++ = '\0';
        char *at = strchr(method, ',');
        *at++ = '\0';
        for (size_t i = 0; i < COUNT(want) && *at; i++) {
            want[i] = strtod(at, &at);
            at += *at == ',';
        }
        check_row(line, method, want);
        rows++;
    }
    (void)fclose(in);
    CHECK_INT("rows", rows, 18);
}

/* Users get the defaults: every axis is weighted by its own noise. */
static void test_defaults(void)
{
    static const char *const files[] = {"usv_W", "usv_IB", "usv_IA"};
    static struct recording recording;
    const struct dynamics_options options = dynamics_options_defaults();
    for (size_t k = 0; k < COUNT(files); k++) {
        struct dynamics_fit fit;
        const double *truth = usv3_vessel_find(k == 0 ? "wamv" : "iacquabot")->theta;
        load_recording(files[k], true, &recording);
        const enum status st =
            dynamics_linear_fit(&usv3_model, &recording.set, DYNAMICS_WEAK_IV, &options, &fit);
        CHECK_INT(files[k], st, STATUS_OK);
        (void)printf("%s %s, %s\n", files[k], estimate_verdict_name(fit.estimate.verdict),
                     dynamics_stop_name(fit.stop));
        for (size_t i = 0; i < USV3_PARAMETERS; i++) {
            (void)printf("  %-22s %9.4f %8.4f %8.4f  z %5.2f\n", usv3_model.parameters[i].name,
                         fit.estimate.value[i], fit.estimate.se_white[i], fit.se_hac[i],
                         (fit.estimate.value[i] - truth[i]) / fit.se_hac[i]);
            CHECK(files[k], fabs(fit.estimate.value[i] - truth[i]) < 4.0 * fit.se_hac[i]);
        }
        for (size_t i = 0; i < fit.estimate.reason_count; i++) {
            (void)printf("  %s\n", fit.estimate.reasons[i]);
        }
        for (size_t i = 0; i < fit.estimate.advice_count; i++) {
            (void)printf("  > %s\n", fit.estimate.advice[i]);
        }
        CHECK_INT(files[k], fit.estimate.identifiable[8],
                  k != 2); /* IAcquaBot's own thrusters */
        CHECK_INT(files[k], fit.estimate.verdict, k != 2 ? ESTIMATE_PASS : ESTIMATE_MARGINAL);
    }
}

/* The sway equation has no effort: its residuals are least when everything is zero. Weights
 * must not follow it there. */
static void test_no_collapse(void)
{
    static struct recording recording;
    const struct dynamics_options options = dynamics_options_defaults();
    load_recording("usv_W", true, &recording);
    for (int method = DYNAMICS_OLS_CENTRAL; method <= DYNAMICS_WEAK_IV; method++) {
        struct dynamics_fit fit;
        const char *name = dynamics_method_name((enum dynamics_method)method);
        CHECK_INT(name,
                  dynamics_linear_fit(&usv3_model, &recording.set, (enum dynamics_method)method,
                                      &options, &fit),
                  STATUS_OK);
        CHECK(name, fit.estimate.value[0] > 75.0 && fit.estimate.value[1] > 70.0);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("dynamics", NULL, NULL);
    CU_add_test(suite, "expected", test_expected);
    CU_add_test(suite, "defaults", test_defaults);
    CU_add_test(suite, "no collapse", test_no_collapse);
    return check_run();
}
