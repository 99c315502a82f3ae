/* service/demo/demo_vessels.h - the course of `tandem demo --kind usv3`: a pilot who drives the
 * vessels, and what is shown of the gap between them.
 *
 * At first the simulator gets the pilot's efforts, as the real vessel does: the open loop that
 * a lab has today. Then it is told to follow, and the efforts that it gets are Tandem's.
 */
#ifndef SERVICE_DEMO_DEMO_VESSELS_H
#define SERVICE_DEMO_DEMO_VESSELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logger/message/event.h"
#include "service/mqtt/mqtt_client.h"

enum { DEMO_VELOCITIES = 3, DEMO_LAB_MAX = 512 };

struct demo_vessels {
    bool colour;     /* a terminal */
    double open_s;   /* how long the loop is open at first */
    double window_s; /* over which the gap is taken */

    int64_t begun_us; /* all on the monotonic clock; 0: not yet */
    bool following;   /* it was told to */
    int64_t told_us;
    bool header_shown;
    bool known[2]; /* gaps below: open loop, following */
    double gap[2][DEMO_VELOCITIES];
    double within_ratio[2];
    uint64_t alarms, unreadable;
};

/* The course for a demo of so many seconds; 0: without an end. */
void demo_vessels_plan(struct demo_vessels *v, double for_s);

/* The pair's part of the lab file. */
void demo_vessels_lab(const struct demo_vessels *v, char out[DEMO_LAB_MAX]);

/* What the two vessels are, for `tandem robot --parameters`. */
extern const char demo_vessels_robots[];

/* Publish the pilot's efforts of this moment. Returns true once: now it shall follow. */
bool demo_vessels_drive(struct demo_vessels *v, struct mqtt_client *client, int64_t now_us);

/* A message of the daemon: a row when it tells the gap. */
void demo_vessels_take(struct demo_vessels *v, const char *topic, const char *payload,
                       size_t bytes, int64_t now_us);

/* The gap before and after. False when there was not both. */
bool demo_vessels_summary(const struct demo_vessels *v);

#endif
