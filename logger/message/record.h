/* logger/message/record.h - the records that lab_step() makes of events: entries and alarms.
 *
 * Plain data with deterministic identity (pair, number): the same events give the same records,
 * so that none is stored twice. Pure.
 */
#ifndef LOGGER_MESSAGE_RECORD_H
#define LOGGER_MESSAGE_RECORD_H

#include "base/text/names.h"
#include "logger/message/event.h"

/* Which robot was first, by the laps: docs/protocol/entry.md. Reports keep this order. */
/* clang-format off */
#define VERDICTS(X)                                                                            \
    X(VERDICT_AHEAD, "AHEAD") /* the virtual robot was faster */                               \
    X(VERDICT_BEHIND, "BEHIND") /* the virtual robot was slower */                             \
    X(VERDICT_SYNC, "SYNC") /* within the tolerance of each other */                           \
    /* beyond the tolerance, but within what transport and clocks explain */                   \
    X(VERDICT_UNRESOLVED, "UNRESOLVED")                                                        \
    X(VERDICT_TIMEOUT, "TIMEOUT") /* timeout_real or timeout_virtual is the side */            \
    /* the real robot was absent, or halted before sending: nothing to compare */              \
    X(VERDICT_VIRTUAL_ONLY, "VIRTUAL_ONLY")                                                    \
    X(VERDICT_REAL_ONLY, "REAL_ONLY") /* the same of the virtual robot */                      \
    /* too many open commands: not observed; in link mode not sent */                          \
    X(VERDICT_OVERFLOW, "OVERFLOW")                                                            \
    X(VERDICT_HALTED, "HALTED") /* link mode: a halt came before it was sent */
/* clang-format on */

enum verdict { VERDICTS(NAMES_VALUE) VERDICT_COUNT };

/* Do the two replies agree? */
/* clang-format off */
#define CONSISTENCIES(X)                                                                       \
    X(CONSISTENCY_UNKNOWN, "unknown") /* one or both did not answer in time: nothing to compare */ \
    X(CONSISTENT, "true")                                                                      \
    X(INCONSISTENT, "false")
/* clang-format on */

enum consistency { CONSISTENCIES(NAMES_VALUE) CONSISTENCY_COUNT };

/* Messages of the entry that may not belong to it: the command may have been delivered before,
 * or a reply may answer another command. */
/* clang-format off */
#define ENTRY_AMBIGUITIES(X)                                                                   \
    X(ENTRY_SURE, "sure")                                                                      \
    X(ENTRY_AMBIGUOUS_COMMAND, "command")                                                      \
    X(ENTRY_AMBIGUOUS_REAL, "real")                                                            \
    X(ENTRY_AMBIGUOUS_VIRTUAL, "virtual")                                                      \
    X(ENTRY_AMBIGUOUS_BOTH, "both")
/* clang-format on */

enum entry_ambiguity { ENTRY_AMBIGUITIES(NAMES_VALUE) ENTRY_AMBIGUITY_COUNT };

/* Filters of lists of entries: a verdict, or inconsistent entries. */
enum { ENTRY_FILTER_INCONSISTENT = VERDICT_COUNT, ENTRY_FILTER_COUNT };

