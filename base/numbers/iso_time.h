/* base/numbers/iso_time.h - reads ISO 8601 times of robots, files and people.
 *
 * All tables, mappings, codecs, journals and requests use this one reader: "T" or a blank
 * between date and time, a point or a comma, 0 to 9 digits behind it, and as zone "Z", "+02",
 * "+0200", "+02:00", "Z+0000" (mosquitto_sub 2.0) or none. Pure.
 */
#ifndef BASE_NUMBERS_ISO_TIME_H
#define BASE_NUMBERS_ISO_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/numbers/lab_time.h"

struct iso_time {
    int64_t us;         /* since 1970; LAB_TIME_NONE: not a time */
    bool zoned;         /* the text names its zone; otherwise UTC was assumed */
    const char *wanted; /* what is missing or wrong; NULL: nothing */
};

/* False if it is not such a time. */
bool iso_time_parse(const char *text, size_t bytes, struct iso_time *out);

/* Parses "Z", "+02", "+0200", "+02:00", "Z+0200" or nothing: seconds east of Greenwich. False
 * if it is no zone. */
bool iso_time_parse_zone(const char *text, size_t bytes, int64_t *offset_s);

/* Parses a time that a person asks for: Unix seconds ("1763617674.25"), an ISO 8601 time or
 * date, "now", "today", "yesterday", or a time ago ("-90s", "-30min", "-2h", "-1d", "-1w").
 * Days begin at midnight UTC. Returns LAB_TIME_NONE if it is none. */
int64_t iso_time_parse_asked(const char *text, int64_t now_us);

/* The forms that iso_time_parse_asked() accepts, for messages. */
#define ISO_TIME_ASKED                                                                         \
    "Unix seconds (1763617674.25), ISO 8601 (2026-11-20, 2026-11-20T05:55:55.5Z), today, "     \
    "yesterday or a time ago (-2h)"

#endif
