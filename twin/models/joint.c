#include "twin/models/joint.h"

#include <math.h>

enum { FREE_PARAMETERS = JOINT_LOAD, LOADED_PARAMETERS = JOINT_LOAD + 1 };

/* ---- the equations, for any width s ---- */

static double dry_share(double s, double w)
{
    return tanh(w / s);
}

static void fill_joint_rows(double s, const double *nu, const double *nu_dot, double *phi)
{
    phi[JOINT_INERTIA] = nu_dot[0];
    phi[JOINT_VISCOUS] = nu[0];
    phi[JOINT_COULOMB] = dry_share(s, nu[0]);
    phi[JOINT_OFFSET] = 1.0;
}

/* All but inertia and load. */
static double resist_joint(double s, const double *theta, double w)
{
    return theta[JOINT_VISCOUS] * w + theta[JOINT_COULOMB] * dry_share(s, w) +
           theta[JOINT_OFFSET];
}

static void fill_joint_slope(double s, const double *theta, const double *nu, double *jacobian)
{
    const double t = dry_share(s, nu[0]);
    jacobian[0] = -(theta[JOINT_VISCOUS] + theta[JOINT_COULOMB] * (1.0 - t * t) / s) /
                  theta[JOINT_INERTIA];
}

static void move_joint(const double *pose, const double *nu, double *pose_dot)
{
    (void)pose;
    pose_dot[0] = nu[0];
}

/* ---- names ---- */

static const struct model_axis axes[] = {
    {"velocity", "effort", "position", "velocity", "effort"}};

/* clang-format off */
static const struct model_parameter parameters[LOADED_PARAMETERS] = {
    {"inertia", "J",  "effort/acceleration", MODEL_POSITIVE,
     "inertia of motor and arm, or mass", "inertia"},
    {"viscous", "Fv", "effort/velocity",   MODEL_NOT_NEGATIVE,
     "viscous friction, back-EMF included", "viscous friction"},
    {"coulomb", "Fc", "effort",         MODEL_NOT_NEGATIVE,
     "dry friction", "dry friction"},
    {"offset",  "o",  "effort",         MODEL_ANY,
     "constant effort: imbalance, amplifier offset", "constant effort"},
    {"load",    "G",  "effort",         MODEL_ANY,
     "m g l of a pendulum, q = 0 hanging down", "load"},
};
/* clang-format on */

/* J / Fv */
static double joint_time_s(const double *theta, double *gradient)
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
    {"time_constant_s", "tau", "s", "inertia by viscous friction", joint_time_s},
};

/* ---- one pair of models for each width ---- */

/* A model is functions without context, so each width has its own. */
#define JOINT_FUNCTIONS(tag, s)                                                                \
    static void rows_##tag(const double *pose, const double *nu, const double *nu_dot,         \
                           double *phi)                                                        \
    {                                                                                          \
        (void)pose;                                                                            \
        fill_joint_rows(s, nu, nu_dot, phi);                                                   \
    }                                                                                          \
    static void forward_##tag(const double *theta, const double *pose, const double *nu,       \
                              const double *tau, double *nu_dot)                               \
    {                                                                                          \
        (void)pose;                                                                            \
        nu_dot[0] = (tau[0] - resist_joint(s, theta, nu[0])) / theta[JOINT_INERTIA];           \
    }                                                                                          \
    static void inverse_##tag(const double *theta, const double *pose, const double *nu,       \
                              const double *nu_dot, double *tau)                               \
    {                                                                                          \
        (void)pose;                                                                            \
        tau[0] = theta[JOINT_INERTIA] * nu_dot[0] + resist_joint(s, theta, nu[0]);             \
    }                                                                                          \
    static void slope_##tag(const double *theta, const double *pose, const double *nu,         \
                            double *jacobian)                                                  \
    {                                                                                          \
        (void)pose;                                                                            \
        fill_joint_slope(s, theta, nu, jacobian);                                              \
    }                                                                                          \
    static void load_rows_##tag(const double *pose, const double *nu, const double *nu_dot,    \
                                double *phi)                                                   \
    {                                                                                          \
        fill_joint_rows(s, nu, nu_dot, phi);                                                   \
        phi[JOINT_LOAD] = sin(pose[0]);                                                        \
    }                                                                                          \
    static void load_forward_##tag(const double *theta, const double *pose, const double *nu,  \
                                   const double *tau, double *nu_dot)                          \
    {                                                                                          \
        const double left = tau[0] - theta[JOINT_LOAD] * sin(pose[0]);                         \
        nu_dot[0] = (left - resist_joint(s, theta, nu[0])) / theta[JOINT_INERTIA];             \
    }                                                                                          \
    static void load_inverse_##tag(const double *theta, const double *pose, const double *nu,  \
                                   const double *nu_dot, double *tau)                          \
    {                                                                                          \
        tau[0] = theta[JOINT_INERTIA] * nu_dot[0] + resist_joint(s, theta, nu[0]) +            \
                 theta[JOINT_LOAD] * sin(pose[0]);                                             \
    }

