/* tandem identify --model first_order, first_order_deadband - gain and time constant of one
 * channel. */
#include "service/identify/identify_dynamics.h"
#include "twin/models/first_order.h"

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
    "  above it, as motors are by friction: wants commands of two sizes, one after the other "
    "or\n"
    "  in several files\n";

static const char *const roles[] = {"t", "command", "velocity", NULL};

static const char *const efforts[] = {"command"};
static const char *const velocities[] = {"velocity"};

/* The unit is not known, so that no speed is too high; times have to be seconds. */
static const struct identify_kind kind = {.model = &first_order_model,
                                          .effort_roles = efforts,
                                          .velocity_roles = velocities,
                                          .limits = {.motion_s_max = 300.0}};
static const struct identify_kind deadband_kind = {.model = &first_order_deadband_model,
                                                   .effort_roles = efforts,
                                                   .velocity_roles = velocities,
                                                   .limits = {.motion_s_max = 300.0}};

const struct identify_model identify_first_order = {.name = "first_order",
                                                    .run = identify_dynamics,
                                                    .kind = &kind,
                                                    .roles = roles,
                                                    .help = help};
const struct identify_model identify_first_order_deadband = {.name = "first_order_deadband",
                                                             .run = identify_dynamics,
                                                             .kind = &deadband_kind,
                                                             .roles = roles,
                                                             .help = deadband_help};
