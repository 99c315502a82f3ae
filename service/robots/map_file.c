#include "service/robots/map_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/lab_file.h"
#include "service/robots/points.h"

/* As in the file. */
enum shape { SHAPE_CIRCLE, SHAPE_BOX, SHAPE_POLYGON, SHAPE_WALL };

struct map {
    struct world world;
    char name[WORLD_NAME_MAX];
};

struct obstacle {
    enum shape shape;
    bool mapped;
    double x_m, y_m, radius_m, width_m, depth_m, rotation_rad, appears_s, leaves_s;
};

/* clang-format off */
#define IN_MAP(m)      OPTION_AT(struct map, m)
#define IN_OBSTACLE(m) OPTION_AT(struct obstacle, m)
#define PLACE          -POINTS_LIMIT_M, POINTS_LIMIT_M, ""
#define SIZE           1e-3, POINTS_LIMIT_M, ""

static const struct option_row map_rows[] = {
    {"name", OPTION_TEXT, "", "", OPTION_NO_RANGE, IN_MAP(name), "Name of the place."},
    {"bounds.x_min_m", OPTION_REAL, "m", "0", PLACE, IN_MAP(world.bounds.x_min_m),
     "Robots stay within the bounds; without them the plane is endless."},
    {"bounds.y_min_m", OPTION_REAL, "m", "0", PLACE, IN_MAP(world.bounds.y_min_m), ""},
    {"bounds.x_max_m", OPTION_REAL, "m", "0", PLACE, IN_MAP(world.bounds.x_max_m), ""},
    {"bounds.y_max_m", OPTION_REAL, "m", "0", PLACE, IN_MAP(world.bounds.y_max_m), ""},
    {"obstacles", OPTION_MAP, "", "", OPTION_BY_HAND, "The obstacles by their names."},
};

static const struct option_row obstacle_rows[] = {
    {"shape", OPTION_CHOICE, "", "circle", 0.0, 0.0, "circle|box|polygon|wall", IN_OBSTACLE(shape),
     "What it looks like from above."},
    {"x_m", OPTION_REAL, "m", "0", PLACE, IN_OBSTACLE(x_m), "Centre of a circle or box."},
    {"y_m", OPTION_REAL, "m", "0", PLACE, IN_OBSTACLE(y_m), ""},
    {"radius_m", OPTION_REAL, "m", "0", SIZE, IN_OBSTACLE(radius_m), "Of a circle."},
    {"width_m", OPTION_REAL, "m", "0", SIZE, IN_OBSTACLE(width_m), "Of a box, along x before it is turned."},
    {"depth_m", OPTION_REAL, "m", "0", SIZE, IN_OBSTACLE(depth_m), "Of a box, along y."},
    {"rotation_rad", OPTION_REAL, "rad", "0", -7.0, 7.0, "", IN_OBSTACLE(rotation_rad), "Of a box, counter-clockwise."},
    {"points_m", OPTION_MAP, "", "", OPTION_BY_HAND, "Corners of a polygon or wall."},
    {"mapped", OPTION_BOOL, "", "true", OPTION_NO_RANGE, IN_OBSTACLE(mapped), "Do plans know it?"},
    {"appears_s", OPTION_REAL, "s", "0", 0.0, 1e9, "", IN_OBSTACLE(appears_s),
     "When it comes, after the robot's start."},
    {"leaves_s", OPTION_REAL, "s", "0", 1e-3, 1e9, "", IN_OBSTACLE(leaves_s), "When it goes; without it, never."},
};
/* clang-format on */

static const struct option_table map_options = {map_rows, COUNT(map_rows)};
static const struct option_table obstacle_options = {obstacle_rows, COUNT(obstacle_rows)};

/* Which shapes have which keys: the rest fit all. */
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

