#include "service/client/http_get.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <gnutls/gnutls.h>

enum {
    HOST_MAX = 256,
    PORT_MAX = 65535,
    HEAD_MAX = 4096,        /* of a request */
    ANSWER_MAX = 256 << 20, /* of a lab of 10 000 pairs: 20 MB */
    SILENCE_S = 10
};

struct address {
    bool tls;
    char host[HOST_MAX], port[8];
    char path[HOST_MAX]; /* before the path of the request */
};

/* A connection, with TLS if there is a session. */
struct connection {
    int fd;
    gnutls_session_t session;
    gnutls_certificate_credentials_t trusted;
};

static enum status read_url(const char *url, struct address *out, struct err *err)
{
    char scheme[8] = "";
    int host = 0;
    int port = 0;
    *out = (struct address){.port = ""};
    if (sscanf(url, "%7[a-z]://[%255[0-9a-fA-F:.]]%n", scheme, out->host, &host) < 2) {
        (void)sscanf(url, "%7[a-z]://%255[^][:/?#@]%n", scheme, out->host, &host);
    }
    (void)sscanf(url + host, ":%5[0-9]%n", out->port, &port);
    const char *path = url + host + port;
    const size_t path_bytes = strlen(path) - (path[0] && path[strlen(path) - 1] == '/');
    out->tls = strcmp(scheme, "https") == 0;
    if (host == 0 || (!out->tls && strcmp(scheme, "http") != 0) || (*path && *path != '/') ||
        path[strcspn(path, "?# \r\n")] || path_bytes >= sizeof out->path) {
        return err_set(err, STATUS_E_ARG, FAULT_BAD_ADDRESS, url,
                       "not a URL: http://HOST:PORT or https://HOST:PORT would be right");
    }
    if (strtol(out->port, NULL, 10) > PORT_MAX) {
        return err_set(err, STATUS_E_ARG, FAULT_BAD_ADDRESS, url,
                       "there is no port %s: 1 to %d would be right", out->port, PORT_MAX);
    }
    memcpy(out->path, path, path_bytes);
    if (port == 0) {
        (void)snprintf(out->port, sizeof out->port, out->tls ? "443" : "80");
    }
    return STATUS_OK;
}

enum status http_check_url(const char *url, struct err *err)
{
    struct address address;
    return read_url(url, &address, err);
}

/* ---- the connection ---- */

static enum status connect_socket(const char *url, const struct address *address,
                                  struct connection *c, struct err *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    const struct timeval silence = {SILENCE_S, 0};
    struct addrinfo *found = NULL;
    int why = 0;
    const int fault = getaddrinfo(address->host, address->port, &hints, &found);
    if (fault != 0) {
        return err_set(err, STATUS_E_IO, FAULT_BAD_ADDRESS, url,
                       "the address of %s is not known: %s", address->host,
                       gai_strerror(fault));
    }
    for (const struct addrinfo *at = found; at && c->fd < 0; at = at->ai_next) {
        c->fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, at->ai_protocol);
        /* The limit to send is that of connect(), too. */
        if (c->fd < 0 ||
            setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &silence, sizeof silence) != 0 ||
            setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof silence) != 0 ||
            connect(c->fd, at->ai_addr, at->ai_addrlen) != 0) {
            why = errno == EINPROGRESS ? ETIMEDOUT : errno;
            (void)(c->fd >= 0 && close(c->fd));
            c->fd = -1;
        }
    }
    freeaddrinfo(found);
    return c->fd >= 0 ? STATUS_OK
                      : err_set(err, STATUS_E_IO, FAULT_NOT_RUNNING, url,
                                "no daemon answers here: %s; start it with 'tandem serve', or "
                                "give its address with --url",
                                strerrordesc_np(why));
}

static enum status begin_tls(const struct http_request *request, const struct address *address,
                             struct connection *c, struct err *err)
{
    gnutls_datum_t why = {NULL, 0};
    if (gnutls_certificate_allocate_credentials(&c->trusted) < 0 ||
        gnutls_init(&c->session, GNUTLS_CLIENT) < 0) {
        return err_no_memory(err, request->url, "out of memory");
    }
    int code = request->ca_file ? gnutls_certificate_set_x509_trust_file(
                                      c->trusted, request->ca_file, GNUTLS_X509_FMT_PEM)
                                : gnutls_certificate_set_x509_system_trust(c->trusted);
    if (request->ca_file && code <= 0) {
        return err_set(err, STATUS_E_ARG, FAULT_BAD_CERTIFICATE, request->ca_file,
                       "no certificate can be read here: PEM would be right");
    }
    (void)gnutls_set_default_priority(c->session);
    (void)gnutls_credentials_set(c->session, GNUTLS_CRD_CERTIFICATE, c->trusted);
    (void)gnutls_server_name_set(c->session, GNUTLS_NAME_DNS, address->host,
                                 strlen(address->host));
    gnutls_session_set_verify_cert(c->session, address->host, 0);
    gnutls_transport_set_int(c->session, c->fd);
    do {
        code = gnutls_handshake(c->session);
    } while (code < 0 && code != GNUTLS_E_AGAIN && !gnutls_error_is_fatal(code));
    if (code == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR) {
        (void)gnutls_certificate_verification_status_print(
            gnutls_session_get_verify_cert_status(c->session), GNUTLS_CRT_X509, &why, 0);
        (void)err_set(err, STATUS_E_IO, FAULT_BAD_CERTIFICATE, request->url,
                      "its certificate is not trusted for %.60s: %.90s --ca-file names who "
                      "signed it",
                      address->host, why.data ? (const char *)why.data : "");
        gnutls_free(why.data);
        return STATUS_E_IO;
    }
    return code >= 0 ? STATUS_OK
                     : err_set(err, STATUS_E_IO, FAULT_NOT_CONNECTED, request->url,
                               "TLS fails: %s; does it speak http:// without TLS?",
                               gnutls_strerror(code));
}

