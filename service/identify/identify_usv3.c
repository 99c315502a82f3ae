/* tandem identify --model usv3 - mass, added mass and damping of a surface vessel. */
#include "service/identify/identify_dynamics.h"
#include "twin/models/usv3.h"

static const char help[] =
    "  a vessel in surge, sway and yaw: masses, inertia, linear and quadratic damping, from\n"
    "  efforts (N, N m) and body velocities (m/s, rad/s) over time; x forward, y to port, yaw\n"
    "  counter-clockwise. An effort is held from its row to the next.\n"
    "  methods: auto (default) takes output_error, which simulates the recording and finds "
    "the\n"
    "           delay from effort to velocity, or pem where forces act that nobody measured;\n"
    "           weak_iv and weak are quicker (auto takes weak_iv for more than 50 000 rows);\n"
    "           ols_central and ols_sg to compare with\n"
    "  roles:   t tau_u tau_v tau_r u v r; columns t_s tau_u_n tau_v_n tau_r_nm u_mps v_mps\n"
    "           r_radps are found by themselves. Rows with an empty field are passed over.\n"
    "  --validate may be given several times.\n"
    "  example: tandem identify --model usv3 --columns tau_u=Tu,tau_v=Tv,tau_r=Tr trial.csv\n";

static const char *const roles[] = {"t", "tau_u", "tau_v", "tau_r", "u", "v", "r", NULL};

static const char *const efforts[USV3_AXES] = {"tau_u", "tau_v", "tau_r"};
static const char *const velocities[USV3_AXES] = {"u", "v", "r"};

/* 60 knots, and a turn on the spot in less than a second. */
static const struct identify_kind kind = {
    .model = &usv3_model,
    .effort_roles = efforts,
    .velocity_roles = velocities,
    .limits = {.nu_max = {30.0, 30.0, 8.0}, .motion_s_min = 0.2, .motion_s_max = 300.0}};

const struct identify_model identify_usv3 = {
    .name = "usv3", .run = identify_dynamics, .kind = &kind, .roles = roles, .help = help};
