/* twin/team/step/team_parts.h - the state of a team, shared by the files of its step. Not for
 * users of team.h.
 *
 * The state is one block: struct team, then arrays whose lengths follow from the parameters.
 * References are array indices. The only pointer is the first member, which team_rebind() sets.
 */
#ifndef TWIN_TEAM_STEP_TEAM_PARTS_H
#define TWIN_TEAM_STEP_TEAM_PARTS_H

#include <assert.h>

#include "twin/team/step/team.h"
#include "twin/team/step/team_machines.h"
#include "twin/team/step/team_set.h"

enum { TEAM_ROUNDS_MAX = 1000, TEAM_NO_CLAIM = 0xffff };
#define TEAM_NO_HOLD UINT32_MAX

/* A robot's place in the queue of one resource; claim k of robot i is i * TEAM_WANT_MAX + k.
 * Claims are stored apart from the robots, so that the claims of a queue are close together in
 * memory. */
struct team_claim {
    uint16_t before, behind;
};

/* A waiting Lock. */
struct team_request {
    int64_t asked_us;
    int64_t key_us; /* served in the order of (key_us, robot) */
    uint16_t count, got;
    uint16_t wants[TEAM_WANT_MAX]; /* in the order of the file; bit k of got: granted */
};

struct team_loop {
    uint32_t step, rounds;
};

struct team_member {               /* one robot */
    uint8_t phase, task, activity; /* states of its machines */
    bool online, silent;
    bool seen;             /* poll: its activity has answered and waits for the next look */
    bool again;            /* a Lock that is resumed halfway; `got` counts */
    bool client;           /* its Lock is a client's request, not a step */
    bool reported_blocked; /* a blocked alarm was raised for this wait */
    bool may_regain;       /* a person has cleared it: it may request what was taken away */
    bool regains;          /* its Lock is for that, not for its step */
    uint8_t loop_depth;
    uint16_t part, tool, sequence;
    uint16_t behind_here;              /* at a meeting: next arrival */
    uint16_t partner;                  /* Together: next robot of its ring, in order */
    uint16_t held_count, client_count; /* held resources, and those requested by a client */
    uint16_t revoked_count;            /* resources of its sequence that were taken away */
    uint32_t step, end;                /* indices of steps; end: behind the sequence's last */
    uint32_t n, cycles;
    uint32_t first_hold; /* its resources, linked in the order of the file */
    int64_t since_us, last_message_us, began_us;
    struct team_request request;
    /* Rarely used members follow, so that those above and the longest Lock fit two cache
     * lines. */
    int64_t came_us;
    uint32_t circle; /* number of its reported deadlock; 0: none */
    uint16_t circle_length;
    struct team_loop loops[TEAM_LOOPS_MAX];
    char id[EVENT_ID_MAX]; /* id of the client's Lock */
};

struct team_place { /* One resource. */
    uint16_t first_claim, last_claim, queue_length, held;
    uint32_t first_hold; /* first of up to `capacity` owners */
    int64_t free_at_us;  /* not granted earlier */
};

struct team_hold { /* One unit of a resource. */
    uint64_t fence;
    int64_t since_us;
    uint32_t next; /* next hold of the same robot */
    uint16_t robot, resource;
    uint8_t unit; /* state of its machine */
    bool client;
};

struct team_meeting { /* A meeting by name: its waiting robots. Meetings with work to do are in
                         a list. */
    uint16_t first, last, count;
    uint16_t before, behind; /* list of non-empty meetings, by first arrival */
};

struct team_timer {
    int64_t t_us;
    uint32_t order; /* order among timers of the same time */
    uint32_t slot;
};

/* Kinds of timers; at one time they fire in this order. */
enum team_due { TEAM_DUE_DELAY, TEAM_DUE_LEASE, TEAM_DUE_MAX, TEAM_DUE_RETRY, TEAM_DUE_SEEN };

