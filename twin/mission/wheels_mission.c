/* twin/mission/wheels_mission.c - missions of a robot with wheels: SWEEP, FOLLOW a path,
 * NAVIGATE to a goal, or STEPS of these. L2 and L1 of twin/sim/robot/mission.h carry them out.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "twin/mission/map_json.h"
#include "twin/mission/mission_kind.h"
#include "twin/mission/mission_text.h"

/* ---- the text ---- */

/* The ranges are those of mission files (service/sim/mission/mission_file.c). */
static const struct mission_number number_rows[] = {
#define AT(member) offsetof(struct mission_plan, member)
    {"clearance_m", 0.001, 1000.0, MISSION_NUMBER_REAL, AT(clearance_m),
     "a \"clearance_m\" of 0.001 to 1000 was expected"},
    {"obstacle_m", 0.001, 1000.0, MISSION_NUMBER_REAL, AT(obstacle_m),
     "an \"obstacle_m\" of 0.001 to 1000 was expected"},
    {"arrival_m", 0.0, 1000.0, MISSION_NUMBER_REAL, AT(arrival_m),
     "an \"arrival_m\" of 0 to 1000 was expected"},
    {"patience_s", 0.1, 86400.0, MISSION_NUMBER_TIME, AT(patience_us),
     "a \"patience_s\" of 0.1 to 86400 was expected"},
    {"tries_max", 1.0, 100.0, MISSION_NUMBER_WHOLE, AT(tries_max),
     "a \"tries_max\" of 1 to 100 was expected"},
    {"routes_max", 1.0, 100.0, MISSION_NUMBER_WHOLE, AT(routes_max),
     "a \"routes_max\" of 1 to 100 was expected"},
    {"rays_max", 1.0, 100000.0, MISSION_NUMBER_WHOLE, AT(rays_max),
     "a \"rays_max\" of 1 to 100000 was expected"},
#undef AT
};

static const struct mission_plan defaults = {.locates = true,
                                             .clearance_m = 0.3,
                                             .obstacle_m = 0.2,
                                             .arrival_m = 0.02,
                                             .returns = MISSION_RETURN_ON_FAILURE,
                                             .patience_us = 60000000,
                                             .tries_max = 3,
                                             .routes_max = 4,
                                             .rays_max = 360};

static bool scan_start(struct json_scan *s, struct mission_plan *plan)
{
    plan->locates = false;
    return map_json_scan_numbers(s, plan->start, 3);
}

static bool add_step(struct json_scan *s, struct mission_plan *plan, enum l2_step kind)
{
    struct mission_step step = {.kind = kind, .first = (uint16_t)plan->point_count};
    const size_t room = MISSION_POINTS_MAX - plan->point_count;
    struct world_point *points = &plan->points[plan->point_count];
    size_t count = 0;
    bool truth = false;
    if (plan->step_count == MISSION_STEPS_MAX || room == 0) {
        return json_scan_fail(s, FAULT_TOO_MANY,
                              "at most 64 steps with 512 points in all were expected");
    }
    if (kind == L2_STEP_PATH) {
        if (!map_json_scan_points(
                s, points, room < MISSION_LEGS_MAX ? room : MISSION_LEGS_MAX,
                "a path of at most 128 points, and 512 in all steps, were expected", &count)) {
            return false;
        }
    } else if (kind == L2_STEP_GOAL) {
        count = 1;
        if (!map_json_scan_point(s, points)) {
            return false;
        }
    } else if (!json_scan_bool(s, &truth) ||
               !(truth ||
                 json_scan_fail(s, FAULT_BOOLEAN_EXPECTED, "\"sweep\": true was expected"))) {
        return false;
    }
    step.count = (uint16_t)count;
    plan->point_count += count;
    plan->steps[plan->step_count++] = step;
    return true;
}

