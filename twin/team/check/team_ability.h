/* twin/team/check/team_ability.h - what a robot can ever handle, and what speaks against a job.
 *
 * Of the parameters alone: the same for jobs of a file and for those that come while the team
 * works. Pure.
 */
#ifndef TWIN_TEAM_CHECK_TEAM_ABILITY_H
#define TWIN_TEAM_CHECK_TEAM_ABILITY_H

#include "twin/team/step/team_params.h"

enum { TEAM_JOB_FAULT_MAX = 160 };

/* A step of this sequence that takes parts from a buffer of which the robot can handle none, by
 * itself or with a tool that it may be given; NULL: there is none. */
const struct team_step *team_find_unhandled_step(const struct team_params *p, uint16_t robot,
                                                 uint16_t sequence);
/* Why nobody, or not its home, could ever do this job; false: nothing speaks against it. */
bool team_job_fault(const struct team_params *p, const struct team_job *job,
                    char why[TEAM_JOB_FAULT_MAX]);

#endif
