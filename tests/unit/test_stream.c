/* needs: threads */
/* /api/v1/events over sockets: listeners that filter, resume, are slow, are many; threads. */
#include "tests/support/check.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <time.h>

#include "tests/support/http.h"
#include "tests/support/web_fixture.h"
#include "web/http/event_hub.h"

enum { MOVES = 30, MANY = 200, LISTENERS = 220, HEARTBEAT_MS = 1500 };

static struct fixture fixture;
static struct web *web;

/* The lab does not step while a client reads it. */
static pthread_mutex_t still = PTHREAD_MUTEX_INITIALIZER;

static const struct view *acquire_view(void *context)
{
    (void)pthread_mutex_lock(&still);
    return fixture_acquire(context);
}

static void release_view(void *context, const struct view *view)
{
    fixture_release(context, view);
    (void)pthread_mutex_unlock(&still);
}

static void open_hub(size_t events, int64_t run_us)
{
    const struct event_hub_params p = {.pairs = fixture.params,
                                       .pair_count = FIXTURE_PAIRS,
                                       .run_us = run_us,
                                       .bytes = 1 << 20,
                                       .events = events,
                                       .numbered = true,
                                       .record = {fixture.entry_n, fixture.alarm_n, 0}};
    if (event_hub_create(&p, &fixture.events) != STATUS_OK) {
        abort();
    }
}

static void serve_web(unsigned threads)
{
    struct web_source source = fixture_source(&fixture);
    source.acquire = acquire_view;
    source.release = release_view;
    const struct web_options options = {.bind = "127.0.0.1",
                                        .threads = threads,
                                        .connections_max = 16,
                                        .listeners_max = LISTENERS,
                                        .heartbeat_ms = HEARTBEAT_MS,
                                        .store = {.path = fixture.store_path}};
    struct err err = {0};
    if (web_start(&options, &source, &web, &err) != STATUS_OK) {
        (void)fprintf(stderr, "%s: %s\n", err.where, err.text);
        abort();
    }
}

static void stop_web(void)
{
    web_stop(web);
    event_hub_destroy(fixture.events);
    fixture.events = NULL;
}

/* ---- listeners ---- */

struct listener {
    int fd;
    size_t used;
    char text[1 << 18]; /* all that came, with the chunks' sizes in between */
};

static struct listener *listen_to(const char *query, const char *header)
{
    struct listener *l = calloc(1, sizeof *l);
    char request[512];
    l->fd = http_connect(web_port(web));
    const int n =
        snprintf(request, sizeof request,
                 "GET /api/v1/events%s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", query, header);
    (void)http_send(l->fd, request, (size_t)n);
    return l;
}

static void hang_up(struct listener *l)
{
    (void)close(l->fd);
    free(l);
}

/* Read until words have come; false after timeout_ms or at the end. */
static bool wait_words(struct listener *l, const char *words, int timeout_ms)
{
    struct pollfd p = {.fd = l->fd, .events = POLLIN};
    while (!strstr(l->text, words)) {
        if (poll(&p, 1, timeout_ms) <= 0) {
            return false;
        }
        const ssize_t n = recv(l->fd, l->text + l->used, sizeof l->text - 1 - l->used, 0);
        if (n <= 0) {
            return false;
        }
        l->used += (size_t)n;
        l->text[l->used] = '\0';
    }
    return true;
}

static unsigned count_words(const struct listener *l, const char *words)
{
    unsigned n = 0;
    for (const char *p = l->text; (p = strstr(p, words)) != NULL; p++) {
        n++;
    }
    return n;
}

static void publish_event(enum event_type type, size_t pair, const char *json)
{
    const uint64_t record =
        (int)type < (int)EVENT_RECORDS ? event_hub_number(fixture.events, type) : 0;
    event_hub_publish(fixture.events, type, pair, record, json, strlen(json));
}

