/* Answers that stand ready: the table, who gets them, and that none is old. It runs threads. */
#include "tests/support/check.h"

#include "tests/support/http.h"
#include "tests/support/web_fixture.h"
#include "web/http/answers.h"
#include "web/http/routes.h"
#include "web/server/dispatch.h"

enum { ROWS = 300, ASKING = 3 };

static struct fixture fixture;

/* ---- the table ---- */

static struct answer *put(struct answers *answers, const struct answer_name *name, size_t bytes)
{
    struct answer *a = answer_create(name);
    a->bytes = bytes;
    answers_keep(answers, a);
    answer_release(a);
    return a;
}

static bool has(struct answers *answers, const char *url)
{
    struct answer *found = answers_find(answers, &(struct answer_name){.url = url});
    answer_release(found);
    return found != NULL;
}

static void test_names(void)
{
    static const struct answer_name names[] = {{"/a", false, false},
                                               {"/a", true, false},
                                               {"/a", false, true},
                                               {"/a?", false, false},
                                               {"/a?limit=1", false, false}};
    struct answers *answers = NULL;
    const struct answer *kept[COUNT(names)];
    CHECK_INT("create", answers_create(&answers), STATUS_OK);
    CHECK("empty", !has(answers, "/a"));
    for (size_t i = 0; i < COUNT(names); i++) {
        kept[i] = put(answers, &names[i], 10);
    }
    for (size_t i = 0; i < COUNT(names); i++) {
        struct answer *found = answers_find(answers, &names[i]);
        CHECK(names[i].url, found == kept[i]);
        answer_release(found);
    }
    struct answer *held = answers_find(answers, &names[0]);
    const struct answer *newer = put(answers, &names[0], 20);
    struct answer *found = answers_find(answers, &names[0]);
    CHECK("the newer one", found == newer && found->bytes == 20);
    CHECK("who holds the older one keeps it", held->bytes == 10);
    answer_release(found);
    answer_release(held);
    answers_destroy(answers);
    answers_destroy(NULL);
    answer_release(NULL);
}

static void test_bounds(void)
{
    struct answers *answers = NULL;
    char url[32];
    CHECK_INT("create", answers_create(&answers), STATUS_OK);
    (void)put(answers, &(struct answer_name){.url = "/used"}, 1);
    (void)put(answers, &(struct answer_name){.url = "/unused"}, 1);
    for (int i = 0; i < ANSWERS_MAX - 1; i++) {
        (void)snprintf(url, sizeof url, "/%d", i);
        (void)put(answers, &(struct answer_name){.url = url}, 1);
        CHECK("used all the time", has(answers, "/used"));
    }
    CHECK("asked for least recently", !has(answers, "/unused"));
    CHECK("full", has(answers, "/0"));
    for (int i = 0; i < ANSWERS_BYTES_MAX / ANSWER_BYTES_MAX; i++) {
        (void)snprintf(url, sizeof url, "/large%d", i);
        (void)put(answers, &(struct answer_name){.url = url}, ANSWER_BYTES_MAX);
    }
    CHECK("bytes", !has(answers, "/large0") && !has(answers, "/used"));
    CHECK("the last ones", has(answers, "/large1") && has(answers, url));
    answers_destroy(answers);
}

/* ---- who gets them ---- */

static const struct web_route *route_of(const char *path)
{
    size_t i = 0;
    while (strcmp(web_routes[i].path, path) != 0) {
        i++;
    }
    return &web_routes[i];
}

