/* Any bytes as what a client of Modbus TCP sends: no crash, no wait; answers are whole frames,
 * one a request at most; what the arm shows stays as it is, and of what clients may write only
 * the arm's commands and set points come out, within bounds. The first byte: may clients write?
 */
#include <assert.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service/wire/modbus_frame.h"
#include "service/wire/modbus_server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SENT_MAX = 4096, ANSWERS_MAX = 1 << 18 };

static struct modbus_server *servers[2]; /* without writes, with */
static int ends[2];                      /* the server's, the client's */
static uint16_t shown[MODBUS_REGISTERS];

static void begin_servers(void)
{
    assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    for (unsigned k = 0; k < MODBUS_REGISTERS; k++) {
        shown[k] = (uint16_t)(31 * k);
    }
    for (int i = 0; i < 2; i++) {
        servers[i] = modbus_server_create(i == 1);
        assert(servers[i]);
        modbus_server_show(servers[i], shown);
    }
}

static size_t read_answers(uint8_t *out)
{
    size_t n = 0;
    ssize_t got = 0;
    while ((got = recv(ends[1], out + n, ANSWERS_MAX - n, 0)) > 0) {
        n += (size_t)got;
    }
    return n;
}

/* How many frames there are, the whole of it. */
static size_t count_answers(const uint8_t *bytes, size_t n)
{
    size_t frames = 0;
    for (size_t at = 0; at < n; frames++) {
        assert(n - at >= 9 && bytes[at + 2] == 0 && bytes[at + 3] == 0);
        const size_t whole = 6U + ((size_t)bytes[at + 4] << 8 | bytes[at + 5]);
        assert(whole >= 9 && whole <= MODBUS_FRAME_MAX && at + whole <= n);
        at += whole;
    }
    return frames;
}

static void check_shown(struct modbus_server *s, uint8_t *answer)
{
    static const uint8_t read[] = {0, 9, 0, 0, 0, 6, 0, 3, 1, 0, 0, 125}; /* 256 … 380 */
    assert(modbus_server_receive(s, ends[0], read, sizeof read) == (ssize_t)sizeof read);
    assert(read_answers(answer) == 9 + 2 * 125);
    for (unsigned k = 0; k < 125; k++) {
        assert((answer[9 + 2 * k] << 8 | answer[10 + 2 * k]) == shown[256 + k]);
    }
}

static void check_orders(struct modbus_server *s, bool writes)
{
    static struct modbus_orders o;
    modbus_server_pop_orders(s, &o);
    assert(o.count <= MODBUS_ORDERS_MAX);
    assert(writes || (o.count == 0 && !o.stream && !o.alive));
    for (size_t i = 0; i < o.count; i++) {
        struct modbus_program program = {0};
        struct event_command c;
        if (modbus_map_command(o.order[i].words, i % 2, &program, &c)) {
            assert(modbus_is_ours(c.id) && c.op[0]);
        }
    }
    for (size_t j = 0; o.stream && j < ARM_JOINTS; j++) {
        assert(fabs(o.stream_rad[j]) <= 2147.483648);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t answers[ANSWERS_MAX];
    if (!servers[0]) {
        begin_servers();
    }
    if (size < 1 || size > SENT_MAX) {
        return 0;
    }
    const bool writes = data[0] & 1;
    struct modbus_server *s = servers[writes];
    const ssize_t taken = modbus_server_receive(s, ends[0], data + 1, size - 1);
    assert(taken >= -1 && taken < (ssize_t)size);
    const size_t frames = count_answers(answers, read_answers(answers));
    assert(frames <= size / 8);
    struct modbus_request r;
    assert(taken < 0 || modbus_frame_read(data + 1 + taken, size - 1 - (size_t)taken, &r) ==
                            MODBUS_FRAME_PART);
    check_orders(s, writes);
    check_shown(s, answers);
    return 0;
}
