/* twin/map/grid_route.h - plans the shortest route on a map of cells.
 *
 * A* over cells and their eight neighbours, on whole numbers, so that every machine finds the
 * same route; then corners that are not needed are left out. The route keeps its clearance from
 * occupied cells (costmap_reach()). A robot that is nearer to an obstacle at the start may
 * leave it, but not come nearer. docs/model/missions.md. Pure: the memory is given, and holds
 * nothing between plans.
 */
#ifndef TWIN_MAP_GRID_ROUTE_H
#define TWIN_MAP_GRID_ROUTE_H

#include "base/text/names.h"
#include "twin/map/costmap.h"

enum { GRID_ROUTE_POINTS_MAX = 64 };

/* clang-format off */
#define GRID_ROUTE_OUTCOMES(X)                                                                 \
    X(GRID_ROUTE_FOUND, "found")                                                               \
    X(GRID_ROUTE_START_OUTSIDE, "the robot is off the map")                                    \
    X(GRID_ROUTE_GOAL_OUTSIDE, "the place is off the map")                                     \
    X(GRID_ROUTE_GOAL_UNKNOWN, "the place is unknown, and the map forbids unknown cells")      \
    X(GRID_ROUTE_GOAL_BLOCKED, "the place is blocked: an obstacle is nearer than clearance_m") \
    X(GRID_ROUTE_ENCLOSED, "there is no route")                                                \
    X(GRID_ROUTE_TOO_LONG, "the search takes too long: larger cells, or a nearer goal, are needed") \
    X(GRID_ROUTE_TOO_MANY_BENDS, "the route has more than 64 bends: a nearer goal is needed")
/* clang-format on */
enum grid_route_outcome { GRID_ROUTE_OUTCOMES(NAMES_VALUE) GRID_ROUTE_OUTCOME_COUNT };
ENUM_NAMES_DECLARED(grid_route_outcome);

struct grid_route {
    size_t count;                              /* 0: from and to are the same point */
    double points_m[GRID_ROUTE_POINTS_MAX][2]; /* where to go; the last is the goal */
    double length_m;
    uint32_t cost;     /* of the way through cells, before corners were left out */
    double reached_m2; /* ENCLOSED: the area that the robot can reach */
};

/* A search in the memory of its owner. */
struct grid_search {
    const struct costmap *map;
    uint32_t *near2; /* [cells] square of the distance to the nearest occupied cell, in cells */
    uint32_t *cost;  /* [cells] of the way from the start; UINT32_MAX: not reached */
    int32_t *next, *before; /* [cells] neighbours in a list of cells of equal cost */
    int32_t *list;          /* first cells of these lists */
    uint8_t *cell; /* [cells] as the map has them, with the obstacles that were added */
};

/* Bytes of memory for searches on this map. */
size_t grid_search_bytes(size_t cells);

/* Begins with the map as it is. memory: grid_search_bytes(), aligned for uint32_t. */
void grid_search_init(struct grid_search *search, const struct costmap *map, void *memory);
/* An obstacle lies in this cell, too. */
void grid_search_block(struct grid_search *search, size_t cell);

/* Plans for a disc of clearance_m. The work, less than a nanosecond a unit, is taken from
 * *budget; the search ends with TOO_LONG if that is not enough. */
enum grid_route_outcome grid_search_route(struct grid_search *search, const double from_m[2],
                                          const double to_m[2], double clearance_m,
                                          int64_t *budget, struct grid_route *out);

#endif
