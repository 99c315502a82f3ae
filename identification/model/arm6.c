/* identification/model/arm6.c - arm with six joints, each with a speed servo.
 *
 *     a w' + b w = u for each joint                 (docs/model/following.md, eq. 10)
 *
 * u is the commanded and w the measured speed of a joint, both in rad/s: lag a / b, gain 1 / b.
 * The pose consists of the joint angles. Pure: no I/O, no clock, no state.
 */
#include <math.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "identification/model/models.h"

enum { JOINTS = 6, A = 0, B = JOINTS };

static void fill_arm_rows(const struct model *model, const double *pose, const double *nu,
                          const double *nu_dot, double *phi)
{
    (void)pose;
    memset(phi, 0, JOINTS * model->parameter_count * sizeof phi[0]);
    for (size_t i = 0; i < JOINTS; i++) {
        phi[i * model->parameter_count + A + i] = nu_dot[i];
        phi[i * model->parameter_count + B + i] = nu[i];
    }
}

static void compute_arm_bias(const struct model *model, const double *theta, const double *pose,
                             const double *nu, double *tau)
{
    (void)model;
    (void)pose;
    for (size_t i = 0; i < JOINTS; i++) {
        tau[i] = theta[B + i] * nu[i];
    }
}

static void fill_arm_slope(const struct model *model, const double *theta, const double *pose,
                           const double *nu, const double *tau, double *jacobian)
{
    (void)model;
    (void)pose;
    (void)nu;
    (void)tau;
    memset(jacobian, 0, (size_t)(JOINTS * JOINTS) * sizeof jacobian[0]);
    for (size_t i = 0; i < JOINTS; i++) {
        jacobian[i * JOINTS + i] = -theta[B + i] / theta[A + i];
    }
}

/* Exact step, because a lag of a millisecond is far below the sample time. On a ramp, the
 * speed trails by its change during one lag. */
static void step_arm(const struct model *model, const double *theta, const double *tau,
                     const double *tau_dot, double h_s, double *nu, double *pose_gain)
{
    (void)model;
    for (size_t i = 0; i < JOINTS; i++) {
        const double lag_s = theta[A + i] / theta[B + i];
        const double rate = tau_dot ? tau_dot[i] / theta[B + i] : 0.0;
        const double settled = tau[i] / theta[B + i] - rate * lag_s;
        const double share = -expm1(-h_s / lag_s); /* share of the way to the final speed */
        const double gain = (nu[i] - settled) * share;
        pose_gain[i] = settled * h_s + 0.5 * rate * h_s * h_s + gain * lag_s;
        nu[i] += rate * h_s - gain;
    }
}

static void invert_arm_step(const struct model *model, const double *theta, const double *nu,
                            const double *gain, double h_s, double *tau)
{
    (void)model;
    for (size_t i = 0; i < JOINTS; i++) {
        const double share = -expm1(-h_s * theta[B + i] / theta[A + i]);
        tau[i] = theta[B + i] * (nu[i] + gain[i] / share);
    }
}

/* ---- names ---- */

