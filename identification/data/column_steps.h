/* identification/data/column_steps.h - steps and repeats of a recorded column, and turns where
 * it wraps.
 *
 * Recorded values are compared exactly: a sensor that was not read again repeats its last
 * value to the bit (docs/model/identification.md, "Columns"). Pure: no I/O, no clock.
 */
#ifndef IDENTIFICATION_DATA_COLUMN_STEPS_H
#define IDENTIFICATION_DATA_COLUMN_STEPS_H

#include <stddef.h>

/* Number of values from which a step is found, spread evenly; room of the scratch memory. */
enum { COLUMN_STEPS_ROOM = 16384 };

struct column_steps {
    double step;         /* all values differ by multiples of it; 0: none found */
    double repeat_ratio; /* share of rows that repeat, from the first to the last change */
    double hold_rows;    /* median number of rows that a value stays; 0: fewer than 4 changes */
    /* The same, if the sensor is slower than the rows: its value stays while it must change.
     * 0: each row is a new measurement. */
    size_t stale_rows;
};

/* Describes values x [n]. scratch [COLUMN_STEPS_ROOM]. Cost O(n). */
void column_steps_find(const double *x, size_t n, double *scratch, struct column_steps *out);

/* Jumps of a whole turn, such as from 180 to -180 degrees. */
struct column_wrap {
    double turn;         /* size of the jumps, in the unit of the values; 0: none */
    size_t first, count; /* index of the first value after a jump; number of jumps */
};

/* Finds jumps of one turn in x [n]. scratch as above. */
void column_wrap_find(const double *x, size_t n, double *scratch, struct column_wrap *out);

/* Removes these jumps from x [n], which may be `from`. */
void column_unwrap(const double *from, size_t n, double turn, double *x);

#endif
