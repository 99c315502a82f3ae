/* twin/mission/pair_missions.h - the missions of a pair: queued, begun one after another,
 * cancelled and reported.
 *
 * A mission commands the pair as L1 would, in link mode. While it runs it owns the robot: other
 * commands are refused, apart from a halt. After a start of the daemon whatever ran or waited
 * has failed with `interrupted`: nothing drives on by itself. docs/protocol/mission.md. The
 * state is one block, part of the lab's (checkpoint). Pure.
 */
#ifndef TWIN_MISSION_PAIR_MISSIONS_H
#define TWIN_MISSION_PAIR_MISSIONS_H

#include "twin/mission/mission_kind.h"
#include "twin/pair/effect.h"
#include "twin/pair/pair.h"

enum {
    MISSIONS_REFUSED = 8, /* refused missions that a pair remembers, */
    MISSIONS_KEPT = 40,   /* and all, so that 32 others are remembered */
    MISSIONS_OUT = 8,     /* commands of one step */
    MISSIONS_USED = 4096, /* bytes of the filter of used ids */
    MISSIONS_PAUSE_US = 20000,
    MISSION_DETAIL_MAX = 256, /* with its NUL */
    MISSION_EFFORT_HZ = 4,    /* an effort that is a period of this rate late is useless */
    MISSION_REPORT_MAX = 32768
};
_Static_assert(MISSIONS_KEPT - MISSIONS_REFUSED > PAIR_MISSIONS_MAX + 1,
               "what waits and runs is never forgotten");

/* clang-format off */
#define MISSION_STATES(X)                                                                      \
    X(MISSION_QUEUED, "queued")                                                                \
    X(MISSION_RUNNING, "running")                                                              \
    X(MISSION_DONE, "done")                                                                    \
    X(MISSION_FAILED, "failed")                                                                \
    X(MISSION_CANCELLED, "cancelled")                                                          \
    X(MISSION_REFUSED, "refused")
/* clang-format on */
enum mission_state { MISSION_STATES(NAMES_VALUE) MISSION_STATE_COUNT };
ENUM_NAMES_DECLARED(mission_state);

struct mission_record {
    uint64_t number; /* from 1, in the order of their arrival; 0: no mission */
    char id[EVENT_ID_MAX];
    char run[MISSION_RUN_MAX]; /* the common part of the ids of its commands; "": not begun */
    char kind[MISSION_KIND_MAX];
    char by[24];
    uint64_t content; /* hash of the text */
    uint8_t state;    /* enum mission_state */
    bool cancelling;  /* running, but it must end */
    unsigned step;    /* as struct mission_effect counts */
    char code[32];    /* failed: a mission_code; refused: a fault's code; "" */
    char detail[MISSION_DETAIL_MAX];
    int64_t queued_us, began_us, ended_us; /* LAB_TIME_NONE: not yet */
};

struct mission_text {
    uint64_t number; /* of the mission that waits with it; 0: free */
    size_t bytes;
    char json[MISSION_JSON_MAX];
};

struct pair_missions {
    uint64_t version;                    /* changes with every change */
    uint64_t numbers;                    /* missions ever received */
    uint64_t running;                    /* number of the running mission; 0: none */
    uint64_t count[MISSION_STATE_COUNT]; /* how often each state was entered */
    uint64_t failed[MISSION_CODE_COUNT]; /* of these, by their reason */
    uint64_t repeated, commands_refused;
    /* The next mission begins not before: one that ends as it begins may have spent the time of
     * a step on its plan. 0: at once. */
    int64_t begin_us;
    /* A Bloom filter of the ids of all missions ever begun: three bits for each. It forgets
     * none, so that the ids of commands are used once. */
    uint8_t used[MISSIONS_USED];
    struct mission_record record[MISSIONS_KEPT];
    _Alignas(max_align_t) unsigned char plan[MISSION_PLAN_BYTES]; /* of the running one */
    _Alignas(max_align_t) unsigned char work[MISSION_WORK_BYTES];
    struct mission_text waiting[]; /* [p->missions_max] */
};

/* A step in progress. */
struct missions_run {
    struct pair_missions *m;
    const struct pair *pair;
    const struct pair_params *p;
    struct mission_place place;
    const char *team; /* the team whose robot this is; NULL: none */
    const struct effects *fx;
    int64_t t_us;
    /* Commands to be sent after the step of the pair that is in progress, oldest first. */
    size_t out_count;
    struct {
        size_t bytes;
        char raw[EVENT_RAW_MAX];
    } out[MISSIONS_OUT];
    const struct effect *reply; /* the reply in work; NULL: none */
};

/* Size of the state, a multiple of 64; 0: this pair takes no missions. */
size_t pair_missions_bytes(const struct pair_params *p);
/* The block was moved as bytes. All pairs may share the place's memory. */
void pair_missions_rebind(struct pair_missions *m, const struct mission_place *place);
/* Bytes of memory that its plans need for the length of a call. */
size_t pair_missions_memory(const struct pair_params *p);

/* Applies EVENT_MISSION, or EVENT_MALFORMED of one. */
void pair_missions_apply(struct missions_run *run, const struct event *event);
/* Applies EFFECT_REPLY of the pair. */
void pair_missions_reply(struct missions_run *run, const struct effect *effect);
/* Shows the running mission telemetry of the real robot, and halts. */
void pair_missions_observe(struct missions_run *run, const struct event *event);
/* Applies time, and begins the next mission if the robot is free. */
void pair_missions_advance(struct missions_run *run);
/* Stops whatever runs or waits, without a report: the time that the daemon was away passes for
 * no mission. */
void pair_missions_stop(struct pair_missions *m, const struct pair_params *p);
/* The daemon started: stops them and reports each as failed. */
void pair_missions_interrupt(struct missions_run *run);

/* Emits the status of those that it has just ended again: effects of a start are not executed.
 */
void pair_missions_repeat(const struct missions_run *run);

/* When pair_missions_advance() must be called; LAB_TIME_MAX: never. */
int64_t pair_missions_deadline(const struct pair_missions *m);
/* How many wait for their turn. */
size_t pair_missions_waiting(const struct pair_missions *m, const struct pair_params *p);
/* The running mission; NULL: none. */
const struct mission_record *pair_missions_running(const struct pair_missions *m);
/* Finds the newest mission with this id; NULL: none is remembered. */
const struct mission_record *pair_missions_find(const struct pair_missions *m, const char *id);

/* The hash of a mission's text, by which a repeated id is recognised. */
uint64_t pair_missions_content(const char *text, size_t bytes);

/* Checks a mission's text as pair_missions_apply() would, without the owner and the queue. */
MUST_USE enum status pair_missions_check(const struct pair_params *p, const char *kind,
                                         const char *text, size_t bytes, void *plan,
                                         struct err *err);

/* Writes a mission; the running one with what its kind reports. */
void pair_missions_write(struct json_writer *w, const struct pair_missions *m,
                         const struct mission_record *r);
/* Writes all that are remembered, newest first, and counts, as members. */
void pair_missions_write_all(struct json_writer *w, const struct pair_missions *m,
                             const struct pair_params *p);

#endif
