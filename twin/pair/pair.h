/* twin/pair/pair.h - one real robot and its virtual twin: the complete state of a pair.
 *
 * It is composed of parts with one purpose each: link and smart logger
 * (twin/pair/pair_machines.h), clock maps, travel-time calibrators. struct pair is plain data
 * without pointers: it is copied for readers and saved in checkpoints unchanged. Its open
 * commands are in separate slots, which it finds by their distance, because most pairs use at
 * most one of their many slots. Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_PAIR_PAIR_H
#define TWIN_PAIR_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"
#include "identification/travel/forecast.h"
#include "identification/travel/profile_fit.h"
#include "logger/message/record.h"
#include "twin/efsm/efsm.h"
#include "twin/pair/lag_parts.h"
#include "twin/pair/pair_params.h"
#include "twin/pair/parameters.h"

enum {
    PAIR_RECENT = 50,     /* stored verdicts */
    PAIR_LAGS = 24,       /* lags that a summary shows */
    PAIR_CLOSED_MAX = 32, /* stored closed commands, to explain odd replies */
    PAIR_PROBES = 8,      /* the last ones, with their send times */
    PAIR_VALUES_MAX = 16, /* values of the first reply that are compared */
    /* The virtual robot's moves under the sets in force; fewer do not support a fit. */
    PAIR_VIRTUAL_MOVES_MIN = 10,
    PAIR_NO_TRANSPORT = 1 << 0,
    PAIR_NO_MOTION = 1 << SIDE_COUNT,
    PAIR_ETA_MAX = 6 * EVENT_ID_MAX + 256, /* bytes of a published forecast */
    PAIR_PARAMETERS_MAX = 4096             /* bytes of the parameters message to a simulator */
};

/* One value of a reply for comparison: struct event_value without its name. */
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
    int place;      /* number k of this slot, bit k of open_mask */
    struct efsm logger;
    char id[EVENT_ID_MAX];
    char op[EVENT_OP_MAX];
    double rotation_rad, displacement_m;
    int64_t t_us;               /* lab time of the command */
    bool expected[SIDE_COUNT];  /* this side must answer */
    bool sent[SIDE_COUNT];      /* it was sent (observe mode: at once) */
    bool withdrawn[SIDE_COUNT]; /* link mode: a halt came first, so it is not expected any more
                                 */
    int64_t sent_us[SIDE_COUNT];
    int64_t paused_us[SIDE_COUNT]; /* time of pauses, which the timeout does not count */
    bool delivered[SIDE_COUNT]; /* observe mode: this side received it */
    bool answered[SIDE_COUNT];
    bool timed_out[SIDE_COUNT];
    int64_t reply_us[SIDE_COUNT];
    int64_t motion_us[SIDE_COUNT];    /* LAB_TIME_NONE: unknown */
    int64_t transport_us[SIDE_COUNT]; /* LAB_TIME_NONE: unknown */
    double clock_sd_us[SIDE_COUNT];   /* NaN: unknown */
    uint8_t status[SIDE_COUNT];       /* enum reply_status */
    /* The command, or a side's reply, may not belong to this entry. */
    bool command_ambiguous, ambiguous[SIDE_COUNT];
    bool unwatched;                /* the deadline passed while Tandem did not receive */
    bool uncalibrated[SIDE_COUNT]; /* its robot marked this move as unusable for calibration */
    int64_t away_us;       /* > 0: command or reply may have waited for up to this time */
    uint8_t consistency;   /* enum consistency */
    uint8_t value_count;   /* of the first reply */
    bool late[SIDE_COUNT]; /* the predicted end has passed; only if forecasts are published */
    struct forecast_made forecast;       /* made when it was sent */
    uint8_t value_kind[PAIR_VALUES_MAX]; /* enum value_kind */
    struct pair_value value[PAIR_VALUES_MAX];
};

/* Additional data in link mode, behind the slot. */
struct pair_relay {
    struct efsm link;
    uint16_t raw_bytes;
    char raw[EVENT_RAW_MAX]; /* the command's payload */
};

/* A closed command, retained to explain late replies. */
struct pair_closed {
    uint64_t id_hash; /* 0: it had no id */
    bool answered[SIDE_COUNT], timed_out[SIDE_COUNT];
    bool refused; /* VERDICT_OVERFLOW */
};

