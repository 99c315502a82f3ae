/* service/daemon/standby_state.c - who owns the lab, as all parts of the daemon ask. */
#include <inttypes.h>
#include <stdio.h>

#include "service/daemon/daemon_parts.h"

enum { BEHIND_LINES = 1000 }; /* a follower that lacks more is not ready */

bool standby_is_shared(const struct daemon *d)
{
    return d->file->engine.role == ENGINE_OWNER && d->file->engine.postgresql.server_count > 0;
}

bool standby_is_live(const struct daemon *d)
{
    return !standby_is_shared(d) || atomic_load(&d->standby.live);
}

void standby_note_restored(struct daemon *d)
{
    if (standby_is_shared(d)) {
        d->standby.newest_us = lab_time(d->lab);
        store_queue_advance(d->queue, d->standby.newest_us);
    }
}

bool standby_read_report(struct daemon *d, struct partition_report *out)
{
    const bool running = standby_is_shared(d) && d->standby.partition;
    if (running) {
        partition_get_report(d->standby.partition, out);
    }
    return running;
}

bool standby_describe(struct daemon *d, char text[160])
{
    struct partition_report r;
    text[0] = '\0';
    if (!standby_read_report(d, &r)) {
        return true;
    }
    const int64_t behind = r.n > r.own_n ? r.n - r.own_n : 0;
    if (r.state == OWNERSHIP_OWNING && r.durable) {
        return true;
    }
    (void)snprintf(text, 160, "instance %.40s: %s, %" PRId64 " lines behind%s%.60s",
                   d->file->engine.instance, ownership_state_name(r.state), behind,
                   r.error[0] ? ": " : "", r.error);
    return r.state == OWNERSHIP_FOLLOWING && r.durable && behind <= BEHIND_LINES && !r.error[0];
}
