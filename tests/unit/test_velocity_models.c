/* Robots that follow velocity commands: signs and units of diffdrive against the bodies and
 * motors it is made of; first_order against its closed solutions. */
#include "tests/support/check.h"

#include "identification/dynamics/dynamics_check.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/dynamics/dynamics_verdict.h"
#include "identification/model/models.h"
#include "identification/simulation/output_error.h"

enum { DIFFDRIVE_AXES = 2, DIFFDRIVE_PARAMETERS = 6 };

/* docs/model/velocity_dynamics.md. */
struct machine {
    const char *name;
    double mass_kg, ahead_m, inertia_kgm2;
    double track_m, radius_m, wheel_kgm2, wheel_friction_nms;
    double torque_nmpa, emf_vs, resistance_ohm;
    double p_u, q_u, p_w, q_w;
};

static const struct machine machines[] = {
    {"plain", 5.0, 0.0, 0.05, 0.3, 0.05, 1e-3, 0.0, 0.3, 0.3, 2.0, 40.0, 0.0, 6.0, 0.0},
    {"ahead", 12.0, 0.08, 0.3, 0.4, 0.1, 4e-3, 0.02, 0.8, 0.7, 1.5, 30.0, 0.5, 5.0, 0.2},
    {"behind", 12.0, -0.12, 0.3, 0.4, 0.1, 4e-3, 0.02, 0.8, 0.7, 1.5, 30.0, 0.5, 5.0, 0.2},
};

/* eq. 6 */
static void parameters_of(const struct machine *m, double *t)
{
    const double b = m->ahead_m;
    const double r = m->radius_m;
    const double d = m->track_m;
    const double per_torque = m->resistance_ohm / m->torque_nmpa;
    const double drag = per_torque * m->wheel_friction_nms + m->emf_vs;
    t[0] = per_torque * (m->mass_kg * r + 2.0 * m->wheel_kgm2 / r) / (2.0 * m->p_u) +
           m->q_u / m->p_u;
    t[1] = per_torque *
               ((m->inertia_kgm2 + m->mass_kg * b * b) * 2.0 * r / d + m->wheel_kgm2 * d / r) /
               (2.0 * m->p_w) +
           m->q_w / m->p_w;
    t[2] = per_torque * m->mass_kg * b * r / (2.0 * m->p_u);
    t[3] = 1.0 + drag / (r * m->p_u);
    t[4] = per_torque * m->mass_kg * b * r / (d * m->p_w);
    t[5] = 1.0 + drag * d / (2.0 * r * m->p_w);
}

/* Push of a wheel on the floor (eq. 4). */
static double push_n(const struct machine *m, double volts, double speed_radps,
                     double change_radps2)
{
    const double torque =
        m->torque_nmpa / m->resistance_ohm * (volts - m->emf_vs * speed_radps);
    return (torque - m->wheel_kgm2 * change_radps2 - m->wheel_friction_nms * speed_radps) /
           m->radius_m;
}

/* Computes the residual of the laws of motion (eq. 3) for this motion: force and moment. */
static void compute_imbalance(const struct machine *m, const double *command, const double *nu,
                              const double *nu_dot, double *left)
{
    const double half_m = 0.5 * m->track_m;
    const double volts_u = m->p_u * (command[0] - nu[0]) - m->q_u * nu_dot[0];
    const double volts_w = m->p_w * (command[1] - nu[1]) - m->q_w * nu_dot[1];
    double wheel_n[2];
    for (int side = 0; side < 2; side++) {
        const double sign = side == 0 ? 1.0 : -1.0; /* right, left */
        wheel_n[side] =
            push_n(m, volts_u + sign * volts_w, (nu[0] + sign * half_m * nu[1]) / m->radius_m,
                   (nu_dot[0] + sign * half_m * nu_dot[1]) / m->radius_m);
    }
    /* About the centre of mass, which the floor's side force on the axle turns too. */
    const double side_n = m->mass_kg * (m->ahead_m * nu_dot[1] + nu[0] * nu[1]);
    left[0] = wheel_n[0] + wheel_n[1] - m->mass_kg * (nu_dot[0] - m->ahead_m * nu[1] * nu[1]);
    left[1] =
        (wheel_n[0] - wheel_n[1]) * half_m - m->ahead_m * side_n - m->inertia_kgm2 * nu_dot[1];
}

