/* twin/pair/lag_parts.h - what the unexpected part of a lag consists of, by arithmetic:
 * transport, waiting, motion, the simulator's pace, and a rest (docs/forecast.md). Pure.
 */
#ifndef TWIN_PAIR_LAG_PARTS_H
#define TWIN_PAIR_LAG_PARTS_H

#include <stdint.h>

#include "logger/message/record.h"

/* Two transports, two waitings and the pace; then the sizes of the parts. */
enum { LAG_USUAL = 5 + ENTRY_PARTS };

/* The usual location and distance of each measure. All zero: nothing is known. */
struct lag_usual {
    float at[LAG_USUAL], spread[LAG_USUAL];
    uint8_t count[LAG_USUAL]; /* at most 255 */
};

/* The measures of one entry; NaN: not reported. */
struct lag_measures {
    int64_t lap_us[SIDE_COUNT];
    double expected_s[SIDE_COUNT], transport_s[SIDE_COUNT], motion_s[SIDE_COUNT];
    double pace;
    double low_s, high_s; /* interval of the lag; NaN: none */
    int64_t tolerance_us;
};

/* Splits the lag, and learns from the entry. */
void lag_parts_split(struct lag_usual *usual, const struct lag_measures *m,
                     struct entry_parts *out);

#endif
