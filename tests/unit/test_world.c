#include "tests/support/check.h"

#include "base/numbers/constants.h"
#include "twin/sim/robot/diffdrive_plant.h"
#include "twin/sim/robot/world.h"

static void add_obstacle(struct world *w, const struct world_obstacle *what,
                         const struct world_point *points, size_t count)
{
    CU_ASSERT_EQUAL_FATAL(world_add(w, what, points, count), STATUS_OK);
}

/* A room of 6 m x 4 m about the origin with a pillar, a table, a wall and somebody who walks by
 * from 5 s to 8 s. */
static void make_room(struct world *w)
{
    static const struct world_point pillar[] = {{2.0, 0.0}};
    static const struct world_point table[] = {
        {-2.0, -1.5}, {-1.0, -1.5}, {-1.0, -0.5}, {-2.0, -0.5}};
    static const struct world_point wall[] = {{0.0, 1.0}, {1.0, 1.0}, {1.0, 1.5}};
    static const struct world_point person[] = {{1.0, 0.0}};
    *w = (struct world){.bounds = {-3.0, -2.0, 3.0, 2.0}};
    add_obstacle(
        w, &(struct world_obstacle){.name = "pillar", .shape = WORLD_CIRCLE, .radius_m = 0.5},
        pillar, 1);
    add_obstacle(w, &(struct world_obstacle){.name = "table", .shape = WORLD_POLYGON}, table,
                 4);
    add_obstacle(w, &(struct world_obstacle){.name = "wall", .shape = WORLD_WALL}, wall, 3);
    add_obstacle(w,
                 &(struct world_obstacle){.name = "person",
                                          .shape = WORLD_CIRCLE,
                                          .radius_m = 0.25,
                                          .unmapped = true,
                                          .appears_s = 5.0,
                                          .leaves_s = 8.0},
                 person, 1);
}

static void test_range(void)
{
    static const struct {
        const char *row;
        double t_s, x_m, y_m, heading_rad, range_max_m, want_m;
    } rows[] = {
        {"pillar ahead", 0.0, 0.0, 0.0, 0.0, 9.0, 1.5},
        {"person in front of it", 5.0, 0.0, 0.0, 0.0, 9.0, 0.75},
        {"still there", 7.999, 0.0, 0.0, 0.0, 9.0, 0.75},
        {"gone at its time", 8.0, 0.0, 0.0, 0.0, 9.0, 1.5},
        {"cut at the range", 0.0, 0.0, 0.0, 0.0, 1.0, 1.0},
        {"off the centre", 0.0, 0.0, 0.3, 0.0, 9.0, 1.6},
        {"past the pillar to the bound", 0.0, 0.0, 0.6, 0.0, 9.0, 3.0},
        {"touches the pillar", 0.0, 0.0, 0.5, 0.0, 9.0, 2.0},
        {"behind the back", 0.0, 2.6, 0.0, 0.0, 9.0, 0.4},
        {"bound to the left", 0.0, -0.5, 0.0, PI / 2.0, 9.0, 2.0},
        {"bound below", 0.0, 0.0, 0.0, -PI / 2.0, 9.0, 2.0},
        {"wall across", 0.0, 0.5, 0.0, PI / 2.0, 9.0, 1.0},
        {"wall from the other side", 0.0, 0.5, 2.0, -PI / 2.0, 9.0, 1.0},
        {"wall head on", 0.0, -1.0, 1.0, 0.0, 9.0, 1.0},
        {"wall head on from its far end", 0.0, 2.0, 1.0, PI, 9.0, 1.0},
        {"on the wall", 0.0, 0.25, 1.0, 0.0, 9.0, 0.0},
        {"table", 0.0, 0.0, -1.0, PI, 9.0, 1.0},
        {"diagonal to the table", 0.0, 0.0, 0.5, -3.0 * PI / 4.0, 9.0, 1.4142135623730951},
        {"within the table", 0.0, -1.5, -1.0, 0.0, 9.0, 0.0},
        {"within the pillar", 0.0, 2.1, 0.0, 0.0, 9.0, 0.0},
        {"out of bounds", 0.0, 4.0, 0.0, PI, 9.0, 0.0},
        {"not a number", 0.0, 0.0, 0.0, (double)NAN, 9.0, 9.0},
        {"position not finite", 0.0, (double)INFINITY, 0.0, 0.0, 9.0, 9.0},
    };
    static struct world w;
    make_room(&w);
    for (size_t i = 0; i < COUNT(rows); i++) {
        w.t_s = rows[i].t_s;
        CHECK_NEAR(
            rows[i].row,
            world_range(&w, rows[i].x_m, rows[i].y_m, rows[i].heading_rad, rows[i].range_max_m),
            rows[i].want_m, 0.0, 1e-12);
    }
}

