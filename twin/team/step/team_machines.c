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

/* Every state waits for a signal, except those that only emit. The first state is the initial
 * one. */
#define WAIT_IN(state)             {(state), (state), .label = "nothing", .waits = true, .on = BIT(0)},
#define WAIT_IN_PHASE(state, text) WAIT_IN(state)
#define SIGNAL_ARC(from_, signal, to_, text)                                                   \
    {.from = (from_), .to = (to_), .label = (text), .on = BIT(signal)},
#define TABLE(name_, purpose_, states, arcs)                                                   \
    {                                                                                          \
        .name = (name_), .purpose = (purpose_), EFSM_STATES(states), EFSM_ARCS(arcs)           \
    }

/* clang-format off */
static const struct efsm_state robot_states[] = {TEAM_PHASES(EFSM_STATE)};
static const struct efsm_arc robot_arcs[] = {TEAM_ROBOT_ARCS(SIGNAL_ARC) TEAM_PHASES(WAIT_IN_PHASE)};

static const struct efsm_state task_states[] = {TEAM_TASK_STATES(EFSM_STATE)};
static const struct efsm_arc task_arcs[] = {
    TEAM_TASK_ARCS(SIGNAL_ARC)
    WAIT_IN(TASK_PASSIVE) WAIT_IN(TASK_ACTIVE) WAIT_IN(TASK_NONE) WAIT_IN(TASK_FAILED)};

static const struct efsm_state activity_states[] = {TEAM_ACTIVITY_STATES(EFSM_STATE)};
static const struct efsm_arc activity_arcs[] = {
    TEAM_ACTIVITY_ARCS(SIGNAL_ARC)
    WAIT_IN(ACTIVITY_IDLE) WAIT_IN(ACTIVITY_RUN)};

static const struct efsm_state unit_states[] = {TEAM_UNIT_STATES(EFSM_STATE)};
static const struct efsm_arc unit_arcs[] = {
    TEAM_UNIT_ARCS(SIGNAL_ARC)
    WAIT_IN(UNIT_FREE) WAIT_IN(UNIT_HELD) WAIT_IN(UNIT_LOST) WAIT_IN(UNIT_DELAY)};
/* clang-format on */

const struct efsm_table team_robot_table = TABLE(
    "robot", "A robot of a team: acts, waits for a resource or for others, fails and is reset.",
    robot_states, robot_arcs);
const struct efsm_table team_task_table =
    TABLE("task", "One task of a robot's sequence, from the one before to the next one.",
          task_states, task_arcs);
const struct efsm_table team_activity_table =
    TABLE("activity", "The command to a robot in a task, within its time window.",
          activity_states, activity_arcs);
const struct efsm_table team_resource_table = TABLE(
    "resource", "One unit of a resource: its next owner, and its fate when the owner fails.",
    unit_states, unit_arcs);
