/* service/arm/bridge.h - a real arm's RTDE values as the messages of a robot: telemetry,
 * connection, and each move that it made as a command and its reply.
 *
 * Nobody announced those moves, so they are *repeated*: when one has ended, its command goes
 * out, for the virtual robot to do the same, and the real robot's reply follows when as much
 * time has gone by as the move took, with the stamps of the move itself and held_s. One after
 * the other; the next waits until the virtual robot has answered, when it does at all. In a lab
 * whose own controller publishes its commands (`heard`) each move is the reply to the oldest of
 * them, at once. docs/rtde.md.
 */
#ifndef SERVICE_ARM_BRIDGE_H
#define SERVICE_ARM_BRIDGE_H

#include "service/mqtt/broker_arguments.h"

struct bridge_options {
    struct mqtt_client_options broker;
    const char *pair;
    const char *host; /* of the controller */
    int port;
    bool commanded;      /* commands come from the lab's own controller */
    double rate_hz;      /* asked of the controller */
    double telemetry_hz; /* at most; 0: none */
    double timeout_s;    /* commands heard longer ago are nobody's any more */
    double for_s;        /* 0: until a signal */
};

/* Run until the time is over or a signal asks to stop; prints what happened. Returns the exit
 * status of the command. */
int bridge_run(const struct bridge_options *options);

#endif
