#include "base/status.h"

#include <stddef.h>

const char *status_name(enum status status)
{
    static const char *const names[STATUS_COUNT] = {
        [STATUS_OK] = "ok",           [STATUS_E_ARG] = "bad argument",
        [STATUS_E_RANGE] = "range",   [STATUS_E_PARSE] = "parse error",
        [STATUS_E_STALE] = "stale",   [STATUS_E_FULL] = "full",
        [STATUS_E_EMPTY] = "empty",   [STATUS_E_NOMEM] = "out of memory",
        [STATUS_E_MATH] = "numerics", [STATUS_E_IO] = "input/output",
    };
    return (size_t)status < COUNT(names) && names[status] ? names[status] : "unknown";
}
