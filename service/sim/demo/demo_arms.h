/* service/sim/demo/demo_arms.h - drives two different arms for `tandem demo --kind arm6`.
 *
 * Moves of joints and lines alternate, long and short ones, so that speeds, accelerations and
 * delays of both are found quickly.
 */
#ifndef SERVICE_SIM_DEMO_DEMO_ARMS_H
#define SERVICE_SIM_DEMO_DEMO_ARMS_H

#include <stdint.h>

#include "base/numbers/random.h"
#include "logger/message/record.h"
#include "service/mqtt/mqtt_client.h"

/* Ratios of the commanded speeds that both arms reach. */
extern const double demo_arms_speed_ratios[SIDE_COUNT];

/* Parameters of the two arms, for `tandem robot --parameters`. */
extern const char demo_arms_parameters[];

enum { DEMO_ARMS_PAYLOAD = 256 };

/* Must begin as zeros. */
struct demo_arms {
    uint64_t sent; /* commands sent */
    struct random_source random;
    int64_t next_us; /* monotonic */
};

/* Write the payload of the next command. */
void demo_arms_write(struct demo_arms *a, char *payload, size_t size);

/* Send the next command interval_s after all previous ones have become entries. */
void demo_arms_drive(struct demo_arms *a, uint64_t entries, double interval_s,
                     struct mqtt_client *client);

#endif
