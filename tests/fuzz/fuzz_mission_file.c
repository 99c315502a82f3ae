/* Any bytes as a mission with a map in it: no crash, faults with a text, and an accepted
 * mission is within every bound that the machines and the planner rely on. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "service/sim/mission/mission_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_map(const struct world *w)
{
    assert(w->obstacle_count <= WORLD_OBSTACLES_MAX && w->point_count <= WORLD_POINTS_MAX);
    for (size_t i = 0; i < w->obstacle_count; i++) {
        const struct world_obstacle *o = &w->obstacles[i];
        assert(o->count > 0 && (size_t)o->first + o->count <= w->point_count);
        assert(o->shape != WORLD_CIRCLE || o->radius_m > 0.0);
    }
    const double range_m = world_range(w, 0.1, 0.2, 0.3, 5.0);
    assert(range_m >= 0.0 && range_m <= 5.0);
}

static void check_plan(const struct mission_plan *p)
{
    assert(p->step_count > 0 && p->step_count <= MISSION_STEPS_MAX);
    assert(p->point_count <= MISSION_POINTS_MAX);
    for (size_t i = 0; i < p->step_count; i++) {
        const struct mission_step *s = &p->steps[i];
        assert((size_t)s->first + s->count <= p->point_count);
        assert(s->kind == L2_STEP_SWEEP ? s->count == 0 : s->count > 0);
        assert(s->count <= MISSION_LEGS_MAX);
    }
    for (size_t i = 0; i < p->point_count; i++) {
        assert(isfinite(p->points[i].x_m) && isfinite(p->points[i].y_m));
    }
    assert(p->clearance_m > 0.0 && p->patience_us > 0 && p->tries_max > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mission_file *file = calloc(1, sizeof *file);
    struct err_list errors = {0};
    assert(file);
    const enum status status =
        option_file_parse(&mission_file, (const char *)data, size, "fuzz", file, &errors);
    if (status == STATUS_OK) {
        assert(errors.count == 0);
        check_map(&file->plan.map);
        check_plan(&file->plan);
    } else {
        assert(errors.count > 0);
        for (size_t i = 0; i < errors.count; i++) {
            assert(errors.items[i].text[0] != '\0');
        }
    }
    free(file);
    return 0;
}
