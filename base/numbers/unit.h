/* base/numbers/unit.h - units in files of people and other programs: "ns", "mm", "deg",
 * "iso8601".
 *
 * A unit also covers rates of its quantity: a turning speed in degrees per second has the unit
 * "deg". Pure.
 */
#ifndef BASE_NUMBERS_UNIT_H
#define BASE_NUMBERS_UNIT_H

#include <stdbool.h>

/* The measured quantity. */
enum unit_kind {
    UNIT_TIME,   /* a duration, s */
    UNIT_STAMP,  /* a time of day, s */
    UNIT_LENGTH, /* m */
    UNIT_ANGLE,  /* rad */
    UNIT_OTHER,  /* any other quantity */
    UNIT_UNKNOWN
};

struct unit {
    const char *name;
    enum unit_kind kind; /* UNIT_STAMP: a text, an ISO 8601 time */
    double factor;       /* factor to s, m or rad; 0 for a text */
};

/* Returns NULL if there is no such unit. */
const struct unit *unit_find(const char *name);

/* Can the quantity have this unit? A stamp may also be a number of seconds. An unknown quantity
 * may have any numeric unit. */
bool unit_fits(const struct unit *unit, enum unit_kind measured);

/* Lists the units that fit, "s, ms, us ..."; "" for UNIT_OTHER. */
const char *unit_list(enum unit_kind measured);

/* Derives the quantity from the end of a name: "lap_s" is a duration, "v_mps" a length; "t" and
 * "t_s" are stamps. */
enum unit_kind unit_of_name(const char *name);

#endif
