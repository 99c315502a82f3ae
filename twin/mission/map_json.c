#include "twin/mission/map_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void write_obstacle(struct json_writer *w, const struct world *world,
                           const struct world_obstacle *o)
{
    JSON_OPEN(w, NULL, JSON("name", o->name), JSON("shape", world_shape_name(o->shape)));
    JSON_LIST(w, "points_m", size_t k = 0; k < o->count; k++) {
        const struct world_point *p = &world->points[o->first + k];
        json_write_two(w, NULL, p->x_m, p->y_m);
    }
    JSON_WRITE(w, JSON("radius_m", o->radius_m), JSON_BOOL("mapped", !o->unmapped),
               JSON("appears_s", o->appears_s), JSON("leaves_s", o->leaves_s));
    json_write_close(w);
}

void map_json_write(struct json_writer *w, const char *key, const struct world *world)
{
    const struct world_bounds *b = &world->bounds;
    json_write_object(w, key);
    if (b->x_max_m > b->x_min_m && b->y_max_m > b->y_min_m) {
        json_write_axes(w, "bounds_m", &b->x_min_m, sizeof *b / sizeof(double));
    } else {
        json_write_null(w, "bounds_m");
    }
    JSON_LIST(w, "obstacles", size_t i = 0; i < world->obstacle_count; i++) {
        write_obstacle(w, world, &world->obstacles[i]);
    }
    json_write_close(w);
}

static char letter_of(uint8_t cell)
{
    return cell == COSTMAP_OCCUPIED ? 'o' : cell == COSTMAP_FREE ? 'f' : 'u';
}

static void write_row(struct json_writer *w, const uint8_t *cell, size_t width)
{
    char text[2 * GRID_SIDE_MAX + 16];
    size_t used = 0;
    for (size_t x = 0, next = 0; x < width; x = next) {
        while (next < width && letter_of(cell[next]) == letter_of(cell[x])) {
            next++;
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "%zu%c", next - x,
                                 letter_of(cell[x]));
    }
    json_write_text(w, NULL, text);
}

void map_json_write_cells(struct json_writer *w, const char *key, const struct costmap *map)
{
    const double origin[] = {map->origin.x_m, map->origin.y_m, map->origin.yaw_rad};
    json_write_object(w, key);
    json_write_null(w, "bounds_m");
    json_write_array(w, "obstacles");
    json_write_close(w);
    JSON_OPEN(w, "cells", JSON("cell_m", map->cell_m));
    json_write_axes(w, "origin", origin, COUNT(origin));
    json_write_int(w, "width", (int64_t)map->width);
    JSON_LIST(w, "rows", size_t y = 0; y < map->height; y++) {
        write_row(w, map->cell + y * map->width, map->width);
    }
    json_write_close(w);
    json_write_close(w);
}

/* ---- reading ---- */

bool map_json_scan_numbers(struct json_scan *s, double *numbers, size_t count)
{
    size_t n = 0;
    (void)json_scan_enter(s, JSON_KIND_ARRAY);
    while (json_scan_next_item(s)) {
        double number = 0.0;
        if (!json_scan_number(s, &number)) {
            return false;
        }
        if (fabs(number) > POINTS_LIMIT_M) {
            return json_scan_fail(s, FAULT_OUT_OF_RANGE,
                                  "a coordinate within +-1e6 m was expected");
        }
        if (n < count) {
            numbers[n] = number;
        }
        n++;
    }
    return !s->error &&
           (n == count || json_scan_fail(s, FAULT_WRONG_COUNT,
                                         count == 2   ? "a point [x_m, y_m] was expected"
                                         : count == 3 ? "[x_m, y_m, heading_rad] was expected"
                                                      : "[x_min, y_min, x_max, y_max] was "
                                                        "expected"));
}

bool map_json_scan_point(struct json_scan *s, struct world_point *point)
{
    double xy[2] = {0.0, 0.0};
    if (!map_json_scan_numbers(s, xy, 2)) {
        return false;
    }
    *point = (struct world_point){xy[0], xy[1]};
    return true;
}

bool map_json_scan_points(struct json_scan *s, struct world_point *points, size_t most,
                          const char *expected, size_t *count)
{
    *count = 0;
    (void)json_scan_enter(s, JSON_KIND_ARRAY);
    while (json_scan_next_item(s)) {
        if (*count == most) {
            return json_scan_fail(s, FAULT_TOO_MANY, expected);
        }
        if (!map_json_scan_point(s, &points[*count])) {
            return false;
        }
        (*count)++;
    }
    return !s->error &&
           (*count > 0 || json_scan_fail(s, FAULT_TOO_FEW, "one point at least was expected"));
}

/* An obstacle and its points while they are read. */
struct obstacle_text {
    struct world_obstacle what;
    size_t count;
    struct world_point points[WORLD_POINTS_MAX];
};

