/* twin/sim/robot/route.h - plans the shortest route around the obstacles of a map.
 *
 * A shortest route may bend at eight points about each corner, at the distance that the robot
 * needs. A* searches the graph of points that see each other. The result is the shortest route
 * through these points: at most 1/cos(pi/8), 8 %, longer at a corner than the arc.
 * docs/model/missions.md. Pure: no allocation; some 60 kB of stack.
 */
#ifndef TWIN_SIM_ROBOT_ROUTE_H
#define TWIN_SIM_ROBOT_ROUTE_H

#include "base/errors/status.h"
#include "twin/sim/robot/world.h"

/* ROUTE_WORK_MAX: the work of all plans in one step, about 0.7 ns per unit. */
enum { ROUTE_POINTS_MAX = 64, ROUTE_NODES_MAX = 1536, ROUTE_WORK_MAX = 32000000 };

struct route {
    size_t count; /* 0 if from and to are equal */
    double length_m;
    struct world_point points[ROUTE_POINTS_MAX]; /* where to go; the last is the goal */
};

/* Plans for a disc of radius_m. A robot that is closer to an obstacle may leave, but not come
 * closer.
 *
 * STATUS_E_RANGE if the goal is blocked or a number is not finite, STATUS_E_EMPTY if there is
 * no route, STATUS_E_FULL if the map has too many corners, the route too many bends, or the
 * work exceeds *budget, of which it is taken. NULL: ROUTE_WORK_MAX. */
MUST_USE enum status route_plan(const struct world *map, const struct world_point *from,
                                const struct world_point *to, double radius_m, int64_t *budget,
                                struct route *out);

#endif
