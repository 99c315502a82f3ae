/* web/server/tls.h - reads and checks the server's certificate and key, also again while it
 * runs, after a renewal.
 *
 * libmicrohttpd asks for them at each handshake without any context of ours, so they are global
 * to the process.
 */
#ifndef WEB_SERVER_TLS_H
#define WEB_SERVER_TLS_H

#include <gnutls/abstract.h>
#include <stdbool.h>

#include "base/errors/err.h"

/* Versions and ciphers in GnuTLS's syntax: TLS 1.3, and those of 1.2 with forward secrecy and
 * authenticated encryption (AEAD). */
#define TLS_PRIORITIES                                                                         \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:"                                         \
    "-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:-MAC-ALL:+AEAD"

/* Read both files, and use them from the next handshake on. *changed: they differ from those in
 * use. STATUS_E_ARG with the reason (missing, not readable, no PEM of a certificate or a key,
 * no matching pair), STATUS_E_NOMEM: the previous ones stay in use. Any thread. */
MUST_USE enum status tls_show(const char *certificate_path, const char *key_path, bool *changed,
                              struct err *err);

/* Stop using them. The key is overwritten. */
void tls_forget(void);

/* GnuTLS's callback. */
gnutls_certificate_retrieve_function3 tls_choose;

#endif
