/* Memory that runs out, at every allocation of everything that is done with a recording: an
 * answer, nothing half written, nothing leaked. */
#include <string.h>

#include <gsl/gsl_errno.h>

#include "identification/dynamics/dynamics_check.h"
#include "identification/dynamics/dynamics_compare.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/dynamics/dynamics_sensitivity.h"
#include "tests/support/check.h"
#include "tests/support/gsl_memory.h"
#include "tests/support/usv_truth.h"
#include "twin/dynamics/dynamics_task.h"

enum { N = 150, ALLOCATIONS_MAX = 1000 };

static struct usv_record record;
static struct data_set set;
static struct dynamics_fit fitted; /* what checks are made of */

/* A task; *out is filled with a pattern before, and has its size below. */
union outcome {
    struct dynamics_fit fit;
    struct dynamics_check check;
    struct dynamics_comparison comparison;
    struct dynamics_sensitivity sensitivity;
    struct data_table table;
    struct dynamics_result result;
};

struct work {
    const char *row;
    enum status (*run)(const struct work *work, union outcome *out);
    enum dynamics_method method;
    bool biases, disturbed;
    long at_least; /* allocations it must take, or nothing was tried */
};

static struct dynamics_options options_of(const struct work *work)
{
    struct dynamics_options options = dynamics_options_defaults();
    options.biases = work->biases;
    return options;
}

static enum status run_estimate(const struct work *work, union outcome *out)
{
    const struct dynamics_options options = options_of(work);
    return dynamics_estimate(&usv3_model, &set, work->method, &options, &out->fit);
}

static enum status estimate_auto(const struct work *work, union outcome *out)
{
    const struct dynamics_options options = options_of(work);
    return dynamics_estimate_auto(&usv3_model, &set, &options, &out->fit);
}

static enum status check_fit(const struct work *work, union outcome *out)
{
    fitted.delay_s = work->method == DYNAMICS_OUTPUT_ERROR ? 0.0 : (double)NAN;
    return dynamics_check_run(&usv3_model, &fitted, &set, &out->check);
}

static enum status compare_reference(const struct work *work, union outcome *out)
{
    struct reference_values current;
    (void)work;
    reference_start(&current);
    return dynamics_compare(&usv3_model, &fitted, &set, &current, &out->comparison);
}

static enum status run_lean(const struct work *work, union outcome *out)
{
    const struct dynamics_options options = options_of(work);
    return dynamics_sensitivity_run(&usv3_model, &set, work->method, &options, 0.12,
                                    &out->sensitivity);
}

/* Uneven in time, so that it has to be resampled. */
static enum status make_table(const struct work *work, union outcome *out)
{
    static double t_s[N];
    struct data_raw raw = {.axes = 3, .n = N, .t_s = t_s, .part_count = 1};
    struct data_summary summary;
    struct err err = {0};
    (void)work;
    raw.part_start[1] = N;
    for (size_t k = 0; k < N; k++) {
        t_s[k] = 0.1 * (double)k + (k % 3 == 0 ? 0.03 : 0.0);
    }
    for (size_t a = 0; a < 3; a++) {
        raw.nu[a] = record.measured[a];
        raw.tau[a] = record.tau[a];
    }
    const enum status st = data_table_make(&raw, &out->table, &summary, &err);
    CHECK(work->row, st == STATUS_OK || err.fault == FAULT_NO_MEMORY);
    if (st == STATUS_OK) {
        data_table_free(&out->table);
    }
    return st;
}

/* A frozen window of the lab. */
static enum status carry_out(const struct work *work, union outcome *out)
{
    static int64_t t_us[N];
    static float values[N * 9];
    struct err err = {0};
    const struct dynamics_task task = {.model = &usv3_model,
                                       .method = (uint8_t)work->method,
                                       .n = N,
                                       .t_us = t_us,
                                       .values = values};
    for (size_t k = 0; k < N; k++) {
        t_us[k] = (int64_t)k * 100000;
        for (size_t a = 0; a < 3; a++) {
            values[9 * k + a] = (float)record.measured[a][k];
            values[9 * k + 3 + a] = (float)record.tau[a][k];
        }
    }
    const enum status st = dynamics_task_run(&task, &out->result, &err);
    CHECK(work->row, st == STATUS_OK || err.text[0] != '\0');
    return st;
}

/* An unmeasured force, for pem. */
static void draw_recording(bool disturbed)
{
    CU_ASSERT_EQUAL_FATAL(usv_read("W", &record), USV_SAMPLES);
    for (size_t k = 0; k < USV_SAMPLES && disturbed; k++) {
        record.measured[0][k] += 0.05 * sin(0.07 * (double)k);
        record.measured[2][k] += 0.02 * sin(0.05 * (double)k);
    }
    set = usv_set(&record);
    set.n = set.run_start[1] = N;
    for (size_t a = 0; a < 3; a++) {
        set.noise_sd[a] = usv_noise_sd[a];
    }
}

static void test_sweep(void)
{
    static const struct work works[] = {
        {"ols_central", run_estimate, DYNAMICS_OLS_CENTRAL, false, false, 0},
        {"ols_sg", run_estimate, DYNAMICS_OLS_SG, true, false, 0},
        {"weak", run_estimate, DYNAMICS_WEAK, false, false, 2},
        {"weak_iv", run_estimate, DYNAMICS_WEAK_IV, true, false, 5},
        {"output_error", run_estimate, DYNAMICS_OUTPUT_ERROR, false, false, 15},
        {"output_error with biases", run_estimate, DYNAMICS_OUTPUT_ERROR, true, false, 15},
        {"pem", run_estimate, DYNAMICS_PEM, false, true, 25},
        {"auto", estimate_auto, DYNAMICS_METHOD_COUNT, false, false, 15},
        {"auto, disturbed", estimate_auto, DYNAMICS_METHOD_COUNT, false, true, 30},
        {"check", check_fit, DYNAMICS_WEAK, false, false, 1},
        {"check with a delay", check_fit, DYNAMICS_OUTPUT_ERROR, false, false, 2},
        {"compare", compare_reference, DYNAMICS_WEAK, false, false, 2},
        {"sensitivity", run_lean, DYNAMICS_WEAK_IV, false, false, 10},
        {"data table", make_table, DYNAMICS_WEAK, false, false, 3},
        {"task", carry_out, DYNAMICS_WEAK_IV, false, false, 15},
    };
    const struct dynamics_options options = dynamics_options_defaults();
    draw_recording(false);
    CU_ASSERT_EQUAL_FATAL(
        dynamics_estimate(&usv3_model, &set, DYNAMICS_WEAK_IV, &options, &fitted), STATUS_OK);
    for (size_t i = 0; i < COUNT(works); i++) {
        const struct work *work = &works[i];
        union outcome out;
        union outcome before;
        enum status st = STATUS_E_NOMEM;
        long n = -1;
        draw_recording(work->disturbed);
        memset(&before, 0x5a, sizeof before);
        while (st == STATUS_E_NOMEM && ++n < ALLOCATIONS_MAX) {
            out = before;
            allocations_left = n;
            st = work->run(work, &out);
            allocations_left = -1;
            CHECK(work->row, st == STATUS_OK || st == STATUS_E_NOMEM);
            CHECK(work->row, st == STATUS_OK || memcmp(&out, &before, sizeof out) == 0);
        }
        CHECK_INT(work->row, st, STATUS_OK);
        CHECK(work->row, n >= work->at_least);
        (void)printf("%s: %ld allocations\n", work->row, n);
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("no memory", NULL, NULL);
    CU_add_test(suite, "sweep", test_sweep);
    return check_run();
}
