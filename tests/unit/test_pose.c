/* Recordings with a pose: resampled and cut like the rest, required by models that need it, and
 * the source of velocities that were not recorded. */
#include "tests/support/check.h"

#include "identification/data/data_set.h"
#include "identification/data/simulation.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/model/models.h"
#include "identification/simulation/output_error.h"

enum { N = 4000 };

/* A driven swing: I w' + c w + G sin(q) = tau. */
static void write_rows(const struct model *model, const double *pose, const double *nu,
                       const double *nu_dot, double *phi)
{
    (void)model;
    phi[0] = nu_dot[0];
    phi[1] = nu[0];
    phi[2] = sin(pose[0]);
}

static void bias_force(const struct model *model, const double *theta, const double *pose,
                       const double *nu, double *tau)
{
    (void)model;
    tau[0] = theta[1] * nu[0] + theta[2] * sin(pose[0]);
}

static void compute_slope(const struct model *model, const double *theta, const double *pose,
                          const double *nu, const double *tau, double *jacobian)
{
    (void)model;
    (void)pose;
    (void)nu;
    (void)tau;
    jacobian[0] = -theta[1] / theta[0];
}

static void rate_of_pose(const struct model *model, const double *pose, const double *nu,
                         double *pose_dot)
{
    (void)model;
    (void)pose;
    pose_dot[0] = nu[0];
}

static const struct model_axis axes[] = {{"w_radps", "tau_nm", "q_rad", "speed", "torque"}};
static const struct model_parameter parameters[] = {
    {"inertia_kgm2", "I", "kg m^2", MODEL_POSITIVE, "", "inertia"},
    {"damping_nms", "c", "N m s", MODEL_NOT_NEGATIVE, "", "damping"},
    {"load_nm", "G", "N m", MODEL_ANY, "", "load"},
};
static const struct model_derived derived[] = {{"fading_hz", "f", "1/s", "", 1, 0}};
static const struct model swing = {.name = "swing",
                                   .axes = axes,
                                   .axis_count = 1,
                                   .parameters = parameters,
                                   .parameter_count = 3,
                                   .derived = derived,
                                   .derived_count = 1,
                                   .needs_pose = true,
                                   .rows = write_rows,
                                   .forward = model_forward,
                                   .inverse = model_inverse,
                                   .bias_force = bias_force,
                                   .slope = compute_slope,
                                   .kinematics = rate_of_pose};
static const double truth[3] = {0.5, 0.4, 3.0};

struct recording {
    double t[N], q[N], w[N], tau[N];
    struct data_raw raw;
};

static double draw_noise(unsigned *state)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++) {
        *state = *state * 1664525u + 1013904223u;
        sum += (double)(*state >> 8) / 16777216.0;
    }
    return sum;
}

/* 40 s at 100 Hz; the efforts change at every sample, held between. */
static void record_run(struct recording *r, double q_sd, double w_sd)
{
    double nu = 0.0;
    double pose = 0.3;
    unsigned seed = 7;
    for (size_t k = 0; k < N; k++) {
        r->t[k] = 0.01 * (double)k;
        r->q[k] = pose + q_sd * draw_noise(&seed);
        r->w[k] = nu + w_sd * draw_noise(&seed);
        r->tau[k] = 2.0 * sin(1.3 * r->t[k]) + 1.5 * sin(3.1 * r->t[k] + 0.4);
        for (int i = 0; i < 4; i++) {
            model_step(&swing, truth, &nu, &pose, &r->tau[k], NULL, 0.0025);
        }
    }
    r->raw = (struct data_raw){.axes = 1, .n = N, .t_s = r->t, .part_count = 1};
    r->raw.part_start[1] = N;
    r->raw.nu[0] = r->w;
    r->raw.tau[0] = r->tau;
    r->raw.pose[0] = r->q;
}

static void test_every_method(void)
{
    static struct recording r;
    struct data_table table;
    struct data_summary summary;
    const struct dynamics_options options = dynamics_options_defaults();
    record_run(&r, 1e-4, 0.01);
    CHECK_INT("table", data_table_make(&r.raw, &table, &summary, NULL), STATUS_OK);
    CHECK_INT("recorded", summary.derived_window[0], 0);
    CHECK_NEAR("noise", summary.pose[0].noise_sd, 1e-4, 0.1, 0.0);
    for (int method = DYNAMICS_WEAK; method < DYNAMICS_METHOD_COUNT; method++) {
        const char *name = dynamics_method_name((enum dynamics_method)method);
        struct dynamics_fit fit;
        CHECK_INT(
            name,
            dynamics_estimate(&swing, &table.set, (enum dynamics_method)method, &options, &fit),
            STATUS_OK);
        CHECK_INT(name, fit.method, method);
        for (size_t i = 0; i < 3; i++) {
            CHECK_NEAR(name, fit.estimate.value[i], truth[i], 0.01, 0.0);
        }
    }
    data_table_free(&table);
}

