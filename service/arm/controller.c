#include "service/arm/controller.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service/tool/lab_clock.h"
#include "service/wire/tcp_dial.h"

enum { RETRY_US = 1000 * 1000, ASK_US = 500 * 1000, SILENT_US = 3 * 1000 * 1000 };

/* A packet has i32 length, u8 type; a message then u64 time, i8 source, i8 kind. */
enum { PRIMARY_HEAD = 5, MESSAGE_TYPE = 20, MESSAGE_HEAD = PRIMARY_HEAD + 10 };
enum { MESSAGE_ERROR_CODE = 6, MESSAGE_RUNTIME_EXCEPTION = 10 };
enum { ERROR_NUMBERS = 20, EXCEPTION_NUMBERS = 8 };

static const char mark_word[] = "TANDEM_MARK";

/* --- sockets ------------------------------------------------------------------------------ */

static void close_socket(struct controller_socket *s)
{
    if (s->fd >= 0) {
        (void)close(s->fd);
    }
    s->fd = -1;
    s->in_count = s->out_count = 0;
    s->retry_us = lab_clock_monotonic_us() + RETRY_US;
}

static void open_socket(struct controller_socket *s, const char *host)
{
    const char *why = NULL;
    s->fd = tcp_dial(host, s->port, &why);
    s->connecting = s->fd >= 0;
    s->retry_us = lab_clock_monotonic_us() + RETRY_US;
}

static void send_waiting(struct controller_socket *s)
{
    const ssize_t n = send(s->fd, s->out, s->out_count, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        close_socket(s);
    } else if (n > 0) {
        memmove(s->out, s->out + n, s->out_count - (size_t)n);
        s->out_count -= (size_t)n;
    }
}

static void receive_waiting(struct controller_socket *s)
{
    const ssize_t n = recv(s->fd, s->in + s->in_count, sizeof s->in - s->in_count, 0);
    if (n > 0) {
        s->in_count += (size_t)n;
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        close_socket(s);
    }
}

/* True if something was received. */
static bool run_socket(struct controller_socket *s, const char *host)
{
    if (s->fd < 0 && lab_clock_monotonic_us() >= s->retry_us) {
        open_socket(s, host);
    }
    struct pollfd polled = {.fd = s->fd, .events = POLLIN};
    polled.events |= s->connecting || s->out_count > 0 ? POLLOUT : 0;
    const size_t before = s->in_count;
    if (s->fd < 0 || poll(&polled, 1, 0) <= 0) {
        return false;
    }
    if (s->connecting && tcp_dial_fault(s->fd)) {
        close_socket(s);
        return false;
    }
    s->connecting = false;
    if (polled.revents & POLLOUT && s->out_count > 0) {
        send_waiting(s);
    }
    if (s->fd >= 0 && polled.revents & (POLLIN | POLLHUP | POLLERR)) {
        receive_waiting(s);
    }
    return s->in_count > before;
}

static bool queue_text(struct controller_socket *s, const char *text, size_t bytes)
{
    if (s->fd < 0 || s->connecting || bytes > sizeof s->out - s->out_count) {
        return false;
    }
    memcpy(s->out + s->out_count, text, bytes);
    s->out_count += bytes;
    send_waiting(s);
    return s->fd >= 0;
}

static void drop_input(struct controller_socket *s, size_t bytes)
{
    memmove(s->in, s->in + bytes, s->in_count - bytes);
    s->in_count -= bytes;
}

/* --- the primary interface ---------------------------------------------------------------- */

static void pass_text(struct controller *c, const char *before, const uint8_t *bytes,
                      size_t count)
{
    char text[256];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", before);
    for (size_t i = 0; i < count && used + 1 < sizeof text; i++) {
        text[used++] = bytes[i] >= ' ' && bytes[i] <= '~' ? (char)bytes[i] : ' ';
    }
    text[used] = '\0';
    c->text(c->context, text);
}

