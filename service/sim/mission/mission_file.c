#include "service/sim/mission/mission_file.h"

#include <stdio.h>
#include <string.h>

#include "config/labfile/lab_file.h"
#include "config/options/option_file.h"
#include "service/sim/mission/map_file.h"

struct step_values {
    bool sweep;
};

/* clang-format off */
#define IN_FILE(m) OPTION_AT(struct mission_file, m), ""
#define IN_STEP(m) OPTION_AT(struct step_values, m), ""
#define BY_HAND    OPTION_BY_HAND, ""
#define PLACE      -POINTS_LIMIT_M, POINTS_LIMIT_M, ""

static const struct option_row mission_rows[] = {
    {"name", OPTION_TEXT, "", "mission", 1.0, 0.0, "", IN_FILE(name)}, /* Name of the mission. */
    {"pair", OPTION_TEXT, "", "", OPTION_NO_RANGE, IN_FILE(pair)}, /* Pair to command. */
    {"map", OPTION_MAP, "", "", BY_HAND}, /* File of the map, or the map itself. */
    /* Start of the robot; by default it is queried. */
    {"start.x_m", OPTION_REAL, "m", "0", PLACE, IN_FILE(plan.start[0])},
    {"start.y_m", OPTION_REAL, "m", "0", PLACE, IN_FILE(plan.start[1])},
    /* From the x axis counter-clockwise. */
    {"start.heading_rad", OPTION_REAL, "rad", "0", -7.0, 7.0, "", IN_FILE(plan.start[2])},
    {"steps", OPTION_MAP, "", "", BY_HAND}, /* Steps, one after another. */
    /* When to go back to the start. */
    {"return", OPTION_CHOICE, "", "failure", 0.0, 0.0, "never|failure|always", IN_FILE(plan.returns)},
    /* Use the pose in replies, or dead reckoning. */
    {"pose", OPTION_CHOICE, "", "robot", 0.0, 0.0, "robot|reckoned", IN_FILE(plan.reckoned)},
    /* Distance that planned paths keep from the map's obstacles. */
    {"clearance_m", OPTION_REAL, "m", "0.3", 0.001, 1000.0, "", IN_FILE(plan.clearance_m)},
    /* Radius assumed for an obstacle found on the way. */
    {"obstacle_m", OPTION_REAL, "m", "0.2", 0.001, 1000.0, "", IN_FILE(plan.obstacle_m)},
    /* Points nearer than this need no move. */
    {"arrival_m", OPTION_REAL, "m", "0.02", 0.0, 1000.0, "", IN_FILE(plan.arrival_m)},
    /* Longest wait for one command. */
    {"patience_s", OPTION_TIME, "s", "60", 0.1, 86400.0, "", IN_FILE(plan.patience_us)},
    /* How often a command is sent when it is ignored. */
    {"tries_max", OPTION_INTEGER, "", "3", 1.0, 100.0, "", IN_FILE(plan.tries_max)},
    /* Number of paths tried for one goal. */
    {"routes_max", OPTION_INTEGER, "", "4", 1.0, 100.0, "", IN_FILE(plan.routes_max)},
    /* Largest number of rays of a sweep. */
    {"rays_max", OPTION_INTEGER, "", "360", 1.0, 100000.0, "", IN_FILE(plan.rays_max)},
};

static const struct option_row step_rows[] = {
    {"path_m", OPTION_MAP, "", "", BY_HAND}, /* Points to drive to in straight lines. */
    /* Look around with the lidar. */
    {"sweep", OPTION_BOOL, "", "false", OPTION_NO_RANGE, IN_STEP(sweep)},
    {"goal_m", OPTION_MAP, "", "", BY_HAND}, /* A point to plan a path to. */
};
/* clang-format on */

enum { STEP_PATH, STEP_SWEEP, STEP_GOAL, STEP_ROW_COUNT };

static const struct option_table mission_options = {mission_rows, COUNT(mission_rows)};
static const struct option_table step_options = {step_rows, COUNT(step_rows)};

/* --- the map -------------------------------------------------------------------------- */

static void read_map(struct option_reader *r, uint32_t node, struct world *map)
{
    char path[LAB_PATH_MAX];
    if (r->tree->nodes[node].kind != TREE_SCALAR || option_is_empty(r->tree, node)) {
        option_file_read(&map_file, r, node, "map.", map);
        return;
    }
    if (!text_file_sibling(r->file, tree_text(r->tree, node), path, sizeof path)) {
        option_fault(r, node, FAULT_TOO_LONG, "map: a path of at most %d bytes was expected",
                     LAB_PATH_MAX - 1);
        return;
    }
    if (option_file_load(&map_file, path, map, r->errors) != STATUS_OK) {
        option_fault(r, node, FAULT_BAD_PATH, "map: %.120s cannot be used", path);
    }
}

/* --- the steps ------------------------------------------------------------------------ */

/* Points of a path may not lie within known obstacles. */
static void check_points(struct option_reader *r, uint32_t node, const char *shown,
                         const struct mission_plan *plan, const struct mission_step *step)
{
    struct world map = plan->map;
    map.mapped_only = true;
    const bool goal = step->kind == L2_STEP_GOAL;
    for (size_t i = 0; i < step->count; i++) {
        const struct world_point *p = &plan->points[step->first + i];
        const double clearance_m = goal ? plan->clearance_m : 0.0;
        if (world_blocked(&map, p->x_m, p->y_m, clearance_m)) {
            option_fault(r, node, FAULT_IN_OBSTACLE,
                         goal ? "%s: [%g, %g] is nearer than clearance_m to an obstacle of "
                                "the map or its bounds"
                              : "%s: [%g, %g] lies in an obstacle of the map or out of bounds",
                         shown, p->x_m, p->y_m);
            return;
        }
    }
}

