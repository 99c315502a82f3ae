#include "twin/map/costmap.h"

#include <math.h>

void costmap_to_cells(const struct costmap *map, const double at_m[2], double uv[2])
{
    const double c = cos(map->origin.yaw_rad), s = sin(map->origin.yaw_rad);
    const double x_m = at_m[0] - map->origin.x_m, y_m = at_m[1] - map->origin.y_m;
    uv[0] = (c * x_m + s * y_m) / map->cell_m;
    uv[1] = (c * y_m - s * x_m) / map->cell_m;
}

void costmap_from_cells(const struct costmap *map, const double uv[2], double at_m[2])
{
    const double c = cos(map->origin.yaw_rad), s = sin(map->origin.yaw_rad);
    at_m[0] = map->origin.x_m + map->cell_m * (c * uv[0] - s * uv[1]);
    at_m[1] = map->origin.y_m + map->cell_m * (s * uv[0] + c * uv[1]);
}

size_t costmap_find(const struct costmap *map, const double at_m[2])
{
    double uv[2];
    costmap_to_cells(map, at_m, uv);
    return uv[0] >= 0.0 && uv[1] >= 0.0 && uv[0] < (double)map->width &&
                   uv[1] < (double)map->height
               ? (size_t)uv[1] * map->width + (size_t)uv[0]
               : SIZE_MAX;
}

bool costmap_allows(const struct costmap *map, uint8_t cell)
{
    return cell == COSTMAP_FREE || (cell != COSTMAP_OCCUPIED && map->unknown_factor > 0.0);
}

double costmap_reach(const struct costmap *map, double clearance_m)
{
    /* Robot and obstacle may both be at the corners of their cells. */
    const double reach = clearance_m / map->cell_m + sqrt(2.0);
    return ceil(reach * reach);
}

bool costmap_blocked(const struct costmap *map, size_t cell, double clearance_m)
{
    const double reach2 = costmap_reach(map, clearance_m);
    const double most = fmin(ceil(sqrt(reach2)), (double)(map->width + map->height));
    const ptrdiff_t x = (ptrdiff_t)(cell % map->width), y = (ptrdiff_t)(cell / map->width);
    const ptrdiff_t w = (ptrdiff_t)map->width, h = (ptrdiff_t)map->height, n = (ptrdiff_t)most;
    for (ptrdiff_t j = y > n ? y - n : 0; j < h && j <= y + n; j++) {
        for (ptrdiff_t i = x > n ? x - n : 0; i < w && i <= x + n; i++) {
            const double d2 = (double)((i - x) * (i - x) + (j - y) * (j - y));
            if (map->cell[j * w + i] == COSTMAP_OCCUPIED && d2 < reach2) {
                return true;
            }
        }
    }
    return false;
}
