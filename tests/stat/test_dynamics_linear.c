/* Two hundred recordings with fresh noise: what the linear estimators' values and intervals are
 * worth, with the options people get. A table is printed; docs/model/identification.md has it.
 */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "identification/dynamics/dynamics_linear.h"
#include "twin/models/usv3.h"

enum { SAMPLES = 1500, COLUMNS = 10, RUNS = 200 };

static const double noise[USV3_AXES] = {0.03, 0.0125, 0.009};

static double column[COLUMNS][SAMPLES];
static double measured[USV3_AXES][SAMPLES];
static struct data_set set;

static void load(void)
{
    char line[512];
    size_t n = 0;
    FILE *in = fopen(TANDEM_SOURCE_DIR "/tests/golden/usv_W.csv", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(in);
    while (n < SAMPLES && fgets(line, sizeof line, in)) {
        char *at = line;
        if (line[0] == '#') {
            continue;
        }
        for (size_t i = 0; i < COLUMNS; i++) {
            column[i][n] = strtod(at, &at);
            at += *at == ',';
        }
        n++;
    }
    (void)fclose(in);
    set = (struct data_set){
        .axes = USV3_AXES, .n = n, .dt_s = 0.1, .t_s = column[0], .run_count = 1};
    set.run_start[1] = n;
    for (size_t a = 0; a < USV3_AXES; a++) {
        set.tau[a] = column[1 + a];
        set.nu[a] = measured[a];
    }
}

struct tally {
    double error, square, covered, covered_plain;
};

static void run_all(enum dynamics_method method, unsigned seed, struct tally *tally)
{
    const double *truth = usv3_vessel_find("wamv")->theta;
    const struct dynamics_options options = dynamics_options_defaults();
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    gsl_rng_set(rng, seed);
    for (int run = 0; run < RUNS; run++) {
        struct dynamics_fit fit;
        for (size_t a = 0; a < USV3_AXES; a++) {
            for (size_t k = 0; k < SAMPLES; k++) {
                measured[a][k] = column[7 + a][k] + gsl_ran_gaussian(rng, noise[a]);
            }
        }
        CU_ASSERT_EQUAL_FATAL(dynamics_linear_fit(&usv3_model, &set, method, &options, &fit),
                              STATUS_OK);
        for (size_t i = 0; i < USV3_PARAMETERS; i++) {
            const double error = fit.estimate.value[i] - truth[i];
            tally[i].error += 100.0 * error / truth[i] / RUNS;
            tally[i].square += 1e4 * error * error / (truth[i] * truth[i]) / RUNS;
            tally[i].covered += fit.estimate.lo[i] <= truth[i] && truth[i] <= fit.estimate.hi[i]
                                    ? 100.0 / RUNS
                                    : 0.0;
            tally[i].covered_plain +=
                fabs(error) <= 1.96 * fit.estimate.se_white[i] ? 100.0 / RUNS : 0.0;
        }
    }
    gsl_rng_free(rng);
}

static const struct row {
    enum dynamics_method method;
    double bias_percent_max; /* d1 .. d8 */
    double mean_coverage_min, coverage_min;
} rows[] = {
    {DYNAMICS_OLS_CENTRAL, 1e3, 0.0, 0.0},
    {DYNAMICS_OLS_SG, 10.0, 0.0, 0.0},
    {DYNAMICS_WEAK, 2.0, 80.0, 60.0},
    {DYNAMICS_WEAK_IV, 0.5, 89.0, 85.0},
};

static void test_coverage(void)
{
    const unsigned seed = check_seed(4);
    load();
    (void)printf("%d runs; bias %%, rms error %%, coverage %% (by ordinary errors), d1 .. d9\n",
                 RUNS);
    for (size_t k = 0; k < COUNT(rows); k++) {
        struct tally tally[USV3_PARAMETERS] = {{0.0, 0.0, 0.0, 0.0}};
        const char *name = dynamics_method_name(rows[k].method);
        double mean = 0.0;
        double mean_plain = 0.0;
        run_all(rows[k].method, seed, tally);
        (void)printf("%-12s bias", name);
        for (size_t i = 0; i < USV3_PARAMETERS; i++) {
            (void)printf(" %6.2f", tally[i].error);
            mean += tally[i].covered / USV3_PARAMETERS;
            mean_plain += tally[i].covered_plain / USV3_PARAMETERS;
            CHECK(name, i == 8 || fabs(tally[i].error) <= rows[k].bias_percent_max);
            CHECK(name, tally[i].covered >= rows[k].coverage_min);
        }
        (void)printf("\n%-12s  rms", "");
        for (size_t i = 0; i < USV3_PARAMETERS; i++) {
            (void)printf(" %6.2f", sqrt(tally[i].square));
        }
        (void)printf("\n%-12s  cov", "");
        for (size_t i = 0; i < USV3_PARAMETERS; i++) {
            (void)printf(" %6.1f", tally[i].covered);
        }
        (void)printf("  mean %.1f (%.1f)\n", mean, mean_plain);
        CHECK(name, mean >= rows[k].mean_coverage_min);
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("dynamics", NULL, NULL);
    CU_add_test(suite, "coverage", test_coverage);
    return check_run();
}
