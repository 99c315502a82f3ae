#include "config/labfile/map_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Shapes as named in the file. */
enum shape { SHAPE_CIRCLE, SHAPE_BOX, SHAPE_POLYGON, SHAPE_WALL };

struct map {
    struct world world;
    char name[WORLD_NAME_MAX];
};

struct obstacle {
    enum shape shape;
    bool mapped;
    double x_m, y_m, width_m, depth_m, rotation_rad;
    size_t point_count;
    struct world_point points[WORLD_POINTS_MAX];
    struct world_obstacle what;
};

/* clang-format off */
#define IN_MAP(m)      OPTION_AT(struct map, m), ""
#define IN_OBSTACLE(m) OPTION_AT(struct obstacle, m), ""
#define PLACE          -POINTS_LIMIT_M, POINTS_LIMIT_M, ""
#define SIZE           1e-3, POINTS_LIMIT_M, ""

static const struct option_row coordinate = {
    .type = OPTION_REAL, .unit = "m", .fallback = "", .min = -POINTS_LIMIT_M, .max = POINTS_LIMIT_M, .choices = "",
    .size = sizeof(double)};
const struct option_items point_items = {
    .shape = OPTION_LIST, .value = &coordinate, .least = 2, .most = 2, .bytes = sizeof(double),
    .fault = FAULT_NUMBERS_EXPECTED, .what = "numbers", .example = "[1.5, -0.2]"};
const struct option_row point_value = {
    .type = OPTION_ITEMS, .size = sizeof(struct world_point), .items = &point_items};
_Static_assert(sizeof(struct world_point) == 2 * sizeof(double), "a point is two numbers");
static const struct option_items corner_items = {
    .shape = OPTION_LIST, .value = &point_value, .least = 2, .most = WORLD_POINTS_MAX,
    .bytes = sizeof(struct world_point), .count_at = offsetof(struct obstacle, point_count), .what = "points",
    .example = "[[0, 0], [1.5, -0.2]]"};
static void add_obstacle(const struct option_reading *item, void *value, void *owner);

static const struct option_row obstacle_rows[] = {
    /* Shape from above. */
    {"shape", OPTION_CHOICE, "", "circle", 0.0, 0.0, "circle|box|polygon|wall", IN_OBSTACLE(shape)},
    {"x_m", OPTION_REAL, "m", "0", PLACE, IN_OBSTACLE(x_m)}, /* Centre of a circle or box. */
    {"y_m", OPTION_REAL, "m", "0", PLACE, IN_OBSTACLE(y_m)},
    /* Radius of a circle. */
    {"radius_m", OPTION_REAL, "m", "0", SIZE, IN_OBSTACLE(what.radius_m)},
    /* Width of a box, along x before rotation. */
    {"width_m", OPTION_REAL, "m", "0", SIZE, IN_OBSTACLE(width_m)},
    /* Depth of a box, along y. */
    {"depth_m", OPTION_REAL, "m", "0", SIZE, IN_OBSTACLE(depth_m)},
    /* Rotation of a box, counter-clockwise. */
    {"rotation_rad", OPTION_REAL, "rad", "0", -7.0, 7.0, "", IN_OBSTACLE(rotation_rad)},
    {"points_m", OPTION_ARRAY(corner_items, struct obstacle, points), ""}, /* Corners of a polygon or wall. */
    /* Is it known to plans? */
    {"mapped", OPTION_BOOL, "", "true", OPTION_NO_RANGE, IN_OBSTACLE(mapped)},
    /* s after the robot's start at which it appears. */
    {"appears_s", OPTION_REAL, "s", "0", 0.0, 1e9, "", IN_OBSTACLE(what.appears_s)},
    /* s at which it disappears; default: never. */
    {"leaves_s", OPTION_REAL, "s", "0", 1e-3, 1e9, "", IN_OBSTACLE(what.leaves_s)},
};
static const struct option_items obstacle_items = {
    .shape = OPTION_NAMED, .names = OPTION_ID, .table = OPTION_TABLE(obstacle_rows), .bytes = sizeof(struct obstacle),
    .what = "shapes", .example = "{post: {x_m: 1, y_m: 2, radius_m: 0.1}}", .add = add_obstacle};

static const struct option_row map_rows[] = {
    {"name", OPTION_TEXT, "", "", OPTION_NO_RANGE, IN_MAP(name)}, /* Name of the place. */
    /* Robots stay within the bounds; without them the plane is endless. */
    {"bounds.x_min_m", OPTION_REAL, "m", "0", PLACE, IN_MAP(world.bounds.x_min_m)},
    {"bounds.y_min_m", OPTION_REAL, "m", "0", PLACE, IN_MAP(world.bounds.y_min_m)},
    {"bounds.x_max_m", OPTION_REAL, "m", "0", PLACE, IN_MAP(world.bounds.x_max_m)},
    {"bounds.y_max_m", OPTION_REAL, "m", "0", PLACE, IN_MAP(world.bounds.y_max_m)},
    {"obstacles", OPTION_EACH(obstacle_items), ""}, /* The obstacles by their names. */
};
/* clang-format on */

