#include "twin/models/joint.h"

#include <math.h>

enum { FREE_PARAMETERS = JOINT_LOAD, LOADED_PARAMETERS = JOINT_LOAD + 1 };

/* ---- the equations, for any width s ---- */

static double dry(double s, double w)
{
    return tanh(w / s);
}

static void fill_rows(double s, const double *nu, const double *nu_dot, double *phi)
{
    phi[JOINT_INERTIA] = nu_dot[0];
    phi[JOINT_VISCOUS] = nu[0];
    phi[JOINT_COULOMB] = dry(s, nu[0]);
    phi[JOINT_OFFSET] = 1.0;
}

/* All but inertia and load. */
static double resist(double s, const double *theta, double w)
{
    return theta[JOINT_VISCOUS] * w + theta[JOINT_COULOMB] * dry(s, w) + theta[JOINT_OFFSET];
}

static void fill_slope(double s, const double *theta, const double *nu, double *jacobian)
{
    const double t = dry(s, nu[0]);
    jacobian[0] = -(theta[JOINT_VISCOUS] + theta[JOINT_COULOMB] * (1.0 - t * t) / s) /
                  theta[JOINT_INERTIA];
}

static void kinematics(const double *pose, const double *nu, double *pose_dot)
{
    (void)pose;
    pose_dot[0] = nu[0];
}

/* ---- names ---- */

static const struct model_axis axes[] = {
    {"velocity", "effort", "position", "velocity", "effort"}};

/* clang-format off */
static const struct model_parameter parameters[LOADED_PARAMETERS] = {
    {"inertia", "J",  "effort/acceleration", MODEL_POSITIVE,     "inertia of motor and arm, or mass", "inertia"},
    {"viscous", "Fv", "effort/velocity",   MODEL_NOT_NEGATIVE, "viscous friction, back-EMF included", "viscous friction"},
    {"coulomb", "Fc", "effort",         MODEL_NOT_NEGATIVE, "dry friction", "dry friction"},
    {"offset",  "o",  "effort",         MODEL_ANY,          "constant effort: imbalance, amplifier offset", "constant effort"},
    {"load",    "G",  "effort",         MODEL_ANY,          "m g l of a pendulum, q = 0 hanging down", "load"},
};
/* clang-format on */

/* J / Fv */
static double time_constant(const double *theta, double *gradient)
{
    for (size_t i = 0; i < LOADED_PARAMETERS; i++) {
        gradient[i] = 0.0;
    }
    gradient[JOINT_INERTIA] = 1.0 / theta[JOINT_VISCOUS];
    gradient[JOINT_VISCOUS] =
        -theta[JOINT_INERTIA] / (theta[JOINT_VISCOUS] * theta[JOINT_VISCOUS]);
    return theta[JOINT_INERTIA] / theta[JOINT_VISCOUS];
}

static const struct model_derived derived[] = {
    {"time_constant_s", "tau", "s", "inertia by viscous friction", time_constant},
};

/* ---- one pair of models for each width ---- */

