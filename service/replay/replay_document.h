/* service/replay/replay_document.h - a replay as one JSON document: whole, or as much of it as
 * a page shows. */
#ifndef SERVICE_REPLAY_REPLAY_DOCUMENT_H
#define SERVICE_REPLAY_REPLAY_DOCUMENT_H

#include <stdio.h>

#include "service/replay/replay_run.h"

/* What of the records is written: the newest ones, over all pairs that were heard of. Other
 * pairs, and events, are left out. */
struct replay_extract {
    size_t entries_max, alarms_max, changes_max; /* >= 1 */
    size_t lag_points_max; /* of each pair's lag over time, over all its entries; >= 2 */
};

/* After replay_end_spool(). extract: NULL writes everything. With one, each pair also has
 * "lag", [[t, lag_s], …]: the least and the greatest lag of each stretch of its entries. The
 * reason of a failure is in run->err. */
MUST_USE enum status replay_document(struct replay_run *run,
                                     const struct replay_extract *extract, FILE *out);

#endif
