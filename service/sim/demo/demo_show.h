/* service/sim/demo/demo_show.h - what the demo shows, from what the daemon publishes.
 *
 * Of robots whose laps are compared: a row a command, and a summary against the true speeds; of
 * arms how far apart their tools were, too. Of vessels the gap between them. A pilot drives
 * those. At first the simulator gets the pilot's efforts, as the real vessel does: the open
 * loop that a lab has today. Then it is told to follow, and the efforts that it gets are
 * Tandem's.
 */
#ifndef SERVICE_SIM_DEMO_DEMO_SHOW_H
#define SERVICE_SIM_DEMO_DEMO_SHOW_H

#include "logger/message/message.h"
#include "logger/message/record.h"
#include "service/mqtt/mqtt_client.h"

/* Of turns and drives, or of moves of joints and of lines. */
enum demo_speed { DEMO_ANGULAR, DEMO_LINEAR, DEMO_SPEED_COUNT };
enum { DEMO_VELOCITIES = 3 };

/* One calibrated speed; NaN where there is none. */
struct demo_fit {
    double value, low, high;
};

struct demo_show {
    bool vessels; /* of kind usv3 */
    bool arms;    /* of kind arm6: laps as of others; speeds are shares of the commanded */
    bool colour;  /* a terminal */
    bool header_shown;
    bool online[SIDE_COUNT]; /* the robots have said so */
    uint64_t alarms;

    /* Of laps: */
    double truth[SIDE_COUNT][DEMO_SPEED_COUNT]; /* what the robots really do */
    struct demo_fit fits[SIDE_COUNT][DEMO_SPEED_COUNT];
    char verdicts[SIDE_COUNT][16]; /* of the fits: "PASS" …; "" before the first */
    /* |lag| before the first promotion of parameters, and after the newest one. */
    double lag_s_sum[2];
    uint64_t lag_count[2];
    double gap_mm_sum[2]; /* of arms: most that their tools were apart on the way, likewise */
    uint64_t gap_count[2];
    uint64_t promotions;
    bool settling; /* the next entry's command may have been under way at the promotion */
    uint64_t counts[VERDICT_COUNT];
    uint64_t inconsistent; /* of the same entries */
    uint64_t entries, commands;

    /* Of vessels: */
    double open_s;    /* how long the loop is open at first */
    double window_s;  /* over which the gap is taken */
    int64_t begun_us; /* all on the monotonic clock; 0: not yet */
    bool following;   /* it was told to */
    int64_t following_us;
    bool known[2]; /* gaps below: open loop, following */
    double gap[2][DEMO_VELOCITIES];
    double within_ratio[2];
};

/* A message of the daemon or of a robot, or a command: prints a row when there is one. context:
 * the struct demo_show. */
void demo_show_receive(void *context, const struct message *message);

/* Counts per verdict, and speeds fitted against true ones; of vessels the gap before and after.
 * False when there was nothing to compare. */
bool demo_show_summary(const struct demo_show *s);

/* What the two vessels are, for `tandem robot --parameters`. */
extern const char demo_show_vessels[];

/* Publish the pilot's efforts of this moment. Returns true once: now it shall follow. */
bool demo_show_drive(struct demo_show *s, struct mqtt_client *client);

#endif