/* Whoever is refused without them is not given them. */
static void test_guard(void)
{
    static const char url[] = "/api/v1/pairs/r1";
    struct sockaddr_in listening = {.sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct web_source source = fixture_source(&fixture);
    struct web_context context = {.source = &source,
                                  .token = "secret",
                                  .listening = (const struct sockaddr *)&listening,
                                  .hosts = ""};
    const struct {
        const char *row;
        struct web_input input;
        bool given;
    } rows[] = {
        {"from here", {.method = "GET", .host = "localhost", .local = true}, true},
        {"head", {.method = "HEAD", .host = "localhost", .local = true}, true},
        {"no reading", {.method = "POST", .host = "localhost", .local = true}, false},
        {"from afar", {.method = "GET", .host = "localhost"}, false},
        {"wrong token",
         {.method = "GET", .host = "localhost", .authorization = "Bearer other"},
         false},
        {"token",
         {.method = "GET", .host = "localhost", .authorization = "Bearer secret"},
         true},
        {"another host", {.method = "GET", .host = "evil.example", .local = true}, false},
        {"hasty", {.method = "GET", .local = true, .client = CLIENT_HASTY}, false},
        {"table wanted", {.method = "GET", .local = true, .accept = "text/csv"}, false},
    };
    CHECK_INT("create", answers_create(&context.answers), STATUS_OK);
    struct answer *a = answer_create(&(struct answer_name){.url = url});
    a->route = route_of("/api/v1/pairs/{id}");
    CHECK("known", grounds_read(&source, a->route, &fixture.view, 0, &a->grounds));
    (void)snprintf(a->etag, sizeof a->etag, "\"1\"");
    answers_keep(context.answers, a);
    answer_release(a);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct web_input input = rows[i].input;
        bool unchanged = false;
        input.url = url;
        struct answer *given = dispatch_kept(&context, &input, &unchanged);
        CHECK_INT(rows[i].row, given != NULL, rows[i].given);
        answer_release(given);
        input.if_none_match = "\"1\"";
        answer_release(dispatch_kept(&context, &input, &unchanged));
        CHECK_INT(rows[i].row, unchanged, rows[i].given);
    }
    CHECK_INT("counted", atomic_load(&context.answered[2]), 3);
    CHECK_INT("counted", atomic_load(&context.answered[3]), 3);
    CHECK_INT("nobody was refused here", atomic_load(&context.refused[WEB_REFUSED_TOKEN]), 0);
    fixture.pair[0]->version++;
    bool unchanged = false;
    struct web_input input = rows[0].input;
    input.url = url;
    CHECK("the pair has changed", !dispatch_kept(&context, &input, &unchanged));
    CHECK_INT("views given back", atomic_load(&fixture.acquired), 0);
    answers_destroy(context.answers);
}

/* ---- what is given ---- */

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

static uint64_t frozen(void *context, enum store_kind kind, const char *pair)
{
    (void)context;
    (void)kind;
    (void)pair;
    return 1;
}

static struct web *serve(struct web_source *source, unsigned threads)
{
    const struct web_options options = {.bind = "127.0.0.1",
                                        .threads = threads,
                                        .connections_max = 64,
                                        .store_path = fixture.store_path};
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
};

/* By a source that does not tell of new rows it is seen that answers are kept at all; with one
 * that does, each shows the row that was just added. */
static void test_store(void)
{
    struct web_source told = fixture_source(&fixture);
    struct web_source untold = told;
    struct web_source unknown = told;
    untold.stored = frozen;
    unknown.stored = NULL;
    struct web *web[] = {serve(&told, 1), serve(&untold, 1), serve(&unknown, 1)};
    for (size_t i = 0; i < COUNT(STORED); i++) {
        struct http_reply before[COUNT(web)];
        for (size_t k = 0; k < COUNT(web); k++) {
            before[k] = http_get(web_port(web[k]), STORED[i].target);
            CHECK_INT(STORED[i].target, before[k].status, 200);
        }
        add_row(STORED[i].kind, 1000 + i);
        for (size_t k = 0; k < COUNT(web); k++) {
            struct http_reply now = http_get(web_port(web[k]), STORED[i].target);
            const bool same = strcmp(now.body, before[k].body) == 0;
            CHECK_INT(STORED[i].target, now.status, 200);
            CHECK_INT(STORED[i].target, same, k == 1);
            http_free(&now);
            http_free(&before[k]);
        }
    }
    for (size_t k = 0; k < COUNT(web); k++) {
        web_stop(web[k]);
    }
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
    struct web *web = serve(&source, 1);
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

static void *ask(void *context)
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
    struct web *web = serve(&source, 2);
    pthread_t thread[ASKING];
    struct asking asking[ASKING];
    add_row(STORE_ENTRIES, 2000);
    atomic_store(&committed, 2000);
    for (int i = 0; i < ASKING; i++) {
        asking[i] = (struct asking){.port = web_port(web)};
        CHECK_INT("thread", pthread_create(&thread[i], NULL, ask, &asking[i]), 0);
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
    CU_add_test(suite, "names", test_names);
    CU_add_test(suite, "bounds", test_bounds);
    CU_add_test(suite, "guard", test_guard);
    CU_add_test(suite, "store", test_store);
    CU_add_test(suite, "same", test_same);
    CU_add_test(suite, "fresh", test_fresh);
    const int result = check_run();
    fixture_close(&fixture);
    return result;
}
