/* twin/team/step/team.h - a team at work: tasks, places and locks of several robots.
 *
 * The step is a pure function of state and events: no I/O, no clock, no randomness. The events
 * of one instant form a bag: team_add_event() collects them, and team_fire() applies them when
 * the instant is closed. So neither the order of arrival nor ticks change the result (an UnLock
 * precedes the Lock that waits for it). Semantics: docs/model/teams.md; paper 004, figures 8 to
 * 12, and its errata.
 *
 * The caller supplies the memory; the state is one block without pointers (checkpoint).
 */
#ifndef TWIN_TEAM_STEP_TEAM_H
#define TWIN_TEAM_STEP_TEAM_H

#include "base/text/names.h"
#include "twin/team/step/team_params.h"
#include "twin/team/step/team_phase.h"

/* Kinds of events, applied in this order within a bag, equal ones by robot. */
/* clang-format off */
#define TEAM_EVENTS(X)                                                                         \
    X(TEAM_EVENT_RELEASE, "release") /* a person frees `resource`, held under `fence` */       \
    X(TEAM_EVENT_OFFLINE, "offline") /* the robot's connection is gone */                      \
    X(TEAM_EVENT_ALIVE, "alive")     /* any sign of life */                                    \
    X(TEAM_EVENT_DONE, "done")       /* activity `n` has ended */                              \
    X(TEAM_EVENT_FAIL, "fail")       /* activity `n` has failed */                             \
    X(TEAM_EVENT_UNLOCK, "unlock")   /* a client frees `resource` held under `fence` */        \
    X(TEAM_EVENT_LOCK, "lock")       /* a client requests `resources` */                       \
    /* a person clears the robot's error: it locks again what was taken away, and repeats the
     * step */                                                                                 \
    X(TEAM_EVENT_RESET, "reset")                                                               \
    X(TEAM_EVENT_SKIP, "skip")       /* the same, but it continues with the next step */       \
    X(TEAM_EVENT_ABORT, "abort")     /* a person declares the robot's activity as failed */    \
    X(TEAM_EVENT_START, "start")     /* the robot begins its sequence */                       \
    X(TEAM_EVENT_JOB, "job")

#define TEAM_EFFECTS(X)                                                                        \
    X(TEAM_START, "start")       /* activity n of robot: step's task and arg */                \
    X(TEAM_DONE, "done")         /* an activity (duration_us), IdPrt (part), Lock or UnLock is done */ \
    X(TEAM_ERROR, "error")       /* an activity failed; why, duration_us */                    \
    X(TEAM_NOTHING, "none")      /* IdPrt: no part that it can handle */                       \
    X(TEAM_FINISH, "finish")     /* the sequence has ended */                                  \
    X(TEAM_GRANT, "grant")       /* resource, fence, waited_us */                              \
    X(TEAM_WAIT, "wait")         /* resources, robots that it is queued behind */              \
    X(TEAM_FREED, "release")     /* resource, fence, why; duration_us: time held */            \
    X(TEAM_MEET, "meet")         /* meeting, robots, waits_us */                               \
    X(TEAM_TOGETHER, "together") /* meeting, robots; all of them are done */                   \
    /* the robot must stop, because of another robot or its lease; duration_us: its activity, 0:
     * none */                                                                                 \
    X(TEAM_HALT, "halt")                                                                       \
    X(TEAM_EXPIRE, "expire")     /* resource, fence; the owner was silent too long */          \
    X(TEAM_ONLINE, "online")                                                                   \
    X(TEAM_OFFLINE, "offline")   /* resources that it holds */                                 \
    X(TEAM_RESET, "reset")                                                                     \
    X(TEAM_JOB, "job")           /* a new job */                                               \
    X(TEAM_ASSIGN, "assign")     /* job, robot */                                              \
    X(TEAM_REJECT, "reject")     /* a client's lock or unlock is refused; why */               \
    X(TEAM_ALARM, "alarm")

