/* web/address.h - numeric addresses, and whether they are this machine's own. */
#ifndef WEB_ADDRESS_H
#define WEB_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* An IPv4 or IPv6 address and port; *bytes is the length for bind(). False when text is not a
 * numeric address. */
bool address_parse(const char *text, uint16_t port, struct sockaddr_storage *out,
                   socklen_t *bytes);

/* 127.0.0.0/8, ::1, or the former written as IPv6. */
bool address_is_loopback(const struct sockaddr *address);

uint16_t address_port(const struct sockaddr *address);

#endif
