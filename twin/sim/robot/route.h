/* twin/sim/robot/route.h - the shortest way around the obstacles of a map.
 *
 * Eight points about each corner, as far off as the robot needs, are the places where a
 * shortest way may bend; A* searches the graph of those that see each other. Among ways through
 * these points the shortest is found: at most 1/cos(pi/8), 8 %, longer about a corner than the
 * arc. docs/model/missions.md. Pure: no allocation; some 50 kB of stack.
 */
#ifndef TWIN_SIM_ROBOT_ROUTE_H
#define TWIN_SIM_ROBOT_ROUTE_H

#include "base/errors/status.h"
#include "twin/sim/robot/world.h"

enum { ROUTE_POINTS_MAX = 64, ROUTE_NODES_MAX = 1536 };

struct route {
    size_t count; /* 0 when from and to are one */
    double length_m;
    struct world_point points[ROUTE_POINTS_MAX]; /* where to go; the last is the goal */
};

/* Plan for a disc of radius_m. A robot that stands closer to an obstacle than that may leave,
 * but not come closer.
 *
 * Returns STATUS_E_RANGE when the goal is blocked or a number is not finite, STATUS_E_EMPTY
 * when there is no way, STATUS_E_FULL when the map has too many corners or the way too many
 * bends. Cost: O(corners^2 vertices) at worst. */
MUST_USE enum status route_plan(const struct world *map, const struct world_point *from,
                                const struct world_point *to, double radius_m,
                                struct route *out);

#endif