struct pair_move { /* A row of the calibration window. */
    int64_t t_us;
    double rotation_rad, displacement_m;
    float lap_s[SIDE_COUNT]; /* motion time if known, else lap; NaN: not usable */
    /* For forecasts: laps at arrival, also of moves that no fit uses; infinite: timed out; NaN:
     * none. */
    float arrival_lap_s[SIDE_COUNT];
    /* Arms: commanded rates, divided by the move's size. */
    float speed, acceleration; /* 1/s, 1/s^2 */
    uint32_t kind;             /* enum profile_class */
};

/* Versions of a robot's program; "": unknown. */
struct pair_version {
    char sent[EVENT_VERSION_MAX];   /* by its connection: it decides */
    char stated[EVENT_VERSION_MAX]; /* by the lab file, as the journal has it */
    char before[EVENT_VERSION_MAX]; /* in force before the last change */
    bool is_stated;                 /* else the journal has none: the lab file's */
    int64_t since_us;               /* lab time of the last change */
};

/* State of one side. The members used by every message come first. */
struct pair_side {
    bool seen;  /* any message was received */
    bool known; /* its connection topic was received */
    bool online;
    char boot[EVENT_BOOT_MAX];
    int8_t busy_slot; /* link mode: slot of the running command, -1 none */
    uint8_t nu_count, pose_count;
    int64_t seen_us; /* last message */
    int64_t idle_us; /* last time that a command came while no reply was owed */
    int64_t next_probe_us;
    int64_t last_seq;     /* telemetry; -1 none */
    uint64_t seq_missing; /* samples lost by gaps in seq */
    bool other_unit;      /* its last motion was no time in seconds */
    bool paused;          /* its telemetry said at paused_us that its move waits */
    int64_t paused_us;
    bool counts;          /* the robot reports how many commands it has received: */
    int64_t ahead;        /* its count minus ours, at its last reply */
    uint64_t excused;     /* malformed commands that it may have counted by then */
    uint64_t telemetry;
    double nu[EVENT_AXES_MAX], pose[EVENT_AXES_MAX];
    struct clock_map clock;
    struct pace pace;
    int64_t probe; /* number of the last probe, and the send times of the last ones: */
    int64_t probe_sent_us[PAIR_PROBES];
    uint64_t moves,
        moves_excluded; /* usable for calibration, and unusable (timeouts, errors …) */
    struct travel_kalman kalman;
    struct pair_version version;
};

struct pair_judged {
    uint8_t verdict, consistency; /* enum verdict, enum consistency */
};

struct pair_counts {
    uint64_t commands, replies, entries, redelivered;
    uint64_t values_omitted; /* values of replies that did not fit for comparison */
    uint64_t ambiguous;      /* ambiguous entries */
    uint64_t verdict[VERDICT_COUNT];
    uint64_t consistency[CONSISTENCY_COUNT]; /* over the same entries */
    uint64_t
        alarm[ALARM_TYPE_COUNT]; /* every occurrence, also those that the rate limit dropped */
    uint64_t alarms;             /* recorded */
    uint64_t numbers_skipped;    /* numbers of entries, alarms and changes, each */
};

/* Pose corrections of the simulator (pair_correct.c). */
struct pair_correction {
    uint64_t sent, applied, refused, unanswered;
    uint64_t closed_order; /* 1 + order of the newest closed command; 0: none */
    int64_t awaited_us;    /* deadline of the last one's answer; LAB_TIME_MAX: none */
    bool reported;         /* its failure is reported, until it succeeds */
    char id[EVENT_ID_MAX]; /* id of the command that preceded the last one */
};

/* Additional state in link mode, behind the moves. */
struct pair_linked {
    struct efsm dispatch[SIDE_COUNT]; /* READY or BUSY */
    struct efsm_stats link_stats, dispatch_stats;
};

/* Rate limit of the alarms of one type. */
struct pair_alarm_rate {
    double tokens;
    int64_t t_us;        /* of the last alarm */
    uint32_t code;       /* enum alarm_code of the last alarm of a pair */
    uint32_t suppressed; /* since the last one that was recorded */
};

/* Members are ordered by frequency of use, because a lab of thousands of pairs does not fit
 * into the caches. */
