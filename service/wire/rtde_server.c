#include "service/wire/rtde_server.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "service/wire/rtde_session.h"

/* State of a client, used by the server's thread. */
struct rtde_peer {
    struct rtde_session session;
    uint64_t sent_count; /* states that it was sent … */
    bool has_come;       /* … counted from its first frame on */
};

struct rtde_server {
    struct tcp_server *tcp;
    pthread_mutex_t mutex; /* held for copies only */
    struct rtde_shared shared;
    uint64_t published_count, lost; /* states so far */
    struct rtde_outputs states[RTDE_SERVER_STATES_MAX];
};

static ssize_t receive_bytes(void *context, struct tcp_client *client, const uint8_t *bytes,
                             size_t count)
{
    struct rtde_server *s = context;
    struct rtde_peer *peer = tcp_client_state(client);
    size_t done = 0;
    for (;;) {
        uint8_t answer[2 * RTDE_FRAME_MAX];
        struct rtde_out out = {.bytes = answer, .room = sizeof answer};
        struct rtde_frame frame;
        const ssize_t n = rtde_frame_next(bytes + done, count - done, &frame);
        if (n <= 0) {
            return n < 0 ? -1 : (ssize_t)done;
        }
        (void)pthread_mutex_lock(&s->mutex);
        rtde_session_receive(&peer->session, &s->shared, &frame, &out);
        peer->sent_count = peer->has_come ? peer->sent_count : s->published_count;
        peer->has_come = true;
        (void)pthread_mutex_unlock(&s->mutex);
        if (out.overflow || (out.used > 0 && !tcp_client_send(client, answer, out.used))) {
            return -1;
        }
        done += (size_t)n;
    }
}

/* Gets the next state that the client was not sent; false when there is none. */
static bool next_state(struct rtde_server *s, struct rtde_peer *peer, struct rtde_outputs *out)
{
    (void)pthread_mutex_lock(&s->mutex);
    if (s->published_count - peer->sent_count > RTDE_SERVER_STATES_MAX) {
        s->lost += s->published_count - peer->sent_count - RTDE_SERVER_STATES_MAX;
        peer->sent_count = s->published_count - RTDE_SERVER_STATES_MAX;
    }
    const bool is_new = peer->sent_count < s->published_count;
    if (is_new) {
        *out = s->states[peer->sent_count++ % RTDE_SERVER_STATES_MAX];
    }
    (void)pthread_mutex_unlock(&s->mutex);
    return is_new;
}

static bool send_states(void *context, struct tcp_client *client)
{
    struct rtde_server *s = context;
    struct rtde_peer *peer = tcp_client_state(client);
    struct rtde_outputs state;
    while (peer->has_come && next_state(s, peer, &state)) {
        uint8_t frame[RTDE_FRAME_MAX];
        struct rtde_out out = {.bytes = frame, .room = sizeof frame};
        rtde_session_send(&peer->session, &state, &out);
        if (out.used > 0 && !tcp_client_send(client, frame, out.used)) {
            return false;
        }
    }
    return true;
}

static void leave_client(void *context, struct tcp_client *client)
{
    struct rtde_server *s = context;
    struct rtde_peer *peer = tcp_client_state(client);
    (void)pthread_mutex_lock(&s->mutex);
    rtde_session_leave(&peer->session, &s->shared);
    (void)pthread_mutex_unlock(&s->mutex);
}

enum status rtde_server_start(struct rtde_server **out, const struct tcp_listen *listen,
                              double period_s, bool writes, struct err *err)
{
    struct rtde_server *s = calloc(1, sizeof *s);
    if (!s) {
        return err_no_memory(err, listen->where, "out of memory");
    }
    const struct tcp_service service = {.name = "RTDE",
                                        .context = s,
                                        .client_bytes = sizeof(struct rtde_peer),
                                        .receive = receive_bytes,
                                        .tick = send_states,
                                        .leave = leave_client};
    s->shared.hz_max = 1.0 / period_s;
    s->shared.read_only = !writes;
    (void)pthread_mutex_init(&s->mutex, NULL);
    const enum status status = tcp_server_start(&s->tcp, listen, &service, err);
    if (status != STATUS_OK) {
        rtde_server_stop(s);
        return status;
    }
    *out = s;
    return STATUS_OK;
}

void rtde_server_stop(struct rtde_server *s)
{
    if (s) {
        tcp_server_stop(s->tcp);
        (void)pthread_mutex_destroy(&s->mutex);
        free(s);
    }
}

void rtde_server_publish(struct rtde_server *s, const struct rtde_outputs *now,
                         const int32_t *program, struct rtde_inputs *inputs)
{
    (void)pthread_mutex_lock(&s->mutex);
    struct rtde_outputs *state = &s->states[s->published_count++ % RTDE_SERVER_STATES_MAX];
    *inputs = s->shared.inputs;
    *state = *now;
    state->in = *inputs;
    state->out = *inputs;
    if (program) {
        memcpy(&state->out.input_int_register[RTDE_PROGRAM_FIRST], program,
               RTDE_PROGRAM_COUNT * sizeof *program);
    }
    (void)pthread_mutex_unlock(&s->mutex);
    tcp_server_wake(s->tcp);
}

const char *rtde_server_where(const struct rtde_server *s)
{
    return tcp_server_where(s->tcp);
}

void rtde_server_counts(struct rtde_server *s, struct rtde_counts *out)
{
    tcp_server_counts(s->tcp, &out->tcp);
    (void)pthread_mutex_lock(&s->mutex);
    out->frames = s->shared.frames;
    out->malformed = s->shared.malformed;
    out->lost = s->lost;
    (void)pthread_mutex_unlock(&s->mutex);
}
