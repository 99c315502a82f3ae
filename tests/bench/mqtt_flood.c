/* Publishes telemetry at a steady rate, of each pair in turn: mqtt_flood PORT MESSAGES_PER_S
 * SECONDS PAIRS. QoS 0 over one connection, a burst every millisecond. Prints how many it sent,
 * and how long that took. */
#include "tests/bench/raw_mqtt.h"

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

int main(int argc, char **argv)
{
    static unsigned char burst[BURST_BYTES];
    if (argc != 5) {
        (void)fputs("usage: mqtt_flood PORT MESSAGES_PER_S SECONDS PAIRS\n", stderr);
        return 2;
    }
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
            used += make_message(n % streams, n / streams + 2, burst + used);
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
    return EXIT_SUCCESS;
}
