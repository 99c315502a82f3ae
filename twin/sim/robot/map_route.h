/* twin/sim/robot/map_route.h - plans a route on a map of cells, around what was found on the
 * way. Pure.
 */
#ifndef TWIN_SIM_ROBOT_MAP_ROUTE_H
#define TWIN_SIM_ROBOT_MAP_ROUTE_H

#include "twin/map/grid_route.h"
#include "twin/sim/robot/route.h"

/* Does what grid_search_route() does, with the obstacles of `found` on the map. memory:
 * grid_search_bytes(). *reached_m2: the area that the robot can reach, if there is no route. */
enum grid_route_outcome map_route_plan(const struct costmap *map, void *memory,
                                       const struct world *found,
                                       const struct world_point *from,
                                       const struct world_point *to, double radius_m,
                                       int64_t *budget, struct route *out, double *reached_m2);

#endif
