/* twin/pair/delivery.h - detects repeated messages, as distinct from merely equal ones, and
 * remembers the outcome of commands by id.
 *
 * MQTT at QoS 1 delivers at least once. Within a session the broker numbers its messages by
 * packet ids, which it reuses after the acknowledgement. The DUP flag only says that it sent
 * the message before, not that it arrived (MQTT 5, section 3.3.1.1). So a message is recognised
 * by its place in the broker's sequence together with its bytes, if both are known, or by its
 * id (a member of the payload) within a time. If neither decides, it is reported as ambiguous.
 * docs/model/lab.md. Plain data without pointers, part of the lab's state. Pure.
 */
#ifndef TWIN_PAIR_DELIVERY_H
#define TWIN_PAIR_DELIVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logger/message/event.h"

enum {
    DELIVERY_MIN = 4096,          /* four times the messages that a broker keeps in flight */
    DELIVERY_MAX = 1 << 22,       /* 192 MiB */
    DELIVERY_USUAL = 1 << 16,     /* 3 MiB: 15 minutes of 72 messages a second */
    DELIVERY_REMEMBER_S = 15 * 60 /* default; the broker's autosave_interval must be shorter */
};

enum delivery {
    DELIVERY_NEW,
    DELIVERY_AGAIN,    /* a repetition */
    DELIVERY_AMBIGUOUS /* it may be a repetition */
};

/* Outcome of a command with an id. */
enum delivery_end {
    DELIVERY_OPEN,
    DELIVERY_ANSWERED,   /* answered by a robot, with a status */
    DELIVERY_UNANSWERED, /* not answered in time */
    DELIVERY_REFUSED,    /* too many open commands */
    DELIVERY_WITHDRAWN   /* halted before it was sent */
};

struct delivery_outcome {
    uint8_t end;    /* enum delivery_end */
    uint8_t from;   /* enum side: which robot answered */
    uint8_t status; /* enum reply_status: its status */
};

struct delivery_item {
    uint64_t hash;  /* hash of topic and payload, or of a command's id */
    uint64_t place; /* place in the broker's sequence; 0: unknown */
    int64_t t_us;
    uint32_t next; /* 1 + index of the next older item of the chain; 0: none */
    struct delivery_outcome outcome;
};

/* A ring of hashes with chains by their low bits: item[max], followed by the chains' heads. */
struct delivery_memory {
    uint64_t count;           /* total stored */
    uint64_t forgotten_early; /* of them, overwritten before remember_us */
    int64_t remember_us;
    uint32_t max, heads;
    /* The broker's sequence: a place is a packet id plus the turns of the numbers. */
    uint32_t connections;    /* connections so far; packet ids count only after the first */
    bool placed;             /* place belongs to a message */
    bool onward;             /* a new message has come since the connection */
    bool counting;           /* its numbers rise: each is reused only after all others */
    bool unordered;          /* this broker's numbers do not rise and are useless */
    bool rewound;            /* the present message has a number that was used before */
    uint64_t place;          /* newest place of this session */
    int64_t last_us;         /* arrival of `last` */
    uint64_t last;           /* last place of this connection, without DUP; 0: none */
    uint64_t at;             /* place of the present message; 0: unknown */
    uint64_t session_from;   /* count at the beginning of the session */
    uint64_t session_place;  /* and its first place */
    int64_t acknowledged_us; /* messages up to this time are acknowledged for certain */
    int64_t quiet_us;        /* no message of the broker since, although we received */
    int64_t connected_us;    /* LAB_TIME_NONE: never */
    struct delivery_item item[];
};

/* Size of a memory of max messages, a multiple of 64. */
size_t delivery_bytes(uint32_t max);

/* Size of its used part, from the beginning, which must be saved. */
size_t delivery_used_bytes(const struct delivery_memory *m);

/* Rebuilds the chains after only the used part was restored. */
void delivery_index(struct delivery_memory *m);

/* max: DELIVERY_MIN .. DELIVERY_MAX. */
void delivery_init(struct delivery_memory *m, uint32_t max, int64_t remember_us);

/* Applies a new connection to the broker (EVENT_SESSION). */
void delivery_connect(struct delivery_memory *m, const struct event *event);

/* Applies the packet id of a message of any kind. */
void delivery_record(struct delivery_memory *m, const struct event *event);

/* Was this command or reply, passed to delivery_record() just before, received before? If not,
 * or possibly not, it is stored. */
enum delivery delivery_judge(struct delivery_memory *m, const struct event *event);

/* Were these bytes received on this topic within the stored time? */
bool delivery_knows(const struct delivery_memory *m, const struct event *event);

/* Finds the outcome of a pair's command by its id; NULL: unknown. */
const struct delivery_outcome *delivery_find_id(const struct delivery_memory *m,
                                                const char *pair, const char *id, int64_t t_us);
/* Stores a new command. */
void delivery_add_id(struct delivery_memory *m, const char *pair, const char *id, int64_t t_us);
/* Stores its outcome. */
void delivery_end_id(struct delivery_memory *m, const char *pair, const char *id,
                     struct delivery_outcome outcome);

#endif