static uint32_t read_u32(const uint8_t *in)
{
    return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

static void handle_message(struct controller *c, const uint8_t *packet, size_t bytes)
{
    char before[64];
    const int kind = packet[MESSAGE_HEAD - 1];
    const uint8_t *rest = packet + MESSAGE_HEAD;
    bytes -= MESSAGE_HEAD;
    if (kind == MESSAGE_RUNTIME_EXCEPTION && bytes >= EXCEPTION_NUMBERS) {
        (void)snprintf(before, sizeof before,
                       "error of the program, line %u column %u: ", read_u32(rest),
                       read_u32(rest + 4));
        pass_text(c, before, rest + EXCEPTION_NUMBERS, bytes - EXCEPTION_NUMBERS);
    } else if (kind == MESSAGE_ERROR_CODE && bytes >= ERROR_NUMBERS &&
               read_u32(rest + 8) >= 2) { /* warnings and worse */
        (void)snprintf(before, sizeof before, "C%uA%u ", read_u32(rest), read_u32(rest + 4));
        pass_text(c, before, rest + ERROR_NUMBERS, bytes - ERROR_NUMBERS);
    }
}

/* Most packets are states of the robot, up to some kB, ten a second: skipped. */
static void handle_packets(struct controller *c)
{
    struct controller_socket *s = &c->primary;
    while (s->in_count >= PRIMARY_HEAD) {
        const uint32_t bytes = read_u32(s->in);
        if (bytes < PRIMARY_HEAD || bytes > sizeof s->in) {
            c->text(c->context, "what port 30001 sends is no primary interface");
            close_socket(s);
            return;
        }
        if (s->in_count < bytes) {
            return;
        }
        if (s->in[PRIMARY_HEAD - 1] == MESSAGE_TYPE && bytes >= MESSAGE_HEAD) {
            handle_message(c, s->in, bytes);
        }
        drop_input(s, bytes);
    }
}

bool controller_upload(struct controller *c, uint32_t mark)
{
    char text[CONTROLLER_PROGRAM_MAX];
    const char *program = (const char *)ur_resident;
    const char *place = strstr(program, mark_word);
    const int used = snprintf(text, sizeof text, "%.*s%u%s", (int)(place - program), program,
                              mark, place + strlen(mark_word));
    return c->primary.out_count == 0 && queue_text(&c->primary, text, (size_t)used);
}

/* --- the dashboard ------------------------------------------------------------------------ */

static void handle_line(struct controller *c, const char *line)
{
    const bool remote = strcmp(line, "true") == 0;
    if (remote || strcmp(line, "false") == 0) {
        c->awaits = false;
        c->control = remote ? DRIVE_CONTROL_REMOTE : DRIVE_CONTROL_LOCAL;
    } else if (strncmp(line, "could not understand", 20) == 0 && c->awaits) {
        c->awaits = false;
        c->no_modes = true;
        c->control = DRIVE_CONTROL_REMOTE;
    } else if (strncmp(line, "Connected", 9) != 0) {
        c->text(c->context, line);
    }
}

static void handle_lines(struct controller *c)
{
    struct controller_socket *s = &c->dashboard;
    uint8_t *end = NULL;
    while (s->fd >= 0 && (end = memchr(s->in, '\n', s->in_count))) {
        const size_t bytes = (size_t)(end - s->in) + 1;
        s->in[bytes - 1 - (bytes > 1 && s->in[bytes - 2] == '\r')] = '\0';
        handle_line(c, (const char *)s->in);
        drop_input(s, bytes);
    }
    if (s->in_count == sizeof s->in) {
        close_socket(s);
    }
}

static void ask_control(struct controller *c)
{
    static const char question[] = "is in remote control\n";
    const int64_t now_us = lab_clock_monotonic_us();
    if (c->dashboard.fd < 0) {
        c->awaits = false;
        c->control = c->no_modes ? c->control : DRIVE_CONTROL_UNKNOWN;
    } else if (c->awaits && now_us - c->asked_us > SILENT_US) {
        close_socket(&c->dashboard);
    } else if (!c->awaits && !c->no_modes && now_us - c->asked_us >= ASK_US &&
               queue_text(&c->dashboard, question, strlen(question))) {
        c->awaits = true;
        c->asked_us = now_us;
    }
}

void controller_unlock(struct controller *c)
{
    static const char orders[] = "close safety popup\nunlock protective stop\n";
    if (!queue_text(&c->dashboard, orders, strlen(orders))) {
        c->text(c->context, "no connection to the dashboard (port 29999): the protective stop "
                            "can be unlocked on the pendant only");
    }
}

/* --- both --------------------------------------------------------------------------------- */

void controller_open(struct controller *c, const char *host, int primary_port,
                     int dashboard_port, void (*text)(void *context, const char *text),
                     void *context)
{
    *c = (struct controller){.host = host,
                             .primary = {.fd = -1, .port = primary_port},
                             .dashboard = {.fd = -1, .port = dashboard_port},
                             .text = text,
                             .context = context};
}

void controller_run(struct controller *c)
{
    if (run_socket(&c->primary, c->host)) {
        handle_packets(c);
    }
    if (run_socket(&c->dashboard, c->host)) {
        handle_lines(c);
    }
    ask_control(c);
}

void controller_close(struct controller *c)
{
    close_socket(&c->primary);
    close_socket(&c->dashboard);
}

void controller_again(struct controller *c)
{
    controller_close(c);
    c->primary.retry_us = c->dashboard.retry_us = 0;
}