static void test_missing_pose(void)
{
    static struct recording r;
    static double computed[N];
    double *nu[1] = {computed};
    struct data_table table;
    struct data_summary summary;
    struct dynamics_fit fit;
    const struct dynamics_options options = dynamics_options_defaults();
    record_run(&r, 0.0, 0.0);
    r.raw.pose[0] = NULL;
    CHECK_INT("table", data_table_make(&r.raw, &table, &summary, NULL), STATUS_OK);
    CHECK("no pose", !data_set_suits(&table.set, &swing));
    for (int method = 0; method < DYNAMICS_METHOD_COUNT; method++) {
        CHECK_INT(
            "no pose",
            dynamics_estimate(&swing, &table.set, (enum dynamics_method)method, &options, &fit),
            STATUS_E_ARG);
    }
    struct search_options search;
    struct search_report report;
    search_defaults(&swing, &search);
    CHECK_INT("no pose",
              output_error_fit(&swing, &table.set, truth, &search, NULL, &fit, &report),
              STATUS_E_ARG);
    CHECK("no pose", !simulation_run(&swing, truth, 0, &table.set, false, nu));
    data_table_free(&table);
}

/* Straight between rows, cut where the recording is cut, a row without a pose passed over.
 */
static void test_resampled(void)
{
    static struct recording r;
    struct data_table table;
    struct data_summary summary;
    double pose[MODEL_AXES_MAX];
    record_run(&r, 0.0, 0.0);
    for (size_t k = 0; k < N; k++) {
        r.t[k] += 0.003 * sin(0.7 * (double)k) + (k >= 1000 ? 1.0 : 0.0);
        r.q[k] = 2.0 * r.t[k];
    }
    r.q[50] = (double)NAN;
    CHECK_INT("table", data_table_make(&r.raw, &table, &summary, NULL), STATUS_OK);
    CHECK("uneven", summary.resampled);
    CHECK_INT("incomplete", summary.incomplete, 1);
    CHECK_INT("runs", table.set.run_count, 2);
    for (size_t k = 0; k < table.set.n; k++) {
        CHECK_NEAR("straight", table.set.pose[0][k], 2.0 * table.set.t_s[k], 0.0, 1e-9);
    }
    CHECK_NEAR("of a sample", data_set_pose(&table.set, 10, pose)[0], 2.0 * table.set.t_s[10],
               0.0, 1e-9);
    data_table_free(&table);
}

/* Without noise nothing is lost; with noise the error is that of the data summary. */
static void test_derived(void)
{
    static const double sds[] = {0.0, 1e-5, 1e-3};
    for (size_t i = 0; i < COUNT(sds); i++) {
        static struct recording r;
        struct data_table table;
        struct data_summary summary;
        char row[32];
        double squares = 0.0;
        (void)snprintf(row, sizeof row, "noise %g", sds[i]);
        record_run(&r, sds[i], 0.0);
        r.raw.nu[0] = NULL;
        CHECK_INT(row, data_table_make(&r.raw, &table, &summary, NULL), STATUS_OK);
        const size_t half = summary.derived_window[0] / 2;
        CHECK(row, half >= 2);
        CHECK_INT(row, table.set.n, N - 2 * half);
        CHECK_NEAR(row, table.set.t_s[0], r.t[half], 0.0, 0.0);
        CHECK_NEAR(row, table.set.tau[0][7], r.tau[7 + half], 0.0, 0.0);
        for (size_t k = 0; k < table.set.n; k++) {
            const double error = table.set.nu[0][k] - r.w[k + half];
            squares += error * error / (double)table.set.n;
        }
        (void)printf("%s: window %zu, error %.2g, reported %.2g\n", row,
                     summary.derived_window[0], sqrt(squares), table.set.noise_sd[0]);
        CHECK(row, sqrt(squares) <= 1.7 * table.set.noise_sd[0] + 1e-4);
        CHECK(row, sds[i] < 1e-4 || summary.derived_window[0] > 20);
        data_table_free(&table);
    }
}

static void test_too_short(void)
{
    static struct recording r;
    struct data_table table;
    struct data_summary summary;
    record_run(&r, 0.0, 0.0);
    r.raw.nu[0] = NULL;
    r.raw.n = 11;
    r.raw.part_start[1] = 11;
    CHECK_INT("eleven", data_table_make(&r.raw, &table, &summary, NULL), STATUS_E_EMPTY);
    r.raw.n = 12;
    r.raw.part_start[1] = 12;
    CHECK_INT("twelve", data_table_make(&r.raw, &table, &summary, NULL), STATUS_OK);
    CHECK_INT("twelve", table.set.n, 8);
    data_table_free(&table);
}

