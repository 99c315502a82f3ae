/* needs: threads, real time */
/* The HTTP server under bad clients, many clients, and while it stops. It runs threads. */
#include "tests/support/check.h"

#include <dirent.h>
#include <errno.h>
#include <sys/resource.h>
#include <time.h>

#include "tests/support/http.h"
#include "tests/support/web_fixture.h"
#include "web/http/address.h"

static struct fixture fixture;

static double now_s(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static enum status try_start(const char *bind, uint16_t port, const char *token,
                             struct web **web, struct err *err)
{
    const struct web_source source = fixture_source(&fixture);
    const struct web_options options = {.bind = bind,
                                        .port = port,
                                        .token = token,
                                        .threads = 1,
                                        .store = {.path = fixture.store_path}};
    *err = (struct err){0};
    return web_start(&options, &source, web, err);
}

static void test_start(void)
{
    struct web *web = NULL;
    struct web *second = NULL;
    struct err err;
    CHECK_INT("no address", try_start("localhost", 0, NULL, &web, &err), STATUS_E_ARG);
    CHECK_TEXT("no address", fault_name(err.fault), "bad_address");
    CHECK_INT("everywhere", try_start("0.0.0.0", 0, NULL, &web, &err), STATUS_E_ARG);
    CHECK_TEXT("everywhere", fault_name(err.fault), "unsafe_address");
    CHECK_INT("everywhere, six", try_start("::", 0, NULL, &web, &err), STATUS_E_ARG);
    CHECK_INT("empty token", try_start("127.0.0.1", 0, "", &web, &err), STATUS_E_ARG);
    CHECK("untouched", !web);
    CHECK_INT("everywhere with a token", try_start("0.0.0.0", 0, "t", &web, &err), STATUS_OK);
    struct http_reply reply = http_get(web_port(web), "/api/v1/status");
    CHECK_INT("loopback may read", reply.status, 200);
    http_free(&reply);
    CHECK_INT("taken", try_start("127.0.0.1", web_port(web), NULL, &second, &err), STATUS_E_IO);
    CHECK_TEXT("taken", fault_name(err.fault), "listen_failed");
    web_stop(web);
    web_stop(NULL);
}

/* The nice value of a thread; -100: it is gone. */
static int nice_of(const char *task)
{
    char path[320];
    char text[512] = "";
    int value = -100;
    (void)snprintf(path, sizeof path, "/proc/self/task/%.32s/stat", task);
    FILE *in = fopen(path, "re");
    if (in && fgets(text, sizeof text, in) && strrchr(text, ')')) {
        (void)sscanf(strrchr(text, ')') + 1,
                     " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %d",
                     &value);
    }
    if (in) {
        (void)fclose(in);
    }
    return value;
}

static int count_behind(int nice)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (const struct dirent *e = readdir(tasks); e; e = readdir(tasks)) {
        count += e->d_name[0] != '.' && nice_of(e->d_name) == nice ? 1 : 0;
    }
    (void)closedir(tasks);
    return count;
}

static void test_threads_stand_behind(void)
{
    const int own = getpriority(PRIO_PROCESS, 0);
    const int behind = own + 10 > 19 ? 19 : own + 10;
    const int before = count_behind(behind);
    struct web *web = fixture_serve(&fixture, NULL, 2);
    CHECK_INT("its threads", count_behind(behind) >= before + 2, own < 19);
    CHECK_INT("ours", getpriority(PRIO_PROCESS, 0), own);
    web_stop(web);
}

static void test_no_token(void)
{
    struct web *web = fixture_serve(&fixture, NULL, 1);
    struct http_reply reply = http_request(web_port(web), "POST", "/api/v1/pairs/r1/commands",
                                           "Authorization: Bearer x\r\n", "{\"op\":\"go\"}");
    CHECK_INT("writing is off", reply.status, 403);
    CHECK("writing is off", strstr(reply.body, "/problems/writing-off"));
    http_free(&reply);
    web_stop(web);
}

