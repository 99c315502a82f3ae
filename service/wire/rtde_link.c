#include "service/wire/rtde_link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service/tool/lab_clock.h"
#include "service/wire/tcp_dial.h"

void rtde_link_open(struct rtde_link *l, const char *host, int port,
                    const struct rtde_request *request, const struct rtde_listener *listener)
{
    *l = (struct rtde_link){
        .host = host, .port = port, .request = request, .listener = listener, .socket = -1};
}

void rtde_link_close(struct rtde_link *l)
{
    if (l->socket >= 0) {
        (void)close(l->socket);
    }
    l->socket = -1;
}

/* Closes the link and retries later, after a growing delay. */
static void give_up(struct rtde_link *l, const char *why)
{
    const bool was_up = l->up;
    const bool other = strcmp(why, l->why) != 0;
    rtde_link_close(l);
    l->up = false;
    l->wait_us = l->wait_us == 0 ? RTDE_LINK_FIRST_RETRY_US : 2 * l->wait_us;
    l->wait_us = l->wait_us < RTDE_LINK_RETRY_US ? l->wait_us : RTDE_LINK_RETRY_US;
    l->retry_us = lab_clock_monotonic_us() + l->wait_us;
    (void)snprintf(l->why, sizeof l->why, "%s", why);
    if (was_up || other) {
        l->listener->changed(l->listener->context, false, l->why);
    }
}

static void connect_socket(struct rtde_link *l)
{
    const char *why = NULL;
    l->socket = tcp_dial(l->host, l->port, &why);
    if (l->socket < 0) {
        give_up(l, why);
        return;
    }
    l->connecting = true;
    l->received_us = lab_clock_monotonic_us();
    l->in_count = 0;
    l->out_count = 0;
}

/* The socket is writable: it is connected, or output can be sent. */
static void send_socket(struct rtde_link *l)
{
    if (l->connecting) {
        const char *why = tcp_dial_fault(l->socket);
        if (why) {
            give_up(l, why);
            return;
        }
        struct rtde_out out = {.bytes = l->out, .room = sizeof l->out};
        l->connecting = false;
        rtde_client_begin(&l->client, l->request, &out);
        l->out_count = out.used;
    }
    const ssize_t n = send(l->socket, l->out, l->out_count, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        give_up(l, strerrordesc_np(errno));
    } else if (n > 0) {
        memmove(l->out, l->out + n, l->out_count - (size_t)n);
        l->out_count -= (size_t)n;
    }
}

/* Passes the frame's contents to the listener; false when the link is closed. */
static bool receive_frame(struct rtde_link *l, const struct rtde_frame *frame)
{
    struct rtde_out out = {.bytes = l->out + l->out_count,
                           .room = sizeof l->out - l->out_count};
    l->frames++;
    switch (rtde_client_receive(&l->client, frame, &out)) {
    case RTDE_FAILED:
        give_up(l, l->client.text);
        return false;
    case RTDE_TEXT_MESSAGE:
        l->listener->text(l->listener->context, l->client.text);
        break;
    case RTDE_VALUES:
        if (!l->up) {
            l->up = true;
            l->wait_us = 0;
            l->why[0] = '\0';
            l->connections++;
            l->listener->changed(l->listener->context, true, "");
        }
        l->listener->values(l->listener->context, &l->client.values);
        break;
    case RTDE_NOTHING:
        break;
    }
    l->out_count += out.used;
    if (out.overflow) {
        give_up(l, "it asks for answers faster than it takes them");
    }
    return !out.overflow;
}

static void receive_socket(struct rtde_link *l)
{
    const ssize_t n = recv(l->socket, l->in + l->in_count, sizeof l->in - l->in_count, 0);
    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            give_up(l,
                    n == 0 ? "the controller closed the connection" : strerrordesc_np(errno));
        }
        return;
    }
    l->in_count += (size_t)n;
    l->received_us = lab_clock_monotonic_us();
    size_t done = 0;
    for (;;) {
        struct rtde_frame frame;
        const ssize_t bytes = rtde_frame_next(l->in + done, l->in_count - done, &frame);
        if (bytes < 0) {
            give_up(l, "what the controller sends is no RTDE");
        }
        if (bytes <= 0 || !receive_frame(l, &frame)) {
            break;
        }
        done += (size_t)bytes;
    }
    if (l->socket >= 0) {
        memmove(l->in, l->in + done, l->in_count - done);
        l->in_count -= done;
    }
}

bool rtde_link_send(struct rtde_link *l, size_t inputs, const struct rtde_inputs *values)
{
    struct rtde_out out = {.bytes = l->out + l->out_count,
                           .room = sizeof l->out - l->out_count};
    if (!l->up) {
        return false;
    }
    rtde_client_send(&l->client, inputs, values, &out);
    if (out.overflow) {
        give_up(l, "it takes no more inputs");
        return false;
    }
    l->out_count += out.used;
    send_socket(l);
    return l->up;
}

void rtde_link_again(struct rtde_link *l, const char *why)
{
    if (l->socket >= 0) {
        give_up(l, why);
        l->retry_us = 0;
    }
}

static int wait_ms(int64_t until_us)
{
    const int64_t us = until_us - lab_clock_monotonic_us();
    return us <= 0 ? 0 : us > 1000000 ? 1000 : (int)((us + 999) / 1000);
}

void rtde_link_run(struct rtde_link *l, int64_t until_us)
{
    if (l->socket < 0 && lab_clock_monotonic_us() >= l->retry_us) {
        connect_socket(l);
    }
    struct pollfd polled = {.fd = l->socket, .events = POLLIN};
    if (l->connecting || l->out_count > 0) {
        polled.events = POLLIN | POLLOUT;
    }
    if (poll(&polled, 1, wait_ms(until_us)) > 0 && l->socket >= 0) {
        if (polled.revents & POLLOUT || (l->connecting && polled.revents)) {
            send_socket(l);
        } else if (polled.revents) {
            receive_socket(l);
        }
    }
    if (l->socket >= 0 && lab_clock_monotonic_us() - l->received_us > RTDE_LINK_SILENT_US) {
        give_up(l, "the controller is silent");
    }
}
