/* twin/team/step/team_legs.h - the moves that bring a robot to a position: turn, then way; and where
 * the position has a heading, a turn there. Pure. */
#ifndef TWIN_TEAM_STEP_TEAM_LEGS_H
#define TWIN_TEAM_STEP_TEAM_LEGS_H

#include "twin/team/step/team_params.h"

enum { TEAM_LEGS_MAX = 2 };

/* Where a robot stands; NAN: not known. */
struct team_pose {
    double x_m, y_m, heading_rad;
};

/* One command: counter-clockwise, then forward. */
struct team_leg {
    double rotation_rad, displacement_m;
};

/* The legs from *pose to a position, and *pose as it is after them. Their number, 0 where the
 * robot stands there already; what is not known of the pose is NAN in a leg. */
size_t team_legs(struct team_pose *pose, const struct team_position *to,
                 struct team_leg legs[TEAM_LEGS_MAX]);

#endif
