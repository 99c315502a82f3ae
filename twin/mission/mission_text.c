#include "twin/mission/mission_text.h"

#include <math.h>
#include <string.h>

#include "base/numbers/lab_time.h"

const char mission_text_where[] = "mission";

bool mission_text_number(struct json_scan *s, const struct mission_number *row, void *plan)
{
    double value = 0.0;
    if (!json_scan_number(s, &value)) {
        return false;
    }
    if (value < row->min || value > row->max ||
        (row->type == MISSION_NUMBER_WHOLE && fabs(value - floor(value)) > 0.0)) {
        return json_scan_fail(s, FAULT_OUT_OF_RANGE, row->expected);
    }
    if (row->type == MISSION_NUMBER_REAL) {
        memcpy((char *)plan + row->at, &value, sizeof value);
    } else if (row->type == MISSION_NUMBER_TIME) {
        const int64_t us = lab_us(value);
        memcpy((char *)plan + row->at, &us, sizeof us);
    } else {
        const unsigned whole = (unsigned)value;
        memcpy((char *)plan + row->at, &whole, sizeof whole);
    }
    return true;
}

bool mission_text_choice(struct json_scan *s, const struct names *names, size_t *value,
                         const char *expected)
{
    struct json_text text;
    char word[12] = "";
    if (!json_scan_text(s, &text)) {
        return false;
    }
    (void)json_text_copy(&text, word, sizeof word, false);
    *value = names_value(names, word);
    return *value < names->count || json_scan_fail(s, FAULT_UNKNOWN_VALUE, expected);
}

/* Members that every mission may have, and that are read elsewhere. */
static bool is_common(const struct json_text *key)
{
    static const char *const names[] = {"id", "kind", "t", "by", "name", "cancel"};
    bool found = false;
    for (size_t i = 0; i < COUNT(names); i++) {
        found = found || json_text_is(key, names[i]);
    }
    return found;
}

bool mission_text_setting(struct json_scan *s, const struct json_text *key,
                          const struct mission_number *rows, size_t count, void *plan)
{
    for (size_t i = 0; i < count; i++) {
        if (json_text_is(key, rows[i].name)) {
            return mission_text_number(s, &rows[i], plan);
        }
    }
    return is_common(key)
               ? json_scan_skip(s, NULL, NULL)
               : json_scan_fail(s, FAULT_UNKNOWN_KEY,
                                "a member that this kind of mission has was expected");
}

enum status mission_text_fault(const struct json_scan *s, struct err *err)
{
    char explained[ERR_TEXT_MAX];
    return err_set(err, STATUS_E_PARSE, s->fault, mission_text_where, "column %zu: %s",
                   json_scan_column(s), json_scan_explain(s, explained, sizeof explained));
}
