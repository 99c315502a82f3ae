/* logger/message/event.h - one thing that happened, as plain data: the only input of
 * lab_step().
 *
 * logger/message/codec.h decodes an event from one journal line, live and in replay alike.
 * Pure: no I/O, no clock. Wire format: docs/protocol.md.
 */
#ifndef LOGGER_MESSAGE_EVENT_H
#define LOGGER_MESSAGE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"
#include "base/numbers/lab_time.h"
#include "base/text/names.h"

enum {
    EVENT_PAIR_MAX = 32,       /* bytes of a pair's id with its NUL */
    EVENT_ID_MAX = 48,         /* of a command's id */
    EVENT_OP_MAX = 16,         /* of an operation's name */
    EVENT_BOOT_MAX = 32,       /* of a boot mark */
    EVENT_DETAIL_MAX = 64,     /* of a robot's text with its reply or error, for people */
    EVENT_NAME_MAX = 32,       /* of a model's name */
    EVENT_VALUE_NAME_MAX = 48, /* of a reply value's name, or of its end */
    EVENT_RAW_MAX = 256,       /* bytes of a command that the link can hold and send on */
    EVENT_VALUES_MAX = 32,     /* values of a reply; further ones are counted, not compared */
    EVENT_AXES_MAX = 6,        /* of nu, tau and pose */
    EVENT_APPLIED_MAX = 32,    /* of an ack; further names are counted */
    EVENT_VERSION_MAX = 65,    /* of a robot's program, with its NUL */
    EVENT_TEAM_NAME_MAX = 32,  /* of a name within a team */
    EVENT_TEAM_WANT_MAX = 16   /* resources of one request to a team */
};

enum side { SIDE_REAL, SIDE_VIRTUAL, SIDE_COUNT };

/* clang-format off */
#define EVENT_KINDS(X)                                                                         \
    X(EVENT_TICK, "tick") /* time passed without a message: only t_us is set */                \
    /* L1's command (observe mode: the robots got it, too; with a side: that robot did) */     \
    X(EVENT_COMMAND, "command")                                                                \
    X(EVENT_REPLY, "reply") /* a robot's reply to a command */                                 \
    X(EVENT_TELEMETRY, "telemetry") /* one sample of a robot's motion */                       \
    X(EVENT_CONNECTION, "connection") /* a robot came or went (retained, last will) */         \
    X(EVENT_ECHO, "echo") /* a robot's answer to a clock probe */                              \
    X(EVENT_ACK, "ack") /* the simulator's answer to a parameter set */                        \
    X(EVENT_POSE_ACK, "pose_ack") /* the simulator's answer to a pose correction */            \
    X(EVENT_REQUEST, "request") /* a request about parameter sets, by HTTP */                  \
    X(EVENT_FIT, "fit") /* a requested fit of dynamics has ended */                            \
    X(EVENT_TEAM, "team") /* a request to a team: by a robot's own controller or a person */   \
    X(EVENT_MISSION, "mission") /* a mission for the pair's robot, or its cancelling */        \
    X(EVENT_FAULT, "fault") /* a robot reports that something is wrong with it */              \
    X(EVENT_NOTE, "note") /* an observation of a codec that changes nothing: an order accepted … */ \
    X(EVENT_FORECAST, "forecast") /* the daemon's prediction of what a team will do */         \
    X(EVENT_MALFORMED, "malformed") /* a message to this pair that violates the protocol */    \
    X(EVENT_AWAY, "away") /* no messages were received: the next ones may have waited */       \
    X(EVENT_SESSION, "session") /* the daemon connected to the broker, again or with a new session */ \
    X(EVENT_VERSION, "version") /* the lab file states another version of a robot's program */ \
    X(EVENT_START, "start") /* the daemon started: a new run of lab time begins */             \
    X(EVENT_STOP, "stop") /* the daemon stopped properly */
/* clang-format on */

enum event_kind { EVENT_KINDS(NAMES_VALUE) EVENT_KIND_COUNT };

enum reply_status {
    REPLY_DONE,
    REPLY_DATA,
    REPLY_BLOCKED,
    REPLY_HALTED,
    REPLY_IGNORED,
    REPLY_ERROR,
    REPLY_STATUS_COUNT
};

/* Members of commands to arms: the member's name in the payload, as below. Bits of
 * event_arm.present. */
