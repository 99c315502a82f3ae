/* service/team/team_plan_study.h - the plan of a team as a document: durations of its tasks,
 * start times, interference of places, and plays with other durations.
 *
 * docs/model/teams.md, "Plan". It only shows: nothing runs a plan. Cold path: allocates.
 */
#ifndef SERVICE_TEAM_TEAM_PLAN_STUDY_H
#define SERVICE_TEAM_TEAM_PLAN_STUDY_H

#include "base/errors/err.h"
#include "logger/message/json_write.h"
#include "service/team/team_settings.h"

enum { TEAM_PLAN_DRAWS = 200 }; /* usual plays */

struct team_plan_request {
    size_t draws; /* plays with other durations */
    double
        spread; /* durations of a play lie within this ratio of the predicted ones, 0 .. <1 */
    uint64_t seed;           /* the same seed gives the same plays */
    uint64_t activities_max; /* of one task; 0: unlimited */
};

/* Is there a plan to make? STATUS_E_EMPTY: *err has where, and what a plan looks like. */
MUST_USE enum status team_plan_study_check(const struct team_params *p, const char *where,
                                           struct err *err);

struct team_plan_study;

/* Plan the tasks of the settings, whose parameters have a plan. tp is made from the settings
 * and has the durations. Both are changed, and borrowed as long as the study. *out is to be
 * freed. STATUS_E_EMPTY: a task has no duration, or does not end; STATUS_E_NOMEM. */
MUST_USE enum status team_plan_study_make(struct team_settings *settings,
                                          struct team_prediction *tp,
                                          const struct team_plan_request *request,
                                          struct team_plan_study **out,
                                          struct err_list *errors);

/* Write the members of the document; what is the study. */
void team_plan_study_write(const void *what, struct json_writer *w);

#endif
