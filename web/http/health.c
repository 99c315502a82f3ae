#include "web/http/health.h"

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