/* clang-format off */
#define EVENT_ARM_MEMBERS(X)                                                                   \
    X(EVENT_ARM_Q, "q_rad")                                                                    \
    X(EVENT_ARM_POSE, "pose")                                                                  \
    X(EVENT_ARM_VIA, "via")                                                                    \
    X(EVENT_ARM_QD, "qd_radps")                                                                \
    X(EVENT_ARM_TWIST, "twist")                                                                \
    X(EVENT_ARM_V_RADPS, "v_radps")                                                            \
    X(EVENT_ARM_A_RADPS2, "a_radps2")                                                          \
    X(EVENT_ARM_V_MPS, "v_mps")                                                                \
    X(EVENT_ARM_A_MPS2, "a_mps2")                                                              \
    X(EVENT_ARM_TIME_S, "time_s")                                                              \
    X(EVENT_ARM_TURNS, "turns")                                                                \
    X(EVENT_ARM_CARTESIAN, "cartesian")                                                        \
    X(EVENT_ARM_DYNAMICS, "dynamics")                                                          \
    X(EVENT_ARM_EXTERNAL, "external")                                                          \
    X(EVENT_ARM_PIN, "pin")                                                                    \
    X(EVENT_ARM_ON, "on")
/* clang-format on */

enum event_arm_member { EVENT_ARM_MEMBERS(NAMES_VALUE) EVENT_ARM_MEMBER_COUNT };

/* Motion of a simulated arm's joints: with servo dynamics, or exactly as commanded. */
enum arm_dynamics { ARM_DYNAMICS_SERVO, ARM_DYNAMICS_IDEAL, ARM_DYNAMICS_COUNT };

/* Set for the operations movej, movel, movec, speedj, speedl, stopj, halt, mode and digital_out only. For
 * others it is all zero, because members of these names may mean anything. Numbers are as
 * given, of any sign; poses are x y z in m and a rotation vector in rad. */
struct event_arm {
    uint32_t present; /* bit k: member k of enum event_arm_member was given; others are 0 */
    size_t q_count, pose_count, via_count, qd_count, twist_count; /* 0..EVENT_AXES_MAX */
    double q_rad[EVENT_AXES_MAX], pose[EVENT_AXES_MAX], via[EVENT_AXES_MAX];
    double qd_radps[EVENT_AXES_MAX], twist[EVENT_AXES_MAX]; /* twist: m/s, rad/s */
    double v_radps, a_radps2, v_mps, a_mps2, time_s, turns, pin;
    int8_t cartesian, external, on; /* 0, 1 */
    int8_t dynamics;            /* enum arm_dynamics */
};

struct event_command {
    char id[EVENT_ID_MAX]; /* "" when absent */
    char op[EVENT_OP_MAX];
    double rotation_rad;   /* counter-clockwise; 0 when absent */
    double displacement_m; /* >= 0 forward; 0 when absent */
    int64_t source_us;     /* the sender's own stamp; LAB_TIME_NONE when absent */
    int64_t seq;           /* the sender's counter of commands to this pair; -1 when absent */
    struct event_arm arm;
    const char *raw;  /* [raw_bytes] the payload, borrowed for the step */
    size_t raw_bytes; /* <= EVENT_RAW_MAX */
};

/* The kind of a value of a reply, in words. */
/* clang-format off */
#define VALUE_KINDS(X)                                                                         \
    X(VALUE_NUMBER, "a number")                                                                \
    X(VALUE_TEXT, "a text")                                                                    \
    X(VALUE_TRUTH, "true or false")                                                            \
    X(VALUE_NULL, "null")                                                                      \
    X(VALUE_LIST, "a list") /* its items are separate values */                                \
    X(VALUE_OBJECT, "an object") /* its members are separate values */
/* clang-format on */

enum value_kind { VALUE_KINDS(NAMES_VALUE) VALUE_KIND_COUNT };

/* One value of a reply, of any depth, in a form independent of JSON spelling: escapes are
 * resolved, numbers are doubles, members come in any order. */
struct event_value {
    char name[EVENT_VALUE_NAME_MAX]; /* "range", "ranges[2]", "pose.x"; a long one loses its
                                        beginning */
    uint64_t place;                  /* hash of the complete name, member by member */
    enum value_kind kind;
    union {
        double number; /* 0 or 1 for a truth value; the length of a list */
        uint64_t text; /* hash of a text, its escapes resolved */
    };
};

