/* identification/model/joint.c - one driven joint: a motor on an arm, a slide, a wheel off the
 * ground.
 *
 *     inertia w' + viscous w + D tanh(w / s) + offset [+ load sin q] = effort
 *     D = coulomb [+ load_friction |effort|] [+ stribeck exp(-(w / 10 s)^2)]
 *                                                 (docs/model/joint.md, eq. 1, 2, 4, 5)
 *
 * Each parameter has the unit of the effort (N m, N, A, V) divided by that of its motion term
 * (rad, m). Pure: no I/O, no clock, no state.
 */
#include <math.h>
#include <string.h>

#include "identification/model/models.h"

/* Width of the Stribeck fall, in widths s of the turn-over of dry friction. */
static const double STRIBECK_WIDTHS = 10.0;
/* Smallest share of an effort that friction passes, where friction would otherwise lock the
 * joint. */
static const double PASSED_MIN = 0.01;
/* exp(-746) is 0 in double precision. */
static const double EXP_UNDERFLOW = 746.0;

/* ---- the equations ---- */

/* Returns the index of the Stribeck parameter, which is the last; 0: the model has none. */
static size_t stribeck_at(const struct model *model)
{
    const size_t others =
        (size_t)JOINT_LOAD + (model->needs_pose ? 1U : 0U) + (model->by_effort ? 1U : 0U);
    return model->parameter_count > others ? others : 0;
}

/* Factors of dry friction, Stribeck friction and load. They are shared, because the
 * library's functions are slow. */
struct joint_shares {
    double dry, falling, load; /* falling is the Stribeck part */
};

static struct joint_shares find_shares(const struct model *model, const double *pose, double w)
{
    struct joint_shares shares = {.dry = tanh(w / model->width)};
    if (stribeck_at(model)) {
        const double ratio = w / (STRIBECK_WIDTHS * model->width);
        /* Skips the call: the library takes five times as long for an underflow, with the
         * same result. */
        shares.falling = ratio * ratio > EXP_UNDERFLOW ? 0.0 : exp(-ratio * ratio);
    }
    if (model->needs_pose && pose) {
        shares.load = sin(pose[0]);
    }
    return shares;
}

static void write_rows(const struct model *model, const struct joint_shares *shares, double nu,
                       double nu_dot, double *phi)
{
    phi[JOINT_INERTIA] = nu_dot;
    phi[JOINT_VISCOUS] = nu;
    phi[JOINT_COULOMB] = shares->dry;
    phi[JOINT_OFFSET] = 1.0;
    if (model->needs_pose) {
        phi[JOINT_LOAD] = shares->load;
    }
    if (model->by_effort) {
        phi[model->by_effort] = shares->dry;
    }
    if (stribeck_at(model)) {
        phi[stribeck_at(model)] = shares->dry * shares->falling;
    }
}

static void fill_joint_rows(const struct model *model, const double *pose, const double *nu,
                            const double *nu_dot, double *phi)
{
    const struct joint_shares shares = find_shares(model, pose, nu[0]);
    write_rows(model, &shares, nu[0], nu_dot[0], phi);
}

/* Resisting effort, without the friction that is proportional to the effort. */
static double find_resistance(const struct model *model, const double *theta,
                              const struct joint_shares *shares, double nu)
{
    const size_t stribeck = stribeck_at(model);
    const double dry =
        theta[JOINT_COULOMB] + (stribeck ? theta[stribeck] * shares->falling : 0.0);
    const double resisted = theta[JOINT_VISCOUS] * nu + dry * shares->dry + theta[JOINT_OFFSET];
    return model->needs_pose ? resisted + theta[JOINT_LOAD] * shares->load : resisted;
}

static void compute_joint_bias(const struct model *model, const double *theta,
                               const double *pose, const double *nu, double *tau)
{
    const struct joint_shares shares = find_shares(model, pose, nu[0]);
    tau[0] = find_resistance(model, theta, &shares, nu[0]);
}

/* Share of an effort along the motion that its own friction takes. */
static double friction_share(const struct model *model, const double *theta,
                             const struct joint_shares *shares)
{
    return model->by_effort ? theta[model->by_effort] * shares->dry : 0.0;
}

