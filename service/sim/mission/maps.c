#include "service/sim/mission/maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/labfile/map_file.h"
#include "service/tool/json_file.h"

struct maps {
    size_t pair_count;
    struct {
        size_t of;  /* the first pair with the same map, which owns the text */
        char *text; /* [bytes] owned; NULL: none */
        size_t bytes;
    } map[];
};

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
        map_json_write(&json, NULL, &world);
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
