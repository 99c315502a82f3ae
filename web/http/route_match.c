#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "web/http/percent.h"
#include "web/http/routes.h"

enum { SEGMENT_MAX = 64, SEGMENTS_MAX = 8 };

#define WORD "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

/* What may stand in the place of a segment of a route's path, by its name there. */
static const struct {
    const char *name, *allowed, *first; /* characters: any, and the first one */
    size_t most;
} VARIABLES[] = {{"{id}", WORD, WORD, EVENT_PAIR_MAX - 1},
                 {"{job}", "0123456789", "0123456789", 19},
                 {"{file}", WORD ".", WORD, EVENT_PAIR_MAX - 1}};

/* A path cut at its slashes, decoded. */
struct segments {
    size_t count; /* may be beyond SEGMENTS_MAX: then nothing fits */
    size_t bytes[SEGMENTS_MAX];
    char text[SEGMENTS_MAX][SEGMENT_MAX];
};

/* False: a '%' is broken. A segment that is longer than any of ours fits none. */
static bool cut_path(const char *path, struct segments *s)
{
    char rest[SEGMENT_MAX];
    s->count = 0;
    for (const char *p = path; *p == '/'; s->count++) {
        const char *from = p + 1;
        const size_t n = strcspn(from, "/");
        const bool kept = s->count < SEGMENTS_MAX;
        char *out = kept ? s->text[s->count] : rest;
        p = from + n;
        if (percent_decode(from, n, out, SEGMENT_MAX)) {
            if (kept) {
                s->bytes[s->count] = strlen(out);
            }
        } else if (memchr(from, '%', n)) {
            return false;
        } else if (kept) {
            out[0] = '\0';
            s->bytes[s->count] = SIZE_MAX;
        }
    }
    return true;
}

/* What stands in the place of the variable `wanted`, [n]. */
static bool take_variable(const char *wanted, size_t n, const char *got,
                          char id[EVENT_PAIR_MAX])
{
    for (size_t k = 0; k < COUNT(VARIABLES); k++) {
        if (strncmp(wanted, VARIABLES[k].name, n) == 0) {
            const size_t length = strspn(got, VARIABLES[k].allowed);
            const bool fits = strspn(got, VARIABLES[k].first) > 0 &&
                              length <= VARIABLES[k].most && got[length] == '\0';
            memcpy(id, got, fits ? length + 1 : 0);
            return fits;
        }
    }
    return false;
}

/* Its words first, for they tell most routes apart. */
static bool path_fits(const char *pattern, const struct segments *s, char id[EVENT_PAIR_MAX])
{
    const char *variable = NULL;
    const char *got = "";
    size_t bytes = 0;
    size_t i = 0;
    for (const char *q = pattern; *q == '/'; i++) {
        const char *wanted = q + 1;
        const size_t n = strcspn(wanted, "/");
        q = wanted + n;
        if (i >= s->count || i >= SEGMENTS_MAX) {
            return false;
        }
        if (wanted[0] == '{') {
            variable = wanted;
            bytes = n;
            got = s->text[i];
        } else if (n != s->bytes[i] || memcmp(wanted, s->text[i], n) != 0) {
            return false;
        }
    }
    return i == s->count && (!variable || take_variable(variable, bytes, got, id));
}

static bool method_fits(enum route_method have, const char *method)
{
    if (have == ROUTE_GET && strcmp(method, "HEAD") == 0) {
        return true;
    }
    return strcmp(method, route_method_name(have)) == 0;
}

/* "GET, HEAD, POST, PUT, DELETE", those there are. */
static void list_methods(const bool have[ROUTE_METHOD_COUNT], char allow[32])
{
    static const char *const names[ROUTE_METHOD_COUNT] = {"GET, HEAD", "POST", "PUT", "DELETE"};
    size_t used = 0;
    for (int method = 0; method < ROUTE_METHOD_COUNT; method++) {
        if (have[method]) {
            const int n =
                snprintf(allow + used, 32 - used, "%s%s", used > 0 ? ", " : "", names[method]);
            used += (size_t)n;
        }
    }
}

enum route_match route_match(const struct web_route *table, size_t count, const char *method,
                             const char *path, const struct web_route **route,
                             char id[EVENT_PAIR_MAX], char allow[32])
{
    struct segments segments;
    if (!cut_path(path, &segments)) {
        return ROUTE_BAD;
    }
    bool have[ROUTE_METHOD_COUNT] = {false};
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        char found[EVENT_PAIR_MAX] = "";
        if (!path_fits(table[i].path, &segments, found)) {
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

bool route_names_pair(const struct web_route *route)
{
    return strstr(route->path, "{id}") != NULL;
}
