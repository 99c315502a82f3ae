/* service/replay/event_line.h - prints an event as a line of JSON, for `tandem codec try`. */
#ifndef SERVICE_REPLAY_EVENT_LINE_H
#define SERVICE_REPLAY_EVENT_LINE_H

#include <stdio.h>

#include "logger/message/event.h"

/* Print {"event": "reply", "pair": "r1", "side": "real", …}: numbers to nine places, absent
 * values left out. event NULL: the message is ignored, and detail says why. */
void event_line_print(const struct event *event, const char *detail, FILE *out);

#endif