static double find_rate(const struct model *model, const double *theta,
                        const struct joint_shares *shares, double nu, double tau)
{
    const double passed = tau - friction_share(model, theta, shares) * fabs(tau);
    return (passed - find_resistance(model, theta, shares, nu)) / theta[JOINT_INERTIA];
}

static void accelerate_joint(const struct model *model, const double *theta, const double *pose,
                             const double *nu, const double *tau, double *nu_dot)
{
    const struct joint_shares shares = find_shares(model, pose, nu[0]);
    nu_dot[0] = find_rate(model, theta, &shares, nu[0], tau[0]);
}

/* The effort has the sign of what it must pass on, unless friction locks the joint. */
static void invert_joint(const struct model *model, const double *theta, const double *pose,
                         const double *nu, const double *nu_dot, double *tau)
{
    const struct joint_shares shares = find_shares(model, pose, nu[0]);
    const double passed =
        theta[JOINT_INERTIA] * nu_dot[0] + find_resistance(model, theta, &shares, nu[0]);
    const double friction = friction_share(model, theta, &shares);
    tau[0] = passed / fmax(passed > 0.0 ? 1.0 - friction : 1.0 + friction, PASSED_MIN);
}

static void invert_joint_inertia(const struct model *model, const double *theta,
                                 const double *pose, const double *nu, double *inverse)
{
    (void)model;
    (void)pose;
    (void)nu;
    inverse[0] = 1.0 / theta[JOINT_INERTIA];
}

static double find_slope(const struct model *model, const double *theta,
                         const struct joint_shares *shares, double nu, const double *tau)
{
    const size_t stribeck = stribeck_at(model);
    const double t = shares->dry;
    const double v = STRIBECK_WIDTHS * model->width;
    const double more = stribeck ? theta[stribeck] * shares->falling : 0.0;
    const double pushed =
        model->by_effort && tau ? theta[model->by_effort] * fabs(tau[0]) : 0.0;
    const double dry = theta[JOINT_COULOMB] + more + pushed;
    return -(theta[JOINT_VISCOUS] + dry * (1.0 - t * t) / model->width -
             more * t * 2.0 * nu / (v * v)) /
           theta[JOINT_INERTIA];
}

static void fill_joint_slope(const struct model *model, const double *theta, const double *pose,
                             const double *nu, const double *tau, double *jacobian)
{
    (void)pose;
    const struct joint_shares shares = find_shares(model, NULL, nu[0]);
    jacobian[0] = find_slope(model, theta, &shares, nu[0], tau);
}

static void simulate_joint(const struct model *model, const double *theta, const double *pose,
                           const double *nu, const double *tau,
                           const struct model_response *out)
{
    const struct joint_shares shares = find_shares(model, pose, nu[0]);
    out->nu_dot[0] = find_rate(model, theta, &shares, nu[0], tau[0]);
    out->slope[0] = find_slope(model, theta, &shares, nu[0], tau);
    write_rows(model, &shares, nu[0], out->nu_dot[0], out->phi);
    model_load_rows(model, tau, out->phi);
}

void model_move_joints(const struct model *model, const double *pose, const double *nu,
                       double *pose_dot)
{
    (void)pose;
    memcpy(pose_dot, nu, model->axis_count * sizeof *nu);
}

/* ---- names ---- */

static const struct model_axis axes[] = {
    {"velocity", "effort", "position", "velocity", "effort"}};

/* clang-format off */
#define BASE \
    {"inertia", "J",  "effort/acceleration", MODEL_POSITIVE, \
     "inertia of motor and arm, or mass", "inertia"}, \
    {"viscous", "Fv", "effort/velocity",   MODEL_NOT_NEGATIVE, \
     "viscous friction, back-EMF included", "viscous friction"}, \
    {"coulomb", "Fc", "effort",         MODEL_NOT_NEGATIVE, \
     "dry friction", "dry friction"}, \
    {"offset",  "o",  "effort",         MODEL_ANY, \
     "constant effort: imbalance, amplifier offset", "constant effort"}
#define LOAD \
    {"load",    "G",  "effort",         MODEL_ANY, \
     "m g l of a pendulum, q = 0 hanging down", "load"}
