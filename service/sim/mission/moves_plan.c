/* service/sim/mission/moves_plan.c - a list of moves as the message that orders it, and printed
 * as a plan. */
#include <math.h>
#include <stdio.h>

#include "logger/message/codec_native.h"
#include "service/sim/mission/moves_file.h"
#include "service/tool/csv_tables.h"
#include "service/tool/json_file.h"

static void write_step(struct json_writer *w, const struct arm_step *step)
{
    json_write_object(w, NULL);
    if (step->kind == ARM_STEP_WAIT) {
        json_write_real(w, "wait_s", step->wait_s);
    } else {
        json_write_object(w, step->op == ARM_OUTPUT ? "output" : arm_step_name(step));
        native_write_arm(w, &step->request);
        json_write_close(w);
    }
    json_write_close(w);
}

size_t moves_message_write(const struct moves_file *file, const char *id, char *text,
                           size_t size)
{
    const struct arm_mission_plan *plan = &file->plan;
    struct json_writer w;
    json_write_start(&w, text, size, NULL, NULL);
    JSON_OPEN(&w, NULL, JSON("id", id), JSON("kind", "MOVES"), JSON("name", file->name),
              JSON("arm", plan->arm.name), JSON("floor_m", plan->bounds.floor_m),
              JSON("clearance_m", plan->bounds.clearance_m),
              JSON_SECONDS("patience_s", plan->patience_us));
    json_write_axes(&w, "start_q_rad", plan->start_q, plan->has_start ? ARM_JOINTS : 0);
    JSON_LIST(&w, "steps", size_t i = 0; i < plan->count; i++) {
        write_step(&w, &plan->steps[i]);
    }
    json_write_close(&w);
    return json_write_end(&w) ? w.used : 0;
}

/* ---- printed ---- */

static void write_plan(const void *what, struct json_writer *w)
{
    const struct moves_file *file = what;
    const struct arm_mission_plan *plan = &file->plan;
    JSON_WRITE(w, JSON("mission", file->name), JSON("arm", plan->arm.name));
    JSON_LIST(w, "steps", size_t i = 0; i < plan->count; i++) {
        JSON_WRITE_OBJECT(w, NULL, JSON("op", arm_step_name(&plan->steps[i])),
                          JSON("duration_s", file->planned_s[i]));
    }
}

void moves_plan_print(const struct moves_file *file, bool json)
{
    const struct arm_mission_plan *plan = &file->plan;
    double sum_s = 0.0;
    if (json) {
        json_file_print(stdout, write_plan, file);
        return;
    }
    (void)printf("%4s  %-12s %10s\n", "step", "op", "duration s");
    for (size_t i = 0; i < plan->count; i++) {
        (void)printf("%4zu  %-12s", i + 1, arm_step_name(&plan->steps[i]));
        csv_tables_cell(stdout, 11, 3, 'f', file->planned_s[i]);
        (void)putchar('\n');
        sum_s += file->planned_s[i];
    }
    (void)printf("\nmoves %s of %s: %zu steps", file->name, plan->arm.name, plan->count);
    if (isfinite(sum_s)) {
        (void)printf(", %.1f s\n", sum_s);
    } else {
        (void)printf("; a duration needs start_q_rad, where the arm is before the first\n");
    }
}
