/* twin/lab.h - the set of pairs, and lab_step(): the only place where anything is decided.
 *
 * A pure function of its state and the event: no I/O, no clock, no randomness. The daemon and
 * replay differ only in who supplies the events and who carries the effects out. Deadlines fire
 * AT their deadline in lab time, however late the next event or tick shows them: the same
 * events give the same effects, byte for byte. docs/model/lab.md.
 *
 * The caller supplies the memory; the state has no pointers (checkpoint).
 */
#ifndef TWIN_LAB_H
#define TWIN_LAB_H

#include <stddef.h>
#include <stdint.h>

#include "logger/codec/codecs.h"
#include "twin/following/pair_following.h"
#include "twin/team/live/team_live.h"
#include "twin/team/step/team_params.h"

enum { LAB_PAIRS_MAX = 100000 };

/* Where lines of the journal may be lost, numbers go on this much higher: by more than a run can
 * have published without having synced their lines. Those wait for the store, which takes the
 * lines' sync with it (65 536), or it had no room for them (effect_executor.c: 16 384). */
enum { LAB_NUMBER_GAP = 100000 };

struct lab_params {
    size_t pair_count; /* 1..LAB_PAIRS_MAX */
    const struct pair_params
        *pairs;         /* [pair_count] borrowed as long as the lab lives; ids unique */
    const char *prefix; /* of the lab's topics, for codecs; NULL: "" */
    const struct team_params
        *teams; /* [team_count] <= TEAMS_MAX, borrowed; names unique, and
                   none a pair's id; their robots' pairs are in link mode */
    size_t team_count;
    /* Messages and ids remembered, DELIVERY_MIN .. DELIVERY_MAX, and for how long; 0: usual. */
    uint32_t remember_max;
    int64_t remember_us;
};

struct lab_counts {
    uint64_t events[EVENT_KIND_COUNT];
    uint64_t unknown_pair; /* messages to pairs, or teams, that the lab file does not have */
    uint64_t redelivered; /* messages delivered again by the broker or sent again by a client */
    uint64_t ambiguous;   /* messages of which nothing tells whether they were here before */
    uint64_t forgotten_early; /* messages and ids forgotten before their time */
    uint64_t retained;     /* commands and replies kept by the broker: old ones, passed over */
    uint64_t out_of_order; /* events whose time lay before the one before; taken at that time */
    uint64_t starts;       /* runs of the daemon in this journal */
};

struct lab;

/* A pair itself, and where its options want them the dynamics of its robots and the following
 * of one by the other. */
struct pair_parts {
    struct pair *pair;
    struct pair_dynamics *dynamics;     /* NULL: not followed */
    struct pair_following *following;   /* NULL: nobody follows */
    struct delivery_memory *deliveries; /* of the whole lab; NULL: none are kept */
    void *codec;                        /* what its codec remembers; NULL: nothing */
    const void *places;                 /* for its open commands, the first of them */
};

/* One event of this pair, at event->t_us; every deadline before it must have been fired. */
void pair_step(const struct pair_parts *parts, const struct pair_params *p,
               const struct event *event, const struct effects *fx);
/* In link mode: a command whose id is known is answered with what became of it. False: the id
 * is not known, or the command is another one while the first is open (pair_step() tells). */
bool pair_answer_known(const struct pair_parts *parts, const struct pair_params *p,
                       const struct event *event, const struct effects *fx);
/* Fire what is due at pair->deadline_us; call again until that is beyond the time wanted. */
void pair_fire(const struct pair_parts *parts, const struct pair_params *p,
               const struct effects *fx);

/* Bytes lab_init() needs; and those of them, from the first on, that all are touched: what is
 * behind holds open commands, of which pairs have few. */
size_t lab_bytes(const struct lab_params *p);
size_t lab_touched_bytes(const struct lab_params *p);

/* memory: at least lab_bytes(p), aligned for any type. Never fails. */
struct lab *lab_init(void *memory, const struct lab_params *p);

/* Lines may be lost: numbers that were published for them are not used again, they go on higher by
 * gap. Commands that wait for their turn may have had it: they are not sent again. */
void lab_skip_numbers(struct lab *lab, uint64_t gap);

/* Fire every deadline before event->t_us, then take the event in. */
void lab_step(struct lab *lab, const struct event *event, const struct effects *fx);

