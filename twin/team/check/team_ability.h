/* twin/team/check/team_ability.h - which parts a robot can handle, and why a job is impossible.
 *
 * It depends on the parameters alone, so it serves jobs of a file and later jobs alike. Pure.
 */
#ifndef TWIN_TEAM_CHECK_TEAM_ABILITY_H
#define TWIN_TEAM_CHECK_TEAM_ABILITY_H

#include "twin/team/step/team_params.h"

enum { TEAM_JOB_FAULT_MAX = 160 };

/* Finds a step of this sequence that takes parts from a buffer of which the robot can handle
 * none, by itself or with any tool it may get; NULL: none. */
const struct team_step *team_find_unhandled_step(const struct team_params *p, uint16_t robot,
                                                 uint16_t sequence);
/* Explains why no robot, or not its home robot, can ever do this job; false: it is possible. */
bool team_job_fault(const struct team_params *p, const struct team_job *job,
                    char why[TEAM_JOB_FAULT_MAX]);

#endif