struct event_reply {
    char id[EVENT_ID_MAX]; /* "" when absent */
    enum reply_status status;
    int64_t source_us;       /* robot's clock at the end; LAB_TIME_NONE when absent */
    bool has_sim;            /* simulated time was given ("sim_t") */
    int64_t sim_us;          /* simulated time at the end */
    int64_t source_start_us; /* robot's clock at the start of the motion; or LAB_TIME_NONE */
    double held_s;     /* s; deliberate delay of the reply after the end (a repeated move) */
    bool uncalibrated; /* its duration must not be used for calibration */
    bool bounded;      /* it ended at source_us or before, because the exact end was missed */
    int64_t paused_us; /* time that the robot was made to wait; 0: none */
    char detail[EVENT_DETAIL_MAX]; /* for people; "" if absent */
    int64_t commands; /* commands that the robot has received since its start, this one
                         included; below 1: unknown */
    const char *raw;  /* [raw_bytes] the payload, borrowed for the step */
    size_t raw_bytes;
    char
        outside[EVENT_DETAIL_MAX]; /* members outside `values`: "x, y"; they are not compared */
    size_t values_omitted;         /* values beyond EVENT_VALUES_MAX */
    size_t value_count;
    struct event_value values[EVENT_VALUES_MAX]; /* undefined beyond value_count */
};

struct event_telemetry {
    int64_t source_us; /* robot's clock; LAB_TIME_NONE when absent */
    bool has_sim;      /* simulated time was given ("sim_t") */
    int64_t sim_us;
    int64_t seq;                                           /* >= 0; -1 when absent */
    char boot[EVENT_BOOT_MAX];                             /* "" when absent */
    int8_t paused; /* 1: its move waits, such as at a speed slider of 0 */
    size_t nu_count, tau_count, tau_dot_count, pose_count; /* 0..EVENT_AXES_MAX */
    double nu[EVENT_AXES_MAX];      /* body velocity, m/s and rad/s, or joint speeds */
    double tau[EVENT_AXES_MAX];     /* effort, N and N m */
    double tau_dot[EVENT_AXES_MAX]; /* rate of change of tau, per second */
    double pose[EVENT_AXES_MAX];    /* m and rad */
};

struct event_connection {
    bool online;
    char boot[EVENT_BOOT_MAX];
    char reason[EVENT_ID_MAX];       /* reason for being offline, for people; "" if unknown */
    char version[EVENT_VERSION_MAX]; /* of the robot's program; "" if unknown */
    int64_t source_us;
};

struct event_echo {
    int64_t probe;              /* number of the probe */
    int64_t sent_us;            /* lab time of sending the probe, as echoed by the robot */
    int64_t source_received_us; /* robot's clock */
    int64_t source_us;          /* robot's clock when the echo left */
};

/* Ways in which a simulator applies a parameter set. */
enum parameter_form {
    PARAMETERS_ABSOLUTE, /* it uses the values as they are */
    PARAMETERS_RELATIVE, /* it applies `adjust` to its own start values */
    PARAMETERS_FORM_COUNT
};

struct event_ack {
    int64_t version; /* of the parameters; EVENT_POSE_ACK: number of the correction */
    int8_t form;     /* enum parameter_form, or its COUNT if not given */
    uint32_t applied, refused;
    /* hash_text() of the applied names */
    uint64_t applied_hash[EVENT_APPLIED_MAX];
    char reason[104]; /* first refused parameter: "name: reason" */
};

enum request_action {
    REQUEST_PROPOSE,
    REQUEST_PROMOTE,
    REQUEST_ROLLBACK,
    REQUEST_IDENTIFY,  /* fit the dynamics of a side again */
    REQUEST_FOLLOWING, /* start or stop following, or set its gains */
    REQUEST_ACTION_COUNT
};

/* Which verdicts of a set a request to promote accepts. */
enum request_accept { ACCEPT_ANY, ACCEPT_PASS, ACCEPT_MARGINAL, REQUEST_ACCEPT_COUNT };

/* Disturbance rejection of a follower. */
enum follower_rejection {
    FOLLOWER_NONE,     /* proportional only */
    FOLLOWER_INTEGRAL, /* Ki = K^2 / 4: both poles at K / 2 */
    FOLLOWER_OBSERVER, /* d_hat is subtracted */
    FOLLOWER_REJECTION_COUNT
};

/* For REQUEST_FOLLOWING; negative: not requested. */
struct event_following {
    int8_t active;    /* 0 stop, 1 start */
    int8_t rejection; /* enum follower_rejection */
    double bandwidth_radps, observer_radps, pose_per_s2;
};

