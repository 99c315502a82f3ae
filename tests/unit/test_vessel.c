#include "tests/support/check.h"

#include "base/numbers/constants.h"
#include "identification/model/usv3.h"
#include "twin/sim/robot/robot_kinds.h"
#include "twin/sim/robot/world.h"

struct boat {
    const struct robot_kind *kind;
    void *memory;
    int replies;
    struct robot_reply last;
};

static void record_reply(void *context, const struct robot_reply *reply)
{
    struct boat *b = context;
    b->replies++;
    b->last = *reply;
}

static void begin_boat(struct boat *b, const struct robot_setup *setup)
{
    *b = (struct boat){.kind = &usv3_kind};
    CHECK("in the list", robot_kind_find("usv3") == b->kind);
    b->memory = malloc(b->kind->bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b->memory);
    b->kind->init(b->memory, setup);
}

static void end_boat(struct boat *b)
{
    free(b->memory);
}

static void set_parameter(struct boat *b, const char *name, double value)
{
    char reason[ROBOT_REASON_MAX] = "";
    CHECK_INT(name, robot_set(b->kind, b->memory, name, value, reason), STATUS_OK);
}

static double get_parameter(const struct boat *b, const char *name)
{
    return robot_get_parameter(b->kind, b->memory, (size_t)robot_parameter_find(b->kind, name));
}

static void run_boat(struct boat *b, int steps)
{
    for (int i = 0; i < steps; i++) {
        b->kind->step(b->memory, record_reply, b);
    }
}

static struct robot_sample read_sample(const struct boat *b)
{
    struct robot_sample s = {0};
    b->kind->sample(b->memory, &s);
    return s;
}

static const struct robot_setup at_rest = {.seed = 1, .period_us = 10000};

/* The robot is the model, held efforts and all. */
static void test_is_the_model(void)
{
    struct boat b;
    const struct robot_setup setup = {
        .seed = 1, .start_us = 5, .period_us = 100000, .pose = {1.0, -2.0, 0.5}};
    double nu[3] = {0.0, 0.0, 0.0};
    double pose[3] = {1.0, -2.0, 0.5};
    const double force_n[2] = {6.8 * cos(1.2) + 6.2 * cos(-0.4),
                               6.8 * sin(1.2) + 6.2 * sin(-0.4)};
    begin_boat(&b, &setup);
    set_parameter(&b, "vessel", 1.0);
    set_parameter(&b, "current_force_n", 6.8);
    set_parameter(&b, "current_direction_rad", 1.2);
    set_parameter(&b, "wind_force_n", 6.2);
    set_parameter(&b, "wind_direction_rad", -0.4);
    for (int k = 0; k < 300; k++) {
        const double tau[3] = {60.0 * sin(0.1 * k), 3.0, 20.0 * cos(0.07 * k)};
        CHECK_INT("effort", b.kind->effort(b.memory, tau, 3), STATUS_OK);
        run_boat(&b, 1);
        for (int i = 0; i < 8; i++) {
            model_step(&usv3_model, usv3_vessel_find("iacquabot")->theta, nu, pose, tau,
                       force_n, 0.0125);
        }
        const struct robot_sample s = read_sample(&b);
        for (size_t i = 0; i < 3; i++) {
            CHECK_NEAR("nu", s.nu[i], nu[i], 0.0, 1e-12);
            CHECK_NEAR("tau", s.tau[i], tau[i], 0.0, 0.0);
        }
        CHECK_NEAR("x", s.pose[0], pose[0], 0.0, 1e-12);
        CHECK_NEAR("y", s.pose[1], pose[1], 0.0, 1e-12);
        CHECK_NEAR("psi", remainder(s.pose[2] - pose[2], 2.0 * PI), 0.0, 0.0, 1e-12);
        CHECK("psi is wrapped", fabs(s.pose[2]) <= PI);
        CHECK_INT("time", s.t_us, 5 + 100000LL * (k + 1));
    }
    end_boat(&b);
}

