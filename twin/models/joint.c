/* twin/models/joint.c - one driven joint: a motor on an arm, a slide, a wheel off the ground.
 *
 *     inertia w' + viscous w + coulomb tanh(w / s) + offset            = effort
 *     inertia w' + viscous w + coulomb tanh(w / s) + offset + load sin q = effort
 *                                                         (docs/model/joint.md, eq. 1, 2)
 *
 * Parameters have the unit of the effort (N m, N, A, V) by that of the motion (rad, m). Pure:
 * no I/O, no clock, no state.
 */
#include <math.h>

#include "twin/models/models.h"

enum { FREE_PARAMETERS = JOINT_LOAD, LOADED_PARAMETERS = JOINT_LOAD + 1 };

/* ---- the equations ---- */

static double dry_share(const struct model *model, double w)
{
    return tanh(w / model->width);
}

static void fill_joint_rows(const struct model *model, const double *pose, const double *nu,
                            const double *nu_dot, double *phi)
{
    phi[JOINT_INERTIA] = nu_dot[0];
    phi[JOINT_VISCOUS] = nu[0];
    phi[JOINT_COULOMB] = dry_share(model, nu[0]);
    phi[JOINT_OFFSET] = 1.0;
    if (model->needs_pose) {
        phi[JOINT_LOAD] = sin(pose[0]);
    }
}

static void resist_joint(const struct model *model, const double *theta, const double *pose,
                         const double *nu, double *tau)
{
    tau[0] = theta[JOINT_VISCOUS] * nu[0] + theta[JOINT_COULOMB] * dry_share(model, nu[0]) +
             theta[JOINT_OFFSET];
    if (model->needs_pose) {
        tau[0] += theta[JOINT_LOAD] * sin(pose[0]);
    }
}

static void fill_joint_slope(const struct model *model, const double *theta, const double *pose,
                             const double *nu, double *jacobian)
{
    (void)pose;
    const double t = dry_share(model, nu[0]);
    jacobian[0] =
        -(theta[JOINT_VISCOUS] + theta[JOINT_COULOMB] * (1.0 - t * t) / model->width) /
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

static const struct model_derived derived[] = {
    {"time_constant_s", "tau", "s", "inertia by viscous friction", JOINT_INERTIA,
     JOINT_VISCOUS},
};

/* ---- a model for each width of the turn-over of dry friction, rad/s or m/s ---- */

#define JOINT_MODEL(title, count, pose, s)                                                     \
    {                                                                                          \
        .name = (title), .axes = axes, .axis_count = 1, .parameters = parameters,              \
        .parameter_count = (count), .derived = derived, .derived_count = COUNT(derived),       \
        .needs_pose = (pose), .sticks = true, .window_s = 0.1, .width = (s),                   \
        .rows = fill_joint_rows, .forward = model_forward, .inverse = model_inverse,           \
        .resist = resist_joint, .slope = fill_joint_slope, .kinematics = move_joint,           \
    }

#define JOINT_FREE(s)   JOINT_MODEL("joint", FREE_PARAMETERS, false, s)
#define JOINT_LOADED(s) JOINT_MODEL("joint_load", LOADED_PARAMETERS, true, s)

const struct model joint_model = JOINT_FREE(0.01);
const struct model joint_load_model = JOINT_LOADED(0.01);

static const struct model others[] = {
    JOINT_FREE(0.001),   JOINT_FREE(0.003),   JOINT_FREE(0.03),   JOINT_FREE(0.1),
    JOINT_LOADED(0.001), JOINT_LOADED(0.003), JOINT_LOADED(0.03), JOINT_LOADED(0.1)};

static const struct model_variant joint_variants[] = {{&others[0], 0.001},
                                                      {&others[1], 0.003},
                                                      {&joint_model, 0.01},
                                                      {&others[2], 0.03},
                                                      {&others[3], 0.1}};
static const struct model_variant joint_load_variants[] = {{&others[4], 0.001},
                                                           {&others[5], 0.003},
                                                           {&joint_load_model, 0.01},
                                                           {&others[6], 0.03},
                                                           {&others[7], 0.1}};

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
    .variant_count = COUNT(joint_variants),
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
    .variant_count = COUNT(joint_load_variants),
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
