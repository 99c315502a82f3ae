/* identification/model/diffdrive.c - differential drive that follows velocity commands.
 *
 *     t1 u' - t3 w^2 + t4 u + t7 (sgn s_R + sgn s_L)/2 = u_cmd
 *     t2 w' + t5 u w + t6 w + t8 (sgn s_R - sgn s_L)/2 = w_cmd
 *                                       (docs/model/velocity_dynamics.md, eq. 1 and 7)
 *
 * u is the forward and w the counter-clockwise velocity of the middle of the axle. s = u +- h w
 * are the speeds of the wheels' ground contacts, and h is the model's width. Only
 * diffdrive_friction has t7 and t8. The pose is (x, y, theta) in the world. Pure: no I/O, no
 * clock, no state.
 */
#include <math.h>
#include <string.h>

#include "identification/model/models.h"

enum { DIFFDRIVE_AXES = 2, CONTACTS = 2 };

enum {
    T1,
    T2,
    T3,
    T4,
    T5,
    T6,
    T7,
    T8,
    DIFFDRIVE_PARAMETERS = T7,
    FRICTION_PARAMETERS = T8 + 1
};

/* A contact that friction holds comes to rest faster than the slower axis does, by this
 * ratio (eq. 8). The ratio is large enough to hold the robot and small enough for an
 * integration. */
static const double HOLD_RATIO = 30.0;
/* Below these speeds the direction of a motion fades out. Otherwise an inverse or a
 * regression would read the sign of friction from noise at rest. */
static const double REST_MPS = 0.002;
static const double REST_RADPS = 0.02;

enum { SWEEPS = 30 };
static const double SWEPT = 1e-7;

/* ---- dry friction ---- */

/* A place where friction acts. It moves with the speed `moves` times (u, w), and axis a
 * feels `generalised_forces[a]` of its friction. Below the speed `rest` its direction fades
 * out. */
struct contact {
    double moves[DIFFDRIVE_AXES], generalised_forces[DIFFDRIVE_AXES], rest;
};

/* With a width: two wheels, half a track from the middle. With width 0: driving and turning
 * rub independently, as castors or brushes do. */
static void find_contacts(const struct model *model, struct contact contacts[CONTACTS])
{
    const double h = model->width;
    if (h > 0.0) {
        contacts[0] = (struct contact){{1.0, h}, {0.5, 0.5}, REST_MPS};
        contacts[1] = (struct contact){{1.0, -h}, {0.5, -0.5}, REST_MPS};
    } else {
        contacts[0] = (struct contact){{1.0, 0.0}, {1.0, 0.0}, REST_MPS};
        contacts[1] = (struct contact){{0.0, 1.0}, {0.0, 1.0}, REST_RADPS};
    }
}

static double slide_speed(const struct contact *contact, const double *nu)
{
    return contact->moves[0] * nu[0] + contact->moves[1] * nu[1];
}

static bool has_friction(const struct model *model)
{
    return model->parameter_count > DIFFDRIVE_PARAMETERS;
}

/* Computes the factors of t7 (driving) and t8 (turning) from the share of friction at each
 * contact. */
static void sum_rubs(const struct contact contacts[CONTACTS], const double share[CONTACTS],
                     double rubs[DIFFDRIVE_AXES])
{
    for (size_t a = 0; a < DIFFDRIVE_AXES; a++) {
        rubs[a] = contacts[0].generalised_forces[a] * share[0] +
                  contacts[1].generalised_forces[a] * share[1];
    }
}

/* Holds for a robot in motion. At rest the friction depends on the efforts and is not known
 * here. */
static void find_rubs(const struct model *model, const double *nu, double rubs[DIFFDRIVE_AXES])
{
    struct contact contacts[CONTACTS];
    double share[CONTACTS];
    find_contacts(model, contacts);
    for (size_t c = 0; c < CONTACTS; c++) {
        const double speed = slide_speed(&contacts[c], nu) / contacts[c].rest;
        share[c] = fmin(fmax(speed, -1.0), 1.0);
    }
    sum_rubs(contacts, share, rubs);
}