/* Kinds of alarms, each followed by its members in addition to robot. */
#define TEAM_ALARMS(X)                                                                         \
    X(TEAM_ALARM_DEADLOCK, "deadlock")           /* cycle */                                   \
    X(TEAM_ALARM_BLOCKED, "blocked")             /* resources, robots; or meeting, count */    \
    X(TEAM_ALARM_LEASE_EXPIRED, "lease_expired") /* resource, fence, policy */                 \
    X(TEAM_ALARM_STALE_FENCE, "stale_fence")     /* resource, fence, current (0: none) */      \
    X(TEAM_ALARM_STALE_RELEASE, "stale_release") /* resource, fence; no robot */               \
    X(TEAM_ALARM_NOT_OWNER, "not_owner")         /* resources, owners */                       \
    X(TEAM_ALARM_DOUBLE_LOCK, "double_lock")     /* resources */                               \
    X(TEAM_ALARM_ORDER, "order")                 /* held, resources */                         \
    X(TEAM_ALARM_NESTED_LOCK, "nested_lock")     /* held, resources */                         \
    X(TEAM_ALARM_TASK_ERROR, "task_error")       /* held */                                    \
    X(TEAM_ALARM_EARLY, "early")                 /* duration_us, min_us */                         \
    X(TEAM_ALARM_OUT_OF_CONTEXT, "out_of_context") /* event */                                 \
    X(TEAM_ALARM_FINISHED_HOLDING, "finished_holding") /* resources */                         \
    X(TEAM_ALARM_NOBODY_CAN, "nobody_can")       /* part; no robot */                          \
    X(TEAM_ALARM_LIVELOCK, "livelock")           /* no robot */                                \
    X(TEAM_ALARM_JOBS_FULL, "jobs_full")         /* a job that did not fit; no robot */
/* clang-format on */

enum team_event_kind { TEAM_EVENTS(NAMES_VALUE) TEAM_EVENT_COUNT };
enum team_effect_kind { TEAM_EFFECTS(NAMES_VALUE) TEAM_EFFECT_COUNT };
enum team_alarm { TEAM_ALARMS(NAMES_VALUE) TEAM_ALARM_COUNT };

struct team_event {
    enum team_event_kind kind;
    uint16_t robot;    /* TEAM_NONE for RELEASE and JOB */
    uint16_t resource; /* RELEASE, UNLOCK */
    uint16_t resource_count;
    uint16_t resources[TEAM_WANT_MAX]; /* LOCK */
    uint64_t fence;
    uint32_t n;            /* DONE, FAIL: the activity; 0: the running one */
    struct team_job job;   /* JOB */
    char id[EVENT_ID_MAX]; /* id of a client's request, returned in grant, wait and reject */
};

/* One robot of a deadlock: what it holds and wants (resources, or a meeting). */
struct team_wait {
    uint16_t robot;
    uint16_t meeting; /* TEAM_NONE: resources */
    const uint16_t *held, *wants;
    size_t held_count, want_count;
};

/* The owners of a resource. */
struct team_owners {
    uint16_t resource;
    const uint16_t *robots;
    size_t count;
};

/* All pointers are borrowed for the call of emit. */
struct team_effect {
    enum team_effect_kind kind;
    enum team_alarm alarm; /* TEAM_ALARM */
    int64_t t_us;
    uint16_t robot; /* TEAM_NONE: none */
    /* for START DONE ERROR NOTHING, HALT of an activity; NULL: a client's Lock, or one for
     * resources that were taken away */
    const struct team_step *step;
    uint32_t n; /* number of the activity: count of those this robot has begun */
    bool timed; /* DONE: duration_us is an activity's */
    int64_t took_us, waited_us, min_us;
    uint16_t part, resource, meeting;
    uint64_t fence, current;
    uint32_t count; /* BLOCKED at a meeting: number of missing robots */
    const uint16_t *resources, *held, *robots;
    size_t resource_count, held_count, robot_count;
    const int64_t *waits_us;          /* [robot_count] MEET */
    const struct team_owners *owners; /* [resource_count] NOT_OWNER */
    const char *why;  /* FREED: "unlock" "operator" "error" "expired"; ERROR; REJECT */
    uint16_t because; /* HALT: the robot that caused it; TEAM_NONE: its lease */
    enum team_policy policy;
    enum team_event_kind event;
    const struct team_job *job; /* JOB ASSIGN */
    const struct team_wait *cycle;
    size_t cycle_count;
    const char *id; /* id of the client's request that this answers; else "" */
};

