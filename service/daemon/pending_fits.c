/* service/daemon/pending_fits.c - hands the moves of a pair from the lab thread to the
 * maintenance thread, which fits their travel times and stores the fits. */
#include <stdlib.h>

#include "service/daemon/daemon_parts.h"
#include "service/replay/rows.h"

void pending_fits_add(struct daemon *d, const struct effect *effect)
{
    struct pending_fit *f = &d->pending_fits.fit[effect->pair];
    const struct pair *pair = lab_pair(d->lab, effect->pair);
    const struct pair_params *p = &d->params.pairs[effect->pair];
    struct pair *window = atomic_load(&f->waits) ? NULL : malloc(pair_copy_bytes(pair, p));
    if (!window) {
        (void)pthread_mutex_lock(&d->lock);
        d->pending_fits.dropped++;
        (void)pthread_mutex_unlock(&d->lock);
        return;
    }
    pair_copy(window, pair, p);
    f->window = window;
    f->effect = *effect;
    atomic_store(&f->waits, true);
}

static void store_fits(struct daemon *d, const struct effect *effect,
                       const struct pair_fits *fits)
{
    struct large_row r;
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        if (row_of_travel_fit(&r, effect, s, fits, d->params.pairs[effect->pair].id)) {
            /* The store counts a dropped row as missing, and backfill makes it again. */
            const enum status status = store_queue_push(d->queue, &r.row);
            (void)status;
        }
    }
}

void pending_fits_store(struct daemon *d)
{
    struct pair_fits fits;
    for (size_t pair = 0; pair < d->params.pair_count; pair++) {
        struct pending_fit *f = &d->pending_fits.fit[pair];
        if (atomic_load(&f->waits)) {
            snapshots_read_fits(d->snapshots, pair, f->window, &fits);
            store_fits(d, &f->effect, &fits);
            free(f->window);
            atomic_store(&f->waits, false);
        }
    }
}
