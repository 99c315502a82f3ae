/* service/sim/check/check.h - `tandem robot --check`: somebody's robot on the broker is commanded,
 * halted, probed and told parameters, and what it says is held against docs/protocol.md, or
 * against what is said of its codec. */
#ifndef SERVICE_SIM_CHECK_CHECK_H
#define SERVICE_SIM_CHECK_CHECK_H

#include "logger/message/codec.h"
#include "service/mqtt/mqtt_client.h"

struct check_options {
    struct mqtt_client_options broker;
    char pair[EVENT_PAIR_MAX];
    enum side side;
    bool link; /* it hears PAIR/SIDE/command */
    bool json;
    double rotation_rad, displacement_m; /* of a move, both above 0 */
    double timeout_s;                    /* for a reply */
    /* Its robots speak another way, in link mode: with what that remembers. NULL: natively. */
    const struct codec_pair *foreign;
    bool retains;    /* connections are retained in its protocol */
    bool idle_fails; /* a halt at rest fails there */
};

/* Returns what the command ends with: EXIT_AS_ASKED when something is wrong. */
int check_robot(const struct check_options *options);

#endif
