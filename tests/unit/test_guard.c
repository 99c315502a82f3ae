/* Who may ask: names of the server, limits by address, TLS files; over sockets, with threads.
 */
#include "tests/support/check.h"

#include <sys/stat.h>

#include "tests/support/http.h"
#include "tests/support/web_fixture.h"
#include "web/http/address.h"
#include "web/http/ticks.h"
#include "web/server/clients.h"
#include "web/server/dispatch.h"

static struct fixture fixture;

static struct sockaddr_storage address_of(const char *text)
{
    struct sockaddr_storage address;
    socklen_t bytes = 0;
    CHECK(text, address_parse(text, 8420, &address, &bytes));
    return address;
}

static void test_hosts(void)
{
    static const char names[] = "lab-pc, Lab.Example ,,x";
    static const struct {
        const char *host, *listening;
        bool ours;
    } rows[] = {
        {"localhost", "127.0.0.1", true},
        {"LocalHost:8420", "127.0.0.1", true},
        {"127.0.0.1:8420", "127.0.0.1", true},
        {"127.9.9.9", "127.0.0.1", true},
        {"[::1]:8420", "127.0.0.1", true},
        {"[::1]", "::1", true},
        {"::1", "::1", false},
        {"lab-pc", "127.0.0.1", true},
        {"lab.example:1", "127.0.0.1", true},
        {"x", "127.0.0.1", true},
        {"lab", "127.0.0.1", false},
        {"lab-pc.evil.example", "127.0.0.1", false},
        {"evil.example", "127.0.0.1", false},
        {"evil.example", "0.0.0.0", false},
        {"localhost.evil.example", "127.0.0.1", false},
        {"127.0.0.1.evil.example", "127.0.0.1", false},
        {"192.0.2.7:8420", "127.0.0.1", false},
        {"192.0.2.7:8420", "192.0.2.7", true},
        {"192.0.2.8:8420", "192.0.2.7", false},
        {"192.0.2.8:8420", "0.0.0.0", true},
        {"[2001:db8::1]:8420", "::", true},
        {"[::ffff:192.0.2.7]", "192.0.2.7", true},
        {"", "127.0.0.1", false},
        {":8420", "127.0.0.1", false},
        {"localhost:", "127.0.0.1", true},
        {"localhost:84x", "127.0.0.1", false},
        {"localhost:80:80", "127.0.0.1", false},
        {"localhost@evil", "127.0.0.1", false},
        {"localhost, evil", "127.0.0.1", false},
        {"[::1", "127.0.0.1", false},
        {"[::1]x", "127.0.0.1", false},
        {"[]", "127.0.0.1", false},
        {",", "127.0.0.1", false},
        {"0x7f.1", "127.0.0.1", false},
    };
    char endless[2000];
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct sockaddr_storage listening = address_of(rows[i].listening);
        CHECK_INT(rows[i].host,
                  host_is_ours(rows[i].host, (const struct sockaddr *)&listening, names),
                  rows[i].ours);
    }
    const struct sockaddr_storage listening = address_of("127.0.0.1");
    memset(endless, 'a', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    CHECK("endless", !host_is_ours(endless, (const struct sockaddr *)&listening, endless));
    CHECK("valid", host_names_are_valid("") && host_names_are_valid(names));
    CHECK("not valid", !host_names_are_valid("*") && !host_names_are_valid("a;b"));
}

static enum client_state ask(struct clients *c, struct client *client, int64_t now_ms)
{
    unsigned wait_s = 0;
    const enum client_state state = clients_ask(c, client, now_ms, &wait_s);
    CHECK("wait", wait_s >= 1);
    return state;
}

