#include "tests/support/check.h"

#include "identification/model/usv3.h"
#include "twin/following/follower.h"

enum { AXES = USV3_AXES };

static const struct usv3_vessel *find_vessel(void)
{
    return usv3_vessel_find("wamv");
}

/* Gains that suit a period of 10 ms. */
static void set_gains(struct follower_gains *gains)
{
    *gains = (struct follower_gains){.bandwidth_radps = {5.0, 5.0, 5.0},
                                     .rejection = FOLLOWER_OBSERVER,
                                     .observer_radps = 8.0,
                                     .blend_s = 0.5};
}

static struct follower_params make_params(double period_s)
{
    struct follower_params p = {.model = &usv3_model, .period_s = period_s};
    memcpy(p.theta, find_vessel()->theta, sizeof find_vessel()->theta);
    set_gains(&p.gains);
    allocation_direct(&p.allocation, AXES, NULL);
    return p;
}

/* Two thrusters, as the vessel has them. */
static void give_thrusters(struct follower_params *p)
{
    usv3_actuators(find_vessel(), &p->allocation);
}

struct run {
    struct follower f;
    struct follower_output out;
    double nu[AXES], pose[AXES];
    double force_n[2]; /* in the fixed frame */
};

/* The law against the model itself, target constant. */
static void run_steps(struct run *r, const struct follower_params *p, const double *wanted,
                      int steps)
{
    struct follower_target target = {{0}, {0}, {0}};
    memcpy(target.nu, wanted, AXES * sizeof wanted[0]);
    for (int k = 0; k < steps; k++) {
        follower_step(&r->f, p, &target, r->nu, r->pose, &r->out);
        model_step(p->model, p->theta, r->nu, r->pose, r->out.tau, r->force_n, p->period_s);
    }
}

static void test_error_decays_as_promised(void)
{
    static const double periods[] = {0.001, 0.01, 0.05};
    for (size_t i = 0; i < COUNT(periods); i++) {
        struct follower_params p = make_params(periods[i]);
        struct run r = {.nu = {0.2, 0.0, 0.1}};
        const double still[AXES] = {0};
        p.gains.rejection = FOLLOWER_NONE;
        run_steps(&r, &p, still, (int)lround(0.4 / periods[i]));
        CHECK_NEAR("e = e0 exp(-K t)", r.nu[0], 0.2 * exp(-2.0), 0.0, 2e-4);
        CHECK_NEAR("and in yaw", r.nu[2], 0.1 * exp(-2.0), 0.0, 2e-4);
    }
}

static void test_rejection(void)
{
    static const double wanted[AXES] = {1.0, 0.0, 0.0};
    double left[FOLLOWER_REJECTION_COUNT];
    for (int rejection = 0; rejection < FOLLOWER_REJECTION_COUNT; rejection++) {
        struct follower_params p = make_params(0.01);
        struct run r = {.force_n = {-10.0, 5.0}};
        p.gains.rejection = (enum follower_rejection)rejection;
        run_steps(&r, &p, wanted, 2000);
        left[rejection] = hypot(r.nu[0] - 1.0, r.nu[1]);
        CHECK_NEAR("force found along x", r.out.disturbance[0], -10.0, 0.0, 0.05);
        CHECK_NEAR("and along y", r.out.disturbance[1], 5.0, 0.0, 0.05);
    }
    CHECK_NEAR("proportional: F / (m K)", left[FOLLOWER_NONE],
               hypot(10.0 / 126.0, 5.0 / 121.4) / 5.0, 0.0, 1e-3);
    CHECK("integral", left[FOLLOWER_INTEGRAL] < 1e-6);
    CHECK("observer", left[FOLLOWER_OBSERVER] < 1e-6);
}

