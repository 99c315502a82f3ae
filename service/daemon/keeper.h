/* service/daemon/keeper.h - the thread for what may take its time: syncing the journal, writing
 * checkpoints, fitting calibrations for publication, watching over health.
 *
 * A checkpoint becomes durable only after the store has committed every record the lab had made
 * up to it, and after the journal is synced up to its position: whatever a restart does not
 * find in the store, it finds in the journal behind the checkpoint.
 */
#ifndef SERVICE_DAEMON_KEEPER_H
#define SERVICE_DAEMON_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logger/storage/journal.h"
#include "logger/storage/store_queue.h"
#include "service/daemon/gateway.h"
#include "service/daemon/inbox.h"
#include "twin/lab.h"
#include "web/http/event_hub.h"
#include "web/http/web.h"

enum { KEEPER_FINDINGS_MAX = 256, CHECKPOINT_VERSION = 2 };

struct keeper_params {
    struct journal *journal;
    struct store_queue *queue;
    struct inbox *inbox;
    struct gateway *gateway;
    struct event_hub *events; /* NULL: nobody listens */
    const char *checkpoint_path;
    uint64_t fingerprint;            /* of the lab, for checkpoints */
    size_t state_bytes;              /* of lab_state() */
    const struct pair_params *pairs; /* [pair_count] */
    size_t pair_count;
};

struct keeper_counts {
    uint64_t checkpoints, checkpoints_failed;
    uint64_t checkpoint_bytes;
    int64_t checkpoint_took_us; /* the last one */
    int64_t checkpoint_t_us;    /* lab time of the last one; LAB_TIME_NONE before the first */
    uint64_t calibrations;
    uint64_t calibrations_dropped; /* its queue was full, or no memory */
};

/* What is published of a pair. */
enum keeper_finding { KEEPER_TRAVEL_TIME, KEEPER_DYNAMICS, KEEPER_FINDING_COUNT };

struct keeper;

/* Everything is borrowed. Cold path: allocates. STATUS_E_NOMEM, STATUS_E_IO. */
MUST_USE enum status keeper_start(const struct keeper_params *params, struct keeper **out);

/* Finish what was offered (a checkpoint only if the store commits within timeout_ms), end the
 * thread. Returns whether the last checkpoint offered is on the disk. */
bool keeper_stop(struct keeper *keeper, int timeout_ms);
void keeper_destroy(struct keeper *keeper); /* after stop; NULL is allowed */

/* The broker is left on purpose: no cause for a warning. */
void keeper_leave_broker(struct keeper *keeper);

/* Lab thread, each time it goes round. The supervisor's watchdog is fed by the keeper's own
 * rounds, and only while these come: a thread that hangs, either of the two, ends the feeding.
 */
void keeper_beat(struct keeper *keeper);

/* Lab thread: the journal's tail is in. */
void keeper_set_restored(struct keeper *keeper);

/* Lab thread: copy the lab's state for a checkpoint. position: the lab has taken in everything
 * before it. Returns false when the one before is not written yet: offer again later. */
bool keeper_offer_checkpoint(struct keeper *keeper, const struct lab *lab,
                             struct journal_position position);

/* Lab thread: write and publish this of a pair as it is now. state: its struct pair, or its
 * struct pair_dynamics; copied. */
void keeper_offer(struct keeper *keeper, enum keeper_finding what, uint32_t pair,
                  const void *state);

/* Any thread. */
void keeper_read_health(struct keeper *keeper, struct view_health *out);
void keeper_read_counts(struct keeper *keeper, struct keeper_counts *out);

#endif
