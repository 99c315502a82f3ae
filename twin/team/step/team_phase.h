/* twin/team/step/team_phase.h - the phases of a team's robot: the states of its machine
 * (twin/team/step/team_machines.h).
 */
#ifndef TWIN_TEAM_STEP_TEAM_PHASE_H
#define TWIN_TEAM_STEP_TEAM_PHASE_H

#include "base/text/names.h"

/* clang-format off */
#define TEAM_PHASES(X)                                                                         \
    X(TEAM_PHASE_IDLE, "IDLE") /* before its start */                                          \
    X(TEAM_PHASE_BEGIN, "BEGIN") /* only within a step */                                      \
    X(TEAM_PHASE_ACTIVE, "ACTIVE") X(TEAM_PHASE_WAITING, "WAITING") /* WAITING: for resources */ \
    X(TEAM_PHASE_MEETING, "MEETING") X(TEAM_PHASE_JOINED, "JOINED") /* JOINED: done, others not yet */ \
    X(TEAM_PHASE_RETRY, "RETRY") X(TEAM_PHASE_PARKED, "PARKED") /* PARKED: no job */           \
    X(TEAM_PHASE_ERROR, "ERROR") X(TEAM_PHASE_FINISHED, "FINISHED")
/* clang-format on */

enum team_phase { TEAM_PHASES(NAMES_VALUE) TEAM_PHASE_COUNT };
ENUM_NAMES_DECLARED(team_phase); /* twin/team/step/team.c */

#endif
