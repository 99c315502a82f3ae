#include "service/map/map_build.h"

#include <math.h>
#include <stdlib.h>

/* Beyond the ends of the rays by odometry, which errs the more the longer the way is. */
#define MARGIN_M     1.0
#define MARGIN_RATIO 0.05

struct box {
    double x_min_m, y_min_m, x_max_m, y_max_m;
};

static void extend_box(struct box *box, double x_m, double y_m)
{
    box->x_min_m = fmin(box->x_min_m, x_m);
    box->y_min_m = fmin(box->y_min_m, y_m);
    box->x_max_m = fmax(box->x_max_m, x_m);
    box->y_max_m = fmax(box->y_max_m, y_m);
}

static struct box find_box(const struct sweeps *sweeps, double range_m)
{
    struct box box = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    double way_m = 0.0;
    for (size_t i = 0; i < sweeps->count; i++) {
        const struct sweep *sweep = &sweeps->list[i];
        const struct plane_pose *at = &sweep->at;
        const struct plane_pose *before = &sweeps->list[i > 0 ? i - 1 : 0].at;
        way_m += hypot(at->x_m - before->x_m, at->y_m - before->y_m);
        extend_box(&box, at->x_m, at->y_m);
        for (size_t k = 0; k < sweep->count; k++) {
            const struct grid_ray *ray = &sweeps->rays[sweep->first + k];
            const double yaw_rad = at->yaw_rad + ray->angle_rad;
            if (ray->range_m >= 0.0 && ray->range_m < range_m) {
                extend_box(&box, at->x_m + ray->range_m * cos(yaw_rad),
                           at->y_m + ray->range_m * sin(yaw_rad));
            }
        }
    }
    const double margin_m = MARGIN_M + MARGIN_RATIO * way_m;
    return (struct box){box.x_min_m - margin_m, box.y_min_m - margin_m, box.x_max_m + margin_m,
                        box.y_max_m + margin_m};
}

static enum status make_grid(const struct sweeps *sweeps, const struct map_request *r,
                             struct built_map *map, struct err *err)
{
    const struct box box = r->has_size
                               ? (struct box){r->x_min_m, r->y_min_m, r->x_max_m, r->y_max_m}
                               : find_box(sweeps, r->range_m);
    const double width = ceil((box.x_max_m - box.x_min_m) / r->cell_m - 1e-6);
    const double height = ceil((box.y_max_m - box.y_min_m) / r->cell_m - 1e-6);
    struct grid_place place = {r->cell_m, box.x_min_m, box.y_min_m, 0, 0};
    if (width <= GRID_SIDE_MAX && height <= GRID_SIDE_MAX) {
        place.width = (size_t)width;
        place.height = (size_t)height;
    }
    const size_t bytes = grid_bytes(&place);
    if (bytes == 0) {
        return err_set(err, STATUS_E_RANGE, FAULT_TOO_LARGE, "map",
                       "the place from %.4g, %.4g to %.4g, %.4g m has %.0f x %.0f cells of "
                       "%g m, expected at most %d along a side and %d in all: see --cell and "
                       "--size",
                       box.x_min_m, box.y_min_m, box.x_max_m, box.y_max_m, width, height,
                       r->cell_m, GRID_SIDE_MAX, GRID_CELLS_MAX);
    }
    map->memory = malloc(bytes);
    map->steps = calloc(sweeps->count, sizeof *map->steps);
    if (!map->memory || !map->steps ||
        grid_init(&map->grid, &place, map->memory) != STATUS_OK) {
        return err_no_memory(err, "map", "no memory");
    }
    return STATUS_OK;
}

enum status map_build(const struct sweeps *sweeps, const struct map_request *request,
                      struct built_map *map, struct err *err)
{
    *map = (struct built_map){.memory = NULL};
    const enum status status = make_grid(sweeps, request, map, err);
    for (size_t i = 0; status == STATUS_OK && i < sweeps->count; i++) {
        const struct sweep *sweep = &sweeps->list[i];
        const struct grid_sweep rays = {sweeps->rays + sweep->first, sweep->count,
                                        request->range_m};
        if (sweep->restarted) {
            map_track_restart(&map->track, sweeps->side == SIDE_REAL);
        }
        (void)map_track_sweep(&map->track, &map->grid, &sweep->at, &rays, true);
        map->steps[i] = (struct map_step){map->track.belief, map->track.match,
                                          map->track.moved_m, map->track.turned_rad};
    }
    return status;
}

void built_map_free(struct built_map *map)
{
    free(map->memory);
    free(map->steps);
}
