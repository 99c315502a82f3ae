/* twin/models/diffdrive.c - how a differential drive follows its velocity commands.
 *
 *     t1 u' - t3 w^2 + t4 u  = u_cmd
 *     t2 w' + t5 u w + t6 w  = w_cmd           (docs/model/velocity_dynamics.md, eq. 1)
 *
 * u forward, w counter-clockwise, of the middle of the axle; pose (x, y, theta) in the world.
 * Pure: no I/O, no clock, no state.
 */
#include <math.h>
#include <string.h>

#include "twin/models/models.h"

enum { DIFFDRIVE_AXES = 2, DIFFDRIVE_PARAMETERS = 6 };

enum { T1, T2, T3, T4, T5, T6 };

static void fill_diffdrive_rows(const struct model *model, const double *pose, const double *nu,
                                const double *nu_dot, double *phi)
{
    (void)model;
    (void)pose;
    const double u = nu[0];
    const double w = nu[1];
    double *ahead = phi;
    double *turn = phi + DIFFDRIVE_PARAMETERS;

    memset(phi, 0, sizeof(double) * DIFFDRIVE_AXES * DIFFDRIVE_PARAMETERS);
    ahead[T1] = nu_dot[0];
    ahead[T3] = -w * w;
    ahead[T4] = u;
    turn[T2] = nu_dot[1];
    turn[T5] = u * w;
    turn[T6] = w;
}

/* What is left of the left-hand side at nu_dot = 0. */
static void resist_diffdrive(const struct model *model, const double *theta, const double *pose,
                             const double *nu, double *tau)
{
    (void)model;
    (void)pose;
    const double *t = theta;
    const double u = nu[0];
    const double w = nu[1];
    tau[0] = t[T4] * u - t[T3] * w * w;
    tau[1] = (t[T5] * u + t[T6]) * w;
}

static void fill_diffdrive_slope(const struct model *model, const double *theta,
                                 const double *pose, const double *nu, const double *tau,
                                 double *jacobian)
{
    (void)tau;
    (void)model;
    (void)pose;
    const double *t = theta;
    const double u = nu[0];
    const double w = nu[1];
    jacobian[0] = -t[T4] / t[T1];
    jacobian[1] = 2.0 * t[T3] * w / t[T1];
    jacobian[2] = -t[T5] * w / t[T2];
    jacobian[3] = -(t[T5] * u + t[T6]) / t[T2];
}

/* The axle does not slip sideways. */
static void turn_diffdrive_pose(const double *pose, const double *nu, double *pose_dot)
{
    pose_dot[0] = nu[0] * cos(pose[2]);
    pose_dot[1] = nu[0] * sin(pose[2]);
    pose_dot[2] = nu[1];
}

static const struct model_axis axes[DIFFDRIVE_AXES] = {
    {"v_mps", "v_cmd_mps", "x_m", "forward speed", "commanded forward speed"},
    {"w_radps", "w_cmd_radps", "y_m", "turning speed", "commanded turning speed"},
};

static const size_t planar[DIFFDRIVE_AXES] = {0, 2};

/* clang-format off */
static const struct model_parameter parameters[DIFFDRIVE_PARAMETERS] = {
    {"forward_inertia_s",  "t1", "s",         MODEL_POSITIVE,
     "mass, wheels and D gain against the P gain of the forward speed", "inertia of driving"},
    {"turn_inertia_s",     "t2", "s",         MODEL_POSITIVE,
     "inertia, wheels and D gain against the P gain of the turning speed", "inertia of turning"},
    {"centrifugal_sm",     "t3", "s m/rad^2", MODEL_ANY,
     "push ahead in a turn; negative when the mass is behind the axle", "push ahead in a turn"},
    {"forward_drag_ratio", "t4", "1",         MODEL_POSITIVE,
     "command for each m/s of steady forward speed", "drag of driving"},
    {"coupling_spm",       "t5", "s/m",       MODEL_ANY,
     "resistance to a turn under way; negative when the mass is behind the axle", "coupling of driving and turning"},
    {"turn_drag_ratio",    "t6", "1",         MODEL_POSITIVE,
     "command for each rad/s of steady turning speed", "drag of turning"},
};

