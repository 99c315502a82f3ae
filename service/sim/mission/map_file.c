#include "service/sim/mission/map_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logger/message/json_write.h"
#include "service/tool/json_file.h"

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
    struct world_obstacle what;
};

/* clang-format off */
#define IN_MAP(m)      OPTION_AT(struct map, m), ""
#define IN_OBSTACLE(m) OPTION_AT(struct obstacle, m), ""
#define BY_HAND        OPTION_BY_HAND, ""
#define PLACE          -POINTS_LIMIT_M, POINTS_LIMIT_M, ""
#define SIZE           1e-3, POINTS_LIMIT_M, ""

static const struct option_row map_rows[] = {
    {"name", OPTION_TEXT, "", "", OPTION_NO_RANGE, IN_MAP(name)}, /* Name of the place. */
    /* Robots stay within the bounds; without them the plane is endless. */
    {"bounds.x_min_m", OPTION_REAL, "m", "0", PLACE, IN_MAP(world.bounds.x_min_m)},
    {"bounds.y_min_m", OPTION_REAL, "m", "0", PLACE, IN_MAP(world.bounds.y_min_m)},
    {"bounds.x_max_m", OPTION_REAL, "m", "0", PLACE, IN_MAP(world.bounds.x_max_m)},
    {"bounds.y_max_m", OPTION_REAL, "m", "0", PLACE, IN_MAP(world.bounds.y_max_m)},
    {"obstacles", OPTION_MAP, "", "", BY_HAND}, /* The obstacles by their names. */
};

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
    {"points_m", OPTION_MAP, "", "", BY_HAND}, /* Corners of a polygon or wall. */
    /* Is it known to plans? */
    {"mapped", OPTION_BOOL, "", "true", OPTION_NO_RANGE, IN_OBSTACLE(mapped)},
    /* s after the robot's start at which it appears. */
    {"appears_s", OPTION_REAL, "s", "0", 0.0, 1e9, "", IN_OBSTACLE(what.appears_s)},
    /* s at which it disappears; default: never. */
    {"leaves_s", OPTION_REAL, "s", "0", 1e-3, 1e9, "", IN_OBSTACLE(what.leaves_s)},
};
/* clang-format on */

static const struct option_table map_options = {map_rows, COUNT(map_rows)};
static const struct option_table obstacle_options = {obstacle_rows, COUNT(obstacle_rows)};

/* --- points ------------------------------------------------------------------------------ */

static bool read_coordinate(struct option_reader *r, uint32_t node, const char *shown,
                            double *value)
{
    const struct tree_node *n = &r->tree->nodes[node];
    if (n->kind != TREE_SCALAR || !n->plain) {
        if (n->kind != TREE_SKIPPED) {
            option_fault(r, node, FAULT_NUMBERS_EXPECTED,
                         "%s: a point is two numbers, as in [1.5, -0.2]", shown);
        }
        return false;
    }
    if (!option_number(r, node, shown, value)) {
        return false;
    }
    if (!(fabs(*value) <= POINTS_LIMIT_M)) {
        option_fault(r, node, FAULT_OUT_OF_RANGE, "%s: from -1e6 to 1e6 m was expected", shown);
        return false;
    }
    return true;
}

static bool read_point(struct option_reader *r, uint32_t node, const char *shown,
                       struct world_point *point)
{
    const struct tree_node *n = &r->tree->nodes[node];
    if (n->kind == TREE_SKIPPED) {
        return false;
    }
    if (n->kind != TREE_LIST || n->count != 2) {
        option_fault(r, node, FAULT_NUMBERS_EXPECTED,
                     "%s: a point is two numbers, as in [1.5, -0.2]", shown);
        return false;
    }
    const uint32_t y = r->tree->nodes[n->first].next;
    const bool x_fits = read_coordinate(r, n->first, shown, &point->x_m);
    return read_coordinate(r, y, shown, &point->y_m) && x_fits;
}

void points_read(struct option_reader *r, uint32_t node, const char *shown, size_t min,
                 size_t max, struct world_point *points, size_t *count)
{
    const struct tree_node *list = &r->tree->nodes[node];
    size_t n = 0;
    bool all = true;
    *count = 0;
    if (list->kind == TREE_SKIPPED) {
        return;
    }
    if (list->kind != TREE_LIST) {
        option_fault(r, node, FAULT_LIST_EXPECTED,
                     "%s: a list of points is wanted, as in [[0, 0], [1.5, -0.2]]", shown);
        return;
    }
    if (list->count < min || list->count > max) {
        option_fault(r, node, FAULT_WRONG_COUNT,
                     "%s: %zu to %zu points were expected, these are %u", shown, min, max,
                     (unsigned)list->count);
        return;
    }
    for (uint32_t i = list->first; i != TREE_NONE; i = r->tree->nodes[i].next) {
        all = read_point(r, i, shown, &points[n]) && all;
        n++;
    }
    *count = all ? n : 0;
}

