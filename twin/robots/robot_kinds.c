#include "twin/robots/robot_kinds.h"

const struct robot_kind *const robot_kinds[] = {
    &kinematic_kind,
    &diffdrive_kind,
    &usv3_kind,
};

const size_t robot_kind_count = COUNT(robot_kinds);
