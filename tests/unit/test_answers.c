/* Repeated requests get the same answer while nothing has changed, and never an old one. It
 * runs threads. */
#include "tests/support/check.h"

#include "tests/support/http.h"
#include "tests/support/web_fixture.h"

enum { ROWS = 300, ASKING = 3 };

static struct fixture fixture;

/* ---- inputs ---- */

/* A row that the lab did not make, to be seen in the list. */
static void add_row(enum store_kind kind, uint64_t n)
{
    char text[64];
    const int bytes = snprintf(text, sizeof text, "{\"n\":%llu}", (unsigned long long)n);
    const struct store_row row = {.kind = kind,
                                  .pair = "r1",
                                  .n = n,
                                  .t_us = fixture_us(100000) + (int64_t)n,
                                  .id = "",
                                  .type = kind == STORE_ENTRIES  ? "SYNC"
                                          : kind == STORE_ALARMS ? "late"
                                                                 : "command",
                                  .lag_s = 0.0,
                                  .json = text,
                                  .json_bytes = (size_t)bytes};
    fixture_add(&fixture, &row);
}

static struct web *serve_web(struct web_source *source, unsigned threads)
{
    const struct web_options options = {.bind = "127.0.0.1",
                                        .threads = threads,
                                        .connections_max = 64,
                                        .store = {.path = fixture.store_path}};
    struct web *web = NULL;
    struct err err = {0};
    if (web_start(&options, source, &web, &err) != STATUS_OK) {
        (void)fprintf(stderr, "%s: %s\n", err.where, err.text);
        abort();
    }
    return web;
}

static const struct {
    const char *target;
    enum store_kind kind;
} STORED[] = {
    {"/api/v1/pairs/r1/entries?limit=2", STORE_ENTRIES},
    {"/api/v1/pairs/r1/entries?limit=2&format=csv", STORE_ENTRIES},
    {"/api/v1/pairs/r1/series?points=7", STORE_ENTRIES},
    {"/api/v1/pairs/r1/alarms?limit=2", STORE_ALARMS},
    {"/api/v1/pairs/r1/log?limit=2", STORE_LOG},
    {"/api/v1/pairs/r1/parameters/changes?limit=2", STORE_CHANGES},
    {"/api/v1/pairs/r1/fits?limit=2", STORE_FITS},
};

/* Each shows the row that was just added. */
static void test_store(void)
{
    struct web_source source = fixture_source(&fixture);
    struct web *web = serve_web(&source, 1);
    for (size_t i = 0; i < COUNT(STORED); i++) {
        struct http_reply before = http_get(web_port(web), STORED[i].target);
        CHECK_INT(STORED[i].target, before.status, 200);
        add_row(STORED[i].kind, 1000 + i);
        struct http_reply now = http_get(web_port(web), STORED[i].target);
        CHECK_INT(STORED[i].target, now.status, 200);
        CHECK(STORED[i].target, strcmp(now.body, before.body) != 0);
        http_free(&now);
        http_free(&before);
    }
    web_stop(web);
}

