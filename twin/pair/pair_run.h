/* twin/pair/pair_run.h - a step of a pair in progress, for who takes part in it: this room, and
 * those above that learn from the same event (twin/lab.c).
 *
 * pair.c takes the event in, pair_close.c finds the command it belongs to, turns a closed
 * command into an entry and feeds the calibrators; the machines are those of pair_machines.h.
 * Pure.
 */
#ifndef TWIN_PAIR_PAIR_RUN_H
#define TWIN_PAIR_PAIR_RUN_H

#include "base/errors/status.h"
#include "twin/pair/delivery.h"
#include "twin/pair/effect.h"
#include "twin/pair/pair.h"
#include "twin/pair/pair_machines.h"

/* Where both robots say that they stand after a command: x_m, y_m, psi_rad. */
struct pair_poses {
    bool known; /* each told all three */
    bool agree;
    double of[SIDE_COUNT][3];
};

/* What an event brought to light, for the rooms above. */
struct pair_changes {
    bool restarted; /* its side's robot began anew */
    bool clock_set; /* its side's clock was set */
    bool old;       /* telemetry: its number was here before, or a later one was */
    bool repeated;  /* telemetry: its number is that of the sample before */
    char differs[ENTRY_DIFFERS_MAX]; /* replies: in what they do not agree; "" */
    struct pair_poses poses;         /* replies: by the command's second one */
};

/* The step in progress. */
struct pair_run {
    struct pair *pair;
    const struct pair_params *p;
    const struct effects *fx;
    int64_t t_us;
    const struct event *event;          /* NULL when a deadline fires */
    struct parameter_book *dynamics;    /* sets of the model of dynamics; NULL: none are kept */
    struct pair_changes *changes;       /* NULL when a deadline fires */
    struct delivery_memory *deliveries; /* NULL: none are kept */
};

/* Of a big lab, what a step touches lies far apart in memory: asked for together it comes
 * together, not one piece after the other. Changes nothing. */
static inline void pair_fetch_lines(const void *from, size_t bytes)
{
    const char *end = (const char *)from + bytes;
    for (const char *at = (const char *)from - (uintptr_t)from % 64; at < end; at += 64) {
        __builtin_prefetch(at);
    }
}

/* ---- pair.c: the step, in the order of these calls ---- */

/* Take the event in; what it asks of parameters, dynamics and following is for others. */
void pair_apply(const struct pair_run *run);
/* A command has come: does its seq go on from that of the one before? */
void pair_check_command_seq(const struct pair_run *run);
/* Fire clock probes that are due. */
void pair_fire_probes(const struct pair_run *run);
/* Time commands out that are overdue. */
void pair_fire_timeouts(const struct pair_run *run);
/* Find the pair's next deadline anew; other_us: the earliest of the rooms above. */
void pair_update_deadline(const struct pair_run *run, int64_t other_us);

/* Count an alarm, and record it unless its type comes too often. */
void pair_alarm(const struct pair_run *run, enum alarm_code code, enum side side,
                const char *id, const char *format, ...) PRINTF_LIKE(5, 6);

/* Want something done for this pair, now; index and time are filled in. */
void pair_emit(const struct pair_run *run, struct effect effect);
/* A fit for the history. SIDE_COUNT: of travel times, with a number for each side. */
void pair_emit_history(const struct pair_run *run, enum side side);
void pair_emit_payload(const struct pair_run *run, enum effect_kind kind, enum side side,
                       const char *text, size_t bytes);

/* One of a command's machines at work: the context of its commit. */
struct command_run {
    const struct pair_run *run;
    struct pair_slot *slot;
    bool command; /* it has just arrived */
    struct command_in in;
};

/* Let the machine, whose input this fills, see the command as it is now. */
void pair_run_command(const struct pair_run *run, struct pair_slot *slot, bool command,
                      const struct efsm_machine *machine, efsm_commit *commit);

/* ---- pair_close.c: from a reply to an entry ---- */

/* The open command with this id, or NULL. */
struct pair_slot *pair_find_slot(struct pair *pair, const char *id);

/* Commands that this side was asked and has neither answered nor missed. */
uint32_t pair_count_owed(const struct pair *pair, enum side side);

/* The oldest open command that is so, of this side; NULL. */
struct pair_slot *pair_oldest_slot(const struct pair_run *run, enum side side,
                                   bool (*matches)(const struct pair_run *run,
                                                   const struct pair_slot *slot,
                                                   enum side side));

/* The command a reply of this side belongs to; NULL, after an alarm that says why. */
struct pair_slot *pair_match_reply(const struct pair_run *run);

/* The entry of a command that both sides are through with: emitted, counted, calibrated on. */
void pair_write_entry(const struct pair_run *run, const struct pair_slot *slot);

/* The entry of a command that could not be followed, or was not sent for it may have been
 * before. */
void pair_write_unfollowed(const struct pair_run *run, enum verdict verdict);

/* ---- pair_values.c ---- */

/* Keep the first reply's values for comparison; returns for how many there is no room. */
size_t pair_store_values(struct pair_slot *slot, const struct event_reply *reply);

/* Does the reply of the other side say something else than that of side `first` did? differs
 * tells what, as far as there is room. */
bool pair_reply_differs(const struct pair_slot *slot, enum side first,
                        const struct event_reply *reply, const struct pair_params *p,
                        char differs[ENTRY_DIFFERS_MAX]);

