/* twin/pair/redelivery.h - remembers the last messages, so that one delivered again is
 * recognised.
 *
 * MQTT at QoS 1 delivers at least once: after a crash the broker sends what was not
 * acknowledged again with the DUP flag, and a client may send again what its broker had got
 * already. A ring of hashes with chains by their low bits. Plain data without pointers. Pure.
 */
#ifndef TWIN_PAIR_REDELIVERY_H
#define TWIN_PAIR_REDELIVERY_H

#include <stdbool.h>
#include <stdint.h>

enum {
    REDELIVERY_MAX = 4096, /* four times the messages a broker keeps in flight to us */
    REDELIVERY_CHAINS = 8192
};

struct redelivery {
    uint64_t count;                   /* ever */
    uint16_t head[REDELIVERY_CHAINS]; /* 1 + index of the newest; 0: empty */
    struct {
        uint64_t hash;
        int64_t t_us;
        uint16_t next; /* 1 + index of the next older one of the chain */
    } item[REDELIVERY_MAX];
};

/* When this message came last, or LAB_TIME_NONE when it is not among those remembered. */
int64_t redelivery_seen_us(const struct redelivery *r, uint64_t hash);

/* Remember it; the oldest one is forgotten. */
void redelivery_add(struct redelivery *r, uint64_t hash, int64_t t_us);

#endif