static bool scan_shape(struct json_scan *s, enum world_shape *shape)
{
    struct json_text text;
    char word[WORLD_NAME_MAX] = "";
    if (!json_scan_text(s, &text)) {
        return false;
    }
    (void)json_text_copy(&text, word, sizeof word, false);
    const size_t value = names_value(&world_shape_names, word);
    *shape = (enum world_shape)value;
    return value < world_shape_names.count ||
           json_scan_fail(s, FAULT_UNKNOWN_VALUE,
                          "a \"shape\" out of circle polygon wall was expected");
}

static bool scan_obstacle_member(struct json_scan *s, const struct json_text *key,
                                 struct obstacle_text *o)
{
    struct json_text name;
    bool mapped = true;
    if (json_text_is(key, "name")) {
        return json_scan_text(s, &name) &&
               (json_text_copy(&name, o->what.name, sizeof o->what.name, false) <
                    sizeof o->what.name ||
                json_scan_fail(s, FAULT_TOO_LONG,
                               "an obstacle's \"name\" of at most 31 bytes was expected"));
    }
    if (json_text_is(key, "shape")) {
        return scan_shape(s, &o->what.shape);
    }
    if (json_text_is(key, "points_m")) {
        return map_json_scan_points(s, o->points, WORLD_POINTS_MAX,
                                    "obstacles of at most 512 points in all were expected",
                                    &o->count);
    }
    if (json_text_is(key, "mapped")) {
        const bool fine = json_scan_bool(s, &mapped);
        o->what.unmapped = !mapped;
        return fine;
    }
    if (json_text_is(key, "radius_m")) {
        return json_scan_number(s, &o->what.radius_m) &&
               (o->what.radius_m <= POINTS_LIMIT_M ||
                json_scan_fail(s, FAULT_OUT_OF_RANGE,
                               "a \"radius_m\" of at most 1e6 was expected"));
    }
    double *number = json_text_is(key, "appears_s")  ? &o->what.appears_s
                     : json_text_is(key, "leaves_s") ? &o->what.leaves_s
                                                     : NULL;
    return number ? json_scan_number(s, number)
                  : json_scan_fail(s, FAULT_UNKNOWN_KEY,
                                   "a member of an obstacle was expected: name, shape, "
                                   "points_m, radius_m, mapped, appears_s or leaves_s");
}

static bool scan_obstacle(struct json_scan *s, struct world *world)
{
    struct obstacle_text o;
    struct json_text key;
    memset(&o.what, 0, sizeof o.what);
    o.count = 0;
    (void)json_scan_enter(s, JSON_KIND_OBJECT);
    while (json_scan_next_member(s, &key)) {
        if (!scan_obstacle_member(s, &key, &o)) {
            return false;
        }
    }
    if (s->error) {
        return false;
    }
    if (!o.what.name[0]) { /* sentences name it */
        (void)snprintf(o.what.name, sizeof o.what.name, "obstacle %zu",
                       world->obstacle_count + 1);
    }
    const enum status status = world_add(world, &o.what, o.points, o.count);
    return status == STATUS_OK ||
           (status == STATUS_E_FULL
                ? json_scan_fail(s, FAULT_TOO_MANY,
                                 "at most 128 obstacles with 512 points in all were expected")
                : json_scan_fail(s, FAULT_UNEXPECTED_VALUE,
                                 "an obstacle was expected: a circle with one point and a "
                                 "\"radius_m\", a polygon of three points or more, a wall of "
                                 "two or more"));
}

static bool scan_bounds(struct json_scan *s, struct world_bounds *b)
{
    double edge[4] = {0.0, 0.0, 0.0, 0.0};
    if (json_scan_peek(s) == JSON_KIND_NULL) {
        return json_scan_null(s);
    }
    if (!map_json_scan_numbers(s, edge, 4)) {
        return false;
    }
    *b = (struct world_bounds){edge[0], edge[1], edge[2], edge[3]};
    return (b->x_max_m > b->x_min_m && b->y_max_m > b->y_min_m) ||
           json_scan_fail(s, FAULT_WRONG_ORDER,
                          "\"bounds_m\" with the greater numbers last were expected");
}

bool map_json_scan(struct json_scan *s, struct world *world)
{
    struct json_text key;
    (void)json_scan_enter(s, JSON_KIND_OBJECT);
    while (json_scan_next_member(s, &key)) {
        if (json_text_is(&key, "bounds_m")) {
            if (!scan_bounds(s, &world->bounds)) {
                return false;
            }
        } else if (json_text_is(&key, "obstacles")) {
            (void)json_scan_enter(s, JSON_KIND_ARRAY);
            while (json_scan_next_item(s)) {
                if (!scan_obstacle(s, world)) {
                    return false;
                }
            }
        } else {
            return json_text_is(&key, "cells")
                       ? json_scan_fail(s, FAULT_NOT_APPLICABLE,
                                        "a map of cells cannot come in a mission: leave "
                                        "\"map\" out, and the pair's own is taken")
                       : json_scan_fail(s, FAULT_UNKNOWN_KEY,
                                        "bounds_m or obstacles of the map was expected");
        }
    }
    return !s->error;
}
