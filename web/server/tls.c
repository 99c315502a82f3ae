#include "web/server/tls.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logger/storage/lock.h"

enum {
    FILE_BYTES_MAX = 256 * 1024,
    CHAIN_MAX = 16 /* certificates in a chain: the server's, and those that sign it */
};

/* PEM texts; NULL: none. */
struct tls_texts {
    char *certificate, *key;
};

static pthread_mutex_t shown_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tls_texts shown; /* under the lock */

/* Reads a file as text. */
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
    return !text ? err_no_memory(err, path, "out of memory")
                 : err_set(err, STATUS_E_ARG, FAULT_FILE_UNREADABLE, path,
                           "the %s cannot be read: %s", what,
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
        return err_no_memory(err, certificate_path, "out of memory");
    }
    const int code =
        gnutls_certificate_set_x509_key_mem(both, &certificate, &key, GNUTLS_X509_FMT_PEM);
    gnutls_certificate_free_credentials(both);
    if (code == GNUTLS_E_CERTIFICATE_KEY_MISMATCH) {
        return err_set(err, STATUS_E_ARG, FAULT_BAD_CERTIFICATE, certificate_path,
                       "the certificate is not of the key in %.100s", key_path);
    }
    if (code < 0) {
        return err_set(err, STATUS_E_ARG, FAULT_BAD_CERTIFICATE, certificate_path,
                       "this certificate and the key in %.100s are not usable: %s; both in "
                       "PEM, the key without pass phrase, would be right",
                       key_path, gnutls_strerror(code));
    }
    return STATUS_OK;
}

static void clear_texts(struct tls_texts *texts)
{
    if (texts->key) {
        explicit_bzero(texts->key, strlen(texts->key));
    }
    free(texts->key);
    free(texts->certificate);
    *texts = (struct tls_texts){0};
}

static enum status read_texts(const char *certificate_path, const char *key_path,
                              struct tls_texts *texts, struct err *err)
{
    enum status status = read_file(certificate_path, "certificate (http.tls_certificate)",
                                   &texts->certificate, err);
    if (status == STATUS_OK) {
        status = read_file(key_path, "key (http.tls_key)", &texts->key, err);
    }
    return status == STATUS_OK ? check_pair(certificate_path, key_path, texts, err) : status;
}

enum status tls_show(const char *certificate_path, const char *key_path, bool *changed,
                     struct err *err)
{
    struct tls_texts texts = {0};
    const enum status status = read_texts(certificate_path, key_path, &texts, err);
    if (status == STATUS_OK) {
        lock_acquire(&shown_lock);
        const struct tls_texts before = shown;
        shown = texts;
        texts = before;
        *changed = !before.key || strcmp(before.key, shown.key) != 0 ||
                   strcmp(before.certificate, shown.certificate) != 0;
        lock_release(&shown_lock);
    }
    clear_texts(&texts);
    return status;
}

void tls_forget(void)
{
    lock_acquire(&shown_lock);
    clear_texts(&shown);
    lock_release(&shown_lock);
}

/* Makes copies, which GnuTLS frees: the certificate in use may change in the middle of a
 * handshake. */
static int copy_shown(gnutls_pcert_st *chain, unsigned *count, gnutls_privkey_t key)
{
    const gnutls_datum_t certificate_text = datum_of(shown.certificate);
    const gnutls_datum_t key_text = datum_of(shown.key);
    const int code =
        gnutls_privkey_import_x509_raw(key, &key_text, GNUTLS_X509_FMT_PEM, NULL, 0);
    return code < 0 ? code
                    : gnutls_pcert_list_import_x509_raw(chain, count, &certificate_text,
                                                        GNUTLS_X509_FMT_PEM, 0);
}

/* GnuTLS's signature. NOLINTNEXTLINE(readability-function-size) */
int tls_choose(gnutls_session_t session, const struct gnutls_cert_retr_st *info,
               gnutls_pcert_st **chain, unsigned *count, gnutls_ocsp_data_st **ocsp,
               unsigned *ocsp_count, gnutls_privkey_t *key, unsigned *flags)
{
    (void)session;
    (void)info;
    gnutls_privkey_t made = NULL;
    gnutls_pcert_st *list = gnutls_calloc(CHAIN_MAX, sizeof *list);
    unsigned n = CHAIN_MAX;
    int code = GNUTLS_E_MEMORY_ERROR;
    lock_acquire(&shown_lock);
    if (list && shown.key && gnutls_privkey_init(&made) == GNUTLS_E_SUCCESS) {
        code = copy_shown(list, &n, made);
    }
    lock_release(&shown_lock);
    if (code < 0) {
        gnutls_privkey_deinit(made);
        gnutls_free(list);
        return -1;
    }
    *chain = list;
    *count = n;
    *ocsp = NULL;
    *ocsp_count = 0;
    *key = made;
    *flags = GNUTLS_CERT_RETR_DEINIT_ALL;
    return 0;
}
