#include "service/wire/tcp_server.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "service/tool/lab_clock.h"
#include "web/http/address.h"

enum { BACKLOG = 16, FIRST_CLIENT = 2 };

struct tcp_client { /* malloc'd, with its state behind it */
    int socket;
    int64_t received_us; /* on the monotonic clock */
    bool slow;
    size_t in_count, out_count;
    uint8_t in[TCP_IN_MAX], out[TCP_OUT_MAX];
    max_align_t state[];
};

struct tcp_server {
    struct tcp_service service;
    struct sockaddr_storage address;
    char where[TCP_WHERE_MAX];
    int listener, wake;
    pthread_t thread;
    atomic_bool ends;
    struct tcp_client *clients[TCP_CLIENTS_MAX];
    _Atomic uint64_t accepted, open, refused, displaced, broken, slow;
};

/* --- clients ----------------------------------------------------------------------------- */

int tcp_client_socket(const struct tcp_client *c)
{
    return c->socket;
}

void *tcp_client_state(struct tcp_client *c)
{
    return c->state;
}

static void close_client(struct tcp_server *s, struct tcp_client **c)
{
    if (s->service.leave) {
        s->service.leave(s->service.context, *c);
    }
    (void)close((*c)->socket);
    free(*c);
    *c = NULL;
    s->open--;
}