/* clang-format off */
#define AXIS(n, joint) \
    {"qd" #n "_radps", "u" #n "_radps", "q" #n "_rad", joint " speed", joint " command"}
static const struct model_axis axes[] = {
    AXIS(1, "base"), AXIS(2, "shoulder"), AXIS(3, "elbow"),
    AXIS(4, "wrist 1"), AXIS(5, "wrist 2"), AXIS(6, "wrist 3")};

#define LAG(n, joint) \
    {"command_per_acceleration" #n "_s", "a" #n, "s", MODEL_POSITIVE, \
     "command that speeds joint " #n " up by 1 rad/s in a second, lag by gain", joint " lag"}
#define GAIN(n, joint) \
    {"command_per_speed" #n, "b" #n, "1", MODEL_POSITIVE, \
     "command for each rad/s of steady speed of joint " #n ", 1 by gain", joint " gain"}
static const struct model_parameter parameters[] = {
    LAG(1, "base"), LAG(2, "shoulder"), LAG(3, "elbow"),
    LAG(4, "wrist 1"), LAG(5, "wrist 2"), LAG(6, "wrist 3"),
    GAIN(1, "base"), GAIN(2, "shoulder"), GAIN(3, "elbow"),
    GAIN(4, "wrist 1"), GAIN(5, "wrist 2"), GAIN(6, "wrist 3")};

#define LAG_OF(n) \
    {"lag" #n "_s", "lag" #n, "s", "63 % of the way to a new speed", A + (n) - 1, B + (n) - 1}
static const struct model_derived derived[] = {
    LAG_OF(1), LAG_OF(2), LAG_OF(3), LAG_OF(4), LAG_OF(5), LAG_OF(6)};

/* Commands and speeds are in the same unit, so the gain is near 1. Lags of milliseconds are
 * common. */
#define OF_GAIN(n) {"command_per_speed" #n, 0.2, 5.0, PLAUSIBLE_ANGLE, PLAUSIBLE_ANGLE, 0.0}
#define OF_LAG(n)  {"lag" #n "_s", 1e-5, 5.0, PLAUSIBLE_TIME, PLAUSIBLE_TIME, 0.0}
static const struct plausible_range plausible[] = {
    OF_GAIN(1), OF_GAIN(2), OF_GAIN(3), OF_GAIN(4), OF_GAIN(5), OF_GAIN(6),
    OF_LAG(1), OF_LAG(2), OF_LAG(3), OF_LAG(4), OF_LAG(5), OF_LAG(6),
    {NULL, 0.0, 0.0, 0, 0, 0.0}};
/* clang-format on */

static const struct model arm6_model = {
    .name = "arm6",
    .axes = axes,
    .axis_count = COUNT(axes),
    .parameters = parameters,
    .parameter_count = COUNT(parameters),
    .derived = derived,
    .derived_count = COUNT(derived),
    .joints = true,
    .rows = fill_arm_rows,
    .forward = model_forward,
    .inverse = model_inverse,
    .bias_force = compute_arm_bias,
    .slope = fill_arm_slope,
    .kinematics = model_move_joints,
    .exact_step = step_arm,
    .inverse_step = invert_arm_step,
};

/* Lags of a UR5 that follows its controller's set points, from a recording of 2013, by
 * q_target - q_actual = lag qd_target (docs/model/following.md). Its joints turn half a turn
 * per second at most (UR5 manual). */
static bool find_arm(const char *name, double *theta, struct allocation *actuators)
{
    static const double lag_s[JOINTS] = {0.51e-3, 0.48e-3, 0.50e-3, 0.85e-3, 0.85e-3, 0.62e-3};
    static const double most[JOINTS] = {PI, PI, PI, PI, PI, PI};
    if (strcmp(name, "ur5") != 0) {
        return false;
    }
    for (size_t i = 0; i < JOINTS; i++) {
        theta[A + i] = lag_s[i];
        theta[B + i] = 1.0;
    }
    allocation_direct(actuators, JOINTS, most);
    return allocation_make(actuators) == STATUS_OK;
}

static const char help[] =
    "  six joints with a speed servo each: gain and lag of every joint, from commanded and\n"
    "  measured speeds, rad/s, over time. A command is held from its row to the next.\n"
    "  methods: as usv3\n"
    "  roles:   t u1..u6 qd1..qd6; columns t_s u1_radps .. qd6_radps are found by themselves.\n"
    "           Without a speed it is derived from q1..q6\n"
    "  example: tandem identify --model arm6 arm.csv\n";

static const char *const roles[] = {"t",   "u1",  "u2",  "u3",  "u4",  "u5",  "u6",
                                    "qd1", "qd2", "qd3", "qd4", "qd5", "qd6", "q1",
                                    "q2",  "q3",  "q4",  "q5",  "q6",  NULL};

const struct model_row arm6_row = {
    .name = "arm6",
    .words = "six joints of an arm: gain and lag",
    .help = help,
    .roles = roles,
    .model = &arm6_model,
    .limits = {.nu_max = {20.0, 20.0, 20.0, 20.0, 20.0, 20.0},
               .motion_s_max = 10.0,
               .plausible = plausible},
    .robot = find_arm,
    .robots = "ur5",
    .trial = {.theta = {0.1, 0.12, 0.09, 0.06, 0.05, 0.05, 1.0, 1.05, 0.98, 1.02, 1.0, 0.97},
              .delay_s = 0.008,
              .dt_s = 0.01,
              .samples = 1500,
              .noise_sd = {0.005, 0.005, 0.005, 0.005, 0.005, 0.005},
              .effort_min = {-1.0, -1.0, -1.0, -1.5, -1.5, -1.5},
              .effort_max = {1.0, 1.0, 1.0, 1.5, 1.5, 1.5},
              .hold_s_min = 0.2,
              .hold_s_max = 1.5,
              .loss_ratio = 0.002},
};
