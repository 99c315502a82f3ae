/* service/daemon/robot_states.h - the state machines that robots publish of themselves: the
 * newest of each side, for display. Nothing is decided by them, so they go neither into the
 * journal nor to the lab. Bounded: ROBOT_STATES_MAX bytes a side. Any thread.
 */
#ifndef SERVICE_DAEMON_ROBOT_STATES_H
#define SERVICE_DAEMON_ROBOT_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logger/message/event.h"
#include "twin/lab.h"

enum { ROBOT_STATES_MAX = 8192 };

struct robot_states;

/* pairs: borrowed. STATUS_E_NOMEM. */
MUST_USE enum status robot_states_create(const struct lab_params *lab,
                                         struct robot_states **out);
void robot_states_destroy(struct robot_states *states); /* NULL allowed */

/* A message on "<prefix>/<pair>/<side>/machines"; an empty one takes the old one back. False
 * when the topic is another; what is no JSON object, too long or of an unknown pair is
 * dropped. */
bool robot_states_take(struct robot_states *states, const char *prefix, const char *topic,
                       const char *payload, size_t bytes);

/* Copy the newest text of a side; returns its bytes, 0 when there is none. */
size_t robot_states_read(struct robot_states *states, size_t pair, enum side side,
                         char out[ROBOT_STATES_MAX]);

#endif