/* False when the connection is closed. */
static bool send_now(struct tcp_client *c, const uint8_t *bytes, size_t count, size_t *sent)
{
    const ssize_t n = send(c->socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    *sent = n > 0 ? (size_t)n : 0;
    return n >= 0 || errno == EAGAIN || errno == EINTR;
}

bool tcp_client_send(struct tcp_client *c, const void *bytes, size_t count)
{
    size_t sent = 0;
    if (c->out_count == 0 && !send_now(c, bytes, count, &sent)) {
        return false;
    }
    if (count - sent > TCP_OUT_MAX - c->out_count) {
        c->slow = true;
        return false;
    }
    memcpy(c->out + c->out_count, (const uint8_t *)bytes + sent, count - sent);
    c->out_count += count - sent;
    return true;
}

static bool send_pending(struct tcp_client *c)
{
    size_t sent = 0;
    const bool alive = send_now(c, c->out, c->out_count, &sent);
    memmove(c->out, c->out + sent, c->out_count - sent);
    c->out_count -= sent;
    return alive;
}

/* Reads from a client; false at the end of the connection, or for invalid data. */
static bool receive_client(struct tcp_server *s, struct tcp_client *c)
{
    const ssize_t n = recv(c->socket, c->in + c->in_count, TCP_IN_MAX - c->in_count, 0);
    if (n <= 0) {
        return n < 0 && (errno == EAGAIN || errno == EINTR);
    }
    c->in_count += (size_t)n;
    c->received_us = lab_clock_monotonic_us();
    const ssize_t consumed = s->service.receive(s->service.context, c, c->in, c->in_count);
    if (consumed < 0 || (consumed == 0 && c->in_count == TCP_IN_MAX)) {
        s->broken += !c->slow;
        return false;
    }
    assert((size_t)consumed <= c->in_count);
    memmove(c->in, c->in + consumed, c->in_count - (size_t)consumed);
    c->in_count -= (size_t)consumed;
    return !c->slow;
}

static struct tcp_client **find_place(struct tcp_server *s)
{
    struct tcp_client **silent = &s->clients[0];
    for (size_t i = 0; i < TCP_CLIENTS_MAX; i++) {
        if (!s->clients[i]) {
            return &s->clients[i];
        }
        if (s->clients[i]->received_us < (*silent)->received_us) {
            silent = &s->clients[i];
        }
    }
    if (lab_clock_monotonic_us() - (*silent)->received_us < TCP_SILENT_US) {
        return NULL;
    }
    close_client(s, silent);
    s->displaced++;
    return silent;
}

static void accept_client(struct tcp_server *s)
{
    const int one = 1;
    const int fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        return;
    }
    struct tcp_client **place = find_place(s);
    struct tcp_client *c = place ? calloc(1, sizeof *c + s->service.client_bytes) : NULL;
    if (!c) {
        (void)close(fd);
        s->refused++;
        return;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    c->socket = fd;
    c->received_us = lab_clock_monotonic_us();
    *place = c;
    s->accepted++;
    s->open++;
}

/* --- the thread -------------------------------------------------------------------------- */

/* Lists listener, wake, and the clients in the order of their slots; returns their number. */
static nfds_t list_sockets(const struct tcp_server *s, struct pollfd polled[])
{
    nfds_t n = 0;
    polled[n++] = (struct pollfd){.fd = s->listener, .events = POLLIN};
    polled[n++] = (struct pollfd){.fd = s->wake, .events = POLLIN};
    for (size_t i = 0; i < TCP_CLIENTS_MAX; i++) {
        const struct tcp_client *c = s->clients[i];
        if (c) {
            const short out = c->out_count > 0 ? POLLOUT : 0;
            polled[n++] = (struct pollfd){.fd = c->socket, .events = (short)(POLLIN | out)};
        }
    }
    return n;
}

/* Handles a client's socket events and clock ticks; false: close it. */
static bool serve_client(struct tcp_server *s, struct tcp_client *c, short events, bool is_tick)
{
    if (is_tick && s->service.tick && !s->service.tick(s->service.context, c)) {
        return false;
    }
    if ((events & POLLOUT) && !send_pending(c)) {
        return false;
    }
    return !(events & (POLLIN | POLLHUP | POLLERR)) || receive_client(s, c);
}

static void serve_round(struct tcp_server *s)
{
    struct pollfd polled[FIRST_CLIENT + TCP_CLIENTS_MAX];
    uint64_t wakes = 0;
    if (poll(polled, list_sockets(s, polled), -1) <= 0) {
        return;
    }
    const bool is_tick = polled[1].revents && read(s->wake, &wakes, sizeof wakes) > 0;
    nfds_t k = FIRST_CLIENT;
    for (size_t i = 0; i < TCP_CLIENTS_MAX; i++) {
        struct tcp_client **c = &s->clients[i];
        if (*c && !serve_client(s, *c, polled[k++].revents, is_tick)) {
            s->slow += (*c)->slow;
            close_client(s, c);
        }
    }
    if (polled[0].revents) {
        accept_client(s);
    }
}

static void *run_server(void *context)
{
    struct tcp_server *s = context;
    (void)pthread_setname_np(pthread_self(), "tandem-wire");
    while (!s->ends) {
        serve_round(s);
    }
    return NULL;
}

/* --- start and stop ---------------------------------------------------------------------- */

/* Parses "HOST", "HOST:PORT", "[HOST]:PORT". */
static bool read_address(const struct tcp_listen *listen, struct sockaddr_storage *address,
                         socklen_t *bytes)
{
    char host[TCP_WHERE_MAX];
    const char *text = listen->where;
    const char *colon = strrchr(text, ':');
    const bool v6 = text[0] == '[';
    if ((v6 && colon && colon[-1] != ']') || (!v6 && strchr(text, ':') != colon)) {
        colon = NULL; /* the colon belongs to an IPv6 address */
    }
    const size_t whole = colon ? (size_t)(colon - text) : strlen(text);
    if (whole >= sizeof host || (v6 && text[whole - 1] != ']')) {
        return false;
    }
    (void)snprintf(host, sizeof host, "%.*s", (int)(v6 ? whole - 2 : whole), text + v6);
    char *end = NULL;
    const unsigned long port = colon ? strtoul(colon + 1, &end, 10) : listen->port;
    const bool digits = !colon || (colon[1] >= '0' && colon[1] <= '9' && *end == '\0');
    return digits && port <= UINT16_MAX &&
           address_parse(strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, (uint16_t)port,
                         address, bytes);
}

bool tcp_listen_is_loopback(const struct tcp_listen *listen)
{
    struct sockaddr_storage address;
    socklen_t bytes = 0;
    return read_address(listen, &address, &bytes) &&
           address_is_loopback((const struct sockaddr *)&address);
}

enum status tcp_listen_check(const struct tcp_listen *listen, const char *name, struct err *err)
{
    struct sockaddr_storage address;
    socklen_t bytes = 0;
    if (!read_address(listen, &address, &bytes)) {
        return err_set(err, STATUS_E_RANGE, FAULT_BAD_ADDRESS, listen->where,
                       "no numeric address with a port; 127.0.0.1:%u would be",
                       (unsigned)listen->port);
    }
    if (!tcp_listen_is_loopback(listen) && !listen->without_password) {
        return err_set(err, STATUS_E_RANGE, FAULT_UNSAFE_ADDRESS, listen->where,
                       "beyond loopback, where %s has no password; 127.0.0.1, or "
                       "--without-password was expected",
                       name);
    }
    return STATUS_OK;
}

static void name_place(struct tcp_server *s)
{
    char host[INET6_ADDRSTRLEN];
    socklen_t bytes = sizeof s->address;
    (void)getsockname(s->listener, (struct sockaddr *)&s->address, &bytes);
    address_format((const struct sockaddr *)&s->address, host);
    /* The port has the same offset in both address families. */
    const unsigned port =
        ntohs(((const struct sockaddr_in *)(const void *)&s->address)->sin_port);
    const bool v6 = s->address.ss_family == AF_INET6;
    (void)snprintf(s->where, sizeof s->where, v6 ? "[%s]:%u" : "%s:%u", host, port);
}

static enum status open_listener(struct tcp_server *s, const char *where, socklen_t bytes,
                                 struct err *err)
{
    const int one = 1;
    s->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    s->listener = socket(s->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->wake < 0 || s->listener < 0 ||
        setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
        bind(s->listener, (const struct sockaddr *)&s->address, bytes) != 0 ||
        listen(s->listener, BACKLOG) != 0) {
        return err_set(err, STATUS_E_IO, FAULT_LISTEN_FAILED, where, "%s: %s", s->service.name,
                       strerrordesc_np(errno));
    }
    name_place(s);
    return STATUS_OK;
}

static void free_server(struct tcp_server *s)
{
    for (size_t i = 0; i < TCP_CLIENTS_MAX; i++) {
        if (s->clients[i]) {
            close_client(s, &s->clients[i]);
        }
    }
    if (s->listener >= 0) {
        (void)close(s->listener);
    }
    if (s->wake >= 0) {
        (void)close(s->wake);
    }
    free(s);
}

enum status tcp_server_start(struct tcp_server **out, const struct tcp_listen *listen,
                             const struct tcp_service *service, struct err *err)
{
    socklen_t bytes = 0;
    struct tcp_server *s = calloc(1, sizeof *s);
    if (!s) {
        return err_no_memory(err, listen->where, "out of memory");
    }
    s->service = *service;
    s->listener = s->wake = -1;
    enum status status = tcp_listen_check(listen, service->name, err);
    if (status == STATUS_OK && read_address(listen, &s->address, &bytes)) {
        status = open_listener(s, listen->where, bytes, err);
    }
    if (status == STATUS_OK && pthread_create(&s->thread, NULL, run_server, s) != 0) {
        status =
            err_set(err, STATUS_E_NOMEM, FAULT_NO_THREAD, listen->where, "no thread to be had");
    }
    if (status != STATUS_OK) {
        free_server(s);
        return status;
    }
    *out = s;
    return STATUS_OK;
}

void tcp_server_wake(struct tcp_server *s)
{
    const uint64_t one = 1;
    /* The write only fails when the counter reaches 2^64 - 1. */
    (void)!write(s->wake, &one, sizeof one);
}

void tcp_server_stop(struct tcp_server *s)
{
    if (s) {
        s->ends = true;
        tcp_server_wake(s);
        (void)pthread_join(s->thread, NULL);
        free_server(s);
    }
}

const char *tcp_server_where(const struct tcp_server *s)
{
    return s->where;
}

bool tcp_server_is_loopback(const struct tcp_server *s)
{
    return address_is_loopback((const struct sockaddr *)&s->address);
}

void tcp_server_counts(struct tcp_server *s, struct tcp_counts *out)
{
    *out = (struct tcp_counts){.clients = s->accepted,
                               .open = s->open,
                               .refused = s->refused,
                               .displaced = s->displaced,
                               .broken = s->broken,
                               .slow = s->slow};
}
