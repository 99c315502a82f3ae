/* logger/message/lab_line.h - the lines that the daemon writes into its own journal, under
 * "<prefix>/$lab/": start, stop, away, request, fit, gap.
 *
 * They belong to no codec and never come over MQTT. Pure.
 */
#ifndef LOGGER_MESSAGE_LAB_LINE_H
#define LOGGER_MESSAGE_LAB_LINE_H

#include "logger/message/event.h"
#include "logger/message/message.h"

bool lab_line_is(const char *prefix, const char *topic);

/* "<prefix>/$lab/<what>" */
void lab_line_topic(const char *prefix, const char *what, char topic[MESSAGE_TOPIC_MAX]);

/* Decode one; returns the number of events, 0 for a line that says nothing to the lab ("gap").
 */
size_t lab_line_decode(const char *prefix, const struct message *message, event_emit *emit,
                       void *context);

#endif
