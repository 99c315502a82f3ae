#include "twin/sim/robot/robot_kinds.h"

#define ROBOT_KIND(symbol) &(symbol),
const struct robot_kind *const robot_kinds[] = {
#include "twin/sim/robot/robot_kinds.def"
};
#undef ROBOT_KIND

const size_t robot_kind_count = COUNT(robot_kinds);
