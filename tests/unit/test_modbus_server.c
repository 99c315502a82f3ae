/* needs: threads */
/* The Modbus server by libmodbus's client and by bare bytes; uses threads. */
#include "tests/support/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <modbus.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/errors/err.h"
#include "service/tool/lab_clock.h"
#include "service/wire/modbus_server.h"
#include "tests/support/wait.h"

static struct modbus_server *start_server(const char *where, bool writes)
{
    const struct modbus_options options = {{where, 0, true}, writes};
    struct modbus_server *s = NULL;
    struct err err = {0};
    CU_ASSERT_EQUAL_FATAL(modbus_server_start(&s, &options, &err), STATUS_OK);
    return s;
}

static int port_of(const struct modbus_server *s)
{
    return atoi(strrchr(modbus_server_where(s), ':') + 1);
}

static modbus_t *connect_client(const struct modbus_server *s)
{
    modbus_t *client = modbus_new_tcp("127.0.0.1", port_of(s));
    CU_ASSERT_EQUAL_FATAL(modbus_connect(client), 0);
    (void)modbus_set_response_timeout(client, 20, 0);
    return client;
}

static void end_client(modbus_t *client)
{
    modbus_close(client);
    modbus_free(client);
}

static int connect_socket(const struct modbus_server *s)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval patience = {.tv_sec = 20};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    to.sin_port = htons((uint16_t)port_of(s));
    CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

/* All registers k, or their low bytes. */
static void show_addresses(struct modbus_server *s, uint16_t plus)
{
    uint16_t words[MODBUS_REGISTERS];
    for (unsigned k = 0; k < MODBUS_REGISTERS; k++) {
        words[k] = (uint16_t)(k + plus);
    }
    modbus_server_show(s, words);
}

static void test_reads(void)
{
    struct modbus_server *s = start_server("127.0.0.1", true);
    modbus_t *client = connect_client(s);
    uint16_t words[125];
    uint8_t bits[266];
    show_addresses(s, 0);
    CHECK_INT("holding", modbus_read_registers(client, 270, 100, words), 100);
    CHECK_INT("holding", words[99], 369);
    CHECK_INT("input", modbus_read_input_registers(client, 770, 1, words), 1);
    CHECK_INT("input", words[0], 770);
    CHECK_INT("beyond", modbus_read_registers(client, 770, 2, words), -1);
    CHECK_INT("beyond", errno, EMBXILADD);
    CHECK_INT("a client's, not shown", modbus_read_registers(client, 128, 16, words), 16);
    CHECK_INT("a client's, not shown", words[5], 0);
    CHECK_INT("coils", modbus_read_bits(client, 0, 266, bits), 266);
    CHECK_INT("bit of inputs", bits[0], 0);
    CHECK_INT("state", bits[261], 1);
    CHECK_INT("discrete inputs", modbus_read_input_bits(client, 260, 6, bits), 6);
    CHECK_INT("beyond", modbus_read_bits(client, 260, 7, bits), -1);
    (void)modbus_set_slave(client, 2);
    CHECK_INT("any unit", modbus_read_registers(client, 270, 6, words), 6);
    end_client(client);
    modbus_server_stop(s);
}

