#include "twin/models/first_order.h"

#include <math.h>

enum { A, B, DEAD_BAND };

/* Below this share of the speed that the dead band costs, friction fades to zero: stiff enough
 * to hold the channel at rest, and no faster than so many times the channel itself, in whatever
 * units it is recorded. */
static const double FADE_RATIO = 0.05;

static double sign(double x)
{
    return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0;
}

/* The part of a command that friction takes (eq. 3). */
static double friction(const double *theta, double y)
{
    const double faded = theta[B] * y / FADE_RATIO;
    return fmin(fmax(faded, -theta[DEAD_BAND]), theta[DEAD_BAND]);
}

static double friction_slope(const double *theta, double y)
{
    return theta[B] * fabs(y) < FADE_RATIO * theta[DEAD_BAND] ? theta[B] / FADE_RATIO : 0.0;
}

static void rows(const double *pose, const double *nu, const double *nu_dot, double *phi)
{
    (void)pose;
    phi[A] = nu_dot[0];
    phi[B] = nu[0];
}

static void forward(const double *theta, const double *pose, const double *nu,
                    const double *tau, double *nu_dot)
{
    (void)pose;
    nu_dot[0] = (tau[0] - theta[B] * nu[0]) / theta[A];
}

static void inverse(const double *theta, const double *pose, const double *nu,
                    const double *nu_dot, double *tau)
{
    (void)pose;
    tau[0] = theta[A] * nu_dot[0] + theta[B] * nu[0];
}

static void slope(const double *theta, const double *pose, const double *nu, double *jacobian)
{
    (void)pose;
    (void)nu;
    jacobian[0] = -theta[B] / theta[A];
}

static void rows_deadband(const double *pose, const double *nu, const double *nu_dot,
                          double *phi)
{
    rows(pose, nu, nu_dot, phi);
    phi[DEAD_BAND] = sign(nu[0]);
}

static void forward_deadband(const double *theta, const double *pose, const double *nu,
                             const double *tau, double *nu_dot)
{
    const double left = tau[0] - friction(theta, nu[0]);
    forward(theta, pose, nu, &left, nu_dot);
}

static void inverse_deadband(const double *theta, const double *pose, const double *nu,
                             const double *nu_dot, double *tau)
{
    inverse(theta, pose, nu, nu_dot, tau);
    tau[0] += friction(theta, nu[0]);
}

static void slope_deadband(const double *theta, const double *pose, const double *nu,
                           double *jacobian)
{
    slope(theta, pose, nu, jacobian);
    jacobian[0] -= friction_slope(theta, nu[0]) / theta[A];
}

static void kinematics(const double *pose, const double *nu, double *pose_dot)
{
    (void)pose;
    pose_dot[0] = nu[0];
}

static double gain(const double *theta, double *gradient)
{
    gradient[A] = 0.0;
    gradient[B] = -1.0 / (theta[B] * theta[B]);
    return 1.0 / theta[B];
}

static double time_constant_s(const double *theta, double *gradient)
{
    gradient[A] = 1.0 / theta[B];
    gradient[B] = -theta[A] / (theta[B] * theta[B]);
    return theta[A] / theta[B];
}

static double gain_deadband(const double *theta, double *gradient)
{
    gradient[DEAD_BAND] = 0.0;
    return gain(theta, gradient);
}

static double time_constant_deadband_s(const double *theta, double *gradient)
{
    gradient[DEAD_BAND] = 0.0;
    return time_constant_s(theta, gradient);
}

static const struct model_axis axes[] = {
    {"velocity", "command", "position", "velocity", "command"}};

/* clang-format off */
static const struct model_parameter parameters[] = {
    {"command_per_acceleration", "a", "command s/velocity", MODEL_POSITIVE,     "command that speeds the channel up by one unit a second, tau/K", "lag"},
    {"command_per_velocity",     "b", "command/velocity",   MODEL_POSITIVE,     "command for each unit of steady velocity, 1/K", "gain"},
    {"dead_band",                "e", "command",            MODEL_NOT_NEGATIVE, "command below which the channel stays at rest", "dead band"},
};

static const struct model_derived derived[] = {
    {"gain",            "K",   "velocity/command", "steady velocity for each unit of command", gain},
    {"time_constant_s", "tau", "s",                "63 % of the way to a new velocity",        time_constant_s},
};

static const struct model_derived derived_deadband[] = {
    {"gain",            "K",   "velocity/command", "steady velocity for each unit of command beyond the dead band", gain_deadband},
    {"time_constant_s", "tau", "s",                "63 % of the way to a new velocity",        time_constant_deadband_s},
};
/* clang-format on */

const struct model first_order_model = {
    .name = "first_order",
    .purpose = "one channel that follows its command with a lag",
    .axes = axes,
    .axis_count = COUNT(axes),
    .parameters = parameters,
    .parameter_count = DEAD_BAND,
    .derived = derived,
    .derived_count = COUNT(derived),
    .rows = rows,
    .forward = forward,
    .inverse = inverse,
    .slope = slope,
    .kinematics = kinematics,
};

const struct model first_order_deadband_model = {
    .name = "first_order_deadband",
    .purpose = "one channel that follows its command with a lag and a dead band",
    .axes = axes,
    .axis_count = COUNT(axes),
    .parameters = parameters,
    .parameter_count = COUNT(parameters),
    .derived = derived_deadband,
    .derived_count = COUNT(derived_deadband),
    .rows = rows_deadband,
    .forward = forward_deadband,
    .inverse = inverse_deadband,
    .slope = slope_deadband,
    .kinematics = kinematics,
};
