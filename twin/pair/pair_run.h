/* twin/pair/pair_run.h - a step of a pair in progress, for this room and for those above that
 * learn from the same event (twin/lab.c).
 *
 * pair.c applies the event; pair_close.c finds the command it belongs to, makes an entry of a
 * closed command and updates the calibrators; the machines are those of pair_machines.h. Pure.
 */
#ifndef TWIN_PAIR_PAIR_RUN_H
#define TWIN_PAIR_PAIR_RUN_H

#include "base/errors/status.h"
#include "twin/pair/delivery.h"
#include "twin/pair/effect.h"
#include "twin/pair/pair.h"
#include "twin/pair/pair_machines.h"

/* Final poses of both robots after a command, from their replies: x_m, y_m, psi_rad. */
struct pair_poses {
    bool known; /* both replies have all three */
    bool agree;
    double of[SIDE_COUNT][3];
};

/* Findings of an event, for the rooms above. */
struct pair_changes {
    bool restarted;                  /* its side's robot restarted */
    bool clock_set;                  /* its side's clock was set */
    bool old;                        /* telemetry: repeated, or overtaken by a later one */
    bool repeated;                   /* telemetry: its number is that of the previous sample */
    char differs[ENTRY_DIFFERS_MAX]; /* replies: differences between them; "" */
    struct pair_poses poses;         /* replies: set by the command's second one */
};

/* The step in progress. */
struct pair_run {
    struct pair *pair;
    const struct pair_params *p;
    const struct effects *fx;
    int64_t t_us;
    const struct event *event;          /* NULL if a deadline fires */
    struct parameter_book *dynamics;    /* sets of the model of dynamics; NULL: none */
    struct pair_changes *changes;       /* NULL if a deadline fires */
    struct delivery_memory *deliveries; /* may be NULL */
    const struct live_map *map;         /* of the robots' sweeps; NULL: none */
};

/* Prefetches memory. In a large lab the data of a step are far apart; requested together they
 * arrive together, not one after the other. Changes nothing. */
static inline void pair_fetch_lines(const void *from, size_t bytes)
{
    const char *end = (const char *)from + bytes;
    for (const char *at = (const char *)from - (uintptr_t)from % 64; at < end; at += 64) {
        __builtin_prefetch(at);
    }
}

/* ---- pair.c: the step, in the order of these calls ---- */

/* Applies the event; requests about parameters, dynamics and following are left to others. */
void pair_apply(const struct pair_run *run);
/* Checks whether the seq of a new command follows that of the previous one. */
void pair_check_command_seq(const struct pair_run *run);
/* Sends clock probes that are due. */
void pair_fire_probes(const struct pair_run *run);
/* Applies telemetry. paused: the robot's move waits; between two such samples no command to it
 * grows old. */
void pair_count_pause(const struct pair_run *run, bool paused);
/* Returns when this side's reply is overdue. */
int64_t pair_timeout_of(const struct pair_run *run, const struct pair_slot *slot,
                        enum side side);
/* Times out overdue commands. */
void pair_fire_timeouts(const struct pair_run *run);
/* Finds the pair's next deadline; other_us: the earliest of the rooms above. */
void pair_update_deadline(const struct pair_run *run, int64_t other_us);

/* Counts an alarm, and records it unless its type is too frequent. since_us: when the reported
 * change began, 0: unknown. */
#define pair_alarm(run, code, side, id, ...)                                                   \
    pair_alarm_since(run, code, side, id, 0, __VA_ARGS__)
void pair_alarm_since(const struct pair_run *run, enum alarm_code code, enum side side,
                      const char *id, int64_t since_us, const char *format, ...)
    PRINTF_LIKE(6, 7);

/* Emits an effect of this pair; sets index and time. */
void pair_emit(const struct pair_run *run, struct effect effect);
/* Emits a fit for the record over time. SIDE_COUNT: travel times, with a number for each
 * side. */
void pair_emit_history(const struct pair_run *run, enum side side);
void pair_emit_payload(const struct pair_run *run, enum effect_kind kind, enum side side,
                       const char *text, size_t bytes);

/* A command's machine at work: the context of its commit. */
struct command_run {
    const struct pair_run *run;
    struct pair_slot *slot;
    bool command; /* the command has just arrived */
    struct command_in in;
};

/* Runs a machine, whose input this function fills with the command's present state. */
void pair_run_command(const struct pair_run *run, struct pair_slot *slot, bool command,
                      const struct efsm_machine *machine, efsm_commit *commit);

/* ---- pair_close.c: from a reply to an entry ---- */

/* Finds the open command with this id; NULL: none. */
struct pair_slot *pair_find_slot(struct pair *pair, const char *id);

