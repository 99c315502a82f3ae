/* twin/team/step/team_legs.h - the moves that bring a robot to a position: turn, then distance,
 * then a turn to the position's heading, if it has one. Pure.
 */
#ifndef TWIN_TEAM_STEP_TEAM_LEGS_H
#define TWIN_TEAM_STEP_TEAM_LEGS_H

#include "twin/team/step/team_params.h"

enum { TEAM_LEGS_MAX = 2 };

/* A robot's pose; NAN: unknown. */
struct team_pose {
    double x_m, y_m, heading_rad;
};

/* One command: counter-clockwise, then forward. */
struct team_leg {
    double rotation_rad, displacement_m;
};

/* Computes the legs from *pose to a position, and updates *pose. Returns their number, 0 if the
 * robot is there already. Unknown parts of the pose become NAN in a leg. */
size_t team_legs(struct team_pose *pose, const struct team_position *to,
                 struct team_leg legs[TEAM_LEGS_MAX]);

#endif