struct event_request {
    enum request_action action;
    uint32_t version;           /* REQUEST_PROMOTE: 0 means the candidate */
    enum request_accept accept; /* REQUEST_PROMOTE; absent: any */
    enum side side;             /* REQUEST_IDENTIFY; default: the real one */
    struct event_following following;
    char model[EVENT_NAME_MAX]; /* whose sets: "travel_time", "usv3" …; "": the pair's only one
                                 */
    char by[24];                /* requester, for the record */
};

enum fit_outcome { FIT_DONE, FIT_FAILED, FIT_CANCELLED, FIT_OUTCOME_COUNT };

struct dynamics_result; /* twin/dynamics/dynamics_task.h */

struct event_fit {
    uint32_t job; /* number of the job on this side */
    enum fit_outcome outcome;
    char detail[104]; /* reason of failure */
    /* Result of the worker thread, borrowed for the step. NULL: the lab computes it. */
    const struct dynamics_result *result;
};

/* Requests to a team; a robot's own controller may send the first three. */
/* clang-format off */
#define TEAM_OPS(X)                                                                            \
    X(TEAM_OP_LOCK, "lock")       /* robot, resources */                                       \
    X(TEAM_OP_UNLOCK, "unlock")   /* robot, resources with the fences of their grants */       \
    X(TEAM_OP_ALIVE, "alive")     /* robot */                                                  \
    X(TEAM_OP_JOB, "job")         /* part, sequence, home */                                   \
    X(TEAM_OP_RELEASE, "release") /* a resource with its present fence; reason */              \
    X(TEAM_OP_RESET, "reset")     /* robot: repeat the step that failed */                     \
    X(TEAM_OP_SKIP, "skip")       /* robot: continue behind the step that failed */            \
    X(TEAM_OP_ABORT, "abort")     /* robot: declare its activity as failed */                  \
    X(TEAM_OP_START, "start")     /* all robots that have a sequence, or one */                \
    X(TEAM_OP_STOP, "stop")       /* all busy robots, or one: halted, and aborted */           \
    X(TEAM_OP_SENT, "sent")       /* by the daemon: the broker has command `id`, to the event's side */
/* clang-format on */

enum team_op { TEAM_OPS(NAMES_VALUE) TEAM_OP_COUNT };

struct team_forecast; /* logger/message/team_forecast.h */

/* event.pair is the team's id. Absent names are "". */
struct event_team {
    enum team_op op;
    char id[EVENT_ID_MAX]; /* id of the request; a repeated one has no effect */
    char robot[EVENT_TEAM_NAME_MAX];
    size_t resource_count;
    char resources[EVENT_TEAM_WANT_MAX][EVENT_TEAM_NAME_MAX];
    int64_t fences[EVENT_TEAM_WANT_MAX]; /* -1: not given */
    char part[EVENT_TEAM_NAME_MAX], sequence[EVENT_TEAM_NAME_MAX], home[EVENT_TEAM_NAME_MAX];
    char by[24];     /* requester, for the record */
    char reason[96]; /* reason, for the record */
};

/* A mission; its kind reads the rest of the text. */
struct event_mission {
    char id[EVENT_ID_MAX];
    char kind[12];
    int8_t cancel; /* 1: end the mission of this id */
    char by[24];   /* requester, for the record */
    const char *raw; /* [raw_bytes] the message, one JSON object, borrowed for the step */
    size_t raw_bytes;
};

/* Faults that a robot reports. */
/* clang-format off */
#define FAULT_KINDS(X)                                                                         \
    X(FAULT_ERROR, "robot_error") /* the robot's own error: detail, level, about */            \
    X(FAULT_ESTOP, "estop")       /* its emergency stop: the present state */                  \
    X(FAULT_MODE, "mode")         /* its operating mode has changed: "AUTOMATIC -> MANUAL" */
/* clang-format on */

enum fault_kind { FAULT_KINDS(NAMES_VALUE) FAULT_KIND_COUNT };

struct event_fault {
    enum fault_kind kind;
    char level[16]; /* severity of an error, in the robot's words; "" if unknown */
    char detail[EVENT_DETAIL_MAX];
    char id[EVENT_ID_MAX]; /* command or order concerned; "": none */
    char about[160]; /* other references: "nodeId n0, topic order"; cut between references */
};