void points_read_one(struct option_reader *r, uint32_t node, const char *shown,
                     struct world_point *point, size_t *count)
{
    *count = read_point(r, node, shown, point) ? 1 : 0;
}

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
static bool check_keys(struct option_reader *r, uint32_t node, const char *shown,
                       const struct obstacle *o, const uint32_t *given)
{
    bool fine = true;
    for (size_t i = 0; i < COUNT(shape_keys); i++) {
        const uint32_t at = option_given(&obstacle_options, given, shape_keys[i].key);
        if (at == TREE_NONE && shape_keys[i].wanted[o->shape]) {
            option_fault(r, node, FAULT_MISSING_KEY, "%s%s is missing, a %s needs it", shown,
                         shape_keys[i].key, shape_names[o->shape]);
            fine = false;
        } else if (at != TREE_NONE && !shape_keys[i].allowed[o->shape]) {
            option_fault(r, at, FAULT_NOT_APPLICABLE, "%s%s: a %s has none", shown,
                         shape_keys[i].key, shape_names[o->shape]);
            fine = false;
        }
    }
    const uint32_t leaves = option_given(&obstacle_options, given, "leaves_s");
    if (leaves != TREE_NONE && !(o->what.leaves_s > o->what.appears_s)) {
        option_fault(r, leaves, FAULT_WRONG_ORDER,
                     "%sleaves_s: it goes before it comes, more than %g was expected", shown,
                     o->what.appears_s);
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
    struct world_obstacle what = o->what;
    char list[OPTION_PREFIX_MAX + 16];
    size_t count = 1;

    what.shape = shapes[o->shape];
    what.unmapped = !o->mapped;
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
        option_fault(r, node, FAULT_TOO_MANY,
                     "%.*s: at most %d obstacles with %d points in all were expected",
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
        (void)err_list_add(
            r->errors, STATUS_E_RANGE, FAULT_BAD_NAME, r->file, n->key_line, n->key_column,
            "obstacle '%.40s': a name has 1 to 31 letters, digits, '_' or '-'", name);
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
        option_fault(r, node, FAULT_OBJECT_EXPECTED,
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
        option_fault(reading->r, some, FAULT_WRONG_ORDER,
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

/* --- the maps of a lab, as JSON ---------------------------------------------------------- */

struct maps {
    size_t pair_count;
    struct {
        size_t of;  /* the first pair with the same map, which owns the text */
        char *text; /* [bytes] owned; NULL: none */
        size_t bytes;
    } map[];
};

static void write_obstacle(struct json_writer *json, const struct world *world,
                           const struct world_obstacle *o)
{
    json_write_object(json, NULL);
    json_write_text(json, "name", o->name);
    json_write_text(json, "shape", world_shape_name(o->shape));
    json_write_array(json, "points_m");
    for (size_t k = 0; k < o->count; k++) {
        const struct world_point *p = &world->points[o->first + k];
        json_write_two(json, NULL, p->x_m, p->y_m);
    }
    json_write_close(json);
    json_write_real(json, "radius_m", o->radius_m);
    json_write_bool(json, "mapped", !o->unmapped);
    json_write_real(json, "appears_s", o->appears_s);
    json_write_real(json, "leaves_s", o->leaves_s);
    json_write_close(json);
}

static void write_world(struct json_writer *json, const struct world *world)
{
    const struct world_bounds *b = &world->bounds;
    json_write_object(json, NULL);
    if (b->x_max_m > b->x_min_m && b->y_max_m > b->y_min_m) {
        json_write_axes(json, "bounds_m", &b->x_min_m, sizeof *b / sizeof(double));
    } else {
        json_write_null(json, "bounds_m");
    }
    json_write_array(json, "obstacles");
    for (size_t i = 0; i < world->obstacle_count; i++) {
        write_obstacle(json, world, &world->obstacles[i]);
    }
    json_write_close(json);
    json_write_close(json);
}

static enum status load_map(const char *path, char **text, size_t *bytes, struct err *err)
{
    char buffer[4096];
    struct json_writer json;
    struct err_list errors = {0};
    struct world world;
    const enum status st = option_file_load(&map_file, path, &world, &errors);
    if (st != STATUS_OK) {
        *err = errors.items[0];
        return st;
    }
    FILE *out = open_memstream(text, bytes);
    if (out) {
        json_write_start(&json, buffer, sizeof buffer, json_file_flush, out);
        write_world(&json, &world);
        (void)json_write_end(&json);
    }
    return out && fclose(out) == 0 ? STATUS_OK
                                   : err_no_memory(err, path, "no memory for the map");
}

enum status maps_load(const struct lab_file *file, struct maps **out, struct err *err)
{
    struct maps *maps = calloc(1, sizeof *maps + file->pair_count * sizeof maps->map[0]);
    enum status st = maps ? STATUS_OK : err_no_memory(err, file->name, "no memory for maps");
    for (size_t i = 0; st == STATUS_OK && i < file->pair_count; i++) {
        const char *path = file->pairs[i].map;
        size_t of = 0;
        while (strcmp(file->pairs[of].map, path) != 0) {
            of++;
        }
        maps->map[i].of = of;
        maps->pair_count++;
        if (path[0] && of == i) {
            st = load_map(path, &maps->map[i].text, &maps->map[i].bytes, err);
        }
    }
    if (st == STATUS_OK) {
        *out = maps;
    } else {
        maps_destroy(maps);
    }
    return st;
}

void maps_destroy(struct maps *maps)
{
    for (size_t i = 0; maps && i < maps->pair_count; i++) {
        free(maps->map[i].text);
    }
    free(maps);
}

const char *maps_find(const struct maps *maps, size_t pair, size_t *bytes)
{
    *bytes = maps->map[maps->map[pair].of].bytes;
    return maps->map[maps->map[pair].of].text;
}
