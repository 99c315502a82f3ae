/* Routes on random maps of cells: they keep their clearance, cost what a plain Dijkstra finds,
 * and where there is none the reason is said. */
#include "tests/support/check.h"

#include <stdlib.h>

#include "twin/map/grid_route.h"

enum { SIDE_MAX = 40, MAPS = 500, CELLS = SIDE_MAX * SIDE_MAX };

static uint64_t seed;

static double draw_number(double most)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return most * (double)(seed >> 33) / 2147483648.0;
}

static struct costmap *map;
static void *memory;
static double clearance_m;

/* Blocks of random size, and unknown places; sometimes a wall across. */
static void make_map(void)
{
    static const double factors[] = {0.0, 1.0, 4.0, 50.0};
    map->width = 4 + (size_t)draw_number(SIDE_MAX - 3);
    map->height = 4 + (size_t)draw_number(SIDE_MAX - 3);
    map->cell_m = 0.05 + draw_number(0.2);
    map->origin = (struct plane_pose){draw_number(10.0) - 5.0, draw_number(10.0) - 5.0,
                                      draw_number(6.0) - 3.0};
    map->unknown_factor = factors[(size_t)draw_number(4.0)];
    memset(map->cell, COSTMAP_FREE, CELLS);
    for (int k = (int)draw_number(12.0); k >= 0; k--) {
        const size_t x = (size_t)draw_number((double)map->width), w = (size_t)draw_number(8.0);
        const size_t y = (size_t)draw_number((double)map->height), h = (size_t)draw_number(8.0);
        const double kind = draw_number(3.0);
        const uint8_t value = kind < 1.5   ? COSTMAP_OCCUPIED
                              : kind < 2.5 ? COSTMAP_UNKNOWN
                                           : (uint8_t)draw_number(COSTMAP_UNKNOWN);
        for (size_t i = x; i < map->width && i <= x + w; i++) {
            for (size_t j = y; j < map->height && j <= y + h; j++) {
                map->cell[j * map->width + i] = value;
            }
        }
    }
    if (draw_number(1.0) < 0.3) {
        memset(map->cell + map->height / 2 * map->width, COSTMAP_OCCUPIED, map->width);
    }
    clearance_m = map->cell_m * (0.1 + draw_number(3.0));
}

static double square_distance(size_t a, size_t b)
{
    const double dx = (double)(a % map->width) - (double)(b % map->width);
    const double dy = (double)(a / map->width) - (double)(b / map->width);
    return dx * dx + dy * dy;
}

static double square_to_nearest(size_t cell)
{
    double least = 1e9;
    for (size_t i = 0; i < map->width * map->height; i++) {
        least =
            map->cell[i] == COSTMAP_OCCUPIED ? fmin(least, square_distance(cell, i)) : least;
    }
    return least;
}

static double factor_of(size_t cell)
{
    const uint8_t v = map->cell[cell];
    const double most = map->unknown_factor;
    return v == COSTMAP_FREE ? 16.0
           : v == COSTMAP_OCCUPIED || !(most > 0.0)
               ? 0.0
               : round(16.0 * (1.0 + (most - 1.0) * v / 200.0));
}

/* Dijkstra without a queue; -1: no way. */
static double reference_cost(size_t start, size_t goal)
{
    static double cost[CELLS], near2[CELLS];
    static bool closed[CELLS];
    const size_t n = map->width * map->height;
    const double reach2 = costmap_reach(map, clearance_m);
    for (size_t i = 0; i < n; i++) {
        cost[i] = HUGE_VAL;
        closed[i] = false;
        near2[i] = square_to_nearest(i);
    }
    cost[start] = 0.0;
    for (;;) {
        size_t at = n;
        for (size_t i = 0; i < n; i++) {
            at = !closed[i] && cost[i] < (at < n ? cost[at] : HUGE_VAL) ? i : at;
        }
        if (at == n || at == goal) {
            return at == n ? -1.0 : cost[goal];
        }
        closed[at] = true;
        for (size_t i = 0; i < n; i++) {
            const double d2 = square_distance(at, i);
            const bool leaves = near2[at] < reach2 && near2[i] > near2[at];
            if (d2 > 0.0 && d2 < 3.0 && factor_of(i) > 0.0 && (near2[i] >= reach2 || leaves)) {
                const double left = factor_of(at) > 0.0 ? factor_of(at) : 16.0;
                const double step =
                    floor((d2 < 1.5 ? 29.0 : 41.0) * (left + factor_of(i)) / 32.0);
                cost[i] = fmin(cost[i], cost[at] + step);
            }
        }
    }
}

