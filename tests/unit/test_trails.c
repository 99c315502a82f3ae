/* tests/unit/test_trails.c - the stored trails of robots. */
#include "tests/support/check.h"

#include <jansson.h>

#include "base/numbers/constants.h"
#include "web/stream/trails.h"

static struct pair *pairs[TRAIL_PAIRS_MAX + 2];
static const struct pair *shown[TRAIL_PAIRS_MAX + 2];
static struct pair_params params[TRAIL_PAIRS_MAX + 2];
static struct view view = {.pairs = shown, .params = params};
static struct pair_rings *trails;

static void open_trails(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pairs[i] = calloc(1, sizeof *pairs[i]);
        CU_ASSERT_FATAL(pairs[i] != NULL);
        shown[i] = pairs[i];
    }
    view.pair_count = n;
    CU_ASSERT_FATAL(trails_create(&trails) == STATUS_OK);
}

static void close_trails(void)
{
    pair_rings_destroy(trails);
    for (size_t i = 0; i < view.pair_count; i++) {
        free(pairs[i]);
    }
}

/* A sample, and a look at it. */
static void add_sample(size_t pair, enum side side, int k, double x_m, double y_m,
                       double yaw_rad)
{
    struct pair_side *s = &pairs[pair]->side[side];
    s->telemetry++;
    s->seen_us = INT64_C(1000000) * k;
    s->pose_count = 3;
    s->pose[0] = x_m;
    s->pose[1] = y_m;
    s->pose[2] = yaw_rad;
    trails_look(trails, &view);
}

/* To be given to json_decref(). */
static json_t *read_track(size_t pair, const char *side)
{
    static char text[1 << 18];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    json_write_object(&w, NULL);
    trails_write(trails, &w, pair);
    json_write_close(&w);
    CHECK("whole", json_write_end(&w));
    json_t *document = json_loadb(text, w.used, 0, NULL);
    json_t *found = json_incref(json_object_get(document, side));
    json_decref(document);
    return found;
}

static double read_number(json_t *points, size_t k, size_t column)
{
    return json_number_value(json_array_get(json_array_get(points, k), column));
}

static void test_retained(void)
{
    open_trails(2);
    trails_look(trails, &view);
    add_sample(0, SIDE_REAL, 1, 1.0, 2.0, 0.5);
    add_sample(0, SIDE_REAL, 2, 1.01, 2.0, 0.5); /* at rest */
    add_sample(0, SIDE_REAL, 3, 1.015, 2.0, 0.6);
    add_sample(0, SIDE_REAL, 4, 1.5, 2.0, 0.6);
    trails_look(trails, &view); /* no news */
    json_t *real = read_track(0, "real");
    json_t *virtual = read_track(0, "virtual");
    json_t *other = read_track(1, "real");
    CHECK_INT("steps and turns", json_array_size(real), 3);
    CHECK_NEAR("t", read_number(real, 1, 0), 3.0, 0.0, 0.0);
    CHECK_NEAR("x", read_number(real, 2, 1), 1.5, 0.0, 1e-4);
    CHECK_NEAR("y", read_number(real, 2, 2), 2.0, 0.0, 1e-4);
    CHECK_NEAR("yaw", read_number(real, 2, 3), 0.6, 0.0, 1e-4);
    CHECK_INT("other side", json_array_size(virtual), 0);
    CHECK_INT("other pair", json_array_size(other), 0);
    json_decref(real);
    json_decref(virtual);
    json_decref(other);
    close_trails();
}

/* A robot that moves all the time: the newest pose is there, and ten minutes are. */
static void test_ten_minutes(void)
{
    open_trails(1);
    struct pair_side *s = &pairs[0]->side[SIDE_REAL];
    s->pose_count = 3;
    for (int k = 0; k <= 5 * 700; k++) { /* five looks a second */
        s->telemetry++;
        s->seen_us = INT64_C(200000) * k;
        s->pose[0] = 0.1 * k;
        trails_look(trails, &view);
    }
    json_t *real = read_track(0, "real");
    const size_t n = json_array_size(real);
    CHECK_NEAR("newest", read_number(real, n - 1, 0), 700.0, 0.0, 0.0);
    CHECK_NEAR("its place", read_number(real, n - 1, 1), 350.0, 0.0, 1e-3);
    CHECK("ten minutes", read_number(real, 0, 0) <= 100.0);
    json_decref(real);
    close_trails();
}

