/* web/stream/motion_history.h - the last minutes of pairs that follow: velocities of the real
 * robot and of the virtual one, twice a second.
 *
 * In memory only and lost at a restart. At most MOTION_PAIRS_MAX pairs have a history, those
 * that followed first: 34 kB each, 7 MB in all.
 */
#ifndef WEB_STREAM_MOTION_HISTORY_H
#define WEB_STREAM_MOTION_HISTORY_H

#include "logger/message/json_write.h"
#include "web/stream/pair_rings.h"

enum { MOTION_POINTS_MAX = 600, MOTION_PAIRS_MAX = 200 };

/* Cold path: allocates, to be freed with pair_rings_destroy(). STATUS_E_NOMEM. */
MUST_USE enum status motion_history_create(struct pair_rings **out);

/* Add the velocities of a snapshot. One thread; allocates at first, and for a pair's first. */
void motion_history_look(struct pair_rings *history, const struct view *view);

/* Write "t": [t, …], oldest first, and "velocities": {name: {"reference": [], "actual": []}}.
 * Any thread. */
void motion_history_write(struct pair_rings *history, struct json_writer *w,
                          const struct view *view, size_t pair);

#endif
