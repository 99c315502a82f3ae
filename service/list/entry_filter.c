#include "service/list/entry_filter.h"

#include <stdio.h>
#include <string.h>

#include "service/tool/commands.h"
#include "service/tool/lab_clock.h"

#define LATE "AHEAD,BEHIND,TIMEOUT"

void entry_filter_arguments(struct entry_filter *filter,
                            struct argument rows[ENTRY_FILTER_ARGUMENTS])
{
    /* clang-format off */
    const struct argument own[ENTRY_FILTER_ARGUMENTS] = {
        {"since", 0, ARGUMENT_TEXT, &filter->since, 0, 0, "TIME",
         "from this time on: 2026-11-20T05:55:00Z, Unix seconds, today, yesterday, -2h"},
        {"until", 0, ARGUMENT_TEXT, &filter->until, 0, 0, "TIME", "before this time"},
        {"verdict", 0, ARGUMENT_TEXT, &filter->verdict, 0, 0, "NAME,...",
         "entries of these verdicts, or INCONSISTENT: replies that differ"},
        {"late", 0, ARGUMENT_FLAG, &filter->late, 0, 0, NULL, "the same as --verdict " LATE},
    };
    /* clang-format on */
    memcpy(rows, own, sizeof own);
}

static void add_parameter(char text[QUERY_TEXT_MAX], const char *name, const char *value,
                          bool *fits)
{
    const size_t used = strlen(text);
    if (value) {
        const int n =
            snprintf(text + used, QUERY_TEXT_MAX - used, "%s%s=", used > 0 ? "&" : "", name);
        *fits = *fits && n > 0 && used + (size_t)n < QUERY_TEXT_MAX &&
                percent_encode(value, text + used + n, QUERY_TEXT_MAX - used - (size_t)n);
    }
}

bool entry_filter_parse(const struct entry_filter *filter, const char *command,
                        char text[QUERY_TEXT_MAX], struct query *query)
{
    struct query values;
    struct err err = {0};
    bool fits = true;
    text[0] = '\0';
    if (filter->late && filter->verdict) {
        return complain("%s: --late is --verdict " LATE ": give one of them", command);
    }
    add_parameter(text, "since", filter->since, &fits);
    add_parameter(text, "until", filter->until, &fits);
    add_parameter(text, "verdict", filter->late ? LATE : filter->verdict, &fits);
    if (!fits) {
        return complain("%s: --since, --until or --verdict is too long", command);
    }
    if (query_parse(text,
                    QUERY_BIT(QUERY_SINCE) | QUERY_BIT(QUERY_UNTIL) | QUERY_BIT(QUERY_VERDICT),
                    lab_clock_now_us(), query ? query : &values, &err) != STATUS_OK) {
        return complain("%s: --%s: %s", command, err.where, err.text);
    }
    return true;
}
