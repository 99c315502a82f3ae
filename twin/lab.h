/* twin/lab.h - the set of pairs, and lab_step(): the only place where decisions are made.
 *
 * The step is a pure function of state and event: no I/O, no clock, no randomness. The daemon
 * and replay differ only in the source of events and in the execution of effects. Deadlines
 * fire AT their deadline in lab time, however late the next event or tick is: the same events
 * give the same effects, byte for byte. docs/model/lab.md.
 *
 * The caller supplies the memory; the state has no pointers (checkpoint).
 */
#ifndef TWIN_LAB_H
#define TWIN_LAB_H

#include <stddef.h>
#include <stdint.h>

#include "logger/codec/codecs.h"
#include "twin/following/pair_following.h"
#include "twin/mission/pair_missions.h"
#include "twin/team/live/team_live.h"
#include "twin/team/step/team_params.h"

enum { LAB_PAIRS_MAX = 100000 };

/* If lines of the journal may be lost, numbers continue this much higher. A run cannot have
 * published more without synced lines: 65 536 wait for the store, which syncs the lines first,
 * and 16 384 wait for room in it (effect_executor.c). */
enum { LAB_NUMBER_GAP = 100000 };

struct lab_params {
    size_t pair_count; /* 1..LAB_PAIRS_MAX */
    const struct pair_params
        *pairs;         /* [pair_count] borrowed as long as the lab exists; ids unique */
    const char *prefix; /* prefix of the lab's topics, for codecs; NULL: "" */
    const struct team_params
        *teams; /* [team_count] <= TEAMS_MAX, borrowed; names unique, and different from pair
                   ids; the pairs of their robots are in link mode */
    size_t team_count;
    /* Remembered messages and ids, DELIVERY_MIN .. DELIVERY_MAX, and for how long; 0:
     * default. */
    uint32_t remember_max;
    int64_t remember_us;
};

struct lab_counts {
    uint64_t events[EVENT_KIND_COUNT];
    uint64_t unknown_pair;    /* messages to pairs or teams that the lab file does not have */
    uint64_t redelivered;     /* messages that the broker delivered or a client sent again */
    uint64_t ambiguous;       /* messages that may or may not have been delivered before */
    uint64_t forgotten_early; /* messages and ids forgotten early, for lack of room */
    uint64_t retained;        /* retained commands and replies: old ones, ignored */
    uint64_t out_of_order; /* events with a time before the previous one; they get that time */
    uint64_t starts;       /* runs of the daemon in this journal */
};

struct lab;

/* A pair and its optional parts: dynamics of its robots, and following. */
struct pair_parts {
    struct pair *pair;
    struct pair_dynamics *dynamics;     /* NULL: not identified */
    struct pair_following *following;   /* NULL: no following */
    struct pair_missions *missions;     /* NULL: it takes none */
    struct live_map *map;               /* of its sweeps; NULL: none */
    struct delivery_memory *deliveries; /* of the whole lab; NULL: none */
    void *codec;                        /* state of its codec; NULL: none */
    const void *places;                 /* its first slot of open commands */
};

/* Applies one event to this pair at event->t_us; every earlier deadline must have been
 * fired. */
void pair_step(const struct pair_parts *parts, const struct pair_params *p,
               const struct event *event, const struct effects *fx);
/* Link mode: answers a command with a known id by its outcome. False: the id is unknown, or a
 * different command has the id of an open one (which pair_step() reports). */
bool pair_answer_known(const struct pair_parts *parts, const struct pair_params *p,
                       const struct event *event, const struct effects *fx);
/* Fires what is due at pair->deadline_us; call again until that is beyond the wanted time. */
void pair_fire(const struct pair_parts *parts, const struct pair_params *p,
               const struct effects *fx);

/* Finds the pair's next deadline again, after its missions have changed. */
void pair_find_deadline(const struct pair_parts *parts, const struct pair_params *p);
/* Refuses L1's command, because something else commands the robot. */
void pair_refuse_owned(const struct pair_parts *parts, const struct pair_params *p,
                       const struct event *event, const char *why, const struct effects *fx);

/* Size of the memory for lab_init(); and of its first part, which is always touched: the rest
 * holds open commands, of which pairs have few. */
size_t lab_bytes(const struct lab_params *p);
size_t lab_touched_bytes(const struct lab_params *p);

/* memory: at least lab_bytes(p), aligned for any type. Never fails. */
struct lab *lab_init(void *memory, const struct lab_params *p);

/* Lines may be lost: numbers that were published for them are not used again, they go on higher
 * by gap. Commands that wait for their turn may have had it: they are not sent again. */
void lab_skip_numbers(struct lab *lab, uint64_t gap);

/* Fire every deadline before event->t_us, then take the event in. */
void lab_step(struct lab *lab, const struct event *event, const struct effects *fx);

