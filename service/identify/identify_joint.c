/* tandem identify --model joint, joint_load - inertia and friction of one driven joint. */
#include "service/identify/identify_dynamics.h"
#include "twin/models/joint.h"

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

static const char *const efforts[] = {"effort"};
static const char *const velocities[] = {"velocity"};
static const char *const poses[] = {"position"};

/* Of any unit, so that no speed is too high. */
static const struct identify_kind kind = {.model = &joint_model,
                                          .variants = joint_variants,
                                          .variant_count = JOINT_VARIANTS,
                                          .effort_roles = efforts,
                                          .velocity_roles = velocities,
                                          .pose_roles = poses};

static const struct identify_kind load_kind = {.model = &joint_load_model,
                                               .variants = joint_load_variants,
                                               .variant_count = JOINT_VARIANTS,
                                               .effort_roles = efforts,
                                               .velocity_roles = velocities,
                                               .pose_roles = poses};

const struct identify_model identify_joint = {
    .name = "joint", .run = identify_dynamics, .kind = &kind, .roles = roles, .help = help};

const struct identify_model identify_joint_load = {.name = "joint_load",
                                                   .run = identify_dynamics,
                                                   .kind = &load_kind,
                                                   .roles = roles,
                                                   .help = load_help};
