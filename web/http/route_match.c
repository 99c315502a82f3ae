/* web/http/route_match.c - finds the route of a method and a path, and the name in the path.
 */
#include <string.h>

#include "web/http/routes.h"

#define WORD "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

/* The values that each variable of a route's path may have. */
static const struct {
    const char *name, *allowed, *first; /* allowed characters, and allowed first ones */
    size_t most;
} VARIABLES[] = {{"{id}", WORD, WORD, EVENT_PAIR_MAX - 1},
                 {"{team}", WORD, WORD, EVENT_PAIR_MAX - 1},
                 {"{robot}", WORD ".", WORD ".", EVENT_PAIR_MAX - 1},
                 {"{resource}", WORD ".", WORD ".", EVENT_PAIR_MAX - 1},
                 {"{order}", WORD ".:", WORD ".:", EVENT_ID_MAX - 1},
                 {"{mission}", WORD ".:", WORD ".:", EVENT_ID_MAX - 1},
                 {"{job}", "0123456789", "0123456789", 19},
                 {"{machine}", WORD, WORD, EVENT_PAIR_MAX - 1},
                 {"{capture}", WORD ".", WORD, 90},
                 {"{file}", WORD ".", WORD, EVENT_PAIR_MAX - 1}};

/* Matches the variable that begins at `wanted`: returns the length of its value at `got`, or 0.
 */
static size_t parse_variable(const char *wanted, const char *got, char id[EVENT_PAIR_MAX])
{
    size_t k = 0;
    while (strncmp(wanted, VARIABLES[k].name, strlen(VARIABLES[k].name)) != 0) {
        k++;
    }
    const size_t n = strspn(got, VARIABLES[k].allowed);
    if (strspn(got, VARIABLES[k].first) == 0 || n > VARIABLES[k].most) {
        return 0;
    }
    if (!id[0] && n < EVENT_PAIR_MAX) { /* only the first variable of the path */
        memcpy(id, got, n);
        id[n] = '\0';
    }
    return n;
}

static bool path_fits(const char *pattern, const char *path, char id[EVENT_PAIR_MAX])
{
    while (*pattern && (*pattern == '{' || *pattern == *path)) {
        const bool variable = *pattern == '{';
        const size_t n = variable ? parse_variable(pattern, path, id) : 1;
        if (n == 0) {
            return false;
        }
        path += n;
        pattern += variable ? strcspn(pattern, "/") : 1;
    }
    return !*pattern && !*path;
}

static bool method_fits(enum route_method have, const char *method)
{
    if (have == ROUTE_GET && strcmp(method, "HEAD") == 0) {
        return true;
    }
    return strcmp(method, route_method_name(have)) == 0;
}

/* Lists the existing methods as "GET, HEAD, POST, PUT, DELETE". */
static void list_methods(const bool have[ROUTE_METHOD_COUNT], char allow[32])
{
    static const char *const names[ROUTE_METHOD_COUNT] = {"GET, HEAD", "POST", "PUT", "DELETE"};
    allow[0] = '\0';
    for (int method = 0; method < ROUTE_METHOD_COUNT; method++) {
        if (have[method]) {
            names_append(allow, 32, names[method]);
        }
    }
}

enum route_match route_match(const struct web_route *table, size_t count, const char *method,
                             const char *path, const struct web_route **route,
                             char id[EVENT_PAIR_MAX], char allow[32])
{
    char plain[WEB_PATH_MAX];
    if (!percent_decode(path, strlen(path), plain, sizeof plain)) {
        return ROUTE_BAD;
    }
    /* an encoded slash separates nothing, and no path of ours has one */
    if (strcasestr(path, "%2f")) {
        return ROUTE_NONE;
    }
    bool have[ROUTE_METHOD_COUNT] = {false};
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        char found[EVENT_PAIR_MAX] = "";
        if (!path_fits(table[i].path, plain, found)) {
            continue;
        }
        if (method_fits(table[i].method, method)) {
            *route = &table[i];
            memcpy(id, found, sizeof found);
            return ROUTE_FOUND;
        }
        have[table[i].method] = true;
        any = true;
    }
    if (any) {
        list_methods(have, allow);
    }
    return any ? ROUTE_WRONG_METHOD : ROUTE_NONE;
}

ENUM_NAMES(route_method, ROUTE_METHOD_COUNT, "GET", "POST", "PUT", "DELETE");

const char *route_last_word(const struct web_route *route)
{
    return strrchr(route->path, '/') + 1;
}

bool route_names(const struct web_route *route, const char *segment)
{
    return strstr(route->path, segment) != NULL;
}
