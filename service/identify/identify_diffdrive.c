/* tandem identify --model diffdrive - how a differential drive follows velocity commands. */
#include "service/identify/identify_dynamics.h"
#include "twin/models/diffdrive.h"

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

static const char *const efforts[DIFFDRIVE_AXES] = {"u_cmd", "w_cmd"};
static const char *const velocities[DIFFDRIVE_AXES] = {"u", "w"};

/* Faster than any robot on two wheels, and five turns a second. */
static const struct identify_kind kind = {
    .model = &diffdrive_model,
    .effort_roles = efforts,
    .velocity_roles = velocities,
    .limits = {.nu_max = {20.0, 31.5}, .motion_s_min = 0.005, .motion_s_max = 100.0}};

const struct identify_model identify_diffdrive = {
    .name = "diffdrive", .run = identify_dynamics, .kind = &kind, .roles = roles, .help = help};
