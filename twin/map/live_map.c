#include "twin/map/live_map.h"

#include <math.h>
#include <string.h>

#include "base/numbers/constants.h"

enum { HEAD_BYTES = (sizeof(struct live_map) + 63) / 64 * 64 };

struct grid_place live_map_place(const struct live_map_params *p)
{
    const double width = ceil((p->x_max_m - p->x_min_m) / p->cell_m - 1e-6);
    const double height = ceil((p->y_max_m - p->y_min_m) / p->cell_m - 1e-6);
    const bool fits = width >= 1.0 && height >= 1.0 && width <= GRID_SIDE_MAX &&
                      height <= GRID_SIDE_MAX && width * height <= LIVE_MAP_CELLS_MAX;
    return (struct grid_place){p->cell_m, p->x_min_m, p->y_min_m, fits ? (size_t)width : 0,
                               fits ? (size_t)height : 0};
}

size_t live_map_bytes(const struct live_map_params *p)
{
    const struct grid_place place = live_map_place(p);
    return live_map_wanted(p) ? (HEAD_BYTES + grid_bytes(&place) + 63) / 64 * 64 : 0;
}

size_t live_map_shown_bytes(const struct live_map_params *p)
{
    const struct grid_place place = live_map_place(p);
    return HEAD_BYTES + place.width * place.height;
}

static void *cells_of(struct live_map *map)
{
    return (char *)map + HEAD_BYTES;
}

const int8_t *live_map_odds(const struct live_map *map)
{
    return (const int8_t *)map + HEAD_BYTES;
}

size_t live_map_costmap_bytes(const struct live_map_params *p)
{
    const struct grid_place place = live_map_place(p);
    return sizeof(struct costmap) + place.width * place.height;
}

void live_map_fill_costmap(const struct live_map *map, const struct live_map_params *p,
                           struct costmap *out)
{
    _Static_assert((int)LIVE_MAP_CELLS_MAX <= (int)COSTMAP_CELLS_MAX, "a plan takes its time");
    const struct grid_place place = live_map_place(p);
    const int8_t *odds = live_map_odds(map);
    *out = (struct costmap){.cell_m = place.cell_m,
                            .origin = {place.x_min_m, place.y_min_m, 0.0},
                            .width = place.width,
                            .height = place.height,
                            .unknown_factor = p->unknown_factor};
    for (size_t i = 0; i < place.width * place.height; i++) {
        out->cell[i] = odds[i] >= GRID_OCCUPIED ? COSTMAP_OCCUPIED
                       : odds[i] <= GRID_FREE   ? COSTMAP_FREE
                                                : COSTMAP_UNKNOWN;
    }
}

static struct grid open_grid(struct live_map *map, const struct live_map_params *p)
{
    const struct grid_place place = live_map_place(p);
    struct grid grid = grid_in(&place, cells_of(map));
    grid.sweeps = map->sweeps;
    grid.extent = map->extent;
    return grid;
}

void live_map_init(struct live_map *map)
{
    map->apart_m = map->apart_rad = (double)NAN;
    map->robot[SIDE_REAL].used_us = map->robot[SIDE_VIRTUAL].used_us = LAB_TIME_NONE;
}

bool live_map_locate(const struct live_map *map, enum side side,
                     const struct plane_pose *stated, struct plane_pose *out)
{
    const struct live_map_robot *r = &map->robot[side];
    const bool known = r->track.begun && !r->track.restarted && !r->collector.restarted;
    if (known) {
        *out = map_track_place(&r->track, stated);
    }
    return known;
}

/* The other robot's newest pose; it stands where it says, unless sweeps know better. */
static void compare_robots(struct live_map *map, enum side builder)
{
    const enum side other = builder == SIDE_REAL ? SIDE_VIRTUAL : SIDE_REAL;
    const struct plane_pose *at = &map->robot[builder].track.belief.at;
    struct plane_pose its = map->robot[other].collector.newest;
    const bool stated = map->robot[other].collector.has_newest;
    (void)live_map_locate(map, other, &its, &its);
    map->apart_m = stated ? hypot(its.x_m - at->x_m, its.y_m - at->y_m) : (double)NAN;
    map->apart_rad = stated ? remainder(its.yaw_rad - at->yaw_rad, 2.0 * PI) : (double)NAN;
}

static void use_sweep(struct live_map *map, const struct live_map_params *p, enum side side)
{
    struct live_map_robot *r = &map->robot[side];
    struct grid grid = open_grid(map, p);
    const struct grid_sweep sweep = {r->collector.rays, r->collector.count, p->range_m};
    if (r->collector.restarted) {
        map_track_restart(&r->track, side == SIDE_REAL);
        r->collector.restarted = false;
    }
    r->used_us = r->collector.begin_us;
    if (map_track_sweep(&r->track, &grid, &r->collector.at, &sweep, side == p->builder)) {
        r->added++;
        map->sweeps = grid.sweeps;
        map->extent = grid.extent;
        compare_robots(map, side);
    }
}

static uint64_t count_refused(const struct sweep_collector *c)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < SWEEP_REFUSAL_COUNT; k++) {
        sum += c->refused[k];
    }
    return sum;
}

static void apply_to_robot(struct live_map *map, const struct live_map_params *p,
                           const struct event *event, enum side side)
{
    struct live_map_robot *r = &map->robot[side];
    struct sweep_source source = {.pose = (enum sweep_pose)p->poses};
    const uint64_t refused = count_refused(&r->collector);
    const bool restarted = r->collector.restarted;
    memcpy(source.angle, p->angle, sizeof source.angle);
    memcpy(source.range, p->range, sizeof source.range);
    if (sweep_collector_add(&r->collector, &source, side, event)) {
        const bool early = r->used_us != LAB_TIME_NONE &&
                           sweep_is_early(&r->collector, r->used_us, p->every_us);
        map->version++;
        if (early) {
            r->early++;
        } else {
            use_sweep(map, p, side);
        }
    }
    map->version +=
        count_refused(&r->collector) != refused || r->collector.restarted != restarted;
}

void live_map_apply(struct live_map *map, const struct live_map_params *p,
                    const struct event *event)
{
    apply_to_robot(map, p, event, SIDE_REAL);
    apply_to_robot(map, p, event, SIDE_VIRTUAL);
}

size_t live_map_piece(const struct live_map *map, const struct live_map_params *p, size_t k,
                      const void **part)
{
    const struct grid_place place = live_map_place(p);
    const struct grid_extent *e = &map->extent;
    const size_t rows = e->y_end - (size_t)e->y_begin, width = e->x_end - (size_t)e->x_begin;
    const size_t first = (e->y_begin + (k > 0 ? (k - 1) / 2 : 0)) * place.width + e->x_begin;
    *part = map;
    if (k == 0) {
        return HEAD_BYTES;
    }
    if (k > 2 * rows) {
        return 0;
    }
    const int8_t *odds = live_map_odds(map);
    const struct grid_spot *spots = (const void *)(odds + place.width * place.height);
    *part = k % 2 ? (const void *)(odds + first) : (const void *)(spots + first);
    return width * (k % 2 ? sizeof *odds : sizeof *spots);
}

void live_map_restore(struct live_map *map, const struct live_map_params *p)
{
    struct grid grid = open_grid(map, p);
    grid_restore(&grid);
}
