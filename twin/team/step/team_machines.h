/* twin/team/step/team_machines.h - the four state machines of a team (paper 004, figures 8 to
 * 12).
 *
 * Each machine is one list of arcs with two uses: the table that `tandem machines` shows and
 * the engine runs (twin/efsm/efsm.h), and an array next[state][signal] for the step of a team.
 * All conditions are in the signal, so a transition is one look-up. A test compares both
 * (tests/unit/test_team_machines.c). A transition that is not in the list aborts the program,
 * because it is our bug. A state that only emits is left in the same step, by the signal
 * `nothing`. Pure.
 */
#ifndef TWIN_TEAM_STEP_TEAM_MACHINES_H
#define TWIN_TEAM_STEP_TEAM_MACHINES_H

#include <assert.h>

#include "twin/efsm/efsm.h"
#include "twin/team/step/team_phase.h"

/* clang-format off */
/* ---- a robot ---- */
#define TEAM_ROBOT_SIGNALS(X)                                                                  \
    X(ROBOT_NOTHING, "nothing")                                                                \
    X(ROBOT_BEGINS, "begins") X(ROBOT_ACTS, "acts") X(ROBOT_ASKS, "asks")                      \
    X(ROBOT_MEETS, "meets") X(ROBOT_FINDS_NONE, "none") X(ROBOT_GOES_ON, "goes on")            \
    X(ROBOT_JOINS, "joins") X(ROBOT_FINISHES, "finishes") X(ROBOT_PARKS, "parks")              \
    X(ROBOT_FAILS, "fails") X(ROBOT_AGAIN, "again")

#define TEAM_ROBOT_ARCS(X)                                                                     \
    X(TEAM_PHASE_IDLE, ROBOT_BEGINS, TEAM_PHASE_BEGIN, "start")                                \
    X(TEAM_PHASE_FINISHED, ROBOT_BEGINS, TEAM_PHASE_BEGIN, "start")                            \
    X(TEAM_PHASE_PARKED, ROBOT_BEGINS, TEAM_PHASE_BEGIN, "job")                                \
    X(TEAM_PHASE_PARKED, ROBOT_ASKS, TEAM_PHASE_WAITING, "asks by itself")                     \
    X(TEAM_PHASE_PARKED, ROBOT_FAILS, TEAM_PHASE_ERROR, "lease expired")                       \
    X(TEAM_PHASE_BEGIN, ROBOT_ACTS, TEAM_PHASE_ACTIVE, "task / CMD")                           \
    X(TEAM_PHASE_BEGIN, ROBOT_ASKS, TEAM_PHASE_WAITING, "Lock, UnLock")                        \
    X(TEAM_PHASE_BEGIN, ROBOT_MEETS, TEAM_PHASE_MEETING, "Meet, Together")                     \
    X(TEAM_PHASE_BEGIN, ROBOT_FINDS_NONE, TEAM_PHASE_RETRY, "IdPrt: none, retry_s")            \
    X(TEAM_PHASE_BEGIN, ROBOT_FINISHES, TEAM_PHASE_FINISHED, "end of the sequence")            \
    X(TEAM_PHASE_BEGIN, ROBOT_PARKS, TEAM_PHASE_PARKED, "end of the job")                      \
    X(TEAM_PHASE_BEGIN, ROBOT_FAILS, TEAM_PHASE_ERROR, "livelock, a Lock taken away")          \
    X(TEAM_PHASE_ACTIVE, ROBOT_GOES_ON, TEAM_PHASE_BEGIN, "done")                              \
    X(TEAM_PHASE_ACTIVE, ROBOT_JOINS, TEAM_PHASE_JOINED, "done, others not")                   \
    X(TEAM_PHASE_ACTIVE, ROBOT_FAILS, TEAM_PHASE_ERROR, "error, time-out, halt")               \
    X(TEAM_PHASE_WAITING, ROBOT_GOES_ON, TEAM_PHASE_BEGIN, "granted, released")                \
    X(TEAM_PHASE_WAITING, ROBOT_PARKS, TEAM_PHASE_PARKED, "asked by itself: granted, refused") \
    X(TEAM_PHASE_WAITING, ROBOT_FAILS, TEAM_PHASE_ERROR, "not owner, breaks the locking rule, abort") \
    X(TEAM_PHASE_MEETING, ROBOT_GOES_ON, TEAM_PHASE_BEGIN, "all there")                        \
    X(TEAM_PHASE_MEETING, ROBOT_ACTS, TEAM_PHASE_ACTIVE, "all there / CMD")                    \
    X(TEAM_PHASE_MEETING, ROBOT_FAILS, TEAM_PHASE_ERROR, "abort, halt")                        \
    X(TEAM_PHASE_JOINED, ROBOT_GOES_ON, TEAM_PHASE_BEGIN, "all done")                          \
    X(TEAM_PHASE_JOINED, ROBOT_FAILS, TEAM_PHASE_ERROR, "another failed, abort, halt")         \
    X(TEAM_PHASE_RETRY, ROBOT_AGAIN, TEAM_PHASE_BEGIN, "retry_s over")                         \
    X(TEAM_PHASE_RETRY, ROBOT_FAILS, TEAM_PHASE_ERROR, "abort, halt")                          \
    X(TEAM_PHASE_ERROR, ROBOT_AGAIN, TEAM_PHASE_BEGIN, "reset")                                \
    X(TEAM_PHASE_ERROR, ROBOT_GOES_ON, TEAM_PHASE_BEGIN, "reset: next")                        \
    X(TEAM_PHASE_ERROR, ROBOT_PARKS, TEAM_PHASE_PARKED, "reset, without work")

