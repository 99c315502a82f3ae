/* service/sim/check/check_parts.h - shared by the files of the check: commands sent, messages
 * received, findings. */
#ifndef SERVICE_SIM_CHECK_CHECK_PARTS_H
#define SERVICE_SIM_CHECK_CHECK_PARTS_H

#include "base/text/names.h"
#include "logger/message/message.h"
#include "service/sim/check/check.h"

enum {
    CHECK_REPLIES = 4, /* replies kept for one command */
    CHECK_SAMPLES = 8192,
    CHECK_FINDINGS = 48,
    CHECK_DETAIL = 200,
    CHECK_TERM = 80,
    CHECK_PROBES = 2,
    CHECK_SET_VERSION = 1000000, /* version of the set that is tried */
    CHECK_SET_NAMES = 6          /* the last name does not exist: */
};
#define CHECK_NO_PARAMETER "no_such_parameter"

/* The commands, in the order in which they are sent. */
/* clang-format off */
#define CHECK_TALKS(X)                                                                         \
    X(TALK_WHERE, "where it is")                                                               \
    X(TALK_GO, "a move")                                                                       \
    X(TALK_LONG, "a move to be halted")                                                        \
    X(TALK_SECOND, "a go while it moves")                                                      \
    X(TALK_HALT, "halt")                                                                       \
    X(TALK_AFTER, "where it is after it")                                                      \
    X(TALK_IDLE, "halt at rest")                                                               \
    X(TALK_WORD, "a word that it does not know")
/* clang-format on */
enum check_talk { CHECK_TALKS(NAMES_VALUE) TALK_COUNT };
extern const struct names check_talk_names;

struct check_reply {
    int64_t at_us;
    int qos;
    struct event_reply reply;
};

struct check_asked {
    char id[EVENT_ID_MAX];
    int64_t sent_us; /* LAB_TIME_NONE: not sent */
    size_t count;    /* number of replies */
    struct check_reply replies[CHECK_REPLIES];
};

struct check_sample {
    int64_t at_us;
    struct event_telemetry t;
};

struct check_probe {
    int64_t sent_us, at_us; /* LAB_TIME_NONE: not sent, or not answered */
    size_t count;
    struct event_echo echo;
};

struct check_ack {
    size_t count;
    struct event_ack ack;
};

/* A robot's messages by their topics. */
/* clang-format off */
#define CHECK_WORDS(X)                                                                         \
    X(WORD_REPLY, "reply")                                                                     \
    X(WORD_TELEMETRY, "telemetry")                                                             \
    X(WORD_ECHO, "echo")                                                                       \
    X(WORD_ACK, "parameters/ack")                                                              \
    X(WORD_CONNECTION, "connection")
/* clang-format on */
enum check_word { CHECK_WORDS(NAMES_VALUE) CHECK_WORD_COUNT };
extern const struct names check_word_names;

struct check_received {
    struct check_asked asked[TALK_COUNT];
    size_t strangers; /* replies to unknown commands */
    char stranger[EVENT_ID_MAX];
    struct check_probe probes[CHECK_PROBES];
    /* acknowledgements of CHECK_SET_VERSION, and of the restored set */
    struct check_ack set, restored;
    bool has_connection, connection_retained;
    struct event_connection connection;
    char boot[EVENT_BOOT_MAX]; /* boot mark in telemetry */
    size_t malformed[CHECK_WORD_COUNT], retained[CHECK_WORD_COUNT], loud[CHECK_WORD_COUNT];
    char fault[CHECK_WORD_COUNT][CHECK_DETAIL]; /* description of the first fault */
    size_t sample_count;
    struct check_sample samples[CHECK_SAMPLES];
};

enum check_state { CHECK_RIGHT, CHECK_MISSING, CHECK_WRONG, CHECK_UNTRIED, CHECK_STATE_COUNT };
extern const struct names check_state_names;

struct check_finding {
    enum check_state state;
    const char *what; /* "reply.id" */
    const char *rule; /* quoted sentence of `document` */
    const char *document;
    char term[CHECK_TERM]; /* term in the robot's own protocol; "": none */
    char detail[CHECK_DETAIL];
};

struct check_findings {
    size_t count;
    struct check_finding finding[CHECK_FINDINGS];
};

/* Compare received messages with the protocol. Pure. */
void check_judge(const struct check_options *o, const struct check_received *h,
                 struct check_findings *out);

/* Do efforts in telemetry show their effect in the same sample already, not in the next one? */
bool check_efforts_are_late(const struct check_received *h);

/* Put findings into the terms of the robot's codec, and drop those that it does not have. */
void check_translate(const struct codec_pair *foreign, struct check_findings *findings);

/* Does this codec have such a thing? Native robots have all. */
bool check_has(const struct codec_pair *foreign, const char *what);

#endif
