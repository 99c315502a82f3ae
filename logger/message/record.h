/* logger/message/record.h - what lab_step() says about what happened: entries and alarms.
 *
 * Plain data with deterministic identity (pair, number): the same events give the same
 * records, so that none can be stored twice. Pure.
 */
#ifndef LOGGER_MESSAGE_RECORD_H
#define LOGGER_MESSAGE_RECORD_H

#include "base/names.h"
#include "logger/message/event.h"

/* Who was first, by the laps: docs/protocol.md, "Verdicts". The order is that of the reports.
 */
/* clang-format off */
#define VERDICTS(X)                                                                            \
    X(VERDICT_AHEAD, "AHEAD") /* the virtual robot was faster */                               \
    X(VERDICT_BEHIND, "BEHIND") /* the virtual robot was slower */                             \
    X(VERDICT_SYNC, "SYNC") /* within the tolerance of each other */                           \
    /* beyond the tolerance, but less than transport and clocks explain */                     \
    X(VERDICT_UNRESOLVED, "UNRESOLVED")                                                        \
    X(VERDICT_TIMEOUT, "TIMEOUT") /* timeout_real or timeout_virtual says which side */        \
    /* the real robot was absent, or halted before it was sent there: nothing to compare */    \
    X(VERDICT_VIRTUAL_ONLY, "VIRTUAL_ONLY")                                                    \
    X(VERDICT_REAL_ONLY, "REAL_ONLY") /* the same of the virtual robot */                      \
    /* too many commands were open: not followed, in link mode not sent */                     \
    X(VERDICT_OVERFLOW, "OVERFLOW")                                                            \
    X(VERDICT_HALTED, "HALTED") /* link mode: a halt came before it was sent */
/* clang-format on */

enum verdict { VERDICTS(NAMES_VALUE) VERDICT_COUNT };

/* Do the two replies say the same? */
/* clang-format off */
#define CONSISTENCIES(X)                                                                       \
    X(CONSISTENCY_UNKNOWN, "unknown") /* not both answered in time: nothing to compare */      \
    X(CONSISTENT, "true")                                                                      \
    X(INCONSISTENT, "false")
/* clang-format on */

enum consistency { CONSISTENCIES(NAMES_VALUE) CONSISTENCY_COUNT };

/* Of which of its messages nothing tells whether they belong to it: the command may have been
 * delivered before, a side's reply may be another command's. */
/* clang-format off */
#define ENTRY_AMBIGUITIES(X)                                                                   \
    X(ENTRY_SURE, "sure")                                                                      \
    X(ENTRY_AMBIGUOUS_COMMAND, "command")                                                      \
    X(ENTRY_AMBIGUOUS_REAL, "real")                                                            \
    X(ENTRY_AMBIGUOUS_VIRTUAL, "virtual")                                                      \
    X(ENTRY_AMBIGUOUS_BOTH, "both")
/* clang-format on */

enum entry_ambiguity { ENTRY_AMBIGUITIES(NAMES_VALUE) ENTRY_AMBIGUITY_COUNT };

/* What lists of entries may be asked for: a verdict, or those that are not consistent. */
enum { ENTRY_FILTER_INCONSISTENT = VERDICT_COUNT, ENTRY_FILTER_COUNT };

/* clang-format off */
#define ALARM_TYPES(X)                                                                         \
    X(ALARM_TIMEOUT, "timeout") /* a side did not answer in time */                            \
    X(ALARM_INCONSISTENT, "inconsistent") /* the two replies differ in status or values */     \
    X(ALARM_DUPLICATE, "duplicate") /* this side has answered this command before */           \
    X(ALARM_LATE, "late") /* the command was closed as TIMEOUT */                              \
    X(ALARM_OUT_OF_CONTEXT, "out_of_context") /* no such command */                            \
    X(ALARM_MALFORMED, "malformed") /* not of the protocol */                                  \
    /* a side's command queue, or the outstanding commands, are full */                        \
    X(ALARM_QUEUE_OVERFLOW, "queue_overflow")                                                  \
    X(ALARM_OFFLINE, "offline") /* a robot went away */                                        \
    X(ALARM_REBOOT, "reboot") /* a robot started anew */                                       \
    X(ALARM_CLOCK_JUMP, "clock_jump") /* a robot's clock was set */                            \
    X(ALARM_DRIFT, "drift") /* travel times changed */                                         \
    X(ALARM_PARAMETERS, "parameters") /* the simulator refused parameters */                   \
    /* the simulator refused to be put where the real robot stands, or did not answer */       \
    X(ALARM_CORRECTION, "correction")                                                          \
    /* the simulated robot cannot be driven after the real one, or can again */                \
    X(ALARM_FOLLOWING, "following")                                                            \
    X(ALARM_FIDELITY, "fidelity") /* it does not move as truly as it should, or does again */  \
    X(ALARM_LOST, "lost") /* messages are missing, or may be */ \
    /* a message may have been here before, or a reply belong to several commands */           \
    X(ALARM_AMBIGUOUS, "ambiguous")                                                            \
    X(ALARM_ROBOT_ERROR, "robot_error") /* a robot says that something is wrong with it */     \
    X(ALARM_ESTOP, "estop")             /* its emergency stop was pressed */                    \
    X(ALARM_MODE, "mode")               /* who drives it has changed */                         \
    X(ALARM_CONTRADICTION, "contradiction") /* it does not as the lab file says of it */
