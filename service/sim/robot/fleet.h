/* service/sim/robot/fleet.h - the simulated robots of one process, of one kind, on one
 * connection.
 *
 * Paho's thread decodes and queues. One thread moves all robots, period by period, in step with
 * real time (twin/efsm/efsm.h, the executive), and publishes messages after their transport
 * delay. A period has phases of five milliseconds or more, and each pair has its own phase, so
 * that the fleet does not send everything at one moment. docs/protocol.md has the MQTT
 * messages.
 */
#ifndef SERVICE_SIM_ROBOT_FLEET_H
#define SERVICE_SIM_ROBOT_FLEET_H

#include "service/mqtt/broker_arguments.h"
#include "service/wire/modbus_server.h"
#include "service/wire/rtde_server.h"
#include "twin/sim/robot/robot.h"
#include "twin/sim/robot/world.h"

enum { FLEET_PAIRS_MAX = 10000 };

/* Options of the simulated robots of one process. */
struct fleet_options {
    struct mqtt_client_options broker;
    const struct robot_kind *kind;
    const char *pair; /* id of the first pair; further ones count up its number */
    int pair_count;   /* 1 .. FLEET_PAIRS_MAX */
    bool sides[SIDE_COUNT];
    bool link; /* subscribes to PAIR/SIDE/command, else PAIR/command */
    double parameters[SIDE_COUNT][ROBOT_PARAMETERS_MAX];
    /* borrowed, replaces the kind's own machine; NULL: does not */
    const struct machine *machine;
    struct world *world;         /* borrowed, its time is advanced; NULL: an empty plane */
    double pose[EVENT_AXES_MAX]; /* start pose of the robots */
    size_t pose_count;           /* 0: not given */

    double period_s; /* s of a step, in the robots' time */
    double pace;     /* ratio of robots' time to real time */
    double for_s;    /* s of real time; 0: until a signal */
    int seed;
    const char *version; /* of the robots' program, in their connection; "": not sent */

    /* Imperfections, the same for each robot. */
    double delay_s, jitter_s, loss_ratio, duplicate_ratio;
    double clock_offset_s, clock_drift_ppm;
    double reboot_s;       /* s between restarts of each robot; 0: never */
    double mismatch_ratio; /* standard deviation of motor gains, of kinds that have such */

    double telemetry_hz; /* in the robots' time; 0: none */
    double machines_hz;  /* at most so often; 0: none */

    /* The one arm of the fleet speaks Modbus TCP; where: NULL: it does not. */
    struct modbus_options modbus;
    struct tcp_listen rtde; /* and RTDE, likewise */
    bool rtde_writes;       /* inputs from beyond loopback, too */
    struct tcp_listen primary, dashboard; /* and programs of a bridge, which need RTDE */
};

/* Run until the time is over or a signal asks to stop; prints what happened. Returns the exit
 * status of the command. */
int fleet_run(const struct fleet_options *options);

#endif