static enum l2_step step_of(const struct json_text *key)
{
    return json_text_is(key, "path_m")   ? L2_STEP_PATH
           : json_text_is(key, "goal_m") ? L2_STEP_GOAL
           : json_text_is(key, "sweep")  ? L2_STEP_SWEEP
                                         : L2_STEP_NONE;
}

static bool scan_steps(struct json_scan *s, struct mission_plan *plan)
{
    static const char *const expected =
        "steps of one member were expected: \"path_m\", \"goal_m\" or \"sweep\"";
    struct json_text key;
    (void)json_scan_enter(s, JSON_KIND_ARRAY);
    while (json_scan_next_item(s)) {
        const size_t before = plan->step_count;
        (void)json_scan_enter(s, JSON_KIND_OBJECT);
        while (json_scan_next_member(s, &key)) {
            const enum l2_step kind = step_of(&key);
            if (kind == L2_STEP_NONE || plan->step_count > before) {
                return json_scan_fail(s, FAULT_CONFLICTING_KEYS, expected);
            }
            if (!add_step(s, plan, kind)) {
                return false;
            }
        }
        if (!s->error && plan->step_count == before) {
            return json_scan_fail(s, FAULT_CONFLICTING_KEYS, expected);
        }
    }
    return !s->error;
}

/* The text while it is read. */
struct plan_text {
    const struct mission_kind *kind;
    struct mission_plan *plan;
    bool has_map;
};

static enum l2_step step_of_kind(const struct mission_kind *kind)
{
    return kind == &mission_sweep      ? L2_STEP_SWEEP
           : kind == &mission_follow   ? L2_STEP_PATH
           : kind == &mission_navigate ? L2_STEP_GOAL
                                       : L2_STEP_NONE;
}

static bool scan_setting(struct json_scan *s, const struct json_text *key,
                         struct plan_text *text)
{
    struct mission_plan *plan = text->plan;
    size_t value = 0;
    if (json_text_is(key, "return")) {
        const bool fine =
            mission_text_choice(s, &mission_return_names, &value,
                                "a \"return\" out of never failure always was expected");
        plan->returns = (enum mission_return)value;
        return fine;
    }
    if (json_text_is(key, "pose")) {
        const bool fine = mission_text_choice(s, &mission_pose_names, &value,
                                              "a \"pose\" out of robot reckoned was expected");
        plan->reckoned = value == 1;
        return fine;
    }
    if (json_text_is(key, "start")) {
        return scan_start(s, plan);
    }
    if (json_text_is(key, "map")) {
        text->has_map = true;
        memset(&plan->map, 0, sizeof plan->map);
        return map_json_scan(s, &plan->map);
    }
    return mission_text_setting(s, key, number_rows, COUNT(number_rows), plan);
}

static bool scan_plan(struct json_scan *s, struct plan_text *text)
{
    const enum l2_step own = step_of_kind(text->kind);
    struct json_text key;
    (void)json_scan_enter(s, JSON_KIND_OBJECT);
    while (json_scan_next_member(s, &key)) {
        const enum l2_step step = step_of(&key);
        const bool fine = own == L2_STEP_NONE && json_text_is(&key, "steps")
                              ? scan_steps(s, text->plan)
                          : step != L2_STEP_NONE && step == own && text->plan->step_count == 0
                              ? add_step(s, text->plan, step)
                              : scan_setting(s, &key, text);
        if (!fine) {
            return false;
        }
    }
    if (own == L2_STEP_SWEEP && text->plan->step_count == 0) { /* "sweep" need not be said */
        text->plan->steps[text->plan->step_count++] = (struct mission_step){.kind = own};
    }
    return !s->error &&
           (text->plan->step_count > 0 ||
            json_scan_fail(s, FAULT_MISSING_KEY,
                           own == L2_STEP_PATH   ? "a FOLLOW needs its \"path_m\""
                           : own == L2_STEP_GOAL ? "a NAVIGATE needs its \"goal_m\""
                                                 : "STEPS need their \"steps\""));
}

/* ---- the plan against the map ---- */

