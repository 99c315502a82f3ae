/* twin/team/step/team.h - a team at work: tasks, places and locks of several robots.
 *
 * A pure function of its state and what happens: no I/O, no clock, no randomness. What happens
 * at one instant is a bag: it is taken in by team_add_event() and takes effect when the instant
 * is closed, by team_fire() at the same time, so that neither the order of arrival nor ticks
 * change anything (an UnLock comes before the Lock that waits for it). Semantics:
 * docs/model/teams.md; paper 004, figures 8 to 12, and its errata.
 *
 * The caller supplies the memory; the state is one block without pointers (checkpoint).
 */
#ifndef TWIN_TEAM_STEP_TEAM_H
#define TWIN_TEAM_STEP_TEAM_H

#include "twin/team/step/team_params.h"
#include "twin/team/step/team_phase.h"

/* What happens; in one bag in this order, equal ones by robot. */
/* clang-format off */
#define TEAM_EVENTS(X)                                                                         \
    X(TEAM_EVENT_RELEASE, "release") /* a person frees `resource`, held under `fence` */       \
    X(TEAM_EVENT_OFFLINE, "offline") /* the robot's connection is gone */                      \
    X(TEAM_EVENT_ALIVE, "alive")     /* any sign of life */                                    \
    X(TEAM_EVENT_DONE, "done")       /* activity `n` has ended */                              \
    X(TEAM_EVENT_FAIL, "fail")       /* activity `n` has failed */                             \
    X(TEAM_EVENT_UNLOCK, "unlock")   /* a client: `resource` with its `fence` */               \
    X(TEAM_EVENT_LOCK, "lock")       /* a client: `resources` */                               \
    /* a person clears the robot's error: what was taken away locked again, the step again */  \
    X(TEAM_EVENT_RESET, "reset")                                                               \
    X(TEAM_EVENT_SKIP, "skip")       /* the same, and on with the next step */                 \
    X(TEAM_EVENT_ABORT, "abort")     /* a person: the robot's activity has failed */           \
    X(TEAM_EVENT_START, "start")     /* the robot begins its sequence */                       \
    X(TEAM_EVENT_JOB, "job")

#define TEAM_EFFECTS(X)                                                                        \
    X(TEAM_START, "start")       /* activity n of robot: step's task and arg */                \
    X(TEAM_DONE, "done")         /* of an activity (duration_us), IdPrt (part), Lock, UnLock */    \
    X(TEAM_ERROR, "error")       /* of an activity; why, duration_us */                            \
    X(TEAM_NOTHING, "none")      /* IdPrt: no part for it */                                   \
    X(TEAM_FINISH, "finish")     /* the sequence has ended */                                  \
    X(TEAM_GRANT, "grant")       /* resource, fence, waited_us */                              \
    X(TEAM_WAIT, "wait")         /* resources, robots: whom it stands behind */                \
    X(TEAM_FREED, "release")     /* resource, fence, why; duration_us: held so long */             \
    X(TEAM_MEET, "meet")         /* meeting, robots, waits_us */                               \
    X(TEAM_TOGETHER, "together") /* meeting, robots: all have done it */                       \
    /* the robot is to stop: other robot, or its lease; duration_us: of its activity, 0: none */   \
    X(TEAM_HALT, "halt")                                                                       \
    X(TEAM_EXPIRE, "expire")     /* resource, fence: the owner was silent too long */          \
    X(TEAM_ONLINE, "online")                                                                   \
    X(TEAM_OFFLINE, "offline")   /* resources: what it holds */                                \
    X(TEAM_RESET, "reset")                                                                     \
    X(TEAM_JOB, "job")           /* a job has come */                                          \
    X(TEAM_ASSIGN, "assign")     /* job, robot */                                              \
    X(TEAM_REJECT, "reject")     /* a client's lock or unlock; why */                          \
    X(TEAM_ALARM, "alarm")

/* Members beside robot, by kind, stand behind each. */
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
    X(TEAM_ALARM_JOBS_FULL, "jobs_full")         /* a job that found no room; no robot */
/* clang-format on */

enum team_event_kind { TEAM_EVENTS(NAMES_VALUE) TEAM_EVENT_COUNT };
enum team_effect_kind { TEAM_EFFECTS(NAMES_VALUE) TEAM_EFFECT_COUNT };
enum team_alarm { TEAM_ALARMS(NAMES_VALUE) TEAM_ALARM_COUNT };

struct team_event {
    enum team_event_kind kind;
    uint16_t robot;    /* TEAM_NONE of RELEASE and JOB */
    uint16_t resource; /* RELEASE, UNLOCK */
    uint16_t resource_count;
    uint16_t resources[TEAM_WANT_MAX]; /* LOCK */
    uint64_t fence;
    uint32_t n;            /* DONE, FAIL: which activity; 0: not told, the one in work */
    struct team_job job;   /* JOB */
    char id[EVENT_ID_MAX]; /* of a client's request, told back in grant, wait and reject */
};

/* One robot of a deadlock: what it holds, and what it wants (resources, or a meeting). */
struct team_wait {
    uint16_t robot;
    uint16_t meeting; /* TEAM_NONE: resources */
    const uint16_t *held, *wants;
    size_t held_count, want_count;
};

/* Who holds a resource. */
struct team_owners {
    uint16_t resource;
    const uint16_t *robots;
    size_t count;
};

