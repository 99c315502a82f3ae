/* twin/pair/pair_parts.c - the parts of an entry's lag that were not expected, from what the
 * robots report. docs/forecast.md
 */
#include <math.h>

#include "twin/pair/pair_run.h"

static double seconds_or_nan(int64_t us)
{
    return us == LAB_TIME_NONE ? (double)NAN : lab_s(us);
}

/* Are both laps those of the whole move, of robots that are still the same? */
static bool is_comparable(const struct pair *pair, const struct pair_slot *slot,
                          const struct entry *e)
{
    bool comparable = e->ambiguous == ENTRY_SURE && e->interrupted_us <= 0 &&
                      slot->sent_us[SIDE_VIRTUAL] >= pair->virtual_since_us;
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        comparable =
            comparable && e->answered[s] && e->status[s] == REPLY_DONE && !e->uncalibrated[s];
    }
    return comparable;
}

void pair_parts_fill(const struct pair_run *run, const struct pair_slot *slot, struct entry *e)
{
    struct pair *pair = run->pair;
    const struct forecast_interval lag =
        forecast_interval(&slot->forecast, FORECAST_LAG, FORECAST_95);
    if (isnan(lag.expected_s) || !is_comparable(pair, slot, e)) {
        return;
    }
    struct lag_measures m = {.pace = e->virtual_pace,
                             .low_s = lag.low_s,
                             .high_s = lag.high_s,
                             .tolerance_us = run->p->sync_tolerance_us};
    bool clock_set = false;
    pair->unmeasured = 0;
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        m.lap_us[s] = e->lap_us[s];
        m.expected_s[s] = slot->forecast.expected_s[s];
        m.transport_s[s] = seconds_or_nan(e->transport_us[s]);
        m.motion_s[s] = e->clock_set[s] ? (double)NAN : seconds_or_nan(e->motion_us[s]);
        clock_set = clock_set || e->clock_set[s];
        if (!e->clock_set[s]) {
            pair->unmeasured |=
                (uint8_t)((isnan(m.transport_s[s]) ? PAIR_NO_TRANSPORT : 0) << s);
            pair->unmeasured |= (uint8_t)((isnan(m.motion_s[s]) ? PAIR_NO_MOTION : 0) << s);
        }
    }
    lag_parts_split(&pair->usual, &m, &e->parts);
    if (clock_set && e->parts.explained == ENTRY_NOT_EXPLAINED) {
        e->parts.explained = ENTRY_BY_CLOCK;
    }
}
