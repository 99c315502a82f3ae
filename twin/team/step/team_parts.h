/* twin/team/step/team_parts.h - what the files of a team's step share: its state, and the step
 * in work.
 *
 * The state is one block: struct team, then arrays whose length the parameters give. What
 * stands in it are places in arrays; its first member is its only pointer, which
 * team_rebind() sets. Not for users of team.h.
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
 * Apart from the robots: whoever goes along a queue shall find them close together. */
struct team_claim {
    uint16_t before, behind;
};

/* A Lock that waits. */
struct team_request {
    int64_t asked_us;
    int64_t key_us; /* served in the order of (key_us, robot) */
    uint16_t count, got;
    uint16_t wants[TEAM_WANT_MAX]; /* in the order of the file; bit k of got: has it */
};

struct team_loop {
    uint32_t step, rounds;
};

struct team_member {               /* one robot */
    uint8_t phase, task, activity; /* states of its machines */
    bool online, silent;
    bool seen;             /* polled: has answered, waits for the next look */
    bool again;            /* a Lock given up halfway: what it got of it counts */
    bool client;           /* its Lock was asked by itself, not by its sequence */
    bool reported_blocked; /* of this wait */
    bool may_regain;       /* a person has seen to it: it may ask for what was taken away */
    bool regains;          /* its Lock is for that, not its step's */
    uint8_t loop_depth;
    uint16_t part, tool, sequence;
    uint16_t behind_here; /* at a meeting: who came next */
    uint16_t partner;     /* Together: the next of its ring, which is in their order */
    uint16_t held_count, client_count; /* of what it holds, as many by asking itself */
    uint16_t revoked_count; /* that its sequence has locked, and that were taken away */
    uint32_t step, end;     /* in steps; behind the sequence's last */
    uint32_t n, cycles;
    uint32_t first_hold; /* its resources, linked in the order of the file */
    int64_t since_us, last_message_us, began_us;
    struct team_request request;
    /* Seldom asked for; with the longest Lock what stands above is two lines of a cache. */
    int64_t came_us;
    uint32_t circle; /* the deadlock it was told to be in, of so many; 0: none */
    uint16_t circle_length;
    struct team_loop loops[TEAM_LOOPS_MAX];
    char id[EVENT_ID_MAX]; /* of the client's Lock */
};

struct team_place { /* one resource */
    uint16_t first_claim, last_claim, queue_length, held;
    uint32_t first_hold; /* of its `capacity` ones */
    int64_t free_at_us;  /* not granted before */
};

struct team_hold { /* one unit of one resource */
    uint64_t fence;
    int64_t since_us;
    uint32_t next; /* of the same robot's */
    uint16_t robot, resource;
    uint8_t unit; /* state of its machine */
    bool client;
};

struct team_meeting { /* by name: who waits there; those that have something to do are apart */
    uint16_t first, last, count;
    uint16_t before, behind; /* meetings with somebody, in the order of their first one */
};

struct team_timer {
    int64_t t_us;
    uint32_t order; /* of those due at once */
    uint32_t slot;
};

/* What may be due at one time, in this order. */
enum team_due { TEAM_DUE_DELAY, TEAM_DUE_LEASE, TEAM_DUE_MAX, TEAM_DUE_RETRY, TEAM_DUE_SEEN };

