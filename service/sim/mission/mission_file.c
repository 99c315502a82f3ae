#include "service/sim/mission/mission_file.h"

#include <stdio.h>
#include <string.h>

#include "config/labfile/lab_file.h"
#include "config/labfile/map_file.h"
#include "config/labfile/ros_map_file.h"

struct step_values {
    bool sweep;
    size_t point_count;
    struct world_point points[MISSION_LEGS_MAX], goal;
};

static void add_step(const struct option_reading *item, void *value, void *owner);

/* clang-format off */
#define IN_FILE(m) OPTION_AT(struct mission_file, m), ""
#define IN_STEP(m) OPTION_AT(struct step_values, m), ""
#define BY_HAND    OPTION_BY_HAND, ""
#define PLACE      -POINTS_LIMIT_M, POINTS_LIMIT_M, ""

static const struct option_items path_items = {
    .shape = OPTION_LIST, .value = &point_value, .least = 1, .most = MISSION_LEGS_MAX,
    .bytes = sizeof(struct world_point), .count_at = offsetof(struct step_values, point_count), .what = "points",
    .example = "[[0, 0], [1.5, -0.2]]"};
static const struct option_row step_rows[] = {
    {"path_m", OPTION_ARRAY(path_items, struct step_values, points), ""}, /* Points to drive to in straight lines. */
    /* Look around with the lidar. */
    {"sweep", OPTION_BOOL, "", "false", OPTION_NO_RANGE, IN_STEP(sweep)},
    {"goal_m", OPTION_ARRAY(point_items, struct step_values, goal), ""}, /* A point to plan a path to. */
};
static const struct option_items step_items = {
    .shape = OPTION_LIST, .table = OPTION_TABLE(step_rows), .least = 1, .most = MISSION_STEPS_MAX,
    .bytes = sizeof(struct step_values), .later = true, .fault = FAULT_LIST_EXPECTED, .what = "steps",
    .example = "[{sweep: true}]", .add = add_step};