/* A model is functions without context, so each width has its own. */
#define JOINT_FUNCTIONS(tag, s)                                                                \
    static void rows_##tag(const double *pose, const double *nu, const double *nu_dot,         \
                           double *phi)                                                        \
    {                                                                                          \
        (void)pose;                                                                            \
        fill_rows(s, nu, nu_dot, phi);                                                         \
    }                                                                                          \
    static void forward_##tag(const double *theta, const double *pose, const double *nu,       \
                              const double *tau, double *nu_dot)                               \
    {                                                                                          \
        (void)pose;                                                                            \
        nu_dot[0] = (tau[0] - resist(s, theta, nu[0])) / theta[JOINT_INERTIA];                 \
    }                                                                                          \
    static void inverse_##tag(const double *theta, const double *pose, const double *nu,       \
                              const double *nu_dot, double *tau)                               \
    {                                                                                          \
        (void)pose;                                                                            \
        tau[0] = theta[JOINT_INERTIA] * nu_dot[0] + resist(s, theta, nu[0]);                   \
    }                                                                                          \
    static void slope_##tag(const double *theta, const double *pose, const double *nu,         \
                            double *jacobian)                                                  \
    {                                                                                          \
        (void)pose;                                                                            \
        fill_slope(s, theta, nu, jacobian);                                                    \
    }                                                                                          \
    static void load_rows_##tag(const double *pose, const double *nu, const double *nu_dot,    \
                                double *phi)                                                   \
    {                                                                                          \
        fill_rows(s, nu, nu_dot, phi);                                                         \
        phi[JOINT_LOAD] = sin(pose[0]);                                                        \
    }                                                                                          \
    static void load_forward_##tag(const double *theta, const double *pose, const double *nu,  \
                                   const double *tau, double *nu_dot)                          \
    {                                                                                          \
        const double left = tau[0] - theta[JOINT_LOAD] * sin(pose[0]);                         \
        nu_dot[0] = (left - resist(s, theta, nu[0])) / theta[JOINT_INERTIA];                   \
    }                                                                                          \
    static void load_inverse_##tag(const double *theta, const double *pose, const double *nu,  \
                                   const double *nu_dot, double *tau)                          \
    {                                                                                          \
        tau[0] = theta[JOINT_INERTIA] * nu_dot[0] + resist(s, theta, nu[0]) +                  \
                 theta[JOINT_LOAD] * sin(pose[0]);                                             \
    }

#define JOINT_MODEL(tag, title, text, count, pose, prefix)                                     \
    {                                                                                          \
        .name = (title), .purpose = (text), .axes = axes, .axis_count = 1,                     \
        .parameters = parameters, .parameter_count = (count), .derived = derived,              \
        .derived_count = COUNT(derived), .needs_pose = (pose), .sticks = true,                 \
        .window_s = 0.1, .rows = prefix##rows_##tag, .forward = prefix##forward_##tag,         \
        .inverse = prefix##inverse_##tag, .slope = slope_##tag, .kinematics = kinematics,      \
    }

#define JOINT_FREE(tag)                                                                        \
    JOINT_MODEL(tag, "joint", "a driven joint with friction", FREE_PARAMETERS, false, )
#define JOINT_LOADED(tag)                                                                      \
    JOINT_MODEL(tag, "joint_load", "a driven joint with friction and a pendulum's load",       \
                LOADED_PARAMETERS, true, load_)

JOINT_FUNCTIONS(1, 0.001)
JOINT_FUNCTIONS(2, 0.003)
JOINT_FUNCTIONS(3, 0.01)
JOINT_FUNCTIONS(4, 0.03)
JOINT_FUNCTIONS(5, 0.1)

static const struct model free_1 = JOINT_FREE(1);
static const struct model free_2 = JOINT_FREE(2);
const struct model joint_model = JOINT_FREE(3);
static const struct model free_4 = JOINT_FREE(4);
static const struct model free_5 = JOINT_FREE(5);
static const struct model loaded_1 = JOINT_LOADED(1);
static const struct model loaded_2 = JOINT_LOADED(2);
const struct model joint_load_model = JOINT_LOADED(3);
static const struct model loaded_4 = JOINT_LOADED(4);
static const struct model loaded_5 = JOINT_LOADED(5);

const struct model_variant joint_variants[JOINT_VARIANTS] = {
    {&free_1, 0.001}, {&free_2, 0.003}, {&joint_model, 0.01}, {&free_4, 0.03}, {&free_5, 0.1},
};

const struct model_variant joint_load_variants[JOINT_VARIANTS] = {
    {&loaded_1, 0.001}, {&loaded_2, 0.003}, {&joint_load_model, 0.01},
    {&loaded_4, 0.03},  {&loaded_5, 0.1},
};