struct team {
    const struct team_params *p;
    size_t members_at, claims_at, places_at, holds_at, meetings_at, jobs_at, homes_at,
        buffers_at, gone_at, revoked_at, heap_at, slots_at, bag_at;
    int64_t t_us; /* of the last instant closed */
    int64_t bag_us;
    uint64_t fence;
    uint32_t bag_count, bag_size;
    uint32_t job_count, job_size;
    uint32_t hold_count;
    uint32_t revoked_words; /* of a robot: a bit for each resource */
    uint32_t timer_count;
    uint32_t circles; /* deadlocks told so far */
    uint32_t phase_count[TEAM_PHASE_COUNT];
    uint16_t first_meeting, last_meeting;
    bool bag_open;
    bool jobs_due;             /* somebody, or some job, is there that was not before */
    bool arrived;              /* at a meeting, in this round */
    bool check;                /* something ended that others may wait for */
    struct team_set todo;      /* go on with their steps in the next round */
    struct team_set unlocking; /* ask in this round */
    struct team_set locking;
    struct team_set progressed;             /* got a resource and wait for the next */
    struct team_set touched;                /* resources: to be evaluated */
    struct team_set waiting, meeting, idle; /* by phase; idle: may be given a job */
    struct team_set broken;                 /* will not free by itself what it holds */
    struct team_set turning;                /* come to no end in no time */
    struct team_set new_waits;
};

/* A step of a team in work. */
struct team_work {
    struct team *team;
    const struct team_params *p;
    struct team_member *members;
    struct team_claim *claims;
    struct team_place *places;
    struct team_hold *holds;
    struct team_meeting *meetings;
    struct team_job *jobs;
    uint16_t *homes;   /* [robot_count] jobs that wait, by home */
    uint64_t *revoked; /* [robot_count][revoked_words] what was taken away from its sequence */
    struct team_timer *heap;
    uint32_t *slots; /* where a slot's timer stands in the heap, and 1; 0: none */
    int64_t t_us;
    const struct team_effects *fx;
};

struct team_work team_at_work(const struct team *team);

/* ---- team_emit.c: what is told ---- */
struct team_effect team_effect_of(const struct team_work *w, enum team_effect_kind kind,
                                  uint16_t robot);
struct team_effect team_alarm_of(const struct team_work *w, enum team_alarm alarm,
                                 uint16_t robot);
void team_emit(const struct team_work *w, const struct team_effect *effect);
void team_emit_plain(const struct team_work *w, enum team_effect_kind kind, uint16_t robot);
/* because: TEAM_NONE for its lease. Before its phase is another one. */
void team_emit_halt(const struct team_work *w, uint16_t robot, uint16_t because);
/* This kind of event makes no sense now. */
void team_emit_out_of_context(const struct team_work *w, uint16_t robot,
                              enum team_event_kind event);
void team_emit_done(const struct team_work *w, uint16_t robot, const uint16_t *resources,
                    size_t count);

/* ---- team_timers.c: what is due when ---- */
uint32_t team_slot_of_delay(const struct team_work *w, uint16_t resource);
uint32_t team_slot_of_lease(const struct team_work *w, uint32_t hold);
uint32_t team_slot_of_robot(const struct team_work *w, uint16_t robot);
void team_set_timer(const struct team_work *w, uint32_t slot, enum team_due due, int64_t t_us);
void team_cancel_timer(const struct team_work *w, uint32_t slot);
/* Take the first one off. */
struct team_timer team_pop_timer(const struct team_work *w);
enum team_due team_timer_due(const struct team_timer *timer);

/* ---- team_steps.c: a robot's sequence ---- */
/* NULL: behind its last one, or told what to do from outside. */
static inline const struct team_step *team_step_if_any(const struct team_work *w,
                                                       uint16_t robot)
{
    const struct team_member *m = &w->members[robot];
    return m->step < m->end ? &w->p->steps[m->step] : NULL;
}
/* Of who is at one. */
static inline const struct team_step *team_step_of(const struct team_work *w, uint16_t robot)
{
    assert(w->members[robot].step < w->members[robot].end);
    return &w->p->steps[w->members[robot].step];
}
/* The one way from phase to phase. */
void team_signal(const struct team_work *w, uint16_t robot, enum team_robot_signal signal);
/* Its step is done: on with the next one in the next round. */
void team_next_step(const struct team_work *w, uint16_t robot);
void team_begin_sequence(const struct team_work *w, uint16_t robot, uint16_t sequence,
                         uint32_t cycles);