static void test_underactuated(void)
{
    static const double wanted[AXES] = {1.0, 0.0, 0.1};
    struct follower_params p = make_params(0.01);
    struct run r = {.force_n = {0.0, 8.0}};
    give_thrusters(&p);
    CHECK("sway is not reached", p.allocation.underactuated && !p.allocation.reaches[1]);
    run_steps(&r, &p, wanted, 1000);
    CHECK_NEAR("surge follows", r.nu[0], 1.0, 0.0, 1e-3);
    CHECK_NEAR("yaw follows", r.nu[2], 0.1, 0.0, 1e-3);
    CHECK_NEAR("no effort in sway", r.out.tau[1], 0.0, 0.0, 0.0);
    CHECK("the lack of sway is reported", fabs(r.out.unmatched[1]) > 1.0);
    const double extra = 8.0 * cos(r.pose[2]);
    CHECK_NEAR("the additional force is known", r.out.disturbance[1], extra, 0.0,
               0.05 * fabs(extra) + 0.2);

    p.gains.pose_per_s2 = 2.0;
    struct err err = {0};
    CHECK_INT("pose feedback is refused", follower_check(&p, &err), STATUS_E_RANGE);
    CHECK_TEXT("with a reason", fault_name(err.fault), "out_of_range");
}

static void test_saturation_does_not_wind_up(void)
{
    static const double fast[AXES] = {5.0, 0.0, 0.0}; /* beyond what 180 N can do */
    static const double slow[AXES] = {0.5, 0.0, 0.0};
    struct follower_params p = make_params(0.01);
    struct run r = {.nu = {0}};
    give_thrusters(&p);
    p.gains.rejection = FOLLOWER_INTEGRAL;
    run_steps(&r, &p, fast, 3000);
    CHECK("saturated", r.out.saturated);
    CHECK_NEAR("both thrusters at their limit", r.out.tau[0], 180.0, 0.0, 1e-9);
    run_steps(&r, &p, slow, 400);
    CHECK_NEAR("and back at once", r.nu[0], 0.5, 0.0, 0.02);
}

static void test_pose_feedback(void)
{
    struct follower_params p = make_params(0.01);
    struct run r = {.nu = {0}};
    const struct follower_target target = {.pose = {0.3, -0.2, 3.0}};
    p.gains.pose_per_s2 = 2.0;
    r.pose[2] = -3.0; /* 0.28 rad off the short way round */
    for (int k = 0; k < 2000; k++) {
        follower_step(&r.f, &p, &target, r.nu, r.pose, &r.out);
        model_step(p.model, p.theta, r.nu, r.pose, r.out.tau, NULL, p.period_s);
    }
    CHECK_NEAR("x", r.pose[0], 0.3, 0.0, 1e-3);
    CHECK_NEAR("y", r.pose[1], -0.2, 0.0, 1e-3);
    CHECK_NEAR("heading, the short way", r.pose[2], 3.0 - 2.0 * M_PI, 0.0, 1e-3);
}

static void test_change_is_bumpless(void)
{
    static const double wanted[AXES] = {1.0, 0.0, 0.2};
    struct follower_params p = make_params(0.01);
    struct run r = {.nu = {0}};
    run_steps(&r, &p, wanted, 1000);
    const double before = r.out.tau[0];
    struct follower_params other = p;
    for (size_t i = 0; i < USV3_PARAMETERS; i++) {
        other.theta[i] *= 1.5;
    }
    follower_smooth(&r.f);
    const struct follower_target target = {.nu = {1.0, 0.0, 0.2}};
    follower_step(&r.f, &other, &target, r.nu, r.pose, &r.out);
    CHECK("no jump", fabs(r.out.tau[0] - before) < 1.0);
    struct follower raw = r.f;
    raw.offset[0] = 0.0;
    struct follower_output out;
    follower_step(&raw, &other, &target, r.nu, r.pose, &out);
    CHECK("which there would have been", fabs(out.tau[0] - before) > 10.0);
}

static void test_bad_numbers(void)
{
    static const double wanted[AXES] = {1.0, 0.0, 0.0};
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1e300};
    struct follower_params p = make_params(0.01);
    struct run r = {.nu = {0}};
    give_thrusters(&p);
    run_steps(&r, &p, wanted, 100);
    const struct follower before = r.f;
    for (size_t i = 0; i < COUNT(bad); i++) {
        for (int what = 0; what < 3; what++) {
            struct follower_target target = {.nu = {1.0, 0.0, 0.0}};
            double nu[AXES] = {0.4, 0.0, 0.0};
            struct follower_output out;
            struct follower f = before;
            *(what == 0 ? &nu[0] : what == 1 ? &target.nu[2] : &target.nu_dot[0]) = bad[i];
            follower_step(&f, &p, &target, nu, r.pose, &out);
            for (size_t k = 0; k < p.allocation.actuators; k++) {
                CHECK("finite and within limits",
                      out.force[k] >= -85.0 && out.force[k] <= 90.0);
            }
            run_steps(&r, &p, wanted, 1);
        }
    }
    const double nan_nu[AXES] = {NAN, 0.0, 0.0};
    const struct follower_target target = {.nu = {1.0, 0.0, 0.0}};
    struct follower f = before;
    struct follower_output out;
    CHECK("reports it", !follower_step(&f, &p, &target, nan_nu, r.pose, &out));
    CHECK("and keeps its state", memcmp(&f, &before, sizeof f) == 0);
}

