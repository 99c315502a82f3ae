#include "twin/sim/robot/route.h"

#include <math.h>

#include "base/numbers/constants.h"

enum { DIRECTIONS = 8, START = 0, GOAL = 1 };

/* Points are this share farther off than needed, so that rounding does not block them. */
#define SLACK_RATIO 1e-9
/* Share of its clearance that a robot which is too close must keep. */
#define KEEP_RATIO 0.99

struct graph {
    const struct world *map;
    double radius_m, start_radius_m;
    int64_t *budget; /* below 0: the search ends */
    size_t count;
    struct world_circle circles[WORLD_OBSTACLES_MAX];
    struct world_point node[ROUTE_NODES_MAX];
    double cost_m[ROUTE_NODES_MAX]; /* from the start; HUGE_VAL: not reached */
    double left_m[ROUTE_NODES_MAX]; /* straight to the goal */
    uint16_t before[ROUTE_NODES_MAX];
    bool closed[ROUTE_NODES_MAX];
};

/* Work per node that is compared, and per node whose distance is computed. */
enum { WORK_COMPARED = 2, WORK_DISTANCE = 10 };

static double distance_between(const struct world_point *a, const struct world_point *b)
{
    return hypot(b->x_m - a->x_m, b->y_m - a->y_m);
}

static bool add_ring(struct graph *g, struct world_point centre, double radius_m)
{
    const double far_m = radius_m * (1.0 + SLACK_RATIO) / cos(PI / DIRECTIONS);
    for (int i = 0; i < DIRECTIONS; i++) {
        const double angle = 2.0 * PI * i / DIRECTIONS;
        const struct world_point p = {centre.x_m + far_m * cos(angle),
                                      centre.y_m + far_m * sin(angle)};
        if (world_blocked_way_fast(g->map, g->circles, &p, &p, g->radius_m, g->budget)) {
            continue;
        }
        if (g->count == ROUTE_NODES_MAX) {
            return false;
        }
        g->node[g->count++] = p;
    }
    return true;
}

static bool add_nodes(struct graph *g)
{
    for (size_t i = 0; i < g->map->obstacle_count; i++) {
        const struct world_obstacle *o = &g->map->obstacles[i];
        const double extra_m = o->shape == WORLD_CIRCLE ? o->radius_m : 0.0;
        for (size_t k = 0; k < o->count && world_is_present(g->map, i); k++) {
            if (!add_ring(g, g->map->points[o->first + k], g->radius_m + extra_m)) {
                return false;
            }
        }
    }
    return true;
}

static bool can_see(const struct graph *g, size_t a, size_t b)
{
    const double radius_m = a == START ? g->start_radius_m : g->radius_m;
    return !world_blocked_way_fast(g->map, g->circles, &g->node[a], &g->node[b], radius_m,
                                   g->budget);
}

/* Returns the open node with the least cost plus straight distance to the goal; count if none
 * is left. */
static size_t find_best(const struct graph *g)
{
    size_t best = g->count;
    double least_m = HUGE_VAL;
    for (size_t i = 0; i < g->count; i++) {
        const double total_m = g->cost_m[i] + g->left_m[i];
        if (!g->closed[i] && total_m < least_m) {
            least_m = total_m;
            best = i;
        }
    }
    return best;
}

static enum status search_route(struct graph *g)
{
    const int64_t work = (WORK_COMPARED + WORK_DISTANCE) * (int64_t)g->count;
    for (size_t i = 0; i < g->count; i++) {
        g->cost_m[i] = HUGE_VAL;
        g->left_m[i] = distance_between(&g->node[i], &g->node[GOAL]);
        g->closed[i] = false;
    }
    g->cost_m[START] = 0.0;
    for (;;) {
        const size_t at = find_best(g);
        if (at == g->count || at == GOAL || *g->budget < 0) {
            return *g->budget < 0 ? STATUS_E_FULL : at == GOAL ? STATUS_OK : STATUS_E_EMPTY;
        }
        g->closed[at] = true;
        *g->budget -= work;
        for (size_t i = 0; i < g->count; i++) {
            const double cost_m = g->cost_m[at] + distance_between(&g->node[at], &g->node[i]);
            if (!g->closed[i] && cost_m < g->cost_m[i] && can_see(g, at, i)) {
                g->cost_m[i] = cost_m;
                g->before[i] = (uint16_t)at;
            }
        }
    }
}

static enum status write_route(const struct graph *g, struct route *out)
{
    size_t count = 0;
    for (size_t i = GOAL; i != START; i = g->before[i]) {
        count++;
    }
    if (count > ROUTE_POINTS_MAX) {
        return STATUS_E_FULL;
    }
    out->count = count;
    out->length_m = g->cost_m[GOAL];
    for (size_t i = GOAL; i != START; i = g->before[i]) {
        out->points[--count] = g->node[i];
    }
    return STATUS_OK;
}

enum status route_plan(const struct world *map, const struct world_point *from,
                       const struct world_point *to, double radius_m, int64_t *budget,
                       struct route *out)
{
    int64_t whole = ROUTE_WORK_MAX;
    const double clearance_m = world_clearance(map, from->x_m, from->y_m);
    struct graph g = {.map = map, .radius_m = radius_m, .budget = budget ? budget : &whole};
    if (!isfinite(from->x_m) || !isfinite(from->y_m) ||
        world_blocked(map, to->x_m, to->y_m, radius_m)) {
        return STATUS_E_RANGE;
    }
    if (!(distance_between(from, to) > 0.0)) {
        out->count = 0;
        out->length_m = 0.0;
        return STATUS_OK;
    }
    g.start_radius_m = fmin(radius_m, KEEP_RATIO * clearance_m);
    g.node[START] = *from;
    g.node[GOAL] = *to;
    g.count = 2;
    world_circles(map, g.circles);
    if (!add_nodes(&g)) {
        return STATUS_E_FULL;
    }
    const enum status status = search_route(&g);
    return status == STATUS_OK ? write_route(&g, out) : status;
}
