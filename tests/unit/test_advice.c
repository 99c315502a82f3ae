/* A report's advice is in the words of people who run robots, for every model and every fault
 * of a recording. */
#include "tests/support/check.h"

#include <ctype.h>
#include <stdint.h>

#include <gsl/gsl_errno.h>

#include "identification/dynamics/dynamics_check.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/dynamics/dynamics_sensitivity.h"
#include "identification/dynamics/dynamics_verdict.h"
#include "identification/dynamics/unmodelled_term.h"
#include "identification/model/models.h"

enum { SAMPLES = 240 };
static const double DT_S = 0.1;

static double values[3][MODEL_AXES_MAX][SAMPLES]; /* nu, tau, pose */
static double t_s[SAMPLES];

/* A name of code: letters or digits on both sides of an underscore; or a symbol, as "d9". */
static bool is_code(const char *text)
{
    for (const char *c = text; *c; c++) {
        const bool starts = c == text || !isalnum((unsigned char)c[-1]);
        const bool symbol = starts && islower((unsigned char)c[0]) &&
                            isdigit((unsigned char)c[1]) && !isalnum((unsigned char)c[2]);
        if (*c == '_' || symbol) {
            return true;
        }
    }
    return false;
}

static void test_words(void)
{
    CHECK("underscore", is_code("give u_mps"));
    CHECK("symbol", is_code("d9 is not excited"));
    CHECK("none", !is_code("drive 3 times, 10 m each"));
    for (size_t m = 0; model_at(m); m++) {
        const struct model *model = model_at(m);
        for (size_t i = 0; i < model->parameter_count; i++) {
            CU_ASSERT_FATAL(model->parameters[i].words != NULL);
            CHECK(model->parameters[i].name, !is_code(model->parameters[i].words));
        }
        for (size_t a = 0; a < model->axis_count; a++) {
            CU_ASSERT_FATAL(model->axes[a].velocity_words && model->axes[a].effort_words);
            CHECK(model->name, !is_code(model->axes[a].velocity_words));
            CHECK(model->name, !is_code(model->axes[a].effort_words));
        }
    }
}

static double draw_noise(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53 - 0.5;
}

/* Faults of a recording. */
static const struct ill {
    const char *name;
    double nu, nu_noise, nu_mean; /* sizes */
    double tau;
    bool still, one_axis, saturated, reversed, quick, wild;
} ills[] = {
    {.name = "nothing moves", .still = true},
    {.name = "left alone", .nu = 1.0, .nu_noise = 0.01},
    {.name = "noise only", .nu_noise = 1.0, .tau = 1.0},
    {.name = "fast", .nu = 5000.0, .nu_noise = 1.0, .tau = 1.0},
    {.name = "one axis", .nu = 0.5, .nu_noise = 0.001, .tau = 10.0, .one_axis = true},
    {.name = "saturated", .nu = 0.5, .nu_noise = 0.001, .tau = 1.0, .saturated = true},
    {.name = "reversed", .nu = 0.5, .nu_noise = 0.001, .tau = -5.0, .reversed = true},
    {.name = "at once", .nu = 0.5, .nu_noise = 1e-4, .tau = 1.0, .quick = true},
    {.name = "steady", .nu = 0.01, .nu_noise = 0.001, .nu_mean = 2.0, .tau = 1.0},
    {.name = "wild", .nu = 0.5, .nu_noise = 0.001, .tau = 10.0, .wild = true},
};

