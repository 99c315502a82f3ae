#include "web/server/tls.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 256 * 1024 };

/* A file as text. */
static enum status read_file(const char *path, const char *what, char **out, struct err *err)
{
    char *text = calloc(1, FILE_BYTES_MAX + 1);
    FILE *file = fopen(path, "re");
    const int why = errno;
    const size_t n = file && text ? fread(text, 1, FILE_BYTES_MAX, file) : 0;
    const bool failed = !file || ferror(file);
    if (file) {
        (void)fclose(file);
    }
    if (text && !failed && n > 0) {
        *out = text;
        return STATUS_OK;
    }
    free(text);
    return !text ? err_set(err, STATUS_E_NOMEM, path, 0, 0, "out of memory")
                 : err_set(err, STATUS_E_ARG, path, 0, 0, "the %s cannot be read: %s", what,
                           !file    ? strerrordesc_np(why)
                           : failed ? "not a file"
                                    : "it is empty");
}

static gnutls_datum_t datum_of(char *text)
{
    return (gnutls_datum_t){.data = (unsigned char *)text, .size = (unsigned)strlen(text)};
}

static enum status check_pair(const char *certificate_path, const char *key_path,
                              const struct tls_texts *texts, struct err *err)
{
    gnutls_certificate_credentials_t both = NULL;
    const gnutls_datum_t certificate = datum_of(texts->certificate);
    const gnutls_datum_t key = datum_of(texts->key);
    if (gnutls_certificate_allocate_credentials(&both) != GNUTLS_E_SUCCESS) {
        return err_set(err, STATUS_E_NOMEM, certificate_path, 0, 0, "out of memory");
    }
    const int code =
        gnutls_certificate_set_x509_key_mem(both, &certificate, &key, GNUTLS_X509_FMT_PEM);
    gnutls_certificate_free_credentials(both);
    if (code == GNUTLS_E_CERTIFICATE_KEY_MISMATCH) {
        return err_set(err, STATUS_E_ARG, certificate_path, 0, 0,
                       "the certificate is not of the key in %.100s", key_path);
    }
    if (code < 0) {
        return err_set(err, STATUS_E_ARG, certificate_path, 0, 0,
                       "this certificate and the key in %.100s are not usable: %s; both in "
                       "PEM, the key without pass phrase, would be right",
                       key_path, gnutls_strerror(code));
    }
    return STATUS_OK;
}

enum status tls_read(const char *certificate_path, const char *key_path, struct tls_texts *out,
                     struct err *err)
{
    struct tls_texts texts = {0};
    enum status status = read_file(certificate_path, "certificate (http.tls_certificate)",
                                   &texts.certificate, err);
    if (status == STATUS_OK) {
        status = read_file(key_path, "key (http.tls_key)", &texts.key, err);
    }
    if (status == STATUS_OK) {
        status = check_pair(certificate_path, key_path, &texts, err);
    }
    if (status != STATUS_OK) {
        tls_clear(&texts);
        return status;
    }
    *out = texts;
    return STATUS_OK;
}

void tls_clear(struct tls_texts *texts)
{
    if (texts->key) {
        explicit_bzero(texts->key, strlen(texts->key));
    }
    free(texts->key);
    free(texts->certificate);
    *texts = (struct tls_texts){0};
}