static void read_step_points(struct option_reader *r, uint32_t node, const char *shown,
                             struct mission_plan *plan, struct mission_step *step)
{
    struct world_point points[MISSION_LEGS_MAX];
    const struct tree_node *list = &r->tree->nodes[node];
    size_t count = 0;
    if (step->kind == L2_STEP_GOAL) { /* [x, y] without the list around it */
        const bool two = list->kind == TREE_LIST && list->count == 2;
        if (!two || r->tree->nodes[list->first].kind == TREE_LIST) {
            option_fault(r, node, FAULT_NUMBERS_EXPECTED,
                         "%s: one point is wanted, as in [1.5, -0.2]", shown);
            return;
        }
        points_read_one(r, node, shown, points, &count);
    } else {
        points_read(r, node, shown, 1, MISSION_LEGS_MAX, points, &count);
    }
    if (count > MISSION_POINTS_MAX - plan->point_count) {
        option_fault(r, node, FAULT_TOO_MANY,
                     "%s: at most %d points in all steps were expected", shown,
                     MISSION_POINTS_MAX);
        return;
    }
    step->first = (uint16_t)plan->point_count;
    step->count = (uint16_t)count;
    memcpy(&plan->points[plan->point_count], points, count * sizeof points[0]);
    plan->point_count += count;
    check_points(r, node, shown, plan, step);
}

static void read_step(struct option_reader *r, uint32_t node, size_t index,
                      struct mission_plan *plan)
{
    static const enum l2_step kinds[STEP_ROW_COUNT] = {L2_STEP_PATH, L2_STEP_SWEEP,
                                                       L2_STEP_GOAL};
    uint32_t given[OPTION_ROWS_MAX] = {0};
    struct step_values values = {0};
    char shown[OPTION_PREFIX_MAX];
    size_t count = 0;
    struct mission_step step = {.kind = L2_STEP_NONE};
    uint32_t at = TREE_NONE;

    (void)snprintf(shown, sizeof shown, "steps[%zu].", index);
    option_defaults(&step_options, &values);
    option_read(r, &step_options, "", node, shown, &values, given);
    for (size_t i = 0; i < STEP_ROW_COUNT; i++) {
        if (given[i] != TREE_NONE) {
            step.kind = kinds[i];
            at = given[i];
            count++;
        }
    }
    if (r->tree->nodes[node].kind != TREE_MAP && !option_is_empty(r->tree, node)) {
        return; /* reported already */
    }
    if (count != 1) {
        option_fault(r, node, FAULT_CONFLICTING_KEYS,
                     "steps[%zu]: one of path_m, sweep and goal_m is wanted", index);
        return;
    }
    (void)snprintf(shown, sizeof shown, "steps[%zu].%s", index, tree_key(r->tree, at));
    if (step.kind != L2_STEP_SWEEP) {
        read_step_points(r, at, shown, plan, &step);
    } else if (!values.sweep) {
        option_fault(r, at, FAULT_BOOLEAN_EXPECTED,
                     "%s: true was expected, leave the step out otherwise", shown);
    }
    plan->steps[plan->step_count++] = step;
}

static void read_steps(struct option_reader *r, uint32_t node, struct mission_plan *plan)
{
    const struct tree_node *list = &r->tree->nodes[node];
    size_t index = 0;
    if (list->kind == TREE_SKIPPED) {
        return;
    }
    if (list->kind != TREE_LIST || list->count == 0 || list->count > MISSION_STEPS_MAX) {
        option_fault(r, node, FAULT_LIST_EXPECTED,
                     "steps: a list of 1 to %d steps is wanted, as in [{sweep: true}]",
                     MISSION_STEPS_MAX);
        return;
    }
    for (uint32_t i = list->first; i != TREE_NONE; i = r->tree->nodes[i].next) {
        read_step(r, i, index++, plan);
    }
}

/* --- the file ------------------------------------------------------------------------- */

static void finish_mission(const struct option_reading *reading, void *context)
{
    struct option_reader *r = reading->r;
    struct mission_file *file = context;
    struct mission_plan *plan = &file->plan;
    const uint32_t map = option_node(reading, "map");
    const uint32_t steps = option_node(reading, "steps");
    const uint32_t pair = option_node(reading, "pair");
    if (map != TREE_NONE) {
        read_map(r, map, &plan->map);
    }
    if (pair != TREE_NONE && !lab_check_id(file->pair)) {
        option_fault(r, pair, FAULT_BAD_NAME,
                     "pair: an id has 1 to 31 letters, digits, '_' or '-'");
    }
    plan->locates = option_node(reading, "start.x_m") == TREE_NONE &&
                    option_node(reading, "start.y_m") == TREE_NONE &&
                    option_node(reading, "start.heading_rad") == TREE_NONE;
    if (steps != TREE_NONE) {
        read_steps(r, steps, plan);
    } else if (!r->tree->partial && r->tree->nodes[TREE_ROOT].kind == TREE_MAP) {
        option_fault(r, TREE_ROOT, FAULT_MISSING_KEY,
                     "steps are missing, the least is \"steps: [{sweep: true}]\"");
    }
}

const struct option_file mission_file = {
    .what = "a mission",
    .empty = "the file is empty, the least is \"steps: [{sweep: true}]\"",
    .table = &mission_options,
    .bytes = sizeof(struct mission_file),
    .out_bytes = sizeof(struct mission_file),
    .finish = finish_mission};
