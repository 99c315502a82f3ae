#include <stdio.h>
#include <string.h>

#include "web/percent.h"
#include "web/routes.h"

enum { SEGMENT_MAX = 64 };

static bool is_pair_id(const char *text)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    const size_t n = strlen(text);
    return n > 0 && n < EVENT_PAIR_MAX && strspn(text, allowed) == n;
}

static bool is_job_id(const char *text)
{
    const size_t n = strlen(text);
    return n > 0 && n <= 19 && strspn(text, "0123456789") == n;
}

static bool is_file_name(const char *text)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    const size_t n = strlen(text);
    return n > 0 && n < EVENT_PAIR_MAX && text[0] != '.' && strspn(text, allowed) == n;
}

/* What may stand in the place of a segment of a route's path, by its name there. */
static const struct {
    const char *name;
    bool (*fits)(const char *text);
} VARIABLES[] = {{"{id}", is_pair_id}, {"{job}", is_job_id}, {"{file}", is_file_name}};

/* A segment against that of a route's path, [n]. */
static bool segment_fits(const char *wanted, size_t n, const char *got, char id[EVENT_PAIR_MAX])
{
    for (size_t k = 0; k < COUNT(VARIABLES); k++) {
        if (n == strlen(VARIABLES[k].name) && memcmp(wanted, VARIABLES[k].name, n) == 0) {
            if (!VARIABLES[k].fits(got)) {
                return false;
            }
            memcpy(id, got, strlen(got) + 1);
            return true;
        }
    }
    return n == strlen(got) && memcmp(wanted, got, n) == 0;
}

/* Cut the next "/segment" off *path. Returns its decoded text, or NULL at the end; *bad when it
 * is not decodable. */
static const char *next_segment(const char **path, char out[SEGMENT_MAX], bool *bad)
{
    if (**path != '/') {
        return NULL;
    }
    const char *from = *path + 1;
    const size_t n = strcspn(from, "/");
    *path = from + n;
    if (!percent_decode(from, n, out, SEGMENT_MAX)) {
        /* Too long for any of ours is no more than unknown; only '%' can be broken. */
        *bad = memchr(from, '%', n) != NULL;
        return "";
    }
    return out;
}

static bool path_fits(const char *pattern, const char *path, char id[EVENT_PAIR_MAX], bool *bad)
{
    char segment[SEGMENT_MAX];
    const char *p = path;
    const char *q = pattern;
    while (*q == '/') {
        const char *wanted = q + 1;
        const size_t n = strcspn(wanted, "/");
        q = wanted + n;
        const char *got = next_segment(&p, segment, bad);
        if (!got || *bad) {
            return false;
        }
        if (!segment_fits(wanted, n, got, id)) {
            return false;
        }
    }
    return *p == '\0';
}

static bool has_broken_percent(const char *path)
{
    char segment[SEGMENT_MAX];
    bool bad = false;
    const char *p = path;
    while (!bad && next_segment(&p, segment, &bad)) {
    }
    return bad;
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
    if (has_broken_percent(path)) {
        return ROUTE_BAD;
    }
    bool have[ROUTE_METHOD_COUNT] = {false};
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        char found[EVENT_PAIR_MAX] = "";
        bool bad = false;
        if (!path_fits(table[i].path, path, found, &bad)) {
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

const char *route_method_name(enum route_method method)
{
    static const char *const names[ROUTE_METHOD_COUNT] = {"GET", "POST", "PUT", "DELETE"};
    return names[method];
}

bool route_names_pair(const struct web_route *route)
{
    return strstr(route->path, "{id}") != NULL;
}
