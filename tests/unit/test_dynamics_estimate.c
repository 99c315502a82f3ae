/* One call for every method: its questions while it works, and its results when cancelled. */
#include <math.h>
#include <stdio.h>

#include <CUnit/Basic.h>
#include <gsl/gsl_errno.h>

#include "identification/dynamics/dynamics_estimate.h"
#include "tests/support/check.h"
#include "tests/support/usv_truth.h"

static struct usv_record record;
static struct data_set set;

struct patience {
    size_t asked[DYNAMICS_METHOD_COUNT];
    enum dynamics_method until;
    size_t iterations;
};

static bool go_on(void *context, enum dynamics_method stage, size_t iteration)
{
    struct patience *patience = context;
    patience->asked[stage]++;
    return stage != patience->until || iteration < patience->iterations;
}

static void run_method(enum dynamics_method method, struct patience *patience,
                       struct dynamics_fit *fit)
{
    struct dynamics_options options = dynamics_options_defaults();
    options.go_on = go_on;
    options.context = patience;
    const enum status st = method == DYNAMICS_METHOD_COUNT
                               ? dynamics_estimate_auto(&usv3_model, &set, &options, fit)
                               : dynamics_estimate(&usv3_model, &set, method, &options, fit);
    CU_ASSERT_EQUAL_FATAL(st, STATUS_OK);
}

static void test_patience(void)
{
    static const struct {
        const char *row;
        enum dynamics_method method, until;
        size_t iterations;
        enum dynamics_method fitted;
        enum dynamics_stop stop;
    } rows[] = {
        {"weak is not asked", DYNAMICS_WEAK, DYNAMICS_WEAK, 0, DYNAMICS_WEAK,
         DYNAMICS_STOP_DIRECT},
        {"patient", DYNAMICS_OUTPUT_ERROR, DYNAMICS_METHOD_COUNT, 0, DYNAMICS_OUTPUT_ERROR,
         DYNAMICS_STOP_CONVERGED},
        {"output error", DYNAMICS_OUTPUT_ERROR, DYNAMICS_OUTPUT_ERROR, 2, DYNAMICS_OUTPUT_ERROR,
         DYNAMICS_STOP_CANCELLED},
        {"pem, in its first stage", DYNAMICS_PEM, DYNAMICS_OUTPUT_ERROR, 1,
         DYNAMICS_OUTPUT_ERROR, DYNAMICS_STOP_CANCELLED},
        {"pem, in its second", DYNAMICS_PEM, DYNAMICS_PEM, 0, DYNAMICS_PEM,
         DYNAMICS_STOP_CANCELLED},
        {"auto", DYNAMICS_METHOD_COUNT, DYNAMICS_OUTPUT_ERROR, 1, DYNAMICS_OUTPUT_ERROR,
         DYNAMICS_STOP_CANCELLED},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct dynamics_fit fit;
        struct patience patience = {.until = rows[i].until, .iterations = rows[i].iterations};
        run_method(rows[i].method, &patience, &fit);
        CHECK_INT(rows[i].row, fit.method, rows[i].fitted);
        CHECK_INT(rows[i].row, fit.stop, rows[i].stop);
        CHECK_INT(rows[i].row, patience.asked[DYNAMICS_WEAK], 0);
        if (fit.stop == DYNAMICS_STOP_CANCELLED) {
            CHECK_INT(rows[i].row, patience.asked[rows[i].until], rows[i].iterations + 1);
            CHECK_INT(rows[i].row, fit.estimate.verdict != ESTIMATE_PASS, true);
            CHECK_INT(rows[i].row,
                      isfinite(fit.estimate.value[0]) && isfinite(fit.estimate.hi[0]), true);
        }
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (usv_read("W", &record) != USV_SAMPLES || CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    set = usv_set(&record);
    CU_pSuite suite = CU_add_suite("dynamics_estimate", NULL, NULL);
    CU_add_test(suite, "patience", test_patience);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? 0 : 1;
}
