/* needs: threads */
/* Who may ask: names of the server, limits by address, TLS files; over sockets, with threads.
 */
#include "tests/support/check.h"

#include <sys/stat.h>

#include "tests/support/http.h"
#include "tests/support/web_fixture.h"
#include "web/http/address.h"
#include "web/http/monotonic_clock.h"
#include "web/server/clients.h"
#include "web/server/dispatch.h"
#include "web/server/head.h"

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

static enum client_state ask_client(struct clients *c, struct client *client, int64_t now_ms)
{
    unsigned wait_s = 0;
    const enum client_state state = clients_ask(c, client, now_ms, &wait_s);
    CHECK("wait", wait_s >= 1);
    return state;
}

/* Opens a client without a socket. */
static struct client *open_from(struct clients *c, const struct sockaddr_storage *address,
                                int64_t now_ms)
{
    return clients_open(c, (const struct sockaddr *)address, -1, now_ms);
}

/* Exactly the rate over any long time, whatever the other clients request. */
static void test_rate(void)
{
    const struct clients_params params = {.connections_total = 4, .requests_per_s = 10};
    const struct sockaddr_storage a = address_of("192.0.2.1");
    const struct sockaddr_storage b = address_of("192.0.2.2");
    struct clients limits;
    struct clients *c = &limits;
    CHECK_INT("create", clients_init(c, &params), STATUS_OK);
    struct client *one = open_from(c, &a, 0);
    struct client *two = open_from(c, &b, 0);
    int fine = 0;
    for (int64_t t = 1000; t < 11000; t += 10) {
        fine += ask_client(c, one, t) == CLIENT_FINE;
    }
    /* Fifty at once and a hundred in ten seconds. */
    CHECK("rate", fine >= 149 && fine <= 150);
    CHECK_INT("another", ask_client(c, two, 11000), CLIENT_FINE);
    /* Hanging up and coming back is no new beginning. */
    clients_close(c, one);
    one = open_from(c, &a, 0);
    CHECK_INT("again", ask_client(c, one, 10995), CLIENT_OVER_RATE);
    CHECK_INT("later", ask_client(c, one, 11200), CLIENT_FINE);
    CHECK_INT("nobody", ask_client(c, NULL, 0), CLIENT_FINE);
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
        many[i] = open_from(c, &address, 0);
        CHECK_INT(text, ask_client(c, many[i], 0),
                  i < 2 ? CLIENT_FINE : CLIENT_OVER_CONNECTIONS);
    }
    for (int i = 0; i < 4; i++) {
        clients_close(c, many[i]);
    }
    /* More addresses than can be remembered, over and over. */
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 300; i++) {
            (void)snprintf(text, sizeof text, "10.%d.%d.1", round, i % 250);
            const struct sockaddr_storage address = address_of(text);
            many[i] = open_from(c, &address, 0);
            CHECK_INT(text, ask_client(c, many[i], round), CLIENT_FINE);
        }
        for (int i = 0; i < 300; i++) {
            clients_close(c, many[i]);
        }
    }
    clients_clear(c);
}

/* A connection of this address, and its client's end. */
struct line {
    struct client *client;
    int ends[2];
};

static struct line open_line(struct clients *c, const char *from, int64_t now_ms)
{
    struct line line;
    const struct sockaddr_storage address = address_of(from);
    CHECK_INT("sockets", socketpair(AF_UNIX, SOCK_STREAM, 0, line.ends), 0);
    line.client = clients_open(c, (const struct sockaddr *)&address, line.ends[0], now_ms);
    return line;
}

static bool is_hung_up(const struct line *line)
{
    char byte = 0;
    return recv(line->ends[1], &byte, 1, MSG_DONTWAIT) == 0;
}

static void close_line(struct clients *c, struct line *line)
{
    clients_close(c, line->client);
    (void)close(line->ends[0]);
    (void)close(line->ends[1]);
}

