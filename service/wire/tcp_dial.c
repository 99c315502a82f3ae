#include "service/wire/tcp_dial.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int tcp_dial(const char *host, int port, const char **why)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char digits[8];
    const int one = 1;
    (void)snprintf(digits, sizeof digits, "%d", port);
    const int fault = getaddrinfo(host, digits, &hints, &found);
    if (fault != 0) {
        *why = gai_strerror(fault);
        return -1;
    }
    const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                          found->ai_protocol);
    const bool begun = fd >= 0 && (connect(fd, found->ai_addr, found->ai_addrlen) == 0 ||
                                   errno == EINPROGRESS);
    *why = strerrordesc_np(errno);
    freeaddrinfo(found);
    if (!begun) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return -1;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

const char *tcp_dial_fault(int socket)
{
    int fault = 0;
    socklen_t bytes = sizeof fault;
    (void)getsockopt(socket, SOL_SOCKET, SO_ERROR, &fault, &bytes);
    return fault != 0 ? strerrordesc_np(fault) : NULL;
}
