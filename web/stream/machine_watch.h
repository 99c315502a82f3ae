/* web/stream/machine_watch.h - tells those who listen when a state machine has changed state:
 * Tandem's own by the snapshots, the robots' by what they publish. What comes and goes between
 * two looks is not seen as an event; the trace in it has it. One thread. */
#ifndef WEB_STREAM_MACHINE_WATCH_H
#define WEB_STREAM_MACHINE_WATCH_H

#include "web/http/event_hub.h"
#include "web/http/web.h"

/* What a pair's machines were like at the last look: those of both robots, and Tandem's. */
typedef uint64_t machine_marks[SIDE_COUNT + 1];

/* Publish {"pair", "side", "machines"} of every pair (side null: Tandem's own) that is not as
 * at the last look. The first look publishes nothing. *seen: NULL at first, then [pair_count]
 * to be freed. */
void machine_watch_look(machine_marks **seen, const struct view *view,
                        const struct web_source *source, struct event_hub *hub);

#endif
