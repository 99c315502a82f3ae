/* needs: threads, virtual time */
/* Uploads and jobs over real sockets: acceptance, refusals and their times. It runs threads. */
#include "tests/support/check.h"

#include <time.h>

#include "tests/support/http.h"
#include "tests/support/schema.h"
#include "tests/support/web_fixture.h"
#include "web/http/problem.h"
#include "web/resource/page.h"

#define AUTH "Authorization: Bearer t\r\n"
#define CSV  AUTH "Content-Type: text/csv\r\n"

static struct fixture fixture;
static struct web *web;
static uint16_t port;
static json_t *contract;

static json_t *get_member(json_t *node, const char *a, const char *b, const char *c)
{
    node = json_object_get(node, a);
    node = b ? json_object_get(node, b) : node;
    return c ? json_object_get(node, c) : node;
}

/* The answer is one that the contract declares for this operation and status. */
static void check_contract(const char *row, const char *path, const char *method,
                           const char *media, const struct http_reply *reply)
{
    char status[16];
    char why[256] = "";
    char type[64];
    (void)snprintf(status, sizeof status, "%d", reply->status);
    json_t *body = json_loadb(reply->body, reply->body_bytes, JSON_REJECT_DUPLICATES, NULL);
    json_t *responses =
        json_object_get(get_member(contract, "paths", path, method), "responses");
    json_t *response = schema_resolve(contract, json_object_get(responses, status));
    json_t *schema = get_member(response, "content", media, "schema");
    CHECK(row, body);
    CHECK(row, schema);
    CHECK_TEXT(row, http_header(reply, "Content-Type", type, sizeof type), media);
    if (body && schema) {
        CHECK(row, schema_check(contract, schema, body, row, why, sizeof why));
        CHECK_TEXT(row, why, "");
    }
    json_decref(body);
}

static void test_upload(void)
{
    char text[128];
    struct http_reply reply = http_request(
        port, "POST",
        "/api/v1/"
        "identify?model=usv3&method=pem&columns=u%3Dsurge,v=sway&biases=true&name="
        "a.csv&pair=r1&robust=true&ridge=1e-3&delay_max_s=0.5&reference=d1%3D120,delay_s=0",
        AUTH "Content-Type: text/csv; charset=utf-8\r\n", "t,u\n0,1\n");
    CHECK_INT("taken", reply.status, 202);
    CHECK_TEXT("location", http_header(&reply, "Location", text, sizeof text),
               "/api/v1/identify/77");
    check_contract("taken", "/api/v1/identify", "post", "application/json", &reply);
    CHECK_TEXT("wish", fixture.wish,
               "model=usv3&method=pem&columns=u%3Dsurge,v=sway&biases=true&name=a.csv&pair=r1&"
               "robust=true&ridge=1e-3&delay_max_s=0.5&reference=d1%3D120,delay_s=0");
    CHECK_TEXT("as it came", fixture.upload, "t,u\n0,1\n");
    CHECK_INT("claim given back", atomic_load(&fixture.uploads), 0);
    http_free(&reply);
    reply = http_request(port, "POST", "/api/v1/identify?model=usv3",
                         AUTH "Content-Type: application/jsonl\r\n", "{}\n");
    CHECK_INT("a journal", reply.status, 202);
    http_free(&reply);
    reply = http_request(port, "POST", "/api/v1/identify?model=usv3", AUTH, "x");
    CHECK_INT("no media type", reply.status, 202);
    CHECK_TEXT("omitted options", fixture.wish, "model=usv3");
    http_free(&reply);
}