/* Exactly the rate over any long time, whoever else asks. */
static void test_rate(void)
{
    const struct clients_params params = {.connections_total = 4, .requests_per_s = 10};
    const struct sockaddr_storage a = address_of("192.0.2.1");
    const struct sockaddr_storage b = address_of("192.0.2.2");
    struct clients limits;
    struct clients *c = &limits;
    CHECK_INT("create", clients_init(c, &params), STATUS_OK);
    struct client *one = clients_open(c, (const struct sockaddr *)&a);
    struct client *two = clients_open(c, (const struct sockaddr *)&b);
    int fine = 0;
    for (int64_t t = 1000; t < 11000; t += 10) {
        fine += ask(c, one, t) == CLIENT_FINE;
    }
    /* Fifty at once and a hundred in ten seconds. */
    CHECK("rate", fine >= 149 && fine <= 150);
    CHECK_INT("another", ask(c, two, 11000), CLIENT_FINE);
    /* Hanging up and coming back is no new beginning. */
    clients_close(c, one);
    one = clients_open(c, (const struct sockaddr *)&a);
    CHECK_INT("again", ask(c, one, 10995), CLIENT_OVER_RATE);
    CHECK_INT("later", ask(c, one, 11200), CLIENT_FINE);
    CHECK_INT("nobody", ask(c, NULL, 0), CLIENT_FINE);
    clients_close(c, one);
    clients_close(c, two);
    clients_clear(c);
}

static void test_crowd(void)
{
    const struct clients_params params = {.connections_total = 300, .connections_max = 2};
    struct clients limits;
    struct clients *c = &limits;
    struct client *many[300];
    char text[64];
    CHECK_INT("create", clients_init(c, &params), STATUS_OK);
    /* All of one IPv6 network are one. */
    for (int i = 0; i < 4; i++) {
        (void)snprintf(text, sizeof text, "2001:db8:0:1::%d", i + 1);
        const struct sockaddr_storage address = address_of(text);
        many[i] = clients_open(c, (const struct sockaddr *)&address);
        CHECK_INT(text, ask(c, many[i], 0), i < 2 ? CLIENT_FINE : CLIENT_OVER_CONNECTIONS);
    }
    for (int i = 0; i < 4; i++) {
        clients_close(c, many[i]);
    }
    /* More addresses than can be remembered, over and over. */
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 300; i++) {
            (void)snprintf(text, sizeof text, "10.%d.%d.1", round, i % 250);
            const struct sockaddr_storage address = address_of(text);
            many[i] = clients_open(c, (const struct sockaddr *)&address);
            CHECK_INT(text, ask(c, many[i], round), CLIENT_FINE);
        }
        for (int i = 0; i < 300; i++) {
            clients_close(c, many[i]);
        }
    }
    clients_clear(c);
}

/* ---- over sockets ---- */

static char told[256];
static unsigned told_times;
static pthread_mutex_t told_lock = PTHREAD_MUTEX_INITIALIZER;

static void refused(void *context, const char *text)
{
    (void)context;
    (void)pthread_mutex_lock(&told_lock);
    (void)snprintf(told, sizeof told, "%s", text);
    told_times++;
    (void)pthread_mutex_unlock(&told_lock);
}

static enum status start(struct web_options options, struct web **web, struct err *err)
{
    struct web_source source = fixture_source(&fixture);
    source.refused = refused;
    options.bind = "127.0.0.1";
    options.threads = 1;
    options.store_path = fixture.store_path;
    *err = (struct err){0};
    return web_start(&options, &source, web, err);
}

static struct http_reply ask_as(struct web *web, const char *host, const char *path)
{
    char text[512];
    const int fd = http_connect(web_port(web));
    const int n =
        snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
                 path, host);
    (void)http_send(fd, text, (size_t)n);
    struct http_reply reply = http_receive(fd);
    (void)close(fd);
    return reply;
}

static void test_host_header(void)
{
    static const char *const paths[] = {
        "/", "/healthz", "/metrics", "/api/v1/pairs", "/api/v1/events", "/nothing"};
    struct web *web = NULL;
    struct err err;
    CHECK_INT("names", start((struct web_options){.hosts = "a/b"}, &web, &err), STATUS_E_ARG);
    CHECK_TEXT("names", err.where, "http.hosts");
    CHECK_INT("start", start((struct web_options){.hosts = "lab-pc"}, &web, &err), STATUS_OK);
    for (size_t i = 0; i < COUNT(paths); i++) {
        struct http_reply reply = ask_as(web, "rebound.example:80", paths[i]);
        CHECK_INT(paths[i], reply.status, 421);
        CHECK(paths[i], strstr(reply.body, "/problems/wrong-host"));
        http_free(&reply);
    }
    CHECK_INT("told", told_times, COUNT(paths));
    CHECK_TEXT("told", told, "127.0.0.1: Host is no name of this server: rebound.example:80");
    struct http_reply reply = ask_as(web, "LAB-PC:8420", "/api/v1/pairs");
    CHECK_INT("by name", reply.status, 200);
    http_free(&reply);
    reply = ask_as(web, "127.0.0.1", "/metrics");
    CHECK("counted", strstr(reply.body, "tandem_http_refused_total{reason=\"host\"} 6\n"));
    http_free(&reply);
    web_stop(web);
}

