/* base/numbers/unit.h - units that people and other programs write: "ns", "mm", "deg", "iso8601".
 *
 * A unit stands for what it measures per anything else, too: a turning speed in degrees per
 * second is in "deg". Pure.
 */
#ifndef BASE_NUMBERS_UNIT_H
#define BASE_NUMBERS_UNIT_H

#include <stdbool.h>

/* What is measured. */
enum unit_kind {
    UNIT_TIME,   /* a duration, s */
    UNIT_STAMP,  /* a time of day, s */
    UNIT_LENGTH, /* m */
    UNIT_ANGLE,  /* rad */
    UNIT_OTHER,  /* something that none of these measures */
    UNIT_UNKNOWN
};

struct unit {
    const char *name;
    enum unit_kind kind; /* UNIT_STAMP: a text, an ISO 8601 time */
    double factor;       /* to s, m or rad; 0 of a text */
};

/* NULL: there is none of this name. */
const struct unit *unit_find(const char *name);

/* May what measures this stand in such a unit? A stamp may also be a number of seconds, and
 * what is not known anything that is a number. */
bool unit_fits(const struct unit *unit, enum unit_kind measured);

/* "s, ms, us ...": those that fit; "" of UNIT_OTHER. */
const char *unit_list(enum unit_kind measured);

/* By what a name ends with, as names of quantities do in this program: "lap_s" is a duration,
 * "v_mps" of length; "t" and "t_s" are stamps. */
enum unit_kind unit_of_name(const char *name);

#endif
