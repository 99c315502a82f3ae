#include "service/sim/mission/maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/labfile/map_file.h"
#include "config/labfile/ros_map_file.h"
#include "service/tool/json_file.h"

struct maps {
    size_t pair_count;
    struct {
        size_t of;  /* the first pair with the same map, which owns the text */
        char *text; /* [bytes] owned; NULL: none */
        size_t bytes;
    } map[];
};

/* One of both is NULL. */
static enum status format_map(const char *path, const struct world *world,
                              const struct costmap *cells, char **text, size_t *bytes,
                              struct err *err)
{
    char buffer[4096];
    struct json_writer json;
    FILE *out = open_memstream(text, bytes);
    if (out) {
        json_write_start(&json, buffer, sizeof buffer, json_file_flush, out);
        if (cells) {
            map_json_write_cells(&json, NULL, cells);
        } else {
            map_json_write(&json, NULL, world);
        }
        (void)json_write_end(&json);
    }
    return out && fclose(out) == 0 ? STATUS_OK
                                   : err_no_memory(err, path, "no memory for the map");
}

/* The lab file's reader has read what missions are planned on. */
static enum status load_map(const struct pair_params *p, char **text, size_t *bytes,
                            struct err *err)
{
    struct err_list errors = {0};
    struct world world;
    if (p->world || p->costmap) {
        return format_map(p->map, p->world, p->costmap, text, bytes, err);
    }
    struct costmap *cells =
        ros_map_file_found(p->map) ? ros_map_file_load(p->map, &errors) : NULL;
    const enum status read = cells ? STATUS_OK
                             : errors.count > 0
                                 ? errors.items[0].code
                                 : option_file_load(&map_file, p->map, &world, &errors);
    if (read != STATUS_OK) {
        *err = errors.items[0];
    }
    const enum status st =
        read == STATUS_OK ? format_map(p->map, &world, cells, text, bytes, err) : read;
    free(cells);
    return st;
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
            st = load_map(&file->pairs[i], &maps->map[i].text, &maps->map[i].bytes, err);
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
