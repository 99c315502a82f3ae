#include "web/http/address.h"

#include <arpa/inet.h>
#include <string.h>

bool address_parse(const char *text, uint16_t port, struct sockaddr_storage *out,
                   socklen_t *bytes)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        memcpy(out, &v4, sizeof v4);
        *bytes = sizeof v4;
        return true;
    }
    if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
        memcpy(out, &v6, sizeof v6);
        *bytes = sizeof v6;
        return true;
    }
    return false;
}

static const unsigned char MAPPED[16] = {[10] = 0xff, [11] = 0xff}; /* 0.0.0.0 */

void address_bytes(const struct sockaddr *address, unsigned char out[16])
{
    memset(out, 0, 16);
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        memcpy(out, MAPPED, 12);
        memcpy(out + 12, &v4.sin_addr, 4);
    } else if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof v6);
        memcpy(out, &v6.sin6_addr, 16);
    }
}

void address_format(const struct sockaddr *address, char *out)
{
    unsigned char bytes[16];
    address_bytes(address, bytes);
    if (address->sa_family == AF_INET) {
        (void)inet_ntop(AF_INET, bytes + 12, out, INET6_ADDRSTRLEN);
    } else {
        (void)inet_ntop(AF_INET6, bytes, out, INET6_ADDRSTRLEN);
    }
}

bool address_is_loopback(const struct sockaddr *address)
{
    unsigned char bytes[16];
    address_bytes(address, bytes);
    return memcmp(bytes, &in6addr_loopback, 16) == 0 ||
           (memcmp(bytes, MAPPED, 12) == 0 && bytes[12] == 127);
}

bool address_is_any(const struct sockaddr *address)
{
    unsigned char bytes[16];
    address_bytes(address, bytes);
    return memcmp(bytes, &in6addr_any, 16) == 0 || memcmp(bytes, MAPPED, 16) == 0;
}

bool address_is_same(const struct sockaddr *a, const struct sockaddr *b)
{
    unsigned char first[16];
    unsigned char second[16];
    address_bytes(a, first);
    address_bytes(b, second);
    return memcmp(first, second, 16) == 0;
}