static void test_addresses(void)
{
    static const struct {
        const char *text;
        bool good, loopback;
    } rows[] = {
        {"127.0.0.1", true, true},
        {"127.255.0.9", true, true},
        {"128.0.0.1", true, false},
        {"0.0.0.0", true, false},
        {"10.0.0.1", true, false},
        {"::1", true, true},
        {"::", true, false},
        {"::ffff:127.0.0.1", true, true},
        {"::ffff:10.0.0.1", true, false},
        {"fe80::1", true, false},
        {"localhost", false, false},
        {"", false, false},
        {"127.0.0.1.example", false, false},
        {"127.1", false, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sockaddr_storage address;
        socklen_t bytes = 0;
        CHECK_INT(rows[i].text, address_parse(rows[i].text, 80, &address, &bytes),
                  rows[i].good);
        if (rows[i].good) {
            CHECK_INT(rows[i].text, address_is_loopback((const struct sockaddr *)&address),
                      rows[i].loopback);
            /* IPv6 has its port in the same place. */
            CHECK_INT(rows[i].text,
                      ntohs(((const struct sockaddr_in *)(const void *)&address)->sin_port),
                      80);
        }
    }
}

static int send_head(uint16_t port, const char *text)
{
    const int fd = http_connect(port);
    CHECK("connected", fd >= 0);
    (void)http_send(fd, text, strlen(text));
    return fd;
}

static void test_bodies(void)
{
    struct web *web = fixture_serve(&fixture, "t", 1);
    const uint16_t port = web_port(web);
    static const char chunked[] =
        "POST /api/v1/pairs/r1/commands HTTP/1.1\r\nHost: localhost\r\n"
        "Authorization: Bearer t\r\nConnection: close\r\n"
        "Transfer-Encoding: chunked\r\n\r\n";
    int fd = send_head(port, chunked);
    (void)http_send(fd, "6\r\n{\"op\":\r\n5\r\n\"go\"}\r\n0\r\n\r\n", 26);
    struct http_reply reply = http_receive(fd);
    CHECK_INT("in chunks", reply.status, 202);
    http_free(&reply);
    (void)close(fd);

    fd = send_head(port, chunked);
    char chunk[1100];
    (void)snprintf(chunk, sizeof chunk, "400\r\n%01024d\r\n", 0);
    (void)http_send(fd, chunk, 1031);
    (void)http_send(fd, "0\r\n\r\n", 5);
    reply = http_receive(fd);
    CHECK_INT("too many chunks", reply.status, 413);
    http_free(&reply);
    (void)close(fd);

    /* Far too many have the reason as well, and are counted. Without end: cut off, not read for
     * ever, and counted as unreadable. */
    static char large[0x10000 + 10];
    const size_t large_bytes =
        (size_t)snprintf(large, sizeof large, "10000\r\n%065536d\r\n", 0);
    fd = send_head(port, chunked);
    bool sent = true;
    for (int i = 0; i < 32 && sent; i++) {
        sent = http_send(fd, large, large_bytes);
    }
    CHECK("two megabytes are read", sent && http_send(fd, "0\r\n\r\n", 5));
    reply = http_receive(fd);
    CHECK_INT("two megabytes", reply.status, 413);
    CHECK("why", strstr(reply.body, "at most 256 bytes of body are accepted here"));
    http_free(&reply);
    (void)close(fd);
    fd = send_head(port, chunked);
    for (int i = 0; i < 1000 && sent; i++) {
        sent = http_send(fd, large, large_bytes);
    }
    CHECK("endless", !sent);
    (void)close(fd);
    reply = http_get(port, "/metrics");
    CHECK("counted", strstr(reply.body, "\ntandem_http_requests_total{status=\"4xx\"} 3\n"));
    CHECK("no whole request",
          strstr(reply.body, "\ntandem_http_refused_total{reason=\"unreadable\"} 1\n"));
    http_free(&reply);

    fd = send_head(port, "POST /api/v1/pairs/r1/commands HTTP/1.1\r\nHost: localhost\r\n"
                         "Authorization: Bearer t\r\nConnection: close\r\n"
                         "Content-Length: 1000000000000\r\n\r\n");
    reply = http_receive(fd);
    CHECK_INT("announced too much", reply.status, 413);
    http_free(&reply);
    (void)close(fd);

    fd = send_head(port, "POST /api/v1/pairs/r1/commands HTTP/1.1\r\nHost: localhost\r\n"
                         "Expect: 100-continue\r\nContent-Length: 11\r\n\r\n");
    char line[32] = "";
    CHECK("asked before, no token",
          recv(fd, line, 12, MSG_WAITALL) == 12 && strcmp(line, "HTTP/1.1 401") == 0);
    (void)close(fd);

    char header[40000] = "X-Long: ";
    memset(header + 8, 'y', sizeof header - 11);
    memcpy(header + sizeof header - 3, "\r\n", 3);
    reply = http_request(port, "GET", "/healthz", header, NULL);
    CHECK("long header", reply.status == 431 || reply.status == 413 || reply.status == 0);
    http_free(&reply);
    reply = http_get(port, "/healthz");
    CHECK_INT("and alive", reply.status, 200);
    http_free(&reply);
    fd = send_head(port, "\x16\x03\x01\x02 this is no HTTP\r\n\r\n");
    reply = http_receive(fd);
    CHECK("noise", reply.status == 400 || reply.status == 0);
    http_free(&reply);
    (void)close(fd);
    web_stop(web);
}

/* A body that comes a byte at a time is waited for a while, not for ever; others are served
 * meanwhile. */
static void test_slow_body(void)
{
    static const char head[] = "POST /api/v1/pairs/r1/commands HTTP/1.1\r\nHost: localhost\r\n"
                               "Authorization: Bearer t\r\nConnection: close\r\n"
                               "Content-Length: 11\r\n\r\n";
    struct web *web = fixture_serve(&fixture, "t", 1);
    const uint16_t port = web_port(web);
    int fd = send_head(port, head);
    for (size_t i = 0; i < 11; i++) {
        (void)usleep(20 * 1000);
        (void)http_send(fd, &"{\"op\":\"go\"}"[i], 1);
    }
    struct http_reply reply = http_receive(fd);
    CHECK_INT("slow", reply.status, 202);
    http_free(&reply);
    (void)close(fd);

    fd = send_head(port, head);
    const double begin_s = now_s();
    bool open = true;
    for (int i = 0; i < 100 && open; i++) {
        const struct timeval wait = {.tv_usec = 700000};
        char c = 0;
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
        open = http_send(fd, "{", i < 10 ? 1 : 0) && recv(fd, &c, 1, 0) < 0 && errno == EAGAIN;
        reply = http_get(port, "/healthz");
        CHECK_INT("others", reply.status, 200);
        http_free(&reply);
    }
    const double took_s = now_s() - begin_s;
    CHECK("cut off", !open);
    CHECK("after a while", took_s > 4.0 && took_s < 12.0 * wait_patience());
    (void)close(fd);
    web_stop(web);
}

/* ---- many at once ---- */

struct client {
    pthread_t thread;
    uint16_t port;
    int requests, good;
};

static void *run_client(void *context)
{
    static const char *const targets[] = {
        "/api/v1/pairs/r1/entries?limit=20",
        "/api/v1/pairs/r1/travel-time",
        "/metrics",
        "/api/v1/pairs",
        "/api/v1/pairs/r2/machines",
        "/api/v1/status",
    };
    struct client *c = context;
    for (int i = 0; i < c->requests; i++) {
        const char *target = targets[((size_t)i + (size_t)c->port) % COUNT(targets)];
        const double began_s = now_s();
        struct http_reply reply = http_get(c->port, target);
        /* The server hangs up on connections that rest for that time, also when it was busy
         * itself. */
        if (reply.status == 0 && now_s() - began_s > 9.5) {
            i--;
        }
        c->good += reply.status == 200 && reply.body_bytes > 0;
        http_free(&reply);
    }
    return NULL;
}

static void test_parallel(void)
{
    enum { CLIENTS = 100, EACH = 5 };
    struct web *web = fixture_serve(&fixture, NULL, 2);
    static struct client clients[CLIENTS];
    for (size_t i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.port = web_port(web), .requests = EACH};
        CHECK_INT("start", pthread_create(&clients[i].thread, NULL, run_client, &clients[i]),
                  0);
    }
    int good = 0;
    for (size_t i = 0; i < CLIENTS; i++) {
        (void)pthread_join(clients[i].thread, NULL);
        good += clients[i].good;
    }
    CHECK_INT("all answered", good, CLIENTS * EACH);
    web_stop(web);
    CHECK_INT("views", atomic_load(&fixture.acquired), 0);
}