/* For an arm the trail is the tool's, from its six joints and its lengths. */
static void test_arm(void)
{
    static const double work[6] = {0.0, -PI / 2.0, -PI / 2.0, -PI / 2.0, PI / 2.0, 0.0};
    open_trails(1);
    struct pair_side *s = &pairs[0]->side[SIDE_REAL];
    (void)snprintf(params[0].arm, sizeof params[0].arm, "ur5");
    s->pose_count = 6;
    memcpy(s->pose, work, sizeof work);
    for (int k = 0; k < 4; k++) {
        s->telemetry++;
        s->seen_us = INT64_C(1000000) * k;
        s->pose[0] = k == 1 ? 0.001 : k >= 2 ? 0.1 : 0.0; /* 0.5 mm, then 5 cm, then at rest */
        trails_look(trails, &view);
    }
    s->telemetry++;
    s->pose_count = 3; /* no arm's */
    trails_look(trails, &view);
    json_t *real = read_track(0, "real");
    CHECK_INT("steps of the tool", json_array_size(real), 2);
    CHECK_NEAR("x", read_number(real, 0, 1), 0.4869, 0.0, 1e-4);
    CHECK_NEAR("y", read_number(real, 0, 2), -0.10915, 0.0, 1e-4);
    CHECK_NEAR("z", read_number(real, 0, 3), 0.431859, 0.0, 1e-4);
    CHECK_NEAR("t", read_number(real, 1, 0), 2.0, 0.0, 0.0);
    json_decref(real);
    params[0].arm[0] = '\0';
    close_trails();
}

static void test_ring(void)
{
    open_trails(1);
    for (int k = 0; k < TRAIL_POINTS_MAX + 50; k++) {
        add_sample(0, SIDE_VIRTUAL, k, 0.1 * k, 0.0, 0.0);
    }
    json_t *points = read_track(0, "virtual");
    CHECK_INT("bounded", json_array_size(points), TRAIL_POINTS_MAX);
    CHECK_NEAR("oldest", read_number(points, 0, 0), 50.0, 0.0, 0.0);
    CHECK_NEAR("newest", read_number(points, TRAIL_POINTS_MAX - 1, 0), TRAIL_POINTS_MAX + 49.0,
               0.0, 0.0);
    json_decref(points);
    close_trails();
}

static void test_many_pairs(void)
{
    open_trails(TRAIL_PAIRS_MAX + 2);
    for (size_t i = 0; i < TRAIL_PAIRS_MAX + 2; i++) {
        add_sample(i, SIDE_REAL, 1, 1.0, 1.0, 0.0);
    }
    json_t *last = read_track(TRAIL_PAIRS_MAX - 1, "real");
    json_t *beyond = read_track(TRAIL_PAIRS_MAX, "real");
    CHECK_INT("the last one followed", json_array_size(last), 1);
    CHECK_INT("one more", json_array_size(beyond), 0);
    json_decref(last);
    json_decref(beyond);
    close_trails();
}

static void test_poses(void)
{
    static const struct {
        const char *row;
        double pose[6];
        size_t count;
        bool is_pose;
    } rows[] = {
        {"plane", {1, 2, 3}, 3, true},     {"space", {1, 2, 9, 9, 9, 3}, 6, true},
        {"joint", {1}, 1, false},          {"none", {0}, 0, false},
        {"broken", {1, NAN, 3}, 3, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        double at[3] = {0};
        CHECK_INT(rows[i].row, trail_pose(rows[i].pose, rows[i].count, &at[0], &at[1], &at[2]),
                  rows[i].is_pose);
        for (size_t k = 0; rows[i].is_pose && k < 3; k++) {
            CHECK_NEAR(rows[i].row, at[k], (double)(k + 1), 0.0, 0.0);
        }
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("trails", NULL, NULL);
    CU_add_test(suite, "stored trail", test_retained);
    CU_add_test(suite, "ten minutes", test_ten_minutes);
    CU_add_test(suite, "ring", test_ring);
    CU_add_test(suite, "arm", test_arm);
    CU_add_test(suite, "many pairs", test_many_pairs);
    CU_add_test(suite, "poses", test_poses);
    return check_run();
}
