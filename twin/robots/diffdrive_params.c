#include "twin/robots/diffdrive_params.h"

static const char *const controllers[] = {"onoff", "proportional", "inverse_map", "pd", "pid"};
static const char *const carries[] = {"nothing", "angle", "pose"};
static const char *const switches[] = {"off", "on"};

_Static_assert(COUNT(controllers) == DIFFDRIVE_CONTROLLER_COUNT, "a word for each controller");
_Static_assert(COUNT(carries) == DIFFDRIVE_CARRY_COUNT, "a word for each carry");

const struct robot_parameter diffdrive_parameters[DIFFDRIVE_PARAMETER_COUNT] = {
#define PARAMETER(name, ...) {#name, __VA_ARGS__},
#include "twin/robots/diffdrive_params.def"
#undef PARAMETER
};
