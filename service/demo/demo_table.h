/* service/demo/demo_table.h - what the demo shows: a row per command, and a summary at the end,
 * from the entries, alarms and calibrations that the daemon publishes. */
#ifndef SERVICE_DEMO_DEMO_TABLE_H
#define SERVICE_DEMO_DEMO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logger/message/record.h"

enum demo_speed { DEMO_ANGULAR, DEMO_LINEAR, DEMO_SPEED_COUNT };

/* One calibrated speed; NaN where there is none. */
struct demo_fit {
    double value, low, high;
};

struct demo_table {
    bool colour; /* a terminal */
    bool header_shown;
    double truth[SIDE_COUNT][DEMO_SPEED_COUNT]; /* what the robots really do */
    struct demo_fit fits[SIDE_COUNT][DEMO_SPEED_COUNT];
    char verdicts[SIDE_COUNT][16]; /* of the fits: "PASS" …; "" before the first */
    /* |lag| before the first promotion of parameters, and after the newest one. */
    double lag_s_sum[2];
    uint64_t lag_count[2];
    uint64_t promotions;
    bool settling; /* the next entry's command may have been under way at the promotion */
    uint64_t counts[VERDICT_COUNT];
    uint64_t entries, commands, alarms, unreadable;
};

/* One message of the daemon, or a command: prints a row when it is an entry. */
void demo_table_take(struct demo_table *t, const char *topic, const char *payload,
                     size_t bytes);

/* Counts per verdict, and speeds fitted against true ones. */
void demo_table_summary(const struct demo_table *t);

#endif
