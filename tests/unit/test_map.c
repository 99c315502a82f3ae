/* A map from sweeps in simulated rooms, held against the truth: where walls are, where the
 * robot is, and how sure of that it is. */
#include "tests/support/check.h"

#include "base/numbers/constants.h"
#include "base/numbers/random.h"
#include "twin/map/scan_match.h"
#include "twin/sim/robot/world.h"

enum { STOPS = 62, RAYS_MAX = 360 };
static const double RANGE_M = 12.0, NOISE_M = 0.01;
static const struct odometry_error ODOMETRY = {0.05, 0.05, 0.06};

struct tour {
    struct world world;
    struct grid_place place;
    double way[8][2]; /* m, driven round and round */
    int corners, stops, rays;
    /* odometry: a wrong wheel, part of distances and turns; and what differs from move to move
     */
    double wheel, scatter, turn_scatter_rad;
};

struct result {
    double position_m, yaw_rad, odometry_m; /* largest errors */
    int outcomes[SCAN_OUTCOME_COUNT];
    int inside;                         /* stops with the truth in the belief's 95 % region */
    double found, false_share, along_m; /* of cells; the last standard deviation along x */
    double along_off_m;                 /* what was corrected along x in all */
    double across_m;                    /* largest error along y */
};

static void add_shape(struct world *w, enum world_shape shape, double radius_m, size_t n,
                      const double *xy)
{
    struct world_obstacle what = {.shape = shape, .radius_m = radius_m};
    struct world_point points[80];
    (void)snprintf(what.name, sizeof what.name, "thing%zu", w->obstacle_count);
    for (size_t i = 0; i < n; i++) {
        points[i] = (struct world_point){xy[2 * i], xy[2 * i + 1]};
    }
    CHECK_INT("world", world_add(w, &what, points, n), STATUS_OK);
}

static struct tour make_room(int rays)
{
    struct tour t = {
        .place = {0.05, -1.0, -1.0, 240, 160},
        .way = {{1.2, 1.3}, {8.8, 1.6}, {9.0, 3.8}, {7.0, 4.6}, {4.2, 4.2}, {1.2, 4.0}},
        .corners = 6,
        .stops = STOPS,
        .rays = rays,
        .wheel = 0.03,
        .scatter = 0.01,
        .turn_scatter_rad = 0.01};
    add_shape(&t.world, WORLD_WALL, 0, 5, (double[]){0, 0, 10, 0, 10, 6, 0, 6, 0, 0});
    add_shape(&t.world, WORLD_POLYGON, 0, 4, (double[]){2, 4.5, 3.5, 4.5, 3.5, 5.5, 2, 5.5});
    add_shape(&t.world, WORLD_POLYGON, 0, 4, (double[]){6, 0.3, 7, 0.3, 7, 1, 6, 1});
    add_shape(&t.world, WORLD_POLYGON, 0, 4,
              (double[]){0.1, 2.6, 0.5, 2.6, 0.5, 3.6, 0.1, 3.6});
    add_shape(&t.world, WORLD_CIRCLE, 0.3, 1, (double[]){5, 3});
    add_shape(&t.world, WORLD_CIRCLE, 0.2, 1, (double[]){8.5, 4.8});
    return t;
}

/* Two walls without ends, 2 m apart. */
static struct tour make_corridor(void)
{
    struct tour t = {.place = {0.05, -5.0, 0.0, 800, 120},
                     .way = {{1.2, 3.0}, {30.0, 3.0}},
                     .corners = 2,
                     .stops = 20,
                     .rays = 180,
                     .scatter = 0.03};
    add_shape(&t.world, WORLD_WALL, 0, 2, (double[]){-40, 2, 80, 2});
    add_shape(&t.world, WORLD_WALL, 0, 2, (double[]){-40, 4, 80, 4});
    return t;
}

static size_t measure_sweep(const struct tour *t, const struct plane_pose *at,
                         struct random_source *dice, struct grid_ray rays[RAYS_MAX])
{
    for (int i = 0; i < t->rays; i++) {
        const double angle = 2.0 * PI * i / t->rays;
        const double range =
            world_range(&t->world, at->x_m, at->y_m, at->yaw_rad + angle, RANGE_M);
        rays[i] = (struct grid_ray){
            angle, range < RANGE_M && dice ? range + NOISE_M * random_normal(dice) : range};
    }
    return (size_t)t->rays;
}