/* Time runs from when a connection came, or its answer was out. */
static void test_slow_heads(void)
{
    atomic_uint_least64_t hung_up = 0;
    const struct clients_params params = {
        .connections_total = 3, .beyond_max = 9, .head_ms = 100, .hung_up = &hung_up};
    struct clients limits;
    struct clients *c = &limits;
    CHECK_INT("create", clients_init(c, &params), STATUS_OK);
    struct line lines[4];
    char text[8];
    for (int i = 0; i < 4; i++) {
        lines[i] = open_line(c, "10.0.0.1", 10 * i);
    }
    CHECK("room was wanted", is_hung_up(&lines[0]) && !is_hung_up(&lines[1]));
    CHECK_INT("gone", ask_client(c, lines[0].client, 40), CLIENT_OVER_PLACES);
    CHECK_INT("asks", ask_client(c, lines[1].client, 50), CLIENT_FINE);
    clients_hang_up(c, 120);
    CHECK("in time", !is_hung_up(&lines[2]));
    clients_hang_up(c, 125);
    CHECK("too late", is_hung_up(&lines[2]) && !is_hung_up(&lines[3]));
    clients_hang_up(c, 1000);
    CHECK("an answer needs time", is_hung_up(&lines[3]) && !is_hung_up(&lines[1]));
    clients_answered(c, lines[1].client, 1000);
    clients_hang_up(c, 1100);
    CHECK("it may ask again", !is_hung_up(&lines[1]));
    CHECK_INT("it asks again", ask_client(c, lines[1].client, 1100), CLIENT_FINE);
    clients_answered(c, lines[1].client, 1100);
    CHECK_INT("it sends", send(lines[1].ends[1], "GET", 3, 0), 3);
    clients_hang_up(c, 1201);
    CHECK("nobody has read it yet", !is_hung_up(&lines[1]));
    CHECK_INT("read", recv(lines[1].ends[0], text, sizeof text, 0), 3);
    clients_hang_up(c, 1201);
    CHECK("it does not ask again", is_hung_up(&lines[1]));
    CHECK_INT("counted", atomic_load(&hung_up), 4);
    for (int i = 0; i < 4; i++) {
        close_line(c, &lines[i]);
    }
    CHECK_INT("all places are free", c->places, 0);
    CHECK("no client waits", !c->waiting.first && !c->waiting.last && c->waiting.count == 0);
    clients_clear(c);
}

/* Only the latest ones beyond their address's limit stay connected. */
static void test_beyond(void)
{
    enum { MORE = CLIENTS_BEYOND + 10, TAKEN = 2 };
    const struct clients_params params = {.connections_total = 10,
                                          .beyond_max = CLIENTS_BEYOND,
                                          .connections_max = TAKEN,
                                          .head_ms = 100};
    struct clients limits;
    struct clients *c = &limits;
    static struct line lines[TAKEN + MORE];
    CHECK_INT("create", clients_init(c, &params), STATUS_OK);
    for (int i = 0; i < TAKEN + MORE; i++) {
        lines[i] = open_line(c, "10.0.0.1", i);
    }
    for (int i = 0; i < TAKEN + MORE; i++) {
        CHECK_INT("the latest are stored", is_hung_up(&lines[i]), i >= TAKEN && i < TAKEN + 10);
    }
    CHECK_INT("with a place", ask_client(c, lines[0].client, 100), CLIENT_FINE);
    CHECK_INT("without", ask_client(c, lines[TAKEN + 20].client, 100), CLIENT_OVER_CONNECTIONS);
    struct line other = open_line(c, "10.0.0.2", 100);
    CHECK_INT("another address", ask_client(c, other.client, 100), CLIENT_FINE);
    close_line(c, &lines[0]);
    struct line next = open_line(c, "10.0.0.1", 100);
    CHECK_INT("a place is free", ask_client(c, next.client, 100), CLIENT_FINE);
    CHECK_INT("one beyond asks", ask_client(c, lines[TAKEN + 20].client, 100),
              CLIENT_OVER_CONNECTIONS);
    close_line(c, &lines[1]);
    CHECK_INT("it asks again", ask_client(c, lines[TAKEN + 20].client, 100), CLIENT_FINE);
    /* Clients that are being answered occupy all places. */
    struct line busy[10];
    for (int i = 0; i < 10; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "10.1.0.%d", i);
        busy[i] = open_line(c, text, 101);
        CHECK_INT(text, ask_client(c, busy[i].client, 101),
                  i < 7 ? CLIENT_FINE : CLIENT_OVER_PLACES);
    }
    clients_answered(c, busy[0].client, 101);
    CHECK_INT("who waits gives way", ask_client(c, busy[9].client, 101), CLIENT_FINE);
    CHECK("who waits gives way", is_hung_up(&busy[0]) && !is_hung_up(&next));
    clients_leave(c, busy[9].client);
    CHECK_INT("a client that left has no place", ask_client(c, busy[8].client, 101),
              CLIENT_FINE);
    clients_hang_up(c, 201);
    CHECK("none stays beyond", c->beyond.count == 1 && is_hung_up(&lines[TAKEN + MORE - 1]));
    for (int i = 0; i < 10; i++) {
        close_line(c, &busy[i]);
    }
    for (int i = TAKEN; i < TAKEN + MORE; i++) {
        close_line(c, &lines[i]);
    }
    close_line(c, &next);
    close_line(c, &other);
    CHECK("all is free", c->places == 0 && c->beyond.count == 0 && !c->beyond.last);
    clients_clear(c);
}

