/* An arm's registers over Modbus TCP, by libmodbus's client on loopback, while a period of 8 ms
 * shows new ones: reads of 100 registers a second, and how long one takes; then set points at
 * 125 Hz beside a client that stops in the middle of a request: periods in which no answer
 * came, and the slowest. Both beside `mute` clients that lie there with half a request. */
#include <arpa/inet.h>
#include <modbus.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "base/errors/err.h"
#include "service/tool/lab_clock.h"
#include "service/wire/modbus_server.h"
#include "tests/bench/bench.h"

enum {
    BATCHES = 30,
    READS = 2000, /* a batch */
    WORDS = 100,
    PERIOD_US = 8000,
    PERIODS = 1250,
    MUTE = 3
};

static struct modbus_server *server;
static atomic_bool ends;

static void *live_arm(void *context)
{
    static struct modbus_orders orders;
    static uint16_t words[MODBUS_REGISTERS];
    int64_t next_us = lab_clock_monotonic_us();
    (void)context;
    while (!ends) {
        modbus_server_pop_orders(server, &orders);
        words[270]++;
        modbus_server_show(server, words);
        next_us += PERIOD_US;
        lab_clock_sleep_until_us(next_us);
    }
    return NULL;
}

static int port_of_server(void)
{
    return atoi(strrchr(modbus_server_where(server), ':') + 1);
}

static void connect_mute(void)
{
    static const uint8_t half[] = {0, 1, 0, 0, 0, 6, 0, 3, 1};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    to.sin_port = htons((uint16_t)port_of_server());
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 ||
        send(fd, half, sizeof half, MSG_NOSIGNAL) != sizeof half) {
        bench_fail("mute client");
    }
}

static void read_batch(modbus_t *client, double seconds[READS])
{
    uint16_t words[WORDS];
    for (int i = 0; i < READS; i++) {
        const double from_s = bench_now_s();
        if (modbus_read_registers(client, 256, WORDS, words) != WORDS) {
            bench_fail("read");
        }
        seconds[i] = bench_now_s() - from_s;
    }
}

/* Periods whose answer did not come before the next one; *slowest_s. */
static int stream_points(modbus_t *client, double *slowest_s)
{
    const uint16_t q[12] = {0};
    int64_t next_us = lab_clock_monotonic_us();
    int lost = 0;
    *slowest_s = 0.0;
    for (int i = 0; i < PERIODS; i++) {
        const double from_s = bench_now_s();
        if (modbus_write_registers(client, MODBUS_STREAM, 12, q) != 12) {
            bench_fail("stream");
        }
        const double took_s = bench_now_s() - from_s;
        *slowest_s = took_s > *slowest_s ? took_s : *slowest_s;
        lost += took_s > 1e-6 * PERIOD_US;
        next_us += PERIOD_US;
        lab_clock_sleep_until_us(next_us);
    }
    return lost;
}

int main(void)
{
    static double all[BATCHES * READS];
    double rates[BATCHES];
    double slowest_s = 0.0;
    const struct modbus_options options = {{"127.0.0.1", 0, false}, true};
    struct err err = {0};
    pthread_t arm;
    if (modbus_server_start(&server, &options, &err) != STATUS_OK ||
        pthread_create(&arm, NULL, live_arm, NULL) != 0) {
        bench_fail("server");
    }
    modbus_t *client = modbus_new_tcp("127.0.0.1", port_of_server());
    if (modbus_connect(client) != 0) {
        bench_fail("client");
    }
    double alone_s = 0.0;
    const int alone = stream_points(client, &alone_s);
    for (int i = 0; i < MUTE; i++) {
        connect_mute();
    }
    read_batch(client, all);
    for (int i = 0; i < BATCHES; i++) {
        const double from_s = bench_now_s();
        read_batch(client, all + (size_t)i * READS);
        rates[i] = READS / (bench_now_s() - from_s);
    }
    const int lost = stream_points(client, &slowest_s);
    ends = true;
    (void)pthread_join(arm, NULL);
    const double p50_s = bench_median(all, (size_t)BATCHES * READS);
    const double p99_s = all[(size_t)BATCHES * READS * 99 / 100];
    (void)printf("{\"bench\":\"modbus\",\"registers\":%d,\"mute\":%d,\"requests_per_s\":%.0f,"
                 "\"p50_us\":%.1f,"
                 "\"p99_us\":%.1f,\"stream_hz\":125,\"periods\":%d,\"lost_periods\":%d,"
                 "\"slowest_ms\":%.3f,"
                 "\"floor_lost_periods\":%d,\"floor_slowest_ms\":%.3f}\n",
                 WORDS, MUTE, bench_median(rates, BATCHES), 1e6 * p50_s, 1e6 * p99_s, PERIODS,
                 lost, 1e3 * slowest_s, alone, 1e3 * alone_s);
    modbus_close(client);
    modbus_free(client);
    modbus_server_stop(server);
    return EXIT_SUCCESS;
}
