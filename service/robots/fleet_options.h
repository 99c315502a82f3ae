/* service/robots/fleet_options.h - what the simulated robots of one process shall be like. */
#ifndef SERVICE_ROBOTS_FLEET_OPTIONS_H
#define SERVICE_ROBOTS_FLEET_OPTIONS_H

#include <stdbool.h>

#include "service/mqtt/broker_arguments.h"
#include "twin/robots/robot.h"
#include "twin/robots/world.h"

enum { FLEET_PAIRS_MAX = 1000 };

struct fleet_options {
    struct mqtt_client_options broker;
    const struct robot_kind *kind;
    const char *pair; /* of the first pair; further ones count up its number */
    int pair_count;   /* 1 .. FLEET_PAIRS_MAX */
    bool sides[SIDE_COUNT];
    bool link; /* hears PAIR/SIDE/command, else PAIR/command */
    double parameters[SIDE_COUNT][ROBOT_PARAMETERS_MAX];
    struct world *world; /* borrowed; its time is advanced; NULL: an empty plane */
    double pose[3];      /* where the robots begin */

    double period_s; /* of a step, in the robots' time */
    double pace;     /* robots' time per real time */
    double for_s;    /* of real time; 0: until a signal */
    int seed;

    /* Imperfections, the same for each robot. */
    double delay_s, jitter_s, loss_ratio, duplicate_ratio;
    double clock_offset_s, clock_drift_ppm;
    double reboot_s;       /* each robot restarts this often; 0: never */
    double mismatch_ratio; /* standard deviation of motor gains, of kinds that have such */

    double telemetry_hz; /* in the robots' time; 0: none */
    double machines_hz;  /* at most so often; 0: none */
};

#endif
