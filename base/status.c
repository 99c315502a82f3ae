#include "base/status.h"

#include "base/names.h"

ENUM_NAMES(status, STATUS_COUNT, "ok", "bad argument", "range", "parse error", "stale", "full",
           "empty", "out of memory", "numerics", "input/output");