static void test_heads(void)
{
    static const struct {
        const char *name, *version, *fault; /* NULL: none */
        const char *headers[8];             /* names and values in turn */
    } rows[] = {
        {"as it should be", "HTTP/1.1", NULL, {"Host", "a"}},
        {"with a body", "HTTP/1.1", NULL, {"Host", "a", "Content-Length", "1"}},
        {"in chunks", "HTTP/1.1", NULL, {"host", "a", "transfer-ENCODING", "CHUNKED"}},
        {"old", "HTTP/1.0", NULL, {NULL}},
        {"without Host", "HTTP/1.1", "one Host", {"Accept", "a"}},
        {"two Hosts", "HTTP/1.1", "one Host", {"Host", "a", "hOST", "a"}},
        {"old, two Hosts", "HTTP/1.0", "one Host", {"Host", "a", "Host", "b"}},
        {"two lengths",
         "HTTP/1.1",
         "more than one Content-Length",
         {"Host", "a", "Content-Length", "1", "content-length", "1"}},
        {"length and chunks",
         "HTTP/1.1",
         "both Content-Length",
         {"Host", "a", "Content-Length", "1", "Transfer-Encoding", "chunked"}},
        {"chunks twice",
         "HTTP/1.1",
         "'chunked' alone",
         {"Host", "a", "Transfer-Encoding", "chunked", "Transfer-Encoding", "chunked"}},
        {"compressed",
         "HTTP/1.1",
         "'chunked' alone",
         {"Host", "a", "Transfer-Encoding", "gzip, chunked"}},
        {"no value", "HTTP/1.1", "'chunked' alone", {"Host", "a", "Transfer-Encoding", NULL}},
        {"old, chunks", "HTTP/1.0", "'chunked' alone", {"Transfer-Encoding", "chunked"}},
        {"a space", "HTTP/1.1", "the name of a header", {"Host", "a", "Content-Length ", "1"}},
        {"a space before", "HTTP/1.1", "the name of a header", {" Host", "a"}},
        {"no name", "HTTP/1.1", "the name of a header", {"Host", "a", "", "1"}},
        {"two tokens",
         "HTTP/1.1",
         "more than one Authorization",
         {"Host", "a", "Authorization", "Bearer a", "authorization", "Bearer b"}},
        {"CR in a value", "HTTP/1.1", "a control character", {"Host", "a", "X", "b\rc"}},
        {"DEL in a value", "HTTP/1.1", "a control character", {"Host", "a\x7f"}},
        {"a tab and UTF-8", "HTTP/1.1", NULL, {"Host", "a", "X", "b\tc\xc3\xa4"}},
        {"another protocol", "HTTP/3", "the request line", {"Host", "a"}},
        {"no protocol", NULL, "the request line", {"Host", "a"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct head head = {0};
        for (size_t k = 0; k < COUNT(rows[i].headers) && rows[i].headers[k]; k += 2) {
            head_add(&head, rows[i].headers[k], rows[i].headers[k + 1]);
        }
        const char *fault = head_fault(&head, rows[i].version);
        CHECK_INT(rows[i].name, fault != NULL, rows[i].fault != NULL);
        CHECK(rows[i].name, !fault || !rows[i].fault || strstr(fault, rows[i].fault));
    }
}

/* A head as libmicrohttpd leaves it: every byte belongs to a text or a separator. '#' is NUL.
 */
static void test_whole_heads(void)
{
    static const struct {
        const char *text;
        bool whole;
    } rows[] = {
        {"GET#/a#HTTP/1.1##Host# a##X#b##Y###Z#\t d####", true},
        {"GET#/a#HTTP/1.1##Host#a####", true},
        {"GET#/a#HTTP/1.1####", true},
        {"GET#/a#b#HTTP/1.1##Host#a####", false}, /* in the path */
        {"GE#T#/a#HTTP/1.1##Host#a####", false},
        {"GET#/a#HTTP/1.1###Host#a####", false},
        {"GET#/a#HTTP/1.1##Host#a#b####", false}, /* in the last value */
        {"GET#/a#HTTP/1.1##Host#a###X#b####", false},
        {"GET#/a#HTTP/1.1##X#b#c##Host#a####", false},
        {"GET#/a#HTTP/1.1##X##Host#a####", false}, /* a line that ends with LF alone */
        {"GET#/a#HTTP/1.1#Host#a####", false},
        {"GET#/a#HTTP/1.1##Host#a###", false},
        {"GET#/a#HTTP/1.1##Host#a## more####", false}, /* continues in the next line */
        {"GET#/a#HTTP/1.1##Host#a##", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[64];
        struct head head = {0};
        const size_t bytes = strlen(rows[i].text);
        for (size_t k = 0; k <= bytes; k++) {
            text[k] = (char)(rows[i].text[k] == '#' ? '\0' : rows[i].text[k]);
        }
        /* libmicrohttpd finds the URL and the version behind the first blank and before the
         * last one. */
        const char *url = strstr(rows[i].text, "#/a") - rows[i].text + text + 1;
        const char *version = strstr(rows[i].text, "#HTTP") - rows[i].text + text + 1;
        head_begin(&head, text, url, strlen(url), version, bytes);
        const char *end = text + bytes;
        for (const char *name = version + strlen(version) + 1; name < end;) {
            name += strspn(name, " ");
            while (name < end && !*name) {
                name++;
            }
            if (name < end && strchr("HXYZ", *name)) {
                const char *value = name + strlen(name) + 1;
                value += strspn(value, " \t");
                head_add(&head, name, value);
                name = value;
            }
            name += strlen(name);
        }
        CHECK_INT(rows[i].text, !head.torn && head.next + 2 == head.end, rows[i].whole);
    }
}

static void test_room(void)
{
    static const struct {
        unsigned descriptors, connections, listeners; /* wanted */
        unsigned has_connections, has_listeners;      /* 0, 0: too few descriptors */
    } rows[] = {
        {65536, 64, 2000, 64, 2000}, {8192, 64, 7600, 64, 7600}, {8192, 64, 10000, 64, 7728},
        {1024, 64, 2000, 64, 580},   {256, 64, 2000, 44, 44},    {128, 64, 2000, 12, 12},
        {128, 64, 0, 24, 0},         {96, 64, 2000, 4, 4},       {95, 64, 2000, 0, 0},
        {0, 64, 2000, 0, 0},         {128, 4, 3, 4, 3},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct web_room room = {0};
        const bool enough = clients_find_room(rows[i].descriptors, rows[i].connections,
                                              rows[i].listeners, &room);
        CHECK_INT("enough", enough, rows[i].has_connections > 0);
        CHECK_INT("connections", room.connections, rows[i].has_connections);
        CHECK_INT("listeners", room.listeners, rows[i].has_listeners);
        CHECK("the rest is reserved",
              !enough || room.sockets + CLIENTS_RESERVED <= rows[i].descriptors);
        CHECK("one client may be beyond", !enough || room.beyond >= 4);
    }
}

static unsigned token_wait(struct clients *c, struct client *client, int64_t now_ms)
{
    bool trusted = false;
    return clients_token_wait(c, client, now_ms, &trusted);
}

static void test_wrong_tokens(void)
{
    static const unsigned waits_s[] = {1, 2, 4, 8, 16, 32, 60, 60, 60};
    const struct clients_params params = {.connections_total = 4};
    const struct sockaddr_storage a = address_of("192.0.2.1");
    const struct sockaddr_storage b = address_of("192.0.2.2");
    struct clients limits;
    struct clients *c = &limits;
    bool trusted = true;
    int64_t now_ms = 10000000;
    CHECK_INT("create", clients_init(c, &params), STATUS_OK);
    struct client *one = open_from(c, &a, 0);
    struct client *two = open_from(c, &b, 0);
    for (int i = 1; i < CLIENTS_TOKENS; i++) {
        clients_record_token(c, one, false, now_ms);
        CHECK_INT("free", token_wait(c, one, now_ms), 0);
    }
    for (size_t i = 0; i < COUNT(waits_s); i++) {
        clients_record_token(c, one, false, now_ms);
        CHECK_INT("it waits", token_wait(c, one, now_ms), waits_s[i]);
        CHECK_INT("another does not", token_wait(c, two, now_ms), 0);
        CHECK_INT("nearly", token_wait(c, one, now_ms + waits_s[i] * 1000 - 1), 1);
        now_ms += waits_s[i] * 1000;
        CHECK_INT("no more", token_wait(c, one, now_ms), 0);
    }
    clients_record_token(c, one, false, now_ms);
    /* Hanging up and coming back is no new beginning. */
    clients_close(c, one);
    one = open_from(c, &a, now_ms);
    CHECK_INT("again", clients_token_wait(c, one, now_ms, &trusted), 60);
    CHECK("a stranger", !trusted);
    clients_record_token(c, one, true, now_ms);
    CHECK_INT("wrong ones still wait", clients_token_wait(c, one, now_ms, &trusted), 60);
    CHECK("trusted", trusted);
    now_ms += CLIENTS_TOKEN_FORGET_S * 1000 + 1;
    clients_record_token(c, one, false, now_ms);
    CHECK_INT("forgotten", token_wait(c, one, now_ms), 0);
    CHECK_INT("nobody", token_wait(c, NULL, now_ms), 0);
    clients_record_token(c, NULL, false, now_ms);
    clients_close(c, one);
    clients_close(c, two);
    clients_clear(c);
}

/* A client that must wait gets that answer with the right token and with a wrong one, unless it
 * is trusted. */
static void test_held_tokens(void)
{
    static const struct {
        const char *authorization;
        unsigned wait_s;
        bool trusted;
        unsigned status;
        bool right, wrong;
    } rows[] = {
        {"Bearer t", 0, false, 200, true, false},    {"Bearer x", 0, false, 401, false, true},
        {NULL, 0, false, 401, false, false},         {"Bearer t", 7, false, 429, false, false},
        {"Bearer x", 7, false, 429, false, false},   {"Bearer t", 7, true, 200, true, false},
        {"Bearer x", 7, true, 429, false, false},    {NULL, 7, true, 401, false, false},
        {"Basic dDp0", 7, false, 401, false, false},
    };
    const struct web_source source = fixture_source(&fixture);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct web_context context = {.source = &source, .token = "t"};
        struct web_upload upload = {0};
        struct web_request request = {.upload = &upload};
        struct web_response response = {0};
        const struct web_input input = {.method = "GET",
                                        .url = "/api/v1/pairs",
                                        .authorization = rows[i].authorization,
                                        .token_wait_s = rows[i].wait_s,
                                        .token_trusted = rows[i].trusted};
        const bool ok = dispatch_head(&context, &input, &request, &response);
        CHECK_INT("status", ok ? 200 : response.status, rows[i].status);
        CHECK_INT("when", response.retry_after_s, rows[i].status == 429 ? 7 : 0);
        CHECK_INT("right", request.token_right, rows[i].right);
        CHECK_INT("wrong", request.token_wrong, rows[i].wrong);
        CHECK_INT("counted", atomic_load(&context.refused[WEB_REFUSED_GUESSES]),
                  rows[i].status == 429);
        body_clear(&response.body);
    }
}

/* ---- over sockets ---- */

static char refusal[256];
static unsigned refusal_count;
static pthread_mutex_t refusal_lock = PTHREAD_MUTEX_INITIALIZER;

static void record_refusal(void *context, const char *text)
{
    (void)context;
    (void)pthread_mutex_lock(&refusal_lock);
    (void)snprintf(refusal, sizeof refusal, "%s", text);
    refusal_count++;
    (void)pthread_mutex_unlock(&refusal_lock);
}

static enum status start_web(struct web_options options, struct web **web, struct err *err)
{
    struct web_source source = fixture_source(&fixture);
    source.refused = record_refusal;
    options.bind = "127.0.0.1";
    options.threads = 1;
    options.store.path = fixture.store_path;
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
    CHECK_INT("names", start_web((struct web_options){.hosts = "a/b"}, &web, &err),
              STATUS_E_ARG);
    CHECK_TEXT("names", err.where, "http.hosts");
    CHECK_INT("start", start_web((struct web_options){.hosts = "lab-pc"}, &web, &err),
              STATUS_OK);
    for (size_t i = 0; i < COUNT(paths); i++) {
        struct http_reply reply = ask_as(web, "rebound.example:80", paths[i]);
        CHECK_INT(paths[i], reply.status, 421);
        CHECK(paths[i], strstr(reply.body, "/problems/wrong-host"));
        http_free(&reply);
    }
    CHECK_INT("told", refusal_count, COUNT(paths));
    CHECK_TEXT("told", refusal,
               "127.0.0.1: Host is no name of this server: rebound.example:80");
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
    CHECK_INT("start", start_web(options, &web, &err), STATUS_OK);
    const int64_t began_ms = monotonic_clock_ms();
    for (int i = 0; i < 60; i++) {
        struct http_reply reply = http_get(web_port(web), "/api/v1/status");
        fine += reply.status == 200;
        CHECK("one or the other", reply.status == 200 || reply.status == 429);
        if (reply.status == 429) {
            char wait[16];
            CHECK("why", strstr(reply.body, "/problems/too-many-requests"));
            CHECK("when", http_header(&reply, "Retry-After", wait, sizeof wait));
        }
        http_free(&reply);
    }
    const int64_t took_ms = monotonic_clock_ms() - began_ms;
    struct http_reply reply = http_get(web_port(web), "/healthz");
    CHECK_INT("health", reply.status, 200);
    http_free(&reply);
    CHECK("as many as may", fine >= 20 && fine <= 21 + 4 * (unsigned)took_ms / 1000);
    web_stop(web);

    CHECK_INT("start", start_web((struct web_options){.client_connections_max = 3}, &web, &err),
              STATUS_OK);
    int fd[3];
    for (int i = 0; i < 3; i++) {
        fd[i] = http_connect(web_port(web));
    }
    reply = http_get(web_port(web), "/api/v1/status");
    CHECK_INT("the fourth", reply.status, 429);
    CHECK("the fourth", strstr(reply.body, "/problems/too-many-connections"));
    http_free(&reply);
    reply = http_get(web_port(web), "/readyz");
    CHECK_INT("health", reply.status, 200);
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

/* Faults of the files are reported; tests/system/security.sh speaks TLS. */
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
        {"/no/such.pem", text, "/no/such.pem", "file_unreadable"},
        {text, "/no/such.key", "/no/such.key", "file_unreadable"},
        {"/", text, "/", "file_unreadable"},
        {empty, text, empty, "file_unreadable"},
        {text, text, text, "bad_certificate"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct web *web = NULL;
        struct err err;
        const struct web_options options = {.tls_certificate = rows[i].certificate,
                                            .tls_key = rows[i].key};
        CHECK_INT(rows[i].want, start_web(options, &web, &err), STATUS_E_ARG);
        CHECK_TEXT(rows[i].want, err.where, rows[i].where);
        CHECK_TEXT(rows[i].want, fault_name(err.fault), rows[i].want);
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
    CU_add_test(suite, "slow heads", test_slow_heads);
    CU_add_test(suite, "beyond", test_beyond);
    CU_add_test(suite, "heads", test_heads);
    CU_add_test(suite, "whole heads", test_whole_heads);
    CU_add_test(suite, "room", test_room);
    CU_add_test(suite, "wrong tokens", test_wrong_tokens);
    CU_add_test(suite, "held tokens", test_held_tokens);
    CU_add_test(suite, "host header", test_host_header);
    CU_add_test(suite, "limits", test_limits);
    CU_add_test(suite, "tls files", test_tls_files);
    const int result = check_run();
    fixture_close(&fixture);
    return result;
}