/* clang-format off */
#define ALARM_TYPES(X)                                                                               \
    X(ALARM_TYPE_TIMEOUT, "timeout") /* a side did not answer in time */                             \
    X(ALARM_TYPE_INCONSISTENT, "inconsistent") /* the two replies differ in status or values */      \
    X(ALARM_TYPE_DUPLICATE, "duplicate") /* this side had already answered this command */           \
    X(ALARM_TYPE_LATE, "late") /* the command was closed as TIMEOUT */                               \
    X(ALARM_TYPE_OUT_OF_CONTEXT, "out_of_context") /* no such command */                             \
    X(ALARM_TYPE_MALFORMED, "malformed") /* not of the protocol */                                   \
    /* a side's command queue, or the outstanding commands, are full */                              \
    X(ALARM_TYPE_QUEUE_OVERFLOW, "queue_overflow")                                                   \
    X(ALARM_TYPE_OFFLINE, "offline") /* a robot went away */                                         \
    X(ALARM_TYPE_REBOOT, "reboot") /* a robot restarted */                                           \
    X(ALARM_TYPE_CLOCK_JUMP, "clock_jump") /* a robot's clock was set, or the machine's */                             \
    X(ALARM_TYPE_DRIFT, "drift") /* travel times changed */                                          \
    X(ALARM_TYPE_PARAMETERS, "parameters") /* the simulator refused parameters */                    \
    /* the simulator refused a pose correction, or did not answer */                                 \
    X(ALARM_TYPE_CORRECTION, "correction")                                                           \
    /* the simulated robot can no longer be driven after the real one, or can again */               \
    X(ALARM_TYPE_FOLLOWING, "following")                                                             \
    X(ALARM_TYPE_FIDELITY, "fidelity") /* the simulated motion is less accurate than required, or again accurate */ \
    X(ALARM_TYPE_LOST, "lost") /* messages were lost, or may have been */                            \
    /* a message may be a redelivery, or a reply may belong to several commands */                   \
    X(ALARM_TYPE_AMBIGUOUS, "ambiguous")                                                             \
    X(ALARM_TYPE_ROBOT_ERROR, "robot_error") /* a robot reports that something is wrong with it */   \
    X(ALARM_TYPE_ESTOP, "estop") /* its emergency stop was pressed */                                \
    X(ALARM_TYPE_MODE, "mode") /* its operating mode has changed */                                  \
    X(ALARM_TYPE_CONTRADICTION, "contradiction") /* its behaviour contradicts the lab file */
/* clang-format on */

enum alarm_type { ALARM_TYPES(NAMES_VALUE) ALARM_TYPE_COUNT };

/* Alarms of the lab itself or of a team, which no pair counts. STORAGE: journal, store or disk
 * have a problem. TEAM: the detail names the cause. Lists of alarms may be filtered by them,
 * too. */
enum { ALARM_TYPE_STORAGE = ALARM_TYPE_COUNT, ALARM_TYPE_TEAM, ALARM_FILTER_COUNT };

/* The reason of an alarm: its code, which never changes even if its sentence is reworded, and
 * its type. The codes of team alarms are the names of enum team_alarm. */
