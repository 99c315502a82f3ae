/* Any bytes as a map, an experiment, or the parameters of a simulated robot: the first line
 * says which ("map", "experiment", the name of a robot kind). No crash, faults with a place and
 * a text, and accepted input is within every bound that its users rely on. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "service/sim/experiment/experiment_file.h"
#include "config/labfile/map_file.h"
#include "service/sim/robot/robot_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Memory for what the file fills, to be freed; NULL when it has faults. */
static void *fuzz_parse(const struct option_file *kind, void *values, const char *text,
                        size_t size)
{
    struct err_list errors = {0};
    const enum status status = option_file_parse(kind, text, size, "fuzz", values, &errors);
    if (status == STATUS_OK) {
        assert(errors.count == 0);
        return values;
    }
    assert(errors.count > 0);
    for (size_t i = 0; i < errors.count; i++) {
        assert(errors.items[i].text[0] != '\0');
    }
    free(values);
    return NULL;
}

static void *fuzz_memory(size_t bytes)
{
    void *memory = calloc(1, bytes);
    assert(memory);
    return memory;
}

static void fuzz_map(const char *text, size_t size)
{
    struct world *w = fuzz_parse(&map_file, fuzz_memory(sizeof *w), text, size);
    if (w) {
        assert(w->obstacle_count <= WORLD_OBSTACLES_MAX && w->point_count <= WORLD_POINTS_MAX);
        for (size_t i = 0; i < w->point_count; i++) {
            assert(isfinite(w->points[i].x_m) && isfinite(w->points[i].y_m));
        }
        const double range_m = world_range(w, 0.1, 0.2, 0.3, 5.0);
        assert(range_m >= 0.0 && range_m <= 5.0);
    }
    free(w);
}

static void fuzz_experiment(const char *text, size_t size)
{
    struct any_experiment *e =
        fuzz_parse(&any_experiment_file, fuzz_memory(sizeof *e), text, size);
    if (e && e->kind == EXPERIMENT_JOINT) {
        assert(e->of_joint.lag_count > 0 && e->of_joint.lag_count <= JOINT_LAGS_MAX);
        for (size_t i = 0; i < e->of_joint.lag_count; i++) {
            assert(e->of_joint.lag_s[i] >= 0.0 && isfinite(e->of_joint.lag_s[i]));
        }
    } else if (e && e->kind == EXPERIMENT_ARM) {
        assert(e->of_arm.case_count > 0 && e->of_arm.case_count <= ARM_CASES_MAX);
        assert(e->of_arm.move_count <= ARM_MOVES_MAX && e->of_arm.off_count <= ARM_CASES_MAX);
        assert(e->of_arm.move_count > 0 || e->of_arm.recording_path[0] != '\0');
    } else if (e) {
        assert(e->follow.runs > 0 && e->follow.runs <= EXPERIMENT_RUNS_MAX);
        assert(e->follow.model && e->follow.lag_s >= 0.0);
    }
    free(e);
}

static void fuzz_robot(const struct robot_kind *kind, const char *text, size_t size)
{
    struct robot_file *file = fuzz_memory(sizeof *file);
    file->kind = kind;
    for (size_t side = 0; side < SIDE_COUNT; side++) {
        robot_presets(kind, file->values[side]);
    }
    file = fuzz_parse(&robot_file, file, text, size);
    for (size_t side = 0; file && side < SIDE_COUNT; side++) {
        for (size_t i = 0; i < kind->parameter_count; i++) {
            assert(robot_value_fits(&kind->parameters[i], file->values[side][i]));
        }
    }
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[32] = "";
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    if (!end || (size_t)(end - data) >= sizeof name) {
        return 0;
    }
    memcpy(name, data, (size_t)(end - data));
    const char *text = (const char *)end + 1;
    const size_t bytes = size - (size_t)(end + 1 - data);
    if (strcmp(name, "map") == 0) {
        fuzz_map(text, bytes);
    } else if (strcmp(name, "experiment") == 0) {
        fuzz_experiment(text, bytes);
    } else if (robot_kind_find(name)) {
        fuzz_robot(robot_kind_find(name), text, bytes);
    }
    return 0;
}