/* The earliest deadline; LAB_TIME_MAX when there is none. */
int64_t lab_next_deadline(const struct lab *lab);

/* The recording ends here: commands still open can no longer be answered, let their deadlines
 * fire. Not after EVENT_STOP as the last event, when the daemon's state is wanted. */
void lab_finish(struct lab *lab, const struct effects *fx);

/* Say again which commands of teams are to be sent that may never have left: after a start,
 * when what was said while the journal was read was not carried out. They bear the ids that
 * they had before, so that a robot that did get one knows it again. Changes nothing. */
void lab_repeat_commands(const struct lab *lab, const struct effects *fx);

size_t lab_pair_count(const struct lab *lab);
const struct pair *lab_pair(const struct lab *lab, size_t index);
/* Of a pair that follows; NULL of others. */
const struct pair_following *lab_following(const struct lab *lab, size_t index);
/* The dynamics of a pair that wants them, with its samples behind; NULL of others. */
const struct pair_dynamics *lab_dynamics(const struct lab *lab, size_t index);
const struct pair_params *lab_pair_params(const struct lab *lab, size_t index);
/* What its robots speak; the first row of the table when its name is none. */
const struct codec *lab_codec_of(const struct pair_params *p);
const struct codec *lab_codec(const struct lab *lab, size_t index);
/* What all of them speak; borrows the lab. Decoding by it changes what codecs remember: it is
 * for who steps this lab, line by line (codec_is_sample() is not). */
void lab_codecs(const struct lab *lab, struct codec_set *set);
/* The k-th pair with a foreign codec; NULL: there are no more. */
const struct codec_pair *lab_foreign(const struct lab *lab, size_t k);
/* By their topics, which of them, as numbers k, may have this one; false: any may. */
bool lab_addressed(const struct lab *lab, const char *topic, struct topic_hits *hits);
/* A pair as its codec sees it, with what that remembers. */
void lab_codec_pair(const struct lab *lab, size_t index, struct codec_pair *pair);
/* Index of the pair with this id, or -1. */
long lab_find(const struct lab *lab, const char *id);

/* The same among settings of which no lab was made; NULL: none. Looks at one after the other.
 */
const struct pair_params *lab_find_params(const struct pair_params *pairs, size_t count,
                                          const char *id);
size_t lab_team_count(const struct lab *lab);
const struct team_live *lab_team(const struct lab *lab, size_t index);
const struct team_params *lab_team_params(const struct lab *lab, size_t index);
/* Index of the team with this name, or -1. */
long lab_find_team(const struct lab *lab, const char *name);
/* Whom an effect is about: a pair's id, a team's name; NULL beyond both. */
const char *lab_name(const struct lab_params *p, uint32_t index);

const struct lab_counts *lab_counts(const struct lab *lab);
int64_t lab_time(const struct lab *lab); /* of the last event; LAB_TIME_NONE before the first */
bool lab_stopped(const struct lab *lab); /* the last event was EVENT_STOP */

/* ---- checkpoints ----
 *
 * lab_layout() tells apart how the state is laid out; it may only be loaded into a lab of the
 * same layout and options (config/labfile/lab_file.h). */
uint64_t lab_layout(const struct lab_params *p);

/* The state is saved part by part, a pair or a team each: those of a big lab take tens of
 * milliseconds, in which it goes on. What is saved is how it stood at lab_save_begin() when
 * each part that is about to change is saved before: who saves watches the lab. */
struct lab_save {
    /* Takes in n bytes that belong at this place of the state; others are 0. */
    void (*write_part)(void *context, size_t at, const void *bytes, size_t n);
    void *context;
    size_t used; /* bytes of the state, once all parts are saved */
};
size_t lab_part_count(const struct lab *lab);
void lab_save_begin(const struct lab *lab, struct lab_save *save);
void lab_save_part(const struct lab *lab, struct lab_save *save, size_t part);
/* The same of a part that is as it was in an older state, into which this one is put: only what
 * has another place there. */
void lab_save_unchanged(const struct lab *lab, struct lab_save *save, size_t part);

/* Called before a part changes; before NULL: nobody is. */
typedef void lab_before(void *context, size_t part);
void lab_watch(struct lab *lab, lab_before *before, void *context);

/* STATUS_E_STALE when the bytes do not fit, else STATUS_OK. */
MUST_USE enum status lab_load(struct lab *lab, const void *state, size_t bytes);

#endif