#define GEARED \
    {"load_friction_ratio", "mu", "1",  MODEL_NOT_NEGATIVE, \
     "dry friction for each unit of the effort's size", "friction by load"}
#define STRIBECK \
    {"stribeck", "Fs", "effort",        MODEL_NOT_NEGATIVE, \
     "dry friction at rest beyond that of motion", "Stribeck friction"}

/* A form is the sum of its optional terms. */
enum { PENDULUM = 1, GEAR = 2, FALLING = 4 };

static const struct model_parameter parameters[JOINT_FORMS][JOINT_LOAD + 3] = {
    {BASE}, {BASE, LOAD}, {BASE, GEARED}, {BASE, LOAD, GEARED},
    {BASE, STRIBECK}, {BASE, LOAD, STRIBECK}, {BASE, GEARED, STRIBECK}, {BASE, LOAD, GEARED, STRIBECK},
};
/* clang-format on */

static const struct model_derived derived[] = {
    {"time_constant_s", "tau", "s", "inertia by viscous friction", JOINT_INERTIA,
     JOINT_VISCOUS},
};

/* ---- one model for each form and width of the turn-over of dry friction, rad/s or m/s ---- */

#define BIT(form, bit)         (((form) & (bit)) / (bit))
#define EXTENDED(form, bit, w) (BIT(form, bit) ? NULL : &joint_models[(form) | (bit)][w])

#define JOINT_MODEL(title, form, w, s)                                                         \
    {                                                                                          \
        .name = (title), .axes = axes, .axis_count = 1, .parameters = parameters[form],        \
        .parameter_count =                                                                     \
            JOINT_LOAD + BIT(form, PENDULUM) + BIT(form, GEAR) + BIT(form, FALLING),           \
        .derived = derived, .derived_count = COUNT(derived),                                   \
        .needs_pose = BIT(form, PENDULUM), .sticks = true, .window_s = 0.1, .width = (s),      \
        .by_effort = BIT(form, GEAR) * (JOINT_LOAD + BIT(form, PENDULUM)),                     \
        .extended = {EXTENDED(form, GEAR, w), EXTENDED(form, FALLING, w),                      \
                     EXTENDED(form, PENDULUM, w)},                                             \
        .rows = fill_joint_rows, .mobility = invert_joint_inertia,                             \
        .forward = accelerate_joint, .inverse = invert_joint,                                  \
        .bias_force = compute_joint_bias, .slope = fill_joint_slope,                           \
        .simulate = simulate_joint, .kinematics = model_move_joints,                           \
    }

#define JOINT_MODELS(title, form)                                                              \
    {                                                                                          \
        JOINT_MODEL(title, form, 0, 0.001), JOINT_MODEL(title, form, 1, 0.003),                \
            JOINT_MODEL(title, form, 2, 0.01), JOINT_MODEL(title, form, 3, 0.03),              \
            JOINT_MODEL(title, form, 4, 0.1),                                                  \
    }

const struct model joint_models[JOINT_FORMS][JOINT_WIDTHS] = {
    JOINT_MODELS("joint", 0),
    JOINT_MODELS("joint_load", 1),
    JOINT_MODELS("joint_geared", 2),
    JOINT_MODELS("joint_load_geared", 3),
    JOINT_MODELS("joint_stribeck", 4),
    JOINT_MODELS("joint_load_stribeck", 5),
    JOINT_MODELS("joint_geared_stribeck", 6),
    JOINT_MODELS("joint_load_geared_stribeck", 7),
};

#define JOINT_VARIANTS(form)                                                                   \
    {                                                                                          \
        {&joint_models[form][0], 0.001}, {&joint_models[form][1], 0.003},                      \
            {&joint_models[form][2], 0.01}, {&joint_models[form][3], 0.03},                    \
            {&joint_models[form][4], 0.1},                                                     \
    }

static const struct model_variant variants[JOINT_FORMS][JOINT_WIDTHS] = {
    JOINT_VARIANTS(0), JOINT_VARIANTS(1), JOINT_VARIANTS(2), JOINT_VARIANTS(3),
    JOINT_VARIANTS(4), JOINT_VARIANTS(5), JOINT_VARIANTS(6), JOINT_VARIANTS(7)};

