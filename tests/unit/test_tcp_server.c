/* The small TCP server: allowed addresses, whole and half requests, mute and greedy clients.
 * threads */
#include "tests/support/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/errors/err.h"
#include "service/wire/tcp_server.h"

/* Four bytes a request, which come back; "QUIT" is not understood, "MUCH" is answered without
 * end. */
static ssize_t echo_bytes(void *context, struct tcp_client *client, const uint8_t *bytes,
                          size_t count)
{
    static const uint8_t much[8192];
    size_t done = 0;
    (void)context;
    for (; count - done >= 4; done += 4) {
        (*(int *)tcp_client_state(client))++;
        if (memcmp(bytes + done, "QUIT", 4) == 0 || !tcp_client_send(client, bytes + done, 4)) {
            return -1;
        }
        while (memcmp(bytes + done, "MUCH", 4) == 0) {
            if (!tcp_client_send(client, much, sizeof much)) {
                return -1;
            }
        }
    }
    return (ssize_t)done;
}

/* A beat for clients that requested something before. */
static bool beat_client(void *context, struct tcp_client *client)
{
    (void)context;
    return *(int *)tcp_client_state(client) == 0 || tcp_client_send(client, "beat", 4);
}

static const struct tcp_service echo = {
    .name = "Echo", .client_bytes = sizeof(int), .receive = echo_bytes, .tick = beat_client};

static struct tcp_server *start_server(void)
{
    struct tcp_server *s = NULL;
    struct err err = {0};
    CU_ASSERT_EQUAL_FATAL(
        tcp_server_start(&s, &(struct tcp_listen){"127.0.0.1:0", 1, false}, &echo, &err),
        STATUS_OK);
    return s;
}

static int connect_to(const struct tcp_server *s)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval patience = {.tv_sec = 20};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    to.sin_port = htons((uint16_t)atoi(strrchr(tcp_server_where(s), ':') + 1));
    CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

static void send_text(int fd, const char *text)
{
    CU_ASSERT_EQUAL_FATAL(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

static void expect_text(int fd, const char *text)
{
    char got[64] = "";
    (void)recv(fd, got, strlen(text), MSG_WAITALL);
    CHECK_TEXT("heard", got, text);
}

/* Closed by the server; what still comes before that is thrown away. */
static bool is_closed(int fd)
{
    char rest[4096];
    ssize_t n = 0;
    while ((n = recv(fd, rest, sizeof rest, 0)) > 0) {
    }
    (void)close(fd);
    return n == 0 || errno == ECONNRESET;
}

static void test_addresses(void)
{
    static const struct {
        const char *where;
        bool without_password;
        enum status status;
        const char *got; /* its beginning */
    } rows[] = {{"127.0.0.1:0", false, STATUS_OK, "127.0.0.1:"},
                {"127.0.0.1", false, STATUS_OK, "127.0.0.1:"},
                {"localhost", false, STATUS_OK, "127.0.0.1:"},
                {"[::1]:0", false, STATUS_OK, "[::1]:"},
                {"::1", false, STATUS_OK, "[::1]:"},
                {"0.0.0.0:0", false, STATUS_E_RANGE, NULL},
                {"0.0.0.0:0", true, STATUS_OK, "0.0.0.0:"},
                {"[::]", false, STATUS_E_RANGE, NULL},
                {"", false, STATUS_E_RANGE, NULL},
                {":0", false, STATUS_E_RANGE, NULL},
                {"[", false, STATUS_E_RANGE, NULL},
                {"[]", false, STATUS_E_RANGE, NULL},
                {"127.0.0.1:", false, STATUS_E_RANGE, NULL},
                {"127.0.0.1:-1", false, STATUS_E_RANGE, NULL},
                {"127.0.0.1:65536", false, STATUS_E_RANGE, NULL},
                {"127.0.0.1:80x", false, STATUS_E_RANGE, NULL},
                {"robot.example:0", false, STATUS_E_RANGE, NULL}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct tcp_listen listen = {rows[i].where, 0, rows[i].without_password};
        struct tcp_server *s = NULL;
        struct err err = {0};
        CHECK_INT(rows[i].where, tcp_server_start(&s, &listen, &echo, &err), rows[i].status);
        CHECK(rows[i].where, (err.text[0] != '\0') == (rows[i].status != STATUS_OK));
        CHECK(rows[i].where,
              !s || strncmp(tcp_server_where(s), rows[i].got, strlen(rows[i].got)) == 0);
        tcp_server_stop(s);
    }
    struct tcp_server *first = start_server();
    struct tcp_server *second = NULL;
    struct err err = {0};
    const struct tcp_listen taken = {tcp_server_where(first), 0, false};
    CHECK_INT("taken", tcp_server_start(&second, &taken, &echo, &err), STATUS_E_IO);
    tcp_server_stop(first);
}

static void test_halves(void)
{
    struct tcp_server *s = start_server();
    const int mute = connect_to(s);
    const int other = connect_to(s);
    send_text(mute, "ha");
    for (int i = 0; i < 100; i++) {
        send_text(other, "echo");
        expect_text(other, "echo");
    }
    send_text(mute, "lffulltwo");
    expect_text(mute, "half");
    expect_text(mute, "full");
    tcp_server_wake(s);
    expect_text(mute, "beat");
    expect_text(other, "beat");
    send_text(mute, "!");
    expect_text(mute, "two!");
    (void)close(mute);
    (void)close(other);
    tcp_server_stop(s);
}

static void test_unwelcome(void)
{
    struct tcp_server *s = start_server();
    const int quits = connect_to(s);
    const int greedy = connect_to(s);
    const int good = connect_to(s);
    struct tcp_counts counts;
    send_text(quits, "fineQUITmore");
    expect_text(quits, "fine");
    CHECK("not understood", is_closed(quits));
    send_text(greedy, "MUCH");
    send_text(good, "good");
    expect_text(good, "good");
    CHECK("does not take", is_closed(greedy));
    send_text(good, "same");
    expect_text(good, "same");
    tcp_server_counts(s, &counts);
    CHECK_INT("broken", counts.broken, 1);
    CHECK_INT("slow", counts.slow, 1);
    CHECK_INT("open", counts.open, 1);
    (void)close(good);
    tcp_server_stop(s);
}

/* Nobody has been silent for long: one too many is turned away, and has a place when another
 * has gone. */
static void test_full(void)
{
    struct tcp_server *s = start_server();
    struct tcp_counts counts;
    int fds[TCP_CLIENTS_MAX];
    for (int i = 0; i < TCP_CLIENTS_MAX; i++) {
        fds[i] = connect_to(s);
        send_text(fds[i], "here");
        expect_text(fds[i], "here");
    }
    CHECK("one too many", is_closed(connect_to(s)));
    (void)close(fds[7]);
    do { /* the server has to see that first */
        (void)usleep(1000);
        tcp_server_counts(s, &counts);
    } while (counts.open == TCP_CLIENTS_MAX);
    fds[7] = connect_to(s);
    send_text(fds[7], "next");
    expect_text(fds[7], "next");
    tcp_server_counts(s, &counts);
    CHECK_INT("turned away", counts.refused, 1);
    for (int i = 0; i < TCP_CLIENTS_MAX; i++) {
        (void)close(fds[i]);
    }
    tcp_server_stop(s);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("tcp_server", NULL, NULL);
    CU_add_test(suite, "addresses", test_addresses);
    CU_add_test(suite, "halves", test_halves);
    CU_add_test(suite, "unwelcome", test_unwelcome);
    CU_add_test(suite, "full", test_full);
    return check_run();
}
