/* needs: threads, real time */
/* Every way in which libmicrohttpd ends a request gives back what the request acquired. */
#include "tests/support/check.h"

#include "tests/support/http.h"
#include "tests/support/web_fixture.h"

enum { TEXT_MAX = 80000 };

static struct fixture fixture;

#define GET "GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\n"
#define POST                                                                                   \
    "POST /api/v1/pairs/r1/commands HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "     \
    "t\r\n"
#define CHUNKS POST "Transfer-Encoding: chunked\r\n\r\n"
#define NUL    "\x01" /* sent as NUL */

/* `repeat` occurs `times` times between `begin` and `end`. */
static const struct way {
    const char *begin, *repeat;
    int times;
    const char *end;
    int status; /* 0: no answer at all, or whichever */
} ways[] = {
    {GET "Connection: close\r\n\r\n", "", 0, "", 200},
    {"GET /x?", "a&", 249, " HTTP/1.1\r\nHost: localhost\r\n\r\n", 404},
    {"GET /healthz?", "a&", 250, " HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
    {"GET /healthz?", "a&", 1000, " HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
    {"GET /x" NUL "?", "a&", 1000, " HTTP/1.1\r\nHost: localhost\r\n\r\n", 0},
    {"GET /x?", "a=b&", 3000, " HTTP/1.1\r\nHost: localhost\r\n\r\n", 414},
    {"GET /", "a", 3000, " HTTP/1.1\r\nHost: localhost\r\n\r\n", 414},
    {"GET /", "a", 20000, " HTTP/1.1\r\nHost: localhost\r\n\r\n", 414},
    {"", "A", 20000, " / HTTP/1.1\r\n\r\n", 414},
    {"GET / HTTP/1.1\r\n", "X: y\r\n", 3000, "\r\n", 431},
    {"GET / HTTP/1.1\r\nX: ", "y", 20000, "\r\n\r\n", 431},
    {GET "Cookie: ", "a=b;", 1500, "\r\n\r\n", 431},
    {GET "X: a\r\n", " more\r\n", 3000, "\r\n", 431},
    {GET "X: a\r\n\tmore\r\n\r\n", "", 0, "", 400},
    {GET "no colon\r\n\r\n", "", 0, "", 400},
    {GET "X: y\r\nno colon\r\n\r\n", "", 0, "", 400},
    {GET "X" NUL ": y\r\n\r\n", "", 0, "", 400},
    {GET "X: " NUL "y\r\n\r\n", "", 0, "", 400},
    {"GET /" NUL " HTTP/1.1\r\nHost: localhost\r\n\r\n", "", 0, "", 400},
    {"GET / HTTP/2.0\r\n\r\n", "", 0, "", 505},
    {"GET / HTTP/0.9\r\n\r\n", "", 0, "", 505},
    {"GET / HTTP/1.1x\r\n\r\n", "", 0, "", 400},
    {"GET /\r\n\r\n", "", 0, "", 400},
    {"GET \r\n\r\n", "", 0, "", 400},
    {"GET\r\n\r\n", "", 0, "", 0},
    {"\x16\x03\x01\x02\r\n\r\n", "", 0, "", 0},
    {"\r\n\r\n\r\n" GET "Connection: close\r\n\r\n", "", 0, "", 200},
    {POST "Content-Length: -1\r\n\r\n", "", 0, "", 400},
    {POST "Content-Length: 99999999999999999999\r\n\r\n", "", 0, "", 413},
    {POST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "", 0, "", 400},
    {POST "Content-Length: 100000\r\n\r\n", "x", 70000, "", 413},
    {POST "Transfer-Encoding: gzip\r\n\r\n", "", 0, "", 400},
    {CHUNKS "0\r\n\r\n", "", 0, "", 400},
    {CHUNKS "zz\r\n", "", 0, "", 400},
    {CHUNKS "\r\n\r\n", "", 0, "", 400},
    {CHUNKS "fffffffffffffffff\r\n", "", 0, "", 413},
    {CHUNKS "1\r\nxy\r\n0\r\n\r\n", "", 0, "", 400},
    {CHUNKS "1\r\nx\r\n0\r\nno colon\r\n\r\n", "", 0, "", 400},
    {CHUNKS "0\r\n", "X: y\r\n", 3000, "\r\n", 431},
    {CHUNKS "", "1\r\nx\r\n", 70000 / 6, "0\r\n\r\n", 413},
    {POST "Content-Length: 11\r\nExpect: 100-continue\r\n\r\n", "", 0, "", 0},
    {POST "Content-Length: 11\r\nExpect: else\r\n\r\n", "{\"op\":\"go\"}", 1, "", 202},
    {"HEAD /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "", 0, "", 200},
    {GET "\r\n", GET "\r\n", 20, GET "no colon\r\n\r\n", 200},
    {"GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n", "", 0, "", 200},
    {"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n", "", 0, "", 200},
};

enum ending { ENDING_READ, ENDING_SHUT, ENDING_CLOSED, ENDING_RESET, ENDING_COUNT };

static size_t write_way(const struct way *w, char *text)
{
    size_t n = (size_t)snprintf(text, TEXT_MAX, "%s", w->begin);
    for (int i = 0; i < w->times; i++) {
        n += (size_t)snprintf(text + n, TEXT_MAX - n, "%s", w->repeat);
    }
    n += (size_t)snprintf(text + n, TEXT_MAX - n, "%s", w->end);
    for (size_t i = 1; i < n; i++) { /* of TLS 1 is no NUL */
        text[i] = (char)(text[i] == NUL[0] && text[0] != '\x16' ? '\0' : text[i]);
    }
    return n;
}

/* The status of the first answer, 0 for none: what came within some moments. */
static int read_status(int fd)
{
    char line[16] = "";
    return wait_input(fd, 1000) && recv(fd, line, 12, MSG_PEEK) == 12
               ? (int)strtol(line + 9, NULL, 10)
               : 0;
}

static int send_way(uint16_t port, const char *text, size_t bytes, enum ending ending)
{
    const struct linger hard = {.l_onoff = 1};
    int status = 0;
    const int fd = http_connect(port);
    CHECK("connected", fd >= 0);
    (void)http_send(fd, text, bytes);
    if (ending == ENDING_READ) {
        status = read_status(fd);
    } else if (ending == ENDING_SHUT) {
        (void)shutdown(fd, SHUT_WR);
        (void)read_status(fd);
    } else if (ending == ENDING_RESET) {
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    }
    (void)close(fd);
    return status;
}

/* A sample of /metrics. */
static long read_metric(uint16_t port, const char *name)
{
    struct http_reply reply = http_get(port, "/metrics");
    const char *at = strstr(reply.body, name);
    const long value = at ? strtol(at + strlen(name), NULL, 10) : -1;
    http_free(&reply);
    return value;
}

static bool all_is_given_back(const struct web *web)
{
    int64_t end_us = 0;
    while (read_metric(web_port(web), "\ntandem_http_open_requests ") != 1) { /* this one */
        if (!wait_more(&end_us, 30000)) {
            return false;
        }
    }
    return true;
}

static struct web *serve_web(void)
{
    const struct event_hub_params hub = {
        .pairs = fixture.params, .pair_count = FIXTURE_PAIRS, .bytes = 1 << 16, .events = 64};
    struct web *web = NULL;
    struct err err = {0};
    CHECK_INT("hub", event_hub_create(&hub, &fixture.events), STATUS_OK);
    const struct web_source source = fixture_source(&fixture);
    const struct web_options options = {.bind = "127.0.0.1",
                                        .token = "t",
                                        .threads = 2,
                                        .listeners_max = 256,
                                        .upload_bytes_max = FIXTURE_UPLOAD_MAX,
                                        .store = {.path = fixture.store_path}};
    CHECK_INT("start", web_start(&options, &source, &web, &err), STATUS_OK);
    return web;
}

static void test_ends(void)
{
    static const char *const halves[] = {"G", "GET / HTTP/1.1\r\nX: y", CHUNKS "5\r\nx"};
    static char text[TEXT_MAX];
    struct web *web = serve_web();
    const uint16_t port = web_port(web);
    /* These say nothing more, and are hung up on meanwhile: nothing else ends them. */
    int fds[COUNT(halves)];
    for (size_t i = 0; i < COUNT(halves); i++) {
        fds[i] = http_connect(port);
        CHECK("half", http_send(fds[i], halves[i], strlen(halves[i])));
    }
    for (size_t i = 0; i < COUNT(ways); i++) {
        const size_t bytes = write_way(&ways[i], text);
        for (int k = 0; k < ENDING_COUNT; k++) {
            const int status = send_way(port, text, bytes, (enum ending)k);
            char name[64];
            (void)snprintf(name, sizeof name, "%zu: %.40s", i, ways[i].begin);
            CHECK(name, k != ENDING_READ || ways[i].status == 0 || status == ways[i].status);
        }
    }
    CHECK("unreadable ones are counted",
          read_metric(port, "\ntandem_http_refused_total{reason=\"unreadable\"} ") > 60);
    for (size_t i = 0; i < COUNT(halves); i++) {
        CHECK("hung up on", wait_input(fds[i], 30000));
        (void)close(fds[i]);
    }
    CHECK("all is given back", all_is_given_back(web));
    web_stop(web);
    event_hub_destroy(fixture.events);
    CHECK_INT("uploads", atomic_load(&fixture.uploads), 0);
    CHECK_INT("views", atomic_load(&fixture.acquired), 0);
}

/* Cut off behind every byte. */
static void test_cuts(void)
{
    static const char text[] = POST "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n"
                                    "6\r\n{\"op\":\r\n5;x\r\n\"go\"}\r\n0\r\nX: y\r\n\r\n";
    struct web *web = serve_web();
    for (size_t n = 0; n < sizeof text; n++) {
        (void)send_way(web_port(web), text, n, n % 2 ? ENDING_CLOSED : ENDING_RESET);
    }
    CHECK("all is given back", all_is_given_back(web));
    web_stop(web);
    event_hub_destroy(fixture.events);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    fixture_open(&fixture, 4);
    CU_pSuite suite = CU_add_suite("web ends", NULL, NULL);
    CU_add_test(suite, "ends", test_ends);
    CU_add_test(suite, "cuts", test_cuts);
    const int result = check_run();
    fixture_close(&fixture);
    return result;
}