/* The second answer, and those to other ways of asking, are what the first one was. */
static void test_same(void)
{
    static const char *const targets[] = {"/",
                                          "/page/main.js",
                                          "/healthz",
                                          "/readyz",
                                          "/api/v1/pairs?limit=1",
                                          "/api/v1/pairs/r1",
                                          "/api/v1/pairs/r1/travel-time",
                                          "/api/v1/pairs/r1/entries?limit=1"};
    static const char *const headers[] = {
        "Content-Type",           "ETag", "Link", "Vary", "Cache-Control", "Content-Length",
        "Content-Security-Policy"};
    struct web_source source = fixture_source(&fixture);
    struct web *web = serve_web(&source, 1);
    const uint16_t port = web_port(web);
    for (size_t i = 0; i < COUNT(targets); i++) {
        struct http_reply packed =
            http_request(port, "GET", targets[i], "Accept-Encoding: gzip\r\n", NULL);
        struct http_reply first = http_get(port, targets[i]);
        struct http_reply again = http_get(port, targets[i]);
        struct http_reply head = http_request(port, "HEAD", targets[i], "", NULL);
        struct http_reply csv =
            http_request(port, "GET", targets[i], "Accept: text/csv\r\n", NULL);
        char value[2][600];
        char tag[700];
        CHECK_INT(targets[i], again.status, 200);
        CHECK(targets[i], first.body_bytes == again.body_bytes &&
                              memcmp(first.body, again.body, first.body_bytes) == 0);
        CHECK_INT(targets[i], head.status, 200);
        CHECK_INT(targets[i], head.body_bytes, 0);
        for (size_t k = 0; k < COUNT(headers); k++) {
            (void)http_header(&first, headers[k], value[0], sizeof value[0]);
            CHECK_TEXT(headers[k], http_header(&again, headers[k], value[1], 600), value[0]);
            CHECK_TEXT(headers[k], http_header(&head, headers[k], value[1], 600), value[0]);
        }
        (void)http_header(&first, "ETag", value[0], sizeof value[0]);
        (void)snprintf(tag, sizeof tag, "If-None-Match: %s\r\n", value[0]);
        struct http_reply cached = http_request(port, "GET", targets[i], tag, NULL);
        CHECK_INT(targets[i], cached.status, value[0][0] ? 304 : 200);
        CHECK("only the page is packed", (packed.body_bytes != first.body_bytes) == (i < 2));
        CHECK("only lists are tables",
              (strcmp(csv.body, first.body) != 0) == (strstr(targets[i], "limit") != NULL));
        http_free(&packed);
        http_free(&first);
        http_free(&again);
        http_free(&head);
        http_free(&csv);
        http_free(&cached);
    }
    struct http_reply body = http_request(port, "GET", "/healthz", "", "x");
    CHECK_INT("a body is as unwelcome as ever", body.status, 413);
    http_free(&body);
    web_stop(web);
}

/* ---- none is old ---- */

static atomic_uint_least64_t committed;
static atomic_bool done;

struct asking {
    uint16_t port;
    unsigned old, asked;
};

static void *poll_answers(void *context)
{
    struct asking *a = context;
    while (!atomic_load(&done)) {
        const uint64_t least = atomic_load(&committed);
        struct http_reply reply = http_get(a->port, "/api/v1/pairs/r1/entries?limit=1");
        const char *n = strstr(reply.body, "{\"n\":");
        a->old += !n || strtoull(n + 5, NULL, 10) < least;
        a->asked++;
        http_free(&reply);
    }
    return NULL;
}

/* Who asks after a row was committed is shown it, while rows keep coming. */
static void test_fresh(void)
{
    struct web_source source = fixture_source(&fixture);
    struct web *web = serve_web(&source, 2);
    pthread_t thread[ASKING];
    struct asking asking[ASKING];
    add_row(STORE_ENTRIES, 2000);
    atomic_store(&committed, 2000);
    for (int i = 0; i < ASKING; i++) {
        asking[i] = (struct asking){.port = web_port(web)};
        CHECK_INT("thread", pthread_create(&thread[i], NULL, poll_answers, &asking[i]), 0);
    }
    for (uint64_t n = 2001; n <= 2000 + ROWS; n++) {
        add_row(STORE_ENTRIES, n);
        atomic_store(&committed, n);
        (void)usleep(1000);
    }
    atomic_store(&done, true);
    for (int i = 0; i < ASKING; i++) {
        (void)pthread_join(thread[i], NULL);
        CHECK_INT("none is old", asking[i].old, 0);
        CHECK("asked", asking[i].asked > 0);
    }
    web_stop(web);
    CHECK_INT("views given back", atomic_load(&fixture.acquired), 0);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    fixture_open(&fixture, 20);
    CU_pSuite suite = CU_add_suite("answers", NULL, NULL);
    CU_add_test(suite, "store", test_store);
    CU_add_test(suite, "same", test_same);
    CU_add_test(suite, "fresh", test_fresh);
    const int result = check_run();
    fixture_close(&fixture);
    return result;
}
