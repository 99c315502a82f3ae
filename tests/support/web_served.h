/* tests/support/web_served.h - the web fixture served over real sockets, and a check that
 * answers satisfy the contract. */
#ifndef TESTS_SUPPORT_WEB_SERVED_H
#define TESTS_SUPPORT_WEB_SERVED_H

#include "tests/support/check.h"

#include "tests/support/http.h"
#include "tests/support/schema.h"
#include "tests/support/web_fixture.h"
#include "web/http/problem.h"
#include "web/resource/page.h"

static const char TOKEN[] = "s3cret-token";
#define AUTH "Authorization: Bearer s3cret-token\r\n"

static struct fixture fixture;
static struct web *web;
static uint16_t port;
static json_t *contract;

static inline json_t *parse(const struct http_reply *reply)
{
    return json_loadb(reply->body, reply->body_bytes, JSON_REJECT_DUPLICATES, NULL);
}

static inline json_t *member(json_t *node, const char *a, const char *b, const char *c)
{
    node = json_object_get(node, a);
    node = b ? json_object_get(node, b) : node;
    return c ? json_object_get(node, c) : node;
}

/* The schema of a route's answer with this status. */
static inline json_t *answer_schema(const char *path, const char *method, const char *status,
                                    const char *media)
{
    json_t *operation = member(contract, "paths", path, method);
    json_t *response = schema_resolve(contract, member(operation, "responses", status, NULL));
    return member(response, "content", media, "schema");
}

static inline void check_contract(const char *path, const char *method, const char *status,
                                  const char *media, const struct http_reply *reply)
{
    char why[256] = "";
    json_t *body = parse(reply);
    json_t *schema = answer_schema(path, method, status, media);
    CHECK(path, schema);
    CHECK(path, body);
    if (schema && body) {
        const bool fits = schema_check(contract, schema, body, path, why, sizeof why);
        CHECK_TEXT(path, why, "");
        CHECK(path, fits);
    }
    json_decref(body);
}

static inline void check_problem(const char *row, const struct http_reply *reply, int status,
                                 const char *slug)
{
    char type[64];
    char want[64];
    json_t *body = parse(reply);
    (void)snprintf(want, sizeof want, "/problems/%s", slug);
    CHECK_INT(row, reply->status, status);
    CHECK_TEXT(row, http_header(reply, "Content-Type", type, sizeof type), PROBLEM_MEDIA_TYPE);
    CHECK_TEXT(row, json_string_value(json_object_get(body, "type")), want);
    CHECK_INT(row, json_integer_value(json_object_get(body, "status")), status);
    json_decref(body);
    check_contract("/api/v1/pairs", "get", "400", PROBLEM_MEDIA_TYPE, reply);
}

static inline void start_served(void)
{
    contract = json_loadb((const char *)openapi_json, openapi_json_bytes, 0, NULL);
    fixture_open(&fixture, 60);
    web = fixture_serve(&fixture, TOKEN, 2);
    port = web_port(web);
}

/* Every test of the suite; the exit status. */
static inline int end_served(void)
{
    int result = check_run();
    web_stop(web);
    if (atomic_load(&fixture.acquired) != 0) {
        (void)fprintf(stderr, "a view was not released\n");
        result = EXIT_FAILURE;
    }
    fixture_close(&fixture);
    json_decref(contract);
    return result;
}

#endif