/* Turns to the next corner and drives up to a metre; odometry errs. */
static void drive_on(const struct tour *t, int *corner, struct random_source *dice,
                     struct plane_pose *truth, struct plane_pose *odometry)
{
    if (hypot(t->way[*corner][0] - truth->x_m, t->way[*corner][1] - truth->y_m) < 0.5) {
        *corner = (*corner + 1) % t->corners;
    }
    const double dx = t->way[*corner][0] - truth->x_m, dy = t->way[*corner][1] - truth->y_m;
    const double turn = remainder(atan2(dy, dx) - truth->yaw_rad, 2.0 * PI);
    const double far = fmin(1.0, hypot(dx, dy));
    truth->yaw_rad += turn;
    truth->x_m += far * cos(truth->yaw_rad);
    truth->y_m += far * sin(truth->yaw_rad);
    const double went = far * (1.0 + t->wheel + t->scatter * random_normal(dice));
    odometry->yaw_rad += turn * (1.0 + t->wheel + t->scatter * random_normal(dice)) +
                         t->turn_scatter_rad * random_normal(dice);
    odometry->x_m += went * cos(odometry->yaw_rad);
    odometry->y_m += went * sin(odometry->yaw_rad);
}

/* d' C^-1 d by elimination. */
static double distance_squared(const struct pose_belief *b, const struct plane_pose *truth)
{
    const double d[3] = {b->at.x_m - truth->x_m, b->at.y_m - truth->y_m,
                         remainder(b->at.yaw_rad - truth->yaw_rad, 2.0 * PI)};
    double m[3][4], sum = 0.0;
    for (int i = 0; i < 3; i++) {
        memcpy(m[i], b->cov[i], sizeof b->cov[i]);
        m[i][3] = d[i];
    }
    for (int i = 0; i < 3; i++) {
        for (int k = i + 1; k < 3; k++) {
            for (int j = 3; j >= i; j--) {
                m[k][j] -= m[k][i] / m[i][i] * m[i][j];
            }
        }
    }
    double x[3];
    for (int i = 2; i >= 0; i--) {
        x[i] = m[i][3];
        for (int j = i + 1; j < 3; j++) {
            x[i] -= m[i][j] * x[j];
        }
        x[i] /= m[i][i];
        sum += d[i] * x[i];
    }
    return sum;
}

/* Surfaces that three sweeps have seen, by rays without noise: is an occupied cell within one
 * of each? And which occupied cells are further than one from any surface? */
static void judge_cells(const struct tour *t, const struct grid *g, const uint8_t *seen,
                        struct result *r)
{
    const size_t w = g->place.width, h = g->place.height;
    double surfaces = 0, found = 0, occupied = 0, wrong = 0;
    for (size_t i = 0; i < w * h; i++) {
        const size_t x = i % w, y = i / w;
        if (g->odds[i] >= GRID_OCCUPIED) {
            occupied++;
            wrong += world_clearance(&t->world, g->place.x_min_m + 0.05 * ((double)x + 0.5),
                                     g->place.y_min_m + 0.05 * ((double)y + 0.5)) > 0.075;
        }
        if (seen[i] >= 3 && x > 0 && y > 0 && x + 1 < w && y + 1 < h) {
            bool near = false;
            for (size_t k = 0; k < 9; k++) {
                near = near || g->odds[(y + k / 3 - 1) * w + x + k % 3 - 1] >= GRID_OCCUPIED;
            }
            surfaces++;
            found += near;
        }
    }
    r->found = found / surfaces;
    r->false_share = wrong / occupied;
}

