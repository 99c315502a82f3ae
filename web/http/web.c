#include "web/http/web.h"

#include <string.h>

void health_parts(const struct view_health *health, struct health_part out[HEALTH_PART_COUNT])
{
    out[0] =
        (struct health_part){"restored", health->restored,
                             health->restored ? "" : "checkpoint and journal are being read"};
    out[1] = (struct health_part){"broker", health->broker, health->broker_text};
    out[2] = (struct health_part){"journal", health->journal, health->journal_text};
    out[3] = (struct health_part){"store", health->store, health->store_text};
}

bool health_is_ready(const struct view_health *health)
{
    return health->restored && health->broker && health->journal && health->store;
}

size_t view_find_pair(const struct view *view, const char *id, size_t bytes)
{
    size_t i = 0;
    while (i < view->pair_count &&
           (strncmp(view->params[i].id, id, bytes) != 0 || view->params[i].id[bytes] != '\0')) {
        i++;
    }
    return i;
}

const struct pair_following *view_following(const struct view *view, size_t pair)
{
    return view->following ? view->following[pair] : NULL;
}
