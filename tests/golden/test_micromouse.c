/* Steps of a micromouse's wheel motors, 100 samples each, from rest to three powers, if the
 * data are available: in $TANDEM_DATA, else next to the source tree. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "identification/dynamics/dynamics_check.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/model/models.h"
#include "tests/support/motion_file.h"

enum { STEPS = 3, T = 0, POWER, LEFT, RIGHT, COLUMNS };

static const char *const columns[COLUMNS] = {"t_s", "power_pct", "left_ticks_per_10ms",
                                             "right_ticks_per_10ms"};
static const int powers[STEPS] = {20, 40, 60};

/* y = K (p - u0)(1 - exp(-t / tau)) over the three powers: ticks per 10 ms, percent, s. */
static const struct {
    const char *day, *wheel;
    size_t column;
    double gain, time_s, dead_band, r2;
} rows[] = {
    {"bde1e93", "left", LEFT, 1.661, 0.234, 4.7, 0.986},
    {"bde1e93", "right", RIGHT, 1.575, 0.198, 5.5, 0.973},
    {"9c18ef3", "left", LEFT, 1.703, 0.186, 2.7, 0.964},
    {"9c18ef3", "right", RIGHT, 1.682, 0.176, 5.8, 0.951},
};

static struct motion_file files[COUNT(rows)];
static size_t starts[STEPS + 1];

static bool load_steps(size_t row)
{
    for (size_t s = 0; s < STEPS; s++) {
        char name[64];
        (void)snprintf(name, sizeof name, "micromouse/%s_step_%dpct.csv", rows[row].day,
                       powers[s]);
        starts[s] = files[row].n;
        if (!motion_file_add(&files[row], name, columns, COLUMNS)) {
            return false;
        }
    }
    starts[STEPS] = files[row].n;
    /* The wheels are mounted mirrored. */
    double *ticks = files[row].column[rows[row].column];
    for (size_t k = 0; ticks[starts[STEPS] - 1] < 0.0 && k < files[row].n; k++) {
        ticks[k] = -ticks[k];
    }
    return true;
}

static void fit_steps(size_t row, size_t from, size_t steps, const struct model *model,
                      struct dynamics_fit *fit, struct dynamics_check *check)
{
    const struct dynamics_options options = dynamics_options_defaults();
    const size_t first = starts[from];
    struct data_table table;
    struct data_summary summary;
    struct data_raw raw = {.axes = 1,
                           .n = starts[from + steps] - first,
                           .t_s = files[row].column[T] + first,
                           .nu = {files[row].column[rows[row].column] + first},
                           .tau = {files[row].column[POWER] + first},
                           .part_count = steps};
    for (size_t s = 0; s <= steps; s++) {
        raw.part_start[s] = starts[from + s] - first;
    }
    CU_ASSERT_EQUAL_FATAL(data_table_make(&raw, &table, &summary, NULL), STATUS_OK);
    CHECK_INT("runs", summary.runs, (long long)steps);
    CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(model, &table.set, &options, fit), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(dynamics_check_run(model, fit, &table.set, check), STATUS_OK);
    data_table_free(&table);
}

static void test_pooled(void)
{
    const struct model *model = &first_order_deadband_model;
    (void)printf(
        "\nthree powers   reached: K  tau+L      L     u0 (error)    R2   | reference: K   "
        "tau    u0    R2\n");
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct dynamics_fit fit;
        struct dynamics_check check;
        char row[64];
        (void)snprintf(row, sizeof row, "%s %s", rows[i].day, rows[i].wheel);
        fit_steps(i, 0, STEPS, model, &fit, &check);
        CHECK_INT(row, fit.method, DYNAMICS_OUTPUT_ERROR);
        const double delay_s = isfinite(fit.delay_s) ? fit.delay_s : 0.0;
        const double gain = 1.0 / fit.estimate.value[1];
        const double lag_s = fit.estimate.value[0] / fit.estimate.value[1] + delay_s;
        (void)printf("%-13s      %6.3f %6.3f %6.3f %6.2f (%4.2f) %6.3f  |         %6.3f %6.3f "
                     "%4.1f %6.3f\n",
                     row, gain, lag_s, delay_s, fit.estimate.value[2],
                     sqrt(fit.estimate.covariance[2][2]), check.axis[0].run.r2, rows[i].gain,
                     rows[i].time_s, rows[i].dead_band, rows[i].r2);
        CHECK_NEAR(row, gain, rows[i].gain, 0.005, 0.0);
        CHECK_NEAR(row, lag_s, rows[i].time_s, 0.01, 0.0);
        CHECK_NEAR(row, fit.estimate.value[2], rows[i].dead_band, 0.0, 0.1);
        CHECK(row, check.axis[0].run.r2 >= rows[i].r2 - 0.002);
    }
}

/* One step cannot distinguish gain and dead band: the plain model puts both into the gain. From
 * rest it reports a delay, which the reference does not have. */
static void test_single(void)
{
    static const double gain[] = {1.307, 1.199};
    static const double time_s[] = {0.271, 0.264};
    for (size_t i = 0; i < 2; i++) {
        struct dynamics_fit fit;
        struct dynamics_check check;
        fit_steps(i, 0, 1, &first_order_model, &fit, &check);
        const double delay_s = isfinite(fit.delay_s) ? fit.delay_s : 0.0;
        (void)printf("20 %% alone, %-6s  K %.3f (reference %.3f)  tau+L %.3f (%.3f)  R2 %.3f\n",
                     rows[i].wheel, 1.0 / fit.estimate.value[1], gain[i],
                     fit.estimate.value[0] / fit.estimate.value[1] + delay_s, time_s[i],
                     check.axis[0].run.r2);
        CHECK_NEAR(rows[i].wheel, 1.0 / fit.estimate.value[1], gain[i], 0.01, 0.0);
        CHECK_NEAR(rows[i].wheel, fit.estimate.value[0] / fit.estimate.value[1] + delay_s,
                   time_s[i], 0.03, 0.0);
        fit_steps(i, 0, 1, &first_order_deadband_model, &fit, &check);
        CHECK_INT(rows[i].wheel, fit.estimate.verdict, ESTIMATE_FAIL);
        CHECK(rows[i].wheel, !fit.estimate.identifiable[0] && !fit.estimate.identifiable[1]);
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (!load_steps(i)) {
            return EXIT_SUCCESS;
        }
    }
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("micromouse", NULL, NULL);
    CU_add_test(suite, "pooled", test_pooled);
    CU_add_test(suite, "single", test_single);
    return check_run();
}
