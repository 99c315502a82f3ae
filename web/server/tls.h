/* web/server/tls.h - the certificate and key that the server shows, read from files and
 * checked. */
#ifndef WEB_SERVER_TLS_H
#define WEB_SERVER_TLS_H

#include "base/err.h"

/* PEM texts; NULL: none. */
struct tls_texts {
    char *certificate, *key;
};

/* Read both files. STATUS_E_ARG with the reason: missing, not readable, no PEM of a certificate
 * or a key, not of each other. */
MUST_USE enum status tls_read(const char *certificate_path, const char *key_path,
                              struct tls_texts *out, struct err *err);

/* The key is overwritten. */
void tls_clear(struct tls_texts *texts);

#endif
