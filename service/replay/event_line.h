/* service/replay/event_line.h - an event as a line of JSON, for people who try what a codec
 * makes of a message. */
#ifndef SERVICE_REPLAY_EVENT_LINE_H
#define SERVICE_REPLAY_EVENT_LINE_H

#include <stdio.h>

#include "logger/message/event.h"

/* {"event": "reply", "pair": "r1", "side": "real", …}: what it says, numbers to nine places;
 * what was not told is left out. event NULL: nobody's message; detail says why. */
void event_line_print(const struct event *event, const char *detail, FILE *out);

#endif