/* Coulomb's law at two contacts: each either holds, or slides with all of its friction. */
struct grip {
    struct contact contacts[CONTACTS];
    double back[CONTACTS][DIFFDRIVE_AXES]; /* largest rates that the friction of each contact
                                              takes away */
    double by[CONTACTS][CONTACTS];         /* rate of one contact by another's friction */
    double hold_rate;                      /* 1/s */
    double share[CONTACTS];                /* share of the friction that acts, -1 .. 1 */
    bool holds[CONTACTS];
};

/* Returns whether both contacts slide: each keeps its direction even against all of its
 * friction. ahead: rates of the contacts without friction, plus hold_rate times their
 * speeds. */
static bool slides_on(struct grip *g, const double ahead[CONTACTS])
{
    bool on = true;
    for (size_t c = 0; c < CONTACTS; c++) {
        g->share[c] = ahead[c] > 0.0 ? 1.0 : -1.0;
    }
    for (size_t c = 0; c < CONTACTS; c++) {
        const double left = ahead[c] - g->by[c][0] * g->share[0] - g->by[c][1] * g->share[1];
        on = on && left * g->share[c] >= 0.0;
    }
    return on;
}

/* Returns whether both contacts hold, which takes less than their full friction. */
static bool holds_both(struct grip *g, const double ahead[CONTACTS])
{
    const double det = g->by[0][0] * g->by[1][1] - g->by[0][1] * g->by[1][0];
    for (size_t c = 0; c < CONTACTS; c++) {
        const size_t d = 1 - c;
        g->share[c] = (g->by[d][d] * ahead[c] - g->by[c][d] * ahead[d]) / det;
        g->holds[c] = fabs(g->share[c]) < 1.0; /* false for NaN */
    }
    return det > 0.0 && g->holds[0] && g->holds[1];
}

/* Computes the share of friction at each contact. A holding contact gets the rate -hold_rate
 * times its speed, a sliding one all of its friction. This is a linear complementarity
 * problem with two unknowns. The cases "both hold" and "both slide" are tried first.
 * Projected Gauss-Seidel sweeps solve the case of one sliding contact; friction is monotone,
 * so that they converge. free: rates without friction. */
static void solve_contacts(struct grip *g, const double *nu, const double *free)
{
    double ahead[CONTACTS];
    double change = 1.0;
    for (size_t c = 0; c < CONTACTS; c++) {
        ahead[c] = slide_speed(&g->contacts[c], free) +
                   g->hold_rate * slide_speed(&g->contacts[c], nu);
    }
    if (holds_both(g, ahead)) {
        return;
    }
    g->holds[0] = g->holds[1] = false;
    if (slides_on(g, ahead)) {
        return;
    }
    for (int k = 0; k < SWEEPS && change > SWEPT; k++) {
        change = 0.0;
        for (size_t c = 0; c < CONTACTS; c++) {
            const double left = ahead[c] - g->by[c][1 - c] * g->share[1 - c];
            const bool rubs = g->by[c][c] > 0.0;
            const double wanted = rubs ? left / g->by[c][c] : g->share[c];
            const double share = fmin(fmax(wanted, -1.0), 1.0);
            g->holds[c] = rubs && fabs(wanted) < 1.0;
            change = fmax(change, fabs(share - g->share[c]));
            g->share[c] = share;
        }
    }
}

static void find_grip(const struct model *model, const double *theta, const double *nu,
                      const double *free, struct grip *g)
{
    *g = (struct grip){.hold_rate =
                           HOLD_RATIO * fmin(theta[T4] / theta[T1], theta[T6] / theta[T2])};
    find_contacts(model, g->contacts);
    for (size_t c = 0; c < CONTACTS; c++) {
        for (size_t a = 0; a < DIFFDRIVE_AXES; a++) {
            g->back[c][a] = theta[T7 + a] * g->contacts[c].generalised_forces[a] / theta[a];
        }
    }
    for (size_t c = 0; c < CONTACTS; c++) {
        for (size_t d = 0; d < CONTACTS; d++) {
            g->by[c][d] = slide_speed(&g->contacts[c], g->back[d]);
        }
    }
    solve_contacts(g, nu, free);
}

/* Converts a change of rate [2] without friction into the change with friction: holding
 * contacts remove the part that would move them. */
