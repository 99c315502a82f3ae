/* Publishes telemetry at a steady rate, of each pair in turn: mqtt_flood PORT MESSAGES_PER_S
 * SECONDS PAIRS [MOVES]. With MOVES this percentage of the messages are commands and their
 * replies, of pairs drawn at random. QoS 0 over one connection, a burst every millisecond.
 * Prints how many it sent, and how long that took. */
#include "tests/bench/raw_mqtt.h"
#include "tests/bench/recording.h"

enum { BURST_BYTES = 1 << 20 };

static size_t make_message(unsigned stream, unsigned seq, unsigned char *out)
{
    static const char *const sides[] = {"real", "virtual"};
    char topic[64];
    char payload[256];
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)snprintf(topic, sizeof topic, "tandem/v1/r%u/%s/telemetry", stream / 2 + 1,
                   sides[stream % 2]);
    const int bytes = snprintf(payload, sizeof payload,
                               "{\"t\":%lld.%06ld,\"seq\":%u,\"boot\":\"a1\","
                               "\"nu\":[0.5012,-0.0231,0.1044],\"tau\":[4.118,-3.902],"
                               "\"pose\":[12.4410,-3.0921,1.5708]}",
                               (long long)now.tv_sec, now.tv_nsec / 1000, seq);
    return raw_mqtt_publish(topic, payload, (size_t)bytes, out);
}

static size_t draw_message(struct recording *r, unsigned char *out)
{
    struct message m;
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    r->t_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
    recording_next(r, bench_draw(&r->draws) % r->pair_count, &m);
    return raw_mqtt_publish(m.topic, m.payload, m.stored_bytes, out);
}

int main(int argc, char **argv)
{
    static unsigned char burst[BURST_BYTES];
    struct recording recording;
    if (argc != 5 && argc != 6) {
        (void)fputs("usage: mqtt_flood PORT MESSAGES_PER_S SECONDS PAIRS [MOVES]\n", stderr);
        return 2;
    }
    const unsigned moves = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 0;
    recording_start(&recording, (uint32_t)strtoul(argv[4], NULL, 10), 100 - moves, 0);
    const double rate = strtod(argv[2], NULL);
    const double total = rate * strtod(argv[3], NULL);
    const unsigned streams = 2U * (unsigned)strtoul(argv[4], NULL, 10);
    const int fd = raw_mqtt_connect((int)strtol(argv[1], NULL, 10), "flood");
    const double begin_s = bench_now_s();
    double sent = 0.0;
    while (sent < total) {
        const double due = (bench_now_s() - begin_s) * rate;
        size_t used = 0;
        while (sent < due && sent < total && used < BURST_BYTES - RAW_MQTT_PACKET_MAX) {
            const unsigned n = (unsigned)sent;
            used += moves > 0 ? draw_message(&recording, burst + used)
                              : make_message(n % streams, n / streams + 2, burst + used);
            sent += 1.0;
        }
        raw_mqtt_send(fd, burst, used);
        const struct timespec pause = {0, 1000000};
        (void)nanosleep(&pause, NULL);
    }
    /* Everything before this has been read when it is answered. */
    char answer[RAW_MQTT_PACKET_MAX];
    size_t bytes = 0;
    raw_mqtt_send(fd, "\xc0\x00", 2);
    (void)raw_mqtt_next(fd, answer, &bytes);
    (void)printf("%.0f %.3f\n", sent, bench_now_s() - begin_s);
    (void)close(fd);
    recording_end(&recording);
    return EXIT_SUCCESS;
}
