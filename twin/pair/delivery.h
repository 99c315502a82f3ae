/* twin/pair/delivery.h - which messages were here before: those that came again are told from
 * those that are merely alike, and what became of commands is remembered by their ids.
 *
 * MQTT at QoS 1 delivers at least once. What the broker sends within one session it numbers by
 * packet ids, which it gives anew after the acknowledgement; the DUP flag says only that it
 * sent the message before, not that it arrived (MQTT 5, section 3.3.1.1). So a message is known
 * again by its place in what the broker sent and its bytes together, where both are known; by
 * its id (a member of the payload) within a time; and what neither tells apart is said to be
 * ambiguous. docs/model/lab.md. Plain data without pointers, part of the lab's state. Pure.
 */
#ifndef TWIN_PAIR_DELIVERY_H
#define TWIN_PAIR_DELIVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logger/message/event.h"

enum {
    DELIVERY_MIN = 4096,          /* four times the messages a broker keeps in flight to us */
    DELIVERY_MAX = 1 << 22,       /* 192 MiB */
    DELIVERY_USUAL = 1 << 16,     /* 3 MiB: 15 minutes of 72 messages a second */
    DELIVERY_REMEMBER_S = 15 * 60 /* usual; the broker's autosave_interval must be shorter */
};

enum delivery {
    DELIVERY_NEW,
    DELIVERY_AGAIN,    /* it was here before */
    DELIVERY_AMBIGUOUS /* it may have been: nothing tells */
};

/* What became of a command with an id. */
enum delivery_end {
    DELIVERY_OPEN,
    DELIVERY_ANSWERED,   /* by a robot, with a status */
    DELIVERY_UNANSWERED, /* in time */
    DELIVERY_REFUSED,    /* too much was open */
    DELIVERY_WITHDRAWN   /* halted before it was sent */
};

struct delivery_outcome {
    uint8_t end;    /* enum delivery_end */
    uint8_t from;   /* enum side: who answered */
    uint8_t status; /* enum reply_status: what */
};

struct delivery_item {
    uint64_t hash;  /* of topic and payload, or of a command's id */
    uint64_t place; /* in what the broker sent; 0: not known */
    int64_t t_us;
    uint32_t next; /* 1 + index of the next older one with a like hash; 0: none */
    struct delivery_outcome outcome;
};

/* A ring of hashes with chains by their low bits: item[max], behind it the chains' heads. */
struct delivery_memory {
    uint64_t count;           /* ever remembered */
    uint64_t forgotten_early; /* of them forgotten before remember_us */
    int64_t remember_us;
    uint32_t max, heads;
    /* The order of what the broker sends: a packet id, the numbers' turns counted with it. */
    uint32_t connections;    /* so far; without any, packet ids mean nothing */
    bool placed;             /* place is that of a message */
    bool onward;             /* since the connection, something came that never came before */
    bool counting;           /* its numbers rise: none comes again before all the others */
    bool unordered;          /* this broker's numbers do not rise: they tell nothing */
    bool rewound;            /* the message in work bears a number that was here before */
    uint64_t place;          /* the newest of this session */
    int64_t last_us;         /* when that of `last` came */
    uint64_t last;           /* of this connection, without DUP; 0: none */
    uint64_t at;             /* of the message in work; 0: not known */
    uint64_t session_from;   /* count at the beginning of the session */
    uint64_t session_place;  /* and its first place */
    int64_t acknowledged_us; /* what came before, the broker knows that we have */
    int64_t quiet_us;        /* nothing of the broker came since, though we listened */
    int64_t connected_us;    /* LAB_TIME_NONE: never */
    struct delivery_item item[];
};

/* Bytes of a memory of so many messages, a multiple of 64. */
size_t delivery_bytes(uint32_t max);

/* Of them, those in use, from the beginning: what has to be kept. */
size_t delivery_used_bytes(const struct delivery_memory *m);

/* Only what is in use was put in its place: make the chains anew. */
void delivery_index(struct delivery_memory *m);

/* max: DELIVERY_MIN .. DELIVERY_MAX. */
void delivery_init(struct delivery_memory *m, uint32_t max, int64_t remember_us);

/* A connection to the broker came to be (EVENT_SESSION). */
void delivery_connect(struct delivery_memory *m, const struct event *event);

/* A message of this hash is about to come: where to look for it lies far away in memory, and is
 * asked for early, best before it is read. Changes nothing. */
void delivery_expect(const struct delivery_memory *m, uint64_t hash);

/* A message came, of whatever kind: take its packet id into account. */
void delivery_record(struct delivery_memory *m, const struct event *event);

/* Was this command or reply, noted just before, here before? What was not, or may not have
 * been, is remembered. */
enum delivery delivery_judge(struct delivery_memory *m, const struct event *event);

/* Were these bytes here, on this topic, within the time remembered? */
bool delivery_knows(const struct delivery_memory *m, const struct event *event);

/* The outcome of a pair's command with this id, remembered until then; NULL: none is known. */
const struct delivery_outcome *delivery_find_id(const struct delivery_memory *m,
                                                const char *pair, const char *id, int64_t t_us);
/* Such a command is taken in. */
void delivery_add_id(struct delivery_memory *m, const char *pair, const char *id, int64_t t_us);
/* It has come to its end. */
void delivery_end_id(struct delivery_memory *m, const char *pair, const char *id,
                     struct delivery_outcome outcome);

#endif
