/* twin/sim/robot/robot_kinds.h - the list of robot kinds, each defined in its own file. A new
 * kind is a row in robot_kinds.def.
 */
#ifndef TWIN_SIM_ROBOT_ROBOT_KINDS_H
#define TWIN_SIM_ROBOT_ROBOT_KINDS_H

#include "twin/sim/robot/robot.h"

#define ROBOT_KIND(symbol) extern const struct robot_kind symbol;
#include "twin/sim/robot/robot_kinds.def"
#undef ROBOT_KIND

#endif