/* ---- the task of a robot's present step ---- */
#define TEAM_TASK_STATES(X)                                                                    \
    X(TASK_PASSIVE, "PASSIVE") X(TASK_COMMAND, "COMMAND") X(TASK_ACTIVE, "ACTIVE")             \
    X(TASK_NEXT, "NEXT") X(TASK_NONE, "NONE") X(TASK_FAILED, "FAILED")
#define TEAM_TASK_SIGNALS(X)                                                                   \
    X(TASK_ON_NOTHING, "nothing") X(TASK_ON_BEG, "BEG?next") X(TASK_ON_DONE, "STS?done")       \
    X(TASK_ON_NONE, "STS?none") X(TASK_ON_ERROR, "STS?error")
#define TEAM_TASK_ARCS(X)                                                                      \
    X(TASK_PASSIVE, TASK_ON_BEG, TASK_COMMAND, "BEG?next")                                     \
    X(TASK_COMMAND, TASK_ON_NOTHING, TASK_ACTIVE, "CMD!(tid, p1, p2)")                         \
    X(TASK_ACTIVE, TASK_ON_DONE, TASK_NEXT, "STS?done")                                        \
    X(TASK_ACTIVE, TASK_ON_NONE, TASK_NONE, "STS?none")                                        \
    X(TASK_ACTIVE, TASK_ON_ERROR, TASK_FAILED, "STS?error")                                    \
    X(TASK_NEXT, TASK_ON_NOTHING, TASK_PASSIVE, "NXT!next")                                    \
    X(TASK_NONE, TASK_ON_BEG, TASK_COMMAND, "BEG?next, again")                                 \
    X(TASK_NONE, TASK_ON_ERROR, TASK_FAILED, "abort")                                          \
    X(TASK_FAILED, TASK_ON_BEG, TASK_COMMAND, "BEG?next, after a reset")                       \
    X(TASK_FAILED, TASK_ON_DONE, TASK_NEXT, "reset: next")

/* ---- the activity (INTF) ---- */
#define TEAM_ACTIVITY_STATES(X)                                                                \
    X(ACTIVITY_IDLE, "IDLE") X(ACTIVITY_START, "START") X(ACTIVITY_RUN, "RUN")                 \
    X(ACTIVITY_DONE, "DONE") X(ACTIVITY_LATE, "LATE")
#define TEAM_ACTIVITY_SIGNALS(X)                                                               \
    X(ACTIVITY_ON_NOTHING, "nothing") X(ACTIVITY_ON_CMD, "cmd") X(ACTIVITY_ON_SEEN, "seen")    \
    X(ACTIVITY_ON_LATE, "late") X(ACTIVITY_ON_HALT, "halt")
