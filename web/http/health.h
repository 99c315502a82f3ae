/* web/http/health.h - the parts that make the daemon ready, with what is wrong with them. Pure.
 */
#ifndef WEB_HTTP_HEALTH_H
#define WEB_HTTP_HEALTH_H

#include "web/http/web.h"

enum { HEALTH_PART_COUNT = 4 };

struct health_part {
    const char *name; /* "restored" "broker" "journal" "store" */
    bool ok;
    const char *text; /* what is wrong; "" when nothing is said */
};

void health_parts(const struct view_health *health, struct health_part out[HEALTH_PART_COUNT]);

/* Are all of them right? */
bool health_is_ready(const struct view_health *health);

#endif