struct pair {
    uint32_t index;
    uint32_t outstanding;
    uint64_t version;      /* changes with every step */
    int64_t deadline_us;   /* next deadline; LAB_TIME_MAX: none */
    uint64_t order;        /* number of commands so far */
    int64_t command_seq;   /* seq of the last command; -1: none */
    int64_t away_us;       /* > 0: new messages may have waited for this time */
    int64_t gap_us;        /* messages before this time may be missing; LAB_TIME_NONE: no */
    uint64_t open_mask;    /* bit k: slot k is in use */
    int64_t places;        /* bytes from here to its first slot, */
    size_t place_step;     /* and from one slot to the next */
    int64_t linked;        /* link mode: bytes from here to its struct pair_linked */
    uint32_t closed_count; /* total; ring */
    uint32_t since_published, since_proposed;
    uint32_t window_count, window_first;
    uint64_t window_version;  /* changes with the moves of the window */
    uint64_t changes;         /* recorded changes of parameter sets */
    uint64_t history;         /* recorded fits over time */
    int64_t history_since_us; /* time of the first one of travel times; LAB_TIME_NONE: none */
    int64_t history_us;       /* earliest time of the next one */
    /* The last entry with a lag has these. */
    int64_t last_lag_us, last_judged_lag_us, last_lag_uncertainty_us;
    int64_t last_entry_us;
    uint32_t recent_count;                  /* length of recent, at most PAIR_RECENT */
    struct pair_judged recent[PAIR_RECENT]; /* the last entries; ring, with the next index */
    uint32_t recent_next;                   /* here */
    double link_lag_cycles; /* D: cycles that the virtual robot lagged behind, all commands */
    struct pair_counts counts;
    struct efsm_stats logger_stats;
    struct efsm_trace trace;
    struct pair_closed closed[PAIR_CLOSED_MAX];
    struct pair_side side[SIDE_COUNT];
    struct pair_alarm_rate alarm_rate[ALARM_TYPE_COUNT];
    struct pair_correction correction;
    struct parameter_book parameters; /* sets of travel times */
    struct parameter_force force;     /* what the simulator acknowledged of them */
    /* Earlier moves show a differently parametrised virtual robot; LAB_TIME_NONE: none. */
    int64_t virtual_since_us;
    /* Since this time its parameters may differ from those acknowledged; LAB_TIME_NONE: no. */
    int64_t virtual_unsure_us;
    uint64_t malformed;       /* total of malformed commands: */
    uint64_t malformed_seq;   /* the same at the last command with a seq, */
    uint64_t malformed_order; /* and the number of commands before the last of them */
    bool ambiguous_seen;      /* an ambiguous message has come at some time */
    bool dynamics_sets_last;  /* the last promoted or rolled back set was of dynamics */
    bool eta_late;            /* the published forecast is of a late command: */
    uint64_t eta_order;       /* 1 + its order; 0: none */
    struct forecast forecast;
    struct lag_usual usual;
    uint8_t unmeasured; /* by the robots, at the last entry with parts: PAIR_NO_... << side */
    struct pair_move window[]; /* [p->window], window_count in use */
};

/* Size of a pair with these options, without its slots for open commands, a multiple of 64; and
 * the size of a slot, of which it has outstanding_max: a multiple of 8. */
size_t pair_bytes(const struct pair_params *p);
size_t pair_place_bytes(const struct pair_params *p);

/* Size of the used part: from the beginning to the last used move, plus the part behind the
 * window; the bytes between are zero. */
size_t pair_used_bytes(const struct pair *pair);
size_t pair_moved_bytes(const struct pair_params *p);

/* Returns whether an alarm, the count-th of its type, is recorded; else counts it as
 * suppressed. A flood then costs counters only. */
bool pair_alarm_allow(struct pair_alarm_rate *rate, uint64_t count, int64_t t_us);

/* pair: pair_bytes(p) bytes, aligned. Its slots are right behind it, until pair_set_places()
 * moves them; they need no initialisation. */
void pair_init(struct pair *pair, const struct pair_params *p, uint32_t index);

/* Sets the address of its first slot, in the same block of memory, and the bytes from one slot
 * to the next. */
void pair_set_places(struct pair *pair, const void *places, size_t step);

/* Size of a copy with only the used moves and slots; and the copy. */
size_t pair_copy_bytes(const struct pair *pair, const struct pair_params *p);
void pair_copy(void *to, const struct pair *pair, const struct pair_params *p);

/* Prefetches the memory that an event of this pair will touch, without waiting. places: its
 * first slot, so that the pair itself need not be read. */