static void test_two(void)
{
    open_hub(1000, 7);
    serve_web(2);
    struct listener *all = listen_to("", "");
    struct listener *some = listen_to("?pair=r2,quiet&type=alarm,entry", "");
    CHECK("hello", wait_words(all, "retry: 2000", 5000) && wait_words(some, "id: 7.0.", 5000));
    CHECK("type", strstr(all->text, "Content-Type: text/event-stream\r\n"));
    CHECK("not to be guessed", strstr(all->text, "X-Content-Type-Options: nosniff\r\n"));
    CHECK("not for other sites", !strstr(all->text, "Access-Control"));
    publish_event(EVENT_TYPE_ENTRY, 0, "{\"pair\":\"r1\",\"n\":1}");
    publish_event(EVENT_TYPE_CHANGE, 1, "{\"pair\":\"r2\",\"n\":2}");
    publish_event(EVENT_TYPE_ALARM, 1, "{\"pair\":\"r2\",\"n\":3}");
    CHECK("one", wait_words(some, "\"n\":3}\n\n", 5000));
    CHECK("three", wait_words(all, "\"n\":3}\n\n", 5000));
    CHECK_INT("filtered", count_words(some, "data: "), 1);
    CHECK_INT("all", count_words(all, "data: "), 3);
    /* Nothing: a comment. */
    CHECK("heartbeat", wait_words(all, "\n:\n\n", 4 * HEARTBEAT_MS));
    CHECK("heartbeat", wait_words(some, "\n:\n\n", 4 * HEARTBEAT_MS));
    struct http_reply reply = http_get(web_port(web), "/metrics");
    CHECK("listeners", strstr(reply.body, "tandem_stream_listeners 2\n"));
    http_free(&reply);
    hang_up(all);
    hang_up(some);
    stop_web();
}

static void test_refusals(void)
{
    static const char *const queries[] = {"?pair=nobody",      "?type=verdict", "?type=",
                                          "?last_event_id=12", "?limit=1",      "?pair=r1,"};
    open_hub(1000, 7);
    serve_web(1);
    for (size_t i = 0; i < COUNT(queries); i++) {
        char target[128];
        (void)snprintf(target, sizeof target, "/api/v1/events%s", queries[i]);
        struct http_reply reply = http_get(web_port(web), target);
        CHECK_INT(queries[i], reply.status, 400);
        CHECK(queries[i], strstr(reply.body, "\"parameter\":"));
        http_free(&reply);
    }
    struct http_reply head = http_request(web_port(web), "HEAD", "/api/v1/events", "", NULL);
    CHECK_INT("head", head.status, 200);
    http_free(&head);
    stop_web();
}

/* Out of the ring; out of the store after a restart; from another store. */
static void test_resume(void)
{
    char header[128];
    char last[EVENT_PLACE_MAX];
    open_hub(1000, 7);
    serve_web(1);
    struct listener *l = listen_to("", "Last-Event-ID: 7.1.0.0.0\r\n");
    publish_event(EVENT_TYPE_FIDELITY, 0, "1");
    publish_event(EVENT_TYPE_FIDELITY, 0, "2");
    CHECK("from the ring", wait_words(l, "\"fidelity\":2}", 5000));
    hang_up(l);
    l = listen_to("?last_event_id=7.1.0.0.0", "");
    CHECK("by parameter",
          wait_words(l, "\"fidelity\":2}", 5000) && !strstr(l->text, "\"fidelity\":1}"));
    hang_up(l);
    stop_web();

    /* Another run: thirty moves of two pairs were stored by the fixture, all but ten entries
     * had been received. */
    open_hub(1000, 8);
    serve_web(1);
    struct event_place place = {
        .run_us = 7, .live = 99, .record = {fixture.entry_n - 10, fixture.alarm_n, 0}};
    event_place_write(&place, last);
    (void)snprintf(header, sizeof header, "Last-Event-ID: %s\r\n", last);
    publish_event(EVENT_TYPE_ENTRY, 0, "{\"live\":true}");
    l = listen_to("", header);
    CHECK("out of the store", wait_words(l, "{\"live\":true}", 5000));
    CHECK_INT("those not received", count_words(l, "event: entry\n"), 11);
    CHECK_INT("whole", count_words(l, "\"verdict\":"), 10);
    hang_up(l);
    l = listen_to("?pair=r2", header);
    publish_event(EVENT_TYPE_ENTRY, 1, "{\"second\":true}");
    CHECK("of one pair", wait_words(l, "{\"second\":true}", 5000));
    CHECK_INT("of one pair", count_words(l, "event: entry\n"), 6);
    hang_up(l);
    l = listen_to("", "Last-Event-ID: 7.1.1000000.0.0\r\n");
    CHECK("another store", wait_words(l, "event: missed\ndata: {\"n\":null}\n\n", 5000));
    hang_up(l);
    /* Everything, from the very first record. */
    l = listen_to("?type=alarm,entry", "Last-Event-ID: 0.0.0.0.0\r\n");
    CHECK("all", wait_words(l, "{\"second\":true}", 5000));
    CHECK_INT("all entries", count_words(l, "event: entry\n"), fixture.entry_n + 2);
    CHECK_INT("all alarms", count_words(l, "event: alarm\n"), fixture.alarm_n);
    hang_up(l);
    stop_web();
}

