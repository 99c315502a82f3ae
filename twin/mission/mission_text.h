/* twin/mission/mission_text.h - reads the text of a mission's message: what the kinds share.
 * Pure.
 */
#ifndef TWIN_MISSION_MISSION_TEXT_H
#define TWIN_MISSION_MISSION_TEXT_H

#include "base/text/names.h"
#include "logger/message/json_scan.h"

extern const char mission_text_where[]; /* the place of a fault: "mission" */

/* A member that sets a number of the plan. */
struct mission_number {
    char name[JSON_NAME_MAX];
    double min, max;
    enum { MISSION_NUMBER_REAL, MISSION_NUMBER_WHOLE, MISSION_NUMBER_TIME } type;
    size_t at; /* offset in the plan, of a double, an unsigned, or an int64_t in us */
    const char *expected;
};

/* Each returns false with the fault in the scanner. */
bool mission_text_number(struct json_scan *s, const struct mission_number *row, void *plan);
bool mission_text_choice(struct json_scan *s, const struct names *names, size_t *value,
                         const char *expected);

/* Reads a member by its row in rows[count]. Members that every mission has are skipped, any
 * other is a fault. */
bool mission_text_setting(struct json_scan *s, const struct json_text *key,
                          const struct mission_number *rows, size_t count, void *plan);

/* Sets the scanner's fault with its column. */
enum status mission_text_fault(const struct json_scan *s, struct err *err);

#endif
