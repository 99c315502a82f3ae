#include "identification/model/usv3.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { D1, D2, D3, D4, D5, D6, D7, D8, D9 };

/* First entry of each axis' row in Phi. */
enum { SURGE = 0, SWAY = USV3_PARAMETERS, YAW = 2 * USV3_PARAMETERS };

/* Writes the entries that are not always zero, with a distance of `stride`. */
static inline void fill_rows(const double nu[USV3_AXES], const double nu_dot[USV3_AXES],
                             double *phi, size_t stride)
{
    const double u = nu[0];
    const double v = nu[1];
    const double r = nu[2];
    phi[(SURGE + D1) * stride] = nu_dot[0];
    phi[(SURGE + D2) * stride] = -v * r;
    phi[(SURGE + D4) * stride] = u;
    phi[(SURGE + D5) * stride] = fabs(u) * u;
    phi[(SWAY + D1) * stride] = u * r;
    phi[(SWAY + D2) * stride] = nu_dot[1];
    phi[(SWAY + D6) * stride] = v;
    phi[(SWAY + D7) * stride] = fabs(v) * v;
    phi[(YAW + D1) * stride] = -u * v;
    phi[(YAW + D2) * stride] = u * v;
    phi[(YAW + D3) * stride] = nu_dot[2];
    phi[(YAW + D8) * stride] = r;
    phi[(YAW + D9) * stride] = fabs(r) * r;
}

static void fill_usv3_rows(const struct model *model, const double *pose, const double *nu,
                           const double *nu_dot, double *phi)
{
    (void)model;
    (void)pose;
    /* memset() would take longer than the rest of the function, and delays later reads. */
    phi[SURGE + D3] = phi[SURGE + D6] = phi[SURGE + D7] = phi[SURGE + D8] = phi[SURGE + D9] =
        0.0;
    phi[SWAY + D3] = phi[SWAY + D4] = phi[SWAY + D5] = phi[SWAY + D8] = phi[SWAY + D9] = 0.0;
    phi[YAW + D4] = phi[YAW + D5] = phi[YAW + D6] = phi[YAW + D7] = 0.0;
    fill_rows(nu, nu_dot, phi, 1);
}

static void fill_usv3_block(const struct model *model,
                            const double (*restrict nu)[MODEL_STRIDE],
                            const double (*restrict nu_dot)[MODEL_STRIDE],
                            double (*restrict phi)[MODEL_STRIDE])
{
    (void)model;
    for (size_t k = 0; k < MODEL_BLOCK; k++) {
        const double velocity[USV3_AXES] = {nu[0][k], nu[1][k], nu[2][k]};
        const double rate[USV3_AXES] = {nu_dot[0][k], nu_dot[1][k], nu_dot[2][k]};
        fill_rows(velocity, rate, &phi[0][k], MODEL_STRIDE);
    }
}

/* Coriolis, centripetal and damping terms: the left-hand side at nu_dot = 0. */
static void compute_usv3_bias(const struct model *model, const double *theta,
                              const double *pose, const double *nu, double *tau)
{
    (void)model;
    (void)pose;
    const double *d = theta;
    const double u = nu[0];
    const double v = nu[1];
    const double r = nu[2];
    tau[0] = -d[D2] * v * r + (d[D4] + d[D5] * fabs(u)) * u;
    tau[1] = d[D1] * u * r + (d[D6] + d[D7] * fabs(v)) * v;
    tau[2] = (d[D2] - d[D1]) * u * v + (d[D8] + d[D9] * fabs(r)) * r;
}

static void fill_usv3_slope(const struct model *model, const double *theta, const double *pose,
                            const double *nu, const double *tau, double *jacobian)
{
    (void)tau;
    (void)model;
    (void)pose;
    const double *d = theta;
    const double u = nu[0];
    const double v = nu[1];
    const double r = nu[2];
    jacobian[0] = -(d[D4] + 2.0 * d[D5] * fabs(u)) / d[D1];
    jacobian[1] = d[D2] * r / d[D1];
    jacobian[2] = d[D2] * v / d[D1];
    jacobian[3] = -d[D1] * r / d[D2];
    jacobian[4] = -(d[D6] + 2.0 * d[D7] * fabs(v)) / d[D2];
    jacobian[5] = -d[D1] * u / d[D2];
    jacobian[6] = -(d[D2] - d[D1]) * v / d[D3];
    jacobian[7] = -(d[D2] - d[D1]) * u / d[D3];
    jacobian[8] = -(d[D8] + 2.0 * d[D9] * fabs(r)) / d[D3];
}

