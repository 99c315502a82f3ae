#include "twin/team/check/team_ability.h"

#include <stdarg.h>
#include <stdio.h>

/* Can the robot handle the part by itself, or with a tool of its sequence (any sequence, if it
 * takes jobs)? */
static bool may_handle(const struct team_params *p, uint16_t robot, uint16_t part)
{
    const struct team_robot_params *r = &p->robots[robot];
    const bool own = r->sequence != TEAM_NONE;
    const size_t first = own ? p->sequences[r->sequence].first : 0;
    const size_t end = own ? first + p->sequences[r->sequence].count : p->step_count;
    bool may = team_handles(p, robot, part);
    for (size_t i = first; i < end && !may; i++) {
        may = p->steps[i].kind == TEAM_STEP_TOOL && p->steps[i].arg == part;
    }
    return may;
}

const struct team_step *team_find_unhandled_step(const struct team_params *p, uint16_t robot,
                                                 uint16_t sequence)
{
    const struct team_sequence *s = &p->sequences[sequence];
    for (uint32_t i = s->first; i < s->first + s->count; i++) {
        const struct team_step *step = &p->steps[i];
        const size_t at =
            step->kind == TEAM_STEP_TAKE ? team_find_buffer(p, step->arg) : p->buffer_count;
        const struct team_buffer *b = &p->buffers[at];
        bool any = at == p->buffer_count || b->part_count == 0;
        for (uint32_t k = 0; !any && k < b->part_count; k++) {
            any = may_handle(p, robot, p->lists[b->first_part + k]);
        }
        if (!any) {
            return step;
        }
    }
    return NULL;
}

static PRINTF_LIKE(2, 3) bool report_fault(char why[TEAM_JOB_FAULT_MAX], const char *format,
                                           ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why, TEAM_JOB_FAULT_MAX, format, args);
    va_end(args);
    return true;
}

/* Explains why this robot, which takes jobs, cannot do the job. */
static bool find_fault(const struct team_params *p, const struct team_job *job, uint16_t robot,
                       char why[TEAM_JOB_FAULT_MAX])
{
    const char *name = p->robots[robot].name;
    if (!may_handle(p, robot, job->part)) {
        return report_fault(
            why, "home %s cannot handle %s; add it to its handles, or name another home", name,
            team_name(p, job->part));
    }
    const struct team_step *step = team_find_unhandled_step(p, robot, job->sequence);
    return step &&
           report_fault(why, "%s takes parts from %s, of which %s handles none",
                        p->sequences[job->sequence].name, team_name(p, step->arg), name);
}

bool team_job_fault(const struct team_params *p, const struct team_job *job,
                    char why[TEAM_JOB_FAULT_MAX])
{
    const char *sequence = p->sequences[job->sequence].name;
    if (p->sequences[job->sequence].part) {
        return report_fault(
            why, "%s is a step of other sequences only: alone it breaks the locking rule",
            sequence);
    }
    if (job->home != TEAM_NONE && p->robots[job->home].sequence != TEAM_NONE) {
        return report_fault(why, "home %s has a sequence of its own and takes no jobs",
                            p->robots[job->home].name);
    }
    if (job->home != TEAM_NONE) {
        return find_fault(p, job, job->home, why);
    }
    bool handles = false;
    for (uint16_t i = 0; i < p->robot_count; i++) {
        if (p->robots[i].sequence == TEAM_NONE) {
            if (!find_fault(p, job, i, why)) {
                return false;
            }
            handles = handles || may_handle(p, i, job->part);
        }
    }
    return handles
               ? report_fault(why,
                              "%s takes parts from a buffer of which no robot that could do it "
                              "handles any",
                              sequence)
               : report_fault(why, "no robot without a sequence of its own can handle %s",
                              team_name(p, job->part));
}