struct team {
    const struct team_params *p;
    size_t members_at, claims_at, places_at, holds_at, meetings_at, jobs_at, homes_at,
        buffers_at, gone_at, revoked_at, heap_at, slots_at, bag_at;
    int64_t t_us; /* time of the last closed instant */
    int64_t bag_us;
    uint64_t fence;
    uint32_t bag_count, bag_size;
    uint32_t job_count, job_size;
    uint32_t hold_count;
    uint32_t revoked_words; /* words per robot: a bit per resource */
    uint32_t timer_count;
    uint32_t circles; /* number of deadlocks reported so far */
    uint32_t phase_count[TEAM_PHASE_COUNT];
    uint16_t first_meeting, last_meeting;
    bool bag_open;
    bool jobs_due;             /* a robot has become idle, or a job has come */
    bool arrived;              /* a robot arrived at a meeting in this round */
    bool check;                /* something ended that others may wait for */
    struct team_set todo;      /* robots that continue in the next round */
    struct team_set unlocking; /* robots with a Lock or UnLock in this round */
    struct team_set locking;
    struct team_set progressed; /* robots that got one resource and wait for another */
    struct team_set touched;    /* resources to evaluate */
    struct team_set waiting, meeting, idle; /* robots by phase; idle: ready for a job */
    struct team_set broken;  /* robots that will not free their resources by themselves */
    struct team_set turning; /* robots in an endless zero-time loop */
    struct team_set new_waits;
};

/* A step of a team in progress. */
struct team_work {
    struct team *team;
    const struct team_params *p;
    struct team_member *members;
    struct team_claim *claims;
    struct team_place *places;
    struct team_hold *holds;
    struct team_meeting *meetings;
    struct team_job *jobs;
    uint16_t *homes;   /* [robot_count] waiting jobs per home */
    uint64_t *revoked; /* [robot_count][revoked_words] resources taken away from its sequence */
    struct team_timer *heap;
    uint32_t *slots; /* position of a slot's timer in the heap, + 1; 0: none */
    int64_t t_us;
    const struct team_effects *fx;
};

struct team_work team_at_work(const struct team *team);

/* ---- team_emit.c: effects ---- */
struct team_effect team_effect_of(const struct team_work *w, enum team_effect_kind kind,
                                  uint16_t robot);
struct team_effect team_alarm_of(const struct team_work *w, enum team_alarm alarm,
                                 uint16_t robot);
void team_emit(const struct team_work *w, const struct team_effect *effect);
void team_emit_plain(const struct team_work *w, enum team_effect_kind kind, uint16_t robot);
/* because: TEAM_NONE for its lease. Call it before the phase changes. */
void team_emit_halt(const struct team_work *w, uint16_t robot, uint16_t because);
/* Raises an alarm: this kind of event is not valid now. */
void team_emit_out_of_context(const struct team_work *w, uint16_t robot,
                              enum team_event_kind event);
void team_emit_done(const struct team_work *w, uint16_t robot, const uint16_t *resources,
                    size_t count);

/* ---- team_timers.c: deadlines ---- */
uint32_t team_slot_of_delay(const struct team_work *w, uint16_t resource);
uint32_t team_slot_of_lease(const struct team_work *w, uint32_t hold);
uint32_t team_slot_of_robot(const struct team_work *w, uint16_t robot);
void team_set_timer(const struct team_work *w, uint32_t slot, enum team_due due, int64_t t_us);
void team_cancel_timer(const struct team_work *w, uint32_t slot);
/* Removes the first timer. */
struct team_timer team_pop_timer(const struct team_work *w);
enum team_due team_timer_due(const struct team_timer *timer);

/* ---- team_steps.c: a robot's sequence ---- */
/* Returns NULL behind its last step, or if it is controlled from outside. */
static inline const struct team_step *team_step_if_any(const struct team_work *w,
                                                       uint16_t robot)
{
    const struct team_member *m = &w->members[robot];
    return m->step < m->end ? &w->p->steps[m->step] : NULL;
}
/* Returns the present step; the robot must have one. */
static inline const struct team_step *team_step_of(const struct team_work *w, uint16_t robot)
{
    assert(w->members[robot].step < w->members[robot].end);
    return &w->p->steps[w->members[robot].step];
}
/* The only function that changes a phase. */
void team_signal(const struct team_work *w, uint16_t robot, enum team_robot_signal signal);
/* Completes its step; the next one follows in the next round. */
void team_next_step(const struct team_work *w, uint16_t robot);
void team_begin_sequence(const struct team_work *w, uint16_t robot, uint16_t sequence,
                         uint32_t cycles);
/* Executes zero-time steps until it must wait. */
void team_run_robot(const struct team_work *w, uint16_t robot);
bool team_can_handle(const struct team_work *w, uint16_t robot, uint16_t part);

/* ---- team_grants.c: the arbiter of resources ---- */
/* One round: UnLocks, then Locks, then grants. */
void team_serve(const struct team_work *w);
void team_ask(const struct team_work *w, uint16_t robot, const uint16_t *wants, size_t count,
              bool client);