static const struct model_derived derived[] = {
    {"forward_gain_ratio", "K_u",   "1", "speed reached for each m/s commanded, 1/t4", MODEL_ONE, T4},
    {"forward_time_s",     "tau_u", "s", "time constant of the forward speed, t1/t4",  T1, T4},
    {"turn_gain_ratio",    "K_w",   "1", "turning speed for each rad/s commanded, 1/t6", MODEL_ONE, T6},
    {"turn_time_s",        "tau_w", "s", "time constant of the turning speed on the spot, t2/t6", T2, T6},
};
/* clang-format on */

const struct model diffdrive_model = {
    .name = "diffdrive",
    .axes = axes,
    .axis_count = DIFFDRIVE_AXES,
    .heading = "theta_rad",
    .planar = planar,
    .parameters = parameters,
    .parameter_count = DIFFDRIVE_PARAMETERS,
    .derived = derived,
    .derived_count = COUNT(derived),
    .rows = fill_diffdrive_rows,
    .forward = model_forward,
    .inverse = model_inverse,
    .resist = resist_diffdrive,
    .slope = fill_diffdrive_slope,
    .kinematics = turn_diffdrive_pose,
};

static const char help[] =
    "  a differential drive that follows velocity commands: inertia and drag of driving and\n"
    "  turning, what a mass beside the axle does, and from these gains and time constants, "
    "from\n"
    "  commanded and measured forward speed (m/s) and turning speed (rad/s, "
    "counter-clockwise)\n"
    "  over time. A command is held from its row to the next. Methods as usv3.\n"
    "  roles:   t u_cmd w_cmd u w; columns t_s v_cmd_mps w_cmd_radps v_mps w_radps are found "
    "by\n"
    "           themselves. Telemetry of a journal may tell both in the plane: nu = [u, 0, "
    "w],\n"
    "           tau = [u_cmd, 0, w_cmd]\n"
    "  example: tandem identify --model diffdrive --validate lap2.csv lap1.csv\n";

static const char *const roles[] = {"t", "u_cmd", "w_cmd", "u", "w", NULL};

/* A robot reaches about what it was told: half, or twice as much. Slower than a forklift is no
 * robot of a lab. */
static const struct plausible_range plausible[] = {
    {"forward_gain_ratio", 0.2, 5.0, PLAUSIBLE_LENGTH, PLAUSIBLE_LENGTH, 0.0},
    {"turn_gain_ratio", 0.2, 5.0, PLAUSIBLE_ANGLE, PLAUSIBLE_ANGLE, 0.0},
    {"forward_time_s", 1e-3, 30.0, PLAUSIBLE_TIME, PLAUSIBLE_TIME, 0.0},
    {"turn_time_s", 1e-3, 30.0, PLAUSIBLE_TIME, PLAUSIBLE_TIME, 0.0},
    {NULL, 0.0, 0.0, 0, 0, 0.0},
};

/* Faster than any robot on two wheels, and five turns a second. */
const struct model_row diffdrive_row = {
    .name = "diffdrive",
    .words = "differential drive that follows velocity commands",
    .help = help,
    .roles = roles,
    .model = &diffdrive_model,
    .limits = {.nu_max = {20.0, 31.5},
               .motion_s_min = 0.005,
               .motion_s_max = 100.0,
               .plausible = plausible},
    .trial = {.theta = {0.25, 0.18, 0.03, 1.05, 0.15, 1.08},
              .delay_s = 0.08,
              .dt_s = 0.05,
              .samples = 1500,
              .noise_sd = {0.005, 0.01},
              .effort_min = {-0.2, -2.0},
              .effort_max = {0.8, 2.0},
              .hold_s_min = 0.5,
              .hold_s_max = 3.0,
              .loss_ratio = 0.01},
};