static void turn_usv3_pose(const struct model *model, const double *pose, const double *nu,
                           double *pose_dot)
{
    (void)model;
    const double c = cos(pose[2]);
    const double s = sin(pose[2]);
    pose_dot[0] = nu[0] * c - nu[1] * s;
    pose_dot[1] = nu[0] * s + nu[1] * c;
    pose_dot[2] = nu[2];
}

static const struct model_axis axes[USV3_AXES] = {
    {"u_mps", "tau_u_n", "x_m", "surge speed", "surge force"},
    {"v_mps", "tau_v_n", "y_m", "sway speed", "sway force"},
    {"r_radps", "tau_r_nm", "psi_rad", "yaw rate", "yaw moment"},
};

/* clang-format off */
static const struct model_parameter parameters[USV3_PARAMETERS] = {
    {"surge_mass_kg",         "d1", "kg",       MODEL_POSITIVE,
     "mass and added mass in surge, m - X_udot", "surge mass"},
    {"sway_mass_kg",          "d2", "kg",       MODEL_POSITIVE,
     "mass and added mass in sway, m - Y_vdot", "sway mass"},
    {"yaw_inertia_kgm2",      "d3", "kg m^2",   MODEL_POSITIVE,
     "inertia and added inertia in yaw, I_z - N_rdot", "yaw inertia"},
    {"surge_linear_kgps",     "d4", "kg/s",     MODEL_NOT_NEGATIVE,
     "linear damping in surge, -X_u", "linear surge damping"},
    {"surge_quadratic_kgpm",  "d5", "kg/m",     MODEL_NOT_NEGATIVE,
     "quadratic damping in surge, -X_uu", "quadratic surge damping"},
    {"sway_linear_kgps",      "d6", "kg/s",     MODEL_NOT_NEGATIVE,
     "linear damping in sway, -Y_v", "linear sway damping"},
    {"sway_quadratic_kgpm",   "d7", "kg/m",     MODEL_NOT_NEGATIVE,
     "quadratic damping in sway, -Y_vv", "quadratic sway damping"},
    {"yaw_linear_kgm2ps",     "d8", "kg m^2/s", MODEL_NOT_NEGATIVE,
     "linear damping in yaw, -N_r", "linear yaw damping"},
    {"yaw_quadratic_kgm2",    "d9", "kg m^2",   MODEL_NOT_NEGATIVE,
     "quadratic damping in yaw, -N_rr", "quadratic yaw damping"},
};
/* clang-format on */

const struct model usv3_model = {
    .name = "usv3",
    .axes = axes,
    .axis_count = USV3_AXES,
    .parameters = parameters,
    .parameter_count = USV3_PARAMETERS,
    .rows = fill_usv3_rows,
    .rows_many = fill_usv3_block,
    .forward = model_forward,
    .inverse = model_inverse,
    .bias_force = compute_usv3_bias,
    .slope = fill_usv3_slope,
    .kinematics = turn_usv3_pose,
};

static const char help[] =
    "  a vessel in surge, sway and yaw: masses, inertia, linear and quadratic damping, from\n"
    "  efforts (N, N m) and body velocities (m/s, rad/s) over time; x forward, y to port, yaw\n"
    "  counter-clockwise. An effort is held from its row to the next.\n"
    "  methods: auto (default) uses output_error, which simulates the recording and finds the\n"
    "           delay from effort to velocity, or pem if unmeasured forces act;\n"
    "           weak_iv and weak are quicker (auto uses weak_iv for more than 50 000 rows);\n"
    "           ols_central and ols_sg are for comparison\n"
    "  roles:   t tau_u tau_v tau_r u v r; columns t_s tau_u_n tau_v_n tau_r_nm u_mps v_mps\n"
    "           r_radps are found by themselves. Rows with an empty field are skipped.\n"
    "  --validate may be given several times.\n"
    "  example: tandem identify --model usv3 --columns tau_u=Tu,tau_v=Tv,tau_r=Tr trial.csv\n";

static const char *const roles[] = {"t", "tau_u", "tau_v", "tau_r", "u", "v", "r", NULL};

/* Limits: 60 knots, and a turn on the spot within a second. The trial is the WAM-V with the
 * noise of the golden recordings. */

/* Published in seed 002, Tables 2 and 5. The position of a thruster along the hull has no
 * effect. */