/* Do the keys fit the shape? */
static bool check_keys(struct option_reader *r, uint32_t node, const char *shown,
                       const struct obstacle *o, const uint32_t *given)
{
    bool fine = true;
    for (size_t i = 0; i < COUNT(shape_keys); i++) {
        const uint32_t at = option_given(&obstacle_options, given, shape_keys[i].key);
        if (at == TREE_NONE && shape_keys[i].wanted[o->shape]) {
            option_fault(r, node, "%s%s is missing, a %s needs it", shown, shape_keys[i].key,
                         shape_names[o->shape]);
            fine = false;
        } else if (at != TREE_NONE && !shape_keys[i].allowed[o->shape]) {
            option_fault(r, at, "%s%s: a %s has none", shown, shape_keys[i].key,
                         shape_names[o->shape]);
            fine = false;
        }
    }
    const uint32_t leaves = option_given(&obstacle_options, given, "leaves_s");
    if (leaves != TREE_NONE && !(o->leaves_s > o->appears_s)) {
        option_fault(r, leaves,
                     "%sleaves_s: it goes before it comes, more than %g was expected", shown,
                     o->appears_s);
        fine = false;
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

static void add_obstacle(struct option_reader *r, uint32_t node, const char *shown,
                         const struct obstacle *o, uint32_t points_node, struct world *out)
{
    static const enum world_shape shapes[] = {WORLD_CIRCLE, WORLD_POLYGON, WORLD_POLYGON,
                                              WORLD_WALL};
    struct world_point points[WORLD_POINTS_MAX];
    struct world_obstacle what = {.shape = shapes[o->shape],
                                  .unmapped = !o->mapped,
                                  .radius_m = o->radius_m,
                                  .appears_s = o->appears_s,
                                  .leaves_s = o->leaves_s};
    char list[OPTION_PREFIX_MAX + 16];
    size_t count = 1;

    (void)snprintf(what.name, sizeof what.name, "%s", tree_key(r->tree, node));
    if (o->shape == SHAPE_CIRCLE) {
        points[0] = (struct world_point){o->x_m, o->y_m};
    } else if (o->shape == SHAPE_BOX) {
        make_box(o, points);
        count = 4;
    } else {
        (void)snprintf(list, sizeof list, "%spoints_m", shown);
        points_read(r, points_node, list, o->shape == SHAPE_WALL ? 2 : 3, WORLD_POINTS_MAX,
                    points, &count);
    }
    if (count > 0 && world_add(out, &what, points, count) != STATUS_OK) {
        option_fault(r, node, "%.*s: at most %d obstacles with %d points in all were expected",
                     (int)strlen(shown) - 1, shown, WORLD_OBSTACLES_MAX, WORLD_POINTS_MAX);
    }
}

static void read_obstacle(struct option_reader *r, uint32_t node, const char *prefix,
                          struct world *out)
{
    const struct tree_node *n = &r->tree->nodes[node];
    const char *name = tree_key(r->tree, node);
    char shown[OPTION_PREFIX_MAX];
    uint32_t given[OPTION_ROWS_MAX] = {0};
    struct obstacle o = {0};

    if (n->kind == TREE_SKIPPED) {
        return;
    }
    if (!lab_check_id(name)) {
        (void)err_list_add(r->errors, STATUS_E_RANGE, r->file, n->key_line, n->key_column,
                           "obstacle '%.40s': a name has 1 to 31 letters, digits, '_' or '-'",
                           name);
        r->failed = true;
        return;
    }
    (void)snprintf(shown, sizeof shown, "%sobstacles.%s.", prefix, name);
    option_defaults(&obstacle_options, &o);
    const bool failed = r->failed;
    r->failed = false;
    option_read(r, &obstacle_options, "", node, shown, &o, given);
    const bool clean = !r->failed;
    r->failed = r->failed || failed;
    if (check_keys(r, node, shown, &o, given) && clean) {
        add_obstacle(r, node, shown, &o, option_given(&obstacle_options, given, "points_m"),
                     out);
    }
}

static void read_obstacles(struct option_reader *r, uint32_t node, const char *shown,
                           struct world *out)
{
    const struct tree_node *map = &r->tree->nodes[node];
    if (map->kind == TREE_SKIPPED || option_is_empty(r->tree, node)) {
        return;
    }
    if (map->kind != TREE_MAP) {
        option_fault(r, node,
                     "%sobstacles: names and their shapes are wanted, as in {post: {x_m: 1, "
                     "y_m: 2, radius_m: 0.1}}",
                     shown);
        return;
    }
    for (uint32_t i = map->first; i != TREE_NONE; i = r->tree->nodes[i].next) {
        read_obstacle(r, i, shown, out);
    }
}

static void check_bounds(const struct option_reading *reading, const struct world_bounds *b)
{
    static const char *const keys[] = {"bounds.x_min_m", "bounds.y_min_m", "bounds.x_max_m",
                                       "bounds.y_max_m"};
    uint32_t some = TREE_NONE;
    for (size_t i = 0; i < COUNT(keys); i++) {
        const uint32_t at = option_node(reading, keys[i]);
        some = at != TREE_NONE ? at : some;
    }
    if (some != TREE_NONE && (!(b->x_max_m > b->x_min_m) || !(b->y_max_m > b->y_min_m))) {
        option_fault(reading->r, some,
                     "%sbounds: x_max_m and y_max_m beyond x_min_m and y_min_m were expected",
                     reading->shown);
    }
}

static void finish_map(const struct option_reading *reading, void *values)
{
    struct map *map = values;
    check_bounds(reading, &map->world.bounds);
    const uint32_t obstacles = option_node(reading, "obstacles");
    if (obstacles != TREE_NONE) {
        read_obstacles(reading->r, obstacles, reading->shown, &map->world);
    }
}

const struct option_file map_file = {.what = "a map",
                                     .table = &map_options,
                                     .bytes = sizeof(struct map),
                                     .out_bytes = sizeof(struct world),
                                     .finish = finish_map};
