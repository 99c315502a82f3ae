/* Any bytes as the URL of a request: no crash; found, parsed and echoed parts are as promised.
 * A first line that is a method is used as one; the rest is path and query. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/job/upload_jobs.h"
#include "web/http/routes.h"
#include "web/server/dispatch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_match(const char *method, const char *path)
{
    const struct web_route *route = NULL;
    char id[EVENT_PAIR_MAX] = "";
    char allow[32] = "";
    const enum route_match match =
        route_match(web_routes, web_route_count, method, path, &route, id, allow);
    assert((match == ROUTE_FOUND) == (route != NULL));
    assert((match == ROUTE_WRONG_METHOD) == (allow[0] != '\0'));
    if (match == ROUTE_FOUND) {
        assert((strchr(route->path, '{') != NULL) == (id[0] != '\0'));
        assert(strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
               strlen(id));
    }
}

static void check_query(const char *text)
{
    struct query q;
    struct err err = {0};
    if (query_parse(text, (1U << QUERY_PARAMETER_COUNT) - 1, 1795154155599953, &q, &err) !=
        STATUS_OK) {
        assert(err.text[0] && memchr(err.where, 0, sizeof err.where));
        return;
    }
    assert(q.limit >= 1 && q.limit <= QUERY_LIMIT_MAX);
    assert(q.since_us < q.until_us);
    assert(q.verdicts >> ENTRY_FILTER_COUNT == 0 && q.types >> ALARM_FILTER_COUNT == 0);
    assert(memchr(q.name, 0, sizeof q.name) && !strchr(q.name, '/'));
    assert(memchr(q.cursor, 0, sizeof q.cursor));
}

static void check_identify_query(const char *text)
{
    struct identify_words words;
    struct identify_request request;
    struct err err = {0};
    if (strlen(text) > QUERY_TEXT_MAX) {
        return;
    }
    if (identify_query_read(text, &words, &request, &err) != STATUS_OK) {
        assert(err.text[0] && memchr(err.where, 0, sizeof err.where));
        return;
    }
    assert(request.side[0] && words.used <= sizeof words.text);
    assert(request.ridge >= 0.0 && request.heading_m <= 100.0);
    assert(!request.name || !strchr(request.name, '/'));
}

static void check_head(const char *method, const char *url)
{
    const struct web_input input = {.method = method, .url = url, .accept = url, .local = true};
    struct web_context context = {.token = "t"};
    struct web_request request = {0};
    struct web_response response = {0};
    if (!dispatch_head(&context, &input, &request, &response)) {
        assert(response.status >= 400 && response.status < 500);
        assert(response.body.bytes > 0 && !response.body.failed);
        for (size_t i = 0; i + 1 < response.body.bytes; i++) {
            assert(response.body.text[i] >= ' ' && response.body.text[i] <= '~');
        }
    } else {
        assert(request.route && request.path[0] == '/');
    }
    body_clear(&response.body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    assert(text);
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    const char *method = "GET";
    char *url = text;
    char *line = strchr(text, '\n');
    if (line) {
        *line = '\0';
        method = text;
        url = line + 1;
    }
    check_head(method, url);
    (void)dispatch_tag_matches(url, "\"0123456789abcdef\"");
    char *query = strchr(url, '?');
    check_query(query ? query + 1 : url);
    check_identify_query(query ? query + 1 : url);
    if (query) {
        *query = '\0';
    }
    check_match(method, url);
    free(text);
    return 0;
}
