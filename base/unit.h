/* base/unit.h - units that people and other programs write: "ns", "mm", "deg", "iso8601".
 *
 * A unit stands for what it measures per anything else, too: a turning speed in degrees per
 * second is in "deg". Pure.
 */
#ifndef BASE_UNIT_H
#define BASE_UNIT_H

#include <stdbool.h>

/* What is measured. */
enum unit_kind {
    UNIT_TIME,   /* s */
    UNIT_LENGTH, /* m */
    UNIT_ANGLE,  /* rad */
    UNIT_OTHER   /* none of these */
};

struct unit {
    const char *name;
    enum unit_kind kind;
    double factor; /* to s, m or rad; 0: it is a text, an ISO 8601 time */
};

/* NULL: there is none of this name. */
const struct unit *unit_find(const char *name);

/* "s, ms, us ...", those of a kind; UNIT_OTHER: all of them. */
const char *unit_list(enum unit_kind kind);

/* The unit of ours that a name ends with, as names of quantities do in this program: of "lap_s"
 * time, of "v_mps" length, of "tau_u_n" another one. False when it ends with none. */
bool unit_of_name(const char *name, enum unit_kind *kind);

#endif
