#include "tests/support/check.h"

#include "base/numbers/constants.h"
#include "twin/sim/robot/route.h"

static void add_obstacle(struct world *w, const struct world_obstacle *what,
                         const struct world_point *points, size_t count)
{
    CU_ASSERT_EQUAL_FATAL(world_add(w, what, points, count), STATUS_OK);
}

/* Every leg keeps the clearance, and the length is that of the legs. */
static void check_route(const char *row, const struct world *w, struct world_point from,
                        struct world_point to, double radius_m, const struct route *route)
{
    double length_m = 0.0;
    for (size_t i = 0; i < route->count; i++) {
        CHECK(row, !world_blocked_way(w, &from, &route->points[i], radius_m * (1 - 1e-12)));
        length_m += hypot(route->points[i].x_m - from.x_m, route->points[i].y_m - from.y_m);
        from = route->points[i];
    }
    CHECK_NEAR(row, length_m, route->length_m, 1e-12, 0.0);
    CHECK_NEAR(row, from.x_m, to.x_m, 0.0, 0.0);
    CHECK_NEAR(row, from.y_m, to.y_m, 0.0, 0.0);
}

static void test_ways(void)
{
    static const struct world_point wall[] = {{0.0, -5.0}, {0.0, 1.0}};
    static const struct world_point post[] = {{3.0, 0.0}};
    static const struct world_point pen[] = {
        {9.0, 9.0}, {11.0, 9.0}, {11.0, 11.0}, {9.0, 11.0}, {9.0, 9.0}};
    static const struct {
        const char *row;
        struct world_point from, to;
        double radius_m;
        enum status status;
        double least_m, most_m; /* length: the true shortest way, and 8 % more in the bends */
    } rows[] = {
        {"straight", {-2.0, 3.0}, {2.0, 3.0}, 0.3, STATUS_OK, 4.0, 4.0},
        {"there already", {-2.0, 3.0}, {-2.0, 3.0}, 0.3, STATUS_OK, 0.0, 0.0},
        {"around the wall's end", {-1.0, 0.0}, {1.0, 0.0}, 0.3, STATUS_OK, 3.2, 3.5},
        {"around the post", {2.0, 0.0}, {4.0, 0.0}, 0.2, STATUS_OK, 2.3, 2.6},
        {"goal in the post", {2.0, 0.0}, {3.1, 0.0}, 0.2, STATUS_E_RANGE, 0, 0},
        {"goal too near to it", {2.0, 0.0}, {3.6, 0.0}, 0.2, STATUS_E_RANGE, 0, 0},
        {"goal in the pen", {2.0, 0.0}, {10.0, 10.0}, 0.2, STATUS_E_EMPTY, 0, 0},
        {"out of the pen", {10.0, 10.0}, {2.0, 0.0}, 0.2, STATUS_E_EMPTY, 0, 0},
        {"start too near", {2.45, 0.0}, {2.0, -2.0}, 0.2, STATUS_OK, 2.0, 2.2},
        {"not a number", {(double)NAN, 0.0}, {1.0, 0.0}, 0.2, STATUS_E_RANGE, 0, 0},
        {"goal is no number", {0.5, 0.0}, {1.0, (double)NAN}, 0.2, STATUS_E_RANGE, 0, 0},
    };
    static struct world w;
    w = (struct world){.bounds = {-20.0, -20.0, 20.0, 20.0}};
    add_obstacle(&w, &(struct world_obstacle){.shape = WORLD_WALL}, wall, 2);
    add_obstacle(&w, &(struct world_obstacle){.shape = WORLD_CIRCLE, .radius_m = 0.5}, post, 1);
    add_obstacle(&w, &(struct world_obstacle){.shape = WORLD_WALL}, pen, 5);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct route route = {.count = 77};
        CHECK_INT(rows[i].row,
                  route_plan(&w, &rows[i].from, &rows[i].to, rows[i].radius_m, NULL, &route),
                  rows[i].status);
        if (rows[i].status != STATUS_OK) {
            CHECK_INT(rows[i].row, route.count, 77);
            continue;
        }
        CHECK(rows[i].row, route.length_m >= rows[i].least_m - 1e-12);
        CHECK(rows[i].row, route.length_m <= rows[i].most_m + 1e-12);
        if (strcmp(rows[i].row, "start too near") != 0 && route.count > 0) {
            check_route(rows[i].row, &w, rows[i].from, rows[i].to, rows[i].radius_m, &route);
        }
    }
}

/* Random maps: a path that is found keeps off everything and is no shorter than the straight
 * line; and when there is none, flooding a fine grid finds none either. */
enum { GRID = 96 };

static bool is_reachable(const struct world *w, struct world_point from, struct world_point to,
                         double radius_m)
{
    static bool seen[GRID][GRID];
    static int queue[GRID * GRID];
    const double pitch = 10.0 / GRID;
    const int start = (int)(from.y_m / pitch) * GRID + (int)(from.x_m / pitch);
    const int goal = (int)(to.y_m / pitch) * GRID + (int)(to.x_m / pitch);
    int head = 0;
    int tail = 0;
    memset(seen, 0, sizeof seen);
    queue[tail++] = start;
    seen[start / GRID][start % GRID] = true;
    while (head < tail) {
        const int at = queue[head++];
        static const int dx[] = {1, -1, 0, 0};
        static const int dy[] = {0, 0, 1, -1};
        if (at == goal) {
            return true;
        }
        const int column = at % GRID;
        const int row = at / GRID;
        const struct world_point here = {(column + 0.5) * pitch, (row + 0.5) * pitch};
        for (int i = 0; i < 4; i++) {
            const int x = column + dx[i];
            const int y = row + dy[i];
            const struct world_point there = {(x + 0.5) * pitch, (y + 0.5) * pitch};
            if (x >= 0 && y >= 0 && x < GRID && y < GRID && !seen[y][x] &&
                !world_blocked_way(w, &here, &there, radius_m)) {
                seen[y][x] = true;
                queue[tail++] = y * GRID + x;
            }
        }
    }
    return false;
}

