#include "service/map/ros_map.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { PIXEL_OCCUPIED = 0, PIXEL_FREE = 254, PIXEL_UNKNOWN = 205 };

static int pixel_of(int odds)
{
    static const int pixels[] = {PIXEL_UNKNOWN, PIXEL_FREE, PIXEL_OCCUPIED};
    return pixels[grid_state_of(odds)];
}

static int pixel_at(const struct ros_map *m, size_t x, size_t y)
{
    return pixel_of(m->grid->odds[(m->y0 + y) * m->grid->place.width + m->x0 + x]);
}

static struct ros_map find_known(const struct grid *grid)
{
    const size_t width = grid->place.width;
    const size_t cells = width * grid->place.height;
    size_t x0 = width, y0 = grid->place.height, x1 = 0, y1 = 0; /* exclusive ends */
    for (size_t i = 0; i < cells; i++) {
        if (pixel_of(grid->odds[i]) != PIXEL_UNKNOWN) {
            const size_t x = i % width, y = i / width;
            x0 = x < x0 ? x : x0;
            y0 = y < y0 ? y : y0;
            x1 = x >= x1 ? x + 1 : x1;
            y1 = y + 1;
        }
    }
    return x1 > x0
               ? (struct ros_map){.grid = grid,
                                  .x0 = x0,
                                  .y0 = y0,
                                  .width = x1 - x0,
                                  .height = y1 - y0}
               : (struct ros_map){.grid = grid, .width = width, .height = grid->place.height};
}

struct ros_map ros_map_of(const struct grid *grid, bool whole)
{
    struct ros_map m = whole ? (struct ros_map){.grid = grid,
                                                .width = grid->place.width,
                                                .height = grid->place.height}
                             : find_known(grid);
    for (size_t i = 0; i < m.width * m.height; i++) {
        const int pixel = pixel_at(&m, i % m.width, i / m.width);
        m.occupied += pixel == PIXEL_OCCUPIED;
        m.free_count += pixel == PIXEL_FREE;
        m.unknown += pixel == PIXEL_UNKNOWN;
    }
    return m;
}

static void write_picture(const struct ros_map *m, const char *prefix, FILE *to)
{
    (void)prefix;
    (void)fprintf(to, "P5\n%zu %zu\n255\n", m->width, m->height);
    for (size_t y = m->height; y-- > 0;) {
        for (size_t x = 0; x < m->width; x++) {
            (void)fputc(pixel_at(m, x, y), to);
        }
    }
}

/* A name in single quotes, in which only a quote must be doubled. */
static void write_place(const struct ros_map *m, const char *prefix, FILE *to)
{
    const char *slash = strrchr(prefix, '/');
    const struct grid_place *p = &m->grid->place;
    (void)fputs("image: '", to);
    for (const char *c = slash ? slash + 1 : prefix; *c; c++) {
        (void)fputs(*c == '\'' ? "'" : "", to);
        (void)fputc(*c, to);
    }
    (void)fprintf(to,
                  ".pgm'\nresolution: %.6g\norigin: [%.9g, %.9g, 0]\nnegate: 0\n"
                  "occupied_thresh: 0.65\nfree_thresh: 0.196\n",
                  p->cell_m, p->x_min_m + p->cell_m * (double)m->x0,
                  p->y_min_m + p->cell_m * (double)m->y0);
}

static enum status write_file(const struct ros_map *m, const char *prefix, const char *suffix,
                              void (*write)(const struct ros_map *, const char *, FILE *),
                              struct err *err)
{
    char path[PATH_MAX];
    const int n = snprintf(path, sizeof path, "%s%s", prefix, suffix);
    FILE *to = NULL;
    errno = ENAMETOOLONG;
    if (n >= 0 && (size_t)n < sizeof path) {
        to = fopen(path, "we");
    }
    bool fine = to != NULL;
    if (to) {
        write(m, prefix, to);
        fine = !ferror(to);
        fine = fclose(to) == 0 && fine;
    }
    return fine ? STATUS_OK
                : err_set(err, STATUS_E_IO, FAULT_FILE_UNWRITABLE, path,
                          "cannot be written: %s", strerrordesc_np(errno));
}

enum status ros_map_write(const struct ros_map *map, const char *prefix, struct err *err)
{
    const enum status status = write_file(map, prefix, ".pgm", write_picture, err);
    return status == STATUS_OK ? write_file(map, prefix, ".yaml", write_place, err) : status;
}