/* Several requests on one connection. */
static void test_keep_alive(void)
{
    struct web *web = fixture_serve(&fixture, NULL, 1);
    const int fd = send_head(web_port(web), "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
                                            "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"
                                            "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
                                            "Connection: close\r\n\r\n");
    struct http_reply reply = http_receive(fd);
    const char *p = reply.body;
    int answers = 1;
    while ((p = strstr(p, "HTTP/1.1 "))) {
        answers++;
        p++;
    }
    CHECK_INT("three answers", answers, 3);
    http_free(&reply);
    (void)close(fd);
    web_stop(web);
}

/* Requests that run when the server stops get their answers; it does not wait for idle or
 * dribbling clients. */
static void test_stop(void)
{
    enum { CLIENTS = 8 };
    struct web *web = fixture_serve(&fixture, "t", 2);
    const int idle = http_connect(web_port(web));
    static struct client clients[CLIENTS];
    const int given = atomic_load(&fixture.given);
    atomic_store(&fixture.slow_ms, 300);
    for (size_t i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.port = web_port(web), .requests = 1};
        CHECK_INT("start", pthread_create(&clients[i].thread, NULL, run_client, &clients[i]),
                  0);
    }
    /* Two threads answer; when they come to a third request they have let in all that had come.
     */
    double begin_s = now_s();
    while (atomic_load(&fixture.given) < given + 3 &&
           now_s() - begin_s < 5.0 * wait_patience()) {
        (void)usleep(1000);
    }
    begin_s = now_s();
    web_stop(web);
    const double took_s = now_s() - begin_s;
    CHECK("soon", took_s < 1.9 * wait_patience());
    int good = 0;
    for (size_t i = 0; i < CLIENTS; i++) {
        (void)pthread_join(clients[i].thread, NULL);
        good += clients[i].good;
    }
    /* On a busy machine the last ones may come too late, and are turned away, or take longer
     * than the 2 s that the server waits for them. */
    CHECK("all accepted ones are answered",
          good == atomic_load(&fixture.given) - given || took_s > 1.9);
    CHECK("those too that waited", good >= 3);
    CHECK_INT("views", atomic_load(&fixture.acquired), 0);
    atomic_store(&fixture.slow_ms, 0);
    (void)close(idle);

    web = fixture_serve(&fixture, "t", 2);
    const uint16_t port = web_port(web);
    const int fd =
        send_head(port, "POST /api/v1/pairs/r1/commands HTTP/1.1\r\nHost: localhost\r\n"
                        "Authorization: Bearer t\r\nContent-Length: 11\r\n\r\n{");
    (void)usleep(50 * 1000);
    begin_s = now_s();
    web_stop(web);
    CHECK("not for ever", now_s() - begin_s < 4.0 * wait_patience());
    struct http_reply reply = http_receive(fd);
    CHECK_INT("closed", reply.status, 0);
    http_free(&reply);
    (void)close(fd);
    CHECK_INT("gone", http_connect(port), -1);
}