static enum status check_step(const struct mission_plan *plan, const struct world *map,
                              size_t k, struct err *err)
{
    const struct mission_step *step = &plan->steps[k];
    const double clearance_m = step->kind == L2_STEP_GOAL ? plan->clearance_m : 0.0;
    for (size_t i = 0; i < step->count; i++) {
        const struct world_point *p = &plan->points[step->first + i];
        if (world_blocked(map, p->x_m, p->y_m, clearance_m)) {
            return err_set(
                err, STATUS_E_PARSE, FAULT_IN_OBSTACLE, mission_text_where,
                "step %zu, [%g, %g] %s of the map or out of its bounds: a free point "
                "was expected",
                k + 1, p->x_m, p->y_m,
                clearance_m > 0.0 ? "is nearer than clearance_m to an obstacle"
                                  : "lies in an obstacle");
        }
    }
    return STATUS_OK;
}

/* The same on a map of cells. The robot may follow a path through unknown ones. */
static enum status check_cells(const struct mission_plan *plan, size_t k, struct err *err)
{
    const struct costmap *map = plan->cells;
    const struct mission_step *step = &plan->steps[k];
    const bool goal = step->kind == L2_STEP_GOAL;
    for (size_t i = 0; i < step->count; i++) {
        const struct world_point *p = &plan->points[step->first + i];
        const size_t cell = costmap_find(map, (double[2]){p->x_m, p->y_m});
        const char *why = cell == SIZE_MAX                        ? "is off the map"
                          : map->cell[cell] == COSTMAP_OCCUPIED   ? "lies in an occupied cell"
                          : !goal                                 ? NULL
                          : !costmap_allows(map, map->cell[cell]) ? "lies in an unknown cell"
                          : costmap_blocked(map, cell, plan->clearance_m)
                              ? "is nearer than clearance_m to an occupied cell"
                              : NULL;
        if (why) {
            return err_set(err, STATUS_E_PARSE, FAULT_IN_OBSTACLE, mission_text_where,
                           "step %zu, [%g, %g] %s: a free point of the map was expected", k + 1,
                           p->x_m, p->y_m, why);
        }
    }
    return STATUS_OK;
}

