/* Output error on the golden vessels against numbers computed independently. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "identification/simulation/output_error.h"
#include "tests/support/usv_truth.h"

static struct usv_record record;

static const struct {
    const char *name;
    double start[9]; /* by central differences: biased by up to 650 % */
    double theta[9];
    double se[9];
} golden[] = {
    {"W",
     {79.7871, 73.354, 65.8859, 46.6015, 23.9601, 23.1509, 17.0397, 95.6978, 14.5417},
     {125.71, 121.179, 70.527, 26.9221, 35.6429, 36.1979, 27.5007, 99.1961, 10.5486},
     {0.221, 0.2188, 0.1318, 0.2678, 0.2065, 0.2763, 0.4021, 0.2529, 0.4312}},
    {"IB",
     {79.0662, 69.2987, 109.619, 34.3089, 31.0031, 23.2578, 16.5602, 188.348, 40.1004},
     {124.306, 119.631, 141.705, 26.0843, 35.9065, 36.6076, 26.4052, 200.1, 18.8593},
     {0.2619, 0.2775, 0.5048, 0.2685, 0.2075, 0.3197, 0.6505, 0.8188, 2.786}},
    {"IA",
     {67.3109, 41.3396, 46.7741, 29.0339, 33.7547, 19.3662, 15.5105, 162.134, 138.719},
     {124.375, 119.539, 142.033, 25.9523, 36.004, 36.5883, 27.5663, 199.88, 20.2347},
     {0.3298, 0.4468, 1.363, 0.3035, 0.2644, 0.5797, 2.816, 1.998, 17.95}},
};

static void test_golden(void)
{
    (void)printf("\n");
    for (size_t g = 0; g < COUNT(golden); g++) {
        const char *row = golden[g].name;
        struct search_options options;
        struct search_report report;
        struct dynamics_fit fit;
        double worst = 0.0;
        CHECK_INT(row, usv_read(row, &record), USV_SAMPLES);
        const struct data_set set = usv_set(&record);
        search_defaults(&usv3_model, &options);
        CU_ASSERT_EQUAL_FATAL(
            output_error_fit(&usv3_model, &set, golden[g].start, &options, NULL, &fit, &report),
            STATUS_OK);
        CHECK_INT(row, fit.stop, DYNAMICS_STOP_CONVERGED);
        CHECK(row, report.white);
        for (size_t i = 0; i < 9; i++) {
            const double se = golden[g].se[i];
            CHECK_NEAR(row, fit.estimate.value[i], golden[g].theta[i], 0.0, 0.02 * se);
            CHECK_NEAR(row, fit.estimate.se_white[i], se, 0.01, 0.0);
            worst = fmax(worst, fabs(fit.estimate.value[i] - golden[g].theta[i]) / se);
        }
        (void)printf("%-2s: at most %.4f standard errors away after %zu steps\n", row, worst,
                     fit.iterations);
        for (size_t i = 0; i < 3; i++) {
            (void)printf("    %s rmse %.5f r2 %.5f correlation %.3f runs %.2f p %.3f\n",
                         usv3_model.axes[i].velocity, report.axis[i].rmse, report.axis[i].r2,
                         report.axis[i].correlation, report.axis[i].runs_z,
                         report.axis[i].ljung_box_p);
        }
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("output error golden", NULL, NULL);
    CU_add_test(suite, "golden", test_golden);
    return check_run();
}