static void test_diffdrive_from_its_parts(void)
{
    static const double states[][4] = {/* u, w, commands */
                                       {0.0, 0.0, 0.5, 0.0},
                                       {0.0, 0.0, 0.0, 1.0},
                                       {0.6, 2.0, 0.7, 1.5},
                                       {-0.4, 1.3, 0.2, -2.0},
                                       {0.9, -2.5, 0.9, -2.5}};
    for (size_t k = 0; k < COUNT(machines); k++) {
        const struct machine *m = &machines[k];
        double theta[DIFFDRIVE_PARAMETERS];
        parameters_of(m, theta);
        CHECK_INT(m->name, model_unphysical(&diffdrive_model, theta), -1);
        for (size_t s = 0; s < COUNT(states); s++) {
            double nu_dot[DIFFDRIVE_AXES];
            double left[DIFFDRIVE_AXES];
            diffdrive_model.forward(&diffdrive_model, theta, NULL, states[s], states[s] + 2,
                                    nu_dot);
            compute_imbalance(m, states[s] + 2, states[s], nu_dot, left);
            CHECK_NEAR(m->name, left[0], 0.0, 0.0, 1e-10);
            CHECK_NEAR(m->name, left[1], 0.0, 0.0, 1e-10);
        }
    }
}

static void test_diffdrive_circle(void)
{
    /* No mass off the axle and commands that hold the speeds: a circle of 0.4 m. */
    const double theta[DIFFDRIVE_PARAMETERS] = {0.2, 0.3, 0.0, 1.25, 0.0, 1.5};
    const double command[DIFFDRIVE_AXES] = {0.25, 0.75};
    double nu[MODEL_AXES_MAX] = {0.2, 0.5};
    double pose[MODEL_AXES_MAX] = {1.0, 2.0, 0.3, -7.0};
    CHECK_INT("circle", model_pose_count(&diffdrive_model), 3);
    for (int k = 0; k < 300; k++) {
        model_step(&diffdrive_model, theta, nu, pose, command, NULL, 0.01);
    }
    CHECK_NEAR("circle", nu[0], 0.2, 1e-12, 0.0);
    CHECK_NEAR("circle", nu[1], 0.5, 1e-12, 0.0);
    CHECK_NEAR("circle", pose[2], 1.8, 1e-12, 0.0);
    CHECK_NEAR("circle", pose[0], 1.0 + 0.4 * (sin(1.8) - sin(0.3)), 1e-9, 0.0);
    CHECK_NEAR("circle", pose[1], 2.0 - 0.4 * (cos(1.8) - cos(0.3)), 1e-9, 0.0);
    CHECK_NEAR("circle", pose[3], -7.0, 0.0, 0.0);
}

static double derived_of(const struct model *model, const char *name, const double *theta,
                         double *gradient)
{
    for (size_t i = 0; i < model->derived_count; i++) {
        if (strcmp(model->derived[i].name, name) == 0) {
            return model_derive(model, i, theta, gradient);
        }
    }
    return NAN;
}

static void test_derived(void)
{
    static const double six[] = {0.3, 0.2, 0.01, 1.2, 0.4, 0.8};
    static const double three[] = {0.14, 0.6, 5.0};
    static const struct {
        const struct model *model;
        const double *theta;
        const char *name;
        double value;
    } rows[] = {
        {&diffdrive_model, six, "forward_gain_ratio", 1.0 / 1.2},
        {&diffdrive_model, six, "forward_time_s", 0.25},
        {&diffdrive_model, six, "turn_gain_ratio", 1.25},
        {&diffdrive_model, six, "turn_time_s", 0.25},
        {&first_order_model, three, "gain", 1.0 / 0.6},
        {&first_order_model, three, "time_constant_s", 0.14 / 0.6},
        {&first_order_deadband_model, three, "gain", 1.0 / 0.6},
        {&first_order_deadband_model, three, "time_constant_s", 0.14 / 0.6},
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        double gradient[MODEL_PARAMETERS_MAX];
        double other[MODEL_PARAMETERS_MAX];
        double theta[MODEL_PARAMETERS_MAX];
        const struct model *model = rows[r].model;
        const double value = derived_of(model, rows[r].name, rows[r].theta, gradient);
        CHECK_NEAR(rows[r].name, value, rows[r].value, 1e-14, 0.0);
        for (size_t i = 0; i < model->parameter_count; i++) {
            const double h = 1e-6;
            memcpy(theta, rows[r].theta, model->parameter_count * sizeof theta[0]);
            theta[i] += h;
            const double above = derived_of(model, rows[r].name, theta, other);
            theta[i] -= 2.0 * h;
            const double below = derived_of(model, rows[r].name, theta, other);
            CHECK_NEAR(rows[r].name, gradient[i], (above - below) / (2.0 * h), 1e-8, 1e-8);
        }
    }
}

/* Gain 1.6, time constant 0.2 s, dead band 5, in any unit. */
static const double channel[] = {0.125, 0.625, 5.0};

static double run_s(const struct model *model, double command, double seconds, double y)
{
    double nu[MODEL_AXES_MAX] = {y};
    double pose[MODEL_AXES_MAX] = {0.0};
    for (int k = 0; k < (int)(seconds * 1000.0 + 0.5); k++) {
        model_step(model, channel, nu, pose, &command, NULL, 1e-3);
    }
    return nu[0];
}

