/* tandem identify --model first_order, first_order_deadband - gain and time constant of one
 * channel. */
#include "service/identify_dynamics.h"
#include "twin/models/first_order.h"

const char identify_first_order_help[] =
    "  one channel that follows its command with a lag: gain, time constant, delay, from "
    "command\n"
    "  and velocity over time, each in its own unit (the gain is velocity by command). A "
    "command\n"
    "  is held from its row to the next. Methods as usv3.\n"
    "  roles:   t command velocity; columns t_s command velocity are found by themselves\n"
    "  example: tandem identify --model first_order --columns \\\n"
    "           command=w_cmd_radps,velocity=w_radps lap1.csv\n";

const char identify_first_order_deadband_help[] =
    "  the same for a channel that stays at rest below some command and is slowed by as much\n"
    "  above it, as motors are by friction: wants commands of two sizes, one after the other "
    "or\n"
    "  in several files\n";

const char *const identify_first_order_roles[] = {"t", "command", "velocity", NULL};

static const char *const efforts[] = {"command"};
static const char *const velocities[] = {"velocity"};

/* The unit is not known, so that no speed is too high; times have to be seconds. */
static int identify(const struct model *model, const struct identify_request *request)
{
    const struct identify_kind kind = {.model = model,
                                       .effort_roles = efforts,
                                       .velocity_roles = velocities,
                                       .limits = {.motion_s_max = 300.0}};
    return identify_dynamics(&kind, request);
}

int identify_first_order(const struct identify_request *request)
{
    return identify(&first_order_model, request);
}

int identify_first_order_deadband(const struct identify_request *request)
{
    return identify(&first_order_deadband_model, request);
}
