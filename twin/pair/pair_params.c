#include "twin/pair/pair_params.h"

ENUM_NAMES(pair_kind, PAIR_KIND_COUNT, "diffdrive", "usv3", "joint", "first_order", "generic");

ENUM_NAMES(pair_mode, PAIR_MODE_COUNT, "observe", "link");
