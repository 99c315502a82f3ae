/* service/mqtt/mqtt_write.c - hides failed writes of PUBLISH at QoS 1 and 2 from Paho. This
 * program's writev() and SSL_write() replace those of the libraries; only Paho calls them with
 * a PUBLISH.
 *
 * Paho (1.3.12, and 1.3.15) frees such a message twice. MQTTProtocol_startPublish() adds it to
 * the list of unacknowledged ones, then writes it. If the write fails,
 * MQTTAsync_processCommand() frees topic and payload with the command, and the list still
 * points to them. Each way to empty the list frees them again: the end of a clean session,
 * MQTTAsync_destroy() and an acknowledgement. A reconnection reads them. No order of calls
 * avoids this, because the send thread checks the connection, writes and frees under one lock.
 *
 * So such a write cuts the connection and counts as done. The receive thread reads the end of
 * the connection and closes it. On that path Paho frees each message once, and
 * mqtt_connection.c sends unacknowledged ones again. Nothing new can happen to the message: the
 * system may always lose data that it accepted just before a cut.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "service/mqtt/mqtt_link.h"

enum {
    WANT_WRITE = 3, /* SSL_ERROR_WANT_WRITE: the only need for OpenSSL's headers */
    PUBLISH = 3     /* MQTT packet type, in the upper half of its first byte */
};
struct ssl_st;
int SSL_write(struct ssl_st *ssl, const void *data, int bytes);

/* The libraries' own functions. */
static struct {
    ssize_t (*writev)(int, const struct iovec *, int);
    int (*ssl_write)(struct ssl_st *, const void *, int);
    int (*ssl_get_error)(const struct ssl_st *, int);
    int (*ssl_get_fd)(const struct ssl_st *);
} next;
static pthread_once_t found = PTHREAD_ONCE_INIT;

static atomic_uint_fast64_t broken;

static void find_next(void)
{
    const struct {
        const char *name;
        void *function;
    } rows[] = {{"writev", &next.writev},
                {"SSL_write", &next.ssl_write},
                {"SSL_get_error", &next.ssl_get_error},
                {"SSL_get_fd", &next.ssl_get_fd}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        void *const function = dlsym(RTLD_NEXT, rows[i].name);
        memcpy(rows[i].function, &function, sizeof function); /* ISO C has no such conversion */
    }
}

/* Bits 1 and 2 of the first byte hold the QoS. */
static bool is_publish(const void *data, size_t bytes)
{
    const unsigned first = bytes > 0 ? *(const unsigned char *)data : 0;
    return first >> 4 == PUBLISH && (first & 6U) != 0;
}

/* Returns false when fd is no socket. */
static bool cut_link(int fd)
{
    const bool is_socket = shutdown(fd, SHUT_RDWR) == 0 || errno == ENOTCONN;
    atomic_fetch_add_explicit(&broken, is_socket, memory_order_relaxed);
    return is_socket;
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    (void)pthread_once(&found, find_next);
    const ssize_t written = next.writev(fd, parts, count);
    const int reason = errno;
    if (written >= 0 || reason == EAGAIN || count < 1 ||
        !is_publish(parts[0].iov_base, parts[0].iov_len) || !cut_link(fd)) {
        errno = reason;
        return written;
    }
    ssize_t whole = 0;
    for (int i = 0; i < count; i++) {
        whole += (ssize_t)parts[i].iov_len;
    }
    return whole;
}

int SSL_write(struct ssl_st *ssl, const void *data, int bytes)
{
    (void)pthread_once(&found, find_next);
    const int written = next.ssl_write(ssl, data, bytes);
    if (written > 0 || !is_publish(data, bytes > 0 ? (size_t)bytes : 0) ||
        next.ssl_get_error(ssl, written) == WANT_WRITE) {
        return written;
    }
    (void)cut_link(next.ssl_get_fd(ssl));
    return bytes;
}

uint64_t mqtt_write_count_broken(void)
{
    return atomic_load_explicit(&broken, memory_order_relaxed);
}
