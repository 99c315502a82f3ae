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
        if (n == 4 && memcmp(wanted, "{id}", 4) == 0) {
            if (!is_pair_id(got)) {
                return false;
            }
            memcpy(id, got, strlen(got) + 1);
        } else if (strlen(got) != n || memcmp(got, wanted, n) != 0) {
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

enum route_match route_match(const struct web_route *table, size_t count, const char *method,
                             const char *path, const struct web_route **route,
                             char id[EVENT_PAIR_MAX], char allow[32])
{
    if (has_broken_percent(path)) {
        return ROUTE_BAD;
    }
    bool get = false;
    bool post = false;
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
        get = get || table[i].method == ROUTE_GET;
        post = post || table[i].method == ROUTE_POST;
    }
    if (!get && !post) {
        return ROUTE_NONE;
    }
    const char *text = get && post ? "GET, HEAD, POST" : get ? "GET, HEAD" : "POST";
    memcpy(allow, text, strlen(text) + 1);
    return ROUTE_WRONG_METHOD;
}

const char *route_method_name(enum route_method method)
{
    return method == ROUTE_POST ? "POST" : "GET";
}