void pair_fetch(const struct pair *pair, const struct pair_params *p, const void *places,
                const struct event *event);

/* Returns slot k. */
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

/* Advances *k to the next open command, starting at -1; false: none left. */
static inline bool pair_next_open(const struct pair *pair, int *k)
{
    const uint64_t left = *k + 1 < PAIR_OUTSTANDING_MAX ? pair->open_mask >> (*k + 1) : 0;
    *k += left ? 1 + __builtin_ctzll(left) : 0;
    return left != 0;
}

/* In link mode only. */
static inline struct pair_linked *pair_linked(struct pair *pair)
{
    return (struct pair_linked *)(void *)((char *)pair + pair->linked);
}

static inline const struct pair_linked *pair_look_linked(const struct pair *pair)
{
    const char *linked = (const char *)pair + pair->linked;
    return (const struct pair_linked *)(const void *)linked;
}

/* Returns the additional data of slot k, in link mode. */
const struct pair_relay *pair_relay(const struct pair *pair, int k);

/* Counts a redelivered message; nothing else. */
void pair_redelivered(struct pair *pair);

/* Link mode, after a run that was cut off: holds back waiting commands, because they may have
 * been sent. The replies that made room for them may be lost. */
void pair_withhold(struct pair *pair, int64_t t_us);

/* Link mode: open commands sent at since_us or later may have left up to away_us later. */
void pair_mark_sent(struct pair *pair, int64_t since_us, int64_t away_us);

/* Lists the usable moves of one side in the window, oldest first, into moves[PAIR_WINDOW_MAX];
 * returns their number. t_us: times of the first and last, if any. */
size_t pair_moves(const struct pair *pair, const struct pair_params *p, enum side side,
                  struct travel_move *moves, int64_t t_us[2]);

/* Does the same for arms. */
size_t pair_commanded_moves(const struct pair *pair, const struct pair_params *p,
                            enum side side, struct profile_move *moves, int64_t t_us[2]);

/* Returns the version of this side's program at that lab time: what its connection says, else
 * the lab file's; "": unknown. Of earlier versions only the last one is known. */
const char *pair_version_at(const struct pair *pair, const struct pair_params *p,
                            enum side side, int64_t t_us);
/* Does the journal have the version that the lab file states? */
bool pair_version_is_recorded(const struct pair *pair, const struct pair_params *p,
                              enum side side);
/* Lists the window's moves with a lap at arrival, oldest first; returns their number. */
size_t pair_forecast_moves(const struct pair *pair, const struct pair_params *p,
                           struct forecast_move moves[PAIR_WINDOW_MAX]);

/* Lists the newest lags of the window at arrival, oldest first, without moves that a robot did
 * not answer; returns their number. */
size_t pair_recent_lags(const struct pair *pair, const struct pair_params *p,
                        double lags_s[PAIR_LAGS]);

/* Writes the forecast of the command under way, as it is published at this time; {}: there is
 * none. */
void pair_write_eta(struct json_writer *w, const struct pair *pair, const struct pair_params *p,
                    int64_t t_us);

/* May a move of these sizes have a forecast? */
bool pair_forecast_sizes(double turn, double drive);

/* Fits of the window's moves for both sides. */
struct pair_fits {
    bool known[SIDE_COUNT]; /* the fit succeeded */
    bool commanded;         /* arms: commanded, with profile; else fit: */
    int64_t since_us[SIDE_COUNT], until_us[SIDE_COUNT]; /* of the moves, lab time */
    /* Version of the program that made the moves; "": unknown, or more than one. */
    char version[SIDE_COUNT][EVENT_VERSION_MAX];
    union {
        struct travel_fit fit[SIDE_COUNT];
        struct profile_fit profile[SIDE_COUNT];
    };
};

/* Fits the present window. Costs up to some milliseconds, so it must not run on the lab thread.
 * Pure, apart from GSL's allocations. */
void pair_fit_window(const struct pair *pair, const struct pair_params *p,
                     struct pair_fits *out);

/* Returns the simulator's state with respect to the travel times it was sent. */
enum simulator_state pair_simulator_state(const struct pair *pair);

/* Writes the parameters message for the simulator: the sets in force, those of travel times and
 * those of a model of dynamics (NULL: none). Returns whether there ever was one. */
bool pair_write_parameters(struct json_writer *w, const struct pair *pair,
                           const struct pair_params *p, const struct parameter_book *dynamics);

#endif
