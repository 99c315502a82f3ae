/* needs: threads */
/* The HTTP server over real sockets: every route, every error. It runs threads. */
#include "tests/support/web_served.h"

#include "twin/report/fit_report.h"
#include "web/http/routes.h"
#include "web/server/dispatch.h"

static void fill_id(const char *pattern, const char *id, char *out, size_t size)
{
    const char *brace = strchr(pattern, '{');
    if (brace) {
        (void)snprintf(out, size, "%.*s%s%s", (int)(brace - pattern), pattern,
                       strncmp(brace, "{job}", 5) == 0    ? "42"
                       : strncmp(brace, "{team}", 6) == 0 ? "cell"
                                                          : id,
                       strchr(brace, '}') + 1);
    } else {
        (void)snprintf(out, size, "%s", pattern);
    }
}

/* Only the first pair has everything. */
static bool is_missing(const struct web_route *route, const char *id)
{
    return strcmp(id, "r1") != 0 &&
           (strstr(route->path, "/following") || strstr(route->path, "/fidelity"));
}

/* Files of the dashboard: test_page.c. */
static bool is_page(const struct web_route *route)
{
    return strcmp(route->path, "/") == 0 || strncmp(route->path, "/page/", 6) == 0;
}

static void test_every_get_route(void)
{
    static const char *const ids[] = {"r1", "r2", "quiet"};
    for (size_t i = 0; i < web_route_count * 3; i++) {
        const struct web_route *route = &web_routes[i / 3];
        char target[128];
        char type[128];
        char text[64];
        if (route->method != ROUTE_GET || is_page(route) || is_missing(route, ids[i % 3]) ||
            strstr(route->path, "{order}") ||             /* test_team_parts() */
            strstr(route->path, "{machine}") ||           /* test_picture() */
            strstr(route->path, "{capture}") ||           /* test_captures() */
            strstr(route->path, "/report") ||             /* test_web_report.c */
            strcmp(route->path, "/api/v1/events") == 0) { /* never ends: test_stream.c */
            continue;
        }
        fill_id(route->path, ids[i % 3], target, sizeof target);
        struct http_reply reply = http_get(port, target);
        if ((strstr(target, "/dynamics") && i % 3 > 0) || strstr(target, "/parameters/model") ||
            strstr(target, "/missions") || strstr(target, "/map.")) {
            check_contract(route->path, "get", "404", PROBLEM_MEDIA_TYPE, &reply);
            http_free(&reply);
            continue;
        }
        CHECK_INT(target, reply.status, 200);
        http_header(&reply, "Content-Type", type, sizeof type);
        if (strcmp(route->path, "/metrics") == 0) {
            CHECK_TEXT(target, type, "text/plain; version=0.0.4; charset=utf-8");
        } else {
            CHECK_TEXT(target, type, "application/json");
            check_contract(route->path, "get", "200", "application/json", &reply);
        }
        CHECK_TEXT(target, http_header(&reply, "X-Content-Type-Options", text, sizeof text),
                   "nosniff");
        (void)snprintf(type, sizeof type, "%zu", reply.body_bytes);
        CHECK_TEXT(target, http_header(&reply, "Content-Length", text, sizeof text), type);
        struct http_reply head = http_request(port, "HEAD", target, "", NULL);
        CHECK_INT(target, head.status, 200);
        CHECK_INT(target, head.body_bytes, 0);
        CHECK(target, http_header(&head, "Content-Length", text, sizeof text)[0]);
        http_free(&head);
        http_free(&reply);
    }
}

#define LONG_32  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define LONG_256 LONG_32 LONG_32 LONG_32 LONG_32 LONG_32 LONG_32 LONG_32 LONG_32
#define LONG_512 LONG_256 LONG_256