/* clang-format off */
#define ALARM_CODES(X)                                                                         \
    X(ALARM_NO_REPLY, "no_reply", ALARM_TYPE_TIMEOUT)                                          \
    X(ALARM_REPLIES_DIFFER, "replies_differ", ALARM_TYPE_INCONSISTENT)                         \
    X(ALARM_COMMAND_REPEATED, "command_repeated", ALARM_TYPE_DUPLICATE)                        \
    X(ALARM_COMMAND_ID_REUSED, "command_id_reused", ALARM_TYPE_DUPLICATE)                      \
    X(ALARM_REPLY_REPEATED, "reply_repeated", ALARM_TYPE_DUPLICATE)                            \
    X(ALARM_REPLY_LATE, "reply_late", ALARM_TYPE_LATE)                                         \
    X(ALARM_REPLY_AFTER_CLOSE, "reply_after_close", ALARM_TYPE_LATE)                           \
    X(ALARM_REPLY_TO_REFUSED, "reply_to_refused", ALARM_TYPE_LATE)                             \
    X(ALARM_REPLY_UNKNOWN_ID, "reply_unknown_id", ALARM_TYPE_OUT_OF_CONTEXT)                   \
    X(ALARM_REPLY_WITHOUT_COMMAND, "reply_without_command", ALARM_TYPE_OUT_OF_CONTEXT)         \
    X(ALARM_REPLY_UNASKED, "reply_unasked", ALARM_TYPE_OUT_OF_CONTEXT)                         \
    X(ALARM_REPLY_EARLY, "reply_early", ALARM_TYPE_OUT_OF_CONTEXT)                             \
    X(ALARM_MALFORMED_MESSAGE, "malformed_message", ALARM_TYPE_MALFORMED)                      \
    X(ALARM_OUTSTANDING_FULL, "outstanding_full", ALARM_TYPE_QUEUE_OVERFLOW)                   \
    X(ALARM_REAL_QUEUE_FULL, "real_queue_full", ALARM_TYPE_QUEUE_OVERFLOW)                     \
    X(ALARM_VIRTUAL_QUEUE_FULL, "virtual_queue_full", ALARM_TYPE_QUEUE_OVERFLOW)               \
    X(ALARM_COMMAND_TOO_LONG, "command_too_long", ALARM_TYPE_QUEUE_OVERFLOW)                   \
    X(ALARM_ROBOT_OFFLINE, "robot_offline", ALARM_TYPE_OFFLINE)                                \
    X(ALARM_BOOT_CHANGED, "boot_changed", ALARM_TYPE_REBOOT)                                   \
    X(ALARM_SEQ_RESTARTED, "seq_restarted", ALARM_TYPE_REBOOT)                                 \
    X(ALARM_CLOCK_SET, "clock_set", ALARM_TYPE_CLOCK_JUMP)                                     \
    X(ALARM_DRIFT_DELAY, "drift_delay", ALARM_TYPE_DRIFT)                                      \
    X(ALARM_DRIFT_SPEED, "drift_speed", ALARM_TYPE_DRIFT)                                      \
    X(ALARM_DRIFT_MOVE_TIME, "drift_move_time", ALARM_TYPE_DRIFT)                              \
    X(ALARM_DRIFT_DYNAMICS, "drift_dynamics", ALARM_TYPE_DRIFT)                                \
    X(ALARM_DRIFT_BETWEEN_FITS, "drift_between_fits", ALARM_TYPE_DRIFT)                        \
    X(ALARM_PARAMETERS_REFUSED, "parameters_refused", ALARM_TYPE_PARAMETERS)                   \
    X(ALARM_FIT_FAILED, "fit_failed", ALARM_TYPE_PARAMETERS)                                   \
    X(ALARM_FIT_CANCELLED, "fit_cancelled", ALARM_TYPE_PARAMETERS)                             \
    X(ALARM_FIT_TIMEOUT, "fit_timeout", ALARM_TYPE_PARAMETERS)                                 \
    X(ALARM_TELEMETRY_MISMATCH, "telemetry_mismatch", ALARM_TYPE_PARAMETERS)                   \
    X(ALARM_POSE_REFUSED, "pose_refused", ALARM_TYPE_CORRECTION)                               \
    X(ALARM_POSE_UNANSWERED, "pose_unanswered", ALARM_TYPE_CORRECTION)                         \
    X(ALARM_FOLLOWING_UNCONFIGURED, "following_unconfigured", ALARM_TYPE_FOLLOWING)            \
    X(ALARM_FOLLOWING_NOT_READY, "following_not_ready", ALARM_TYPE_FOLLOWING)                  \
    X(ALARM_FOLLOWING_RESUMED, "following_resumed", ALARM_TYPE_FOLLOWING)                      \
    X(ALARM_FOLLOWING_ENDED, "following_ended", ALARM_TYPE_FOLLOWING)                          \
    X(ALARM_REAL_TELEMETRY_STALE, "real_telemetry_stale", ALARM_TYPE_FOLLOWING)                \
    X(ALARM_VIRTUAL_TELEMETRY_STALE, "virtual_telemetry_stale", ALARM_TYPE_FOLLOWING)          \
    X(ALARM_MODEL_RESET, "model_reset", ALARM_TYPE_FOLLOWING)                                  \
    X(ALARM_GAINS_REFUSED, "gains_refused", ALARM_TYPE_FOLLOWING)                              \
    X(ALARM_FIDELITY_MISSED, "fidelity_missed", ALARM_TYPE_FIDELITY)                           \
    X(ALARM_FIDELITY_MET, "fidelity_met", ALARM_TYPE_FIDELITY)                                 \
    X(ALARM_COMMAND_SEQ_GAP, "command_seq_gap", ALARM_TYPE_LOST)                               \
    X(ALARM_COMMAND_COUNT_GAP, "command_count_gap", ALARM_TYPE_LOST)                           \
    X(ALARM_MESSAGES_MISSING, "messages_missing", ALARM_TYPE_LOST)                             \
    X(ALARM_SESSION_LOST, "session_lost", ALARM_TYPE_LOST)                                     \
    X(ALARM_COMMAND_AMBIGUOUS, "command_ambiguous", ALARM_TYPE_AMBIGUOUS)                      \
    X(ALARM_REPLY_AMBIGUOUS, "reply_ambiguous", ALARM_TYPE_AMBIGUOUS)                          \
    X(ALARM_REPLY_ORDER_AMBIGUOUS, "reply_order_ambiguous", ALARM_TYPE_AMBIGUOUS)              \
    X(ALARM_ROBOT_ERROR, "robot_error", ALARM_TYPE_ROBOT_ERROR)                                \
    X(ALARM_EMERGENCY_STOP, "emergency_stop", ALARM_TYPE_ESTOP)                                \
    X(ALARM_MODE_CHANGED, "mode_changed", ALARM_TYPE_MODE)                                     \
    X(ALARM_CONTRADICTION, "contradiction", ALARM_TYPE_CONTRADICTION)                          \
    X(ALARM_MOTION_TOO_LONG, "motion_too_long", ALARM_TYPE_CONTRADICTION)                      \
    X(ALARM_JOURNAL_REMOVED, "journal_removed", ALARM_TYPE_STORAGE)                            \
    X(ALARM_JOURNAL_DOWN, "journal_down", ALARM_TYPE_STORAGE)                                  \
    X(ALARM_SPACE_LOW, "space_low", ALARM_TYPE_STORAGE)                                        \
    X(ALARM_STORE_REMOVED, "store_removed", ALARM_TYPE_STORAGE)                                \
    X(ALARM_STORE_LACKS, "store_lacks", ALARM_TYPE_STORAGE)                                    \
    X(ALARM_ENGINE_TAKEN, "engine_taken", ALARM_TYPE_STORAGE)                                  \
    X(ALARM_ENGINE_WENT_BACK, "engine_went_back", ALARM_TYPE_STORAGE)                          \
    X(ALARM_ENGINE_NOT_DURABLE, "engine_not_durable", ALARM_TYPE_STORAGE)                      \
    X(ALARM_STORE_DOWN, "store_down", ALARM_TYPE_STORAGE)                                      \
    X(ALARM_STORE_DIFFERS, "store_differs", ALARM_TYPE_STORAGE)                                \
    X(ALARM_STORE_REFUSES, "store_refuses", ALARM_TYPE_STORAGE)                                \
    X(ALARM_CLOCK_STEPPED, "clock_stepped", ALARM_TYPE_CLOCK_JUMP)                             \
    X(ALARM_MACHINE_SUSPENDED, "machine_suspended", ALARM_TYPE_CLOCK_JUMP)
