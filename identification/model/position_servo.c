/* identification/model/position_servo.c - a servo that is commanded to positions.
 *
 *     a w' + b w + d tanh(w / s) + g = u - q          (docs/model/position_servo.md, eq. 4)
 *
 * u is the commanded position, q the position. Filters, parameter sets and simulators use this
 * form; its parameters are fitted by identification/servo. Pure: no I/O, no clock, no state.
 */
#include <math.h>

#include "identification/model/models.h"

enum { PER_ACCELERATION, PER_VELOCITY, DEAD_BAND, DROOP };

/* Ratio w / s beyond which dry friction does not change any more, and cosh would overflow. */
static const double RATIO_MAX = 300.0;

static void fill_servo_rows(const struct model *model, const double *pose, const double *nu,
                            const double *nu_dot, double *phi)
{
    (void)pose;
    phi[PER_ACCELERATION] = nu_dot[0];
    phi[PER_VELOCITY] = nu[0];
    phi[DEAD_BAND] = tanh(nu[0] / model->width);
    phi[DROOP] = 1.0;
}

/* The loop pulls like a spring: the command less the position is the right side. */
static void compute_spring(const struct model *model, const double *pose, const double *nu,
                           const double *nu_dot, const double *tau, double *still,
                           double *driven)
{
    (void)model;
    (void)nu;
    (void)nu_dot;
    still[0] = -pose[0];
    driven[0] = tau[0];
}

static void compute_servo_bias(const struct model *model, const double *theta,
                               const double *pose, const double *nu, double *tau)
{
    tau[0] = theta[PER_VELOCITY] * nu[0] + theta[DEAD_BAND] * tanh(nu[0] / model->width) +
             theta[DROOP] + (pose ? pose[0] : 0.0);
}

static void fill_servo_slope(const struct model *model, const double *theta, const double *pose,
                             const double *nu, const double *tau, double *jacobian)
{
    const double fall = 1.0 / cosh(fmin(fabs(nu[0]) / model->width, RATIO_MAX));
    (void)pose;
    (void)tau;
    jacobian[0] = -(theta[PER_VELOCITY] + theta[DEAD_BAND] * fall * fall / model->width) /
                  theta[PER_ACCELERATION];
}

/* Natural frequency, damping ratio, position gain, in the order of derived[]. */
static double derive_loop(const struct model *model, size_t i, const double *theta,
                          double *gradient)
{
    const double a = theta[PER_ACCELERATION];
    const double b = theta[PER_VELOCITY];
    const double natural = 1.0 / sqrt(a);
    for (size_t k = 0; k < model->parameter_count; k++) {
        gradient[k] = 0.0;
    }
    if (i == 0) {
        gradient[PER_ACCELERATION] = -0.5 * natural / a;
        return natural;
    }
    if (i == 1) {
        gradient[PER_ACCELERATION] = -0.25 * b * natural / a;
        gradient[PER_VELOCITY] = 0.5 * natural;
        return 0.5 * b * natural;
    }
    gradient[PER_VELOCITY] = -1.0 / (b * b);
    return 1.0 / b;
}

static const struct model_axis axes[] = {
    {"velocity_radps", "command_rad", "position_rad", "velocity", "commanded position"}};

/* clang-format off */
static const struct model_parameter parameters[] = {
    {"error_per_acceleration_s2", "a", "s^2", MODEL_POSITIVE,
     "position error that accelerates by 1 rad/s^2: 1 / natural frequency squared", "inertia"},
    {"error_per_velocity_s",      "b", "s",   MODEL_POSITIVE,
     "position error that keeps 1 rad/s: 1 / position gain", "lag"},
    {"dead_band_rad",             "d", "rad", MODEL_NOT_NEGATIVE,
     "position error that dry friction holds, half the width", "dead band"},
    {"droop_rad",                 "g", "rad", MODEL_ANY,
     "position error that a constant load causes", "droop"},
};

static const struct model_derived derived[] = {
    {"natural_frequency_radps", "wn",   "rad/s", "of the undamped loop", MODEL_ONE, PER_ACCELERATION},
    {"damping_ratio",           "zeta", "1",     "above 1 it does not overshoot", PER_VELOCITY, PER_ACCELERATION},
    {"position_gain_per_s",     "kp",   "1/s",   "decay rate of a position error", MODEL_ONE, PER_VELOCITY},
};
/* clang-format on */

const struct model position_servo_model = {
    .name = "position_servo",
    .axes = axes,
    .axis_count = COUNT(axes),
    .parameters = parameters,
    .parameter_count = COUNT(parameters),
    .derived = derived,
    .derived_count = COUNT(derived),
    .needs_pose = true,
    .joints = true,
    .width = 0.01, /* rad/s */
    .rows = fill_servo_rows,
    .known = compute_spring,
    .forward = model_forward,
    .inverse = model_inverse,
    .bias_force = compute_servo_bias,
    .slope = fill_servo_slope,
    .kinematics = model_move_joints,
    .derive = derive_loop,
};

static const char help[] =
    "  a servo that is commanded to positions (SO-101, Dynamixel, hobby and industrial "
    "servos):\n"
    "  natural frequency, damping, position gain, dead band, droop and delay, from commanded "
    "and\n"
    "  measured positions (rad) over time. Limits of speed and acceleration, gravity by angle "
    "and\n"
    "  play are found where the data ask for them. A command holds until the next one; rows "
    "may\n"
    "  lack one of the two. Several files are fitted together.\n"
    "  roles:   t command position; columns t_s command_rad position_rad are found by "
    "themselves;\n"
    "           position=NAME:deg reads degrees.\n"
    "  example: tandem identify --model position_servo --validate prbs.csv chirp.csv\n";

static const char *const roles[] = {"t", "command", "position", NULL};

const struct model_row position_servo_row = {
    .name = "position_servo",
    .words = "a position-commanded servo",
    .help = help,
    .data = MODEL_OF_SERVOS,
    .roles = roles,
    .model = &position_servo_model,
};