static void test_check(void)
{
    struct follower_params p = make_params(0.01);
    struct err err = {0};
    CHECK_INT("defaults", follower_check(&p, &err), STATUS_OK);
    p.gains.bandwidth_radps[1] = 20.0;
    CHECK_INT("fast", follower_check(&p, &err), STATUS_OK);
    p.gains.bandwidth_radps[1] = 60.0;
    CHECK_INT("too fast", follower_check(&p, &err), STATUS_E_RANGE);
    CHECK_TEXT("with the limit", fault_name(err.fault), "out_of_range");
    CHECK(err.text, strstr(err.text, "50") != NULL);
    p = make_params(0.0);
    CHECK_INT("no period", follower_check(&p, NULL), STATUS_E_RANGE);
    p = make_params(0.01);
    p.theta[0] = -1.0;
    err = (struct err){0};
    CHECK_INT("no such vessel", follower_check(&p, &err), STATUS_E_RANGE);
    CHECK("names it", strcmp(err.where, "surge_mass_kg") == 0);
}

static void test_allocation(void)
{
    struct allocation four;
    const struct usv3_vessel *v = usv3_vessel_find("iacquabot");
    double force[ALLOCATION_ACTUATORS_MAX];
    double achieved[MODEL_AXES_MAX];
    usv3_actuators(v, &four);
    const double wanted[3] = {40.0, 9.0, -12.0};
    CHECK("nothing cut", !allocation_share(&four, wanted, force, achieved));
    const double square = 4.0 * 0.335 * 0.335; /* sum of y^2 */
    for (size_t k = 0; k < 4; k++) {           /* least squares: a - b y */
        CHECK_NEAR("least squares", force[k], 10.0 + 12.0 / square * v->thrusters[k].y_m, 0.0,
                   1e-12);
    }
    CHECK_NEAR("surge", achieved[0], 40.0, 0.0, 1e-12);
    CHECK_NEAR("no sway", achieved[1], 0.0, 0.0, 0.0);
    CHECK_NEAR("yaw", achieved[2], -12.0, 0.0, 1e-12);
    const double much[3] = {1e6, NAN, 0.0};
    CHECK("cut", allocation_share(&four, much, force, achieved));
    CHECK_NEAR("to the limits", achieved[0], 4 * 36.4, 0.0, 1e-9);

    four.hi[0] = -1.0;
    CHECK_INT("limits around zero", allocation_make(&four), STATUS_E_RANGE);
    struct allocation tied = {.axes = 2, .actuators = 1, .effect = {{1.0}, {1.0}}, .hi = {1.0}};
    CHECK_INT("two axes, one actuator", allocation_make(&tied), STATUS_E_RANGE);
    struct allocation none = {.axes = 2, .actuators = 1, .hi = {1.0}};
    CHECK_INT("nothing pushes", allocation_make(&none), STATUS_E_RANGE);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("follower", NULL, NULL);
    CU_add_test(suite, "the error decays as promised", test_error_decays_as_promised);
    CU_add_test(suite, "forces are rejected", test_rejection);
    CU_add_test(suite, "underactuated", test_underactuated);
    CU_add_test(suite, "no wind-up", test_saturation_does_not_wind_up);
    CU_add_test(suite, "pose feedback", test_pose_feedback);
    CU_add_test(suite, "a change is bumpless", test_change_is_bumpless);
    CU_add_test(suite, "bad numbers", test_bad_numbers);
    CU_add_test(suite, "gains are checked", test_check);
    CU_add_test(suite, "allocation", test_allocation);
    return check_run();
}