static void test_replay(void)
{
    char text[128];
    struct http_reply reply =
        http_request(port, "POST", "/api/v1/replay?name=lab.jsonl&pair=r1",
                     AUTH "Content-Type: application/jsonl\r\n", "{}\n");
    CHECK_INT("taken", reply.status, 202);
    CHECK_TEXT("location", http_header(&reply, "Location", text, sizeof text),
               "/api/v1/replay/77");
    check_contract("taken", "/api/v1/replay", "post", "application/json", &reply);
    CHECK_TEXT("wish", fixture.wish, "replay lab.jsonl r1");
    CHECK_TEXT("as it came", fixture.upload, "{}\n");
    http_free(&reply);
    reply = http_request(port, "POST", "/api/v1/replay?pair=nobody", CSV, "x");
    CHECK_INT("pair", reply.status, 400);
    CHECK("pair", strstr(reply.body, "\"parameter\":\"pair\""));
    check_contract("pair", "/api/v1/replay", "post", PROBLEM_MEDIA_TYPE, &reply);
    http_free(&reply);
    reply = http_request(port, "GET", "/api/v1/replay/43", "", NULL);
    CHECK_INT("a job", reply.status, 200);
    check_contract("a job", "/api/v1/replay/{job}", "get", "application/json", &reply);
    http_free(&reply);
    reply = http_request(port, "DELETE", "/api/v1/replay/44", AUTH, NULL);
    CHECK_INT("cancelled", reply.status, 202);
    check_contract("cancelled", "/api/v1/replay/{job}", "delete", "application/json", &reply);
    http_free(&reply);
    CHECK_INT("claims given back", atomic_load(&fixture.uploads), 0);
}

static void test_refusals(void)
{
    static const struct {
        const char *row, *target, *headers, *body;
        int status;
        const char *slug, *words;
    } rows[] = {
        {"no token", "/api/v1/identify?model=usv3", "Content-Type: text/csv\r\n", "x", 401,
         "unauthorized", ""},
        {"no model", "/api/v1/identify", CSV, "x", 400, "bad-parameter", "\"model\""},
        {"unknown model", "/api/v1/identify?model=walk", CSV, "x", 400, "bad-parameter",
         "\"code\":\"unknown_name\""},
        {"unknown parameter", "/api/v1/identify?model=usv3&speed=1", CSV, "x", 400,
         "bad-parameter",
         "model method columns side pair biases delay_max_s hold robust "
         "ridge "
         "heading_m arm plausible reference name curves held_out_bytes held_out_name"},
        {"biases", "/api/v1/identify?model=usv3&biases=maybe", CSV, "x", 400, "bad-parameter",
         "\"code\":\"boolean_expected\""},
        {"json", "/api/v1/identify?model=usv3", AUTH "Content-Type: application/json\r\n", "{}",
         415, "media-type", "Content-Type: text/csv"},
        {"form", "/api/v1/identify?model=usv3",
         AUTH "Content-Type: multipart/form-data; boundary=x\r\n", "x", 415, "media-type", ""},
        {"nearly csv", "/api/v1/identify?model=usv3", AUTH "Content-Type: text/csvx\r\n", "x",
         415, "media-type", ""},
        {"nothing", "/api/v1/identify?model=usv3", CSV, "", 400, "bad-body", "empty"},
    };
    fixture.wish[0] = '\0';
    for (size_t i = 0; i < COUNT(rows); i++) {
        char want[64];
        struct http_reply reply =
            http_request(port, "POST", rows[i].target, rows[i].headers, rows[i].body);
        (void)snprintf(want, sizeof want, "\"/problems/%s\"", rows[i].slug);
        CHECK_INT(rows[i].row, reply.status, rows[i].status);
        CHECK(rows[i].row, strstr(reply.body, want));
        CHECK(rows[i].row, strstr(reply.body, rows[i].words));
        check_contract(rows[i].row, "/api/v1/identify", "post", PROBLEM_MEDIA_TYPE, &reply);
        http_free(&reply);
    }
    CHECK_TEXT("none was handed over", fixture.wish, "");
    CHECK_INT("claims given back", atomic_load(&fixture.uploads), 0);
}

