/* Recordings with fresh noise: what the linear estimators' values and intervals are worth, with
 * the options people get (docs/model/identification.md). TANDEM_RUNS: recordings, default 200.
 */
#include "tests/support/campaign.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "identification/dynamics/dynamics_linear.h"
#include "identification/model/usv3.h"

enum { SAMPLES = 1500, COLUMNS = 10 };

static const double noise[USV3_AXES] = {0.03, 0.0125, 0.009};

static double column[COLUMNS][SAMPLES];
static double measured[USV3_AXES][SAMPLES];
static struct data_set set;

static void load_recording(void)
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
    double error, square; /* percent */
    size_t covered, covered_plain;
};

static void run_all(enum dynamics_method method, struct tally *tally)
{
    const double *truth = usv3_vessel_find("wamv")->theta;
    const struct dynamics_options options = dynamics_options_defaults();
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    gsl_rng_set(rng, campaign.seed);
    for (size_t run = 0; run < campaign.runs; run++) {
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
            tally[i].error += 100.0 * error / truth[i];
            tally[i].square += 1e4 * error * error / (truth[i] * truth[i]);
            tally[i].covered +=
                fit.estimate.lo[i] <= truth[i] && truth[i] <= fit.estimate.hi[i];
            tally[i].covered_plain += fabs(error) <= 1.96 * fit.estimate.se_white[i];
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
    const size_t runs = campaign.runs;
    const size_t all = runs * USV3_PARAMETERS;
    load_recording();
    for (size_t k = 0; k < COUNT(rows); k++) {
        struct tally tally[USV3_PARAMETERS] = {{0}};
        const char *name = dynamics_method_name(rows[k].method);
        size_t covered = 0;
        size_t covered_plain = 0;
        run_all(rows[k].method, tally);
        for (size_t i = 0; i < USV3_PARAMETERS; i++) {
            const double bias_percent = tally[i].error / (double)runs;
            covered += tally[i].covered;
            covered_plain += tally[i].covered_plain;
            campaign_row("parameters", runs, "%s, %s", name, usv3_model.parameters[i].symbol);
            campaign_value("bias_percent", bias_percent);
            campaign_value("rmse_percent", sqrt(tally[i].square / (double)runs));
            campaign_count("held", tally[i].covered, runs);
            campaign_count("by_ordinary", tally[i].covered_plain, runs);
            campaign_end();
            CHECK(name, i == 8 || fabs(bias_percent) <= rows[k].bias_percent_max);
            CHECK(name,
                  100.0 * (double)tally[i].covered >= rows[k].coverage_min * (double)runs);
        }
        campaign_row("all", runs, "%s", name);
        campaign_count("held", covered, all);
        campaign_count("by_ordinary", covered_plain, all);
        campaign_end();
        CHECK(name, 100.0 * (double)covered >= rows[k].mean_coverage_min * (double)all);
    }
}

int main(void)
{
    CU_pSuite suite = campaign_open("dynamics_linear", 4, 200, 0);
    CU_add_test(suite, "coverage", test_coverage);
    return check_run();
}
