/* tests/bench/listeners.h - many connections that listen to a stream of events, on one thread:
 * how many events came, and how late, by a time stamp that each event carries.
 */
#ifndef TESTS_BENCH_LISTENERS_H
#define TESTS_BENCH_LISTENERS_H

#include <netinet/tcp.h>
#include <sys/epoll.h>

#include "tests/bench/bench.h"
#include "tests/support/http.h"

enum { LISTENERS_MAX = 2000, LISTENERS_FILES = 8192 };

struct listeners {
    int fd[LISTENERS_MAX];
    int count, epoll;
    const char *key; /* text before an event's time stamp (CLOCK_MONOTONIC), ns */
    double *late_ms; /* [capacity] of the events that came */
    size_t received, capacity;
};

static inline int64_t listeners_now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int listeners_connect(uint16_t port)
{
    const int on = 1;
    const int fd = http_connect(port);
    if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
        bench_fail("connect");
    }
    return fd;
}

static inline void listeners_allow_files(void)
{
    const struct rlimit files = {LISTENERS_FILES, LISTENERS_FILES};
    if (setrlimit(RLIMIT_NOFILE, &files) != 0) {
        bench_fail("8192 open files are needed (ulimit -n)");
    }
}

/* target: of the stream. capacity: number of events whose lateness is recorded. */
static inline void listeners_open(struct listeners *l, int count, uint16_t port,
                                  const char *target, const char *key, size_t capacity)
{
    char request[256];
    const int n =
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", target);
    l->count = count;
    l->key = key;
    l->received = 0;
    l->capacity = capacity;
    l->late_ms = calloc(capacity, sizeof *l->late_ms);
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN};
        l->fd[i] = listeners_connect(port);
        event.data.fd = l->fd[i];
        (void)http_send(l->fd[i], request, (size_t)n);
        (void)epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->fd[i], &event);
    }
}

static inline void listeners_close(struct listeners *l)
{
    for (int i = 0; i < l->count; i++) {
        (void)close(l->fd[i]);
    }
    (void)close(l->epoll);
    free(l->late_ms);
}

static inline void listeners_record(struct listeners *l, const char *text)
{
    const int64_t at_ns = listeners_now_ns();
    for (const char *p = text; (p = strstr(p, l->key)) != NULL; p++) {
        if (l->received < l->capacity) {
            l->late_ms[l->received] =
                (double)(at_ns - strtoll(p + strlen(l->key), NULL, 10)) * 1e-6;
        }
        l->received++;
    }
}

/* Receives everything that arrives within 20 ms. */
static inline void listeners_receive(struct listeners *l)
{
    static char buffer[1 << 16];
    struct epoll_event ready[256];
    const int n = epoll_wait(l->epoll, ready, 256, 20);
    for (int i = 0; i < n; i++) {
        const ssize_t got = recv(ready[i].data.fd, buffer, sizeof buffer - 1, 0);
        if (got <= 0) {
            bench_fail("a stream has ended");
        }
        buffer[got] = '\0';
        listeners_record(l, buffer);
    }
}

static inline void listeners_receive_for(struct listeners *l, double seconds)
{
    const double until_s = bench_now_s() + seconds;
    while (bench_now_s() < until_s) {
        listeners_receive(l);
    }
}

/* Sorts the recorded part. */
static inline double listeners_late_ms(struct listeners *l, double share)
{
    const size_t retained = l->received < l->capacity ? l->received : l->capacity;
    (void)bench_median(l->late_ms, retained);
    return retained > 0 ? l->late_ms[(size_t)(share * (double)(retained - 1))] : -1.0;
}

#endif