/* The daemon's own refusals, when the recording is there already. */
static void test_refused_jobs(void)
{
    static const struct {
        enum status st;
        int status;
        const char *slug;
    } rows[] = {{STATUS_E_FULL, 429, "too-many-jobs"},
                {STATUS_E_IO, 503, "not-ready"},
                {STATUS_E_NOMEM, 503, "not-ready"},
                {STATUS_E_ARG, 400, "bad-parameter"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[64];
        atomic_store(&fixture.identify_status, rows[i].st);
        struct http_reply reply =
            http_request(port, "POST", "/api/v1/identify?model=usv3", CSV, "t\n0\n");
        CHECK_INT(rows[i].slug, reply.status, rows[i].status);
        CHECK(rows[i].slug, strstr(reply.body, rows[i].slug));
        CHECK_TEXT(rows[i].slug, http_header(&reply, "Retry-After", text, sizeof text),
                   rows[i].status == 400 ? "" : "5");
        check_contract(rows[i].slug, "/api/v1/identify", "post", PROBLEM_MEDIA_TYPE, &reply);
        http_free(&reply);
    }
    atomic_store(&fixture.identify_status, STATUS_OK);
    CHECK_INT("claims given back", atomic_load(&fixture.uploads), 0);
}

static int send_head(const char *more)
{
    char text[512];
    const int fd = http_connect(port);
    CHECK("connected", fd >= 0);
    const int n =
        snprintf(text, sizeof text,
                 "POST /api/v1/identify?model=usv3 HTTP/1.1\r\nHost: localhost\r\n" CSV
                 "Connection: close\r\n%s\r\n",
                 more);
    (void)http_send(fd, text, (size_t)n);
    return fd;
}

static void wait_uploads(int want)
{
    for (int64_t end_us = 0;
         atomic_load(&fixture.uploads) != want && wait_more(&end_us, 10000);) {
    }
    CHECK_INT("claims", atomic_load(&fixture.uploads), want);
}

/* A recording may be as long as allowed, not longer; known before it comes, and while it does.
 */
static void test_sizes(void)
{
    char *text = malloc(FIXTURE_UPLOAD_MAX + 2);
    CU_ASSERT_FATAL(text != NULL);
    memset(text, 'x', FIXTURE_UPLOAD_MAX + 1);
    text[FIXTURE_UPLOAD_MAX] = '\0';
    struct http_reply reply =
        http_request(port, "POST", "/api/v1/identify?model=usv3", CSV, text);
    CHECK_INT("longest", reply.status, 202);
    CHECK_INT("all of it", fixture.upload_bytes, FIXTURE_UPLOAD_MAX);
    http_free(&reply);
    free(text);

    fixture.upload_bytes = 0;
    int fd = send_head("Content-Length: 300001\r\nExpect: 100-continue\r\n");
    reply = http_receive(fd);
    CHECK_INT("announced", reply.status, 413);
    CHECK("how much", strstr(reply.body, " 300000 "));
    check_contract("announced", "/api/v1/identify", "post", PROBLEM_MEDIA_TYPE, &reply);
    http_free(&reply);
    (void)close(fd);

    char chunk[1100];
    (void)snprintf(chunk, sizeof chunk, "400\r\n%01024d\r\n", 0);
    fd = send_head("Transfer-Encoding: chunked\r\n");
    for (int i = 0; i < 320; i++) {
        (void)http_send(fd, chunk, 1031);
    }
    (void)http_send(fd, "0\r\n\r\n", 5);
    reply = http_receive(fd);
    CHECK_INT("while it comes", reply.status, 413);
    http_free(&reply);
    (void)close(fd);

    /* Without end: cut off, and its room given back. */
    static char large[0x10000 + 10];
    (void)snprintf(large, sizeof large, "10000\r\n%065536d\r\n", 0);
    fd = send_head("Transfer-Encoding: chunked\r\n");
    int sent = 0;
    while (sent < 1000 && http_send(fd, large, sizeof large - 1)) {
        sent++;
    }
    CHECK("endless", sent < 1000);
    (void)close(fd);
    wait_uploads(0);
    CHECK_INT("none was handed over", fixture.upload_bytes, 0);
}

/* Those on their way count; one more is refused before it comes. */
static void test_crowd(void)
{
    char text[64];
    int fd[2];
    for (size_t i = 0; i < 2; i++) {
        fd[i] = send_head("Content-Length: 8\r\n");
        (void)http_send(fd[i], "t\n0", 3);
    }
    wait_uploads(2);
    struct http_reply reply =
        http_request(port, "POST", "/api/v1/identify?model=usv3", CSV, "t\n0\n");
    CHECK_INT("no room", reply.status, 429);
    CHECK_TEXT("try again", http_header(&reply, "Retry-After", text, sizeof text), "5");
    (void)close(fd[0]);
    wait_uploads(1);
    (void)http_send(fd[1], "\n1\n2\n", 5);
    /* Comparing with the contract takes seconds under a sanitizer, and the server cuts off a
     * client that sends nothing for that long. */
    check_contract("no room", "/api/v1/identify", "post", PROBLEM_MEDIA_TYPE, &reply);
    http_free(&reply);
    reply = http_receive(fd[1]);
    CHECK_INT("slow, and accepted", reply.status, 202);
    CHECK_TEXT("in pieces", fixture.upload, "t\n0\n1\n2\n");
    http_free(&reply);
    (void)close(fd[1]);
    wait_uploads(0);
}

#define LOOK(origin, media)                                                                    \
    "Tandem-Page: look\r\nOrigin: " origin "\r\nContent-Type: " media "\r\n"

/* Without the token the daemon's own page may have a table looked at, one at a time. A page of
 * another site may not: it has another Origin, and gets no preflight for the header. */
static void test_look(void)
{
    static const struct {
        const char *row, *method, *headers;
        int status;
    } rows[] = {
        {"a foreign page", "POST", LOOK("http://evil.example", "text/csv"), 401},
        {"another port", "POST", LOOK("http://localhost:1", "text/csv"), 401},
        {"a sandboxed page", "POST", LOOK("null", "text/csv"), 401},
        {"another scheme", "POST", LOOK("file://localhost", "text/csv"), 401},
        {"the scheme of TLS", "POST", LOOK("https://localhost", "text/csv"), 401},
        {"a longer host", "POST", LOOK("http://localhost.evil", "text/csv"), 401},
        {"two origins", "POST",
         "Origin: http://evil.example\r\n" LOOK("http://localhost", "text/csv"), 400},
        {"no header", "POST", "Origin: http://localhost\r\nContent-Type: text/csv\r\n", 401},
        {"no origin", "POST", "Tandem-Page: look\r\nContent-Type: text/csv\r\n", 401},
        {"another word", "POST",
         "Tandem-Page: run\r\nOrigin: http://localhost\r\nContent-Type: text/csv\r\n", 401},
        {"a wrong token", "POST",
         "Authorization: Bearer x\r\n" LOOK("http://localhost", "text/csv"), 401},
        {"a journal", "POST", LOOK("http://localhost", "application/jsonl"), 401},
        {"a form", "POST", LOOK("http://localhost", "text/plain"), 415},
        {"a preflight", "OPTIONS",
         "Origin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\n"
         "Access-Control-Request-Headers: tandem-page\r\n",
         405},
    };
    char text[64];
    fixture.wish[0] = '\0';
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct http_reply reply =
            http_request(port, rows[i].method, "/api/v1/identify?model=usv3", rows[i].headers,
                         strcmp(rows[i].method, "POST") == 0 ? "t\n0\n" : NULL);
        CHECK_INT(rows[i].row, reply.status, rows[i].status);
        CHECK_TEXT(rows[i].row,
                   http_header(&reply, "Access-Control-Allow-Origin", text, sizeof text), "");
        http_free(&reply);
    }
    CHECK_TEXT("nothing was handed over", fixture.wish, "");
    struct http_reply reply = http_request(port, "POST", "/api/v1/pairs/r1/parameters/propose",
                                           LOOK("http://localhost", "application/json"), "{}");
    CHECK_INT("nothing else", reply.status, 401);
    http_free(&reply);
    reply = http_request(port, "POST", "/api/v1/identify?model=usv3",
                         LOOK("http://LOCALHOST:80", "text/csv; charset=utf-8"), "t\n0\n");
    CHECK_INT("looked at", reply.status, 202);
    CHECK_TEXT("handed over", fixture.wish, "model=usv3");
    http_free(&reply);
    reply = http_request(port, "POST", "/api/v1/replay", LOOK("http://localhost", "text/csv"),
                         "t\n0\n");
    CHECK_INT("its job still waits", reply.status, 429);
    CHECK("say so", strstr(reply.body, "one table at a time"));
    check_contract("its job still waits", "/api/v1/replay", "post", PROBLEM_MEDIA_TYPE, &reply);
    http_free(&reply);
    reply = http_request(port, "POST", "/api/v1/identify?model=usv3", CSV, "t\n0\n");
    CHECK_INT("with the token", reply.status, 202);
    http_free(&reply);
    wait_uploads(0);
}

