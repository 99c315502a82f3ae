#include "service/robots/maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logger/message/json_write.h"
#include "service/cli/json_file.h"
#include "service/robots/map_file.h"

struct map {
    const char *path; /* of the lab file */
    char *text;       /* [bytes] owned */
    size_t bytes;
};

struct maps {
    size_t pair_count, map_count;
    struct map *maps;      /* [map_count] owned */
    const struct map **of; /* [pair_count] owned; NULL: none */
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
        json_write_array(json, "bounds_m");
        json_write_real(json, NULL, b->x_min_m);
        json_write_real(json, NULL, b->y_min_m);
        json_write_real(json, NULL, b->x_max_m);
        json_write_real(json, NULL, b->y_max_m);
        json_write_close(json);
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

static enum status load_map(struct map *map, struct err *err)
{
    char buffer[4096];
    struct json_writer json;
    struct err_list errors = {0};
    struct world *world = calloc(1, sizeof *world);
    if (!world) {
        return err_set(err, STATUS_E_NOMEM, map->path, 0, 0, "no memory for the map");
    }
    enum status st = option_file_load(&map_file, map->path, world, &errors);
    if (st != STATUS_OK) {
        *err = errors.items[0];
        free(world);
        return st;
    }
    FILE *out = open_memstream(&map->text, &map->bytes);
    if (out) {
        json_write_start(&json, buffer, sizeof buffer, json_file_flush, out);
        write_world(&json, world);
        (void)json_write_end(&json);
    }
    if (!out || fclose(out) != 0) {
        st = err_set(err, STATUS_E_NOMEM, map->path, 0, 0, "no memory for the map");
    }
    free(world);
    return st;
}

static const struct map *find_loaded(const struct maps *maps, const char *path)
{
    for (size_t i = 0; i < maps->map_count; i++) {
        if (strcmp(maps->maps[i].path, path) == 0) {
            return &maps->maps[i];
        }
    }
    return NULL;
}

static enum status load_all(struct maps *maps, const struct lab_file *file, struct err *err)
{
    for (size_t i = 0; i < file->pair_count; i++) {
        const char *path = file->pairs[i].map;
        maps->of[i] = path[0] ? find_loaded(maps, path) : NULL;
        if (!path[0] || maps->of[i]) {
            continue;
        }
        struct map *map = &maps->maps[maps->map_count++];
        map->path = path;
        const enum status st = load_map(map, err);
        if (st != STATUS_OK) {
            return st;
        }
        maps->of[i] = map;
    }
    return STATUS_OK;
}

enum status maps_load(const struct lab_file *file, struct maps **out, struct err *err)
{
    struct maps *maps = calloc(1, sizeof *maps);
    if (!maps) {
        return err_set(err, STATUS_E_NOMEM, file->name, 0, 0, "no memory for maps");
    }
    maps->pair_count = file->pair_count;
    maps->maps = calloc(file->pair_count, sizeof maps->maps[0]);
    maps->of = calloc(file->pair_count, sizeof(const struct map *));
    const enum status st = maps->maps && maps->of ? load_all(maps, file, err)
                                                  : err_set(err, STATUS_E_NOMEM, file->name, 0,
                                                            0, "no memory for maps");
    if (st != STATUS_OK) {
        maps_destroy(maps);
        return st;
    }
    *out = maps;
    return STATUS_OK;
}

void maps_destroy(struct maps *maps)
{
    if (maps) {
        for (size_t i = 0; maps->maps && i < maps->map_count; i++) {
            free(maps->maps[i].text);
        }
        free(maps->maps);
        free(maps->of);
        free(maps);
    }
}

const char *maps_find(const struct maps *maps, size_t pair, size_t *bytes)
{
    const struct map *map = maps->of[pair];
    *bytes = map ? map->bytes : 0;
    return map ? map->text : NULL;
}