static void test_writes(void)
{
    struct modbus_server *s = start_server("127.0.0.1", true);
    modbus_t *client = connect_client(s);
    static struct modbus_orders o;
    uint16_t words[24] = {1, 6};
    const uint16_t stream[12] = {0, 1000, 0xFFFF, 0xFFFF};
    uint16_t got = 0;
    CHECK_INT("command", modbus_write_registers(client, 128, 16, words), 16);
    CHECK_INT("the same counter", modbus_write_registers(client, 128, 16, words), 16);
    CHECK_INT("mode", modbus_write_register(client, 150, 4), 1);
    CHECK_INT("stream", modbus_write_registers(client, 160, 12, stream), 12);
    CHECK_INT("watchdog", modbus_write_register(client, 151, 9), 1);
    modbus_server_pop_orders(s, &o);
    CHECK_INT("orders", o.count, 2);
    CHECK("command", o.order[0].command);
    CHECK_INT("command", o.order[0].words[1], 6);
    CHECK("mode", !o.order[1].command);
    CHECK_INT("mode", o.order[1].words[150 - 128], 4);
    CHECK("stream", o.stream && o.alive);
    CHECK_NEAR("stream", o.stream_rad[0], 1e-3, 0.0, 1e-12);
    CHECK_NEAR("stream", o.stream_rad[1], -1e-6, 0.0, 1e-12);
    CHECK_INT("the same watchdog", modbus_write_register(client, 151, 9), 1);
    modbus_server_pop_orders(s, &o);
    CHECK("nothing", o.count == 0 && !o.stream && !o.alive);
    CHECK_INT("half a stream", modbus_write_registers(client, 160, 6, stream), -1);
    CHECK_INT("half a stream", errno, EMBXILADD);
    CHECK_INT("an angle", modbus_write_register(client, 270, 1), -1);
    CHECK_INT("an answer", modbus_write_register(client, 144, 1), -1);
    CHECK_INT("masked", modbus_mask_write_register(client, 128, 0, 5), 1);
    CHECK_INT("masked angle", modbus_mask_write_register(client, 270, 0, 5), -1);
    CHECK_INT("both", modbus_write_and_read_registers(client, 128, 1, words, 128, 1, &got), 1);
    CHECK_INT("both", got, 1);
    modbus_server_pop_orders(s, &o);
    CHECK_INT("counters 5, 1", o.count, 2);
    CHECK_INT("both, not ours",
              modbus_write_and_read_registers(client, 270, 1, words, 128, 1, &got), -1);
    end_client(client);
    modbus_server_stop(s);
}

static void test_outputs(void)
{
    struct modbus_server *s = start_server("127.0.0.1", true);
    modbus_t *client = connect_client(s);
    const uint8_t both[2] = {1, 1};
    uint16_t words[4];
    uint8_t bit = 0;
    CHECK_INT("outputs", modbus_write_register(client, 1, 0x00F0), 1);
    CHECK_INT("set", modbus_write_register(client, 2, 0x0001), 1);
    CHECK_INT("clear", modbus_write_register(client, 3, 0x0010), 1);
    CHECK_INT("coil on", modbus_write_bit(client, 16 + 12, 1), 1);
    CHECK_INT("coil off", modbus_write_bit(client, 16 + 5, 0), 1);
    CHECK_INT("coils that clear", modbus_write_bits(client, 48 + 6, 2, both), 2);
    CHECK_INT("read", modbus_read_registers(client, 0, 4, words), 4);
    CHECK_INT("outputs", words[1], 0x1001);
    CHECK("nothing stored", words[0] == 0 && words[2] == 0 && words[3] == 0);
    CHECK_INT("coil", modbus_read_bits(client, 16 + 12, 1, &bit), 1);
    CHECK_INT("coil", bit, 1);
    CHECK_INT("an input", modbus_write_bit(client, 3, 1), -1);
    end_client(client);
    modbus_server_stop(s);
}

/* Nobody processes orders: clients must wait, and nothing that they wrote is stored. */
static void test_full_and_closed(void)
{
    struct modbus_server *s = start_server("127.0.0.1", true);
    modbus_t *client = connect_client(s);
    static struct modbus_orders o;
    struct modbus_counts counts;
    uint16_t counter = 0;
    uint16_t word = 0;
    while (modbus_write_register(client, 128, (uint16_t)(counter + 1)) == 1) {
        counter++;
        CU_ASSERT_FATAL(counter < 100);
    }
    CHECK_INT("busy", errno, EMBXSBUSY);
    CHECK_INT("not stored", modbus_read_registers(client, 128, 1, &word), 1);
    CHECK_INT("not stored", word, counter);
    CHECK_INT("others go on", modbus_write_register(client, 210, 1), 1);
    modbus_server_pop_orders(s, &o);
    CHECK_INT("orders", o.count, counter);
    CHECK_INT("in order", o.order[counter - 1].words[0], counter);
    CHECK_INT("again", modbus_write_register(client, 128, (uint16_t)(counter + 1)), 1);
    modbus_server_counts(s, &counts);
    CHECK_INT("refused", counts.refused, 1);
    end_client(client);
    modbus_server_stop(s);

    s = start_server("0.0.0.0", false);
    client = connect_client(s);
    CHECK_INT("writes are off", modbus_write_register(client, 210, 1), -1);
    CHECK_INT("writes are off", errno, EMBXILFUN);
    CHECK_INT("both", modbus_write_and_read_registers(client, 210, 1, &word, 128, 1, &word),
              -1);
    CHECK_INT("a coil", modbus_write_bit(client, 16, 1), -1);
    CHECK_INT("reads are not", modbus_read_registers(client, 210, 1, &word), 1);
    CHECK_INT("nothing written", word, 0);
    end_client(client);
    modbus_server_stop(s);
}

