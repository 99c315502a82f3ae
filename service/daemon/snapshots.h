/* service/daemon/snapshots.h - immutable, reference-counted snapshots of the lab for other
 * threads.
 *
 * The lab thread publishes. Any thread acquires the newest snapshot, reads as long as it likes
 * and releases it. Only pairs that changed since the last snapshot are copied: into that
 * snapshot itself if it has no reader, else into a new one, which shares the other copies. So a
 * pair has one copy, and one more for each snapshot that readers hold.
 *
 * In a big lab that takes tens of milliseconds, so it is done in slices between which the lab
 * goes on. Each pair and team is shown as it was at one instant between the beginning of the
 * snapshot and its publication; if the newest one is updated in place, until it is acquired.
 * The batch fits of a pair are computed on first request, and cached until its moves change.
 */
#ifndef SERVICE_DAEMON_SNAPSHOTS_H
#define SERVICE_DAEMON_SNAPSHOTS_H

#include <stdint.h>

#include "twin/lab.h"
#include "web/http/web.h"

struct snapshots;

struct snapshots_counts {
    uint64_t published;
    uint64_t copied; /* pairs */
    uint64_t failed; /* no memory: readers kept the older snapshot */
};

/* Make the first snapshot, of the lab's present state. lab, lab_name and prefix are borrowed
 * for the life of the views. Cold path: allocates. STATUS_E_NOMEM. */
MUST_USE enum status snapshots_create(const struct lab *lab, const char *lab_name,
                                      const char *prefix, int64_t started_us,
                                      struct snapshots **out);

/* NULL is allowed. Every snapshot must have been released. */
void snapshots_destroy(struct snapshots *snapshots);

/* Lab thread: make the lab's present state the newest snapshot, for about slice_us. Allocates.
 * True: it is published. Call again until then. */
bool snapshots_publish_slice(struct snapshots *snapshots, int64_t t_us,
                             const struct view_health *health, int64_t slice_us);

/* Any thread, as acquire() and release() of struct web_source. Never NULL. */
const struct view *snapshots_acquire(void *snapshots);
void snapshots_release(void *snapshots, const struct view *view);

/* Get the fits of this pair's window, as it was when the pair was copied. Any thread. */
void snapshots_read_fits(struct snapshots *snapshots, size_t index, const struct pair *pair,
                         struct pair_fits *out);

/* Any thread. */
void snapshots_read_counts(struct snapshots *snapshots, struct snapshots_counts *out);

#endif