/* clang-format on */

#define ALARM_CODE_VALUE(value, name, type) value,
enum alarm_code { ALARM_CODES(ALARM_CODE_VALUE) ALARM_CODE_COUNT };

enum { ENTRY_DIFFERS_MAX = 160 };

/* For a pair of arms; all zero otherwise. NaN: unknown. */
struct entry_arm {
    bool known;
    double gap_end_mm, gap_max_mm;    /* between both tools: at the end, at most on the way */
    double path_error_mm[SIDE_COUNT]; /* maximum distance of a tool from its straight line */
};

/* The prediction of a quantity, made when the command was sent, at 95 %; LAB_TIME_NONE: no
 * forecast, or this end is not known. */
struct entry_forecast {
    int64_t expected_us, low_us, high_us;
};

enum { ENTRY_FORECAST_REAL, ENTRY_FORECAST_LAG, ENTRY_FORECASTS };

enum entry_part { ENTRY_TRANSPORT, ENTRY_WAITING, ENTRY_MOTION, ENTRY_PACE, ENTRY_PARTS };

/* The cause of a lag that was not expected; the parts in the order of enum entry_part. */
enum entry_explained {
    ENTRY_UNDECIDED, /* it was expected */
    ENTRY_BY_TRANSPORT,
    ENTRY_BY_WAITING,
    ENTRY_BY_MOTION,
    ENTRY_BY_PACE,
    ENTRY_NOT_EXPLAINED,
    ENTRY_BY_CLOCK, /* a robot's clock was set: its times cannot be */
    ENTRY_EXPLAINED_COUNT
};

