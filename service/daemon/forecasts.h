/* service/daemon/forecasts.h - predicts the courses of working teams whenever something begins.
 *
 * A thread watches snapshots and computes each team's newest forecast that is wanted
 * (twin/team/live/team_live_predict.h). It writes the forecast to the journal, from which the
 * lab reads it, so a replay has the same forecasts without computing them. Forecasts wanted
 * before this start are skipped, because they would not describe their beginning.
 */
#ifndef SERVICE_DAEMON_FORECASTS_H
#define SERVICE_DAEMON_FORECASTS_H

#include "service/daemon/inbox.h"
#include "service/daemon/snapshots.h"

struct forecasts;

struct forecasts_counts {
    uint64_t made;
    uint64_t duration_us; /* total computing time */
    uint64_t failed;      /* no memory */
};

/* Borrows snapshots and inbox. Cold path: allocates. STATUS_E_NOMEM, STATUS_E_IO. Without teams
 * it does nothing. */
MUST_USE enum status forecasts_start(struct snapshots *snapshots, struct inbox *inbox,
                                     struct forecasts **out);
/* End the thread, which may take as long as one forecast. NULL is allowed. */
void forecasts_stop(struct forecasts *forecasts);

/* Any thread. */
void forecasts_read_counts(struct forecasts *forecasts, struct forecasts_counts *out);

#endif