struct team_effects {
    void (*emit)(void *context, const struct team_effect *effect);
    void *context;
};

struct team;

/* Size of the state, and of the memory for team_init(). */
size_t team_bytes(const struct team_params *p);
/* memory: at least team_bytes(p), aligned for any type; p is borrowed as long. No robot has
 * started: add TEAM_EVENT_START for each robot with a sequence. Robots without one are PARKED;
 * START for one of them only makes an instant in which jobs are assigned. */
struct team *team_init(void *memory, const struct team_params *p);
/* Restores the state in other memory (a checkpoint) after its bytes were copied; p must equal
 * that of team_init(). */
void team_rebind(struct team *team, const struct team_params *p);

/* Adds an event to the bag of instant t_us, which must not precede a closed one. Every deadline
 * before t_us must have been fired. False: the bag is full (it holds all that can happen at
 * once to every robot and resource); close it first, or refuse the event. */
MUST_USE bool team_add_event(struct team *team, int64_t t_us, const struct team_event *event);
/* Returns when team_fire() is due: the time of an open bag, or the earliest deadline;
 * LAB_TIME_MAX: never. */
int64_t team_next_deadline(const struct team *team);
/* Closes the open bag, or fires what is due at team_next_deadline(), with all consequences at
 * this instant. Call it again while the next deadline is not later. */
void team_fire(struct team *team, const struct team_effects *fx);

/* ---- reading ---- */
struct team_robot_view {
    enum team_phase phase;
    uint8_t task, activity;       /* states of its other machines (team_machines.h) */
    bool online, silent;          /* silent: one of its leases has expired */
    const struct team_step *step; /* running or waited for; NULL: none */
    uint32_t n;
    int64_t since_us, last_message_us;
    uint16_t part, tool;
    uint16_t waits_for; /* first resource that its Lock lacks; TEAM_NONE: none */
    size_t held_count;  /* team_held() lists them */
};
void team_robot(const struct team *team, uint16_t robot, struct team_robot_view *view);

struct team_resource_view {
    size_t held_count, queue_length;
    struct {
        uint16_t robot;
        uint64_t fence;
        int64_t since_us;
    } held[TEAM_CAPACITY_MAX];
    uint8_t unit[TEAM_CAPACITY_MAX]; /* state of each unit's machine (team_machines.h) */
    int64_t free_at_us;              /* not granted earlier */
};
void team_resource(const struct team *team, uint16_t resource, struct team_resource_view *view);
/* Lists the first `size` waiting robots in the order of service; returns their number. */
size_t team_queue(const struct team *team, uint16_t resource, uint16_t *robots, size_t size);
/* Lists what a robot holds, in the order of the file; returns the number. */
size_t team_held(const struct team *team, uint16_t robot, uint16_t *resources, size_t size);
/* Explains why a person may not let it continue now: the locking rule forbids it to lock again
 * what was taken away, with what it holds; and what to do instead. skips: continue with the
 * next step. */
enum { TEAM_RESET_FAULT_MAX = 160 };
bool team_reset_fault(const struct team *team, uint16_t robot, bool skips,
                      char why[TEAM_RESET_FAULT_MAX]);
size_t team_jobs_waiting(const struct team *team);
size_t team_jobs_max(const struct team *team); /* that may wait; 0: nobody takes jobs */
const struct team_job *team_job_waiting(const struct team *team,
                                        size_t i); /* the oldest first */
uint64_t team_fence(const struct team *team);      /* the last one given */
void team_skip_fences(struct team *team, uint64_t count);
/* Bits of the phases in which some robot is. */
uint32_t team_phases(const struct team *team);
bool team_finished(const struct team *team); /* every robot FINISHED or PARKED, no job waits */

extern const struct names team_event_names;
const char *team_event_name(enum team_event_kind kind);
extern const struct names team_effect_names;
const char *team_effect_name(enum team_effect_kind kind);
ENUM_NAMES_DECLARED(team_alarm);

#endif