/* The parts of the unexpected lag; LAB_TIME_NONE: not reported. All zero: there are none. */
struct entry_parts {
    bool known;
    int64_t excess_us, part_us[ENTRY_PARTS], rest_us; /* excess = parts + rest */
    enum entry_explained explained;
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
    int64_t wait_us[SIDE_COUNT];   /* time in this side's queue before the lap; link mode */
    int64_t motion_us[SIDE_COUNT]; /* by the robot's own clock; or LAB_TIME_NONE */
    int64_t
        transport_us[SIDE_COUNT]; /* delay of the reply beyond the fastest; or LAB_TIME_NONE */
    bool clock_set[SIDE_COUNT];   /* its stamps cannot be: a reply was under way for longer than
                                     its lap */
    bool answered[SIDE_COUNT];
    enum reply_status status[SIDE_COUNT];        /* when answered */
    char version[SIDE_COUNT][EVENT_VERSION_MAX]; /* of the program that replied, or got the
                                                    command; "": unknown */
    bool timed_out[SIDE_COUNT];
    bool uncalibrated[SIDE_COUNT]; /* its duration must not be used for calibration */
    int64_t lag_us; /* real lap - virtual lap; LAB_TIME_NONE unless both answered */
    /* The lag without the network's share, if the verdict rests on it; or LAB_TIME_NONE. */
    int64_t judged_lag_us;
    int64_t lag_uncertainty_us; /* 95 %, from transport and clocks; or LAB_TIME_NONE */
    int64_t interrupted_us; /* > 0: Tandem was not receiving for up to this long, so times are
                               its own */
    enum entry_ambiguity ambiguous;
    double virtual_pace;    /* the simulator's real-time factor; NaN: unknown */
    bool explained_by_pace; /* AHEAD or BEHIND would be SYNC at pace 1 */
    enum verdict verdict;
    enum consistency consistency;
    char differs[ENTRY_DIFFERS_MAX]; /* differences, if INCONSISTENT; else "" */
    /* Members of the later reply outside `values`, which were not compared; "": none. */
    char not_compared[EVENT_DETAIL_MAX];
    /* Number of the pose correction sent to the simulator; 0: none. */
    uint64_t correction;
    double correction_m, correction_rad; /* distance and turn of the correction */
    struct entry_forecast forecast[ENTRY_FORECASTS];
    struct entry_parts parts;
    struct entry_arm arm;
    /* A team's command: its job ("": none) and tasks. team "": not a team's. */
    char team[EVENT_PAIR_MAX], job[EVENT_ID_MAX], task[2 * EVENT_TEAM_NAME_MAX];
};

enum { ALARM_DETAIL_MAX = 200 };

struct alarm {
    uint32_t pair;
    uint64_t n; /* number of this alarm in its pair, from 1 */
    int64_t t_us;
    int64_t since_us; /* when the reported change began; 0: unknown */
    enum alarm_type type;
    const char *code;      /* "reply_late" …, static; for a team "deadlock" … */
    enum side side;        /* SIDE_COUNT: none */
    char id[EVENT_ID_MAX]; /* the command concerned, or "" */
    uint64_t suppressed;   /* alarms of this type dropped by the rate limit since the last */
    char detail[ALARM_DETAIL_MAX];
};

ENUM_NAMES_DECLARED(verdict);                 /* "AHEAD" … */
ENUM_NAMES_DECLARED(entry_ambiguity);         /* "sure", "command" … */
ENUM_NAMES_DECLARED(entry_explained);         /* "transport" ... */
ENUM_NAMES_DECLARED(consistency);             /* "unknown", "true", "false" */
extern const struct names entry_filter_names; /* those of the verdicts, and "INCONSISTENT" */
extern const struct names alarm_type_names;
extern const struct names alarm_filter_names;      /* and "storage", "team" */
const char *alarm_type_name(enum alarm_type type); /* "timeout" … "storage" */
ENUM_NAMES_DECLARED(alarm_code);                   /* "no_reply" … */
enum alarm_type alarm_code_type(enum alarm_code code);

#endif