/* Where both robots stand, by the reply of side `first` and that of the other. */
void pair_read_poses(const struct pair_slot *slot, enum side first,
                     const struct event_reply *reply, const struct pair_params *p,
                     struct pair_poses *poses);

/* ---- pair_correct.c: the simulated robot is put where the real one stands ---- */

/* A command is closed, with this entry: tell the simulator, where that is asked for, and write
 * it into the entry. */
void pair_correct(const struct pair_run *run, const struct pair_slot *slot, struct entry *e);
/* The simulator's answer. */
void pair_correct_acknowledge(const struct pair_run *run);
/* Tell that an answer is missing when it is overdue. */
void pair_correct_fire(const struct pair_run *run);

/* ---- pair_arm.c: pairs of arms; others are left alone ---- */

/* A command has come, and has this place: what it does is planned from where the arm is, or
 * from where the command before it ends. Sizes that it does not tell are filled in. */
void pair_arm_open(const struct pair_run *run, struct pair_slot *slot);
/* Telemetry of a side: how far both are apart now. */
void pair_arm_watch(const struct pair_run *run);
/* The reply of a side. */
void pair_arm_reply(const struct pair_run *run, const struct pair_slot *slot);
/* Of a command that both sides are through with, into its entry. */
void pair_arm_fill(const struct pair *pair, const struct pair_params *p,
                   const struct pair_slot *slot, struct entry *e);
/* What was commanded of its move, for the calibration; false: its time tells nothing. */
bool pair_arm_move(const struct pair *pair, const struct pair_params *p,
                   const struct pair_slot *slot, struct pair_move *row);

/* ---- pair_parameters.c ---- */

/* The event is a wish about parameter sets. False, declined, when it names a model of which no
 * sets are kept; else *dynamics says whether it means the model of dynamics. */
bool pair_request_model(const struct pair_run *run, bool *dynamics);
/* It asks for a proposal of travel times. */
void pair_propose(const struct pair_run *run);
/* It asks for a promotion or a rollback. Whether something was put in force. */
bool pair_change_set(const struct pair_run *run, bool dynamics);
/* It cannot be fulfilled. */
void pair_decline(const struct pair_run *run, const char *why);
/* Of what the simulator was told last: the newest set in force; 0: its own parameters. */
uint32_t pair_parameters_version(const struct pair *pair,
                                 const struct parameter_book *dynamics);
/* The simulator began anew, and may run on its own parameters until it acknowledges a set: it
 * is told what is in force, if anything ever was. */
void pair_resend_parameters(const struct pair_run *run);
/* The simulator's answer to a set. */
void pair_acknowledge(const struct pair_run *run);
/* The real robot made another usable move: in auto mode it may be time to propose. */
void pair_consider_parameters(const struct pair_run *run);

/* Record what became of a set. */
void pair_emit_change(const struct pair_run *run, struct parameter_change *change);
/* Record it, and tell the simulator what is in force now; set NULL: its own parameters. */
void pair_activate_set(const struct pair_run *run, enum parameter_action action, const char *by,
                       const struct parameter_set *set, bool dynamics);

/* ---- pair_fault.c: what a robot says is wrong with it, and what its codec noticed ---- */

void pair_apply_fault(const struct pair_run *run);
void pair_apply_note(const struct pair_run *run);

/* ---- shared by the files above ---- */

static inline bool pair_slot_through(const struct pair_slot *slot, enum side side)
{
    return !slot->expected[side] || slot->answered[side] || slot->timed_out[side];
}

/* This side was asked and has neither answered nor timed out. */
static inline bool pair_slot_owed(const struct pair_slot *slot, enum side side)
{
    return slot->sent[side] && !pair_slot_through(slot, side);
}

/* ---- pair_link.c: link mode ---- */

/* Keep a command's payload, to be sent. */
void pair_link_open(const struct pair_run *run, const struct pair_slot *slot);

/* A halt has come: what waits is not sent any more, and answered `halted`. Does this wait? */
bool pair_link_withdraw(const struct pair_run *run, struct pair_slot *slot);

/* Hand out waiting commands to sides that are ready, at run->t_us. */
void pair_dispatch(const struct pair_run *run);

/* Let the link machine of this command see its new state; may send the reply to L1. */
void pair_link_step(const struct pair_run *run, struct pair_slot *slot, bool command);

/* Tell L1 that the two replies differ, in what run->news says. */
void pair_link_notice(const struct pair_run *run, const struct pair_slot *slot);

/* Tell L1 that this command cannot be taken. code: of the fault or alarm. */
void pair_link_refuse(const struct pair_run *run, const char *id, const char *code,
                      const char *why);

/* A command whose id is known is not sent again: tell L1 what became of it, when it is closed.
 * False: its id is not known, or stands for another command that is still open. */
bool pair_link_answer_known(const struct pair_run *run);

/* Remember what became of a command, for when it comes again. */
void pair_link_record_end(const struct pair_run *run, const char *id,
                          struct delivery_outcome outcome);

/* Which sides a command that arrives now is sent to. */
void pair_link_expect(const struct pair *pair, const struct pair_params *p,
                      bool expected[SIDE_COUNT]);

/* Commands that wait for this side. */
uint32_t pair_link_waiting(const struct pair_run *run, enum side side);

/* An operation that is sent at once, whatever waits: it stops the robot. */
bool pair_link_overtakes(const char *op);

#endif