/* Observations of codecs with a state, about messages that give no other event. */
/* clang-format off */
#define NOTE_KINDS(X)                                                                          \
    X(NOTE_ACCEPTED, "accepted") /* the robot has accepted an order: id */                     \
    X(NOTE_INSTANT, "instant")   /* an action of one robot alone: detail, status */            \
    X(NOTE_STALE, "stale")       /* a repeated or overtaken message: count */                  \
    X(NOTE_MISSING, "missing")   /* lost messages: count */                                    \
    X(NOTE_REBIRTH, "rebirth")   /* the robot is asked to send its complete state again: detail */ \
    X(NOTE_CONTRADICTION, "contradiction") /* it contradicts the lab file or its protocol: detail, id */
/* clang-format on */

enum note_kind { NOTE_KINDS(NAMES_VALUE) NOTE_KIND_COUNT };

struct event_note {
    enum note_kind kind;
    char id[EVENT_ID_MAX];
    char detail[EVENT_DETAIL_MAX], status[16];
    int64_t source_us; /* LAB_TIME_NONE when absent */
    int64_t count;     /* NOTE_MISSING: messages; NOTE_STALE: the message's number */
};

struct event_session {
    int8_t resumed; /* the broker kept our session with undelivered messages and packet ids */
    int8_t persistent; /* we had asked it to keep the session */
    int64_t away_us;   /* duration without messages before */
    /* Time since which our acknowledgements may be lost; LAB_TIME_NONE: unknown. */
    int64_t unsure_us;
};

struct event_malformed {
    char what[16];         /* topic: "command", "reply" … */
    char id[EVENT_ID_MAX]; /* of a command or reply, if it precedes the fault; else "" */
    char detail[160];      /* where the fault is, and what would be right */
    enum fault fault;      /* kind of fault */
};

/* Numbers to skip, unless EVENT_STOP came before: the run before may have published what nobody
 * has any more. */
struct event_start {
    uint64_t number_gap;    /* of entries, alarms and changes */
    uint64_t stream_number; /* the stream of events goes on behind this place */
};

struct event {
    int64_t t_us; /* lab time of arrival */
    enum event_kind kind;
    enum side side;     /* SIDE_COUNT if it concerns no side */
    bool dup;           /* MQTT's DUP flag: possibly delivered before */
    bool retained;      /* MQTT's retain flag: an old message, sent on subscription */
    bool ambiguous;     /* set by the lab: it may or may not have been delivered before */
    uint16_t packet_id; /* MQTT's, within the session; 0: not known */
    uint64_t hash;      /* hash of topic and payload: identifies a redelivery */
    char pair[EVENT_PAIR_MAX];
    union {
        struct event_command command;
        struct event_reply reply;
        struct event_telemetry telemetry;
        struct event_connection connection; /* EVENT_VERSION: its version only */
        struct event_echo echo;
        struct event_ack ack;
        struct event_request request;
        struct event_fit fit;
        struct event_malformed malformed;
        struct event_fault fault;
        struct event_note note;
        struct event_session session;
        struct event_team team;
        struct event_mission mission;
        const struct team_forecast *forecast; /* EVENT_FORECAST: borrowed */
        int64_t away_us;                      /* EVENT_AWAY: for how long */
        struct event_start start;
    };
};

typedef void event_emit(void *context, const struct event *event);

/* Returns which numbers a member of this name can have if this one is impossible; NULL: it is
 * not, or the name has no limits. */
const char *event_number_fault(const char *member, double number);

extern const struct names side_names;
const char *side_name(enum side side); /* "real", "virtual"; "" for SIDE_COUNT */

extern const struct names connection_state_names; /* "offline", "online" */

ENUM_NAMES_DECLARED(event_kind); /* "command", "reply" … */

ENUM_NAMES_DECLARED(request_action); /* "propose", "promote" … */

ENUM_NAMES_DECLARED(event_arm_member); /* as in payloads: "q_rad" ... */

ENUM_NAMES_DECLARED(arm_dynamics); /* "servo", "ideal" */

ENUM_NAMES_DECLARED(parameter_form); /* "absolute", "relative" */

ENUM_NAMES_DECLARED(request_accept);
ENUM_NAMES_DECLARED(follower_rejection); /* "none" … */

ENUM_NAMES_DECLARED(fit_outcome); /* "done", "failed", "cancelled" */

ENUM_NAMES_DECLARED(fault_kind); /* "robot_error", "estop", "mode" */

ENUM_NAMES_DECLARED(note_kind); /* "accepted" … */

ENUM_NAMES_DECLARED(team_op); /* "lock", "unlock" … */

ENUM_NAMES_DECLARED(value_kind); /* "a number", "a text" … */

ENUM_NAMES_DECLARED(reply_status); /* "done", "data" … */

#endif