/* Frames with bytes cut or invented, ten in one segment, and one that does not end while others
 * are answered. None of them makes the server sleep, as libmodbus would. */
static void test_bare_bytes(void)
{
    static const uint8_t read[] = {0, 1, 0, 0, 0, 6, 0, 3, 1, 14, 0, 1};
    static const uint8_t cut_write[] = {0, 2, 0, 0, 0, 7, 0, 16, 0, 128, 0, 3, 6};
    static const uint8_t nothing[] = {0, 3, 0, 0, 0, 6, 0, 3, 1, 14, 0, 0};
    static const uint8_t refused[] = {0, 2, 0, 0, 0, 3, 0, 0x90, 3,
                                      0, 3, 0, 0, 0, 3, 0, 0x83, 3};
    struct modbus_server *s = start_server("127.0.0.1", true);
    const int fd = connect_socket(s);
    const int mute = connect_socket(s);
    modbus_t *client = connect_client(s);
    uint8_t got[200];
    uint16_t words[3];
    show_addresses(s, 0);
    CHECK_INT("half", send(mute, read, 7, MSG_NOSIGNAL), 7);
    const int64_t begin_us = lab_clock_monotonic_us();
    for (int i = 0; i < 100; i++) {
        CHECK_INT("counts that lie", send(fd, cut_write, sizeof cut_write, MSG_NOSIGNAL),
                  sizeof cut_write);
        CHECK_INT("counts that cannot be", send(fd, nothing, sizeof nothing, MSG_NOSIGNAL),
                  sizeof nothing);
        CHECK_INT("exceptions", recv(fd, got, sizeof refused, MSG_WAITALL), sizeof refused);
        CHECK("exceptions", memcmp(got, refused, sizeof refused) == 0);
    }
    CHECK("did not sleep", (double)(lab_clock_monotonic_us() - begin_us) < 5e6 * wait_patience());
    CHECK_INT("nothing written", modbus_read_registers(client, 128, 3, words), 3);
    CHECK("nothing written", words[0] == 0 && words[1] == 0 && words[2] == 0);
    for (size_t k = 0; k < 10; k++) {
        memcpy(got + k * sizeof read, read, sizeof read);
    }
    CHECK_INT("ten", send(fd, got, 10 * sizeof read, MSG_NOSIGNAL), 10 * sizeof read);
    CHECK_INT("ten answers", recv(fd, got, 110, MSG_WAITALL), 110);
    CHECK_INT("the tenth", got[109] | got[108] << 8, 270);
    CHECK_INT("the rest", send(mute, read + 7, 5, MSG_NOSIGNAL), 5);
    CHECK_INT("its answer", recv(mute, got, 11, MSG_WAITALL), 11);
    CHECK_INT("no Modbus", send(fd, "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL), 18);
    CHECK("closed", recv(fd, got, sizeof got, 0) <= 0);
    (void)close(fd);
    (void)close(mute);
    end_client(client);
    modbus_server_stop(s);
}

/* All words of an answer are of one period, whatever is shown meanwhile. */
static void *show_on(void *context)
{
    struct modbus_server *s = context;
    for (uint16_t plus = 0; plus < 20000; plus++) {
        show_addresses(s, plus);
    }
    return NULL;
}

static void test_one_period(void)
{
    struct modbus_server *s = start_server("127.0.0.1", true);
    modbus_t *client = connect_client(s);
    pthread_t shower;
    uint16_t words[125];
    int torn = 0;
    show_addresses(s, 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&shower, NULL, show_on, s), 0);
    for (int i = 0; i < 2000; i++) {
        CHECK_INT("read", modbus_read_registers(client, 256, 125, words), 125);
        for (unsigned k = 0; k < 125; k++) {
            torn += words[k] != (uint16_t)(words[0] + k);
        }
    }
    CHECK_INT("torn", torn, 0);
    (void)pthread_join(shower, NULL);
    end_client(client);
    modbus_server_stop(s);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("modbus_server", NULL, NULL);
    CU_add_test(suite, "reads", test_reads);
    CU_add_test(suite, "writes", test_writes);
    CU_add_test(suite, "outputs", test_outputs);
    CU_add_test(suite, "full_and_closed", test_full_and_closed);
    CU_add_test(suite, "bare_bytes", test_bare_bytes);
    CU_add_test(suite, "one_period", test_one_period);
    return check_run();
}