static struct result drive_tour(const struct tour *t, uint64_t seed)
{
    struct random_source dice = random_stream(14, seed);
    struct result r = {0};
    struct grid g;
    void *memory = malloc(grid_bytes(&t->place));
    uint8_t *seen = calloc(t->place.width * t->place.height, 1);
    CHECK_INT("grid", grid_init(&g, &t->place, memory), STATUS_OK);
    struct plane_pose truth = {t->way[0][0], t->way[0][1], 0.0}, odometry = truth;
    struct pose_belief belief = pose_belief_at(&truth);
    int corner = 1;
    for (int stop = 0; stop < t->stops; stop++) {
        struct grid_ray rays[RAYS_MAX];
        struct scan_match match = {.outcome = SCAN_MATCHED};
        if (stop > 0) {
            const struct plane_pose before = odometry;
            drive_on(t, &corner, &dice, &truth, &odometry);
            pose_belief_move(&belief, &before, &odometry, &ODOMETRY);
        }
        const struct grid_sweep exact = {rays, measure_sweep(t, &truth, NULL, rays), RANGE_M};
        for (size_t i = 0; i < exact.count; i++) {
            const double yaw = truth.yaw_rad + rays[i].angle_rad;
            const double x = truth.x_m + rays[i].range_m * cos(yaw) - t->place.x_min_m;
            const double y = truth.y_m + rays[i].range_m * sin(yaw) - t->place.y_min_m;
            if (rays[i].range_m < RANGE_M && x > 0.0 && y > 0.0 &&
                (size_t)(x / 0.05) < t->place.width && (size_t)(y / 0.05) < t->place.height) {
                uint8_t *count =
                    &seen[(size_t)(y / 0.05) * t->place.width + (size_t)(x / 0.05)];
                *count = (uint8_t)(*count < 255 ? *count + 1 : 255);
            }
        }
        const struct grid_sweep sweep = {rays, measure_sweep(t, &truth, &dice, rays), RANGE_M};
        if (stop > 0) {
            const double x_m = belief.at.x_m;
            match = scan_match(&g, &belief, &sweep);
            r.along_off_m += belief.at.x_m - x_m;
        }
        if (match.outcome == SCAN_MATCHED) {
            CHECK("hits", grid_add(&g, &belief.at, &sweep) > 0);
        }
        r.outcomes[match.outcome]++;
        r.inside += distance_squared(&belief, &truth) < 7.815; /* chi-square, 3 degrees, 95 % */
        r.position_m =
            fmax(r.position_m, hypot(belief.at.x_m - truth.x_m, belief.at.y_m - truth.y_m));
        r.across_m = fmax(r.across_m, fabs(belief.at.y_m - truth.y_m));
        r.yaw_rad =
            fmax(r.yaw_rad, fabs(remainder(belief.at.yaw_rad - truth.yaw_rad, 2.0 * PI)));
        r.odometry_m =
            fmax(r.odometry_m, hypot(odometry.x_m - truth.x_m, odometry.y_m - truth.y_m));
        r.along_m = sqrt(belief.cov[0][0]);
    }
    judge_cells(t, &g, seen, &r);
    free(seen);
    free(memory);
    return r;
}

static void test_room(void)
{
    for (uint64_t seed = 0; seed < 2; seed++) {
        const struct tour t = make_room(90);
        const struct result r = drive_tour(&t, seed);
        CHECK("odometry alone is lost", r.odometry_m > 1.0);
        CHECK("position", r.position_m <= 0.05);
        CHECK("heading", r.yaw_rad <= 1.0 * RAD_PER_DEG);
        CHECK_INT("matched", r.outcomes[SCAN_MATCHED], STOPS);
        CHECK("95 % region", r.inside >= 59); /* 62 x 0.95 */
        CHECK("walls found", r.found >= 0.95);
        CHECK("cells that are none", r.false_share <= 0.02);
    }
}

/* With a ray each 10 degrees sweeps do not overlap; the belief must say how lost it is. */
static void test_few_rays(void)
{
    const struct tour t = make_room(36);
    const struct result r = drive_tour(&t, 0);
    CHECK("hardly ever matched", r.outcomes[SCAN_MATCHED] < STOPS / 4);
    CHECK("lost", r.position_m > 0.2);
    CHECK("knows it", r.inside >= 59);
}

/* Across it, and in heading, the walls correct; along it nothing is known but odometry. */
static void test_corridor(void)
{
    const struct tour t = make_corridor();
    const struct result r = drive_tour(&t, 3);
    CHECK_INT("matched", r.outcomes[SCAN_MATCHED], t.stops);
    CHECK_NEAR("along", r.along_off_m, 0.0, 0.0, 0.02);
    CHECK_NEAR("as sure as odometry", r.along_m, 0.05 * sqrt(t.stops - 1), 0.15, 0.0);
    CHECK("across", r.across_m <= 0.05);
    CHECK("heading", r.yaw_rad <= 1.0 * RAD_PER_DEG);
}

/* A sweep where nothing is known yet, and a belief that is wrong by more than the window. */
static void test_refusals(void)
{
    const struct tour t = make_room(180);
    struct random_source dice = random_stream(1, 1);
    struct grid g;
    struct grid_ray rays[RAYS_MAX];
    void *memory = malloc(grid_bytes(&t.place));
    CHECK_INT("grid", grid_init(&g, &t.place, memory), STATUS_OK);
    const struct plane_pose truth = {3.0, 2.0, 0.3}, wrong = {3.3, 2.2, 0.3};
    struct pose_belief belief = pose_belief_at(&truth);
    const struct pose_belief same = belief;
    struct grid_sweep sweep = {rays, measure_sweep(&t, &truth, &dice, rays), RANGE_M};
    CHECK_INT("nothing known", scan_match(&g, &belief, &sweep).outcome, SCAN_UNKNOWN);
    CHECK("unchanged", memcmp(&belief, &same, sizeof belief) == 0);
    (void)grid_add(&g, &truth, &sweep);
    belief = pose_belief_at(&wrong);
    belief.cov[0][0] = belief.cov[1][1] = 0.01;
    CHECK("outside of the window", scan_match(&g, &belief, &sweep).outcome != SCAN_MATCHED);
    belief.cov[0][0] = belief.cov[1][1] = 0.09; /* honest: then the window is large enough */
    CHECK_INT("inside", scan_match(&g, &belief, &sweep).outcome, SCAN_MATCHED);
    CHECK_NEAR("x", belief.at.x_m, truth.x_m, 0.0, 0.02);
    CHECK_NEAR("y", belief.at.y_m, truth.y_m, 0.0, 0.02);
    sweep.count = 20;
    CHECK_INT("few rays", scan_match(&g, &belief, &sweep).outcome, SCAN_FEW_RAYS);
    free(memory);
}

