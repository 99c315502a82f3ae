/* web/http/routes.h - the table of routes, and the search for a path's row.
 *
 * To add a resource: a handler in its own file, a row in routes.def, its path in openapi.yaml
 * (a test compares the two).
 */
#ifndef WEB_HTTP_ROUTES_H
#define WEB_HTTP_ROUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"
#include "web/http/handler.h"

enum route_method { ROUTE_GET, ROUTE_POST, ROUTE_PUT, ROUTE_DELETE, ROUTE_METHOD_COUNT };

/* body_max of a route for uploads: the lab file's limit holds, and uploads are counted. */
#define ROUTE_UPLOAD SIZE_MAX

enum route_token {
    ROUTE_HEALTH,  /* for everybody, even beyond an address's limits */
    ROUTE_OPEN,    /* for everybody */
    ROUTE_READING, /* token needed unless the peer is on loopback */
    ROUTE_WRITING  /* token always needed */
};

struct web_route {
    enum route_method method;
    /* Literal segments and one {id} (a pair's), {job}, {machine}, {file}, {capture} or {team};
     * after a {team} one {robot}, {resource} or {order} (the id of a job). */
    const char *path;
    size_t body_max; /* bytes; a longer body is refused with 413. ROUTE_UPLOAD: see above */
    enum route_token needs_token;
    unsigned parameters; /* set of QUERY_BIT */
    web_handler *handle;
};

enum route_match {
    ROUTE_FOUND,
    ROUTE_NONE,         /* 404 */
    ROUTE_WRONG_METHOD, /* 405; allow is filled */
    ROUTE_BAD           /* 400: broken percent-encoding */
};

extern const struct web_route web_routes[];
extern const size_t web_route_count;

/* Find the route for a method ("GET", "HEAD" as GET, "POST", …) and a path as received, without
 * query. FOUND: *route and id, the first variable, are written. WRONG_METHOD: allow is written
 * ("GET, HEAD"). NONE also if the variable cannot be a pair's or team's id
 * ([A-Za-z0-9_-]{1,31}), a job's ([0-9]{1,19}) or a file name
 * ([A-Za-z0-9_-][A-Za-z0-9_.-]{0,30}). Pure. */
enum route_match route_match(const struct web_route *table, size_t count, const char *method,
                             const char *path, const struct web_route **route,
                             char id[EVENT_PAIR_MAX], char allow[32]);

ENUM_NAMES_DECLARED(route_method);

/* The last word of the path: "entries" of "/api/v1/pairs/{id}/entries". */
const char *route_last_word(const struct web_route *route);

/* Does the path have this segment: "{id}" of a pair, "{team}"? */
bool route_names(const struct web_route *route, const char *segment);

#endif
