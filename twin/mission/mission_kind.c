#include "twin/mission/mission_kind.h"

#include <string.h>

#define KIND(row) &(row),
const struct mission_kind *const mission_kinds[] = {
#include "twin/mission/mission_kinds.def"
};
#undef KIND
const size_t mission_kind_count = COUNT(mission_kinds);

const struct mission_kind *mission_kind_find(const char *name)
{
    for (size_t i = 0; i < mission_kind_count; i++) {
        if (strcmp(mission_kinds[i]->name, name) == 0) {
            return mission_kinds[i];
        }
    }
    return NULL;
}

ENUM_NAMES(mission_robot, MISSION_ROBOT_COUNT, MISSION_ROBOTS(NAMES_TEXT));