static void record_run(const struct ill *ill, size_t axes)
{
    uint64_t state = 5;
    for (size_t a = 0; a < axes; a++) {
        double applied = 0.0;
        double nu = 0.0;
        for (size_t k = 0; k < SAMPLES; k++) {
            applied = k % 20 == 0 ? (draw_noise(&state) > 0.0 ? 1.0 : -0.3) : applied;
            nu += (ill->quick ? 0.95 : 0.1) * (applied - nu);
            const bool moves = !ill->still && (!ill->one_axis || a == 0);
            values[0][a][k] = ill->still ? 0.0
                                         : ill->nu_mean + (moves ? ill->nu * nu : 0.0) +
                                               ill->nu_noise * draw_noise(&state);
            values[0][a][k] *= ill->wild && k % 60 == 7 ? 1e4 : 1.0;
            values[1][a][k] =
                ill->still || (ill->one_axis && a > 0)
                    ? 0.0
                    : ill->tau * (ill->saturated ? (applied > 0.0 ? 1.0 : -1.0) : applied);
            values[2][a][k] = 0.02 * (double)k;
            t_s[k] = DT_S * (double)k;
        }
    }
}

static size_t check_advice(const struct model *model, const struct ill *ill,
                           const struct dynamics_fit *fit)
{
    for (size_t i = 0; i < fit->estimate.advice_count; i++) {
        char row[512];
        (void)snprintf(row, sizeof row, "%s, %s: %s", model->name, ill->name,
                       fit->estimate.advice[i]);
        CHECK(row, !is_code(fit->estimate.advice[i]));
    }
    return fit->estimate.advice_count;
}

/* One report, as tandem identify makes it. */
static size_t write_report(const struct model *model, const struct ill *ill,
                           enum dynamics_method method, bool biases)
{
    struct data_raw raw = {.axes = model->axis_count,
                           .n = SAMPLES,
                           .t_s = t_s,
                           .part_count = 1,
                           .part_start = {0, SAMPLES}};
    for (size_t a = 0; a < model->axis_count; a++) {
        raw.nu[a] = values[0][a];
        raw.tau[a] = values[1][a];
        raw.pose[a] = model->needs_pose ? values[2][a] : NULL;
    }
    struct data_table table;
    struct data_summary summary;
    static struct dynamics_fit fit;
    static struct dynamics_check check;
    static struct dynamics_sensitivity sensitivity;
    struct dynamics_options options = dynamics_options_for(model);
    const struct model_limits limits = {
        .nu_max = {20.0, 20.0, 20.0}, .motion_s_min = 0.5, .motion_s_max = 10.0};
    struct err err = {0};
    options.biases = biases;
    record_run(ill, model->axis_count);
    CU_ASSERT_EQUAL_FATAL(data_table_make(&raw, &table, &summary, &err), STATUS_OK);
    size_t advised = 0;
    if (dynamics_estimate(model, &table.set, method, &options, &fit) == STATUS_OK &&
        dynamics_check_run(model, &fit, &table.set, &check) == STATUS_OK) {
        if (dynamics_sensitivity_run(model, &table.set, fit.method, &options, fit.delay_s,
                                     &sensitivity) == STATUS_OK) {
            dynamics_sensitivity_judge(&fit, model, &sensitivity);
        }
        if (model->sticks) {
            struct unmodelled_term missing;
            unmodelled_term_find(model, &fit, &table.set, &missing);
            unmodelled_term_judge(&fit, model, &missing);
        }
        dynamics_check_judge(&fit, model, &summary, &limits, &check, NULL);
        advised = check_advice(model, ill, &fit);
    }
    data_table_free(&table);
    return advised;
}

static void test_reports(void)
{
    for (size_t m = 0; model_at(m); m++) {
        size_t advised = 0;
        for (size_t i = 0; i < COUNT(ills); i++) {
            for (int biases = 0; biases < 2; biases++) {
                advised += write_report(model_at(m), &ills[i], DYNAMICS_OLS_SG, biases);
                advised += write_report(model_at(m), &ills[i], DYNAMICS_WEAK_IV, biases);
            }
        }
        CHECK(model_at(m)->name, advised > 40);
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("advice", NULL, NULL);
    CU_ADD_TEST(suite, test_words);
    CU_ADD_TEST(suite, test_reports);
    return check_run();
}