static void test_blocked(void)
{
    /* In reading order. NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
    static const struct {
        const char *row;
        double t_s;
        bool mapped_only;
        double x_m, y_m, radius_m;
        bool want;
    } rows[] = {
        {"free", 0.0, false, 0.0, 0.0, 0.2, false},
        {"person", 6.0, false, 0.9, 0.0, 0.2, true},
        {"person is not on the map", 6.0, true, 0.9, 0.0, 0.2, false},
        {"near the pillar", 0.0, false, 1.31, 0.0, 0.2, true},
        {"next to it", 0.0, false, 1.29, 0.0, 0.2, false},
        {"point in the pillar", 0.0, false, 2.0, 0.0, 0.0, true},
        {"point in the table", 0.0, false, -1.2, -0.7, 0.0, true},
        {"edge of the table", 0.0, false, -0.85, -1.0, 0.2, true},
        {"clear of its corner", 0.0, false, -0.85, -0.35, 0.2, false},
        {"wall", 0.0, false, 0.5, 1.1, 0.15, true},
        {"point on the wall", 0.0, false, 0.5, 1.0, 0.0, true},
        {"at the bound", 0.0, false, -2.9, 1.0, 0.2, true},
        {"outside", 0.0, false, -3.5, 1.0, 0.0, true},
        {"not a number", 0.0, false, (double)NAN, 0.0, 0.1, true},
    };
    static struct world w;
    make_room(&w);
    for (size_t i = 0; i < COUNT(rows); i++) {
        w.t_s = rows[i].t_s;
        w.mapped_only = rows[i].mapped_only;
        CHECK_INT(rows[i].row, world_blocked(&w, rows[i].x_m, rows[i].y_m, rows[i].radius_m),
                  rows[i].want);
    }
}

static void test_blocked_way(void)
{
    static const struct {
        const char *row;
        struct world_point from, to;
        double radius_m;
        bool want;
    } rows[] = {
        {"free", {0.0, 0.0}, {1.0, 0.5}, 0.2, false},
        {"through the pillar", {0.0, 0.0}, {2.9, 0.0}, 0.0, true},
        {"close by the pillar", {0.0, 0.6}, {2.5, 0.6}, 0.15, true},
        {"not so close", {0.0, 0.65}, {2.5, 0.65}, 0.14, false},
        {"through the table", {-2.5, -1.0}, {0.0, -1.0}, 0.0, true},
        {"ends in the table", {0.0, -1.0}, {-1.5, -1.0}, 0.0, true},
        {"through the wall", {0.5, 0.7}, {0.5, 1.4}, 0.0, true},
        {"beyond the wall's end", {-0.3, 0.7}, {-0.3, 1.4}, 0.25, false},
        {"out of bounds", {0.0, 0.0}, {0.0, -2.5}, 0.0, true},
        {"not a number", {0.0, 0.0}, {(double)NAN, 0.0}, 0.0, true},
    };
    static struct world w;
    make_room(&w);
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(rows[i].row,
                  world_blocked_way(&w, &rows[i].from, &rows[i].to, rows[i].radius_m),
                  rows[i].want);
        CHECK_INT(rows[i].row,
                  world_blocked_way(&w, &rows[i].to, &rows[i].from, rows[i].radius_m),
                  rows[i].want);
    }
}

static void test_add(void)
{
    static struct world w;
    static const struct world_point bad[] = {{0.0, 0.0}, {1.0, (double)NAN}, {1.0, 1.0}};
    static const struct world_point two[] = {{0.0, 0.0}, {1.0, 0.0}};
    struct world_obstacle o = {.shape = WORLD_POLYGON};
    w = (struct world){0};
    CHECK_INT("not finite", world_add(&w, &o, bad, 3), STATUS_E_RANGE);
    CHECK_INT("two corners", world_add(&w, &o, two, 2), STATUS_E_RANGE);
    o.shape = WORLD_CIRCLE;
    CHECK_INT("no radius", world_add(&w, &o, two, 1), STATUS_E_RANGE);
    o.radius_m = 1.0;
    CHECK_INT("two centres", world_add(&w, &o, two, 2), STATUS_E_RANGE);
    o.appears_s = 3.0;
    o.leaves_s = 3.0;
    CHECK_INT("leaves as it comes", world_add(&w, &o, two, 1), STATUS_E_RANGE);
    o.leaves_s = -1.0;
    CHECK_INT("left before", world_add(&w, &o, two, 1), STATUS_E_RANGE);
    CHECK_INT("nothing was added", w.obstacle_count, 0);
    CHECK_NEAR("empty", world_range(&w, 0.0, 0.0, 0.0, 7.0), 7.0, 0.0, 0.0);
    CHECK("empty", isinf(world_clearance(&w, 0.0, 0.0)));
    o = (struct world_obstacle){.shape = WORLD_WALL};
    for (size_t i = 0; i < WORLD_OBSTACLES_MAX; i++) {
        CHECK_INT("room for all", world_add(&w, &o, two, 2), STATUS_OK);
    }
    CHECK_INT("full", world_add(&w, &o, two, 2), STATUS_E_FULL);
}

/* Returns the lidar's range, looking ahead from x_m, and the draw of its noise. */
static double ping_range(const struct world *w, double noise_m, double x_m, uint64_t seed,
                         double *draw)
{
    const struct diffdrive_params params = {.lidar_range_m = 2.0, .lidar_noise_m = noise_m};
    struct diffdrive_plant plant = {.pose = {x_m, 0.0, PI / 2.0}, .random = {.state = seed}};
    struct random_source same = {.state = seed};
    *draw = random_normal(&same);
    return diffdrive_plant_ping(&plant, &params, w, -PI / 2.0);
}

static void test_lidar(void)
{
    static struct world w;
    bool beyond = false;
    bool nearer = false;
    double draw;
    make_room(&w);
    CHECK_NEAR("exact", ping_range(&w, 0.0, 0.0, 1, &draw), 1.5, 0.0, 1e-12);
    for (uint64_t seed = 1; seed < 20; seed++) {
        const double noisy_m = ping_range(&w, 0.02, 0.0, seed, &draw);
        CHECK_NEAR("noise", noisy_m, 1.5 + 0.02 * draw, 0.0, 1e-12);
        CHECK_NEAR("nothing within range", ping_range(&w, 0.5, -1.0, seed, &draw), 2.0, 0.0,
                   0.0);
        const double far_m = ping_range(&w, 0.5, -0.49, seed, &draw);
        CHECK_NEAR("never beyond", far_m, fmin(1.99 + 0.5 * draw, 2.0), 0.0, 1e-12);
        beyond |= draw > 0.1;
        const double near_m = ping_range(&w, 0.5, 1.49, seed, &draw);
        CHECK_NEAR("nor below zero", near_m, fmax(0.01 + 0.5 * draw, 0.0), 0.0, 1e-12);
        nearer |= draw < -0.1;
    }
    CHECK("both were", beyond && nearer);
    CHECK_NEAR("no map", ping_range(NULL, 0.5, 0.0, 1, &draw), 2.0, 0.0, 0.0);
}

/* A ray ends where the world is blocked, and the way there is free. */
static void test_range_agrees_with_blocked(void)
{
    static struct world w;
    make_room(&w);
    srand(check_seed(7));
    for (int i = 0; i < 20000; i++) {
        w.t_s = 10.0 * rand() / RAND_MAX;
        const struct world_point from = {6.4 * rand() / RAND_MAX - 3.2,
                                         4.4 * rand() / RAND_MAX - 2.2};
        const double heading = 2.0 * PI * rand() / RAND_MAX;
        const double range = world_range(&w, from.x_m, from.y_m, heading, 20.0);
        CHECK("bounded", range < 20.0);
        if (world_blocked(&w, from.x_m, from.y_m, 0.0)) {
            CHECK("blocked", range <= 0.0);
            continue;
        }
        const struct world_point hit = {from.x_m + (range + 1e-9) * cos(heading),
                                        from.y_m + (range + 1e-9) * sin(heading)};
        const struct world_point before = {from.x_m + (range - 1e-9) * cos(heading),
                                           from.y_m + (range - 1e-9) * sin(heading)};
        CHECK("blocked there", world_blocked_way(&w, &from, &hit, 0.0));
        CHECK("free before", !world_blocked_way(&w, &from, &before, 0.0));
        CHECK("clearance is no more than the range",
              world_clearance(&w, from.x_m, from.y_m) <= range + 1e-12);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("world", NULL, NULL);
    CU_add_test(suite, "range", test_range);
    CU_add_test(suite, "blocked", test_blocked);
    CU_add_test(suite, "blocked way", test_blocked_way);
    CU_add_test(suite, "add", test_add);
    CU_add_test(suite, "lidar", test_lidar);
    CU_add_test(suite, "range agrees with blocked", test_range_agrees_with_blocked);
    return check_run();
}
