/* tests/bench/entry.h - one command and its replies: how long after the second reply its entry
 * can be read over MQTT.
 */
#ifndef TESTS_BENCH_ENTRY_H
#define TESTS_BENCH_ENTRY_H

#include "tests/bench/raw_mqtt.h"

static inline void entry_publish(int fd, const char *pair, const char *what,
                                 const char *payload)
{
    unsigned char packet[RAW_MQTT_PACKET_MAX];
    char topic[64];
    (void)snprintf(topic, sizeof topic, "tandem/v1/%s/%s", pair, what);
    raw_mqtt_send(fd, packet, raw_mqtt_publish(topic, payload, strlen(payload), packet));
}

/* The entry of this command; one of an earlier command that lost a reply may come before it. */
static inline bool entry_wait(int fd, const char *id)
{
    char packet[RAW_MQTT_PACKET_MAX];
    size_t bytes = 0;
    while (raw_mqtt_next(fd, packet, &bytes) == RAW_MQTT_PUBLISH) {
        for (size_t i = 0; i + strlen(id) <= bytes; i++) {
            if (memcmp(packet + i, id, strlen(id)) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Milliseconds; negative: none came. fd: a connection that has subscribed to the pair's
 * entries. number: of the command, whose id is "b7". */
static inline double entry_ms(int fd, const char *pair, int64_t number)
{
    static const struct timespec pause = {.tv_nsec = 2000000};
    char id[32];
    char text[160];
    (void)snprintf(id, sizeof id, "\"b%lld\"", (long long)number);
    (void)snprintf(text, sizeof text, "{\"id\":%s,\"op\":\"go\",\"rotation_rad\":1}", id);
    entry_publish(fd, pair, "command", text);
    (void)nanosleep(&pause, NULL);
    (void)snprintf(text, sizeof text, "{\"id\":%s,\"status\":\"done\"}", id);
    entry_publish(fd, pair, "virtual/reply", text);
    (void)nanosleep(&pause, NULL);
    const double from_s = bench_now_s();
    entry_publish(fd, pair, "real/reply", text);
    return entry_wait(fd, id) ? (bench_now_s() - from_s) * 1e3 : -1.0;
}

#endif
