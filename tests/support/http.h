/* tests/support/http.h - a small HTTP/1.1 client on loopback, for tests. */
#ifndef TESTS_SUPPORT_HTTP_H
#define TESTS_SUPPORT_HTTP_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/wait.h"

struct http_reply {
    int status;        /* 0: no answer */
    char *head, *body; /* with a NUL; borrow from `text` */
    size_t body_bytes;
    char *text; /* everything that came */
};

/* A connected socket, or -1. */
static inline int http_connect(uint16_t port)
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons(port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof to) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

static inline bool http_send(int fd, const char *text, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t n = send(fd, text, bytes, MSG_NOSIGNAL);
        if (n <= 0) {
            return false;
        }
        text += n;
        bytes -= (size_t)n;
    }
    return true;
}

/* Everything until the server closes. */
static inline struct http_reply http_receive(int fd)
{
    struct http_reply reply = {0};
    size_t used = 0;
    size_t capacity = 4096;
    reply.text = malloc(capacity);
    for (;;) {
        if (used + 1 == capacity) {
            capacity *= 2;
            reply.text = realloc(reply.text, capacity);
        }
        const ssize_t n =
            wait_input(fd, 30000) ? recv(fd, reply.text + used, capacity - used - 1, 0) : 0;
        if (n <= 0) {
            break;
        }
        used += (size_t)n;
    }
    reply.text[used] = '\0';
    char *end = strstr(reply.text, "\r\n\r\n");
    /* "100 Continue" comes before the answer proper. */
    while (end && strncmp(reply.text, "HTTP/1.1 100", 12) == 0) {
        const size_t left = used - (size_t)(end + 4 - reply.text);
        memmove(reply.text, end + 4, left + 1);
        used = left;
        end = strstr(reply.text, "\r\n\r\n");
    }
    reply.head = reply.text;
    reply.body = reply.text + used;
    if (end && strncmp(reply.text, "HTTP/1.1 ", 9) == 0) {
        reply.status = (int)strtol(reply.text + 9, NULL, 10);
        end[2] = '\0';
        reply.body = end + 4;
        reply.body_bytes = used - (size_t)(reply.body - reply.text);
    }
    return reply;
}

/* One request on a connection of its own. headers: lines that end in "\r\n", or "". body: NULL
 * for none. */
static inline struct http_reply http_request(uint16_t port, const char *method,
                                             const char *target, const char *headers,
                                             const char *body)
{
    struct http_reply reply = {0};
    const size_t size = strlen(target) + strlen(headers) + (body ? strlen(body) : 0) + 256;
    char *text = malloc(size);
    char length[64] = "";
    if (body) {
        (void)snprintf(length, sizeof length, "Content-Length: %zu\r\n", strlen(body));
    }
    const int n = snprintf(
        text, size, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s%s\r\n%s",
        method, target, headers, length, body ? body : "");
    const int fd = http_connect(port);
    if (fd >= 0) {
        (void)http_send(fd, text, (size_t)n);
        reply = http_receive(fd);
        (void)close(fd);
    }
    free(text);
    return reply;
}

static inline struct http_reply http_get(uint16_t port, const char *target)
{
    return http_request(port, "GET", target, "", NULL);
}

/* The value of a header in out[size], "" when it is absent. */
static inline const char *http_header(const struct http_reply *reply, const char *name,
                                      char *out, size_t size)
{
    out[0] = '\0';
    const size_t n = strlen(name);
    for (const char *line = reply->head; line && *line;) {
        const char *end = strstr(line, "\r\n");
        if (strncasecmp(line, name, n) == 0 && line[n] == ':' && end) {
            const char *value = line + n + 1;
            value += strspn(value, " ");
            (void)snprintf(out, size, "%.*s", (int)(end - value), value);
        }
        line = end ? end + 2 : NULL;
    }
    return out;
}

static inline void http_free(struct http_reply *reply)
{
    free(reply->text);
    *reply = (struct http_reply){0};
}

#endif
