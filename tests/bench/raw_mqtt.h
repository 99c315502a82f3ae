/* tests/bench/raw_mqtt.h - as much of MQTT 3.1.1 as a bench needs, over a plain socket: no
 * library of the subscriber's kind stands between the clock and the wire. */
#ifndef TESTS_BENCH_RAW_MQTT_H
#define TESTS_BENCH_RAW_MQTT_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "tests/bench/bench.h"

enum { RAW_MQTT_PUBLISH = 3, RAW_MQTT_PACKET_MAX = 4096 };

static inline void raw_mqtt_send(int fd, const void *bytes, size_t count)
{
    const char *at = bytes;
    while (count > 0) {
        const ssize_t sent = send(fd, at, count, MSG_NOSIGNAL);
        if (sent <= 0) {
            bench_fail("the broker closed the connection");
        }
        at += sent;
        count -= (size_t)sent;
    }
}

static inline bool raw_mqtt_receive(int fd, void *bytes, size_t count)
{
    char *at = bytes;
    while (count > 0) {
        const ssize_t got = recv(fd, at, count, 0);
        if (got <= 0) {
            return false;
        }
        at += got;
        count -= (size_t)got;
    }
    return true;
}

static inline size_t raw_mqtt_length(size_t length, unsigned char *out)
{
    size_t n = 0;
    do {
        out[n] = (unsigned char)(length % 128);
        length /= 128;
        out[n++] |= length > 0 ? 0x80 : 0;
    } while (length > 0);
    return n;
}

static inline size_t raw_mqtt_text(const char *text, unsigned char *out)
{
    const size_t bytes = strlen(text);
    out[0] = (unsigned char)(bytes >> 8);
    out[1] = (unsigned char)bytes;
    /* Without its NUL: NOLINTNEXTLINE(bugprone-not-null-terminated-result) */
    memcpy(out + 2, text, bytes);
    return bytes + 2;
}

/* A PUBLISH of QoS 0; returns its bytes. out: RAW_MQTT_PACKET_MAX. */
static inline size_t raw_mqtt_publish(const char *topic, const char *payload, size_t bytes,
                                      unsigned char *out)
{
    size_t n = 1;
    out[0] = RAW_MQTT_PUBLISH << 4;
    n += raw_mqtt_length(2 + strlen(topic) + bytes, out + n);
    n += raw_mqtt_text(topic, out + n);
    memcpy(out + n, payload, bytes);
    return n + bytes;
}

/* The next packet: its type; the body, with a NUL behind, in out[RAW_MQTT_PACKET_MAX]. 0: none
 * came in time. */
static inline int raw_mqtt_next(int fd, char *out, size_t *bytes)
{
    unsigned char first = 0;
    unsigned char digit = 0;
    size_t length = 0;
    unsigned shift = 0;
    if (!raw_mqtt_receive(fd, &first, 1)) {
        return 0;
    }
    do {
        if (!raw_mqtt_receive(fd, &digit, 1)) {
            return 0;
        }
        length |= (size_t)(digit & 0x7f) << shift;
        shift += 7;
    } while (digit & 0x80 && shift < 28);
    if (length >= RAW_MQTT_PACKET_MAX || !raw_mqtt_receive(fd, out, length)) {
        return 0;
    }
    out[length] = '\0';
    *bytes = length;
    return first >> 4;
}

static inline int raw_mqtt_connect(int port, const char *client_id)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval patience = {10, 0};
    const int yes = 1;
    unsigned char packet[128] = {0x10, 0, 0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 0};
    char answer[RAW_MQTT_PACKET_MAX];
    size_t bytes = 0;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        bench_fail("no broker");
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const size_t n = 12 + raw_mqtt_text(client_id, packet + 12);
    packet[1] = (unsigned char)(n - 2);
    raw_mqtt_send(fd, packet, n);
    if (raw_mqtt_next(fd, answer, &bytes) != 2 || bytes != 2 || answer[1] != 0) {
        bench_fail("the broker refuses");
    }
    return fd;
}

static inline void raw_mqtt_subscribe(int fd, const char *filter)
{
    unsigned char packet[256] = {0x82, 0, 0, 1};
    char answer[RAW_MQTT_PACKET_MAX];
    size_t bytes = 0;
    size_t n = 4 + raw_mqtt_text(filter, packet + 4);
    packet[n++] = 0;
    packet[1] = (unsigned char)(n - 2);
    raw_mqtt_send(fd, packet, n);
    if (raw_mqtt_next(fd, answer, &bytes) != 9) {
        bench_fail("no subscription");
    }
}

#endif