const struct usv3_vessel usv3_vessels[] = {
    {.name = "wamv",
     .theta = {125.9712, 121.4476, 70.5019, 26.5692, 35.8778, 36.4337, 27.4138, 99.1686,
               10.6007},
     .theta_sd = {0.2490, 0.6193, 0.2594, 0.5287, 0.3399, 1.5777, 2.4369, 1.0419, 1.1849},
     .thruster_count = 2,
     .thrusters = {{-0.7, 0.7}, {-0.7, -0.7}},
     .thrust_n_min = -85.0,
     .thrust_n_max = 90.0},
    {.name = "iacquabot",
     .theta = {124.5923, 120.0275, 141.5164, 25.9335, 35.9833, 37.0247, 25.7968, 200.2944,
               18.5319},
     .theta_sd = {0.3299, 0.6765, 0.3132, 0.4575, 0.3655, 1.4451, 2.4172, 1.1138, 1.6111},
     .thruster_count = 4,
     .thrusters = {{0.5, 0.335}, {0.5, -0.335}, {-0.5, 0.335}, {-0.5, -0.335}},
     .thrust_n_min = -28.4,
     .thrust_n_max = 36.4},
};

const size_t usv3_vessel_count = COUNT(usv3_vessels);

const struct usv3_vessel *usv3_vessel_find(const char *name)
{
    for (size_t i = 0; i < usv3_vessel_count; i++) {
        if (strcmp(usv3_vessels[i].name, name) == 0) {
            return &usv3_vessels[i];
        }
    }
    return NULL;
}

void usv3_actuators(const struct usv3_vessel *vessel, struct allocation *out)
{
    *out = (struct allocation){.axes = USV3_AXES, .actuators = vessel->thruster_count};
    for (size_t k = 0; k < vessel->thruster_count; k++) {
        out->effect[0][k] = 1.0;
        out->effect[2][k] = -vessel->thrusters[k].y_m;
        out->lo[k] = vessel->thrust_n_min;
        out->hi[k] = vessel->thrust_n_max;
    }
    const enum status status = allocation_make(out);
    assert(status == STATUS_OK); /* the vessels of the table are valid */
    (void)status;
}

static bool find_usv3_robot(const char *name, double *theta, struct allocation *a)
{
    const struct usv3_vessel *vessel = usv3_vessel_find(name);
    if (vessel) {
        memcpy(theta, vessel->theta, sizeof vessel->theta);
        usv3_actuators(vessel, a);
    }
    return vessel != NULL;
}

/* Range from a toy of half a kilogram to a tanker of 500 000 t. */
static const struct plausible_range plausible[] = {
    {"surge_mass_kg", 0.5, 1e9, PLAUSIBLE_FORCE, 0, 0.0},
    {"sway_mass_kg", 0.5, 1e9, PLAUSIBLE_FORCE, 0, 0.0},
    {NULL, 0.0, 0.0, 0, 0, 0.0},
};

/* Length over the cube root of the displaced volume: 3 for a barge, 11 for a rowing shell
 * (Froude's circular M). The length is four radii of gyration. */
static const struct plausible_range form = {
    "length over the cube root of the volume", 1.8, 11.0, 0, PLAUSIBLE_FORCE, 3.0};

static double find_slenderness(const double *theta)
{
    const double length_m = 4.0 * sqrt(theta[2] / theta[0]);
    return length_m / cbrt(theta[0] / 1000.0);
}

const struct model_row usv3_row = {
    .name = "usv3",
    .words = "vessel: masses, inertia, damping",
    .help = help,
    .roles = roles,
    .model = &usv3_model,
    .robot = find_usv3_robot,
    .robots = "wamv or iacquabot",
    .limits = {.nu_max = {30.0, 30.0, 8.0},
               .motion_s_min = 0.2,
               .motion_s_max = 300.0,
               .plausible = plausible,
               .form = &form,
               .form_of = find_slenderness},
    .trial = {.theta = {125.9712, 121.4476, 70.5019, 26.5692, 35.8778, 36.4337, 27.4138,
                        99.1686, 10.6007},
              .delay_s = 0.06,
              .dt_s = 0.1,
              .samples = 1500,
              .noise_sd = {0.03, 0.0125, 0.009},
              .effort_min = {-100.0, 0.0, -90.0},
              .effort_max = {165.0, 0.0, 90.0},
              .hold_s_min = 2.0,
              .hold_s_max = 8.0,
              .loss_ratio = 0.02},
};

double usv3_thrust_n(const struct usv3_vessel *vessel, double command_ratio)
{
    const double c = isnan(command_ratio) ? 0.0 : fmin(fmax(command_ratio, -1.0), 1.0);
    return c >= 0.0 ? c * vessel->thrust_n_max : -c * vessel->thrust_n_min;
}
