/* web/http/address.h - numeric addresses, and whether they belong to this machine. */
#ifndef WEB_HTTP_ADDRESS_H
#define WEB_HTTP_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Parse an IPv4 or IPv6 address and a port; *bytes is the length for bind(). False when text is
 * not a numeric address. */
bool address_parse(const char *text, uint16_t port, struct sockaddr_storage *out,
                   socklen_t *bytes);

/* 127.0.0.0/8, ::1, or an IPv4 loopback address written as IPv6. */
bool address_is_loopback(const struct sockaddr *address);

/* 0.0.0.0 or ::. */
bool address_is_any(const struct sockaddr *address);

/* Compares without the port; an IPv4 address written as IPv6 is the same. */
bool address_is_same(const struct sockaddr *a, const struct sockaddr *b);

/* Sixteen bytes, IPv4 mapped into IPv6; zero for any other family. */
void address_bytes(const struct sockaddr *address, unsigned char out[16]);

/* out[INET6_ADDRSTRLEN] */
void address_format(const struct sockaddr *address, char *out);

#endif