static const struct option_row mission_rows[] = {
    {"kind", OPTION_CHOICE, "", "wheels", 0.0, 0.0, MISSION_FILE_CHOICES, IN_FILE(kind)}, /* Kind of robot. */
    {"name", OPTION_TEXT, "", "mission", 1.0, 0.0, "", IN_FILE(name)}, /* Name of the mission. */
    {"pair", OPTION_TEXT, "", "", OPTION_NO_RANGE, IN_FILE(pair)}, /* Pair to command. */
    {"map", OPTION_MAP, "", "", BY_HAND}, /* File of the map, or the map itself. */
    /* Start of the robot; by default it is queried. */
    {"start.x_m", OPTION_REAL, "m", "0", PLACE, IN_FILE(plan.start[0])},
    {"start.y_m", OPTION_REAL, "m", "0", PLACE, IN_FILE(plan.start[1])},
    /* From the x axis counter-clockwise. */
    {"start.heading_rad", OPTION_REAL, "rad", "0", -7.0, 7.0, "", IN_FILE(plan.start[2])},
    {"steps", OPTION_EACH(step_items), ""}, /* Steps, one after another. */
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
/* clang-format on */

/* --- the map -------------------------------------------------------------------------- */

void mission_read_map(const struct option_reading *reading, const char *ros_advice,
                      struct world *map)
{
    char path[LAB_PATH_MAX];
    struct option_reader *r = reading->r;
    const uint32_t node = option_node(reading, "map");
    if (node == TREE_NONE) {
        return;
    }
    if (r->tree->nodes[node].kind != TREE_SCALAR || option_is_empty(r->tree, node)) {
        option_file_read(&map_file, r, node, "map.", map);
        return;
    }
    if (!text_file_sibling(r->file, tree_text(r->tree, node), path, sizeof path)) {
        option_fault_at(reading, "map", FAULT_TOO_LONG,
                        "a path of at most %d bytes was expected", LAB_PATH_MAX - 1);
        return;
    }
    if (ros_map_file_found(path)) {
        option_fault_at(reading, "map", FAULT_NOT_APPLICABLE, "%.120s is a map of ROS: %s",
                        path, ros_advice);
        return;
    }
    if (option_file_load(&map_file, path, map, r->errors) != STATUS_OK) {
        option_fault_at(reading, "map", FAULT_BAD_PATH, "%.120s cannot be used", path);
    }
}

/* --- the steps ------------------------------------------------------------------------ */

/* Points of a path may not lie within known obstacles. */
static void check_points(const struct option_reading *item, const char *key,
                         const struct mission_plan *plan, const struct world_point *points,
                         size_t count, double clearance_m)
{
    struct world map = plan->map;
    map.mapped_only = true;
    for (size_t i = 0; i < count; i++) {
        const struct world_point *p = &points[i];
        if (world_blocked(&map, p->x_m, p->y_m, clearance_m)) {
            option_fault_at(item, key, FAULT_IN_OBSTACLE,
                            clearance_m > 0.0
                                ? "[%g, %g] is nearer than clearance_m to an obstacle of the "
                                  "map or its bounds"
                                : "[%g, %g] lies in an obstacle of the map or out of bounds",
                            p->x_m, p->y_m);
            return;
        }
    }
}

static void add_points(const struct option_reading *item, const char *key,
                       struct mission_plan *plan, const struct world_point *points,
                       struct mission_step *step)
{
    if (step->count > MISSION_POINTS_MAX - plan->point_count) {
        option_fault_at(item, key, FAULT_TOO_MANY,
                        "at most %d points in all steps were expected", MISSION_POINTS_MAX);
        return;
    }
    step->first = (uint16_t)plan->point_count;
    memcpy(&plan->points[plan->point_count], points, step->count * sizeof points[0]);
    plan->point_count += step->count;
    check_points(item, key, plan, points, step->count,
                 step->kind == L2_STEP_GOAL ? plan->clearance_m : 0.0);
}

static void add_step(const struct option_reading *item, void *value, void *owner)
{
    const struct step_values *values = value;
    struct mission_plan *plan = &((struct mission_file *)owner)->plan;
    const bool path = option_node(item, "path_m") != TREE_NONE;
    const bool sweep = option_node(item, "sweep") != TREE_NONE;
    const bool goal = option_node(item, "goal_m") != TREE_NONE;
    struct mission_step step = {.kind = path    ? L2_STEP_PATH
                                        : sweep ? L2_STEP_SWEEP
                                                : L2_STEP_GOAL};
    if (path + sweep + goal != 1) {
        if (!item->failed || tree_is(item->r->tree, item->node, TREE_MAP)) {
            option_fault_at(item, "", FAULT_CONFLICTING_KEYS,
                            "one of path_m, sweep and goal_m is wanted");
        }
        return;
    }
    if (sweep && !values->sweep) {
        option_fault_at(item, "sweep", FAULT_BOOLEAN_EXPECTED,
                        "true was expected, leave the step out otherwise");
    } else if (!sweep && !item->failed) {
        step.count = (uint16_t)(goal ? 1 : values->point_count);
        add_points(item, goal ? "goal_m" : "path_m", plan,
                   goal ? &values->goal : values->points, &step);
    }
    plan->steps[plan->step_count++] = step;
}

/* --- the file ------------------------------------------------------------------------- */

void mission_check_pair(const struct option_reading *reading, const char *pair)
{
    if (option_node(reading, "pair") != TREE_NONE && !option_is_name(OPTION_ID, pair)) {
        option_fault_at(reading, "pair", FAULT_BAD_NAME,
                        "an id has 1 to 31 letters, digits, '_' or '-'");
    }
}

static void finish_mission(const struct option_reading *reading, void *context)
{
    struct mission_file *file = context;
    mission_read_map(reading,
                     "leave it out here, and make it the map of the pair in the lab file",
                     &file->plan.map);
    mission_check_pair(reading, file->pair);
    if (file->kind != MISSION_FILE_WHEELS) {
        option_fault_at(reading, "kind", FAULT_INCONSISTENT,
                        "wheels was expected: this file has steps of a robot on wheels");
    }
    file->plan.locates = option_node(reading, "start.x_m") == TREE_NONE &&
                         option_node(reading, "start.y_m") == TREE_NONE &&
                         option_node(reading, "start.heading_rad") == TREE_NONE;
    option_read_items(reading, "steps", file);
}

const struct option_file mission_file = {
    .what = "a mission",
    .empty = "the file is empty, the least is \"steps: [{sweep: true}]\"",
    .table = OPTION_TABLE(mission_rows),
    .required = "steps",
    .bytes = sizeof(struct mission_file),
    .out_bytes = sizeof(struct mission_file),
    .finish = finish_mission};
