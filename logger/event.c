#include "logger/event.h"

#include "twin/base/status.h"

const char *side_name(enum side side)
{
    static const char *const names[SIDE_COUNT] = {"real", "virtual"};
    return (size_t)side < COUNT(names) ? names[side] : "";
}

const char *reply_status_name(enum reply_status status)
{
    static const char *const names[REPLY_STATUS_COUNT] = {
        [REPLY_DONE] = "done",     [REPLY_DATA] = "data",       [REPLY_BLOCKED] = "blocked",
        [REPLY_HALTED] = "halted", [REPLY_IGNORED] = "ignored", [REPLY_ERROR] = "error",
    };
    return (size_t)status < COUNT(names) ? names[status] : "unknown";
}