/* The error of c / I from the covariance of both, by hand. */
static void test_derived_quantity(void)
{
    struct dynamics_fit fit;
    struct dynamics_derived f;
    dynamics_fit_start(&fit, &swing, DYNAMICS_OUTPUT_ERROR, false);
    fit.rows = 100000;
    fit.estimate.value[0] = 0.5;
    fit.estimate.value[1] = 0.4;
    fit.estimate.covariance[0][0] = 1e-4;
    fit.estimate.covariance[0][1] = fit.estimate.covariance[1][0] = 2e-5;
    fit.estimate.covariance[1][1] = 4e-4;
    dynamics_derive(&fit, &swing, 0, &f);
    const double variance = 1.6 * 1.6 * 1e-4 - 2.0 * 1.6 * 2.0 * 2e-5 + 4.0 * 4e-4;
    CHECK_NEAR("value", f.value, 0.8, 1e-12, 0.0);
    CHECK_NEAR("se", f.se, sqrt(variance), 1e-12, 0.0);
    CHECK_NEAR("interval", f.hi - f.lo, 2.0 * 1.96 * f.se, 1e-4, 0.0);
    fit.estimate.value[1] = (double)NAN;
    dynamics_derive(&fit, &swing, 0, &f);
    CHECK("unknown", isnan(f.value) && isnan(f.se) && isnan(f.lo) && isnan(f.hi));
}

/* The response agrees with the models' own gains and time constants, and for a vessel with a
 * linearisation by hand: its drag there is d4 + 2 d5 |u|. */
static void test_response(void)
{
    struct dynamics_fit fit;
    struct dynamics_derived gain;
    struct dynamics_derived time_s;
    struct dynamics_derived want;
    static const struct {
        const char *model;
        size_t axis, gain, time;
    } rows[] = {{"first_order", 0, 0, 1}, {"diffdrive", 0, 0, 1}, {"diffdrive", 1, 2, 3}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct model *model = model_find(rows[i].model);
        dynamics_fit_start(&fit, model, DYNAMICS_OUTPUT_ERROR, false);
        fit.rows = 100000;
        for (size_t j = 0; j < model->parameter_count; j++) {
            fit.estimate.value[j] = 0.3 + 0.2 * (double)j;
            for (size_t k = 0; k < model->parameter_count; k++) {
                fit.estimate.covariance[j][k] = j == k ? 1e-4 : 2e-5;
            }
        }
        dynamics_derive_response(&fit, model, rows[i].axis, 0.7, &gain, &time_s);
        dynamics_derive(&fit, model, rows[i].gain, &want);
        CHECK_NEAR(model->name, gain.value, want.value, 1e-9, 0.0);
        CHECK_NEAR(model->name, gain.se, want.se, 1e-6, 0.0);
        dynamics_derive(&fit, model, rows[i].time, &want);
        CHECK_NEAR(model->name, time_s.value, want.value, 1e-9, 0.0);
        CHECK_NEAR(model->name, time_s.se, want.se, 1e-6, 0.0);
        CHECK_NEAR(model->name, time_s.hi - time_s.lo, want.hi - want.lo, 1e-6, 0.0);
    }
    const struct model *usv3 = model_find("usv3");
    static const double vessel[] = {150, 140, 90, 40, 30, 60, 80, 20, 10};
    dynamics_fit_start(&fit, usv3, DYNAMICS_OUTPUT_ERROR, false);
    memcpy(fit.estimate.value, vessel, sizeof vessel);
    for (size_t ab = 0; ab < 81; ab++) {
        fit.estimate.covariance[ab / 9][ab % 9] = 0.0;
    }
    fit.estimate.covariance[4][4] = 1.0;
    fit.estimate.covariance[8][8] = (double)NAN; /* of yaw: no part of this */
    dynamics_derive_response(&fit, usv3, 0, -1.5, &gain, &time_s);
    CHECK_NEAR("drag there", gain.value, 1.0 / 130.0, 1e-9, 0.0);
    CHECK_NEAR("inertia by drag", time_s.value, 150.0 / 130.0, 1e-9, 0.0);
    CHECK_NEAR("error of d5", time_s.se, 150.0 / 130.0 / 130.0 * 3.0, 1e-6, 0.0);
    fit.estimate.value[3] = -100.0;
    dynamics_derive_response(&fit, usv3, 0, 0.0, &gain, &time_s);
    CHECK("does not settle", isnan(gain.value) && isnan(time_s.value) && isnan(time_s.se));
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("pose", NULL, NULL);
    CU_add_test(suite, "every method", test_every_method);
    CU_add_test(suite, "missing", test_missing_pose);
    CU_add_test(suite, "resampled", test_resampled);
    CU_add_test(suite, "derived velocity", test_derived);
    CU_add_test(suite, "too short", test_too_short);
    CU_add_test(suite, "derived quantity", test_derived_quantity);
    CU_add_test(suite, "response", test_response);
    return check_run();
}
