/* service/sim/demo/demo_show.h - shows the demo from what the daemon publishes.
 *
 * For robots whose laps are compared it prints a row per command, and a summary with the true
 * speeds; for arms also the distance between their tools. For vessels it shows the gap between
 * them, and drives them by a pilot. At first the simulator gets the pilot's efforts like the
 * real vessel: the open loop that labs have today. Then it follows, and Tandem computes its
 * efforts.
 */
#ifndef SERVICE_SIM_DEMO_DEMO_SHOW_H
#define SERVICE_SIM_DEMO_DEMO_SHOW_H

#include "logger/message/message.h"
#include "logger/message/record.h"
#include "service/mqtt/mqtt_client.h"

/* Speeds of turns and drives, or of joint moves and lines. */
enum demo_speed { DEMO_ANGULAR, DEMO_LINEAR, DEMO_SPEED_COUNT };
enum { DEMO_VELOCITIES = 3 };

/* One calibrated speed; NaN without one. */
struct demo_fit {
    double value, low, high;
};

struct demo_show {
    bool vessels; /* vessels of kind usv3 */
    /* arms of kind arm6: laps as for others; speeds are ratios of the commanded ones */
    bool arms;
    bool colour; /* output is a terminal */
    bool header_shown;
    bool online[SIDE_COUNT]; /* both robots published online */
    uint64_t alarms;

    /* Members for laps: */
    double truth[SIDE_COUNT][DEMO_SPEED_COUNT]; /* true speeds of the robots */
    double own[DEMO_SPEED_COUNT];               /* those of the simulator before any set */
    struct demo_fit fits[SIDE_COUNT][DEMO_SPEED_COUNT];
    char verdicts[SIDE_COUNT][16]; /* verdicts of the fits: "PASS" …; "" before the first */
    /* Sums of |lag| before the first promotion of parameters, and after the newest one. */
    double lag_s_sum[2];
    uint64_t lag_count[2];
    /* for arms: sums of the largest tool distance of each move, likewise */
    double gap_mm_sum[2];
    uint64_t gap_count[2];
    uint64_t promotions;
    bool settling; /* the next entry's command may have been sent before the promotion */
    uint64_t counts[VERDICT_COUNT];
    uint64_t inconsistent; /* inconsistent entries among these */
    uint64_t entries, commands;

    /* Members for vessels: */
    double open_s;    /* s, duration of the open loop */
    double window_s;  /* s, averaging time of the gap */
    int64_t begun_us; /* all on the monotonic clock; 0: not yet */
    bool following;   /* following was requested */
    int64_t following_us;
    bool known[2]; /* gaps below: open loop, following */
    double gap[2][DEMO_VELOCITIES];
    double within_ratio[2];
};

/* Handle a message of the daemon or a robot, or a command, and print a row when one is
 * complete. context: the struct demo_show. */
void demo_show_receive(void *context, const struct message *message);

/* Print counts per verdict and fitted speeds next to the true ones; for vessels the gap before
 * and after. False when there was nothing to compare. */
bool demo_show_summary(const struct demo_show *s);

/* Parameters of the two vessels, for `tandem robot --parameters`. */
extern const char demo_show_vessels[];

/* Publish the pilot's present efforts. Returns true once: now the simulator should follow. */
bool demo_show_drive(struct demo_show *s, struct mqtt_client *client);

#endif