static const struct {
    const char *row, *method, *target, *headers, *body;
    int status;
    const char *slug;
} ERRORS[] = {
    {"no such path", "GET", "/nothing", "", NULL, 404, "not-found"},
    {"no such file", "GET", "/page/none.js", "", NULL, 404, "not-found"},
    {"up", "GET", "/api/v1/../../etc/passwd", "", NULL, 404, "not-found"},
    {"no such pair", "GET", "/api/v1/pairs/r9", "", NULL, 404, "no-such-pair"},
    {"no such pair, list", "GET", "/api/v1/pairs/r9/entries", "", NULL, 404, "no-such-pair"},
    {"prefix of an id", "GET", "/api/v1/pairs/r", "", NULL, 404, "no-such-pair"},
    {"put", "PUT", "/api/v1/pairs", "", "x", 405, "wrong-method"},
    {"options", "OPTIONS", "/api/v1/pairs", "", NULL, 405, "wrong-method"},
    {"get of post", "GET", "/api/v1/pairs/r1/commands", "", NULL, 405, "wrong-method"},
    {"broken escape", "GET", "/api/v1/pairs/%zz", "", NULL, 400, "bad-url"},
    {"NUL", "GET", "/api/v1/pairs/r1%00", "", NULL, 400, "bad-url"},
    {"raw byte", "GET", "/api/v1/pairs/r1\xc3\xa9", "", NULL, 400, "bad-url"},
    {"unknown parameter", "GET", "/api/v1/pairs?foo=1", "", NULL, 400, "bad-parameter"},
    {"parameter of another", "GET", "/api/v1/pairs?verdict=SYNC", "", NULL, 400,
     "bad-parameter"},
    {"any parameter", "GET", "/healthz?x", "", NULL, 400, "bad-parameter"},
    {"limit", "GET", "/api/v1/pairs?limit=0", "", NULL, 400, "bad-parameter"},
    {"cursor, pairs", "GET", "/api/v1/pairs?cursor=AAAA", "", NULL, 400, "bad-parameter"},
    {"an empty version", "GET", "/api/v1/pairs/r1/entries?virtual_version=", "", NULL, 400,
     "bad-parameter"},
    {"a version of 65 bytes", "GET",
     "/api/v1/pairs/r1/entries?real_version="
     "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdefx",
     "", NULL, 400, "bad-parameter"},
    {"cursor, entries", "GET", "/api/v1/pairs/r1/entries?cursor=AAAA", "", NULL, 400,
     "bad-parameter"},
    {"long path", "GET", "/" LONG_512, "", NULL, 414, "url-too-long"},
    {"long query", "GET", "/api/v1/pairs?a=" LONG_512 LONG_512 LONG_512 LONG_512, "", NULL, 414,
     "url-too-long"},
    {"both long", "GET", "/" LONG_512 "?" LONG_512 LONG_512 LONG_512 LONG_512 LONG_512, "",
     NULL, 414, "url-too-long"},
    {"get with a body", "GET", "/api/v1/pairs", "", "{}", 413, "body-too-large"},
    {"no token", "POST", "/api/v1/pairs/r1/commands", "", "{\"op\":\"go\"}", 401,
     "unauthorized"},
    {"wrong token", "POST", "/api/v1/pairs/r1/commands",
     "Authorization: Bearer s3cret-tokem\r\n", "{\"op\":\"go\"}", 401, "unauthorized"},
    {"short token", "POST", "/api/v1/pairs/r1/commands", "Authorization: Bearer s3cret\r\n",
     "{\"op\":\"go\"}", 401, "unauthorized"},
    {"empty token", "POST", "/api/v1/pairs/r1/commands", "Authorization: Bearer \r\n",
     "{\"op\":\"go\"}", 401, "unauthorized"},
    {"repeated token", "POST", "/api/v1/pairs/r1/commands",
     "Authorization: Bearer s3cret-tokens3cret-token\r\n", "{\"op\":\"go\"}", 401,
     "unauthorized"},
    {"basic", "POST", "/api/v1/pairs/r1/commands", "Authorization: Basic czNjcmV0\r\n",
     "{\"op\":\"go\"}", 401, "unauthorized"},
    {"command to an unknown pair", "POST", "/api/v1/pairs/r9/commands", AUTH, "{\"op\":\"go\"}",
     404, "no-such-pair"},
    {"parameters without a token", "POST", "/api/v1/pairs/r1/parameters/promote", "", "", 401,
     "unauthorized"},
    {"parameters of an unknown pair", "POST", "/api/v1/pairs/r9/parameters/promote", AUTH, "",
     404, "no-such-pair"},
    {"bad version", "POST", "/api/v1/pairs/r1/parameters/promote", AUTH, "{\"version\":-1}",
     400, "bad-body"},
    {"version as text", "POST", "/api/v1/pairs/r1/parameters/promote", AUTH,
     "{\"version\":\"1\"}", 400, "bad-body"},
    {"no model", "POST", "/api/v1/pairs/r1/parameters/promote", AUTH, "{\"model\":\"U 3\"}",
     400, "bad-body"},
    {"unknown member", "POST", "/api/v1/pairs/r1/parameters/rollback", AUTH, "{\"to\":1}", 400,
     "bad-body"},
    {"following without a token", "PUT", "/api/v1/pairs/r1/following", "", "{\"active\":true}",
     401, "unauthorized"},
    {"following of an unknown pair", "PUT", "/api/v1/pairs/r9/following", AUTH,
     "{\"active\":true}", 404, "no-such-pair"},
    {"following of a pair without", "PUT", "/api/v1/pairs/r2/following", AUTH,
     "{\"active\":true}", 404, "no-following"},
    {"how it follows", "GET", "/api/v1/pairs/r2/following", "", NULL, 404, "no-following"},
    {"how truly", "GET", "/api/v1/pairs/quiet/fidelity", "", NULL, 404, "no-following"},
    {"following posted", "POST", "/api/v1/pairs/r1/following", AUTH, "{\"active\":true}", 405,
     "wrong-method"},
    {"nothing asked for", "PUT", "/api/v1/pairs/r1/following", AUTH, "{}", 400, "bad-body"},
    {"no body", "PUT", "/api/v1/pairs/r1/following", AUTH, NULL, 400, "bad-body"},
    {"a list", "PUT", "/api/v1/pairs/r1/following", AUTH, "[true]", 400, "bad-body"},
    {"active as text", "PUT", "/api/v1/pairs/r1/following", AUTH, "{\"active\":\"yes\"}", 400,
     "bad-body"},
    {"a misspelt gain", "PUT", "/api/v1/pairs/r1/following", AUTH, "{\"bandwith\":3}", 400,
     "bad-body"},
    {"no gain", "PUT", "/api/v1/pairs/r1/following", AUTH, "{\"bandwidth_radps\":0}", 400,
     "bad-body"},
    {"a gain beyond the period", "PUT", "/api/v1/pairs/r1/following", AUTH,
     "{\"bandwidth_radps\":400}", 400, "bad-body"},
    {"no such rejection", "PUT", "/api/v1/pairs/r1/following", AUTH,
     "{\"rejection\":\"magic\"}", 400, "bad-body"},
    {"infinite gain", "PUT", "/api/v1/pairs/r1/following", AUTH, "{\"observer_radps\":1e999}",
     400, "bad-body"},
    {"a pair of its own", "PUT", "/api/v1/pairs/r1/following", AUTH,
     "{\"pair\":\"r2\",\"active\":true}", 400, "bad-body"},
    {"following oversized", "PUT", "/api/v1/pairs/r1/following", AUTH,
     "{\"note\":\"" LONG_256 "\"}", 413, "body-too-large"},
    {"no op", "POST", "/api/v1/pairs/r1/commands", AUTH, "{}", 400, "bad-body"},
    {"empty op", "POST", "/api/v1/pairs/r1/commands", AUTH, "{\"op\":\"\"}", 400, "bad-body"},
    {"empty body", "POST", "/api/v1/pairs/r1/commands", AUTH, "", 400, "bad-body"},
    {"no body", "POST", "/api/v1/pairs/r1/commands", AUTH, NULL, 400, "bad-body"},
    {"blank body", "POST", "/api/v1/pairs/r1/commands", AUTH, " \n ", 400, "bad-body"},
    {"cut", "POST", "/api/v1/pairs/r1/commands", AUTH, "{\"op\":\"go\"", 400, "bad-body"},
    {"two", "POST", "/api/v1/pairs/r1/commands", AUTH, "{\"op\":\"go\"}{}", 400, "bad-body"},
    {"array", "POST", "/api/v1/pairs/r1/commands", AUTH, "[{\"op\":\"go\"}]", 400, "bad-body"},
    {"number as op", "POST", "/api/v1/pairs/r1/commands", AUTH, "{\"op\":1}", 400, "bad-body"},
    {"text as number", "POST", "/api/v1/pairs/r1/commands", AUTH,
     "{\"op\":\"go\",\"rotation_rad\":\"1\"}", 400, "bad-body"},
    {"infinite", "POST", "/api/v1/pairs/r1/commands", AUTH,
     "{\"op\":\"go\",\"displacement_m\":1e999}", 400, "bad-body"},
    {"nan", "POST", "/api/v1/pairs/r1/commands", AUTH, "{\"op\":\"go\",\"displacement_m\":NaN}",
     400, "bad-body"},
    {"given twice", "POST", "/api/v1/pairs/r1/commands", AUTH,
     "{\"op\":\"go\",\"op\":\"halt\"}", 400, "bad-body"},
    {"misspelt", "POST", "/api/v1/pairs/r1/commands", AUTH, "{\"op\":\"go\",\"rotation\":1}",
     400, "bad-body"},
    {"empty id", "POST", "/api/v1/pairs/r1/commands", AUTH, "{\"op\":\"go\",\"id\":\"\"}", 400,
     "bad-body"},
    {"null id", "POST", "/api/v1/pairs/r1/commands", AUTH, "{\"op\":\"go\",\"id\":null}", 400,
     "bad-body"},
    {"op too long", "POST", "/api/v1/pairs/r1/commands", AUTH, "{\"op\":\"abcdefghijklmnop\"}",
     400, "bad-body"},
    {"id too long", "POST", "/api/v1/pairs/r1/commands", AUTH,
     "{\"op\":\"go\",\"id\":\"" LONG_32 LONG_32 "\"}", 400, "bad-body"},
    {"invalid utf-8", "POST", "/api/v1/pairs/r1/commands", AUTH,
     "{\"op\":\"say\",\"note\":\"\xff\"}", 400, "bad-body"},
    {"oversized", "POST", "/api/v1/pairs/r1/commands", AUTH,
     "{\"op\":\"say\",\"note\":\"" LONG_256 "\"}", 413, "body-too-large"},
    {"oversized with the id", "POST", "/api/v1/pairs/r1/commands", AUTH,
     "{\"op\":\"say\",\"note\":\"" LONG_32 LONG_32 LONG_32 LONG_32 LONG_32 LONG_32 LONG_32
     "\"}",
     413, "body-too-large"},
    {"oversized, no token", "POST", "/api/v1/pairs/r1/commands", "", LONG_512, 401,
     "unauthorized"},
    {"oversized, no route", "POST", "/nothing", "", LONG_512, 404, "not-found"},
};

