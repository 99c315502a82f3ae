#include "service/sim/mission/course_file.h"

#include <string.h>

#include "config/labfile/map_file.h"

/* clang-format off */
#define IN_FILE(m) OPTION_AT(struct course_file, m), ""

static const struct option_items course_items = {
    .shape = OPTION_LIST, .value = &point_value, .least = 1, .most = COURSE_POINTS_MAX - 1,
    .bytes = sizeof(struct world_point), .count_at = offsetof(struct course_file, point_count), .what = "points",
    .example = "[[60, 0], [60, 40]]"};

static const struct option_row course_rows[] = {
    {"kind", OPTION_CHOICE, "", "vessel", 0.0, 0.0, MISSION_FILE_CHOICES, IN_FILE(kind)}, /* Kind of robot. */
    {"name", OPTION_TEXT, "", "course", 1.0, 0.0, "", IN_FILE(name)}, /* Name of the mission. */
    {"pair", OPTION_TEXT, "", "", OPTION_NO_RANGE, IN_FILE(pair)}, /* Pair to command. */
    {"vessel", OPTION_CHOICE, "", "wamv", 0.0, 0.0, "wamv|iacquabot", IN_FILE(vessel)}, /* Hull and thrusters. */
    /* Form of its efforts: the vessel's parameter of this name. */
    {"actuation", OPTION_CHOICE, "", "allocated", 0.0, 0.0, "wrench|allocated|thrusters", IN_FILE(actuation)},
    {"map", OPTION_MAP, "", "", OPTION_BY_HAND, ""}, /* File of the map, or the map itself. */
    /* Start; by default where the vessel is. */
    {"start_m", OPTION_ARRAY(point_items, struct course_file, start_m), ""},
    {"course_m", OPTION_ARRAY(course_items, struct course_file, points), ""}, /* Way-points. */
    /* Speed through the course; by default the vessel's own. */
    {"speed_mps", OPTION_REAL, "m/s", "0.8", 0.001, 100.0, "", IN_FILE(plan.speed_mps)},
    /* Distance of the line of sight. */
    {"lookahead_m", OPTION_REAL, "m", "6", 0.5, 1000.0, "", IN_FILE(plan.lookahead_m)},
    /* Distance before a way-point at which the turn begins. */
    {"turn_in_m", OPTION_REAL, "m", "4", 0.1, 1000.0, "", IN_FILE(plan.turn_in_m)},
    /* Distance of the course from discs. */
    {"clearance_m", OPTION_REAL, "m", "2", 0.0, 1000.0, "", IN_FILE(plan.clearance_m)},
    /* Largest distance from the course. */
    {"off_m", OPTION_REAL, "m", "5", 0.1, 1000.0, "", IN_FILE(limits.off_m)},
    /* Longest time without a metre of way. */
    {"patience_s", OPTION_REAL, "s", "60", 1.0, 86400.0, "", IN_FILE(limits.patience_s)},
};
/* clang-format on */

void course_file_plan(const struct course_file *file, const struct world_point *start,
                      struct course_plan *plan)
{
    *plan = file->plan;
    plan->has_start = start != NULL;
    if (start) {
        plan->points[plan->point_count++] = *start;
    }
    memcpy(&plan->points[plan->point_count], file->points,
           file->point_count * sizeof file->points[0]);
    plan->point_count += file->point_count;
}

static void finish_course(const struct option_reading *reading, void *context)
{
    struct course_file *file = context;
    struct course_plan plan;
    struct course course;
    struct err err = {0};
    mission_read_map(reading, "a course goes around circles only, so give a map of circles",
                     &file->plan.map);
    mission_check_pair(reading, file->pair);
    file->plan.vessel = &usv3_vessels[file->vessel];
    if (option_node(reading, "speed_mps") == TREE_NONE) {
        file->plan.speed_mps = course_usual_speed_mps(file->plan.vessel);
    }
    if (file->kind != MISSION_FILE_VESSEL) {
        option_fault_at(reading, "kind", FAULT_INCONSISTENT,
                        "vessel was expected: course_m is of a vessel");
    }
    file->has_start = option_node(reading, "start_m") != TREE_NONE;
    course_file_plan(file,
                     file->has_start ? &(struct world_point){file->start_m[0], file->start_m[1]}
                                     : NULL,
                     &plan);
    if (!reading->r->failed && course_make(&plan, &course, &err) != STATUS_OK) {
        const bool of_speed = strcmp(err.where, "speed_mps") == 0;
        option_fault_at(reading, of_speed ? err.where : "course_m", err.fault, "%s%s%s",
                        of_speed ? "" : err.where, of_speed ? "" : ": ", err.text);
    }
}

const struct option_file course_file = {
    .what = "a course",
    .empty = "the file is empty, the least is \"course_m: [[60, 0]]\"",
    .table = OPTION_TABLE(course_rows),
    .required = "course_m",
    .bytes = sizeof(struct course_file),
    .out_bytes = sizeof(struct course_file),
    .finish = finish_course};