/* Returns the commands that this side must still answer in time, as bits. */
uint32_t pair_count_owed(const struct pair *pair, enum side side);

/* Finds the oldest open command of this side that satisfies the condition; NULL: none. */
struct pair_slot *pair_oldest_slot(const struct pair_run *run, enum side side,
                                   bool (*matches)(const struct pair_run *run,
                                                   const struct pair_slot *slot,
                                                   enum side side));

/* Finds the command that a reply belongs to; NULL, after an alarm with the reason. */
struct pair_slot *pair_match_reply(const struct pair_run *run);

/* Writes the entry of a command that both sides have finished: emits, counts, and
 * calibrates. */
void pair_write_entry(const struct pair_run *run, const struct pair_slot *slot);

/* Writes the entry of a command that was not tracked, or not sent because it may be a
 * repetition. */
void pair_write_unfollowed(const struct pair_run *run, enum verdict verdict);

/* ---- pair_values.c ---- */

/* Stores the first reply's values for comparison; returns how many did not fit. */
size_t pair_store_values(struct pair_slot *slot, const struct event_reply *reply);

/* Does the other side's reply disagree with that of side `first`? differs describes it, cut to
 * size. */
bool pair_reply_differs(const struct pair_slot *slot, enum side first,
                        const struct event_reply *reply, const struct pair_params *p,
                        char differs[ENTRY_DIFFERS_MAX]);

/* Reads both robots' final poses, from the reply of side `first` and that of the other. With
 * live_map.correct the real robot's is that on the map. */
void pair_read_poses(const struct pair_run *run, const struct pair_slot *slot, enum side first,
                     const struct event_reply *reply, struct pair_poses *poses);

/* ---- pair_correct.c: the simulated robot is set to the real one's pose ---- */

/* After a command is closed with this entry: sends a pose correction if configured, and records
 * it in the entry. */
void pair_correct(const struct pair_run *run, const struct pair_slot *slot, struct entry *e);
/* Applies the simulator's answer. */
void pair_correct_acknowledge(const struct pair_run *run);
/* Reports a missing answer when it is overdue. */
void pair_correct_fire(const struct pair_run *run);

/* ---- pair_arm.c: pairs of arms; does nothing for others ---- */

/* Plans a new command in this slot from the arm's angles, or from the end of the previous
 * command. Sizes that the command lacks are filled in. */
void pair_arm_open(const struct pair_run *run, struct pair_slot *slot);
/* Applies telemetry of a side: the present distance of the tools. */
void pair_arm_watch(const struct pair_run *run);
/* Applies the reply of a side. */
void pair_arm_reply(const struct pair_run *run, const struct pair_slot *slot);
/* Fills an arm's members of the entry, when both sides have finished. */
void pair_arm_fill(const struct pair *pair, const struct pair_params *p,
                   const struct pair_slot *slot, struct entry *e);
/* Gets the commanded rates of its move for the calibration; false: its time is unusable. */
bool pair_arm_move(const struct pair *pair, const struct pair_params *p,
                   const struct pair_slot *slot, struct pair_move *row);

/* ---- pair_forecast.c: when the robots will have finished ---- */

/* Gets the sizes that a move's lap depends on; for arms its commanded time. */
void pair_move_sizes(const struct pair_params *p, const struct pair_move *row, double *turn,
                     double *drive);
/* Stores the forecast of a command that is sent to these sides (bits). */
void pair_forecast_sent(const struct pair_run *run, struct pair_slot *slot, unsigned sides);
/* Learns from the closed command. Fills the laps of its row in the window; returns whether it
 * has any. *started: pass it to pair_forecast_start(), once the row is in the window. */
bool pair_forecast_learn(const struct pair_run *run, const struct pair_slot *slot,
                         const struct entry *e, struct pair_move *row, unsigned *started);
void pair_forecast_start(const struct pair_run *run, unsigned sides);
/* Fills the forecast's members of the entry. */
void pair_forecast_fill(const struct pair_slot *slot, struct entry *e);
/* The simulator has acknowledged other travel times than those in force before. */
void pair_forecast_change(const struct pair_run *run, const struct parameter_force *before);

/* ---- pair_parts.c: parts of the unexpected lag ---- */

/* Fills the parts of the entry's lag, and learns what is usual. */
void pair_parts_fill(const struct pair_run *run, const struct pair_slot *slot, struct entry *e);

/* ---- pair_eta.c: forecasts over MQTT ---- */

/* Publishes the forecast of the command under way if it has changed; ends every step. */
void pair_publish_eta(const struct pair_run *run);
/* Returns the time at which a side of this command becomes late; LAB_TIME_MAX: never. */
int64_t pair_eta_deadline(const struct pair_params *p, const struct pair_slot *slot,
                          enum side side);

