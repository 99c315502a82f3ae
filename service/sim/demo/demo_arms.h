/* service/sim/demo/demo_arms.h - two arms that differ, and who drives them, for `tandem demo --kind
 * arm6`.
 *
 * Moves of joints and lines in turn, long and short ones, so that speeds, accelerations and
 * delays of both are found soon.
 */
#ifndef SERVICE_SIM_DEMO_DEMO_ARMS_H
#define SERVICE_SIM_DEMO_DEMO_ARMS_H

#include <stdint.h>

#include "base/numbers/random.h"
#include "logger/message/record.h"
#include "service/mqtt/mqtt_client.h"

/* What both do of the speeds that they are asked for. */
extern const double demo_arms_speed_ratios[SIDE_COUNT];

/* What the two arms are, for `tandem robot --parameters`. */
extern const char demo_arms_parameters[];

/* Start with zeros. */
struct demo_arms {
    uint64_t sent; /* commands */
    struct random_source random;
    int64_t next_us; /* monotonic */
};

/* Send the next command interval_s after all that were sent have become entries. */
void demo_arms_drive(struct demo_arms *a, uint64_t entries, double interval_s,
                     struct mqtt_client *client);

#endif