static void test_errors(void)
{
    for (size_t i = 0; i < COUNT(ERRORS); i++) {
        char text[64];
        struct http_reply reply = http_request(port, ERRORS[i].method, ERRORS[i].target,
                                               ERRORS[i].headers, ERRORS[i].body);
        check_problem(ERRORS[i].row, &reply, ERRORS[i].status, ERRORS[i].slug);
        CHECK_INT(ERRORS[i].row,
                  http_header(&reply, "WWW-Authenticate", text, sizeof text)[0] != '\0',
                  ERRORS[i].status == 401);
        CHECK_INT(ERRORS[i].row, http_header(&reply, "Allow", text, sizeof text)[0] != '\0',
                  ERRORS[i].status == 405);
        http_free(&reply);
    }
    CHECK_INT("none was sent", atomic_load(&fixture.commands), 0);
}

/* A body that the codec refuses gets the code of the codec. */
static void test_codes_of_bodies(void)
{
    static const char pairs[] = "/api/v1/pairs/r1";
    static const struct {
        const char *method, *resource, *body, *code;
    } rows[] = {
        {"PUT", "following", "{\"bandwidth_radps\":0}", "out_of_range"},
        {"PUT", "following", "{\"rejection\":\"magic\"}", "unknown_value"},
        {"PUT", "following", "{}", "bad_body"},
        {"POST", "commands", "{\"op\":1}", "text_expected"},
        {"POST", "commands", "{\"op\":\"go\"", "bad_syntax"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char target[64];
        (void)snprintf(target, sizeof target, "%s/%s", pairs, rows[i].resource);
        struct http_reply reply =
            http_request(port, rows[i].method, target, AUTH, rows[i].body);
        json_t *body = parse(&reply);
        CHECK_TEXT(rows[i].body, json_string_value(json_object_get(body, "code")),
                   rows[i].code);
        json_decref(body);
        http_free(&reply);
    }
}

static void test_problem_members(void)
{
    struct http_reply reply =
        http_get(port, "/api/v1/pairs/r1/entries?limit=5&since=%22%3Cscript%3E&x=1");
    json_t *body = parse(&reply);
    CHECK_TEXT("parameter", json_string_value(json_object_get(body, "parameter")), "since");
    CHECK_TEXT("instance", json_string_value(json_object_get(body, "instance")),
               "/api/v1/pairs/r1/entries");
    CHECK("no echo of the value", !strstr(reply.body, "script"));
    json_decref(body);
    http_free(&reply);
    reply = http_get(port, "/a\"b<c>");
    body = parse(&reply);
    CHECK_TEXT("escaped", json_string_value(json_object_get(body, "instance")), "/a\"b<c>");
    json_decref(body);
    http_free(&reply);
    char allow[64];
    reply = http_request(port, "DELETE", "/api/v1/pairs/r1/commands", "", NULL);
    CHECK_TEXT("allow", http_header(&reply, "Allow", allow, sizeof allow), "POST");
    http_free(&reply);
}

static void test_wishes(void)
{
    static const struct {
        const char *target, *path, *body, *passed_on;
    } rows[] = {
        {"/api/v1/pairs/r2/parameters/propose", "/api/v1/pairs/{id}/parameters/propose", "",
         "{\"pair\":\"r2\",\"action\":\"propose\",\"version\":0,\"by\":\"http\"}"},
        {"/api/v1/pairs/r2/parameters/promote", "/api/v1/pairs/{id}/parameters/promote",
         "{\"version\": 3}",
         "{\"pair\":\"r2\",\"action\":\"promote\",\"version\":3,\"by\":\"http\",\"accept\":"
         "\"pass\"}"},
        {"/api/v1/pairs/r1/parameters/promote", "/api/v1/pairs/{id}/parameters/promote",
         "{\"model\": \"usv3\"}",
         "{\"pair\":\"r1\",\"action\":\"promote\",\"version\":0,\"model\":\"usv3\",\"by\":"
         "\"http\",\"accept\":\"pass\"}"},
        {"/api/v1/pairs/r2/parameters/rollback", "/api/v1/pairs/{id}/parameters/rollback", "{}",
         "{\"pair\":\"r2\",\"action\":\"rollback\",\"version\":0,\"by\":\"http\"}"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct http_reply reply =
            http_request(port, "POST", rows[i].target, AUTH, rows[i].body);
        CHECK_INT(rows[i].target, reply.status, 202);
        CHECK_TEXT(rows[i].target, fixture.request, rows[i].passed_on);
        check_contract(rows[i].path, "post", "202", "application/json", &reply);
        http_free(&reply);
    }
}

/* GET shows the candidates of both kinds; a request means one of them, without doubt. */
static void test_candidates(void)
{
    static const struct {
        const char *body;
        int status;
        const char *version; /* in the request that is passed on */
    } rows[] = {
        {"", 409, NULL},
        {"{\"model\":\"travel_time\"}", 202, "\"version\":7,"},
        {"{\"version\":7}", 202, "\"version\":7,"},
        {"{\"model\":\"usv3\"}", 409, NULL},
        {"{\"version\":8}", 409, NULL},
        {"{\"version\":8,\"accept\":\"pass\"}", 409, NULL},
        {"{\"version\":8,\"accept\":\"marginal\"}", 202, "\"version\":8,"},
        {"{\"model\":\"usv3\",\"accept\":\"marginal\"}", 202, "\"version\":8,"},
        {"{\"accept\":\"fail\"}", 400, NULL},
    };
    static const char PATH[] = "/api/v1/pairs/r1/parameters/promote";
    struct parameter_book *laps = &fixture.pair[0]->parameters;
    struct parameter_book *model = &fixture.dynamics->sets;
    const struct parameter_book before[] = {*laps, *model};
    parameters_add(laps, NULL, 7, 1000)->verdict = ESTIMATE_PASS;
    parameters_add(model, model_find("usv3"), 8, 1000)->verdict = ESTIMATE_MARGINAL;
    struct http_reply reply = http_get(port, "/api/v1/pairs/r1/parameters");
    CHECK("both are shown", strstr(reply.body, "\"dynamics\":{\"active\":null,\"candidate\":{"
                                               "\"version\":8,\"model\":\"usv3\"") &&
                                strstr(reply.body, "\"candidate\":{\"version\":7,"));
    check_contract("/api/v1/pairs/{id}/parameters", "get", "200", "application/json", &reply);
    http_free(&reply);
    for (size_t i = 0; i < COUNT(rows); i++) {
        reply = http_request(port, "POST", PATH, AUTH, rows[i].body);
        CHECK_INT(rows[i].body, reply.status, rows[i].status);
        CHECK(rows[i].body,
              !rows[i].version || strstr(fixture.request, rows[i].version) != NULL);
        CHECK(rows[i].body, rows[i].status != 409 || strstr(reply.body, "no-promotion"));
        if (rows[i].status == 409) {
            check_contract("/api/v1/pairs/{id}/parameters/promote", "post", "409",
                           PROBLEM_MEDIA_TYPE, &reply);
        }
        http_free(&reply);
    }
    *laps = before[0];
    parameters_add(model, model_find("usv3"), 9, 1000)->verdict = ESTIMATE_PASS;
    reply = http_request(port, "POST", PATH, AUTH, "");
    CHECK_INT("the only candidate", reply.status, 202);
    CHECK("that GET shows", strstr(fixture.request, "\"version\":9,") != NULL);
    http_free(&reply);
    *model = before[1];
}

static void test_following(void)
{
    static const struct {
        const char *body, *passed_on;
    } rows[] = {
        {"{\"active\": true}",
         "{\"pair\":\"r1\",\"action\":\"following\",\"by\":\"http\",\"active\":true}"},
        {"{\"active\":false}",
         "{\"pair\":\"r1\",\"action\":\"following\",\"by\":\"http\",\"active\":false}"},
        {"{\"pose_per_s2\":0, \"observer_radps\":9.5,\"bandwidth_radps\":4,"
         "\"rejection\":\"integral\"}",
         "{\"pair\":\"r1\",\"action\":\"following\",\"by\":\"http\",\"rejection\":"
         "\"integral\",\"bandwidth_radps\":4,\"observer_radps\":9.5,\"pose_per_s2\":0}"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct http_reply reply =
            http_request(port, "PUT", "/api/v1/pairs/r1/following", AUTH, rows[i].body);
        CHECK_INT(rows[i].body, reply.status, 202);
        CHECK_TEXT(rows[i].body, fixture.request, rows[i].passed_on);
        CHECK_TEXT(rows[i].body, reply.body, "{\"pair\":\"r1\",\"action\":\"following\"}\n");
        check_contract("/api/v1/pairs/{id}/following", "put", "202", "application/json",
                       &reply);
        http_free(&reply);
    }
    struct http_reply reply = http_request(port, "PUT", "/api/v1/pairs/r1/following", AUTH,
                                           "{\"bandwidth_radps\":400}");
    CHECK("names the fault", strstr(reply.body, "\"code\":\"out_of_range\""));
    http_free(&reply);
    reply = http_get(port, "/api/v1/pairs/r1/fidelity");
    CHECK("compared", strstr(reply.body, "\"u\":{\"rmse\":0,"));
    http_free(&reply);
    reply = http_get(port, "/api/v1/pairs/r1/machines");
    CHECK("its machine", strstr(reply.body, "\"following\":{\"virtual\":{\"state\":\"OFF\""));
    http_free(&reply);
    reply = http_get(port, "/metrics");
    CHECK("state", strstr(reply.body, "tandem_following_state{pair=\"r1\",state=\"OFF\"} 1\n"));
    CHECK("fidelity", strstr(reply.body, "tandem_fidelity_rmse{pair=\"r1\",state=\"u\"} 0\n"));
    CHECK("of those that follow", !strstr(reply.body, "tandem_fidelity_rmse{pair=\"r2\""));
    http_free(&reply);
}

static void test_changes(void)
{
    struct http_reply reply = http_get(port, "/api/v1/pairs/r1/parameters/changes");
    CHECK_TEXT("none yet", reply.body,
               "{\"pair\":\"r1\",\"changes\":[],\"next_cursor\":null}\n");
    check_contract("/api/v1/pairs/{id}/parameters/changes", "get", "200", "application/json",
                   &reply);
    http_free(&reply);
    reply = http_get(port, "/api/v1/pairs/r1/parameters");
    check_contract("/api/v1/pairs/{id}/parameters", "get", "200", "application/json", &reply);
    http_free(&reply);
}

/* Stores a fit of the real robot, of moves from since_us on, 800 ms long. */
static void add_fit(uint64_t n, int64_t since_us, double t0_s, enum estimate_verdict verdict)
{
    struct estimate e;
    char json[2048];
    struct json_writer w;
    estimate_start(&e, 2);
    e.verdict = verdict;
    (void)snprintf(e.name[0], sizeof e.name[0], "t0_s");
    (void)snprintf(e.name[1], sizeof e.name[1], "linear_speed_mps");
    estimate_set(&e, 0, t0_s, 0.01, 10.0);
    json_write_start(&w, json, sizeof json, NULL, NULL);
    fit_record_write(&w, NULL,
                     &(struct fit_record){"r1", n, since_us + 900000, SIDE_REAL, "travel_time",
                                          "huber", 12, &e, since_us, since_us + 800000, "2.1"});
    CHECK("written", json_write_end(&w));
    fixture_add(&fixture, &(struct store_row){.kind = STORE_FITS,
                                              .pair = "r1",
                                              .n = n,
                                              .t_us = since_us + 900000,
                                              .id = "real",
                                              .type = "travel_time",
                                              .json = json,
                                              .json_bytes = w.used});
}

static void test_fits(void)
{
    struct http_reply reply = http_get(port, "/api/v1/pairs/r1/fits");
    CHECK_TEXT("none yet", reply.body,
               "{\"pair\":\"r1\",\"fits\":[],\"next_cursor\":null,\"between\":[]}\n");
    http_free(&reply);
    add_fit(1, 100000, 0.1, ESTIMATE_PASS);
    reply = http_get(port, "/api/v1/pairs/r1/fits");
    CHECK("its interval",
          strstr(reply.body, "\"se\":{\"t0_s\":0.01,\"linear_speed_mps\":null}"));
    check_contract("/api/v1/pairs/{id}/fits", "get", "200", "application/json", &reply);
    http_free(&reply);
    reply = http_get(port, "/api/v1/pairs/r1/fits?format=csv");
    CHECK("columns", strncmp(reply.body, "pair,n,t,side,model,", 20) == 0);
    CHECK("a row", strstr(reply.body, "r1,1,1,real,travel_time,huber,12,0.1,0.9,"));
    http_free(&reply);
}

/* Fits that overlap or fail do not count; the one that differs is named, and the next one
 * predicted. */
static void test_fits_between(void)
{
    static const double t0_s[] = {0.102, 0.097, 0.104, 0.099, 0.25, 0.101};
    json_t *page = NULL;
    struct http_reply reply;
    for (size_t i = 0; i < COUNT(t0_s); i++) {
        add_fit(2 + i, 1000000 + 1000000 * (int64_t)i, t0_s[i], ESTIMATE_PASS);
    }
    add_fit(8, 6500000, 5.0, ESTIMATE_PASS); /* half of its moves are those of the last one */
    add_fit(9, 8000000, 5.0, ESTIMATE_FAIL);
    reply = http_get(port, "/api/v1/pairs/r1/fits?order=oldest");
    check_contract("/api/v1/pairs/{id}/fits", "get", "200", "application/json", &reply);
    page = json_loads(reply.body, 0, NULL);
    const json_t *real = json_array_get(json_object_get(page, "between"), 0);
    const json_t *number = json_object_get(json_object_get(real, "numbers"), "t0_s");
    CHECK_INT("one robot", json_array_size(json_object_get(page, "between")), 1);
    CHECK_INT("seven count", json_array_size(json_object_get(real, "fits")), 7);
    CHECK_INT("not the overlap",
              json_integer_value(json_array_get(json_object_get(real, "fits"), 6)), 7);
    CHECK_TEXT("differs", json_string_value(json_object_get(real, "differs")), "t0_s");
    CHECK_INT("odd", json_integer_value(json_object_get(number, "odd")), 6);
    CHECK_NEAR("spread", json_number_value(json_object_get(number, "sd_between")), 0.056, 0.1,
               0.0);
    const json_t *next = json_object_get(number, "another_as_fitted");
    CHECK("next", json_number_value(json_array_get(next, 0)) < 0.0 &&
                      json_number_value(json_array_get(next, 1)) > 0.25);
    CHECK("unknown", !json_object_get(json_object_get(real, "numbers"), "linear_speed_mps"));
    json_decref(page);
    http_free(&reply);
    reply = http_get(port, "/api/v1/pairs/r1/fits?order=newest&limit=3");
    CHECK("of this page", strstr(reply.body, "\"fits\":[8],\"differs\":null,\"numbers\":{}"));
    http_free(&reply);
}

/* The set of the dynamics that is in force, as a fragment. */
static void test_fragment(void)
{
    struct parameter_book *book = &fixture.dynamics->sets;
    const char *why = NULL;
    struct http_reply reply = http_get(port, "/api/v1/pairs/r1/parameters/model?format=sdf");
    CHECK_INT("none is active", reply.status, 404);
    http_free(&reply);
    struct parameter_set *set =
        parameters_add(book, pair_dynamics_model(fixture.dynamics), 1, 0);
    set->count = 9;
    for (size_t i = 0; i < set->count; i++) {
        set->value[i] = 20.0 + (double)i;
    }
    CHECK("promoted", parameters_promote(book, 1, &why) == set);
    reply = http_get(port, "/api/v1/pairs/r1/parameters/model?format=sdf&mass=5");
    CHECK_INT("a hull", reply.status, 200);
    CHECK("a hull", strstr(reply.body, "<xDotU>-15</xDotU>"));
    http_free(&reply);
    *book = (struct parameter_book){0};
}

static void test_commands(void)
{
    static const char TARGET[] = "/api/v1/pairs/r2/commands";
    struct http_reply reply = http_request(
        port, "POST", TARGET, AUTH,
        "\n {\"id\":\"c17\", \"op\":\"go\",\"rotation_rad\":1.57,\"speed\":[1,2]} \n");
    CHECK_INT("id given", reply.status, 202);
    CHECK_TEXT("id given", reply.body, "{\"id\":\"c17\",\"pair\":\"r2\"}\n");
    CHECK_TEXT("passed on unchanged", fixture.command_payload,
               "{\"id\":\"c17\", \"op\":\"go\",\"rotation_rad\":1.57,\"speed\":[1,2]}");
    CHECK_TEXT("pair", fixture.command_pair, "r2");
    check_contract("/api/v1/pairs/{id}/commands", "post", "202", "application/json", &reply);
    http_free(&reply);

    reply = http_request(port, "POST", TARGET, "authorization: bearer   s3cret-token\r\n",
                         "{\"op\":\"halt\"}");
    CHECK_INT("id generated", reply.status, 202);
    CHECK_TEXT("id generated", reply.body,
               "{\"id\":\"http-1763618674000000-1\",\"pair\":\"r2\"}\n");
    CHECK_TEXT("id put in", fixture.command_payload,
               "{\"id\":\"http-1763618674000000-1\",\"op\":\"halt\"}");
    http_free(&reply);

    reply = http_request(port, "POST", TARGET, AUTH, "{ \"op\" : \"halt\" }");
    CHECK_TEXT("next number", fixture.command_payload,
               "{\"id\":\"http-1763618674000000-2\", \"op\" : \"halt\" }");
    http_free(&reply);
    CHECK_INT("three were sent", atomic_load(&fixture.commands), 3);

    char text[64];
    atomic_store(&fixture.command_status, STATUS_E_FULL);
    reply = http_request(port, "POST", TARGET, AUTH, "{\"op\":\"halt\"}");
    check_problem("full", &reply, 429, "too-many-commands");
    CHECK_TEXT("full", http_header(&reply, "Retry-After", text, sizeof text), "1");
    http_free(&reply);
    atomic_store(&fixture.command_status, STATUS_E_IO);
    reply = http_request(port, "POST", TARGET, AUTH, "{\"op\":\"halt\"}");
    check_problem("broker away", &reply, 503, "no-broker");
    http_free(&reply);
    atomic_store(&fixture.command_status, STATUS_E_NOMEM);
    reply = http_request(port, "POST", TARGET, AUTH, "{\"op\":\"halt\"}");
    check_problem("anything else", &reply, 500, "internal");
    http_free(&reply);
    atomic_store(&fixture.command_status, STATUS_OK);
    atomic_store(&fixture.commands, 0);
}

static void test_etag(void)
{
    static const char *const targets[] = {
        "/api/v1/pairs/r1",
        "/api/v1/pairs/r1/travel-time",
        "/api/v1/pairs/r1/clock",
        "/api/v1/pairs/r1/machines",
        "/api/v1/openapi.json",
        "/api/v1/pairs/r1/tracked",
        "/api/v1/pairs/r1/parameters",
    };
    for (size_t i = 0; i < COUNT(targets); i++) {
        char tag[64];
        char again[64];
        char headers[128];
        struct http_reply reply = http_get(port, targets[i]);
        http_header(&reply, "ETag", tag, sizeof tag);
        CHECK_INT(targets[i], strlen(tag), 18);
        struct http_reply second = http_get(port, targets[i]);
        CHECK_TEXT(targets[i], second.body, reply.body);
        CHECK_TEXT(targets[i], http_header(&second, "ETag", again, sizeof again), tag);
        http_free(&second);
        (void)snprintf(headers, sizeof headers, "If-None-Match: \"x\", W/%s\r\n", tag);
        second = http_request(port, "GET", targets[i], headers, NULL);
        CHECK_INT(targets[i], second.status, 304);
        CHECK_INT(targets[i], second.body_bytes, 0);
        CHECK_TEXT(targets[i], http_header(&second, "ETag", again, sizeof again), tag);
        http_free(&second);
        second = http_request(port, "GET", targets[i], "If-None-Match: \"0\"\r\n", NULL);
        CHECK_INT(targets[i], second.status, 200);
        http_free(&second);
        http_free(&reply);
    }
}

/* A new move changes the fit and its tag, a sample of telemetry neither. */
static void test_travel_time_follows(void)
{
    char before[64];
    char after[64];
    struct event sample = {.kind = EVENT_TELEMETRY, .side = SIDE_REAL};
    sample.telemetry = (struct event_telemetry){.source_us = LAB_TIME_NONE, .seq = -1};
    fixture_step(&fixture, 0, &sample, 700);
    struct http_reply reply = http_get(port, "/api/v1/pairs/r1/travel-time");
    http_header(&reply, "ETag", before, sizeof before);
    http_free(&reply);
    fixture_step(&fixture, 0, &sample, 800);
    reply = http_get(port, "/api/v1/pairs/r1/travel-time");
    CHECK_TEXT("telemetry", http_header(&reply, "ETag", after, sizeof after), before);
    http_free(&reply);
    fixture_move(&fixture, 0, 81);
    reply = http_get(port, "/api/v1/pairs/r1/travel-time");
    CHECK("move", strcmp(http_header(&reply, "ETag", after, sizeof after), before) != 0);
    json_t *body = parse(&reply);
    json_t *fit = json_object_get(body, "real");
    CHECK_NEAR("speed", json_number_value(member(fit, "values", "linear_speed_mps", NULL)), 0.4,
               0.05, 0);
    CHECK_NEAR("speed", json_number_value(member(fit, "values", "angular_speed_radps", NULL)),
               1.2, 0.05, 0);
    json_decref(body);
    http_free(&reply);
}

/* A cached answer is not used any more when the pair has changed. */
static void test_cached_until_changed(void)
{
    static const char *const targets[] = {"/api/v1/pairs/r1", "/api/v1/pairs/r1/tracked"};
    char tag[COUNT(targets)][64];
    for (size_t i = 0; i < COUNT(targets); i++) {
        struct http_reply reply = http_get(port, targets[i]);
        http_header(&reply, "ETag", tag[i], sizeof tag[i]);
        http_free(&reply);
    }
    fixture_move(&fixture, 0, 82);
    for (size_t i = 0; i < COUNT(targets); i++) {
        char now[64];
        for (int again = 0; again < 2; again++) {
            struct http_reply reply = http_get(port, targets[i]);
            CHECK(targets[i],
                  strcmp(http_header(&reply, "ETag", now, sizeof now), tag[i]) != 0);
            http_free(&reply);
        }
    }
}

static void test_ready(void)
{
    struct http_reply reply = http_get(port, "/readyz");
    CHECK_INT("ready", reply.status, 200);
    http_free(&reply);
    fixture.view.health.broker = false;
    fixture.view.health.store = false;
    (void)snprintf(fixture.view.health.store_text, sizeof fixture.view.health.store_text,
                   "disk full");
    reply = http_get(port, "/readyz");
    CHECK_INT("not ready", reply.status, 503);
    check_contract("/readyz", "get", "503", PROBLEM_MEDIA_TYPE, &reply);
    CHECK("names them", strstr(reply.body, "\"detail\":\"not ready: broker store\""));
    CHECK("gives the reason",
          strstr(reply.body, "\"store\":{\"ok\":false,\"text\":\"disk full\"}"));
    http_free(&reply);
    reply = http_get(port, "/healthz");
    CHECK_INT("alive all the same", reply.status, 200);
    http_free(&reply);
    fixture.view.health.broker = true;
    fixture.view.health.store = true;
}

static void test_metrics_page(void)
{
    fixture.pair[0]->counts.values_omitted = 4;
    fixture.pair[1]->counts.values_omitted = 3;
    struct http_reply reply = http_get(port, "/metrics");
    CHECK("sum", strstr(reply.body, "\ntandem_lab_entries_total{verdict=\"TIMEOUT\"} "));
    CHECK("pair", strstr(reply.body, "\ntandem_entries_total{pair=\"r2\",verdict=\"AHEAD\"} "));
    CHECK("consistent",
          strstr(reply.body, "\ntandem_consistency_total{pair=\"r2\",consistent=\"false\"} "));
    CHECK("consistent",
          strstr(reply.body, "\ntandem_lab_consistency_total{consistent=\"true\"} "));
    CHECK("left out", strstr(reply.body, "\ntandem_values_omitted_total{pair=\"r2\"} 3\n"));
    CHECK("left out", strstr(reply.body, "\ntandem_lab_values_omitted_total 7\n"));
    CHECK("speed", strstr(reply.body, "\ntandem_linear_speed_meters_per_second{pair=\"r1\","
                                      "side=\"real\"} 0."));
    CHECK("source", strstr(reply.body, "\ntandem_journal_lines_total 4711\n"));
    CHECK("events", strstr(reply.body, "\ntandem_events_total{kind=\"command\"} 42\n"));
    if (access("/usr/bin/promtool", X_OK) == 0) {
        FILE *pipe = popen("/usr/bin/promtool check metrics", "w");
        CU_ASSERT_PTR_NOT_NULL_FATAL(pipe);
        CHECK_INT("promtool", fwrite(reply.body, 1, reply.body_bytes, pipe), reply.body_bytes);
        CHECK_INT("promtool", pclose(pipe), 0);
    }
    http_free(&reply);
}

static void test_pure_helpers(void)
{
    CHECK("csv", dispatch_accepts_csv("text/csv"));
    CHECK("csv before all", dispatch_accepts_csv("text/csv, */*;q=0.1"));
    CHECK("csv, weighed", dispatch_accepts_csv("application/json;q=0.5 , TEXT/CSV; q=0.9"));
    CHECK("json first", !dispatch_accepts_csv("application/json, text/csv;q=0.9"));
    CHECK("refused", !dispatch_accepts_csv("text/csv;q=0"));
    CHECK("browser", !dispatch_accepts_csv("text/html,application/xhtml+xml,*/*;q=0.8"));
    CHECK("nothing", !dispatch_accepts_csv(""));
    CHECK("tag", dispatch_tag_matches("\"a\"", "\"a\""));
    CHECK("weak", dispatch_tag_matches("\"b\" ,W/\"a\"", "\"a\""));
    CHECK("any", dispatch_tag_matches("*", "\"a\""));
    CHECK("longer", !dispatch_tag_matches("\"a\"b", "\"a\""));
    CHECK("unquoted", !dispatch_tag_matches("a", "\"a\""));
    CHECK("none", !dispatch_tag_matches("", "\"a\""));
    CHECK("secret", dispatch_same_secret("abc", "abc"));
    CHECK("prefix", !dispatch_same_secret("ab", "abc"));
    CHECK("doubled", !dispatch_same_secret("abcabc", "abc"));
    CHECK("empty", !dispatch_same_secret("", "abc"));
    CHECK("no secret", !dispatch_same_secret("", ""));
}

static void test_picture(void)
{
    char type[64];
    struct http_reply reply = http_get(port, "/api/v1/machines/Counter");
    CHECK_INT("picture", reply.status, 200);
    http_header(&reply, "Content-Type", type, sizeof type);
    CHECK_TEXT("picture", type, "image/svg+xml");
    CHECK_TEXT("picture", reply.body, "<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
    http_free(&reply);
    reply = http_get(port, "/api/v1/machines/counter");
    check_problem("no such machine", &reply, 404, "not-found");
    check_contract("/api/v1/machines/{machine}", "get", "404", PROBLEM_MEDIA_TYPE, &reply);
    http_free(&reply);
}

static void test_captures(void)
{
    static const struct {
        const char *path, *status, *media_type, *body;
    } rows[] = {
        {"r1-57-1795154400.jsonl", "200", "application/jsonl", "lines"},
        {"r1-57-1795154400.mcap", "200", "application/octet-stream", "mcap"},
        {"r1-57-1795154400", "404", PROBLEM_MEDIA_TYPE, NULL},
        {"x.mcap", "404", PROBLEM_MEDIA_TYPE, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char target[96];
        char type[64];
        (void)snprintf(target, sizeof target, "/api/v1/captures/%s", rows[i].path);
        struct http_reply reply = http_get(port, target);
        CHECK_INT(rows[i].path, reply.status, strtol(rows[i].status, NULL, 10));
        CHECK_TEXT(rows[i].path, http_header(&reply, "Content-Type", type, sizeof type),
                   rows[i].media_type);
        if (rows[i].body) {
            CHECK_TEXT(rows[i].path, reply.body, rows[i].body);
        } else {
            check_problem(rows[i].path, &reply, 404, "no-such-capture");
            check_contract("/api/v1/captures/{capture}", "get", "404", PROBLEM_MEDIA_TYPE,
                           &reply);
        }
        http_free(&reply);
    }
    struct http_reply reply =
        http_request(port, "DELETE", "/api/v1/captures/r1-57-1795154400", "", NULL);
    check_problem("no token", &reply, 401, "unauthorized");
    http_free(&reply);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    start_served();
    CU_pSuite suite = CU_add_suite("web", NULL, NULL);
    CU_add_test(suite, "every route", test_every_get_route);
    CU_add_test(suite, "commands", test_commands);
    CU_add_test(suite, "wishes", test_wishes);
    CU_add_test(suite, "picture", test_picture);
    CU_add_test(suite, "captures", test_captures);
    CU_add_test(suite, "candidates", test_candidates);
    CU_add_test(suite, "following", test_following);
    CU_add_test(suite, "changes", test_changes);
    CU_add_test(suite, "fits", test_fits);
    CU_add_test(suite, "fits between", test_fits_between);
    CU_add_test(suite, "fragment", test_fragment);
    CU_add_test(suite, "errors", test_errors);
    CU_add_test(suite, "codes of bodies", test_codes_of_bodies);
    CU_add_test(suite, "problem members", test_problem_members);
    CU_add_test(suite, "etag", test_etag);
    CU_add_test(suite, "travel time", test_travel_time_follows);
    CU_add_test(suite, "cached until changed", test_cached_until_changed);
    CU_add_test(suite, "readiness", test_ready);
    CU_add_test(suite, "metrics", test_metrics_page);
    CU_add_test(suite, "pure helpers", test_pure_helpers);
    return end_served();
}