/* Returns the earliest deadline; LAB_TIME_MAX if there is none. */
int64_t lab_next_deadline(const struct lab *lab);

/* Ends a recording: open commands can no longer be answered, so their deadlines fire. Not after
 * EVENT_STOP as the last event, if the daemon's state is wanted. */
void lab_finish(struct lab *lab, const struct effects *fx);

/* Emits the commands of teams again that may never have been sent, after a start, and the ends
 * of missions that it interrupted: effects are not executed while the journal is read. They
 * have their original ids, so a robot that received one recognises it. The state does not
 * change. */
void lab_repeat_commands(const struct lab *lab, const struct effects *fx);

size_t lab_pair_count(const struct lab *lab);
const struct pair *lab_pair(const struct lab *lab, size_t index);
/* Returns NULL for a pair without following. */
const struct pair_following *lab_following(const struct lab *lab, size_t index);
/* Returns NULL for a pair that takes no missions. */
const struct pair_missions *lab_missions(const struct lab *lab, size_t index);
/* Returns NULL for a pair without a map of its sweeps. */
const struct live_map *lab_map(const struct lab *lab, size_t index);
/* Returns a pair's dynamics, followed by its samples; NULL for a pair without. */
const struct pair_dynamics *lab_dynamics(const struct lab *lab, size_t index);
const struct pair_params *lab_pair_params(const struct lab *lab, size_t index);
/* Returns the codec of its robots; the first row of the table if the name is unknown. */
const struct codec *lab_codec_of(const struct pair_params *p);
const struct codec *lab_codec(const struct lab *lab, size_t index);
/* Gets all codecs of the pairs; borrows the lab. Decoding changes codec state, so only the
 * thread that steps this lab may do it, line by line (codec_is_sample() is free of this). */
void lab_codecs(const struct lab *lab, struct codec_set *set);
/* Returns the k-th pair with a foreign codec; NULL: no more. */
const struct codec_pair *lab_foreign(const struct lab *lab, size_t k);
/* Finds the foreign pairs, as numbers k, that may own this topic; false: any may. */
bool lab_addressed(const struct lab *lab, const char *topic, struct topic_hits *hits);
/* Gets a pair as its codec needs it, with the codec's state. */
void lab_codec_pair(const struct lab *lab, size_t index, struct codec_pair *pair);
/* Index of the pair with this id, or -1. */
long lab_find(const struct lab *lab, const char *id);

/* Searches settings without a lab, linearly; NULL: none. */
const struct pair_params *lab_find_params(const struct pair_params *pairs, size_t count,
                                          const char *id);
size_t lab_team_count(const struct lab *lab);
const struct team_live *lab_team(const struct lab *lab, size_t index);
const struct team_params *lab_team_params(const struct lab *lab, size_t index);
/* Index of the team with this name, or -1. */
long lab_find_team(const struct lab *lab, const char *name);
/* Returns the subject of an effect: a pair's id or a team's name; NULL beyond both. */
const char *lab_name(const struct lab_params *p, uint32_t index);

const struct lab_counts *lab_counts(const struct lab *lab);
int64_t lab_time(const struct lab *lab); /* of the last event; LAB_TIME_NONE before */
bool lab_stopped(const struct lab *lab); /* the last event was EVENT_STOP */

/* ---- checkpoints ----
 *
 * lab_layout() identifies the layout of the state. A state may only be loaded into a lab of the
 * same layout and options (config/labfile/lab_file.h). */
uint64_t lab_layout(const struct lab_params *p);

/* Saves the state part by part, a pair or a team each, because a large lab takes tens of
 * milliseconds and must go on. The saved state is that at lab_save_begin(), provided that each
 * part is saved before it changes: the writer watches the lab for that. */
struct lab_save {
    /* Receives n bytes for this place of the state; other bytes are 0. */
    void (*write_part)(void *context, size_t at, const void *bytes, size_t n);
    void *context;
    size_t used; /* bytes of the state, once all parts are saved */
};
size_t lab_part_count(const struct lab *lab);
void lab_save_begin(const struct lab *lab, struct lab_save *save);
void lab_save_part(const struct lab *lab, struct lab_save *save, size_t part);
/* Saves a part that is unchanged since an older state, into which this one is merged: only the
 * bytes with another place. */
void lab_save_unchanged(const struct lab *lab, struct lab_save *save, size_t part);

/* Called before a part changes; NULL: no watcher. */
typedef void lab_before(void *context, size_t part);
void lab_watch(struct lab *lab, lab_before *before, void *context);

/* STATUS_E_STALE if the bytes do not fit, else STATUS_OK. */
MUST_USE enum status lab_load(struct lab *lab, const void *state, size_t bytes);

#endif