static void test_limits(void)
{
    const struct web_options options = {.client_requests_per_s = 4,
                                        .client_connections_max = 3};
    struct web *web = NULL;
    struct err err;
    unsigned fine = 0;
    CHECK_INT("start", start(options, &web, &err), STATUS_OK);
    const int64_t began_ms = ticks_ms();
    for (int i = 0; i < 60; i++) {
        struct http_reply reply = http_get(web_port(web), "/healthz");
        fine += reply.status == 200;
        CHECK("one or the other", reply.status == 200 || reply.status == 429);
        if (reply.status == 429) {
            char wait[16];
            CHECK("why", strstr(reply.body, "/problems/too-many-requests"));
            CHECK("when", http_header(&reply, "Retry-After", wait, sizeof wait));
        }
        http_free(&reply);
    }
    const int64_t took_ms = ticks_ms() - began_ms;
    CHECK("as many as may", fine >= 20 && fine <= 21 + 4 * (unsigned)took_ms / 1000);
    web_stop(web);

    CHECK_INT("start", start((struct web_options){.client_connections_max = 3}, &web, &err),
              STATUS_OK);
    int fd[3];
    for (int i = 0; i < 3; i++) {
        fd[i] = http_connect(web_port(web));
    }
    struct http_reply reply = http_get(web_port(web), "/healthz");
    CHECK_INT("the fourth", reply.status, 429);
    CHECK("the fourth", strstr(reply.body, "/problems/too-many-connections"));
    http_free(&reply);
    static const char text[] =
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    (void)http_send(fd[0], text, sizeof text - 1);
    reply = http_receive(fd[0]);
    CHECK_INT("the first", reply.status, 200);
    http_free(&reply);
    for (int i = 0; i < 3; i++) {
        (void)close(fd[i]);
    }
    web_stop(web);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    CHECK(path, file && fputs(text, file) >= 0);
    (void)fclose(file);
}

/* What is wrong with the files is said; tests/system/security.sh speaks TLS. */
static void test_tls_files(void)
{
    char empty[300];
    char text[300];
    (void)snprintf(empty, sizeof empty, "%s.empty", fixture.store_path);
    (void)snprintf(text, sizeof text, "%s.text", fixture.store_path);
    write_text(empty, "");
    write_text(text, "not a certificate\n");
    const struct {
        const char *certificate, *key, *where, *want;
    } rows[] = {
        {"/no/such.pem", text, "/no/such.pem", "cannot be read: No such file or directory"},
        {text, "/no/such.key", "/no/such.key", "the key (http.tls_key) cannot be read"},
        {"/", text, "/", "cannot be read: not a file"},
        {empty, text, empty, "it is empty"},
        {text, text, text, "are not usable"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct web *web = NULL;
        struct err err;
        const struct web_options options = {.tls_certificate = rows[i].certificate,
                                            .tls_key = rows[i].key};
        CHECK_INT(rows[i].want, start(options, &web, &err), STATUS_E_ARG);
        CHECK_TEXT(rows[i].want, err.where, rows[i].where);
        CHECK(err.text, strstr(err.text, rows[i].want));
    }
    (void)unlink(empty);
    (void)unlink(text);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    fixture_open(&fixture, 3);
    CU_pSuite suite = CU_add_suite("guard", NULL, NULL);
    CU_add_test(suite, "hosts", test_hosts);
    CU_add_test(suite, "rate", test_rate);
    CU_add_test(suite, "crowd", test_crowd);
    CU_add_test(suite, "host header", test_host_header);
    CU_add_test(suite, "limits", test_limits);
    CU_add_test(suite, "tls files", test_tls_files);
    const int result = check_run();
    fixture_close(&fixture);
    return result;
}