static void pass_rate(const struct grip *g, double *rate)
{
    const bool both = g->holds[0] && g->holds[1];
    const double det = g->by[0][0] * g->by[1][1] - g->by[0][1] * g->by[1][0];
    const double speed[CONTACTS] = {slide_speed(&g->contacts[0], rate),
                                    slide_speed(&g->contacts[1], rate)};
    for (size_t c = 0; c < CONTACTS; c++) {
        const size_t d = 1 - c;
        const double slowed = !g->holds[c] ? 0.0
                              : both ? (g->by[d][d] * speed[c] - g->by[c][d] * speed[d]) / det
                                     : speed[c] / g->by[c][c];
        rate[0] -= g->back[c][0] * slowed;
        rate[1] -= g->back[c][1] * slowed;
    }
}

/* ---- the equations ---- */

/* The equations are linear in t1 .. t8, so that this row serves regression and
 * sensitivities. Friction depends on the sign of the contact speeds only. */
static void fill_diffdrive_rows(const struct model *model, const double *pose, const double *nu,
                                const double *nu_dot, double *phi)
{
    (void)pose;
    const double u = nu[0];
    const double w = nu[1];
    double *ahead = phi;
    double *turn = phi + model->parameter_count;

    memset(phi, 0, sizeof(double) * DIFFDRIVE_AXES * model->parameter_count);
    ahead[T1] = nu_dot[0];
    ahead[T3] = -w * w;
    ahead[T4] = u;
    turn[T2] = nu_dot[1];
    turn[T5] = u * w;
    turn[T6] = w;
    if (has_friction(model)) {
        double rubs[DIFFDRIVE_AXES];
        find_rubs(model, nu, rubs);
        ahead[T7] = rubs[0];
        turn[T8] = rubs[1];
    }
}

static void compute_free_bias(const double *theta, const double *nu, double *tau)
{
    const double *t = theta;
    const double u = nu[0];
    const double w = nu[1];
    tau[0] = t[T4] * u - t[T3] * w * w;
    tau[1] = (t[T5] * u + t[T6]) * w;
}

/* Left-hand side at nu_dot = 0. */
static void compute_diffdrive_bias(const struct model *model, const double *theta,
                                   const double *pose, const double *nu, double *tau)
{
    (void)pose;
    compute_free_bias(theta, nu, tau);
    if (has_friction(model)) {
        double rubs[DIFFDRIVE_AXES];
        find_rubs(model, nu, rubs);
        tau[0] += theta[T7] * rubs[0];
        tau[1] += theta[T8] * rubs[1];
    }
}

static void accelerate_freely(const double *theta, const double *nu, const double *tau,
                              double *rate)
{
    double resisted[DIFFDRIVE_AXES];
    compute_free_bias(theta, nu, resisted);
    for (size_t a = 0; a < DIFFDRIVE_AXES; a++) {
        rate[a] = ((tau ? tau[a] : 0.0) - resisted[a]) / theta[a];
    }
}

/* Holding contacts decay at hold_rate. Without efforts the slope only limits the step length
 * of an integration. It is then that of a robot at rest, with half the rate, where steps
 * twice as long are still stable. */
static void add_grip_slope(const struct model *model, const double *theta, const double *nu,
                           const double *tau, double *jacobian)
{
    const double rest[DIFFDRIVE_AXES] = {0.0};
    struct grip g;
    double free[DIFFDRIVE_AXES];
    accelerate_freely(theta, tau ? nu : rest, tau, free);
    find_grip(model, theta, tau ? nu : rest, free, &g);
    for (size_t j = 0; j < DIFFDRIVE_AXES; j++) {
        double held[DIFFDRIVE_AXES] = {0.0};
        double rate[DIFFDRIVE_AXES] = {jacobian[j], jacobian[DIFFDRIVE_AXES + j]};
        held[j] = tau ? g.hold_rate : 0.5 * g.hold_rate;
        rate[0] += held[0];
        rate[1] += held[1];
        pass_rate(&g, rate);
        jacobian[j] = rate[0] - held[0];
        jacobian[DIFFDRIVE_AXES + j] = rate[1] - held[1];
    }
}

