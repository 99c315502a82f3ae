/* service/job/query_settings.h - what-if changes of a team in a query:
 * set=R1.speed=+10%,IB.capacity=2. */
#ifndef SERVICE_JOB_QUERY_SETTINGS_H
#define SERVICE_JOB_QUERY_SETTINGS_H

#include "web/http/query.h"

enum { QUERY_SETTINGS_MAX = 64, QUERY_SEED_MAX = 2147483647 };

/* Not to be copied: texts are in it. */
struct query_settings {
    char text[QUERY_TEXT_MAX + 1]; /* split at its commas */
    const char *texts[QUERY_SETTINGS_MAX];
    size_t count;
};

/* Parse a value; team_settings_make() checks names and numbers. */
MUST_USE enum status query_settings_read(const struct query_value *value,
                                         struct query_settings *out);

#endif