/* Every pointer is borrowed for the call of emit. */
struct team_effect {
    enum team_effect_kind kind;
    enum team_alarm alarm; /* TEAM_ALARM */
    int64_t t_us;
    uint16_t robot; /* TEAM_NONE: none */
    /* START DONE ERROR NOTHING, HALT of an activity; NULL: a Lock that is no step, of a client,
     * or of what was taken away from a sequence */
    const struct team_step *step;
    uint32_t n; /* of the activity; as many as this robot has begun */
    bool timed; /* DONE: duration_us is of an activity */
    int64_t took_us, waited_us, min_us;
    uint16_t part, resource, meeting;
    uint64_t fence, current;
    uint32_t count; /* BLOCKED at a meeting: how many are missing */
    const uint16_t *resources, *held, *robots;
    size_t resource_count, held_count, robot_count;
    const int64_t *waits_us;          /* [robot_count] MEET */
    const struct team_owners *owners; /* [resource_count] NOT_OWNER */
    const char *why;  /* FREED: "unlock" "operator" "error" "expired"; ERROR; REJECT */
    uint16_t because; /* HALT: robot; TEAM_NONE: its lease */
    enum team_policy policy;
    enum team_event_kind event;
    const struct team_job *job; /* JOB ASSIGN */
    const struct team_wait *cycle;
    size_t cycle_count;
    const char *id; /* of the client's request that this answers; "" else */
};

struct team_effects {
    void (*emit)(void *context, const struct team_effect *effect);
    void *context;
};

struct team;

/* Bytes team_init() needs, which are also those of its state. */
size_t team_bytes(const struct team_params *p);
/* memory: at least team_bytes(p), aligned for any type; p is borrowed for as long. Nobody has
 * started: TEAM_EVENT_START for each robot with a sequence; others are PARKED, and START of one
 * only makes an instant in which jobs are handed out. */
struct team *team_init(void *memory, const struct team_params *p);
/* The same state with other memory (a checkpoint): the block is moved as bytes, then this; p is
 * equal to that of team_init(). */
void team_rebind(struct team *team, const struct team_params *p);

/* Into the bag of the instant t_us, which is not before any that was closed. Every deadline
 * before t_us must have been fired. False: the bag is full (as many as can happen at once to
 * every robot and resource); close it first, or refuse. */
MUST_USE bool team_add_event(struct team *team, int64_t t_us, const struct team_event *event);
/* When team_fire() is due: the time of an open bag, or the earliest deadline; LAB_TIME_MAX:
 * never. */
int64_t team_next_deadline(const struct team *team);
/* Close the open bag, or fire what is due at team_next_deadline(), and all that follows from it
 * at this instant; call again while the next deadline is not later. */
void team_fire(struct team *team, const struct team_effects *fx);

/* ---- reading ---- */
struct team_robot_view {
    enum team_phase phase;
    uint8_t task, activity;       /* states of its other machines (team_machines.h) */
    bool online, silent;          /* silent: a lease of it has expired */
    const struct team_step *step; /* in work or waited for; NULL: none */
    uint32_t n, cycles_left;
    int64_t since_us, last_message_us;
    uint16_t part, tool;
    uint16_t waits_for; /* the first resource that its Lock lacks; TEAM_NONE: none */
    size_t held_count;  /* its resources by team_held() */
};
void team_robot(const struct team *team, uint16_t robot, struct team_robot_view *view);

struct team_resource_view {
    size_t held_count, queue_length;
    struct {
        uint16_t robot;
        uint64_t fence;
        int64_t since_us;
    } held[TEAM_CAPACITY_MAX];
    uint8_t unit[TEAM_CAPACITY_MAX]; /* state of each one's machine (team_machines.h) */
    int64_t free_at_us;              /* not granted before */
};
void team_resource(const struct team *team, uint16_t resource, struct team_resource_view *view);
/* The first `size` robots that wait for it, in the order in which they will be served; their
 * number. */
size_t team_queue(const struct team *team, uint16_t resource, uint16_t *robots, size_t size);
/* What a robot holds, in the order of the file; their number. */
size_t team_held(const struct team *team, uint16_t robot, uint16_t *resources, size_t size);
/* Why a person may not let it go on now: what was taken away from it may not be locked again,
 * against the discipline, with what it holds; what to do instead. skips: with the next step. */
enum { TEAM_RESET_FAULT_MAX = 160 };
bool team_reset_fault(const struct team *team, uint16_t robot, bool skips,
                      char why[TEAM_RESET_FAULT_MAX]);
size_t team_jobs_waiting(const struct team *team);
size_t team_jobs_max(const struct team *team); /* that may wait; 0: nobody takes jobs */
const struct team_job *team_job_waiting(const struct team *team,
                                        size_t i); /* the oldest first */
uint64_t team_fence(const struct team *team);      /* the last one given */
void team_skip_fences(struct team *team, uint64_t count);
bool team_finished(const struct team *team); /* every robot FINISHED or PARKED, no job waits */

extern const struct names team_event_names;
const char *team_event_name(enum team_event_kind kind);
extern const struct names team_effect_names;
const char *team_effect_name(enum team_effect_kind kind);
extern const struct names team_alarm_names;
const char *team_alarm_name(enum team_alarm alarm);

#endif