/* While the journal is read back the latest number is unknown: a client that resumes waits. */
static void test_restoring(void)
{
    fixture.view.health.restored = false;
    open_hub(1000, 8);
    serve_web(1);
    struct listener *l = listen_to("", "Last-Event-ID: 7.1.1.0.0\r\n");
    CHECK("waits", !wait_words(l, "event:", 700));
    (void)pthread_mutex_lock(&still);
    fixture.view.health.restored = true;
    (void)pthread_mutex_unlock(&still);
    CHECK("comes", wait_words(l, "event: entry\n", 5000));
    hang_up(l);
    stop_web();
}

/* A listener that does not read holds up nobody, and learns how much it has missed. */
static void test_slow(void)
{
    enum { FLOOD = 40000 };
    open_hub(200, 7);
    serve_web(1);
    struct listener *slow = listen_to("", "");
    struct listener *quick = listen_to("?type=alarm", "");
    char json[600];
    CHECK("hello", wait_words(slow, "id: 7.0.", 5000) && wait_words(quick, "id: 7.0.", 5000));
    memset(json, '1', sizeof json - 1);
    json[sizeof json - 1] = '\0';
    for (int i = 0; i < FLOOD; i++) {
        publish_event(EVENT_TYPE_ENTRY, 0, json);
        if (i % 1000 == 0) {
            (void)usleep(5000); /* so that the socket fills */
        }
    }
    publish_event(EVENT_TYPE_ALARM, 0, "{\"done\":true}");
    CHECK("no other client waits", wait_words(quick, "{\"done\":true}", 5000));
    uint64_t received = 0;
    uint64_t missed = 0;
    bool more = true;
    while (more) {
        more =
            !wait_words(slow, "{\"done\":true}", 5000) && slow->used == sizeof slow->text - 1;
        /* Counts whole events, keeps the rest. */
        char *end = slow->text;
        for (char *p = slow->text; (p = strstr(p, "event: ")) != NULL; p++) {
            const char *data = strstr(p, "\n\n");
            if (!data) {
                break;
            }
            const char *lost = strstr(p, "data: {\"n\":");
            missed += lost && lost < data ? strtoull(lost + 11, NULL, 10) : 0;
            received += strncmp(p, "event: entry", 12) == 0 ? 1 : 0;
            end = p + 7;
        }
        slow->used -= (size_t)(end - slow->text);
        memmove(slow->text, end, slow->used + 1);
    }
    CHECK("missed some", missed > 0);
    CHECK_INT("exactly", received + missed, FLOOD);
    hang_up(slow);
    hang_up(quick);
    stop_web();
}

