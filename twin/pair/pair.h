/* twin/pair/pair.h - one real robot and its virtual twin: everything known about them now.
 *
 * Composed of parts that each do one thing: link and smart logger
 * (twin/pair/pair_machines.h), clock maps, travel-time calibrators. struct pair is plain data
 * without pointers: it is copied for readers and saved in checkpoints as it stands. Its open
 * commands have places of their own, that it knows by their distance: most pairs have none or
 * one, of the many that they may have. Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_PAIR_PAIR_H
#define TWIN_PAIR_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"
#include "identification/travel/profile_fit.h"
#include "logger/message/record.h"
#include "twin/efsm/efsm.h"
#include "twin/pair/pair_params.h"
#include "twin/pair/parameters.h"

enum {
    PAIR_RECENT = 50,     /* verdicts remembered */
    PAIR_CLOSED_MAX = 32, /* closed commands remembered, to name odd replies */
    PAIR_PROBES = 8,      /* the last ones, when they left */
    PAIR_VALUES_MAX = 16, /* values of the first reply compared */
    /* The virtual robot's moves under what is in force; fewer are no fit to be built upon. */
    PAIR_VIRTUAL_MOVES_MIN = 10,
    PAIR_PARAMETERS_MAX = 4096 /* bytes of what a simulator is told */
};

/* One value of a reply, for comparison: struct event_value without its name. */
struct pair_value {
    uint64_t place;
    union {
        double number;
        uint64_t text;
    };
};

/* One command from its arrival to its closing. */
struct pair_slot {
    uint64_t order; /* arrival number in the pair: smaller is older */
    int place;      /* k: where it stands, bit k of open_mask */
    struct efsm logger;
    char id[EVENT_ID_MAX];
    char op[EVENT_OP_MAX];
    double rotation_rad, displacement_m;
    int64_t t_us;               /* lab time of the command */
    bool expected[SIDE_COUNT];  /* this side will be asked */
    bool sent[SIDE_COUNT];      /* and was (observe mode: at once) */
    bool withdrawn[SIDE_COUNT]; /* link mode: a halt came first; not expected any more */
    int64_t sent_us[SIDE_COUNT];
    bool delivered[SIDE_COUNT]; /* observe mode: this side was heard to get it */
    bool answered[SIDE_COUNT];
    bool timed_out[SIDE_COUNT];
    int64_t reply_us[SIDE_COUNT];
    int64_t motion_us[SIDE_COUNT];    /* LAB_TIME_NONE: not known */
    int64_t transport_us[SIDE_COUNT]; /* LAB_TIME_NONE: not known */
    double clock_sd_us[SIDE_COUNT];   /* NaN: not known */
    uint8_t status[SIDE_COUNT];       /* enum reply_status */
    /* Nothing tells whether the command, or of a side whether the reply, belongs here. */
    bool command_ambiguous, ambiguous[SIDE_COUNT];
    bool unwatched;                /* nobody listened when its time was over */
    bool uncalibrated[SIDE_COUNT]; /* its robot said that this move tells nothing of others */
    int64_t away_us;               /* > 0: command or reply may have waited for so long */
    uint8_t consistency;           /* enum consistency */
    uint8_t value_count;           /* of the first reply */
    uint8_t value_kind[PAIR_VALUES_MAX]; /* enum value_kind */
    struct pair_value value[PAIR_VALUES_MAX];
};

/* What link mode keeps of it as well, behind it. */
struct pair_relay {
    struct efsm link;
    uint16_t raw_bytes;
    char raw[EVENT_RAW_MAX]; /* the command's payload */
};

/* A command that is closed, so that a reply that comes yet can be named. */
struct pair_closed {
    uint64_t id_hash; /* 0: it had no id */
    bool answered[SIDE_COUNT], timed_out[SIDE_COUNT];
    bool refused; /* VERDICT_OVERFLOW */
};

struct pair_move { /* a row of the calibration window */
    int64_t t_us;
    double rotation_rad, displacement_m;
    float lap_s[SIDE_COUNT]; /* motion time where known, else lap; NaN: not usable */
    /* Of arms: as commanded, over the move's size. */
    float speed, acceleration; /* 1/s, 1/s^2 */
    uint32_t kind;             /* enum profile_class */
};