/* --- obstacles --------------------------------------------------------------------------- */

/* Keys that only some shapes have; all others fit every shape. */
static const struct {
    const char *key;
    bool wanted[4]; /* by shape */
    bool allowed[4];
} shape_keys[] = {
    {"x_m", {true, true, false, false}, {true, true, false, false}},
    {"y_m", {true, true, false, false}, {true, true, false, false}},
    {"radius_m", {true, false, false, false}, {true, false, false, false}},
    {"width_m", {false, true, false, false}, {false, true, false, false}},
    {"depth_m", {false, true, false, false}, {false, true, false, false}},
    {"rotation_rad", {false, false, false, false}, {false, true, false, false}},
    {"points_m", {false, false, true, true}, {false, false, true, true}},
};

static const char *const shape_names[] = {"circle", "box", "polygon", "wall"};

/* Checks that the keys fit the shape. */
static bool check_keys(const struct option_reading *item, const struct obstacle *o)
{
    bool fine = true;
    for (size_t i = 0; i < COUNT(shape_keys); i++) {
        const bool given = option_node(item, shape_keys[i].key) != TREE_NONE;
        if (!given && shape_keys[i].wanted[o->shape]) {
            fine = option_fault_at(item, shape_keys[i].key, FAULT_MISSING_KEY,
                                   "it is missing, a %s needs it", shape_names[o->shape]);
        } else if (given && !shape_keys[i].allowed[o->shape]) {
            fine = option_fault_at(item, shape_keys[i].key, FAULT_NOT_APPLICABLE,
                                   "a %s has none", shape_names[o->shape]);
        }
    }
    if (option_node(item, "leaves_s") != TREE_NONE && !(o->what.leaves_s > o->what.appears_s)) {
        fine = option_fault_at(item, "leaves_s", FAULT_WRONG_ORDER,
                               "it goes before it comes, more than %g was expected",
                               o->what.appears_s);
    }
    if (o->shape == SHAPE_POLYGON && o->point_count == 2) {
        fine = option_fault_at(item, "points_m", FAULT_WRONG_COUNT,
                               "a polygon has at least 3 points");
    }
    return fine;
}

static void make_box(const struct obstacle *o, struct world_point corners[4])
{
    static const double sides[4][2] = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
    const double c = cos(o->rotation_rad);
    const double s = sin(o->rotation_rad);
    for (size_t i = 0; i < 4; i++) {
        const double x = sides[i][0] * o->width_m;
        const double y = sides[i][1] * o->depth_m;
        corners[i] = (struct world_point){o->x_m + c * x - s * y, o->y_m + s * x + c * y};
    }
}

static void add_obstacle(const struct option_reading *item, void *value, void *owner)
{
    static const enum world_shape shapes[] = {WORLD_CIRCLE, WORLD_POLYGON, WORLD_POLYGON,
                                              WORLD_WALL};
    struct obstacle *o = value;
    struct map *map = owner;
    if (!check_keys(item, o) || item->failed) {
        return;
    }
    o->what.shape = shapes[o->shape];
    o->what.unmapped = !o->mapped;
    (void)snprintf(o->what.name, sizeof o->what.name, "%s", option_name(item));
    if (o->shape == SHAPE_CIRCLE) {
        o->points[0] = (struct world_point){o->x_m, o->y_m};
        o->point_count = 1;
    } else if (o->shape == SHAPE_BOX) {
        make_box(o, o->points);
        o->point_count = 4;
    }
    if (world_add(&map->world, &o->what, o->points, o->point_count) != STATUS_OK) {
        option_fault_at(item, "", FAULT_TOO_MANY,
                        "at most %d obstacles with %d points in all were expected",
                        WORLD_OBSTACLES_MAX, WORLD_POINTS_MAX);
    }
}

static void finish_map(const struct option_reading *reading, void *values)
{
    static const char *const keys[] = {"bounds.x_min_m", "bounds.y_min_m", "bounds.x_max_m",
                                       "bounds.y_max_m"};
    const struct world_bounds *b = &((const struct map *)values)->world.bounds;
    const char *some = NULL;
    for (size_t i = 0; i < COUNT(keys); i++) {
        some = option_node(reading, keys[i]) != TREE_NONE ? keys[i] : some;
    }
    if (some && (!(b->x_max_m > b->x_min_m) || !(b->y_max_m > b->y_min_m))) {
        option_fault_at(reading, some, FAULT_WRONG_ORDER,
                        "x_max_m and y_max_m beyond x_min_m and y_min_m were expected");
    }
}

const struct option_file map_file = {.what = "a map",
                                     .table = OPTION_TABLE(map_rows),
                                     .bytes = sizeof(struct map),
                                     .out_bytes = sizeof(struct world),
                                     .finish = finish_map};
