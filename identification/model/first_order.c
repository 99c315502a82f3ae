/* identification/model/first_order.c - one channel that follows its command with a lag.
 *
 *     a y' + b y            = c       first_order           (docs/model/first_order.md, eq. 1)
 *     a y' + b y + e sgn(y) = c       first_order_deadband  (eq. 2)
 *
 * y is a velocity and c its command, each in a unit of its own; gain K = 1 / b, time constant
 * tau = a / b. The pose is the integral of y. Pure: no I/O, no clock, no state.
 */
#include <math.h>

#include "identification/model/models.h"

enum { A, B, DEAD_BAND };

/* Friction fades to zero below this share of the speed e / b that the dead band costs. The
 * fade is steep enough to hold the channel at rest. It is at most 1 / FADE_RATIO times
 * faster than the channel itself, in any unit. */
static const double FADE_RATIO = 0.05;

/* Part of a command that friction takes (eq. 3). */
static double find_friction(const double *theta, double y)
{
    const double faded = theta[B] * y / FADE_RATIO;
    return fmin(fmax(faded, -theta[DEAD_BAND]), theta[DEAD_BAND]);
}

static double slope_friction(const double *theta, double y)
{
    return theta[B] * fabs(y) < FADE_RATIO * theta[DEAD_BAND] ? theta[B] / FADE_RATIO : 0.0;
}

static void fill_channel_rows(const struct model *model, const double *pose, const double *nu,
                              const double *nu_dot, double *phi)
{
    (void)pose;
    phi[A] = nu_dot[0];
    phi[B] = nu[0];
    if (model->parameter_count > DEAD_BAND) {
        phi[DEAD_BAND] = nu[0] > 0.0 ? 1.0 : nu[0] < 0.0 ? -1.0 : 0.0;
    }
}

static void compute_channel_bias(const struct model *model, const double *theta,
                                 const double *pose, const double *nu, double *tau)
{
    (void)pose;
    tau[0] = theta[B] * nu[0];
    if (model->parameter_count > DEAD_BAND) {
        tau[0] += find_friction(theta, nu[0]);
    }
}

static void fill_channel_slope(const struct model *model, const double *theta,
                               const double *pose, const double *nu, const double *tau,
                               double *jacobian)
{
    (void)tau;
    (void)pose;
    jacobian[0] = -theta[B] / theta[A];
    if (model->parameter_count > DEAD_BAND) {
        jacobian[0] -= slope_friction(theta, nu[0]) / theta[A];
    }
}

static const struct model_axis axes[] = {
    {"velocity", "command", "position", "velocity", "command"}};

/* clang-format off */
static const struct model_parameter parameters[] = {
    {"command_per_acceleration", "a", "command s/velocity", MODEL_POSITIVE,
     "command that speeds the channel up by one unit a second, tau/K", "lag"},
    {"command_per_velocity",     "b", "command/velocity",   MODEL_POSITIVE,
     "command for each unit of steady velocity, 1/K", "gain"},
    {"dead_band",                "e", "command",            MODEL_NOT_NEGATIVE,
     "command below which the channel stays at rest", "dead band"},
};

static const struct model_derived derived[] = {
    {"gain",            "K",   "velocity/command", "steady velocity for each unit of command", MODEL_ONE, B},
    {"time_constant_s", "tau", "s",                "63 % of the way to a new velocity",        A, B},
};

static const struct model_derived derived_deadband[] = {
    {"gain",            "K",   "velocity/command",
     "steady velocity for each unit of command beyond the dead band", MODEL_ONE, B},
    {"time_constant_s", "tau", "s",                "63 % of the way to a new velocity",        A, B},
};
/* clang-format on */

static const struct model_channel channels[] = {{A, B, MODEL_ONE}, {A, B, DEAD_BAND}};

#define CHANNEL_MODEL(title, count, table)                                                     \
    {                                                                                          \
        .name = (title), .axes = axes, .axis_count = COUNT(axes), .parameters = parameters,    \
        .parameter_count = (count), .channels = &channels[(count)-DEAD_BAND],                  \
        .derived = (table), .derived_count = COUNT(table), .rows = fill_channel_rows,          \
        .forward = model_forward, .inverse = model_inverse,                                    \
        .bias_force = compute_channel_bias, .slope = fill_channel_slope,                       \
        .kinematics = model_move_joints,                                                       \
    }

const struct model first_order_model = CHANNEL_MODEL("first_order", DEAD_BAND, derived);
const struct model first_order_deadband_model =
    CHANNEL_MODEL("first_order_deadband", COUNT(parameters), derived_deadband);

static const char help[] =
    "  one channel that follows its command with a lag: gain, time constant, delay, from "
    "command\n"
    "  and velocity over time, each in its own unit (the gain is velocity by command). A "
    "command\n"
    "  is held from its row to the next. Methods as usv3.\n"
    "  roles:   t command velocity; columns t_s command velocity are found by themselves. A "
    "minus\n"
    "           turns a column's sign: velocity=-right_ticks, where a wheel counts backwards\n"
    "  example: tandem identify --model first_order --columns \\\n"
    "           command=w_cmd_radps,velocity=w_radps lap1.csv\n";

static const char deadband_help[] =
    "  the same for a channel that stays at rest below some command and is slowed by as much\n"
    "  above it, as motors are by friction: needs commands of two sizes, one after the other "
    "or\n"
    "  in several files\n";

static const char *const roles[] = {"t", "command", "velocity", NULL};

/* A gain near a conversion factor means that command and velocity have different units. */
static const struct plausible_range plausible[] = {
    {"gain", 0.0, 0.0, PLAUSIBLE_LENGTH | PLAUSIBLE_ANGLE, PLAUSIBLE_LENGTH | PLAUSIBLE_ANGLE,
     0.0},
    {"time_constant_s", 1e-4, 60.0, PLAUSIBLE_TIME, PLAUSIBLE_TIME, 0.0},
    {NULL, 0.0, 0.0, 0, 0, 0.0},
};

/* The unit is unknown, so that no speed is too high. Times must be in seconds. */
const struct model_row first_order_row = {
    .name = "first_order",
    .words = "one channel with gain, lag and delay",
    .help = help,
    .roles = roles,
    .model = &first_order_model,
    .limits = {.motion_s_max = 300.0, .plausible = plausible},
    .trial = {.theta = {0.26, 1.05},
              .delay_s = 0.06,
              .dt_s = 0.05,
              .samples = 1000,
              .noise_sd = {0.02},
              .effort_min = {-1.0},
              .effort_max = {1.0},
              .hold_s_min = 0.5,
              .hold_s_max = 3.0,
              .loss_ratio = 0.01},
};

const struct model_row first_order_deadband_row = {
    .name = "first_order_deadband",
    .words = "one channel with gain, lag, delay and dead band",
    .help = deadband_help,
    .roles = roles,
    .model = &first_order_deadband_model,
    .limits = {.motion_s_max = 300.0, .plausible = plausible},
    .trial = {.theta = {0.14, 0.6, 5.0},
              .delay_s = 0.06,
              .dt_s = 0.05,
              .samples = 1000,
              .noise_sd = {0.8},
              .effort_min = {-60.0},
              .effort_max = {60.0},
              .hold_s_min = 0.5,
              .hold_s_max = 3.0,
              .loss_ratio = 0.01},
};
