/* web/stream/pair_rings.h - memory for the last minutes of pairs, lost at a restart: a block
 * for each pair that has something to show, and a lock. The number of blocks is limited; the
 * first pairs get one. */
#ifndef WEB_STREAM_PAIR_RINGS_H
#define WEB_STREAM_PAIR_RINGS_H

#include <pthread.h>

#include "web/http/web.h"

struct pair_rings {
    pthread_mutex_t lock;
    size_t pair_count, used;
    size_t pairs_max, bytes; /* pairs with a block; bytes of a block */
    void **of;               /* [pair_count] owned, NULL: none; NULL before the first look */
};

/* Cold path: allocates. STATUS_E_NOMEM. */
MUST_USE enum status pair_rings_create(size_t pairs_max, size_t bytes, struct pair_rings **out);
void pair_rings_destroy(struct pair_rings *rings); /* NULL allowed */

/* Acquires the lock, to add to the blocks of a snapshot's pairs. The caller releases it. */
void pair_rings_begin(struct pair_rings *rings, const struct view *view);
/* Returns a pair's block, at first all zero. NULL: there are too many, or no memory. Lock held.
 */
void *pair_rings_make(struct pair_rings *rings, size_t pair);
/* Returns a pair's block; NULL: none. Lock held. */
const void *pair_rings_find(const struct pair_rings *rings, size_t pair);

#endif