static void close_connection(struct connection *c)
{
    if (c->session) {
        gnutls_deinit(c->session);
    }
    if (c->trusted) {
        gnutls_certificate_free_credentials(c->trusted);
    }
    if (c->fd >= 0) {
        (void)close(c->fd);
    }
}

/* A socket that blocks sends such a short text whole, or fails. */
static bool send_text(struct connection *c, const char *text, size_t bytes)
{
    const ssize_t n = c->session ? gnutls_record_send(c->session, text, bytes)
                                 : send(c->fd, text, bytes, MSG_NOSIGNAL);
    return n == (ssize_t)bytes;
}

/* ---- the answer ---- */

/* Reads until the connection ends. A missing end of TLS shows by Content-Length. */
static enum status receive_all(struct connection *c, const char *url,
                               struct http_answer *answer, struct err *err)
{
    size_t room = 0;
    for (;;) {
        if (answer->bytes + 1 >= room) {
            room = room > 0 ? 2 * room : 65536;
            char *more = room <= ANSWER_MAX ? realloc(answer->body, room) : NULL;
            if (!more) {
                return err_no_memory(err, url, "no memory for the answer");
            }
            answer->body = more;
        }
        char *at = answer->body + answer->bytes;
        const size_t left = room - answer->bytes - 1;
        const ssize_t n =
            c->session ? gnutls_record_recv(c->session, at, left) : recv(c->fd, at, left, 0);
        if (c->session ? n == GNUTLS_E_AGAIN : n < 0 && errno == EAGAIN) {
            return err_set(err, STATUS_E_IO, FAULT_NOT_CONNECTED, url,
                           "it did not answer for %d s", SILENCE_S);
        }
        if (n <= 0) {
            answer->body[answer->bytes] = '\0';
            return STATUS_OK;
        }
        answer->bytes += (size_t)n;
    }
}

/* Removes the head of the answer, after a look at its status and length. */
static enum status cut_head(const char *url, struct http_answer *answer, struct err *err)
{
    static const char length[] = "\r\ncontent-length:";
    char *end = answer->body ? strstr(answer->body, "\r\n\r\n") : NULL;
    if (answer->bytes == 0) {
        return err_set(
            err, STATUS_E_IO, FAULT_NOT_CONNECTED, url,
            "it closed the connection without an answer; with TLS, https:// would be "
            "right");
    }
    if (!end || strncmp(answer->body, "HTTP/1.", 7) != 0) {
        return err_set(err, STATUS_E_IO, FAULT_UNEXPECTED_VALUE, url,
                       "the answer is no HTTP; with TLS, https:// would be right");
    }
    *end = '\0';
    const char *promised = strcasestr(answer->body, length);
    const size_t head = (size_t)(end - answer->body) + 4;
    answer->status = (int)strtol(answer->body + 8, NULL, 10);
    answer->bytes -= head;
    if (promised && strtoull(promised + sizeof length - 1, NULL, 10) != answer->bytes) {
        return err_set(err, STATUS_E_IO, FAULT_NOT_CONNECTED, url, "the answer was cut off");
    }
    memmove(answer->body, end + 4, answer->bytes + 1);
    return STATUS_OK;
}

static enum status exchange_messages(const struct http_request *request,
                                     const struct address *address, struct connection *c,
                                     struct http_answer *answer, struct err *err)
{
    char head[HEAD_MAX];
    const bool bracket = strchr(address->host, ':') != NULL;
    enum status status = connect_socket(request->url, address, c, err);
    if (status == STATUS_OK && address->tls) {
        status = begin_tls(request, address, c, err);
    }
    const int n = snprintf(
        head, sizeof head,
        "GET %s%s HTTP/1.0\r\nHost: %s%s%s:%s\r\nAccept: application/json\r\n%s%s%s\r\n",
        address->path, request->path, bracket ? "[" : "", address->host, bracket ? "]" : "",
        address->port, request->token[0] ? "Authorization: Bearer " : "", request->token,
        request->token[0] ? "\r\n" : "");
    if (status == STATUS_OK &&
        (n <= 0 || (size_t)n >= sizeof head || !send_text(c, head, (size_t)n))) {
        status = err_set(err, STATUS_E_IO, FAULT_NOT_CONNECTED, request->url,
                         "the request of %d bytes cannot be sent", n);
    }
    status = status == STATUS_OK ? receive_all(c, request->url, answer, err) : status;
    return status == STATUS_OK ? cut_head(request->url, answer, err) : status;
}

enum status http_get(const struct http_request *request, struct http_answer *answer,
                     struct err *err)
{
    struct address address;
    struct connection c = {.fd = -1};
    struct http_answer got = {0};
    enum status status = read_url(request->url, &address, err);
    status = status == STATUS_OK ? exchange_messages(request, &address, &c, &got, err) : status;
    close_connection(&c);
    if (status == STATUS_OK) {
        *answer = got;
    } else {
        free(got.body);
    }
    return status;
}