static const char help[] =
    "  one driven joint (a motor, a slide, a vertical axis): inertia, viscous and dry "
    "friction,\n"
    "  constant effort, from effort and motion over time. The effort may be a torque, a "
    "force,\n"
    "  a current or a voltage: parameters come in its unit (N m s^2/rad, A s^2/rad, kg ...).\n"
    "  methods: auto (default) simulates as usv3 does; if the joint sticks, weak, which\n"
    "           neither sticking friction nor a controller biases; others as usv3\n"
    "  roles:   t effort velocity; columns t_s effort velocity are found by themselves. "
    "Without\n"
    "           a velocity it is derived from the role position. How fast dry friction turns\n"
    "           over (0.001 .. 0.1 rad/s or m/s) is found as well.\n"
    "  A role may be a product: effort=35.15*u_v, effort=duty*supply_v\n"
    "  example: tandem identify --model joint --columns effort=35.15*u_v,position=q_m "
    "axis.csv\n";

static const char load_help[] =
    "  the same with the load of a pendulum, m g l sin(position), position 0 hanging down; "
    "needs\n"
    "  the position.\n"
    "  roles:   t effort position; and velocity where it was recorded\n"
    "  example: tandem identify --model joint_load --columns \\\n"
    "           effort=duty*vin_v,position=q_rad arm1.csv arm2.csv\n";

static const char geared_help[] =
    "  the same with dry friction that grows with the size of the effort, as that of gears "
    "does\n";

static const char stribeck_help[] =
    "  the same with dry friction that is greater near rest than in motion, by "
    "exp(-(w/10 s)^2)\n";

static const char both_help[] = "  the same with both\n";

static const char *const roles[] = {"t", "effort", "velocity", "position", NULL};

/* The unit is unknown, so that no speed is too high. The trial is an arm of 0.1 kg m^2 on a
 * motor of a few N m. */
#define JOINT_ROW(title, line, text, form, ...)                                                \
    {                                                                                          \
        .name = (title), .words = (line), .help = (text), .roles = roles,                      \
        .model = &joint_models[form][2], .variants = variants[form],                           \
        .variant_count = JOINT_WIDTHS,                                                         \
        .trial = {.theta = {0.1, 0.25, 0.3, 0.05, __VA_ARGS__},                                \
                  .delay_s = 0.008,                                                            \
                  .dt_s = 0.01,                                                                \
                  .samples = 2000,                                                             \
                  .noise_sd = {0.003},                                                         \
                  .effort_min = {-3.0},                                                        \
                  .effort_max = {3.0},                                                         \
                  .hold_s_min = 0.3,                                                           \
                  .hold_s_max = 1.5,                                                           \
                  .loss_ratio = 0.005},                                                        \
    }

const struct model_row joint_row = JOINT_ROW("joint", "joint: inertia, friction", help, 0, 0.0);
const struct model_row joint_load_row = JOINT_ROW(
    "joint_load", "joint: inertia, friction and the load of a pendulum", load_help, 1, 1.2);
const struct model_row joint_geared_row = JOINT_ROW(
    "joint_geared", "joint: inertia, friction that grows with the effort", geared_help, 2, 0.2);
const struct model_row joint_load_geared_row =
    JOINT_ROW("joint_load_geared", "pendulum: friction that grows with the effort", geared_help,
              3, 1.2, 0.2);
const struct model_row joint_stribeck_row =
    JOINT_ROW("joint_stribeck", "joint: inertia, friction that falls with the velocity",
              stribeck_help, 4, 0.3);
const struct model_row joint_load_stribeck_row =
    JOINT_ROW("joint_load_stribeck", "pendulum: friction that falls with the velocity",
              stribeck_help, 5, 1.2, 0.3);
const struct model_row joint_geared_stribeck_row =
    JOINT_ROW("joint_geared_stribeck", "joint: friction of both kinds", both_help, 6, 0.2, 0.3);
const struct model_row joint_load_geared_stribeck_row =
    JOINT_ROW("joint_load_geared_stribeck", "pendulum: friction of both kinds", both_help, 7,
              1.2, 0.2, 0.3);