static enum status check_plan(const struct plan_text *text, const struct pair_params *pair,
                              struct err *err)
{
    struct mission_plan *plan = text->plan;
    const struct world *lab_map = pair->world;
    struct world map;
    /* A mission may have a map of its own. */
    plan->cells = text->has_map ? NULL : pair->costmap;
    plan->on_cells = plan->cells != NULL;
    plan->on_live =
        !text->has_map && !lab_map && !plan->cells && live_map_wanted(&pair->live_map);
    if (!text->has_map && lab_map) {
        plan->map = *lab_map;
    }
    map = plan->map;
    map.mapped_only = true;
    for (size_t k = 0; k < plan->step_count; k++) {
        if (plan->steps[k].kind == L2_STEP_GOAL && !text->has_map && !lab_map && !plan->cells &&
            !plan->on_live) {
            return err_set(err, STATUS_E_PARSE, FAULT_NEEDS_KEY, mission_text_where,
                           "a goal needs a map: send a \"map\", or give the pair a map in the "
                           "lab file");
        }
        const enum status status =
            plan->cells ? check_cells(plan, k, err) : check_step(plan, &map, k, err);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static enum status parse_plan(const struct mission_kind *kind, const char *text, size_t bytes,
                              const struct pair_params *p, void *plan, struct err *err)
{
    struct json_scan s;
    struct plan_text read = {kind, plan, false};
    memcpy(plan, &defaults, sizeof defaults);
    json_scan_start(&s, text, bytes, JSON_SCAN_DEPTH_MAX);
    if (!scan_plan(&s, &read) || !json_scan_finish(&s)) {
        return mission_text_fault(&s, err);
    }
    return check_plan(&read, p, err);
}

/* ---- the work ---- */

static void begin_work(void *work, const void *plan, const char *run, int64_t t_us,
                       mission_sink *sink, void *context)
{
    mission_init(work, plan, run, t_us);
    mission_start(work, t_us, sink, context);
}

static void step_work(void *work, const struct mission_input *input, mission_sink *sink,
                      void *context)
{
    switch (input->kind) {
    case MISSION_INPUT_REPLY:
        ((struct mission *)work)->unanswered = input->unanswered;
        mission_reply(work, input->reply, input->t_us, sink, context);
        break;
    case MISSION_INPUT_TICK:
        mission_tick(work, input->t_us, sink, context);
        break;
    case MISSION_INPUT_QUIT:
        mission_quit(work, input->t_us, sink, context);
        break;
    case MISSION_INPUT_SAMPLE: /* the pose comes in replies */
    case MISSION_INPUT_HALT:
        break;
    }
}

static int64_t next_work_us(const void *work)
{
    return mission_next_us(work);
}

static void rebind_work(void *work, void *plan, const struct mission_place *place)
{
    struct mission_plan *own = plan;
    own->cells = own->on_cells ? place->p->costmap : NULL;
    own->live = own->on_live ? place->live : NULL;
    own->live_params = &place->p->live_map;
    own->side = place->p->expected[SIDE_REAL] == PAIR_NEVER ? SIDE_VIRTUAL : SIDE_REAL;
    own->memory = place->memory;
    ((struct mission *)work)->plan = plan;
}

static void write_machine(struct json_writer *w, const struct efsm_table *table,
                          const struct efsm *m, const struct efsm_stats *stats)
{
    JSON_OPEN(w, table->name, JSON("state", efsm_state_name(table, m->state)));
    JSON_MAP(w, "visits", size_t i = 0; i < table->state_count; i++) {
        json_write_int(w, table->states[i].name, stats->visits[i]);
    }
    json_write_close(w);
}

static void report_work(const void *work, const void *plan, struct json_writer *w)
{
    const struct mission *m = work;
    const struct mission_plan *p = plan;
    JSON_WRITE(w, JSON("steps", p->step_count), JSON("obstacles_found", m->obstacles_found),
               JSON("replies_of_others", m->stray_count));
    json_write_axes(w, "pose", m->pose, 3);
    JSON_LIST(w, "path_m", size_t i = 0; i < m->leg_count; i++) {
        json_write_two(w, NULL, m->legs[i].x_m, m->legs[i].y_m);
    }
    JSON_LIST(w, "stack", size_t i = 0; i < m->l2.depth; i++) {
        json_write_text(w, NULL, efsm_state_name(&l2_table, m->l2.stack[i]));
    }
    json_write_object(w, "machines");
    write_machine(w, &l1_table, &m->l1, &m->l1_stats);
    write_machine(w, &l2_table, &m->l2, &m->l2_stats);
    json_write_close(w);
}

/* ---- the rows ---- */

_Static_assert(sizeof(struct mission_plan) <= MISSION_PLAN_BYTES, "room for the plan");
_Static_assert(sizeof(struct mission) <= MISSION_WORK_BYTES, "room for the work");

/* clang-format off */
#define WHEELS_KIND(word, text)                                                                \
    {.name = word, .help = text, .robot = MISSION_WHEELS,                                  \
     .plan_bytes = sizeof(struct mission_plan), .work_bytes = sizeof(struct mission),          \
     .parse = parse_plan, .begin = begin_work, .step = step_work, .next_us = next_work_us,     \
     .rebind = rebind_work, .report = report_work}

const struct mission_kind mission_sweep = WHEELS_KIND("SWEEP", "Looks around with the lidar.");
const struct mission_kind mission_follow =
    WHEELS_KIND("FOLLOW", "Drives to the points of path_m, straight from one to the next.");
const struct mission_kind mission_navigate =
    WHEELS_KIND("NAVIGATE", "Plans around the mapped obstacles and drives to goal_m.");
const struct mission_kind mission_steps =
    WHEELS_KIND("STEPS", "Carries out steps of these three, one after another.");
/* clang-format on */