static void test_step_from_rest(void)
{
    for (double t_s = 0.05; t_s < 1.0; t_s += 0.1) {
        const double way = 1.0 - exp(-t_s / 0.2);
        CHECK_NEAR("plain", run_s(&first_order_model, 20.0, t_s, 0.0), 32.0 * way, 1e-9, 0.0);
        /* Near rest friction is not yet all there: a twentieth of 8, for a few ms. */
        CHECK_NEAR("dead band", run_s(&first_order_deadband_model, 20.0, t_s, 0.0), 24.0 * way,
                   0.0, 0.1);
        CHECK_NEAR("dead band, back", run_s(&first_order_deadband_model, -20.0, t_s, 0.0),
                   -24.0 * way, 0.0, 0.1);
    }
}

static void test_dead_band_holds(void)
{
    const struct model *model = &first_order_deadband_model;
    for (double command = -4.5; command <= 4.5; command += 1.5) {
        CHECK_NEAR("creeps", run_s(model, command, 2.0, 0.0), 1.6 * command / 21.0, 1e-6, 1e-9);
    }
    /* Coasting from y stops after tau log(1 + y / (K e)), where friction alone would go on. */
    const double stop_s = 0.2 * log(1.0 + 30.0 / 8.0);
    CHECK("still coasting", run_s(model, 0.0, stop_s - 0.05, 30.0) > 1.0);
    CHECK_NEAR("stopped", run_s(model, 0.0, stop_s + 0.05, 30.0), 0.0, 0.0, 0.01);
    CHECK("no friction", run_s(&first_order_model, 0.0, stop_s + 0.05, 30.0) > 4.0);
}

static void test_dead_band_of_nothing(void)
{
    const double theta[] = {0.125, 0.625, 0.0};
    const double command = 20.0;
    for (double y = -1.0; y <= 1.0; y += 0.25) {
        double with = 0.0;
        double without = 0.0;
        first_order_deadband_model.forward(&first_order_deadband_model, theta, NULL, &y,
                                           &command, &with);
        first_order_model.forward(&first_order_model, theta, NULL, &y, &command, &without);
        CHECK_NEAR("forward", with, without, 0.0, 0.0);
        first_order_deadband_model.slope(&first_order_deadband_model, theta, NULL, &y, NULL,
                                         &with);
        first_order_model.slope(&first_order_model, theta, NULL, &y, NULL, &without);
        CHECK_NEAR("slope", with, without, 0.0, 0.0);
    }
}

/* Two steps of a wheel that jumps ahead within the first samples, as a light one does: more
 * than a lag explains. */
static void test_begins_at_rest(void)
{
    enum { STEP = 60, SAMPLES = 2 * STEP };
    static double t_s[SAMPLES];
    static double y[SAMPLES];
    static double c[SAMPLES];
    const double start[] = {0.2, 1.0};
    struct data_set set = {.axes = 1,
                           .n = SAMPLES,
                           .dt_s = 0.02,
                           .t_s = t_s,
                           .nu = {y},
                           .tau = {c},
                           .run_count = 2,
                           .run_start = {0, STEP, SAMPLES}};
    struct search_options options;
    struct search_report report;
    struct dynamics_fit fit;
    for (size_t k = 0; k < SAMPLES; k++) {
        t_s[k] = 0.02 * (double)k;
        c[k] = k < STEP ? 10.0 : 20.0;
        y[k] = 1.6 * c[k] * (1.0 - 0.7 * exp(-0.02 * (double)(k % STEP) / 0.2));
        y[k] = k % STEP == 0 ? 0.0 : y[k];
    }
    search_defaults(&first_order_model, &options);
    for (int held = 0; held < 2; held++) {
        options.at_rest[1] = held == 1;
        CU_ASSERT_EQUAL_FATAL(
            output_error_fit(&first_order_model, &set, start, &options, NULL, &fit, &report),
            STATUS_OK);
        CHECK_INT("stop", fit.stop, DYNAMICS_STOP_CONVERGED);
        CHECK("found", fit.initial[0][0] > 1.0);
    }
    CHECK_NEAR("held", fit.initial[1][0], 0.0, 0.0, 0.0);
    /* The lag has to make up for the jump now. */
    CHECK("held", fit.estimate.value[0] / fit.estimate.value[1] < 0.14);
    CHECK_INT("held", fit.estimate.rank, 2);
}

/* A wheel that turns before its command does: the delay ends at a period early, and the report
 * says so. */
