#include "base/errors/status.h"

#include "base/text/names.h"

ENUM_NAMES(status, STATUS_COUNT, "ok", "bad argument", "range", "parse error", "stale", "full",
           "empty", "out of memory", "numerics", "input/output");
