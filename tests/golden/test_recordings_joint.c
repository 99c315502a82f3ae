/* needs: a minute */
/* Recorded joints: a slide, a servo with a pendulum, the base of an arm; if the data are
 * available: in $TANDEM_DATA, else next to the source tree. They cannot be shipped. Prints our
 * results and those of others for the same files. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "identification/data/data_set.h"
#include "identification/dynamics/dynamics_check.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/dynamics/model_choice.h"
#include "identification/model/models.h"
#include "identification/numeric/local_polynomial.h"
#include "service/tool/table.h"

enum { ROWS_MAX = 30000, CHANNELS = 4 };

/* Time, effort, position, velocity; "" is derived. */
struct recording {
    const char *columns[CHANNELS];
    double from_s, to_s;
    double value[CHANNELS][ROWS_MAX];
    struct csv_product product[CHANNELS];
    struct data_raw raw;
};

static struct recording recording;

static enum status check_header(void *context, const struct csv *table, struct err *err)
{
    struct recording *r = context;
    for (size_t c = 0; c < CHANNELS; c++) {
        if (r->columns[c][0]) {
            CHECK_INT(r->columns[c],
                      csv_product_find(table, r->columns[c], UNIT_UNKNOWN, &r->product[c], err),
                      STATUS_OK);
        }
    }
    return STATUS_OK;
}

static enum status record_row(void *context, const struct csv *table, struct err *err)
{
    struct recording *r = context;
    const size_t k = r->raw.n;
    CU_ASSERT_FATAL(k < ROWS_MAX);
    for (size_t c = 0; c < CHANNELS; c++) {
        const enum status st = r->columns[c][0] ? csv_product_value(table, &r->product[c],
                                                                    false, &r->value[c][k], err)
                                                : STATUS_OK;
        if (st != STATUS_OK) {
            return st;
        }
    }
    r->raw.n += r->value[0][k] >= r->from_s && r->value[0][k] < r->to_s ? 1 : 0;
    return STATUS_OK;
}

static void start_recording(const char *effort, const char *position, const char *velocity,
                            double from_s, double to_s)
{
    recording.columns[0] = "t_s";
    recording.columns[1] = effort;
    recording.columns[2] = position;
    recording.columns[3] = velocity;
    recording.from_s = from_s;
    recording.to_s = to_s;
    recording.raw = (struct data_raw){.axes = 1, .t_s = recording.value[0]};
    recording.raw.tau[0] = recording.value[1];
    recording.raw.pose[0] = recording.value[2];
    recording.raw.nu[0] = velocity[0] ? recording.value[3] : NULL;
}

/* One more part; false when there is no such file. */
static bool add_part(const char *file)
{
    char path[1024];
    const char *data = getenv("TANDEM_DATA");
    struct file_mark mark;
    struct err err = {0};
    (void)snprintf(path, sizeof path, "%s/%s",
                   data && *data ? data : TANDEM_SOURCE_DIR "/../shared/data", file);
    FILE *in = fopen(path, "r");
    if (!in) {
        (void)printf("SKIPPED: no %s; set TANDEM_DATA to the recordings\n", path);
        return false;
    }
    (void)fclose(in);
    const struct csv_source source = {.path = path};
    const struct csv_lines lines = {check_header, record_row, NULL, &recording};
    recording.raw.part_start[recording.raw.part_count] = recording.raw.n;
    CHECK_INT(err.text, csv_file_read(&source, &lines, &mark, &err), STATUS_OK);
    recording.raw.part_start[++recording.raw.part_count] = recording.raw.n;
    return true;
}

/* ---- how well efforts are explained --------------------------------------------------------
 */

enum { SLOPE_HALF = 2 };

struct smoother {
    size_t half;
    double value[LOCAL_POLYNOMIAL_MAX]; /* of the effort and of the computed signal, alike */
    double rate[LOCAL_POLYNOMIAL_MAX];  /* of the velocity, over 2 SLOPE_HALF + 1 samples */
};

static double compute_at(const struct model *model, const double *theta,
                         const struct data_set *set, const struct smoother *by, size_t k)
{
    double memory[MODEL_AXES_MAX];
    double nu_dot = 0.0;
    double tau = 0.0;
    for (size_t m = 0; m <= 2 * SLOPE_HALF; m++) {
        nu_dot += by->rate[m] / set->dt_s * set->nu[0][k - SLOPE_HALF + m];
    }
    model->inverse(model, theta, data_set_pose(set, k, memory), &set->nu[0][k], &nu_dot, &tau);
    return tau;
}

