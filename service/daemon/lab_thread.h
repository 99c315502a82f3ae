/* service/daemon/lab_thread.h - the one thread that owns all twin state: takes lines from the
 * inbox, steps the lab, hands its effects to the outbox, publishes snapshots and makes
 * checkpoints.
 *
 * It decodes journal lines exactly as replay does. One round: read the present under the
 * inbox's lock, take in every line stamped before it, then let the deadlines before it fire:
 * the order is that of replay, which knows no rounds.
 */
#ifndef SERVICE_DAEMON_LAB_THREAD_H
#define SERVICE_DAEMON_LAB_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "service/daemon/inbox.h"
#include "service/daemon/keeper.h"
#include "service/daemon/outbox.h"
#include "service/daemon/views.h"
#include "twin/lab.h"

enum { LAB_THREAD_TOOK = 6 }; /* classes of round times: 0.1, 1, 10, 100, 1000 ms, longer */

struct lab_thread_counts {
    uint64_t lines;          /* taken in, restored ones included */
    uint64_t restored;       /* of them: read from the journal at the start */
    uint64_t skipped;        /* lines that are no message */
    uint64_t other;          /* messages that the codec does not listen to */
    uint64_t events;         /* steps of the lab */
    uint64_t malformed;      /* of them: EVENT_MALFORMED */
    uint64_t deadline_ticks; /* steps because a deadline had passed */
    uint64_t faults;         /* stretches of the journal that could not be read */
    uint64_t rounds;
    uint64_t took[LAB_THREAD_TOOK]; /* rounds by their duration */
    int64_t took_us_max;
    struct outbox_counts outbox;
    int64_t restore_us; /* how long reading the journal's tail took; -1: not done yet */
};

struct lab_thread_params {
    struct lab *lab; /* the thread's alone from lab_thread_start() to lab_thread_join() */
    const char *prefix;
    struct inbox *inbox;
    struct outbox *outbox;
    struct views *views;
    struct keeper *keeper;
    struct fits *fits;
    int wake_fd;           /* the inbox's */
    int64_t checkpoint_us; /* between two checkpoints; > 0 */
};

struct lab_thread;

/* Everything is borrowed until lab_thread_join(). STATUS_E_NOMEM, STATUS_E_IO. */
MUST_USE enum status lab_thread_start(const struct lab_thread_params *params,
                                      struct lab_thread **out);

/* End once the inbox is empty; wait for it. What the inbox got before is taken in. */
void lab_thread_join(struct lab_thread *thread);
void lab_thread_destroy(struct lab_thread *thread); /* after join; NULL is allowed */

/* Any thread. */
void lab_thread_read_counts(struct lab_thread *thread, struct lab_thread_counts *out);

#endif