/* What is known of one side. What every message touches stands together at the beginning. */
struct pair_side {
    bool seen;  /* any message at all */
    bool known; /* its connection topic has spoken */
    bool online;
    char boot[EVENT_BOOT_MAX];
    int8_t busy_slot; /* link mode: command it works on, -1 none */
    uint8_t nu_count, pose_count;
    int64_t seen_us; /* last message */
    int64_t idle_us; /* when last a command came while it owed no reply */
    int64_t next_probe_us;
    int64_t last_seq;     /* telemetry; -1 none */
    uint64_t seq_missing; /* gaps in seq: samples that never came */
    bool counts;          /* it tells how many commands it got: */
    int64_t ahead;        /* by how many more it had got at its last reply than were heard */
    uint64_t excused;     /* malformed commands that it may have counted by then */
    uint64_t telemetry;
    double nu[EVENT_AXES_MAX], pose[EVENT_AXES_MAX];
    struct clock_map clock;
    struct pace pace;
    int64_t probe; /* number of the last one, and when the last ones left: */
    int64_t probe_sent_us[PAIR_PROBES];
    uint64_t moves, moves_excluded; /* usable for calibration, and not (timeouts, errors …) */
    struct travel_kalman kalman;
};

struct pair_judged {
    uint8_t verdict, consistency; /* enum verdict, enum consistency */
};

struct pair_counts {
    uint64_t commands, replies, entries, redelivered;
    uint64_t values_omitted; /* of replies: there is no room to compare them */
    uint64_t ambiguous;       /* entries that say so */
    uint64_t verdict[VERDICT_COUNT];
    uint64_t consistency[CONSISTENCY_COUNT]; /* of the same entries */
    uint64_t alarm[ALARM_TYPE_COUNT]; /* every occurrence, also those the rate limit left out */
    uint64_t alarms;                  /* recorded */
    uint64_t numbers_skipped;         /* of entries, of alarms and of changes, each */
};

/* The simulator told where the real robot stands (pair_correct.c). */
struct pair_correction {
    uint64_t sent, applied, refused, unanswered;
    uint64_t closed_order; /* 1 + the newest command that was closed; 0: none */
    int64_t awaited_us;    /* the last one's answer is due; LAB_TIME_MAX: none is */
    bool reported;         /* that it was not put there, since it was */
    char id[EVENT_ID_MAX]; /* of the command that the last one followed */
};

/* What a pair in link mode has besides, behind its moves. */
struct pair_linked {
    struct efsm dispatch[SIDE_COUNT]; /* READY or BUSY */
    struct efsm_stats link_stats, dispatch_stats;
};

/* Ordered by how often a field is touched: a lab of thousands of pairs lives outside the
 * caches. */
struct pair {
    uint32_t index;
    uint32_t outstanding;
    uint64_t version;      /* changes with every step */
    int64_t deadline_us;   /* the next one; LAB_TIME_MAX: none */
    uint64_t order;        /* commands so far */
    int64_t command_seq;   /* the count that came with the last one; -1: none */
    int64_t away_us;       /* > 0: what comes now may have waited for so long */
    int64_t gap_us;        /* messages may be missing from before then; LAB_TIME_NONE: no */
    uint64_t open_mask;    /* bit k: place k is in use */
    int64_t places;        /* bytes from here to its first place for an open command, */
    size_t place_step;     /* and from one to the next */
    int64_t linked;        /* link mode: bytes from here to its struct pair_linked */
    uint32_t closed_count; /* ever; ring */
    uint32_t since_published, since_proposed;
    uint32_t window_count, window_first;
    uint64_t window_version;  /* changes with the moves of the window */
    uint64_t changes;         /* of parameter sets, recorded */
    uint64_t history;         /* fits for the history */
    int64_t history_since_us; /* the first one of travel times; LAB_TIME_NONE: none yet */
    int64_t history_us;       /* and no other one before then */
    int64_t last_lag_us, last_lag_uncertainty_us; /* of the last entry that has a lag */
    int64_t last_entry_us;
    uint32_t recent_count;                  /* of recent, at most PAIR_RECENT */
    struct pair_judged recent[PAIR_RECENT]; /* the last entries; ring, written at */
    uint32_t recent_next;                   /* this place */
    double link_lag_cycles; /* D: cycles the virtual robot lagged behind, all commands */
    struct pair_counts counts;
    struct efsm_stats logger_stats;
    struct efsm_trace trace;
    struct pair_closed closed[PAIR_CLOSED_MAX];
    struct pair_side side[SIDE_COUNT];
    struct {
        double tokens;
        int64_t t_us;
        uint64_t suppressed;
    } alarm_rate[ALARM_TYPE_COUNT];
    struct pair_correction correction;
    struct parameter_book parameters; /* of travel times */
    struct parameter_force force;     /* of those, what the simulator acknowledged */
    /* Moves that the virtual robot was told before describe another one; LAB_TIME_NONE: none.
     */
    int64_t virtual_since_us;
    /* Since then it may run on other parameters than those acknowledged; LAB_TIME_NONE: no. */
    int64_t virtual_unsure_us;
    uint64_t malformed;        /* commands ever that came, but were not of the protocol: */
    uint64_t malformed_seq;    /* as many at the last command with a seq, */
    uint64_t malformed_order;  /* and how many commands came before the last of them */
    bool ambiguous_seen;       /* ever: an ambiguous message came */
    bool dynamics_sets_last;   /* the last set put in force, or rolled back, was of dynamics */
    struct pair_move window[]; /* [p->window] of which window_count are in use */
};