/* Zero-time steps until it waits for something. */
void team_run_robot(const struct team_work *w, uint16_t robot);
bool team_can_handle(const struct team_work *w, uint16_t robot, uint16_t part);

/* ---- team_grants.c: the middleman of resources ---- */
/* A round: UnLocks, then Locks, then who can be served. */
void team_serve(const struct team_work *w);
void team_ask(const struct team_work *w, uint16_t robot, const uint16_t *wants, size_t count,
              bool client);
/* Its owner is, or is no longer, one who will not free by itself what it holds. */
void team_set_broken(const struct team_work *w, uint16_t robot, bool broken);
void team_end_delay(const struct team_work *w, uint16_t resource);
uint32_t team_find_hold(const struct team_work *w, uint16_t robot, uint16_t resource);
void team_free_hold(const struct team_work *w, uint32_t hold, const char *why, int64_t delay_us,
                    const char *id);
/* Out of all queues; a client is told why, and is PARKED. */
void team_withdraw(const struct team_work *w, uint16_t robot, const char *why);
/* What it still lacks, and whom it stands behind. */
size_t team_lacks(const struct team_work *w, uint16_t robot, uint16_t *resources);
void team_blockers(const struct team_work *w, uint16_t robot, struct team_set *robots);
/* It waits, and was silent too long: it is passed, and keeps its place until it is heard.
 * Nobody is granted anything who is not there: what it got would be kept from the others. */
static inline bool team_is_passed(const struct team_work *w, uint16_t robot)
{
    return team_set_has(&w->team->broken, robot);
}
/* It fell silent, or is heard again: what it waits for is to be looked at anew. */
void team_look_again(const struct team_work *w, uint16_t robot);
/* Of what it lacks, what it stands in the queue of: bits of its wants. */
unsigned team_queued(const struct team_work *w, const struct team_request *request);

/* ---- team_revoked.c: what was taken away from a robot's sequence ---- */
/* team_free_hold(), not by an UnLock of the sequence. */
void team_revoke_hold(const struct team_work *w, uint32_t hold, const char *why,
                      int64_t delay_us, const char *id);
void team_clear_revoked(const struct team_work *w, uint16_t robot, uint16_t resource);
void team_clear_all_revoked(const struct team_work *w, uint16_t robot);
/* A person has cleared its error. */
void team_resolve_revoked(const struct team_work *w, uint16_t robot, bool skips);
/* Its UnLock of this has nothing to free, and a person knows. */
bool team_is_forgiven(const struct team_work *w, uint16_t robot, uint16_t resource);
/* May it do this step? If not, it asks for what was taken away, or has failed. */
bool team_has_all(const struct team_work *w, uint16_t robot, const struct team_step *step);

/* ---- team_activity.c: activities, their windows, and their failure ---- */
void team_start_activity(const struct team_work *w, uint16_t robot);
void team_end_activity(const struct team_work *w, uint16_t robot);
void team_handle_done(const struct team_work *w, uint16_t robot);
void team_enter_error(const struct team_work *w, uint16_t robot);
/* In Error, whatever it did or waited for; its partners are halted. */
void team_stop_robot(const struct team_work *w, uint16_t robot);
void team_fail(const struct team_work *w, uint16_t robot, const char *why);
void team_activity_is_due(const struct team_work *w, uint16_t robot, enum team_due due);

/* ---- team_meetings.c ---- */
void team_arrive(const struct team_work *w, uint16_t robot);
void team_leave_meeting(const struct team_work *w, uint16_t robot);
void team_hold_meetings(const struct team_work *w);
/* Those who do one Together with this robot, itself included, in their order. */
size_t team_ring(const struct team_work *w, uint16_t robot, uint16_t *robots);
void team_end_together(const struct team_work *w, uint16_t robot);
/* Who may still come to the meeting where this robot waits. */
void team_coming(const struct team_work *w, uint16_t robot, struct team_set *robots);
/* Is somebody silent who may come there when it is heard again? */
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
