/* twin/mission/arm_mission.h - a mission of an arm: a list of moves, waits and outputs, checked
 * as a whole before the first move, then sent one after another.
 *
 * The check plans each move from where the one before ends (twin/arm/arm_request.h): limits of
 * joints, reach, speed, and the floor. What moves after a pause, because somebody halts the arm
 * or it replies anything but `done`, is not continued: the mission ends with the step's number.
 * docs/model/missions.md. Plain data except the plan, which is borrowed. Pure: no I/O, no
 * clock, no allocation.
 */
#ifndef TWIN_MISSION_ARM_MISSION_H
#define TWIN_MISSION_ARM_MISSION_H

#include "twin/arm/arm_request.h"
#include "twin/sim/robot/mission.h"

enum { ARM_STEPS_MAX = 64 };

enum arm_step_kind { ARM_STEP_COMMAND, ARM_STEP_WAIT };

struct arm_step {
    enum arm_step_kind kind;
    enum arm_op op; /* movej, movel, movec or output */
    struct event_arm request;
    double wait_s;
};

struct arm_mission_plan {
    struct arm_geometry arm;
    struct arm_bounds bounds;
    bool has_start; /* else the arm is asked where it is, by a stopj of nothing */
    double start_q[ARM_JOINTS];
    int64_t patience_us; /* with one command, after its planned duration */
    size_t count;
    struct arm_step steps[ARM_STEPS_MAX];
};

struct arm_mission {
    const struct arm_mission_plan *plan; /* borrowed */
    char run[MISSION_RUN_MAX];
    uint32_t command_count;
    unsigned step;         /* 1-based; 0: asks where the arm is; above the count: ended */
    char id[EVENT_ID_MAX]; /* the command without a reply; "": none */
    int64_t until_us;      /* of its reply, or of a wait */
    int64_t planned_us;    /* of that command */
    bool quitting, ended;
    double planned_s[ARM_STEPS_MAX]; /* of each step, from the check */
    double pose[ARM_JOINTS];         /* joint angles, as replied last */
};

/* "movej" …, "wait". */
const char *arm_step_name(const struct arm_step *step);

/* Plans all steps from these joint angles, or if NULL from the first movej to joint angles on;
 * moves before that are not checked. planned_s [count]: durations, NaN: not checked.
 * STATUS_E_RANGE with err: which step, and why not. */
MUST_USE enum status arm_mission_check(const struct arm_mission_plan *plan,
                                       const double *from_q, double *planned_s,
                                       struct err *err);

/* The arm says that its move waits: its patience begins again. */
void arm_mission_pause(struct arm_mission *m, int64_t t_us);

/* Prepares a mission. run: the common part of all command ids. */
void arm_mission_init(struct arm_mission *m, const struct arm_mission_plan *plan,
                      const char *run);

/* The inputs; each may emit effects of twin/sim/robot/mission.h: commands, messages of layer 2,
 * the end. */
void arm_mission_start(struct arm_mission *m, int64_t t_us, mission_sink *sink, void *context);
void arm_mission_reply(struct arm_mission *m, const struct event_reply *reply, int64_t t_us,
                       mission_sink *sink, void *context);
void arm_mission_tick(struct arm_mission *m, int64_t t_us, mission_sink *sink, void *context);
void arm_mission_quit(struct arm_mission *m, int64_t t_us, mission_sink *sink, void *context);

/* Returns when it needs a tick; LAB_TIME_MAX: never. */
int64_t arm_mission_next_us(const struct arm_mission *m);

#endif