static void fill_diffdrive_slope(const struct model *model, const double *theta,
                                 const double *pose, const double *nu, const double *tau,
                                 double *jacobian)
{
    (void)pose;
    const double *t = theta;
    const double u = nu[0];
    const double w = nu[1];
    jacobian[0] = -t[T4] / t[T1];
    jacobian[1] = 2.0 * t[T3] * w / t[T1];
    jacobian[2] = -t[T5] * w / t[T2];
    jacobian[3] = -(t[T5] * u + t[T6]) / t[T2];
    if (has_friction(model)) {
        add_grip_slope(model, theta, nu, tau, jacobian);
    }
}

static void accelerate_diffdrive(const struct model *model, const double *theta,
                                 const double *pose, const double *nu, const double *tau,
                                 double *nu_dot)
{
    struct grip g;
    double free[DIFFDRIVE_AXES];
    (void)pose;
    accelerate_freely(theta, nu, tau, free);
    if (has_friction(model)) {
        find_grip(model, theta, nu, free, &g);
        for (size_t c = 0; c < CONTACTS; c++) {
            free[0] -= g.back[c][0] * g.share[c];
            free[1] -= g.back[c][1] * g.share[c];
        }
    }
    memcpy(nu_dot, free, sizeof free);
}

/* Friction at rest depends on the efforts: a holding contact balances them. The regressor
 * entries of t7 and t8 are the shares that act, and rates along a held direction do not
 * pass. */
static void hold_diffdrive(const struct model *model, const double *theta, const double *nu,
                           const double *tau, double *phi, double *passes)
{
    struct grip g;
    double free[DIFFDRIVE_AXES];
    double rubs[DIFFDRIVE_AXES];
    accelerate_freely(theta, nu, tau, free);
    find_grip(model, theta, nu, free, &g);
    sum_rubs(g.contacts, g.share, rubs);
    phi[T7] = rubs[0];
    phi[model->parameter_count + T8] = rubs[1];
    for (size_t a = 0; a < DIFFDRIVE_AXES; a++) {
        double rate[DIFFDRIVE_AXES] = {0.0};
        rate[a] = 1.0;
        pass_rate(&g, rate);
        passes[a] = rate[0];
        passes[DIFFDRIVE_AXES + a] = rate[1];
    }
}