/* Walls in folds of 20 cm: a sweep fits a fold further as well. */
static void test_ambiguous(void)
{
    struct tour t = {.place = {0.05, -1.0, -1.0, 240, 160}, .rays = RAYS_MAX};
    double folds[2 * 80];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 80; i++) {
            folds[2 * i] = 0.1 * i;
            folds[2 * i + 1] = 1.0 + 2.0 * k + (i % 2 ? 0.15 : 0.0);
        }
        add_shape(&t.world, WORLD_WALL, 0, 80, folds);
    }
    struct random_source dice = random_stream(2, 1);
    struct grid g;
    struct grid_ray rays[RAYS_MAX];
    void *memory = malloc(grid_bytes(&t.place));
    CHECK_INT("grid", grid_init(&g, &t.place, memory), STATUS_OK);
    const struct plane_pose truth = {4.0, 2.0, 0.0};
    const struct grid_sweep sweep = {rays, measure_sweep(&t, &truth, &dice, rays), RANGE_M};
    (void)grid_add(&g, &truth, &sweep);
    struct pose_belief belief = pose_belief_at(&truth);
    belief.cov[0][0] = 0.04;
    const struct scan_match m = scan_match(&g, &belief, &sweep);
    CHECK_INT("folds", m.outcome, SCAN_AMBIGUOUS);
    free(memory);
}

static int odds_at(const struct grid *g, double x_m, double y_m)
{
    const double cell_m = g->place.cell_m;
    return g->odds[(size_t)(y_m / cell_m) * g->place.width + (size_t)(x_m / cell_m)];
}

static void test_bounds(void)
{
    const struct grid_place bad[] = {{0.05, 0, 0, 0, 10},
                                     {0.05, 0, 0, 2001, 1},
                                     {0.001, 0, 0, 9, 9},
                                     {0.05, NAN, 0, 9, 9},
                                     {0.05, 0, 0, 1500, 1500}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT("size", grid_bytes(&bad[i]), 0);
    }
    const struct grid_place place = {0.05, 0.0, 0.0, 40, 40};
    const struct grid_ray rays[] = {
        {NAN, 1.0}, {0.0, NAN}, {0.0, -1.0}, {0.0, 1e300}, {0.0, 1.0}};
    const struct grid_sweep sweep = {rays, 5, 1e300};
    const struct plane_pose poses[] = {
        {1.0, 1.0, 0.0}, {1e300, -1e300, 1e10}, {-50.0, 1.0, 0.0}};
    struct grid g;
    void *memory = malloc(grid_bytes(&place));
    CHECK_INT("grid", grid_init(&g, &place, memory), STATUS_OK);
    for (size_t i = 0; i < 3; i++) {
        (void)grid_add(&g, &poses[i], &sweep);
    }
    CHECK_INT("two poses look through it", odds_at(&g, 1.9, 1.0), 2 * GRID_MISS);
    CHECK_INT("not looked at", odds_at(&g, 1.0, 1.5), 0);
    CHECK_NEAR("outside", grid_likelihood(&g, -1e300, 1.0), 0.0, 0.0, 0.0);
    const struct grid_ray hit[] = {{0.0, 0.5}};
    for (int i = 0; i < 70000; i++) { /* more sweeps than stamps */
        (void)grid_add(&g, &poses[0], &(struct grid_sweep){hit, 1, 2.0});
    }
    CHECK_INT("hit", odds_at(&g, 1.5, 1.01), GRID_LIMIT);
    CHECK_INT("free", odds_at(&g, 1.2, 1.01), -GRID_LIMIT);
    CHECK_NEAR("field", grid_likelihood(&g, 1.5, 1.0), 1.0, 0.0, 0.1);
    free(memory);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    CU_pSuite suite = CU_add_suite("map", NULL, NULL);
    CU_add_test(suite, "a room", test_room);
    CU_add_test(suite, "few rays", test_few_rays);
    CU_add_test(suite, "a corridor", test_corridor);
    CU_add_test(suite, "refusals", test_refusals);
    CU_add_test(suite, "folds", test_ambiguous);
    CU_add_test(suite, "bounds", test_bounds);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? 0 : 1;
}