/* clang-format on */

enum alarm_type { ALARM_TYPES(NAMES_VALUE) ALARM_TYPE_COUNT };

/* Of the lab itself, or of a team, so that no pair counts them: journal, store or their disk
 * are not as they should be; what a team's alarm is about stands in its detail. Lists of alarms
 * may be asked for them, too. */
enum { ALARM_STORAGE = ALARM_TYPE_COUNT, ALARM_TEAM, ALARM_FILTER_COUNT };

enum { ENTRY_DIFFERS_MAX = 160 };

/* Of a pair of arms; all zero: it is none. NaN: not known. */
struct entry_arm {
    bool known;
    double gap_end_mm, gap_max_mm;    /* between both tools: at the end, at most on the way */
    double path_error_mm[SIDE_COUNT]; /* of a line: its tool off it, at most */
};

struct entry {
    uint32_t pair; /* index in the lab */
    uint64_t n;    /* number of this entry in its pair, from 1 */
    char id[EVENT_ID_MAX];
    char op[EVENT_OP_MAX];
    int64_t t_us; /* lab time of the command */
    double rotation_rad;
    double displacement_m;
    int64_t lap_us[SIDE_COUNT];    /* command to reply; LAB_TIME_NONE: none */
    int64_t wait_us[SIDE_COUNT];   /* in this side's queue, before the lap began; link mode */
    int64_t motion_us[SIDE_COUNT]; /* on the robot's own clock; or LAB_TIME_NONE */
    int64_t
        transport_us[SIDE_COUNT]; /* delay of the reply beyond the fastest; or LAB_TIME_NONE */
    bool answered[SIDE_COUNT];
    enum reply_status status[SIDE_COUNT]; /* when answered */
    bool timed_out[SIDE_COUNT];
    bool uncalibrated[SIDE_COUNT]; /* its time tells nothing of how long moves take */
    int64_t lag_us;             /* real lap - virtual lap; LAB_TIME_NONE unless both answered */
    int64_t lag_uncertainty_us; /* 95 %, from transport and clocks; or LAB_TIME_NONE */
    int64_t
        interrupted_us; /* > 0: Tandem was not listening for up to so long, times are its own */
    enum entry_ambiguity ambiguous;
    double virtual_pace;    /* the simulator's real-time factor; NaN: not known */
    bool explained_by_pace; /* AHEAD or BEHIND would be SYNC at pace 1 */
    enum verdict verdict;
    enum consistency consistency;
    char differs[ENTRY_DIFFERS_MAX]; /* in what, when INCONSISTENT; "" */
    /* The simulator was told where the real robot stands: this correction's number; 0: not. */
    uint64_t correction;
    double correction_m, correction_rad; /* how far it stood from there; the turn to it */
    struct entry_arm arm;
    /* A team's command: for which of its jobs ("": none) and tasks. team "": nobody's. */
    char team[EVENT_PAIR_MAX], job[EVENT_ID_MAX], task[2 * EVENT_TEAM_NAME_MAX];
};

enum { ALARM_DETAIL_MAX = 200 };

struct alarm {
    uint32_t pair;
    uint64_t n; /* number of this alarm in its pair, from 1 */
    int64_t t_us;
    enum alarm_type type;
    enum side side;        /* SIDE_COUNT: none */
    char id[EVENT_ID_MAX]; /* the command concerned, or "" */
    uint64_t suppressed; /* alarms of this type not recorded since the last one (rate limit) */
    char detail[ALARM_DETAIL_MAX];
};

extern const struct names verdict_names;
const char *verdict_name(enum verdict verdict); /* "AHEAD" … */
extern const struct names entry_ambiguity_names;
const char *entry_ambiguity_name(enum entry_ambiguity ambiguity); /* "sure", "command" … */
extern const struct names consistency_names;
const char *consistency_name(enum consistency consistency); /* "unknown", "true", "false" */
extern const struct names entry_filter_names; /* those of the verdicts, and "INCONSISTENT" */
extern const struct names alarm_type_names;
extern const struct names alarm_filter_names;      /* and "storage", "team" */
const char *alarm_type_name(enum alarm_type type); /* "timeout" … "storage" */

#endif