static void test_actuation(void)
{
    static const struct {
        const char *row;
        double vessel, actuation;
        double effort[4];
        size_t count;
        enum status status;
        double tau[3];
    } rows[] = {
        {"wrench", 0, 0, {10, 20, 30}, 3, STATUS_OK, {10, 20, 30}},
        {"wrench of two", 0, 0, {10, 20}, 2, STATUS_E_RANGE, {0, 0, 0}},
        {"not finite", 0, 0, {10, (double)INFINITY, 0}, 3, STATUS_E_RANGE, {0, 0, 0}},
        {"allocated", 0, 1, {100, 20, 14}, 3, STATUS_OK, {100, 0, 14}},
        {"allocated beyond the limits", 0, 1, {500, 0, 0}, 3, STATUS_OK, {180, 0, 0}},
        {"two thrusters", 0, 2, {-100, 50}, 2, STATUS_OK, {-35, 0, 94.5}},
        {"three thrusts for two", 0, 2, {1, 2, 3}, 3, STATUS_E_RANGE, {0, 0, 0}},
        {"four thrusters", 1, 2, {10, 20, 10, 20}, 4, STATUS_OK, {60, 0, 6.7}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct boat b;
        begin_boat(&b, &at_rest);
        set_parameter(&b, "vessel", rows[i].vessel);
        set_parameter(&b, "actuation", rows[i].actuation);
        CHECK_INT(rows[i].row, b.kind->effort(b.memory, rows[i].effort, rows[i].count),
                  rows[i].status);
        const struct robot_sample s = read_sample(&b);
        for (size_t k = 0; k < 3; k++) {
            CHECK_NEAR(rows[i].row, s.tau[k], rows[i].tau[k], 0.0, 1e-12);
        }
        end_boat(&b);
    }
}

static void test_parameters(void)
{
    struct boat b;
    char reason[ROBOT_REASON_MAX] = "";
    begin_boat(&b, &at_rest);
    CHECK_NEAR("own value", get_parameter(&b, "surge_mass_kg"), 125.9712, 0.0, 0.0);
    set_parameter(&b, "surge_mass_kg", 200.0);
    CHECK_NEAR("set", get_parameter(&b, "surge_mass_kg"), 200.0, 0.0, 0.0);
    set_parameter(&b, "vessel", 1.0);
    CHECK_NEAR("other hull", get_parameter(&b, "sway_mass_kg"), 120.0275, 0.0, 0.0);
    CHECK_NEAR("what was set stays", get_parameter(&b, "surge_mass_kg"), 200.0, 0.0, 0.0);
    set_parameter(&b, "surge_mass_kg", 0.0);
    CHECK_NEAR("back to its own", get_parameter(&b, "surge_mass_kg"), 124.5923, 0.0, 0.0);
    CHECK_INT("negative", robot_set(b.kind, b.memory, "surge_mass_kg", -1.0, reason),
              STATUS_E_RANGE);
    CHECK("reason", strstr(reason, "kg") != NULL);
    const double tau[3] = {50.0, 0.0, 0.0};
    CHECK_INT("effort", b.kind->effort(b.memory, tau, 3), STATUS_OK);
    set_parameter(&b, "wind_force_n", 1.0);
    CHECK_NEAR("the effort stays", read_sample(&b).tau[0], 50.0, 0.0, 0.0);
    set_parameter(&b, "actuation", 1.0);
    CHECK_NEAR("the effort had another meaning", read_sample(&b).tau[0], 0.0, 0.0, 0.0);
    for (size_t i = 0; i < b.kind->parameter_count; i++) {
        CHECK(b.kind->parameters[i].name,
              robot_value_fits(&b.kind->parameters[i], b.kind->parameters[i].preset));
        for (size_t k = 0; k < i; k++) {
            CHECK(b.kind->parameters[i].name,
                  strcmp(b.kind->parameters[i].name, b.kind->parameters[k].name) != 0);
        }
    }
    for (size_t i = 0; i < USV3_PARAMETERS; i++) {
        CHECK(usv3_model.parameters[i].name,
              robot_parameter_find(b.kind, usv3_model.parameters[i].name) >= 0);
    }
    end_boat(&b);
}

static void test_halt_and_timeout(void)
{
    struct boat b;
    const double tau[3] = {50.0, 0.0, 0.0};
    begin_boat(&b, &at_rest);
    set_parameter(&b, "effort_timeout_s", 0.5);
    CHECK_INT("effort", b.kind->effort(b.memory, tau, 3), STATUS_OK);
    run_boat(&b, 50);
    CHECK_NEAR("held", read_sample(&b).tau[0], 50.0, 0.0, 0.0);
    run_boat(&b, 1);
    CHECK_NEAR("timed out", read_sample(&b).tau[0], 0.0, 0.0, 0.0);
    CHECK_INT("effort", b.kind->effort(b.memory, tau, 3), STATUS_OK);
    run_boat(&b, 1);
    const struct event_command halt = {.id = "c1", .op = "halt"};
    robot_command(b.kind, b.memory, &halt, record_reply, &b);
    CHECK_INT("not yet", b.replies, 0);
    run_boat(&b, 1);
    CHECK_INT("one reply", b.replies, 1);
    CHECK_TEXT("its id", b.last.id, "c1");
    CHECK_INT("done", b.last.status, REPLY_DONE);
    CHECK_INT("end", b.last.end_us, 530000);
    CHECK_NEAR("thrusters stopped", read_sample(&b).tau[0], 0.0, 0.0, 0.0);
    const struct event_command go = {.id = "c2", .op = "go"};
    robot_command(b.kind, b.memory, &go, record_reply, &b);
    run_boat(&b, 1);
    CHECK_INT("ignored", b.last.status, REPLY_IGNORED);
    CHECK("gives the reason", b.last.detail[0] != '\0');
    for (int i = 0; i < 20; i++) { /* more than can wait */
        robot_command(b.kind, b.memory, &halt, record_reply, &b);
    }
    CHECK_INT("refused at once", b.replies, 6);
    run_boat(&b, 1);
    CHECK_INT("each has its reply", b.replies, 22);
    end_boat(&b);
}

static void test_obstacle(void)
{
    static struct world w;
    static const struct world_point wall[] = {{3.0, -5.0}, {3.0, 5.0}};
    struct boat b;
    const struct robot_setup setup = {.world = &w, .seed = 1, .period_us = 10000};
    const double tau[3] = {100.0, 0.0, 0.0};
    w = (struct world){0};
    CU_ASSERT_EQUAL_FATAL(
        world_add(&w, &(struct world_obstacle){.name = "quay", .shape = WORLD_WALL}, wall, 2),
        STATUS_OK);
    begin_boat(&b, &setup);
    CHECK_INT("effort", b.kind->effort(b.memory, tau, 3), STATUS_OK);
    run_boat(&b, 1000);
    const struct robot_sample s = read_sample(&b);
    CHECK("stopped at the quay", s.pose[0] < 2.5 + 1e-9 && s.pose[0] > 2.45);
    CHECK("slow", s.nu[0] < 0.02);
    end_boat(&b);
    begin_boat(&b, &setup); /* sideways against it */
    const double aside[3] = {60.0, -60.0, 0.0};
    const struct robot_setup turned = {
        .world = &w, .seed = 1, .period_us = 10000, .pose = {0.0, 0.0, PI / 4.0}};
    b.kind->init(b.memory, &turned);
    CHECK_INT("effort", b.kind->effort(b.memory, aside, 3), STATUS_OK);
    run_boat(&b, 1000);
    CHECK("slow in sway, too", fabs(read_sample(&b).nu[1]) < 0.02);
    end_boat(&b);
}

/* Noise and gusts have the wanted spread, and equal seeds give equal runs. */
static void test_noise(void)
{
    struct boat b;
    struct boat twin;
    double noise2[3] = {0.0, 0.0, 0.0};
    enum { N = 20000 };
    begin_boat(&b, &at_rest);
    begin_boat(&twin, &at_rest);
    for (struct boat *each = &b; each; each = each == &b ? &twin : NULL) {
        set_parameter(each, "noise_u_mps", 0.03);
        set_parameter(each, "noise_v_mps", 0.0125);
        set_parameter(each, "noise_r_radps", 0.009);
    }
    for (int i = 0; i < N; i++) {
        run_boat(&b, 1);
        run_boat(&twin, 1);
        const struct robot_sample s = read_sample(&b);
        for (size_t k = 0; k < 3; k++) {
            noise2[k] += s.nu[k] * s.nu[k] / N;
        }
    }
    CHECK_NEAR("u", sqrt(noise2[0]), 0.03, 0.02, 0.0);
    CHECK_NEAR("v", sqrt(noise2[1]), 0.0125, 0.02, 0.0);
    CHECK_NEAR("r", sqrt(noise2[2]), 0.009, 0.02, 0.0);
    CHECK_INT("equal runs", memcmp(b.memory, twin.memory, b.kind->bytes), 0);
    set_parameter(&b, "gust_force_n", 3.0);
    set_parameter(&b, "gust_moment_nm", 2.0);
    run_boat(&b, 1000);
    CHECK("gusts move it", hypot(read_sample(&b).pose[0], read_sample(&b).pose[1]) > 1e-3);
    end_boat(&b);
    end_boat(&twin);
}

/* A vessel without damping shows the force of the gusts in each step's change of speed. */
static void test_gusts(void)
{
    static const char *const damping[] = {"surge_linear_kgps", "surge_quadratic_kgpm",
                                          "sway_linear_kgps",  "sway_quadratic_kgpm",
                                          "yaw_linear_kgm2ps", "yaw_quadratic_kgm2"};
    enum { N = 40000 };
    struct boat b;
    double u = 0.0;
    double r = 0.0;
    double force2 = 0.0;
    double moment2 = 0.0;
    begin_boat(&b, &at_rest);
    for (size_t i = 0; i < COUNT(damping); i++) {
        set_parameter(&b, damping[i], 1e-9);
    }
    set_parameter(&b, "surge_mass_kg", 1e4); /* slow, so that Coriolis terms are small */
    set_parameter(&b, "sway_mass_kg", 1e4);
    set_parameter(&b, "yaw_inertia_kgm2", 1e4);
    set_parameter(&b, "gust_force_n", 3.0);
    set_parameter(&b, "gust_moment_nm", 2.0);
    set_parameter(&b, "gust_time_s", 0.05);
    for (int i = 0; i < N; i++) {
        run_boat(&b, 1);
        const struct robot_sample s = read_sample(&b);
        force2 += pow((s.nu[0] - u) * 1e4 / 0.01, 2) / N;
        moment2 += pow((s.nu[2] - r) * 1e4 / 0.01, 2) / N;
        u = s.nu[0];
        r = s.nu[2];
    }
    CHECK_NEAR("force", sqrt(force2), 3.0, 0.05, 0.0);
    CHECK_NEAR("moment", sqrt(moment2), 2.0, 0.05, 0.0);
    end_boat(&b);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("vessel", NULL, NULL);
    CU_add_test(suite, "is the model", test_is_the_model);
    CU_add_test(suite, "actuation", test_actuation);
    CU_add_test(suite, "parameters", test_parameters);
    CU_add_test(suite, "halt and timeout", test_halt_and_timeout);
    CU_add_test(suite, "obstacle", test_obstacle);
    CU_add_test(suite, "noise", test_noise);
    CU_add_test(suite, "gusts", test_gusts);
    return check_run();
}