/* ---- pair_parameters.c ---- */

/* Finds the model of a request about parameter sets. False, declined, if the named model has no
 * sets; else *dynamics says whether it means the model of dynamics. */
bool pair_request_model(const struct pair_run *run, bool *dynamics);
/* Applies a request for a proposal of travel times. */
void pair_propose(const struct pair_run *run);
/* Applies a promotion or rollback. Returns whether a set was put in force. */
bool pair_change_set(const struct pair_run *run, bool dynamics);
/* Declines the request. */
void pair_decline(const struct pair_run *run, const char *why);
/* Returns the version last sent to the simulator: the newest set in force; 0: its own
 * parameters. */
uint32_t pair_parameters_version(const struct pair *pair,
                                 const struct parameter_book *dynamics);
/* The simulator restarted, and may use its own parameters until it acknowledges a set, so the
 * sets in force are sent again, if there ever were any. */
void pair_resend_parameters(const struct pair_run *run);
/* Applies the simulator's answer to a set. */
void pair_acknowledge(const struct pair_run *run);
/* Call it after a usable move of the real robot: in auto mode a proposal may be due. */
void pair_consider_parameters(const struct pair_run *run);

/* Records a change of a set. */
void pair_emit_change(const struct pair_run *run, struct parameter_change *change);
/* Records it, and sends the simulator the sets now in force; set NULL: its own parameters. */
void pair_activate_set(const struct pair_run *run, enum parameter_action action, const char *by,
                       const struct parameter_set *set, bool dynamics);

/* ---- pair_version.c ---- */

/* Applies the version in a robot's connection message. */
void pair_version_receive(const struct pair_run *run);
/* Applies another version in the lab file. */
void pair_version_apply(const struct pair_run *run);

/* ---- pair_fault.c: faults that a robot reports, and observations of its codec ---- */

void pair_apply_fault(const struct pair_run *run);
void pair_apply_note(const struct pair_run *run);

/* ---- shared by the files above ---- */

/* Does the motion of this reply, by the robot's own clock, fit into its lap? One that is far
 * longer has another unit than seconds: reported once, until one fits again. Recordings may
 * have whole seconds, so a lap counts as one second at least. pair_close.c */
bool pair_motion_fits(const struct pair_run *run, const struct pair_slot *slot,
                      double motion_s);
/* Does a simulator's pace, with its standard error, differ from real time? pair_close.c */
bool pair_pace_is_off(double ratio, double se);

static inline bool pair_slot_through(const struct pair_slot *slot, enum side side)
{
    return !slot->expected[side] || slot->answered[side] || slot->timed_out[side];
}

/* Must this side still answer in time? */
static inline bool pair_slot_owed(const struct pair_slot *slot, enum side side)
{
    return slot->sent[side] && !pair_slot_through(slot, side);
}

/* ---- pair_link.c: link mode ---- */

/* Stores a command's payload for sending. */
void pair_link_open(const struct pair_run *run, const struct pair_slot *slot);

/* Withdraws a waiting command after a halt, and answers it `halted`. Returns whether it was
 * waiting. */
bool pair_link_withdraw(const struct pair_run *run, struct pair_slot *slot);

/* Sends waiting commands to sides that are ready, at run->t_us. */
void pair_dispatch(const struct pair_run *run);

/* Steps the link machine of this command; may send the reply to L1. */
void pair_link_step(const struct pair_run *run, struct pair_slot *slot, bool command);

/* Notifies L1 that the two replies differ, with the text in run->changes. */
void pair_link_notice(const struct pair_run *run, const struct pair_slot *slot);

/* Is this EFFECT_REPLY Tandem's own, because no robot answered in time? */
bool pair_link_is_unanswered(const struct effect *reply);

/* Refuses a command to L1. code: of the fault or alarm. */
void pair_link_refuse(const struct pair_run *run, const char *id, const char *code,
                      const char *why);

/* Answers a command with a known id by its outcome, if it is closed, instead of sending it
 * again. False: the id is unknown, or belongs to another command that is still open. */
bool pair_link_answer_known(const struct pair_run *run);

/* Stores the outcome of a command, in case it comes again. */
void pair_link_record_end(const struct pair_run *run, const char *id,
                          struct delivery_outcome outcome);

/* Decides which sides a new command is sent to. */
void pair_link_expect(const struct pair *pair, const struct pair_params *p,
                      bool expected[SIDE_COUNT]);

/* Returns the number of commands that wait for this side. */
uint32_t pair_link_waiting(const struct pair_run *run, enum side side);

/* Is this operation sent at once because it stops the robot? */
bool pair_link_overtakes(const char *op);

#endif
