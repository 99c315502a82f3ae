/* service/daemon/outbox.h - carries out what the lab wants done: to the store, to the broker.
 *
 * While the journal's tail is read back after a start, nothing is sent to robots or to L1 (it
 * was sent when it happened, or else comes too late: a robot must not move twice), and entries
 * and alarms are stored and published only when the store does not have them: an entry is known
 * by its pair and the stamp and id of its command, which do not change when the lab file does.
 *
 * Owned by the lab thread.
 */
#ifndef SERVICE_DAEMON_OUTBOX_H
#define SERVICE_DAEMON_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logger/storage/store.h"
#include "logger/storage/store_queue.h"
#include "service/daemon/fits.h"
#include "service/daemon/keeper.h"
#include "twin/lab.h"
#include "web/http/event_hub.h"

struct outbox_params {
    const struct lab *lab;
    struct store_queue *queue;
    const char *store_path;   /* to look up what is known already */
    struct keeper *keeper;    /* makes and publishes calibrations */
    struct fits *fits;        /* carries out batch fits */
    struct event_hub *events; /* for those who listen over HTTP; NULL: nobody */
    struct gateway *gateway;
    struct inbox *inbox; /* whose clock is lab time */
};

enum { OUTBOX_LATENESS = 9 };

struct outbox_counts {
    uint64_t effects[EFFECT_KIND_COUNT];
    uint64_t published;
    uint64_t not_published; /* refused by the broker client: its buffer is full, or the link
                               down and the message worth nothing later */
    uint64_t not_stored;    /* the store's queue was full: the next start stores them */
    uint64_t known;         /* restored records that the store had already */
    uint64_t held_back;     /* restored messages to robots and L1: not sent again */
    uint64_t stale; /* commands too old to be sent when their turn came (a frozen process) */
    /* Efforts by how late after their control period they went out: up to 0.1, 0.25, 0.5, 1, 2,
     * 5, 10, 100 ms, and later. */
    uint64_t late[OUTBOX_LATENESS];
    uint64_t overruns; /* of them, so late that the next one replaces them: not sent */
};

struct outbox;

/* Everything is borrowed. STATUS_E_NOMEM. */
MUST_USE enum status outbox_create(const struct outbox_params *params, struct outbox **out);
void outbox_destroy(struct outbox *outbox); /* NULL is allowed */

/* What lab_step() is given. */
struct effects outbox_effects(struct outbox *outbox);

/* The journal's tail and the start of this run are in: from now on everything is carried out.
 */
void outbox_go_live(struct outbox *outbox);

const struct outbox_counts *outbox_counts(const struct outbox *outbox);

#endif
