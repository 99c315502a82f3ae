#include "config/labfile/ros_map_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/labfile/picture.h"

enum { TRINARY, SCALE, RAW };

/* clang-format off */
#define IN_MAP(m) OPTION_AT(struct ros_map_file, m), ""
static const struct option_row number = {
    .type = OPTION_REAL, .unit = "", .fallback = "", .min = -1e6, .max = 1e6, .choices = "", .size = sizeof(double)};
static const struct option_items origin_items = {
    .shape = OPTION_LIST, .value = &number, .least = 3, .most = 3, .bytes = sizeof(double),
    .fault = FAULT_NUMBERS_EXPECTED, .what = "numbers",
    .example = "[-10, -5, 0], x and y in m and the direction in rad"};
static const struct option_row map_rows[] = {
    /* Picture with a pixel a cell, relative to this file. */
    {"image", OPTION_TEXT, "", "", 1.0, 0.0, "", IN_MAP(image)},
    /* Side of a cell. */
    {"resolution", OPTION_REAL, "m", "0", 0.001, 10.0, "", IN_MAP(cell_m)},
    {"origin", OPTION_ARRAY(origin_items, struct ros_map_file, origin), ""}, /* Lower left corner. */
    {"negate", OPTION_CHOICE, "", "0", 0.0, 0.0, "0|1", IN_MAP(negate)}, /* White is occupied. */
    {"occupied_thresh", OPTION_REAL, "", "0.65", 0.0, 1.0, "", IN_MAP(occupied)},
    {"free_thresh", OPTION_REAL, "", "0.196", 0.0, 1.0, "", IN_MAP(free)},
    {"mode", OPTION_CHOICE, "", "trinary", 0.0, 0.0, "trinary|scale|raw", IN_MAP(mode)},
    /* Cost of a way through unknown cells. */
    {"unknown", OPTION_WORD, "", "forbidden", 1.0, 0.0, "", IN_MAP(unknown)},
};
/* clang-format on */

static void finish_map(const struct option_reading *reading, void *values)
{
    struct ros_map_file *file = values;
    char *end = NULL;
    if (option_node(reading, "origin") == TREE_NONE) {
        option_fault_at(reading, "origin", FAULT_MISSING_KEY,
                        "it is missing, as in origin: [-10, -5, 0]");
    }
    if (!(file->free < file->occupied)) {
        option_fault_at(reading, "free_thresh", FAULT_WRONG_ORDER,
                        "less than occupied_thresh, %g, was expected", file->occupied);
    }
    file->unknown_factor =
        strcmp(file->unknown, "forbidden") == 0 ? 0.0 : strtod(file->unknown, &end);
    if (end && (*end || !(file->unknown_factor >= 1.0) ||
                !(file->unknown_factor <= COSTMAP_FACTOR_MAX))) {
        option_fault_at(reading, "unknown", FAULT_OUT_OF_RANGE,
                        "forbidden, or a factor of 1 to %d, was expected", COSTMAP_FACTOR_MAX);
    }
}

const struct option_file ros_map_file = {
    .what = "a map",
    .empty = "the file is empty, the least is \"image: map.pgm\", resolution and origin",
    .table = OPTION_TABLE(map_rows),
    .required = "image resolution",
    .bytes = sizeof(struct ros_map_file),
    .out_bytes = sizeof(struct ros_map_file),
    .finish = finish_map};

/* ---- cells ------------------------------------------------------------------------------- */

/* Values of a pixel as map_server has them. In mode raw a pixel is the percentage itself. */
static uint8_t cell_of(const struct ros_map_file *file, unsigned shade, unsigned white)
{
    const double light = (double)shade / white;
    const double percent = round(light * 255.0);
    const double p = file->mode == RAW ? percent / 100.0 : file->negate ? light : 1.0 - light;
    if (file->mode == RAW && percent > 100.0) {
        return COSTMAP_UNKNOWN;
    }
    if (file->mode == RAW ? p >= file->occupied : p > file->occupied) {
        return COSTMAP_OCCUPIED;
    }
    if (file->mode == RAW ? p <= file->free : p < file->free) {
        return COSTMAP_FREE;
    }
    return file->mode != SCALE ? COSTMAP_UNKNOWN
                               : (uint8_t)lround(COSTMAP_UNKNOWN * (p - file->free) /
                                                 (file->occupied - file->free));
}