/* Bytes of a pair with these options, without its open commands, a multiple of 64; and of a
 * place for one of these, of which it has outstanding_max: a multiple of 8. */
size_t pair_bytes(const struct pair_params *p);
size_t pair_place_bytes(const struct pair_params *p);

/* Of them, those from the beginning that moves have come to need, and those behind all moves
 * that there may be; what is between is zero. */
size_t pair_used_bytes(const struct pair *pair);
size_t pair_moved_bytes(const struct pair_params *p);

/* pair: pair_bytes(p) bytes, aligned. Its places are right behind it, until pair_set_places()
 * says where else; they need not be set. */
void pair_init(struct pair *pair, const struct pair_params *p, uint32_t index);

/* Its first place stands there, in the same block of memory; the others step bytes from one to
 * the next. */
void pair_set_places(struct pair *pair, const void *places, size_t step);

/* Bytes of a copy with the moves and places that are in use; and the copy. */
size_t pair_copy_bytes(const struct pair *pair, const struct pair_params *p);
void pair_copy(void *to, const struct pair *pair, const struct pair_params *p);

/* An event of this pair is about to be taken in: ask for the memory that it touches, without
 * waiting. places: its first place, so that the pair need not be looked at. */
void pair_fetch(const struct pair *pair, const struct pair_params *p, const void *places,
                const struct event *event);

/* Place k. */
static inline struct pair_slot *pair_slot_at(struct pair *pair, int k)
{
    char *places = (char *)pair + pair->places;
    return (struct pair_slot *)(void *)(places + (size_t)k * pair->place_step);
}

static inline const struct pair_slot *pair_look_slot(const struct pair *pair, int k)
{
    const char *places = (const char *)pair + pair->places;
    return (const struct pair_slot *)(const void *)(places + (size_t)k * pair->place_step);
}

/* Moves *k on to the next open command behind it, from -1 on; false: there is none. */
static inline bool pair_next_open(const struct pair *pair, int *k)
{
    const uint64_t left = *k + 1 < PAIR_OUTSTANDING_MAX ? pair->open_mask >> (*k + 1) : 0;
    *k += left ? 1 + __builtin_ctzll(left) : 0;
    return left != 0;
}

/* In link mode. */
static inline struct pair_linked *pair_linked(struct pair *pair)
{
    return (struct pair_linked *)(void *)((char *)pair + pair->linked);
}

static inline const struct pair_linked *pair_look_linked(const struct pair *pair)
{
    const char *linked = (const char *)pair + pair->linked;
    return (const struct pair_linked *)(const void *)linked;
}

/* Of the command at place k, in link mode. */
const struct pair_relay *pair_relay(const struct pair *pair, int k);

/* A message that was delivered again (counted, nothing else). */
void pair_redelivered(struct pair *pair);

/* Link mode, after a run that was cut off: commands that wait for their turn may have been
 * sent, since replies that made room for them may be lost. They are not sent again. */
void pair_withhold(struct pair *pair, int64_t t_us);

/* The moves of the window of one side that the fit may use, oldest first, into
 * moves[PAIR_WINDOW_MAX]; returns how many. t_us: of the first and the last, where there are
 * any. */
size_t pair_moves(const struct pair *pair, const struct pair_params *p, enum side side,
                  struct travel_move *moves, int64_t t_us[2]);

/* The same of arms. */
size_t pair_commanded_moves(const struct pair *pair, const struct pair_params *p,
                            enum side side, struct profile_move *moves, int64_t t_us[2]);

/* What the moves of the window tell of both sides. */
struct pair_fits {
    bool known[SIDE_COUNT]; /* it could be computed */
    bool commanded;         /* arms: times by what was commanded, profile; else fit: */
    union {
        struct travel_fit fit[SIDE_COUNT];
        struct profile_fit profile[SIDE_COUNT];
    };
};

/* Fit the window as it stands. Costs up to some milliseconds: not for the lab thread. Pure but
 * for GSL's allocations. */
void pair_fit_window(const struct pair *pair, const struct pair_params *p,
                     struct pair_fits *out);

/* How far the simulator has come with what it was told of travel times. */
enum simulator_state pair_simulator_state(const struct pair *pair);

/* What the simulator shall be told of the sets in force, those of a model of dynamics (NULL:
 * none are kept) beside those of travel times. Returns whether any ever was. */
bool pair_write_parameters(struct json_writer *w, const struct pair *pair,
                           const struct pair_params *p, const struct parameter_book *dynamics);

#endif