#define JOINT_MODEL(tag, title, count, pose, prefix)                                           \
    {                                                                                          \
        .name = (title), .axes = axes, .axis_count = 1, .parameters = parameters,              \
        .parameter_count = (count), .derived = derived, .derived_count = COUNT(derived),       \
        .needs_pose = (pose), .sticks = true, .window_s = 0.1, .rows = prefix##rows_##tag,     \
        .forward = prefix##forward_##tag, .inverse = prefix##inverse_##tag,                    \
        .slope = slope_##tag, .kinematics = move_joint,                                        \
    }

#define JOINT_FREE(tag)   JOINT_MODEL(tag, "joint", FREE_PARAMETERS, false, )
#define JOINT_LOADED(tag) JOINT_MODEL(tag, "joint_load", LOADED_PARAMETERS, true, load_)

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

static const char help[] =
    "  one driven joint (a motor, a slide, a vertical axis): inertia, viscous and dry "
    "friction,\n"
    "  constant effort, from effort and motion over time. The effort may be a torque, a "
    "force,\n"
    "  a current or a voltage: parameters come in its unit (N m s^2/rad, A s^2/rad, kg ...).\n"
    "  methods: auto (default) simulates as usv3 does; where the joint sticks, weak,\n"
    "           which neither sticking friction nor a controller misleads; others as usv3\n"
    "  roles:   t effort velocity; columns t_s effort velocity are found by themselves. "
    "Without\n"
    "           a velocity it is derived from the role position. How fast dry friction turns\n"
    "           over (0.001 .. 0.1 rad/s or m/s) is found as well.\n"
    "  A role may be a product: effort=35.15*u_v, effort=duty*supply_v\n"
    "  example: tandem identify --model joint --columns effort=35.15*u_v,position=q_m "
    "axis.csv\n";

static const char load_help[] =
    "  the same with the load of a pendulum, m g l sin(position), position 0 hanging down; "
    "wants\n"
    "  the position.\n"
    "  roles:   t effort position; and velocity where it was recorded\n"
    "  example: tandem identify --model joint_load --columns \\\n"
    "           effort=duty*vin_v,position=q_rad arm1.csv arm2.csv\n";

static const char *const roles[] = {"t", "effort", "velocity", "position", NULL};

/* Of any unit, so that no speed is too high. The trial is an arm of 0.1 kg m^2 on a motor of a
 * few N m. */
const struct model_row joint_row = {
    .name = "joint",
    .words = "joint: inertia, friction",
    .help = help,
    .roles = roles,
    .model = &joint_model,
    .variants = joint_variants,
    .variant_count = JOINT_VARIANTS,
    .trial = {.theta = {0.1, 0.25, 0.3, 0.05},
              .delay_s = 0.008,
              .dt_s = 0.01,
              .samples = 2000,
              .noise_sd = {0.003},
              .effort_min = {-3.0},
              .effort_max = {3.0},
              .hold_s_min = 0.3,
              .hold_s_max = 1.5,
              .loss_ratio = 0.005},
};

const struct model_row joint_load_row = {
    .name = "joint_load",
    .words = "joint: inertia, friction and the load of a pendulum",
    .help = load_help,
    .roles = roles,
    .model = &joint_load_model,
    .variants = joint_load_variants,
    .variant_count = JOINT_VARIANTS,
    .trial = {.theta = {0.1, 0.25, 0.3, 0.05, 1.2},
              .delay_s = 0.008,
              .dt_s = 0.01,
              .samples = 2000,
              .noise_sd = {0.003},
              .effort_min = {-3.0},
              .effort_max = {3.0},
              .hold_s_min = 0.3,
              .hold_s_max = 1.5,
              .loss_ratio = 0.005},
};
