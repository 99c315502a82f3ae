/* service/sim/check/check.h - `tandem robot --check`: tests a robot on the broker. It sends
 * commands, a halt, probes and parameters, and compares the robot's messages with
 * docs/protocol.md, or with the rules of its codec. */
#ifndef SERVICE_SIM_CHECK_CHECK_H
#define SERVICE_SIM_CHECK_CHECK_H

#include "logger/message/codec.h"
#include "service/mqtt/mqtt_client.h"

struct check_options {
    struct mqtt_client_options broker;
    char pair[EVENT_PAIR_MAX];
    enum side side;
    bool link; /* it subscribes to PAIR/SIDE/command */
    bool json;
    double rotation_rad, displacement_m; /* size of a move, both above 0 */
    double timeout_s;                    /* s, wait for a reply */
    /* For robots with a foreign protocol, in link mode: the codec and its state. NULL:
     * native. */
    const struct codec_pair *foreign;
    bool retains;    /* connection messages are retained in its protocol */
    bool idle_fails; /* a halt at rest is answered with a failure */
};

/* Returns the exit status of the command: EXIT_AS_ASKED when something is wrong. */
int check_robot(const struct check_options *options);

#endif
