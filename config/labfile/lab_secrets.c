#include "config/labfile/lab_secrets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/options/option_file.h"

enum secrecy { FOR_ALL, SECRET, SECRET_LINE };

struct secret {
    const char *key, *path; /* path "": not in use */
    enum secrecy secrecy;
    size_t least; /* characters of a line */
};

static bool is_line_short(const struct secret *s, struct err_list *errors)
{
    char line[LAB_TOKEN_MAX + 2];
    const bool read = text_file_first_line(s->path, line, sizeof line);
    const int error = errno;
    const size_t n = read ? strlen(line) : 0;
    explicit_bzero(line, sizeof line);
    if (!read) {
        (void)err_list_add(errors, STATUS_E_ARG, FAULT_FILE_UNREADABLE, s->path, 0, 0,
                           "%s cannot be read: %s", s->key, strerrordesc_np(error));
    } else if (n == 0) {
        (void)err_list_add(errors, STATUS_E_ARG, FAULT_EMPTY_FILE, s->path, 1, 1,
                           "the first line is empty, but %s must hold its text there", s->key);
    } else if (n < s->least) {
        (void)err_list_add(errors, STATUS_E_ARG, FAULT_SECRET_WEAK, s->path, 1, 1,
                           "%s: %zu characters can be guessed, %zu or more were expected: "
                           "openssl rand -hex 16",
                           s->key, n, s->least);
    }
    return n < s->least || n == 0;
}

static bool has_fault(const struct secret *s, struct err_list *errors)
{
    struct stat about;
    if (stat(s->path, &about) != 0 || access(s->path, R_OK) != 0) {
        (void)err_list_add(errors, STATUS_E_ARG, FAULT_FILE_UNREADABLE, s->path, 0, 0,
                           "%s cannot be read: %s", s->key, strerrordesc_np(errno));
        return true;
    }
    if (!S_ISREG(about.st_mode)) {
        (void)err_list_add(errors, STATUS_E_ARG, FAULT_NOT_A_FILE, s->path, 0, 0,
                           "%s is no file", s->key);
        return true;
    }
    if (s->secrecy != FOR_ALL && (about.st_mode & (S_IROTH | S_IWOTH))) {
        (void)err_list_add(errors, STATUS_E_ARG, FAULT_SECRET_EXPOSED, s->path, 0, 0,
                           "%s can be read by everybody on this machine (mode %03o): chmod "
                           "o-rwx, and take another secret",
                           s->key, (unsigned)about.st_mode & 0777U);
        return true;
    }
    return s->secrecy == SECRET_LINE && is_line_short(s, errors);
}

enum status lab_secrets_check(const struct lab_file *lab, struct err_list *errors)
{
    const struct broker_options *b = &lab->broker;
    const struct http_options *h = &lab->http;
    const struct engine_options *e = &lab->engine;
    const bool engine = e->postgresql.server_count > 0;
    const struct secret secrets[] = {
        {"broker.password_file", b->password_file, SECRET_LINE, 1},
        {"broker.telemetry_password_file", b->telemetry_password_file, SECRET_LINE, 1},
        {"broker.tls.ca_file", b->tls.enabled ? b->tls.ca_file : "", FOR_ALL, 0},
        {"broker.tls.cert_file", b->tls.enabled ? b->tls.cert_file : "", FOR_ALL, 0},
        {"broker.tls.key_file", b->tls.enabled ? b->tls.key_file : "", SECRET, 0},
        {"engine.postgresql.password_file", engine ? e->postgresql.password_file : "",
         SECRET_LINE, 1},
        {"engine.postgresql.tls.ca_file", engine ? e->postgresql.tls.ca_file : "", FOR_ALL, 0},
        {"http.token_file", h->enabled ? h->token_file : "", SECRET_LINE, LAB_TOKEN_MIN},
        {"alarms.webhook.key_file", lab->alarms.webhook.key_file, SECRET_LINE, LAB_TOKEN_MIN},
        {"http.tls_certificate", h->enabled ? h->tls_certificate : "", FOR_ALL, 0},
        {"http.tls_key", h->enabled ? h->tls_key : "", SECRET, 0},
    };
    bool good = true;
    for (size_t i = 0; i < COUNT(secrets); i++) {
        good = !(secrets[i].path[0] && has_fault(&secrets[i], errors)) && good;
    }
    return good ? STATUS_OK : STATUS_E_ARG;
}

static void print_public(const struct lab_file *lab, FILE *out)
{
    struct lab_file shown = *lab;
    char *const secrets[] = {shown.broker.username,
                             shown.broker.password_file,
                             shown.broker.telemetry_username,
                             shown.broker.telemetry_password_file,
                             shown.broker.tls.cert_file,
                             shown.broker.tls.key_file,
                             shown.engine.postgresql.user,
                             shown.engine.postgresql.password_file,
                             shown.http.token_file,
                             shown.http.tls_certificate,
                             shown.http.tls_key,
                             shown.alarms.webhook.url,
                             shown.alarms.webhook.key_file};
    for (size_t i = 0; i < COUNT(secrets); i++) {
        secrets[i][0] = '\0';
    }
    lab_file_print(&shown, out);
}

char *lab_secrets_public_text(const struct lab_file *lab)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (out) {
        print_public(lab, out);
        if (fclose(out) != 0) {
            free(text);
            text = NULL;
        }
    }
    return text;
}