#define TEAM_ACTIVITY_ARCS(X)                                                                  \
    X(ACTIVITY_IDLE, ACTIVITY_ON_CMD, ACTIVITY_START, "cmd")                                   \
    X(ACTIVITY_START, ACTIVITY_ON_NOTHING, ACTIVITY_RUN, "start!")                             \
    X(ACTIVITY_RUN, ACTIVITY_ON_SEEN, ACTIVITY_DONE, "answer, seen at a look")                 \
    X(ACTIVITY_RUN, ACTIVITY_ON_LATE, ACTIVITY_LATE, "t > max")                                \
    X(ACTIVITY_RUN, ACTIVITY_ON_HALT, ACTIVITY_IDLE, "failed, aborted, halted")                \
    X(ACTIVITY_DONE, ACTIVITY_ON_NOTHING, ACTIVITY_IDLE, "done!")                              \
    X(ACTIVITY_LATE, ACTIVITY_ON_NOTHING, ACTIVITY_IDLE, "error!")

/* ---- one unit of a resource ---- */
#define TEAM_UNIT_STATES(X)                                                                    \
    X(UNIT_FREE, "FREE") X(UNIT_GRANT, "GRANT") X(UNIT_HELD, "HELD") X(UNIT_LOST, "LOST")      \
    X(UNIT_DELAY, "DELAY")
#define TEAM_UNIT_SIGNALS(X)                                                                   \
    X(UNIT_ON_NOTHING, "nothing") X(UNIT_ON_HEAD, "head") X(UNIT_ON_UNLOCK, "unlock")          \
    X(UNIT_ON_LOSS, "owner lost") X(UNIT_ON_RETURN, "owner back") X(UNIT_ON_FREED, "freed")    \
    X(UNIT_ON_DUE, "due")
#define TEAM_UNIT_ARCS(X)                                                                      \
    X(UNIT_FREE, UNIT_ON_HEAD, UNIT_GRANT, "somebody is at the head of the queue")             \
    X(UNIT_GRANT, UNIT_ON_NOTHING, UNIT_HELD, "grant!(fence)")                                 \
    X(UNIT_HELD, UNIT_ON_UNLOCK, UNIT_FREE, "UnLock")                                          \
    X(UNIT_HELD, UNIT_ON_LOSS, UNIT_LOST, "owner failed, or silent too long")                  \
    X(UNIT_HELD, UNIT_ON_FREED, UNIT_DELAY, "freed by a person")                               \
    X(UNIT_LOST, UNIT_ON_RETURN, UNIT_HELD, "owner reset, or sends again")                     \
    X(UNIT_LOST, UNIT_ON_UNLOCK, UNIT_FREE, "UnLock")                                          \
    X(UNIT_LOST, UNIT_ON_FREED, UNIT_DELAY, "freed by a person, on_error, on_lost")            \
    X(UNIT_DELAY, UNIT_ON_DUE, UNIT_FREE, "delay_s over")
/* clang-format on */

enum team_robot_signal { TEAM_ROBOT_SIGNALS(NAMES_VALUE) ROBOT_SIGNAL_COUNT };
enum team_task_state { TEAM_TASK_STATES(NAMES_VALUE) TASK_STATE_COUNT };
enum team_task_signal { TEAM_TASK_SIGNALS(NAMES_VALUE) TASK_SIGNAL_COUNT };
enum team_activity_state { TEAM_ACTIVITY_STATES(NAMES_VALUE) ACTIVITY_STATE_COUNT };
enum team_activity_signal { TEAM_ACTIVITY_SIGNALS(NAMES_VALUE) ACTIVITY_SIGNAL_COUNT };
enum team_unit_state { TEAM_UNIT_STATES(NAMES_VALUE) UNIT_STATE_COUNT };
enum team_unit_signal { TEAM_UNIT_SIGNALS(NAMES_VALUE) UNIT_SIGNAL_COUNT };

/* [state][signal]: the next state + 1; 0: no such arc. */
extern const uint8_t team_robot_next[TEAM_PHASE_COUNT][ROBOT_SIGNAL_COUNT];
extern const uint8_t team_task_next[TASK_STATE_COUNT][TASK_SIGNAL_COUNT];
extern const uint8_t team_activity_next[ACTIVITY_STATE_COUNT][ACTIVITY_SIGNAL_COUNT];
extern const uint8_t team_unit_next[UNIT_STATE_COUNT][UNIT_SIGNAL_COUNT];

/* The same machines for the engine; the input is an unsigned, the signal. */
extern const struct efsm_table team_robot_table, team_task_table, team_activity_table,
    team_resource_table;

static inline uint8_t team_turn(uint8_t next)
{
    assert(next != 0);
    return (uint8_t)(next - 1);
}

#define TEAM_TURN(machine, state, signal) ((state) = team_turn((machine)[state][signal]))

#endif
