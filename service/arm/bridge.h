/* service/arm/bridge.h - bridges a real arm's RTDE interface to MQTT: it publishes telemetry,
 * the connection state, and a command with its reply for each move that the arm made.
 *
 * Nobody announced those moves, so the bridge repeats them. After a move ends, its command is
 * published, and the virtual robot makes the same move. The real robot's reply follows after
 * the duration of the move, with the move's own stamps and held_s. Moves are repeated one at a
 * time. The next one waits for the virtual robot's answer if that robot answers at all.
 *
 * In a lab whose own controller publishes its commands (`commanded`), each move is at once the
 * reply to the oldest of them. docs/rtde.md. With `drive` the bridge has the robot carry out
 * these commands itself (drive.h).
 */
#ifndef SERVICE_ARM_BRIDGE_H
#define SERVICE_ARM_BRIDGE_H

#include "service/mqtt/broker_arguments.h"

struct bridge_options {
    struct mqtt_client_options broker;
    const char *pair;
    const char *host; /* address of the controller */
    int port;
    bool commanded;  /* commands come from the lab's own controller */
    bool drive;      /* and the bridge has the robot carry them out */
    bool link;       /* its commands come on real/command */
    const char *arm; /* geometry by which they are checked */
    double floor_m;  /* m, of the base's frame: no part goes below; -INFINITY: none */
    int primary_port, dashboard_port;
    double rate_hz;      /* Hz, requested from the controller */
    double telemetry_hz; /* Hz, upper bound; 0: no telemetry */
    double timeout_s;    /* s, a command older than this expects no move */
    double for_s;        /* s; 0: until a signal */
};

/* Run until the time is over or a signal arrives, and print what happened. Returns the exit
 * status of the command. */
int bridge_run(const struct bridge_options *options);

#endif
