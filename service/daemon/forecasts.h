/* service/daemon/forecasts.h - what teams at work will do, foretold whenever something begins.
 *
 * A thread of its own looks at snapshots, makes each team's newest forecast that is wanted
 * (twin/team/live/team_live_predict.h) and puts it into the journal, from which the lab has it:
 * a replay finds what was foretold without foretelling it again. What was wanted before this
 * start is not made any more: it would not be of its beginning.
 */
#ifndef SERVICE_DAEMON_FORECASTS_H
#define SERVICE_DAEMON_FORECASTS_H

#include "service/daemon/inbox.h"
#include "service/daemon/snapshots.h"

struct forecasts;

struct forecasts_counts {
    uint64_t made;
    uint64_t duration_us; /* all of them */
    uint64_t failed;      /* no memory */
};

/* Borrows views and inbox. Cold path: allocates. STATUS_E_NOMEM, STATUS_E_IO. Without teams it
 * does nothing. */
MUST_USE enum status forecasts_start(struct snapshots *snapshots, struct inbox *inbox,
                                     struct forecasts **out);
/* Ends the thread; it may take as long as one forecast. NULL is allowed. */
void forecasts_stop(struct forecasts *forecasts);

/* Any thread. */
void forecasts_read_counts(struct forecasts *forecasts, struct forecasts_counts *out);

#endif
