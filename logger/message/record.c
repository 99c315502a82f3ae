#include "logger/message/record.h"

#include "base/status.h"

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[VERDICT_COUNT] = {
        "AHEAD",        "BEHIND",       "SYNC",      "UNRESOLVED", "TIMEOUT",
        "INCONSISTENT", "VIRTUAL_ONLY", "REAL_ONLY", "OVERFLOW",
    };
    return (size_t)verdict < COUNT(names) ? names[verdict] : "?";
}

const char *alarm_type_name(enum alarm_type type)
{
    static const char *const names[ALARM_TYPE_COUNT] = {
        "timeout",   "inconsistent",   "duplicate", "late",     "out_of_context",
        "malformed", "queue_overflow", "offline",   "reboot",   "clock_jump",
        "drift",     "parameters",     "following", "fidelity",
    };
    return (size_t)type < COUNT(names) ? names[type] : "?";
}