/* R2 of the effort, smoothed over the same time as in the references. */
static double effort_r2(const struct model *model, const double *theta,
                        const struct data_set *set, double smooth_s)
{
    struct smoother by;
    double ignored[LOCAL_POLYNOMIAL_MAX];
    double n = 0.0;
    double sum = 0.0;
    double squares = 0.0;
    double left = 0.0;
    by.half = (size_t)fmin(fmax(round(smooth_s / set->dt_s), 2.0), 50.0);
    CHECK_INT("weights", local_polynomial(by.half, 2, by.value, ignored), STATUS_OK);
    CHECK_INT("weights", local_polynomial(SLOPE_HALF, 2, ignored, by.rate), STATUS_OK);
    for (size_t r = 0; r < set->run_count; r++) {
        const size_t margin = by.half + SLOPE_HALF;
        for (size_t k = set->run_start[r] + margin; k + margin < set->run_start[r + 1]; k++) {
            double effort = 0.0;
            double computed = 0.0;
            for (size_t m = 0; m <= 2 * by.half; m++) {
                const size_t at = k - by.half + m;
                effort += by.value[m] * set->tau[0][at];
                computed += by.value[m] * compute_at(model, theta, set, &by, at);
            }
            n += 1.0;
            sum += effort;
            squares += effort * effort;
            left += (effort - computed) * (effort - computed);
        }
    }
    return 1.0 - left / (squares - sum * sum / n);
}

/* ---- one fit --------------------------------------------------------------------------------
 */

struct result {
    const struct model *model;
    double width, smooth_s;
    struct dynamics_fit fit;
    double effort_r2, simulated_r2, one_step_r2;
};

static void check_hold(struct result *result, const struct data_set *set, const char *what)
{
    struct dynamics_check check;
    CHECK_INT(what, dynamics_check_run(result->model, &result->fit, set, &check), STATUS_OK);
    result->effort_r2 =
        effort_r2(result->model, result->fit.estimate.value, set, result->smooth_s);
    result->simulated_r2 = check.simulated ? check.axis[0].run.r2 : (double)NAN;
    result->one_step_r2 = check.simulated ? check.axis[0].one_step.r2 : (double)NAN;
    (void)printf("  %-36s effort R2 %.4f, simulated velocity %.4f, one step %.4f\n", what,
                 result->effort_r2, result->simulated_r2, result->one_step_r2);
}

/* Fits with auto, as the command does. */
static void fit_variants(const char *what, bool load, struct result *result)
{
    const struct model_variant *variants = load ? joint_load_row.variants : joint_row.variants;
    struct data_table table;
    struct data_summary summary;
    struct err err = {0};
    size_t chosen = 0;
    CHECK_INT(what, data_table_make(&recording.raw, &table, &summary, &err), STATUS_OK);
    const struct dynamics_options options = dynamics_options_for(variants[0].model);
    CHECK_INT(what,
              model_choose(variants, joint_row.variant_count, &table.set, &options, &chosen),
              STATUS_OK);
    result->model = variants[chosen].model;
    result->width = variants[chosen].velocity;
    CHECK_INT(what, dynamics_estimate_auto(result->model, &table.set, &options, &result->fit),
              STATUS_OK);
    (void)printf("%s: %s, friction turns over within %g\n", what,
                 dynamics_method_name(result->fit.method), result->width);
    check_hold(result, &table.set, "this recording");
    data_table_free(&table);
}

static void hold_out(struct result *result, const char *what)
{
    struct data_table table;
    struct data_summary summary;
    CHECK_INT(what, data_table_make(&recording.raw, &table, &summary, NULL), STATUS_OK);
    check_hold(result, &table.set, what);
    data_table_free(&table);
}

/* A row of the table; within share of the reference. */
static void print_comparison(const char *name, double reached, double se, double reference,
                             double share)
{
    (void)printf("  %-20s %10.5g +- %-9.2g | %10.5g  (%+.1f %%)\n", name, reached, se,
                 reference, 100.0 * (reached / reference - 1.0));
    CHECK_NEAR(name, reached, reference, share, 0.0);
}

static void compare_fit(const struct result *result, const double *reference, double share)
{
    for (size_t i = 0; i < result->fit.estimate.p; i++) {
        print_comparison(result->model->parameters[i].name, result->fit.estimate.value[i],
                         sqrt(result->fit.estimate.covariance[i][i]), reference[i], share);
    }
}

/* ---- the machines
 * ----------------------------------------------------------------------------
 */

/* A slide on a ball screw: position and voltage only; 35.15 N/V. */
static void test_slide(void)
{
    static const char force[] = "35.15065188248547*u_v";
    static const double reference[] = {95.11, 203.4, 20.40, -3.17};
    static const double reference_60[] = {95.06, 197.6, 20.77, -3.09};
    static struct result result = {.smooth_s = 0.005};
    start_recording(force, "q_m", "", 0.0, HUGE_VAL);
    if (!add_part("emps/emps_trajectory.csv")) {
        return;
    }
    fit_variants("slide", false, &result);
    compare_fit(&result, reference, 0.05);
    CHECK("slide", result.effort_r2 >= 0.997 && result.fit.estimate.verdict == ESTIMATE_PASS);
    start_recording(force, "q_m", "", 0.0, 14.904);
    (void)add_part("emps/emps_trajectory.csv");
    fit_variants("slide, first 60 %", false, &result);
    compare_fit(&result, reference_60, 0.06);
    start_recording(force, "q_m", "", 14.904, HUGE_VAL);
    (void)add_part("emps/emps_trajectory.csv");
    hold_out(&result, "last 40 % (reference effort 0.9981)");
    CHECK("slide, held out", result.effort_r2 >= 0.997 && result.simulated_r2 >= 0.995);
}

