/* Any bytes as a mission of a vessel and of an arm: no crash, faults with a text, and what was
 * accepted is a course that can be followed from its begin to its end, and a list within
 * bounds. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "service/sim/mission/course_file.h"
#include "service/sim/mission/moves_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_faults(enum status status, const struct err_list *errors)
{
    assert((status == STATUS_OK) == (errors->count == 0));
    for (size_t i = 0; i < errors->count; i++) {
        assert(errors->items[i].text[0] != '\0');
    }
}

static void check_course(const struct course_file *file)
{
    static struct course course;
    struct course_plan plan;
    struct course_place place = {0};
    struct err err = {0};
    course_file_plan(file,
                     file->has_start ? &(struct world_point){file->start_m[0], file->start_m[1]}
                                     : NULL,
                     &plan);
    assert(course_make(&plan, &course, &err) == STATUS_OK);
    assert(course.count <= COURSE_PIECES_MAX && isfinite(course.length_m));
    for (size_t i = 0; i < course.count; i++) {
        const struct course_piece *p = &course.pieces[i];
        assert(p->length_m >= 0.0 && isfinite(p->heading_rad) && p->point < plan.point_count);
        assert(p->turn == 0 || p->radius_m > 0.0);
    }
    if (course.count > 0) {
        course_find(&course, &plan.points[0], 5.0, &place);
        assert(place.piece < course.count && isfinite(place.across_m));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct course_file *vessel = calloc(1, sizeof *vessel);
    struct moves_file *arm = calloc(1, sizeof *arm);
    struct err_list of_vessel = {0};
    struct err_list of_arm = {0};
    assert(vessel && arm);
    const enum status status =
        option_file_parse(&course_file, text, size, "fuzz", vessel, &of_vessel);
    check_faults(status, &of_vessel);
    if (status == STATUS_OK) {
        check_course(vessel);
    }
    check_faults(option_file_parse(&moves_file, text, size, "fuzz", arm, &of_arm), &of_arm);
    assert(arm->plan.count <= ARM_STEPS_MAX);
    free(vessel);
    free(arm);
    return 0;
}