/* The axle does not slip sideways. */
static void turn_diffdrive_pose(const struct model *model, const double *pose, const double *nu,
                                double *pose_dot)
{
    (void)model;
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
static const struct model_parameter parameters[FRICTION_PARAMETERS] = {
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
    {"forward_friction_mps", "t7", "m/s",       MODEL_NOT_NEGATIVE,
     "driving command that dry friction consumes: below it the robot stays at rest", "dry friction of driving"},
    {"turn_friction_radps", "t8", "rad/s",      MODEL_NOT_NEGATIVE,
     "command to turn on the spot that dry friction consumes", "dry friction of turning"},
};

static const struct model_derived derived[] = {
    {"forward_gain_ratio", "K_u",   "1", "speed reached for each m/s commanded, 1/t4", MODEL_ONE, T4},
    {"forward_time_s",     "tau_u", "s", "time constant of the forward speed, t1/t4",  T1, T4},
    {"turn_gain_ratio",    "K_w",   "1", "turning speed for each rad/s commanded, 1/t6", MODEL_ONE, T6},
    {"turn_time_s",        "tau_w", "s", "time constant of the turning speed on the spot, t2/t6", T2, T6},
};
/* clang-format on */

static const struct model_channel channels[DIFFDRIVE_AXES] = {{T1, T4, MODEL_ONE},
                                                              {T2, T6, MODEL_ONE}};

#define DIFFDRIVE_MODEL(title, count, half_track_m, more)                                      \
    {                                                                                          \
        .name = (title), .axes = axes, .axis_count = DIFFDRIVE_AXES, .heading = "theta_rad",   \
        .planar = planar, .parameters = parameters, .parameter_count = (count),                \
        .derived = derived, .derived_count = COUNT(derived), .width = (half_track_m),          \
        .channels = channels, .extended = {more},                                              \
        .hold = (count) > DIFFDRIVE_PARAMETERS ? hold_diffdrive : NULL,                        \
        .rows = fill_diffdrive_rows, .forward = accelerate_diffdrive,                          \
        .inverse = model_inverse, .bias_force = compute_diffdrive_bias,                        \
        .slope = fill_diffdrive_slope, .kinematics = turn_diffdrive_pose,                      \
    }
#define RUBBING(half_track_m)                                                                  \
    DIFFDRIVE_MODEL("diffdrive_friction", FRICTION_PARAMETERS, half_track_m, NULL)

static const struct model friction_models[] = {
    RUBBING(0.1),   RUBBING(0.0),   RUBBING(0.03), RUBBING(0.04), RUBBING(0.055),
    RUBBING(0.075), RUBBING(0.135), RUBBING(0.18), RUBBING(0.25), RUBBING(0.33),
    RUBBING(0.45),  RUBBING(0.6),   RUBBING(0.8),  RUBBING(1.1),
};

const struct model diffdrive_model =
    DIFFDRIVE_MODEL("diffdrive", DIFFDRIVE_PARAMETERS, 0.0, &friction_models[0]);

/* The half track of a small laboratory robot comes first. It remains the choice if the
 * recording does not determine the width, as when a robot only drives straight or turns on
 * the spot. */
#define RUBBED(i)                                                                              \
    {                                                                                          \
        &friction_models[i], 0.0                                                               \
    }
static const struct model_variant variants[COUNT(friction_models)] = {
    RUBBED(0), RUBBED(1), RUBBED(2), RUBBED(3),  RUBBED(4),  RUBBED(5),  RUBBED(6),
    RUBBED(7), RUBBED(8), RUBBED(9), RUBBED(10), RUBBED(11), RUBBED(12), RUBBED(13),
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
    "           themselves. Telemetry of a journal may give both in the plane: nu = [u, 0, "
    "w],\n"
    "           tau = [u_cmd, 0, w_cmd]\n"
    "  example: tandem identify --model diffdrive --validate lap2.csv lap1.csv\n";

static const char friction_help[] =
    "  the same with dry friction of its two wheels: the command that driving and turning\n"
    "  consume, below which the robot stays at rest. The distance of the wheels is found too "
    "if\n"
    "  the recording has curves\n";

static const char *const roles[] = {"t", "u_cmd", "w_cmd", "u", "w", NULL};

/* A robot reaches roughly its commanded speed, within a factor of two or so. Robots slower
 * than a forklift are not covered. */
static const struct plausible_range plausible[] = {
    {"forward_gain_ratio", 0.2, 5.0, PLAUSIBLE_LENGTH, PLAUSIBLE_LENGTH, 0.0},
    {"turn_gain_ratio", 0.2, 5.0, PLAUSIBLE_ANGLE, PLAUSIBLE_ANGLE, 0.0},
    {"forward_time_s", 1e-3, 30.0, PLAUSIBLE_TIME, PLAUSIBLE_TIME, 0.0},
    {"turn_time_s", 1e-3, 30.0, PLAUSIBLE_TIME, PLAUSIBLE_TIME, 0.0},
    {NULL, 0.0, 0.0, 0, 0, 0.0},
};

/* Limits above any two-wheeled robot: 20 m/s and five turns per second. */
#define LIMITS                                                                                 \
    {                                                                                          \
        .nu_max = {20.0, 31.5}, .motion_s_min = 0.005, .motion_s_max = 100.0,                  \
        .plausible = plausible,                                                                \
    }

#define TRIAL(...)                                                                             \
    {                                                                                          \
        .theta = {0.25, 0.18, 0.03, 1.05, 0.15, 1.08, __VA_ARGS__}, .delay_s = 0.08,           \
        .dt_s = 0.05, .samples = 1500, .noise_sd = {0.005, 0.01}, .effort_min = {-0.2, -2.0},  \
        .effort_max = {0.8, 2.0}, .hold_s_min = 0.5, .hold_s_max = 3.0, .loss_ratio = 0.01,    \
    }

const struct model_row diffdrive_row = {
    .name = "diffdrive",
    .words = "differential drive that follows velocity commands",
    .help = help,
    .roles = roles,
    .model = &diffdrive_model,
    .limits = LIMITS,
    .trial = TRIAL(0.0, 0.0),
};

const struct model_row diffdrive_friction_row = {
    .name = "diffdrive_friction",
    .words = "differential drive with dry friction of its wheels",
    .help = friction_help,
    .roles = roles,
    .model = &friction_models[0],
    .variants = variants,
    .variant_count = COUNT(variants),
    .limits = LIMITS,
    .trial = TRIAL(0.04, 0.35),
};
