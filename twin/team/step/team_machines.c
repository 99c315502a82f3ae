#include "twin/team/step/team_machines.h"

#define NEXT_STATE(from, signal, to, text) [from][signal] = (to) + 1,
const uint8_t team_robot_next[TEAM_PHASE_COUNT][ROBOT_SIGNAL_COUNT] = {
    TEAM_ROBOT_ARCS(NEXT_STATE)};
const uint8_t team_task_next[TASK_STATE_COUNT][TASK_SIGNAL_COUNT] = {
    TEAM_TASK_ARCS(NEXT_STATE)};
const uint8_t team_activity_next[ACTIVITY_STATE_COUNT][ACTIVITY_SIGNAL_COUNT] = {
    TEAM_ACTIVITY_ARCS(NEXT_STATE)};
const uint8_t team_unit_next[UNIT_STATE_COUNT][UNIT_SIGNAL_COUNT] = {
    TEAM_UNIT_ARCS(NEXT_STATE)};

/* Every state waits for a signal, except those that only emit. */
#define WAIT_IN(state)                                                                         \
    {                                                                                          \
        (state), (state), .label = "nothing", .waits = true, .on = BIT(0)                      \
    }
#define SIGNAL_ARC(from_, signal, to_, text)                                                   \
    {.from = (from_), .to = (to_), .label = (text), .on = BIT(signal)},

static const struct efsm_state robot_states[] = {TEAM_PHASES(EFSM_STATE)};
static const struct efsm_arc robot_arcs[] = {
    TEAM_ROBOT_ARCS(SIGNAL_ARC) WAIT_IN(TEAM_PHASE_IDLE),
    WAIT_IN(TEAM_PHASE_BEGIN),
    WAIT_IN(TEAM_PHASE_ACTIVE),
    WAIT_IN(TEAM_PHASE_WAITING),
    WAIT_IN(TEAM_PHASE_MEETING),
    WAIT_IN(TEAM_PHASE_JOINED),
    WAIT_IN(TEAM_PHASE_RETRY),
    WAIT_IN(TEAM_PHASE_PARKED),
    WAIT_IN(TEAM_PHASE_ERROR),
    WAIT_IN(TEAM_PHASE_FINISHED),
};
const struct efsm_table team_robot_table = {
    .name = "robot",
    .purpose =
        "A robot of a team: acts, waits for a resource or for others, fails and is reset.",
    EFSM_STATES(robot_states),
    EFSM_ARCS(robot_arcs),
    .initial = TEAM_PHASE_IDLE,
};

static const struct efsm_state task_states[] = {TEAM_TASK_STATES(EFSM_STATE)};
static const struct efsm_arc task_arcs[] = {
    TEAM_TASK_ARCS(SIGNAL_ARC) WAIT_IN(TASK_PASSIVE),
    WAIT_IN(TASK_ACTIVE),
    WAIT_IN(TASK_NONE),
    WAIT_IN(TASK_FAILED),
};
const struct efsm_table team_task_table = {
    .name = "task",
    .purpose = "One task of a robot's sequence, from the one before to the next one.",
    EFSM_STATES(task_states),
    EFSM_ARCS(task_arcs),
    .initial = TASK_PASSIVE,
};

static const struct efsm_state activity_states[] = {TEAM_ACTIVITY_STATES(EFSM_STATE)};
static const struct efsm_arc activity_arcs[] = {
    TEAM_ACTIVITY_ARCS(SIGNAL_ARC) WAIT_IN(ACTIVITY_IDLE),
    WAIT_IN(ACTIVITY_RUN),
};
const struct efsm_table team_activity_table = {
    .name = "activity",
    .purpose = "The command to a robot in a task, within its time window.",
    EFSM_STATES(activity_states),
    EFSM_ARCS(activity_arcs),
    .initial = ACTIVITY_IDLE,
};

static const struct efsm_state unit_states[] = {TEAM_UNIT_STATES(EFSM_STATE)};
static const struct efsm_arc unit_arcs[] = {
    TEAM_UNIT_ARCS(SIGNAL_ARC) WAIT_IN(UNIT_FREE),
    WAIT_IN(UNIT_HELD),
    WAIT_IN(UNIT_LOST),
    WAIT_IN(UNIT_DELAY),
};
const struct efsm_table team_resource_table = {
    .name = "resource",
    .purpose = "One unit of a resource: its next owner, and its fate when the owner fails.",
    EFSM_STATES(unit_states),
    EFSM_ARCS(unit_arcs),
    .initial = UNIT_FREE,
};
