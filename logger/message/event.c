#include "logger/message/event.h"

#include "base/status.h"

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

const char *event_kind_name(enum event_kind kind)
{
    static const char *const names[EVENT_KIND_COUNT] = {
        [EVENT_TICK] = "tick",
        [EVENT_COMMAND] = "command",
        [EVENT_REPLY] = "reply",
        [EVENT_TELEMETRY] = "telemetry",
        [EVENT_CONNECTION] = "connection",
        [EVENT_ECHO] = "echo",
        [EVENT_ACK] = "ack",
        [EVENT_REQUEST] = "request",
        [EVENT_FIT] = "fit",
        [EVENT_MALFORMED] = "malformed",
        [EVENT_AWAY] = "away",
        [EVENT_START] = "start",
        [EVENT_STOP] = "stop",
    };
    return (unsigned)kind < EVENT_KIND_COUNT ? names[kind] : "?";
}

const char *request_action_name(enum request_action action)
{
    static const char *const names[REQUEST_ACTION_COUNT] = {"propose", "promote", "rollback",
                                                            "identify", "following"};
    return (size_t)action < COUNT(names) ? names[action] : "unknown";
}

const char *fit_outcome_name(enum fit_outcome outcome)
{
    static const char *const names[FIT_OUTCOME_COUNT] = {"done", "failed", "cancelled"};
    return (size_t)outcome < COUNT(names) ? names[outcome] : "unknown";
}