/* The base of an arm in closed loop; currents. */
static void test_arm(void)
{
    static const double reference[] = {0.360, 0.955, 0.658, -0.054};
    static struct result result = {.smooth_s = 0.04};
    start_recording("i1_actual_a", "q1_actual_rad", "qd1_actual_radps", 0.0, HUGE_VAL);
    if (!add_part("ur5_ntnu/m6_verify.csv")) {
        return;
    }
    fit_variants("arm", false, &result);
    compare_fit(&result, reference, 0.1);
    (void)printf("  reference effort R2 0.864, on m7 0.896\n");
    CHECK("arm", result.effort_r2 >= 0.85);
    start_recording("i1_actual_a", "q1_actual_rad", "qd1_actual_radps", 0.0, HUGE_VAL);
    (void)add_part("ur5_ntnu/m7_verify_short.csv");
    hold_out(&result, "m7");
    CHECK("arm, held out", result.effort_r2 >= 0.88 && result.simulated_r2 >= 0.95);
    start_recording("i1_actual_a", "q1_actual_rad", "", 0.0, HUGE_VAL);
    (void)add_part("ur5_ntnu/m6_verify.csv");
    fit_variants("arm, velocity derived", false, &result);
    compare_fit(&result, reference, 0.12);
}

static const struct {
    const char *name;
    double r2; /* of the reference's pooled parameters */
} lifts[] = {{"kp100_sin_sin", 0.912},         {"kp100_sin_time_square", 0.792},
             {"kp100_up_and_down", 0.870},     {"kp400_sin_sin", 0.893},
             {"kp400_sin_time_square", 0.918}, {"kp400_up_and_down", 0.697}};

static bool add_lift(size_t i)
{
    char file[128];
    (void)snprintf(file, sizeof file, "xl330_pendulum/%s.csv", lifts[i].name);
    return add_part(file);
}

/* A servo that swings 0.49 kg at 0.1 m: volts, with the load as the scale. */
static void test_pendulum(void)
{
    static const double gravity_nm = 0.49 * 9.81 * 0.1;
    static const double load_kgm2 = 0.49 * 0.1 * 0.1;
    static struct result result = {.smooth_s = 0.04};
    start_recording("duty*vin_v", "q_rad", "", 0.0, HUGE_VAL);
    for (size_t i = 0; i < COUNT(lifts); i++) {
        if (!add_lift(i)) {
            return;
        }
    }
    fit_variants("pendulum", true, &result);
    const double *theta = result.fit.estimate.value;
    const double a = gravity_nm / theta[JOINT_LOAD];
    double se[JOINT_LOAD + 1];
    for (size_t i = 0; i <= JOINT_LOAD; i++) {
        se[i] = a * sqrt(result.fit.estimate.covariance[i][i]);
    }
    print_comparison("scale, N m/V", a, se[JOINT_LOAD] / theta[JOINT_LOAD], 0.0786, 0.15);
    print_comparison("inertia, kg m2", a * theta[JOINT_INERTIA] - load_kgm2, se[JOINT_INERTIA],
                     0.00166, 0.15);
    print_comparison("viscous, N m s/rad", a * theta[JOINT_VISCOUS], se[JOINT_VISCOUS], 0.0340,
                     0.15);
    print_comparison("coulomb, N m", a * theta[JOINT_COULOMB], se[JOINT_COULOMB], 0.0284, 0.6);
    CHECK_NEAR("offset", a * theta[JOINT_OFFSET], 0.0, 0.0, 0.02);
    CHECK("pendulum", result.effort_r2 >= 0.88);
    for (size_t i = 0; i < COUNT(lifts); i++) {
        char what[64];
        start_recording("duty*vin_v", "q_rad", "", 0.0, HUGE_VAL);
        (void)add_lift(i);
        (void)snprintf(what, sizeof what, "%s (%.3f)", lifts[i].name, lifts[i].r2);
        hold_out(&result, what);
        CHECK(what, result.effort_r2 >= lifts[i].r2 - 0.05);
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("recorded joints", NULL, NULL);
    (void)printf("reached | reference\n");
    CU_add_test(suite, "slide", test_slide);
    CU_add_test(suite, "arm", test_arm);
    CU_add_test(suite, "pendulum", test_pendulum);
    return check_run();
}
