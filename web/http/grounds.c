#include "web/http/grounds.h"

#include <string.h>

#include "base/hash.h"
#include "twin/dynamics/pair_dynamics.h"
#include "twin/following/pair_following.h"
#include "web/http/routes.h"

/* Of the moves that a fit of travel times uses: they come one by one, and those of the virtual
 * robot are forgotten when other parameters are put in force. Not pair->version, which moves
 * with every sample of telemetry while the fit stays the same. */
static uint64_t version_of_moves(const struct pair *pair)
{
    const struct parameter_set *active = parameters_find(&pair->parameters, PARAMETERS_ACTIVE);
    uint64_t count[] = {0, pair->parameters.promotions, active ? active->version : 0};
    for (int side = 0; side < SIDE_COUNT; side++) {
        count[0] += pair->side[side].moves + pair->side[side].moves_excluded;
    }
    return hash_bytes(HASH_START, count, sizeof count);
}

static bool read_stored(const struct web_source *source, enum store_kind kind, const char *pair,
                        uint64_t *version)
{
    if (source->stored) {
        *version = source->stored(source->context, kind, pair);
    }
    return source->stored != NULL;
}

static bool read_one(const struct web_source *source, enum ground ground,
                     const struct view *view, size_t i, uint64_t *version)
{
    switch (ground) {
    case GROUND_PROGRAM:
        return true;
    case GROUND_VIEW:
        *version = view->version;
        return true;
    case GROUND_PAIR:
        *version = view->pairs[i]->version;
        return true;
    case GROUND_MOVES:
        *version = version_of_moves(view->pairs[i]);
        return true;
    case GROUND_FOLLOWING:
        if (view->following && view->following[i]) {
            *version = view->following[i]->version;
        }
        return true;
    case GROUND_DYNAMICS:
        if (view->dynamics && view->dynamics[i]) {
            *version = view->dynamics[i]->version;
        }
        return true;
    case GROUND_ENTRIES:
        return read_stored(source, STORE_ENTRIES, view->params[i].id, version);
    case GROUND_ALARMS:
        return read_stored(source, STORE_ALARMS, view->params[i].id, version);
    case GROUND_LOG:
        return read_stored(source, STORE_LOG, view->params[i].id, version);
    case GROUND_CHANGES:
        return read_stored(source, STORE_CHANGES, view->params[i].id, version);
    case GROUND_COUNT:
        break;
    }
    return false;
}

bool grounds_read(const struct web_source *source, const struct web_route *route,
                  const struct view *view, size_t pair, struct grounds *out)
{
    bool known = route->rests_on != 0;
    *out = (struct grounds){{0}};
    for (unsigned ground = 0; known && ground < GROUND_COUNT; ground++) {
        if (route->rests_on & GROUND_BIT(ground)) {
            known = read_one(source, (enum ground)ground, view, pair, &out->version[ground]);
        }
    }
    return known;
}

bool grounds_are_same(const struct grounds *a, const struct grounds *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}