static void test_many(void)
{
    static struct listener *l[MANY];
    char query[64];
    open_hub(1000, 7);
    serve_web(2);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(query, sizeof query, "?pair=%s", i % 2 ? "r1" : "r2,quiet");
        l[i] = listen_to(query, "");
    }
    for (int i = 0; i < MANY; i++) {
        CHECK("hello", wait_words(l[i], "id: 7.0.", 20000));
    }
    for (int k = 0; k < 10; k++) {
        publish_event(EVENT_TYPE_ENTRY, 0, "{\"first\":1}");
        publish_event(EVENT_TYPE_ENTRY, 1, "{\"other\":1}");
        (void)usleep(10000);
    }
    publish_event(EVENT_TYPE_ALARM, 0, "{\"end\":1}");
    publish_event(EVENT_TYPE_ALARM, 2, "{\"end\":1}");
    for (int i = 0; i < MANY; i++) {
        CHECK("all", wait_words(l[i], "{\"end\":1}", 20000));
        CHECK_INT("its own", count_words(l[i], i % 2 ? "{\"first\":1}" : "{\"other\":1}"), 10);
        CHECK_INT("no others", count_words(l[i], "event: "), 11);
    }
    /* Others are served meanwhile. */
    struct http_reply reply = http_get(web_port(web), "/api/v1/status");
    CHECK_INT("others", reply.status, 200);
    http_free(&reply);
    struct listener *extra[LISTENERS - MANY];
    for (int i = 0; i < LISTENERS - MANY; i++) {
        extra[i] = listen_to("", "");
        CHECK("room", wait_words(extra[i], "id: 7.", 5000));
    }
    reply = http_get(web_port(web), "/api/v1/events");
    CHECK_INT("no more room", reply.status, 503);
    CHECK("no more room", strstr(reply.body, "/problems/too-many-listeners"));
    http_free(&reply);
    for (int i = 0; i < LISTENERS - MANY; i++) {
        hang_up(extra[i]);
    }
    /* Half go without a word, the other half are there at the stop. */
    for (int i = 0; i < MANY / 2; i++) {
        hang_up(l[i]);
    }
    const int64_t began_us = wait_now_us();
    stop_web();
    /* On a busy machine it takes longer than the 2 s that the server gives them. */
    const bool is_late = wait_now_us() - began_us > 1900000;
    for (int i = MANY / 2; i < MANY; i++) {
        CHECK("ended in order", is_late || wait_words(l[i], "\r\n0\r\n\r\n", 5000));
        hang_up(l[i]);
    }
}

/* A machine that moves is news, once. */
static void test_machines(void)
{
    open_hub(1000, 7);
    serve_web(1);
    struct listener *l = listen_to("?type=machines", "");
    CHECK("hello", wait_words(l, "id: 7.0.", 5000) && !wait_words(l, "event:", 600));
    (void)pthread_mutex_lock(&still);
    fixture_move(&fixture, 0, MOVES);
    (void)pthread_mutex_unlock(&still);
    CHECK("moved",
          wait_words(l, "event: machines\ndata: {\"pair\":\"r1\",\"side\":null,", 5000));
    CHECK("moved", wait_words(l, "\"smartlog\"", 5000));
    CHECK("once", !wait_words(l, "\"pair\":\"r2\"", 600));
    hang_up(l);
    stop_web();
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    fixture_open(&fixture, MOVES);
    CU_pSuite suite = CU_add_suite("stream", NULL, NULL);
    CU_add_test(suite, "two", test_two);
    CU_add_test(suite, "refusals", test_refusals);
    CU_add_test(suite, "resume", test_resume);
    CU_add_test(suite, "restoring", test_restoring);
    CU_add_test(suite, "slow", test_slow);
    CU_add_test(suite, "many", test_many);
    CU_add_test(suite, "machines", test_machines);
    const int result = check_run();
    fixture_close(&fixture);
    return result;
}