static size_t whole_parts(size_t count, size_t each)
{
    return (count + each - 1) / each;
}

/* How many pixels make the side of a cell. */
static size_t count_pixels(const struct picture *p)
{
    size_t each = 1;
    while (whole_parts(p->width, each) > GRID_SIDE_MAX ||
           whole_parts(p->height, each) > GRID_SIDE_MAX ||
           whole_parts(p->width, each) * whole_parts(p->height, each) > COSTMAP_CELLS_MAX) {
        each++;
    }
    return each;
}

/* A cell is worth what the dearest of its pixels is. */
static void fill_cells(const struct ros_map_file *file, const struct picture *p, size_t each,
                       struct costmap *map)
{
    for (size_t i = 0; i < p->width * p->height; i++) {
        const size_t x = i % p->width, y = p->height - 1 - i / p->width;
        uint8_t *cell = &map->cell[y / each * map->width + x / each];
        const uint8_t value = cell_of(file, p->shade[i], p->white);
        *cell = value > *cell ? value : *cell;
    }
}

struct costmap *ros_map_file_build(const struct ros_map_file *file, const char *text,
                                   size_t bytes, const char *name, struct err_list *errors)
{
    struct picture p;
    if (picture_parse(text, bytes, name, &p, errors) != STATUS_OK) {
        return NULL;
    }
    const size_t each = count_pixels(&p);
    const size_t width = whole_parts(p.width, each), height = whole_parts(p.height, each);
    struct costmap *map = calloc(1, sizeof *map + width * height);
    if (map) {
        map->cell_m = file->cell_m * (double)each;
        map->origin = (struct plane_pose){file->origin[0], file->origin[1], file->origin[2]};
        map->width = width;
        map->height = height;
        map->unknown_factor = file->unknown_factor;
        fill_cells(file, &p, each, map);
    } else {
        (void)err_list_add(errors, STATUS_E_NOMEM, FAULT_NO_MEMORY, name, 0, 0,
                           "not enough memory for the map");
    }
    picture_free(&p);
    return map;
}

/* ---- files ------------------------------------------------------------------------------- */

bool ros_map_file_is(const char *text)
{
    while (text && strncmp(text, "image:", 6) != 0) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return text != NULL;
}

bool ros_map_file_found(const char *path)
{
    size_t bytes = 0;
    const char *tried = "";
    char *text = text_file_read(path, TREE_BYTES_MAX, &bytes, &tried);
    const bool found = ros_map_file_is(text);
    free(text);
    return found;
}

struct costmap *ros_map_file_load(const char *path, struct err_list *errors)
{
    struct ros_map_file file;
    char picture[2 * ROS_MAP_PATH_MAX];
    size_t bytes = 0;
    const char *tried = "open";
    if (option_file_load(&ros_map_file, path, &file, errors) != STATUS_OK) {
        return NULL;
    }
    errno = ENAMETOOLONG;
    char *text = text_file_sibling(path, file.image, picture, sizeof picture)
                     ? text_file_read(picture, PICTURE_BYTES_MAX, &bytes, &tried)
                     : NULL;
    if (!text) {
        (void)err_list_add(errors, STATUS_E_IO, FAULT_FILE_UNREADABLE, path, 0, 0,
                           "cannot %s its image %.120s: %s", tried, file.image,
                           strerrordesc_np(errno));
        return NULL;
    }
    struct costmap *map = ros_map_file_build(&file, text, bytes, picture, errors);
    free(text);
    return map;
}
