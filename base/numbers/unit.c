#include "base/numbers/unit.h"

#include <stddef.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "base/errors/status.h"

static const struct unit units[] = {
    {"s", UNIT_TIME, 1.0},
    {"ms", UNIT_TIME, 1e-3},
    {"us", UNIT_TIME, 1e-6},
    {"ns", UNIT_TIME, 1e-9},
    {"m", UNIT_LENGTH, 1.0},
    {"cm", UNIT_LENGTH, 1e-2},
    {"mm", UNIT_LENGTH, 1e-3},
    {"rad", UNIT_ANGLE, 1.0},
    {"deg", UNIT_ANGLE, RAD_PER_DEG},
    {"turn", UNIT_ANGLE, 2.0 * PI},
    {"iso8601", UNIT_STAMP, 0.0},
};

const struct unit *unit_find(const char *name)
{
    for (size_t i = 0; i < COUNT(units); i++) {
        if (strcmp(units[i].name, name) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

bool unit_fits(const struct unit *unit, enum unit_kind measured)
{
    return unit->kind == measured || (measured == UNIT_STAMP && unit->kind == UNIT_TIME) ||
           (measured == UNIT_UNKNOWN && unit->kind != UNIT_STAMP);
}

const char *unit_list(enum unit_kind measured)
{
    static const char *const lists[] = {
        [UNIT_TIME] = "s, ms, us, ns",
        [UNIT_STAMP] = "s, ms, us, ns, iso8601",
        [UNIT_LENGTH] = "m, cm, mm",
        [UNIT_ANGLE] = "rad, deg, turn",
        [UNIT_OTHER] = "",
        [UNIT_UNKNOWN] = "s, ms, us, ns, m, cm, mm, rad, deg, turn",
    };
    return lists[measured];
}

enum unit_kind unit_of_name(const char *name)
{
    static const struct {
        const char *end;
        enum unit_kind kind;
    } ends[] = {
        {"s", UNIT_TIME},       {"m", UNIT_LENGTH},  {"mm", UNIT_LENGTH}, {"mps", UNIT_LENGTH},
        {"mps2", UNIT_LENGTH},  {"rad", UNIT_ANGLE}, {"deg", UNIT_ANGLE}, {"radps", UNIT_ANGLE},
        {"radps2", UNIT_ANGLE}, {"n", UNIT_OTHER},   {"nm", UNIT_OTHER},  {"a", UNIT_OTHER},
    };
    const char *last = strrchr(name, '_');
    if (strcmp(name, "t") == 0 || strcmp(name, "t_s") == 0) {
        return UNIT_STAMP;
    }
    for (size_t i = 0; last && i < COUNT(ends); i++) {
        if (strcmp(last + 1, ends[i].end) == 0) {
            return ends[i].kind;
        }
    }
    return UNIT_UNKNOWN;
}
