/* service/sim/mission/course_file.h - reads the course of a vessel from YAML.
 *
 * docs/model/course.md. All faults of the file, of the map that it names and of the course
 * itself are reported, with line and column.
 */
#ifndef SERVICE_SIM_MISSION_COURSE_FILE_H
#define SERVICE_SIM_MISSION_COURSE_FILE_H

#include "service/sim/mission/mission_file.h"
#include "twin/mission/course_drive.h"

struct course_file {
    char name[MISSION_NAME_MAX];
    char pair[EVENT_PAIR_MAX];       /* "": not given */
    uint8_t vessel, kind, actuation; /* enum course_actuation */
    bool has_start;
    double start_m[2];
    size_t point_count;
    struct world_point points[COURSE_POINTS_MAX - 1];
    struct course_plan plan; /* without its points */
    struct course_limits limits;
};

extern const struct option_file course_file;

/* Completes the plan with its points: from a place on, if start is not NULL. */
void course_file_plan(const struct course_file *file, const struct world_point *start,
                      struct course_plan *plan);

#endif