static double draw_between(double min, double max)
{
    return min + (max - min) * rand() / RAND_MAX;
}

static void test_random_maps(void)
{
    static struct world w;
    int found = 0;
    int none = 0;
    srand(check_seed(3));
    for (int n = 0; n < 200; n++) {
        w = (struct world){.bounds = {0.0, 0.0, 10.0, 10.0}};
        const int obstacles = 2 + rand() % 30;
        for (int i = 0; i < obstacles; i++) {
            const double x = draw_between(0.0, 10.0);
            const double y = draw_between(0.0, 10.0);
            const double a = draw_between(0.0, 2.0 * PI);
            const double l = draw_between(0.5, 4.0);
            const struct world_point p[3] = {
                {x, y}, {x + l * cos(a), y + l * sin(a)}, {x + cos(a + 1.0), y + sin(a + 1.0)}};
            const struct world_obstacle what = {.shape = (enum world_shape)(i % 3),
                                                .radius_m = l / 4.0};
            add_obstacle(&w, &what, p, i % 3 == WORLD_CIRCLE ? 1 : 3);
        }
        const struct world_point from = {draw_between(0.5, 9.5), draw_between(0.5, 9.5)};
        const struct world_point to = {draw_between(0.5, 9.5), draw_between(0.5, 9.5)};
        struct route route;
        const double radius_m = 0.25;
        if (world_blocked(&w, from.x_m, from.y_m, radius_m) ||
            world_blocked(&w, to.x_m, to.y_m, radius_m)) {
            continue;
        }
        struct world_circle circles[WORLD_OBSTACLES_MAX];
        int64_t budget = ROUTE_WORK_MAX;
        world_circles(&w, circles);
        CHECK_INT("both tests agree",
                  world_blocked_way_fast(&w, circles, &from, &to, radius_m, &budget),
                  world_blocked_way(&w, &from, &to, radius_m));
        const enum status status = route_plan(&w, &from, &to, radius_m, NULL, &route);
        if (status == STATUS_OK) {
            found++;
            check_route("random", &w, from, to, radius_m, &route);
        } else {
            none++;
            CHECK_INT("random", status, STATUS_E_EMPTY);
            CHECK("the grid knows no way either", !is_reachable(&w, from, to, radius_m * 1.2));
        }
    }
    (void)printf("%d ways, %d maps without\n", found, none);
    CHECK("some of both", found > 10);
}

static void test_limits(void)
{
    static struct world w;
    struct route route;
    const struct world_point from = {0.0, -1.0};
    const struct world_point to = {5000.0, -1.0};
    w = (struct world){0};
    for (int i = 0; i < WORLD_OBSTACLES_MAX; i++) { /* three nodes at each corner of each box */
        const double x = 3.0 * i;
        const struct world_point corners[4] = {
            {x, 0.0}, {x + 1.0, 0.0}, {x + 1.0, 1.0}, {x, 1.0}};
        add_obstacle(&w, &(struct world_obstacle){.shape = WORLD_POLYGON}, corners, 4);
    }
    CHECK_INT("too many corners", route_plan(&w, &from, &to, 0.1, NULL, &route), STATUS_E_FULL);
}

/* Many small obstacles in a grid, and all corners in one: neither plan may take long. */
static void test_work(void)
{
    static struct world grid, star;
    static struct world_point ring[WORLD_POINTS_MAX - 8];
    static const struct world_point from = {-1.0, -1.0};
    static const struct world_point to = {29.0, 29.0};
    for (int i = 0; i < 126; i++) {
        const double x = 2.2 * (i % 11) + 0.3 * (i / 11 % 2);
        const double y = 2.2 * (i / 11);
        const struct world_point corners[4] = {
            {x, y}, {x + 0.5, y + 0.1}, {x + 0.4, y + 0.5}, {x, y + 0.5}};
        add_obstacle(&grid, &(struct world_obstacle){.shape = WORLD_POLYGON}, corners, 4);
    }
    for (size_t i = 0; i < COUNT(ring); i++) {
        const double angle = 2.0 * PI * (double)i / (double)COUNT(ring);
        const double radius_m = i % 2 == 0 ? 10.0 : 6.0;
        ring[i] = (struct world_point){12 + radius_m * cos(angle), 12 + radius_m * sin(angle)};
    }
    add_obstacle(&star, &(struct world_obstacle){.shape = WORLD_POLYGON}, ring, COUNT(ring));
    const struct {
        const char *row;
        const struct world *map;
        double radius_m;
        enum status status;
    } rows[] = {
        {"a grid", &grid, 0.1, STATUS_OK},
        {"one with many corners", &star, 0.1, STATUS_E_FULL},
        {"one with many corners, near", &star, 0.001, STATUS_E_FULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct route route;
        int64_t budget = ROUTE_WORK_MAX;
        CHECK_INT(rows[i].row,
                  route_plan(rows[i].map, &from, &to, rows[i].radius_m, &budget, &route),
                  rows[i].status);
        CHECK(rows[i].row, budget > -ROUTE_WORK_MAX / 100);
        CHECK_INT("nothing is left for a second plan",
                  route_plan(rows[i].map, &from, &to, rows[i].radius_m, &budget, &route),
                  STATUS_E_FULL);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("route", NULL, NULL);
    CU_add_test(suite, "ways", test_ways);
    CU_add_test(suite, "random maps", test_random_maps);
    CU_add_test(suite, "limits", test_limits);
    CU_add_test(suite, "bounded work", test_work);
    return check_run();
}
