#include "twin/team/step/team_legs.h"

#include <math.h>

#include "base/numbers/constants.h"

/* A robot this close (m, rad) needs no command. */
static const double NO_MOVE = 1e-3;

size_t team_legs(struct team_pose *pose, const struct team_position *to,
                 struct team_leg legs[TEAM_LEGS_MAX])
{
    const double dx = to->x_m - pose->x_m;
    const double dy = to->y_m - pose->y_m;
    const double way_m = hypot(dx, dy);
    size_t count = 0;
    if (!(way_m <= NO_MOVE)) {
        const double bearing = atan2(dy, dx);
        legs[count++] =
            (struct team_leg){remainder(bearing - pose->heading_rad, 2.0 * PI), way_m};
        pose->heading_rad = bearing;
    }
    pose->x_m = to->x_m;
    pose->y_m = to->y_m;
    if (!isnan(to->heading_rad)) {
        const double turn_rad = remainder(to->heading_rad - pose->heading_rad, 2.0 * PI);
        if (!(fabs(turn_rad) <= NO_MOVE)) {
            legs[count++] = (struct team_leg){turn_rad, 0.0};
        }
        pose->heading_rad = to->heading_rad;
    }
    return count;
}
