/* Parameters that may be zero are determined if they hardly need efforts. */
#include "tests/support/check.h"

#include "identification/fit/dynamics_fit.h"
#include "identification/model/models.h"

/* A differential drive with one force and one turn, whose coupling is known to `se` only. */
static int judge_coupling(double se)
{
    const struct model *drive = model_find("diffdrive");
    static double nu[2][4] = {{0.5, 0.5, -0.5, -0.5}, {1.0, -1.0, 1.0, -1.0}};
    static double tau[2][4] = {{1.0, 1.0, -1.0, -1.0}, {1.0, -1.0, -1.0, 1.0}};
    const struct data_set set = {.axes = 2,
                                 .n = 4,
                                 .dt_s = 0.01,
                                 .t_s = nu[0],
                                 .nu = {nu[0], nu[1]},
                                 .tau = {tau[0], tau[1]},
                                 .run_count = 1,
                                 .run_start = {0, 4}};
    static struct dynamics_fit fit;
    dynamics_fit_start(&fit, drive, DYNAMICS_OUTPUT_ERROR, false);
    fit.rows = 100000;
    fit.estimate.rank = drive->parameter_count;
    fit.estimate.condition = 1.0;
    for (size_t i = 0; i < drive->parameter_count; i++) {
        fit.estimate.value[i] = 1.0;
        fit.estimate.covariance[i][i] = 1e-6;
    }
    const int t5 = model_parameter_find(drive, "coupling_spm");
    fit.estimate.value[t5] = 0.0;
    fit.estimate.covariance[t5][t5] = se * se;
    dynamics_judge(&fit, drive, &set);
    return (int)fit.estimate.verdict;
}

/* It needs its value times 0.5 m/s times 1 rad/s of an effort of 1 rad/s. */
static void test_negligible(void)
{
    CHECK_INT("NEGLIGIBLE_EFFORT", judge_coupling(0.039 / 1.96), ESTIMATE_PASS);
    CHECK_INT("NEGLIGIBLE_EFFORT", judge_coupling(0.041 / 1.96), ESTIMATE_MARGINAL);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    CU_pSuite suite = CU_add_suite("negligible", NULL, NULL);
    CU_add_test(suite, "negligible", test_negligible);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? 0 : 1;
}
