/* service/robots/fleet.h - the simulated robots of one process, of one kind, on one connection.
 *
 * Paho's thread decodes and queues; one thread moves all robots, period by period, in step with
 * real time (twin/efsm/efsm.h, the executive), and hands messages to the client when their
 * transport delay is over. What goes over MQTT: docs/protocol.md.
 */
#ifndef SERVICE_ROBOTS_FLEET_H
#define SERVICE_ROBOTS_FLEET_H

#include "service/robots/fleet_options.h"

/* Run until the time is over or a signal asks to stop; prints what happened. Returns the exit
 * status of the command. */
int fleet_run(const struct fleet_options *options);

#endif