static void find_point(size_t cell, double at_m[2])
{
    const double uv[2] = {(double)(cell % map->width) + draw_number(0.999) + 0.0005,
                          (double)(cell / map->width) + draw_number(0.999) + 0.0005};
    costmap_from_cells(map, uv, at_m);
}

/* Distance from a point, in cells, to the nearest occupied cell's square. */
static double clearance_of(const double uv[2])
{
    double least = 1e9;
    for (size_t i = 0; i < map->width * map->height; i++) {
        if (map->cell[i] == COSTMAP_OCCUPIED) {
            const double x = (double)(i % map->width), y = (double)(i / map->width);
            const double dx = fmax(fmax(x - uv[0], uv[0] - x - 1.0), 0.0);
            const double dy = fmax(fmax(y - uv[1], uv[1] - y - 1.0), 0.0);
            least = fmin(least, hypot(dx, dy));
        }
    }
    return least;
}

/* Every point keeps its clearance. Until the robot is out of the reach of obstacles it comes no
 * nearer than the parts of cells. */
static void check_way(const struct grid_route *route, const double from_m[2])
{
    double a[2], b[2], length = 0.0;
    costmap_to_cells(map, from_m, a);
    const double start = clearance_of(a);
    bool free = false;
    for (size_t k = 0; k < route->count; k++) {
        costmap_to_cells(map, route->points_m[k], b);
        for (int i = 0; i <= 50; i++) {
            const double uv[2] = {a[0] + (b[0] - a[0]) * i / 50, a[1] + (b[1] - a[1]) * i / 50};
            const double now = clearance_of(uv) * map->cell_m;
            const size_t cell = (size_t)uv[1] * map->width + (size_t)uv[0];
            free = free || square_to_nearest(cell) >= costmap_reach(map, clearance_m);
            CHECK("clearance", now >= clearance_m - 1e-6 ||
                                   (!free && now >= start * map->cell_m - 1.5 * map->cell_m));
            CHECK("on the map", uv[0] >= 0.0 && uv[0] <= (double)map->width && uv[1] >= 0.0 &&
                                    uv[1] <= (double)map->height);
        }
        length += hypot(b[0] - a[0], b[1] - a[1]) * map->cell_m;
        memcpy(a, b, sizeof a);
    }
    CHECK("its length", fabs(length - route->length_m) < 1e-6);
}

static void test_routes(void)
{
    size_t counts[GRID_ROUTE_OUTCOME_COUNT] = {0};
    struct grid_search search;
    struct grid_route route;
    seed = check_seed(7);
    for (int k = 0; k < MAPS; k++) {
        double from_m[2], to_m[2];
        int64_t budget = 32000000;
        make_map();
        const size_t cells = map->width * map->height;
        const size_t start = (size_t)draw_number((double)cells),
                     goal = (size_t)draw_number((double)cells);
        find_point(start, from_m);
        find_point(goal, to_m);
        grid_search_init(&search, map, memory);
        const enum grid_route_outcome outcome =
            grid_search_route(&search, from_m, to_m, clearance_m, &budget, &route);
        counts[outcome]++;
        CHECK("its cell", costmap_find(map, to_m) == goal);
        const bool blocked = square_to_nearest(goal) < costmap_reach(map, clearance_m);
        CHECK("blocked", costmap_blocked(map, goal, clearance_m) == blocked);
        if (map->cell[goal] == COSTMAP_OCCUPIED || (blocked && factor_of(goal) > 0.0)) {
            CHECK_INT("an obstacle", outcome, GRID_ROUTE_GOAL_BLOCKED);
            continue;
        }
        if (!(factor_of(goal) > 0.0)) {
            CHECK_INT("forbidden", outcome, GRID_ROUTE_GOAL_UNKNOWN);
            continue;
        }
        const double cost = reference_cost(start, goal);
        CHECK_INT("is there a way?", outcome,
                  cost < 0.0 ? GRID_ROUTE_ENCLOSED : GRID_ROUTE_FOUND);
        if (outcome == GRID_ROUTE_FOUND) {
            CHECK_INT("the least cost", route.cost, (long)cost);
            check_way(&route, from_m);
            /* Without dear cells a line costs its length, which is no longer than the steps. */
            const double straight = hypot(to_m[0] - from_m[0], to_m[1] - from_m[1]);
            CHECK("no shorter than straight", route.length_m >= straight - 1e-9);
            CHECK("no longer than the steps",
                  route.length_m <= map->cell_m * (1.05 * cost / 29.0 + 8.0));
        } else {
            CHECK("what can be reached", route.reached_m2 > 0.0);
        }
    }
    CHECK("routes", counts[GRID_ROUTE_FOUND] > MAPS / 5);
    CHECK("none", counts[GRID_ROUTE_ENCLOSED] > 5);
    CHECK("unknown", counts[GRID_ROUTE_GOAL_UNKNOWN] > 5);
    CHECK("blocked", counts[GRID_ROUTE_GOAL_BLOCKED] > 5);
}

