#include "twin/sim/robot/map_route.h"

#include <math.h>

/* A part of the obstacle may lie in a cell whose centre is this far from it, in cells. */
static const double HALF_DIAGONAL = 0.70711;

/* Marks the cells in which a part of the obstacle may lie. */
static void block_obstacle(struct grid_search *search, const struct world *found,
                           const struct world_circle *circles, size_t i, int64_t *budget)
{
    const struct costmap *map = search->map;
    const double reach = circles[i].radius_m / map->cell_m + 2.0;
    double centre[2], low[2], high[2];
    costmap_to_cells(map, (double[2]){circles[i].centre.x_m, circles[i].centre.y_m}, centre);
    for (int k = 0; k < 2; k++) {
        const double most = (double)(k == 0 ? map->width : map->height);
        low[k] = fmin(fmax(floor(centre[k] - reach), 0.0), most);
        high[k] = fmin(fmax(ceil(centre[k] + reach), 0.0), most);
    }
    for (size_t y = (size_t)low[1]; y < (size_t)high[1] && *budget >= 0; y++) {
        for (size_t x = (size_t)low[0]; x < (size_t)high[0]; x++) {
            double at_m[2];
            costmap_from_cells(map, (double[2]){(double)x + 0.5, (double)y + 0.5}, at_m);
            const struct world_point at = {at_m[0], at_m[1]};
            if (world_blocked_way_fast(found, circles, &at, &at, HALF_DIAGONAL * map->cell_m,
                                       budget)) {
                grid_search_block(search, y * map->width + x);
            }
        }
    }
}

enum grid_route_outcome map_route_plan(const struct costmap *map, void *memory,
                                       const struct world *found,
                                       const struct world_point *from,
                                       const struct world_point *to, double radius_m,
                                       int64_t *budget, struct route *out, double *reached_m2)
{
    _Static_assert((int)GRID_ROUTE_POINTS_MAX <= (int)ROUTE_POINTS_MAX, "room for the points");
    struct world_circle circles[WORLD_OBSTACLES_MAX];
    struct grid_search search;
    struct grid_route route;
    grid_search_init(&search, map, memory);
    world_circles(found, circles);
    for (size_t i = 0; i < found->obstacle_count; i++) {
        if (world_is_present(found, i)) {
            block_obstacle(&search, found, circles, i, budget);
        }
    }
    const enum grid_route_outcome outcome =
        grid_search_route(&search, (double[2]){from->x_m, from->y_m},
                          (double[2]){to->x_m, to->y_m}, radius_m, budget, &route);
    *reached_m2 = route.reached_m2;
    if (outcome == GRID_ROUTE_FOUND) {
        out->count = route.count;
        out->length_m = route.length_m;
        for (size_t k = 0; k < route.count; k++) {
            out->points[k] = (struct world_point){route.points_m[k][0], route.points_m[k][1]};
        }
    }
    return outcome;
}
