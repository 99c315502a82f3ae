/* web/http/grounds.h - what an answer is made of, and in which version that stands.
 *
 * Read before the answer is made, and again when it is to be given once more: as long as all
 * versions are equal, making it anew would give the same.
 */
#ifndef WEB_HTTP_GROUNDS_H
#define WEB_HTTP_GROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct view;
struct web_route;
struct web_source;

enum ground {
    GROUND_PROGRAM, /* never changes */
    GROUND_VIEW,    /* anything of the snapshot */
    GROUND_PAIR,
    GROUND_MOVES, /* of the pair, as a fit of travel times uses them */
    GROUND_FOLLOWING,
    GROUND_DYNAMICS,
    GROUND_ENTRIES, /* the pair's in the store; so are the next ones */
    GROUND_ALARMS,
    GROUND_LOG,
    GROUND_CHANGES,
    GROUND_COUNT
};
#define GROUND_BIT(ground) (1u << (ground))

struct grounds {
    uint64_t version[GROUND_COUNT]; /* 0 where the answer does not rest on it */
};

/* Of the route's answer about this pair of the view. False: nobody can say, so that it is not
 * to be kept; *out is then undefined. Any thread. */
bool grounds_read(const struct web_source *source, const struct web_route *route,
                  const struct view *view, size_t pair, struct grounds *out);

bool grounds_are_same(const struct grounds *a, const struct grounds *b);

#endif
