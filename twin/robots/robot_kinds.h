/* twin/robots/robot_kinds.h - the kinds there are, each defined in its own file. A new kind: a
 * line here and a row in robot_kinds.c. */
#ifndef TWIN_ROBOTS_ROBOT_KINDS_H
#define TWIN_ROBOTS_ROBOT_KINDS_H

#include "twin/robots/robot.h"

extern const struct robot_kind kinematic_kind; /* kinematic.c */
extern const struct robot_kind diffdrive_kind; /* diffdrive.c */
extern const struct robot_kind usv3_kind;      /* vessel.c */

#endif
