/* twin/robots/robot_kinds.h - the kinds there are, each defined in its own file. A new kind is
 * a row in robot_kinds.def. */
#ifndef TWIN_ROBOTS_ROBOT_KINDS_H
#define TWIN_ROBOTS_ROBOT_KINDS_H

#include "twin/robots/robot.h"

#define ROBOT_KIND(symbol) extern const struct robot_kind symbol;
#include "twin/robots/robot_kinds.def"
#undef ROBOT_KIND

#endif
