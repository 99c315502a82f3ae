#include "service/wire/modbus_server.h"

#include <assert.h>
#include <modbus.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "logger/storage/lock.h"
#include "service/wire/modbus_frame.h"

struct modbus_server {
    struct tcp_server *tcp;
    bool writes;
    modbus_t *library;
    modbus_mapping_t mapping; /* FC 1 and 2 read the same, and so do 3 and 4 */
    uint8_t coils[MODBUS_COILS];
    uint16_t words[MODBUS_REGISTERS]; /* as clients see them; used by the server's thread */
    _Atomic uint64_t requests, refused;

    pthread_mutex_t lock; /* protects everything below */
    bool fresh;           /* updated since clients saw them */
    uint16_t shown[MODBUS_REGISTERS];
    struct modbus_orders orders;
};

/* --- between the threads ----------------------------------------------------------------- */

void modbus_server_show(struct modbus_server *s, const uint16_t words[MODBUS_REGISTERS])
{
    lock_acquire(&s->lock);
    memcpy(s->shown, words, sizeof s->shown);
    s->fresh = true;
    lock_release(&s->lock);
}

void modbus_server_pop_orders(struct modbus_server *s, struct modbus_orders *out)
{
    lock_acquire(&s->lock);
    *out = s->orders;
    s->orders = (struct modbus_orders){.count = 0};
    lock_release(&s->lock);
}

/* Call between two requests, never within one. */
static void refresh_words(struct modbus_server *s)
{
    lock_acquire(&s->lock);
    for (unsigned k = 0; s->fresh && k < MODBUS_REGISTERS; k++) {
        s->words[k] = modbus_is_shown(k) ? s->shown[k] : s->words[k];
    }
    s->fresh = false;
    lock_release(&s->lock);
}

static bool has_room(struct modbus_server *s)
{
    lock_acquire(&s->lock);
    const bool room = s->orders.count + 2 <= MODBUS_ORDERS_MAX;
    lock_release(&s->lock);
    return room;
}

/* --- effects of writes ---------------------------------------------------------------- */

static bool does_touch(const struct modbus_request *r, unsigned address)
{
    return !r->coils && address >= r->write_at && address < r->write_at + r->write_count;
}

/* A request needs room for a mode and a command at most. */
static bool needs_room(const struct modbus_request *r)
{
    return does_touch(r, MODBUS_COMMAND) || does_touch(r, MODBUS_MODE);
}

static void order_command(struct modbus_server *s, bool command)
{
    assert(s->orders.count < MODBUS_ORDERS_MAX); /* has_room() guarantees it */
    struct modbus_order *order = &s->orders.order[s->orders.count++];
    order->command = command;
    memcpy(order->words, &s->words[MODBUS_COMMAND], sizeof order->words);
}

/* Writing these registers sets or clears outputs; they hold nothing themselves. */
static void change_outputs(uint16_t *words)
{
    words[MODBUS_OUTPUTS] |= words[MODBUS_SET_OUTPUTS];
    words[MODBUS_OUTPUTS] &= (uint16_t)~words[MODBUS_CLEAR_OUTPUTS];
    words[MODBUS_SET_OUTPUTS] = words[MODBUS_CLEAR_OUTPUTS] = 0;
}

/* Call with the lock after the registers were written; before: previous values of 128 and 151.
 * A mode takes effect before the command in the same write. */
static void apply_write(struct modbus_server *s, const struct modbus_request *r,
                        const uint16_t before[2])
{
    const uint16_t *words = s->words;
    change_outputs(s->words);
    if (does_touch(r, MODBUS_MODE)) {
        order_command(s, false);
    }
    if (words[MODBUS_COMMAND] != before[0]) {
        order_command(s, true);
    }
    if (does_touch(r, MODBUS_STREAM)) {
        s->orders.stream = true;
        modbus_map_numbers(&words[MODBUS_STREAM], s->orders.stream_rad);
    }
    if (does_touch(r, MODBUS_GOAL)) {
        s->orders.goal = true;
        modbus_map_numbers(&words[MODBUS_GOAL], s->orders.goal_rad);
    }
    s->orders.alive = s->orders.alive || words[MODBUS_WATCHDOG] != before[1];
}

/* --- coils ------------------------------------------------------------------------------- */

static void spread_coils(struct modbus_server *s)
{
    for (unsigned k = 0; k < MODBUS_COILS_OF_IO; k++) {
        s->coils[k] = s->words[k / 16] >> k % 16 & 1;
    }
    for (unsigned k = MODBUS_STATE_COILS; k < MODBUS_COILS; k++) {
        s->coils[k] = s->words[k] != 0;
    }
}

static void gather_coils(struct modbus_server *s)
{
    for (unsigned k = 16 * MODBUS_OUTPUTS; k < MODBUS_COILS_OF_IO; k++) {
        const uint16_t bit = (uint16_t)(1U << k % 16);
        s->words[k / 16] = (uint16_t)((s->words[k / 16] & ~bit) | (s->coils[k] ? bit : 0));
    }
}

/* --- a request --------------------------------------------------------------------------- */