/* Sets whether the owner will not free its resources by itself. */
void team_set_broken(const struct team_work *w, uint16_t robot, bool broken);
void team_end_delay(const struct team_work *w, uint16_t resource);
uint32_t team_find_hold(const struct team_work *w, uint16_t robot, uint16_t resource);
void team_free_hold(const struct team_work *w, uint32_t hold, const char *why, int64_t delay_us,
                    const char *id);
/* Removes it from all queues; a client gets the reason, and is PARKED. */
void team_withdraw(const struct team_work *w, uint16_t robot, const char *why);
/* Lists what it still lacks. */
size_t team_lacks(const struct team_work *w, uint16_t robot, uint16_t *resources);
/* Lists whom it is queued behind; needed: only where no unit is left for it, with the owners.
 */
void team_blockers(const struct team_work *w, uint16_t robot, bool needed,
                   struct team_set *robots);
/* A waiting robot that is silent too long is overtaken, and keeps its place until it sends
 * again. A grant to an absent robot would only block the others. */
static inline bool team_is_passed(const struct team_work *w, uint16_t robot)
{
    return team_set_has(&w->team->broken, robot);
}
/* The robot fell silent or sends again, so its waits must be evaluated. */
void team_look_again(const struct team_work *w, uint16_t robot);
/* Returns bits of its wants: those that it lacks and is queued for. */
unsigned team_queued(const struct team_work *w, const struct team_request *request);

/* ---- team_revoked.c: resources taken away from a robot's sequence ---- */
/* Frees a hold for a reason other than an UnLock of the sequence. */
void team_revoke_hold(const struct team_work *w, uint32_t hold, const char *why,
                      int64_t delay_us, const char *id);
void team_clear_revoked(const struct team_work *w, uint16_t robot, uint16_t resource);
void team_clear_all_revoked(const struct team_work *w, uint16_t robot);
/* Call it when a person has cleared its error. */
void team_resolve_revoked(const struct team_work *w, uint16_t robot, bool skips);
/* Is an UnLock without effect accepted, because a person knows that the resource is gone? */
bool team_is_forgiven(const struct team_work *w, uint16_t robot, uint16_t resource);
/* May it do this step? If not, it requests what was taken away, or has failed. */
bool team_has_all(const struct team_work *w, uint16_t robot, const struct team_step *step);

/* ---- team_activity.c: activities, their windows, and their failure ---- */
void team_start_activity(const struct team_work *w, uint16_t robot);
void team_handle_done(const struct team_work *w, uint16_t robot);
void team_enter_error(const struct team_work *w, uint16_t robot);
/* Puts it into Error, whatever it did or waited for, and halts its partners. */
void team_stop_robot(const struct team_work *w, uint16_t robot);
void team_fail(const struct team_work *w, uint16_t robot, const char *why);
void team_activity_is_due(const struct team_work *w, uint16_t robot, enum team_due due);

/* ---- team_meetings.c ---- */
/* Adds the robot to the meeting of its step. */
void team_arrive(const struct team_work *w, uint16_t robot);
/* Removes a robot that waits there. */
void team_leave_meeting(const struct team_work *w, uint16_t robot);
/* Ends each meeting to which enough robots have come: they continue, or begin their Together.
 */
void team_hold_meetings(const struct team_work *w);
/* Lists the robots that do one Together with this one, itself included, in order. */
size_t team_ring(const struct team_work *w, uint16_t robot, uint16_t *robots);
/* Lets all robots of a Together continue, if this one is the last to finish. */
void team_end_together(const struct team_work *w, uint16_t robot);
/* Lists the robots that may still come to the meeting where this robot waits. */
void team_coming(const struct team_work *w, uint16_t robot, struct team_set *robots);
/* May a silent robot still come there when it sends again? */
bool team_awaits_silent(const struct team_work *w, uint16_t robot);

/* ---- team_jobs.c ---- */
void team_queue_job(const struct team_work *w, const struct team_job *job);
void team_hand_out_jobs(const struct team_work *w);
void team_update_idle(const struct team_work *w, uint16_t robot);

/* ---- team_events.c ---- */
int team_compare_events(const void *a, const void *b);
void team_apply_event(const struct team_work *w, const struct team_event *event);
void team_fire_timer(const struct team_work *w, const struct team_timer *timer);

/* ---- team_deadlock.c ---- */
void team_find_deadlocks(const struct team_work *w);

#endif