struct caller {
    pthread_t thread;
    atomic_uint_fast16_t port; /* 0: no callback */
    atomic_bool end;
};

static void *call_on(void *context)
{
    struct caller *c = context;
    while (!atomic_load(&c->end)) {
        const uint16_t port = (uint16_t)atomic_load(&c->port);
        if (port != 0) {
            struct http_reply reply = http_get(port, "/healthz");
            http_free(&reply);
        }
        (void)usleep(100); /* the server's threads follow these */
    }
    return NULL;
}

/* It stops at the moment in which its threads wake up for a callback. */
static void test_stop_again(void)
{
    enum { CALLERS = 4, STOPS = 40 };
    static struct caller callers[CALLERS];
    for (size_t i = 0; i < CALLERS; i++) {
        CHECK_INT("start", pthread_create(&callers[i].thread, NULL, call_on, &callers[i]), 0);
    }
    for (int stop = 0; stop < STOPS; stop++) {
        struct web *web = fixture_serve(&fixture, NULL, 4);
        for (size_t i = 0; i < CALLERS; i++) {
            atomic_store(&callers[i].port, web_port(web));
        }
        (void)usleep((useconds_t)(500 + stop % 10 * 200));
        web_stop(web);
        for (size_t i = 0; i < CALLERS; i++) {
            atomic_store(&callers[i].port, 0);
        }
    }
    for (size_t i = 0; i < CALLERS; i++) {
        atomic_store(&callers[i].end, true);
        (void)pthread_join(callers[i].thread, NULL);
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    fixture_open(&fixture, 40);
    CU_pSuite suite = CU_add_suite("web server", NULL, NULL);
    CU_add_test(suite, "start", test_start);
    CU_add_test(suite, "threads stand behind", test_threads_stand_behind);
    CU_add_test(suite, "no token", test_no_token);
    CU_add_test(suite, "addresses", test_addresses);
    CU_add_test(suite, "bodies", test_bodies);
    CU_add_test(suite, "parallel", test_parallel);
    CU_add_test(suite, "keep alive", test_keep_alive);
    CU_add_test(suite, "stop", test_stop);
    CU_add_test(suite, "stop again and again", test_stop_again);
    CU_add_test(suite, "slow body", test_slow_body);
    const int result = check_run();
    fixture_close(&fixture);
    return result;
}