static void test_too_early(void)
{
    enum { SAMPLES = 400, EARLY = 3 };
    static double t_s[SAMPLES];
    static double y[SAMPLES];
    static double c[SAMPLES + EARLY];
    const struct dynamics_options options = dynamics_options_defaults();
    const struct data_set set = {.axes = 1,
                                 .n = SAMPLES,
                                 .dt_s = 0.05,
                                 .t_s = t_s,
                                 .nu = {y},
                                 .tau = {c},
                                 .run_count = 1,
                                 .run_start = {0, SAMPLES},
                                 .noise_sd = {0.01}};
    struct dynamics_fit fit;
    for (size_t k = 0; k < SAMPLES + EARLY; k++) {
        c[k] = (double)((k / 23) * 7 % 5) - 2.0;
    }
    for (size_t k = 0; k < SAMPLES; k++) {
        const double way = 1.0 - exp(-0.05 / 0.2);
        t_s[k] = 0.05 * (double)k;
        y[k] = k == 0 ? 0.1 : y[k - 1] + way * (c[k - 1 + EARLY] - y[k - 1]);
    }
    CU_ASSERT_EQUAL_FATAL(
        dynamics_estimate(&first_order_model, &set, DYNAMICS_OUTPUT_ERROR, &options, &fit),
        STATUS_OK);
    CHECK_NEAR("early", fit.delay_s, -0.075, 1e-9, 0.0);
    bool published = false;
    for (size_t i = 0; i < fit.estimate.reason_count; i++) {
        published =
            published || strstr(fit.estimate.reasons[i], "the delay stands at its bound");
    }
    CHECK("early", published);
}

/* A channel that follows its command within a sample: no lag is reported, and no sign is
 * blamed. */
static void test_answers_at_once(void)
{
    enum { SAMPLES = 400 };
    static double t_s[SAMPLES];
    static double c[SAMPLES];
    const struct dynamics_options options = dynamics_options_defaults();
    const struct data_set set = {.axes = 1,
                                 .n = SAMPLES,
                                 .dt_s = 0.05,
                                 .t_s = t_s,
                                 .nu = {c},
                                 .tau = {c},
                                 .run_count = 1,
                                 .run_start = {0, SAMPLES}};
    struct dynamics_fit fit;
    bool published = false;
    for (size_t k = 0; k < SAMPLES; k++) {
        t_s[k] = 0.05 * (double)k;
        c[k] = (double)((k / 23) * 7 % 5) - 2.0;
    }
    CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(&first_order_model, &set, &options, &fit),
                          STATUS_OK);
    for (size_t i = 0; i < fit.estimate.reason_count; i++) {
        published = published || strstr(fit.estimate.reasons[i], "within a sample of 0.05 s");
        CHECK("at once", !strstr(fit.estimate.reasons[i], "check signs"));
    }
    CHECK("at once",
          published && !fit.estimate.identifiable[0] && fit.estimate.identifiable[1]);
    CHECK("at once", fit.estimate.verdict != ESTIMATE_PASS);
    CHECK_NEAR("at once", fit.estimate.value[1], 1.0, 0.0, 0.01);
}

/* A poor fit of a velocity that hardly changes says so; one of a velocity that does, not. */
static void test_steady_velocity(void)
{
    static const struct model_limits limits;
    static const double means[] = {0.06, -0.06, 0.0, 0.03};
    for (size_t i = 0; i < COUNT(means); i++) {
        struct dynamics_fit fit;
        struct data_summary summary = {.rows = 1000, .used = 1000, .runs = 1};
        struct dynamics_check own = {.simulated = true, .motion_s = 0.4};
        summary.nu[0] = (struct data_channel){
            .min = -0.1, .max = 0.1, .mean = means[i], .sd = 0.016, .signal_ratio = 100.0};
        own.axis[0].run.r2 = 0.4;
        dynamics_fit_start(&fit, &first_order_model, DYNAMICS_OUTPUT_ERROR, false);
        dynamics_check_judge(&fit, &first_order_model, &summary, &limits, &own, NULL);
        CHECK_INT("poor", fit.estimate.verdict, ESTIMATE_MARGINAL);
        CHECK_INT("steady", fit.estimate.reason_count, i < 2 ? 2 : 1);
        CHECK_INT("advice",
                  strncmp(fit.estimate.advice[0], "let the command step between rest", 33) == 0,
                  i < 2);
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("velocity models", NULL, NULL);
    CU_add_test(suite, "diffdrive from its parts", test_diffdrive_from_its_parts);
    CU_add_test(suite, "diffdrive circle", test_diffdrive_circle);
    CU_add_test(suite, "derived", test_derived);
    CU_add_test(suite, "step from rest", test_step_from_rest);
    CU_add_test(suite, "dead band holds", test_dead_band_holds);
    CU_add_test(suite, "dead band of nothing", test_dead_band_of_nothing);
    CU_add_test(suite, "begins at rest", test_begins_at_rest);
    CU_add_test(suite, "too early", test_too_early);
    CU_add_test(suite, "answers at once", test_answers_at_once);
    CU_add_test(suite, "steady velocity", test_steady_velocity);
    return check_run();
}