static void test_limits(void)
{
    struct grid_search search;
    struct grid_route route;
    const double off_m[2] = {1e9, 0.0}, nan_m[2] = {nan(""), 0.0}, here_m[2] = {1.0, 1.0};
    const double there_m[2] = {3.0, 3.0};
    int64_t budget = 32000000;
    map->width = map->height = SIDE_MAX;
    map->cell_m = 0.1;
    map->origin = (struct plane_pose){0.0, 0.0, 0.0};
    map->unknown_factor = 0.0;
    memset(map->cell, COSTMAP_FREE, CELLS);
#define ROUTE(from, to) grid_search_route(&search, from, to, 0.3, &budget, &route)
    grid_search_init(&search, map, memory);
    CHECK_INT("off", ROUTE(off_m, here_m), GRID_ROUTE_START_OUTSIDE);
    CHECK_INT("off", ROUTE(here_m, off_m), GRID_ROUTE_GOAL_OUTSIDE);
    CHECK_INT("no number", ROUTE(here_m, nan_m), GRID_ROUTE_GOAL_OUTSIDE);
    CHECK_INT("here", ROUTE(here_m, here_m), GRID_ROUTE_FOUND);
    CHECK_INT("nothing to do", route.count, 0);
    CHECK_INT("there", ROUTE(here_m, there_m), GRID_ROUTE_FOUND);
    CHECK_INT("one line", route.count, 1);
    CHECK_NEAR("straight", route.length_m, sqrt(8.0), 0.0, 1e-9);
    grid_search_block(&search, 20 * SIDE_MAX + 20);
    CHECK_INT("around", ROUTE(here_m, there_m), GRID_ROUTE_FOUND);
    CHECK("longer", route.count > 1 && route.length_m > sqrt(8.0) && route.length_m < 3.2);
    budget = 20000;
    CHECK_INT("no time", ROUTE(here_m, there_m), GRID_ROUTE_TOO_LONG);
    budget = 10;
    CHECK_INT("none at all", ROUTE(here_m, there_m), GRID_ROUTE_TOO_LONG);
    /* a comb, each tooth with two bends at least */
    budget = 1000000000;
    for (size_t x = 2; x < SIDE_MAX; x += 4) {
        for (size_t y = x / 4 % 2 ? 0 : 4; y < (size_t)(x / 4 % 2 ? SIDE_MAX - 4 : SIDE_MAX);
             y++) {
            map->cell[y * SIDE_MAX + x] = COSTMAP_OCCUPIED;
        }
    }
    grid_search_init(&search, map, memory);
    CHECK_INT("a comb",
              grid_search_route(&search, (double[2]){0.05, 3.0}, (double[2]){3.65, 3.0}, 0.01,
                                &budget, &route),
              GRID_ROUTE_FOUND);
    CHECK("bends", route.count >= 16);
}

int main(void)
{
    map = calloc(1, sizeof *map + CELLS);
    map->width = map->height = SIDE_MAX;
    memory = malloc(grid_search_bytes(CELLS));
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("grid route", NULL, NULL);
    CU_add_test(suite, "random maps", test_routes);
    CU_add_test(suite, "limits", test_limits);
    const int status = check_run();
    free(map);
    free(memory);
    return status;
}
