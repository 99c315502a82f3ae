/* web/server/tls.h - the certificate and key that the server shows, read from files and
 * checked, and again while it runs, when they have been renewed.
 *
 * libmicrohttpd asks for them at each handshake, and hands the question no context of ours: so
 * what is shown is the process's.
 */
#ifndef WEB_SERVER_TLS_H
#define WEB_SERVER_TLS_H

#include <gnutls/abstract.h>
#include <stdbool.h>

#include "base/errors/err.h"

/* Versions and ciphers, in GnuTLS's words: TLS 1.3, and of 1.2 what has keys of each session's
 * own (forward secrecy) and ciphers that authenticate (AEAD). */
#define TLS_PRIORITIES                                                                         \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:"                                         \
    "-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:-MAC-ALL:+AEAD"

/* Read both files, and show them from the next handshake on. *changed: they are not those that
 * were shown. STATUS_E_ARG with the reason (missing, not readable, no PEM of a certificate or a
 * key, not of each other), STATUS_E_NOMEM: what was shown is shown still. Any thread. */
MUST_USE enum status tls_show(const char *certificate_path, const char *key_path, bool *changed,
                              struct err *err);

/* Show nothing any more. The key is overwritten. */
void tls_forget(void);

/* Answers GnuTLS. */
gnutls_certificate_retrieve_function3 tls_choose;

#endif
