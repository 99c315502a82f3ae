/* Any bytes as a map of ROS: YAML up to a zero byte, behind it the picture. No crash, faults
 * with a text, and an accepted map is within every bound that the planner relies on. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/labfile/picture.h"
#include "config/labfile/ros_map_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_map(const struct costmap *map)
{
    const size_t cells = map->width * map->height;
    const double at_m[2] = {map->origin.x_m, map->origin.y_m};
    assert(map->width >= 1 && map->height >= 1 && cells <= COSTMAP_CELLS_MAX);
    assert(map->width <= GRID_SIDE_MAX && map->height <= GRID_SIDE_MAX);
    assert(map->cell_m > 0.0 && isfinite(map->cell_m) && isfinite(map->origin.yaw_rad));
    assert(map->unknown_factor >= 0.0 && map->unknown_factor <= COSTMAP_FACTOR_MAX);
    for (size_t i = 0; i < cells; i++) {
        assert(map->cell[i] <= COSTMAP_UNKNOWN || map->cell[i] == COSTMAP_OCCUPIED);
    }
    const size_t cell = costmap_find(map, at_m);
    assert(cell == SIZE_MAX || cell < cells);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ros_map_file file = {.mode = 0, .occupied = 0.65, .free = 0.196, .cell_m = 0.05};
    struct err_list errors = {0};
    const uint8_t *zero = memchr(data, 0, size);
    const size_t bytes = zero ? (size_t)(zero - data) : 0;
    const char *text = (const char *)data + bytes + (zero != NULL);
    if (bytes > 0 && option_file_parse(&ros_map_file, (const char *)data, bytes, "fuzz", &file,
                                       &errors) != STATUS_OK) {
        assert(errors.count > 0 && errors.items[0].text[0]);
        return 0;
    }
    struct costmap *map =
        ros_map_file_build(&file, text, size - bytes - (zero != NULL), "picture", &errors);
    assert(map || (errors.count > 0 && errors.items[0].text[0]));
    if (map) {
        check_map(map);
    }
    free(map);
    return 0;
}