static double now_s(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A byte now and then does not hold a place for ever. */
static void test_dribble(void)
{
    const int fd = send_head("Content-Length: 1000\r\n");
    const double most_s = 1e-3 * (double)wait_limit_ms(11000);
    const double begin_s = now_s();
    while (now_s() - begin_s < most_s + 1.0 && http_send(fd, "x", 1)) {
        (void)usleep(300 * 1000);
    }
    const double took_s = now_s() - begin_s;
    CHECK("cut off after a while", took_s > 4.0 && took_s < most_s);
    (void)close(fd);
    wait_uploads(0);
}

static void test_jobs(void)
{
    struct http_reply reply = http_get(port, "/api/v1/identify/42");
    CHECK_TEXT("done", reply.body,
               "{\"id\":\"42\",\"kind\":\"upload\",\"model\":\"usv3\",\"pair\":null,\"state\":"
               "\"done\","
               "\"cancelling\":false,\"progress\":1,\"stage\":\"output_error\",\"queued_t\":"
               "1763617675,"
               "\"began_t\":1763617676,\"ended_t\":1763617677,\"error\":null,"
               "\"result\":{\"model\":\"usv3\",\"n\":1500}}\n");
    char tag[64];
    char header[128];
    (void)snprintf(header, sizeof header, "If-None-Match: %s\r\n",
                   http_header(&reply, "ETag", tag, sizeof tag));
    http_free(&reply);
    reply = http_request(port, "GET", "/api/v1/identify/42", header, NULL);
    CHECK_INT("unchanged", reply.status, 304);
    http_free(&reply);
    for (int id = 42; id <= 45; id++) {
        char target[64];
        (void)snprintf(target, sizeof target, "/api/v1/identify/%d", id);
        reply = http_get(port, target);
        CHECK_INT(target, reply.status, 200);
        check_contract(target, "/api/v1/identify/{job}", "get", "application/json", &reply);
        CHECK_INT(target,
                  strstr(reply.body, "\"line\":2,\"column\":9,\"text\":\"'fast'") != NULL,
                  id == 43);
        http_free(&reply);
    }
    reply = http_get(port, "/api/v1/identify");
    CHECK_INT("list", reply.status, 200);
    check_contract("list", "/api/v1/identify", "get", "application/json", &reply);
    CHECK("no results", !strstr(reply.body, "\"result\""));
    http_free(&reply);
}

static void test_cancel(void)
{
    static const struct {
        const char *row, *method, *target, *headers;
        int status;
        const char *words;
    } rows[] = {
        {"waiting", "DELETE", "/api/v1/identify/45", AUTH, 200, "\"id\":\"45\""},
        {"running", "DELETE", "/api/v1/identify/44", AUTH, 202, "\"cancelling\":true"},
        {"ended", "DELETE", "/api/v1/identify/42", AUTH, 409, "/problems/job-ended"},
        {"unknown", "DELETE", "/api/v1/identify/99", AUTH, 404, "/problems/no-such-job"},
        {"no token", "DELETE", "/api/v1/identify/45", "", 401, "/problems/unauthorized"},
        {"unknown", "GET", "/api/v1/identify/99", "", 404, "/problems/no-such-job"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct http_reply reply =
            http_request(port, rows[i].method, rows[i].target, rows[i].headers, NULL);
        CHECK_INT(rows[i].row, reply.status, rows[i].status);
        CHECK(rows[i].row, strstr(reply.body, rows[i].words));
        check_contract(rows[i].row, "/api/v1/identify/{job}",
                       rows[i].method[0] == 'D' ? "delete" : "get",
                       rows[i].status < 300 ? "application/json" : PROBLEM_MEDIA_TYPE, &reply);
        http_free(&reply);
    }
    struct http_reply reply = http_get(port, "/api/v1/identify/r1");
    CHECK("no number", reply.status == 404 && strstr(reply.body, "/problems/not-found"));
    http_free(&reply);
}

/* ---- the dynamics of a pair ---- */

static void test_dynamics(void)
{
    struct http_reply reply = http_get(port, "/api/v1/pairs/r1/dynamics");
    CHECK_INT("followed", reply.status, 200);
    CHECK("of a vessel", strstr(reply.body, "{\"model\":\"usv3\",\"method\":") == reply.body);
    CHECK("one side", strstr(reply.body, "\"virtual\":null"));
    check_contract("followed", "/api/v1/pairs/{id}/dynamics", "get", "application/json",
                   &reply);
    http_free(&reply);
    reply = http_get(port, "/api/v1/pairs/r2/dynamics");
    CHECK_INT("not followed", reply.status, 404);
    CHECK("gives advice", strstr(reply.body, "/problems/no-dynamics") &&
                              strstr(reply.body, "'dynamics: {model: diffdrive}'"));
    check_contract("not followed", "/api/v1/pairs/{id}/dynamics", "get", PROBLEM_MEDIA_TYPE,
                   &reply);
    http_free(&reply);
}

static void test_refit(void)
{
    static const struct {
        const char *row, *pair, *headers, *body;
        uint32_t samples;
        bool running;
        enum status st;
        int status;
        const char *words;
    } rows[] = {
        {"no body", "r1", AUTH, "", 500, false, STATUS_OK, 202, "\"id\":\"77\""},
        {"real", "r1", AUTH, "{\"side\":\"real\"}", 500, false, STATUS_OK, 202, "\"queued\""},
        {"no token", "r1", "", "", 500, false, STATUS_OK, 401, "unauthorized"},
        {"not followed", "r2", AUTH, "", 500, false, STATUS_OK, 404, "no-dynamics"},
        {"no such pair", "r9", AUTH, "", 500, false, STATUS_OK, 404, "no-such-pair"},
        {"other side", "r1", AUTH, "{\"side\":\"virtual\"}", 500, false, STATUS_OK, 409,
         "of this side are not followed"},
        {"under way", "r1", AUTH, "", 500, true, STATUS_OK, 409, "is running"},
        {"too few", "r1", AUTH, "", 99, false, STATUS_OK, 409, "99 samples, 100 are"},
        {"no side", "r1", AUTH, "{\"side\":\"left\"}", 500, false, STATUS_OK, 400, "bad-body"},
        {"no text", "r1", AUTH, "{\"side\":1}", 500, false, STATUS_OK, 400, "bad-body"},
        {"unknown member", "r1", AUTH, "{\"pair\":\"r1\"}", 500, false, STATUS_OK, 400,
         "bad-body"},
        {"no JSON", "r1", AUTH, "real", 500, false, STATUS_OK, 400, "bad-body"},
        {"declined", "r1", AUTH, "", 500, false, STATUS_E_EMPTY, 409, "began no fit"},
        {"stopping", "r1", AUTH, "", 500, false, STATUS_E_IO, 503, "not-ready"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char target[64];
        char text[64];
        (void)snprintf(target, sizeof target, "/api/v1/pairs/%s/identify", rows[i].pair);
        fixture.dynamics->side[SIDE_REAL].count = rows[i].samples;
        fixture.dynamics->side[SIDE_REAL].running = rows[i].running;
        atomic_store(&fixture.refit_status, rows[i].st);
        fixture.request[0] = '\0';
        struct http_reply reply =
            http_request(port, "POST", target, rows[i].headers, rows[i].body);
        CHECK_INT(rows[i].row, reply.status, rows[i].status);
        CHECK(rows[i].row, strstr(reply.body, rows[i].words));
        CHECK_TEXT(rows[i].row, fixture.request,
                   rows[i].status == 202 || rows[i].st != STATUS_OK ? "0 real" : "");
        CHECK_TEXT(rows[i].row, http_header(&reply, "Location", text, sizeof text),
                   rows[i].status == 202 ? "/api/v1/identify/77" : "");
        check_contract(rows[i].row, "/api/v1/pairs/{id}/identify", "post",
                       rows[i].status == 202 ? "application/json" : PROBLEM_MEDIA_TYPE, &reply);
        http_free(&reply);
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    contract = json_loadb((const char *)openapi_json, openapi_json_bytes, 0, NULL);
    fixture_open(&fixture, 1);
    web = fixture_serve(&fixture, "t", 2);
    port = web_port(web);
    CU_pSuite suite = CU_add_suite("uploads and jobs", NULL, NULL);
    CU_add_test(suite, "upload", test_upload);
    CU_add_test(suite, "replay", test_replay);
    CU_add_test(suite, "refusals", test_refusals);
    CU_add_test(suite, "refused", test_refused_jobs);
    CU_add_test(suite, "sizes", test_sizes);
    CU_add_test(suite, "crowd", test_crowd);
    CU_add_test(suite, "a look without the token", test_look);
    CU_add_test(suite, "dribble", test_dribble);
    CU_add_test(suite, "jobs", test_jobs);
    CU_add_test(suite, "cancel", test_cancel);
    CU_add_test(suite, "dynamics", test_dynamics);
    CU_add_test(suite, "fit on request", test_refit);
    const int result = check_run();
    web_stop(web);
    fixture_close(&fixture);
    json_decref(contract);
    return result;
}