/* Returns the exception for a request, 0: none. */
static int judge_request(struct modbus_server *s, const struct modbus_request *r)
{
    const unsigned end = r->coils ? MODBUS_COILS : MODBUS_REGISTERS;
    if (r->exception != 0) {
        return r->exception;
    }
    if (r->write_count > 0 && !s->writes) {
        return MODBUS_EXCEPTION_ILLEGAL_FUNCTION;
    }
    if (r->read_at + r->read_count > end ||
        (r->write_count > 0 && !(r->coils ? modbus_may_write_coils
                                          : modbus_may_write)(r->write_at, r->write_count))) {
        return MODBUS_EXCEPTION_ILLEGAL_DATA_ADDRESS;
    }
    return needs_room(r) && !has_room(s) ? MODBUS_EXCEPTION_SLAVE_OR_SERVER_BUSY : 0;
}

/* Library calls write and answer in one step, so the write is applied before the client sees
 * the answer. */
static int answer_write(struct modbus_server *s, const uint8_t *bytes,
                        const struct modbus_request *r)
{
    const uint16_t before[2] = {s->words[MODBUS_COMMAND], s->words[MODBUS_WATCHDOG]};
    lock_acquire(&s->lock);
    const int sent = modbus_reply(s->library, bytes, (int)r->bytes, &s->mapping);
    if (r->coils) {
        gather_coils(s);
    }
    apply_write(s, r, before);
    lock_release(&s->lock);
    return sent;
}

/* False when the client did not accept the answer. */
static bool answer_request(struct modbus_server *s, int socket, const uint8_t *bytes,
                           const struct modbus_request *r)
{
    const int exception = judge_request(s, r);
    (void)modbus_set_socket(s->library, socket);
    s->requests++;
    if (exception != 0) {
        s->refused++;
        return modbus_reply_exception(s->library, bytes, (unsigned)exception) > 0;
    }
    refresh_words(s);
    if (r->coils) {
        spread_coils(s);
    }
    const int sent = r->write_count > 0
                         ? answer_write(s, bytes, r)
                         : modbus_reply(s->library, bytes, (int)r->bytes, &s->mapping);
    return sent > 0;
}

ssize_t modbus_server_receive(struct modbus_server *s, int socket, const uint8_t *bytes,
                              size_t count)
{
    size_t done = 0;
    struct modbus_request r;
    while (done < count) {
        const enum modbus_frame frame = modbus_frame_read(bytes + done, count - done, &r);
        if (frame == MODBUS_FRAME_PART) {
            break;
        }
        if (frame == MODBUS_FRAME_ALIEN || !answer_request(s, socket, bytes + done, &r)) {
            return -1;
        }
        done += r.bytes;
    }
    return (ssize_t)done;
}

static ssize_t receive_bytes(void *context, struct tcp_client *client, const uint8_t *bytes,
                             size_t count)
{
    return modbus_server_receive(context, tcp_client_socket(client), bytes, count);
}

/* --- start and stop ---------------------------------------------------------------------- */

struct modbus_server *modbus_server_create(bool writes)
{
    struct modbus_server *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    lock_init(&s->lock);
    s->writes = writes;
    s->mapping = (modbus_mapping_t){.nb_bits = MODBUS_COILS,
                                    .nb_input_bits = MODBUS_COILS,
                                    .nb_registers = MODBUS_REGISTERS,
                                    .nb_input_registers = MODBUS_REGISTERS,
                                    .tab_bits = s->coils,
                                    .tab_input_bits = s->coils,
                                    .tab_registers = s->words,
                                    .tab_input_registers = s->words};
    /* The library only formats answers: it neither listens nor connects. */
    s->library = modbus_new_tcp("127.0.0.1", MODBUS_PORT);
    if (!s->library) {
        modbus_server_stop(s);
        return NULL;
    }
    return s;
}

enum status modbus_server_start(struct modbus_server **out,
                                const struct modbus_options *options, struct err *err)
{
    struct modbus_server *s = modbus_server_create(options->remote_writes ||
                                                   tcp_listen_is_loopback(&options->listen));
    if (!s) {
        return err_no_memory(err, options->listen.where, "out of memory");
    }
    const struct tcp_service service = {
        .name = "Modbus", .context = s, .receive = receive_bytes};
    const enum status status = tcp_server_start(&s->tcp, &options->listen, &service, err);
    if (status != STATUS_OK) {
        modbus_server_stop(s);
        return status;
    }
    *out = s;
    return STATUS_OK;
}

void modbus_server_stop(struct modbus_server *s)
{
    if (s) {
        tcp_server_stop(s->tcp);
        modbus_free(s->library);
        (void)pthread_mutex_destroy(&s->lock);
        free(s);
    }
}

const char *modbus_server_where(const struct modbus_server *s)
{
    return tcp_server_where(s->tcp);
}

bool modbus_server_accepts_writes(const struct modbus_server *s)
{
    return s->writes;
}

void modbus_server_counts(struct modbus_server *s, struct modbus_counts *out)
{
    tcp_server_counts(s->tcp, &out->tcp);
    out->requests = s->requests;
    out->refused = s->refused;
}
