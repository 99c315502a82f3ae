#include "service/sim/mission/mission_message.h"

#include "twin/mission/map_json.h"

static void write_step(struct json_writer *w, const struct mission_plan *plan,
                       const struct mission_step *step)
{
    const struct world_point *points = &plan->points[step->first];
    json_write_object(w, NULL);
    if (step->kind == L2_STEP_SWEEP) {
        json_write_bool(w, "sweep", true);
    } else if (step->kind == L2_STEP_GOAL) {
        json_write_two(w, "goal_m", points->x_m, points->y_m);
    } else {
        JSON_LIST(w, "path_m", size_t i = 0; i < step->count; i++) {
            json_write_two(w, NULL, points[i].x_m, points[i].y_m);
        }
    }
    json_write_close(w);
}

size_t mission_message_write(const struct mission_file *file, const char *id, char *text,
                             size_t size)
{
    const struct mission_plan *plan = &file->plan;
    const struct world_bounds *b = &plan->map.bounds;
    struct json_writer w;
    json_write_start(&w, text, size, NULL, NULL);
    JSON_OPEN(&w, NULL, JSON("id", id), JSON("kind", "STEPS"), JSON("name", file->name));
    JSON_LIST(&w, "steps", size_t i = 0; i < plan->step_count; i++) {
        write_step(&w, plan, &plan->steps[i]);
    }
    if (plan->map.obstacle_count > 0 || b->x_max_m > b->x_min_m) {
        map_json_write(&w, "map", &plan->map);
    }
    if (!plan->locates) {
        json_write_axes(&w, "start", plan->start, 3);
    }
    JSON_WRITE(&w, JSON("return", names_text(&mission_return_names, plan->returns)),
               JSON("pose", names_text(&mission_pose_names, plan->reckoned)),
               JSON("clearance_m", plan->clearance_m), JSON("obstacle_m", plan->obstacle_m),
               JSON("arrival_m", plan->arrival_m),
               JSON_SECONDS("patience_s", plan->patience_us),
               JSON("tries_max", plan->tries_max), JSON("routes_max", plan->routes_max),
               JSON("rays_max", plan->rays_max));
    json_write_close(&w);
    return json_write_end(&w) ? w.used : 0;
}
