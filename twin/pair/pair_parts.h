/* twin/pair/pair_parts.h - what the files of the pair share among themselves; nobody else
 * includes it.
 *
 * One step of a pair runs: pair.c takes the event in, pair_match.c finds the command it belongs
 * to, the machines of smartlog.h and link.h run, pair_close.c turns a closed command into an
 * entry and feeds the calibrators, pair_alarm.c records what is odd. Pure.
 */
#ifndef TWIN_PAIR_PAIR_PARTS_H
#define TWIN_PAIR_PAIR_PARTS_H

#include "base/status.h"
#include "twin/dynamics/pair_dynamics.h"
#include "twin/following/pair_following.h"
#include "twin/pair/pair.h"

/* The step in progress. */
struct pair_run {
    struct pair *pair;
    const struct pair_params *p;
    const struct effects *fx;
    int64_t t_us;
    const struct event *event;        /* NULL when a deadline fires */
    struct pair_dynamics *dynamics;   /* NULL: not followed */
    struct pair_following *following; /* NULL: the pair does not */
};

/* ---- pair_alarm.c ---- */

/* Count an alarm, and record it unless its type comes too often. */
void pair_alarm(const struct pair_run *run, enum alarm_type type, enum side side,
                const char *id, const char *format, ...) PRINTF_LIKE(5, 6);

/* ---- pair_match.c ---- */

/* The open command with this id, or NULL. */
struct pair_slot *pair_find_slot(struct pair *pair, const char *id);

/* The command a reply of this side belongs to; NULL, after an alarm that says why. */
struct pair_slot *pair_match_reply(const struct pair_run *run);

/* Remember a closed command. */
void pair_remember_closed(struct pair *pair, const struct pair_closed *closed);

/* Does the reply say something else than the first one did? detail[160] says what. */
bool pair_reply_differs(const struct pair_slot *slot, enum side first,
                        const struct event_reply *reply, const struct pair_params *p,
                        char detail[160]);

/* Keep the first reply's values for comparison. */
void pair_keep_values(struct pair_slot *slot, const struct event_reply *reply);

/* ---- pair_close.c ---- */

/* The entry of a command that both sides are through with: emitted, counted, calibrated on. */
void pair_write_entry(const struct pair_run *run, const struct pair_slot *slot);

/* The entry of a command that could not be followed. */
void pair_write_overflow(const struct pair_run *run, const struct event_command *command);

/* ---- pair_parameters.c ---- */

/* A wish about parameter sets. */
void pair_request(const struct pair_run *run);
/* The simulator's answer to a set. */
void pair_acknowledge(const struct pair_run *run);
/* The real robot made another usable move: in auto mode it may be time to propose. */
void pair_consider_parameters(const struct pair_run *run);

/* Record what became of a set. */
void pair_emit_change(const struct pair_run *run, struct parameter_change *change);
/* Tell the simulator what is in force. */
void pair_send_parameters(const struct pair_run *run);

/* ---- pair_dynamics_step.c ---- */

/* The event is telemetry. old: its number was here before, or a later one was; repeated: it is
 * that of the sample before. */
void pair_dynamics_sample(const struct pair_run *run, bool old, bool repeated);
/* This side's robot, or its clock, started anew. */
void pair_dynamics_restarted(const struct pair_run *run, enum side side);
/* The event is the end of a fit. */
void pair_dynamics_fitted(const struct pair_run *run);
/* A fit was asked for. Returns why there is none, NULL when it began. */
const char *pair_dynamics_request(const struct pair_run *run, enum side side, const char *by);
/* When a fit is given up; LAB_TIME_MAX. */
int64_t pair_dynamics_deadline(const struct pair_dynamics *d);
void pair_dynamics_fire(const struct pair_run *run);

/* ---- pair_dynamics_sets.c ---- */

/* Does the wish concern sets of the model of dynamics? */
bool pair_dynamics_is_meant(const struct pair_run *run);
/* set: of the book of dynamics; NULL: none is in force any more. */
void pair_dynamics_put_in_force(const struct pair_run *run, enum parameter_action action,
                                const char *by, const struct parameter_set *set);

/* ---- pair_following.c ---- */

/* The event is telemetry, not overtaken by a later sample. */
void pair_following_sample(const struct pair_run *run);
/* This side's robot started anew. */
void pair_following_restarted(const struct pair_run *run, enum side side);
/* Fits or sets have changed: take the parameters of both robots from where they are best known.
 */
void pair_following_learn(const struct pair_run *run);
/* The event asks to start, to stop, or for other gains. */
void pair_following_request(const struct pair_run *run);
/* The next control period; LAB_TIME_MAX. */
int64_t pair_following_deadline(const struct pair_following *x);
void pair_following_fire(const struct pair_run *run);

/* ---- shared by pair.c and pair_link.c ---- */

static inline bool pair_slot_through(const struct pair_slot *slot, enum side side)
{
    return !slot->expected[side] || slot->answered[side] || slot->timed_out[side];
}

/* ---- pair_link.c: link mode ---- */

/* Hand out waiting commands to sides that are ready, at run->t_us. */
void pair_dispatch(const struct pair_run *run);

/* Let the link machine of this command see its new state; may send the reply to L1. */
void pair_link_step(const struct pair_run *run, struct pair_slot *slot, bool command);

/* Tell L1 that this command cannot be taken. */
void pair_link_refuse(const struct pair_run *run, const char *id, const char *why);

/* Which sides a command that arrives now is sent to. */
void pair_link_expect(const struct pair *pair, const struct pair_params *p,
                      bool expected[SIDE_COUNT]);

/* Commands that wait for this side. */
uint32_t pair_link_waiting(const struct pair *pair, enum side side);

#endif
