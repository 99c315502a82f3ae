#include "web/server/server.h"

#include <errno.h>
#include <limits.h>
#include <linux/tcp.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "logger/storage/lock.h"
#include "web/http/address.h"
#include "web/http/monotonic_clock.h"
#include "web/http/store_pool.h"
#include "web/server/clients.h"
#include "web/server/dispatch.h"
#include "web/server/head.h"
#include "web/server/tls.h"
#include "web/stream/motion_history.h"
#include "web/stream/stream.h"
#include "web/stream/trails.h"

enum {
    THREADS_MAX = 4,
    CONNECTIONS_DEFAULT = 256,
    HEARTBEAT_MS = 15 * 1000,
    WEB_NICE = 10,                 /* nice value of these threads, above the others' */
    IDLE_TIMEOUT_S = 10,           /* a connection without any transfer is closed */
    HEAD_TIMEOUT_MS = 10 * 1000,   /* a connection without a complete head is closed */
    DOOR_MS = 250,                 /* interval of these checks */
    REQUEST_TIMEOUT_MS = 5 * 1000, /* longest wait for a body that arrives slowly */
    STOP_TIMEOUT_MS = 2 * 1000,    /* running requests get this time to end, */
    QUIET_MS = 100,                /* and count as ended after this time without any */
    /* minimal rate of an upload of more than one packet */
    UPLOAD_BYTES_PER_MS = 32,
    /* An unwanted body of this size is read, so that the client receives the reason after it;
     * before a longer one. libmicrohttpd cannot answer within a body, so one in chunks is read
     * up to the second size; then the connection is closed. */
    DRAIN_MAX = 64 * 1024,
    DRAIN_CHUNKS_MAX = 32 * 1024 * 1024,
    CONNECTION_MEMORY = 16 * 1024, /* request line and headers */
    URL_MAX = WEB_PATH_MAX + QUERY_TEXT_MAX + 2
};

/* The page may only fetch from here. dygraphs styles its elements through the DOM, which needs
 * no permission. */
static const char PAGE_POLICY[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

struct web {
    struct web_source source;
    struct web_context context;
    char *token;
    struct MHD_Daemon *daemon;
    struct sockaddr_storage address;
    char *hosts;
    struct clients clients;
    /* Closes connections that take too long. */
    struct {
        pthread_t thread;
        pthread_mutex_t lock;
        pthread_cond_t changed;
        bool runs, ends; /* ends: under the lock */
    } door;
    bool tls;
    atomic_bool stopping;
};

/* One connection. libmicrohttpd reports the end of every connection, but not of every request.
 * So everything that a request acquires is freed with its connection at the latest. */
struct link {
    struct client *client;
    struct exchange *exchange; /* NULL: no request is open */
    bool asked;                /* libmicrohttpd read the line of a request */
};

/* One request and its response. */
struct exchange {
    struct web *web;
    /* answered: the response exists, and the rest of the body is skipped */
    bool begun, answered;
    bool last; /* close the connection after this answer */
    int64_t begun_ms;
    size_t received, drained; /* drained: bytes skipped of these */
    struct web_request request;
    struct web_response response;
    struct web_upload upload;
    size_t url_bytes; /* length of the whole URL */
    char url[];       /* at most URL_MAX - 1; truncated ones are still too long */
};

/* ---- one request ---- */

static const char *find_header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static const struct sockaddr *peer_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

static int socket_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/* handle_connection() sets it before any other callback of a connection. */
static struct link *link_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info->socket_context;
}

static void free_exchange(struct link *link)
{
    struct exchange *x = link->exchange;
    if (x) {
        dispatch_end(&x->request);
        body_clear(&x->upload.body);
        body_clear(&x->response.body);
        stream_close(x->response.stream);
        atomic_fetch_sub(&x->web->context.open_requests, 1);
        free(x);
        link->exchange = NULL;
    }
}

/* Did any data arrive? Handshakes of TLS do not count, so with TLS this is unknown. */
static bool has_sent(const struct web *web, struct MHD_Connection *connection)
{
    struct tcp_info info = {0};
    socklen_t bytes = sizeof info;
    return !web->tls &&
           getsockopt(socket_of(connection), IPPROTO_TCP, TCP_INFO, &info, &bytes) == 0 &&
           info.tcpi_bytes_received > 1; /* the end of the input counts as one byte */
}

/* libmicrohttpd refused a request that it did not hand over, or never received all of it.
 * closed: its connection ends as well. */
static void end_request(struct web *web, struct MHD_Connection *connection, bool closed)
{
    struct link *link = link_of(connection);
    const struct exchange *x = link->exchange;
    if (x ? !x->begun : closed && !link->asked && has_sent(web, connection)) {
        clients_charge(&web->clients, link->client, monotonic_clock_ms());
        dispatch_report_refused(&web->context, peer_of(connection), WEB_REFUSED_UNREADABLE,
                                x ? x->url : "");
    }
    free_exchange(link);
}

/* libmicrohttpd parses the URL's arguments, which nobody here reads, and does not report the
 * end of a request with too many (0.9.75). The URL is in its own buffer, so they can be
 * hidden. */
static void hide_arguments(const char *url)
{
    char *own = NULL;
    const char *mark = strchr(url, '?');
    if (mark) {
        memcpy(&own, &mark, sizeof own);
        own[1] = '\0';
    }
}

/* Gets the URL before libmicrohttpd decodes it, because its decoding is lax and ours is
 * strict. */
static void *begin_exchange(void *cls, const char *url, struct MHD_Connection *connection)
{
    struct web *web = cls;
    struct link *link = link_of(connection);
    const size_t bytes = strlen(url);
    const size_t n = bytes < URL_MAX ? bytes : URL_MAX - 1;
    struct exchange *x = link ? malloc(sizeof *x + n + 1) : NULL;
    if (x) {
        free_exchange(link);
        *x = (struct exchange){.web = web, .url_bytes = bytes};
        x->request.upload = &x->upload;
        memcpy(x->url, url, n);
        x->url[n] = '\0';
        atomic_fetch_add(&web->context.open_requests, 1);
        link->exchange = x;
        link->asked = true;
        hide_arguments(url);
    }
    return x;
}

static void end_exchange(void *cls, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    (void)code;
    struct web *web = cls;
    struct link *link = link_of(connection);
    *state = NULL;
    if (link) {
        end_request(web, connection, false);
        clients_answered(&web->clients, link->client, monotonic_clock_ms());
    }
}

static bool add_headers(const struct web_response *r, unsigned status, bool close,
                        struct MHD_Response *message)
{
    const char *type = r->media_type ? r->media_type : "application/json";
    char wait_s[16] = "";
    char disposition[96] = "";
    (void)snprintf(disposition, sizeof disposition, "attachment; filename=\"%s\"",
                   r->file_name);
    if (r->retry_after_s > 0) {
        (void)snprintf(wait_s, sizeof wait_s, "%u", r->retry_after_s);
    }
    const struct {
        const char *name, *value; /* NULL or "": not sent */
    } rows[] = {
        {"X-Content-Type-Options", "nosniff"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cache-Control", r->etag[0] ? "no-cache" : "no-store"},
        {"Content-Type", status == 304 ? NULL : type},
        {"ETag", r->etag},
        {"Allow", r->allow},
        {"Link", r->link},
        {"Location", r->location},
        {"WWW-Authenticate", r->authenticate},
        {"Retry-After", wait_s},
        {"Vary", r->page     ? "Accept-Encoding"
                 : r->varies ? "Accept"
                             : NULL},
        {"Content-Security-Policy", r->page ? PAGE_POLICY : r->policy},
        {"Content-Disposition", r->file_name[0] ? disposition : NULL},
        {"Referrer-Policy", r->page ? "no-referrer" : NULL},
        {"Content-Encoding", r->gzip && status == 200 ? "gzip" : NULL},
        {"X-Accel-Buffering", r->stream ? "no" : NULL}, /* proxies must not buffer a stream */
        {"Connection", close ? "close" : NULL},
    };
    bool whole = true;
    for (size_t i = 0; i < COUNT(rows) && whole; i++) {
        whole = !rows[i].value || !rows[i].value[0] ||
                MHD_add_response_header(message, rows[i].name, rows[i].value) == MHD_YES;
    }
    return whole;
}

static struct MHD_Response *make_body(struct MHD_Connection *connection, unsigned status,
                                      struct web_response *r)
{
    struct MHD_Response *message = NULL;
    if (r->stream) {
        message = stream_response(r->stream, connection);
    } else if (status == 304 || r->fixed || r->body.bytes == 0) {
        /* libmicrohttpd does not write through the pointer of a persistent buffer. */
        void *text = NULL;
        memcpy(&text, &r->fixed, sizeof text);
        message = MHD_create_response_from_buffer(
            r->fixed && status != 304 ? r->fixed_bytes : 0, text, MHD_RESPMEM_PERSISTENT);
    } else {
        message =
            MHD_create_response_from_buffer(r->body.bytes, r->body.text, MHD_RESPMEM_MUST_FREE);
        if (message) {
            r->body = (struct body){0};
        }
    }
    return message;
}

static enum MHD_Result send_response(struct MHD_Connection *connection, struct exchange *x)
{
    struct web_response *r = &x->response;
    const bool close = x->last || atomic_load(&x->web->stopping);
    const unsigned status = r->unchanged ? 304 : r->status;
    struct MHD_Response *message = make_body(connection, status, r);
    if (!message) {
        return MHD_NO;
    }
    const enum MHD_Result result = add_headers(r, status, close, message)
                                       ? MHD_queue_response(connection, status, message)
                                       : MHD_NO;
    r->stream = NULL; /* the message owns it, as it does the body */
    MHD_destroy_response(message);
    return result;
}

static enum MHD_Result add_header(void *cls, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    (void)kind;
    head_add(cls, name, value);
    return MHD_YES;
}

static struct head read_head(struct MHD_Connection *connection, const char *method,
                             const char *url, const char *version, size_t url_bytes)
{
    struct head head = {0};
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (info && MHD_get_version()[0] == '0') { /* later versions refuse this themselves */
        head_begin(&head, method, url, url_bytes, version, info->header_size);
    }
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, add_header, &head);
    return head;
}

/* A client refused for lack of a place may get that of a listener that has just
 * disconnected. */
static enum client_state ask_place(struct web *web, struct MHD_Connection *connection,
                                   int64_t now_ms, unsigned *wait_s)
{
    struct client *client = link_of(connection)->client;
    const enum client_state state = clients_ask(&web->clients, client, now_ms, wait_s);
    if (state != CLIENT_OVER_CONNECTIONS && state != CLIENT_OVER_PLACES) {
        return state;
    }
    streams_count_out(web->context.streams);
    return clients_ask(&web->clients, client, now_ms, wait_s);
}

/* Should the request be answered? */
static enum MHD_Result begin_request(struct MHD_Connection *connection, const char *method,
                                     const char *url, const char *version, struct exchange *x)
{
    const struct head head = read_head(connection, method, url, version, x->url_bytes);
    struct client *asking = link_of(connection)->client;
    const struct sockaddr *peer = peer_of(connection);
    const char *length = find_header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
    unsigned wait_s = 0;
    x->begun = true;
    x->begun_ms = monotonic_clock_ms();
    const enum client_state client = ask_place(x->web, connection, x->begun_ms, &wait_s);
    struct web_input input = {.method = method,
                              .url = x->url,
                              .authorization = find_header(connection, "Authorization"),
                              .accept = find_header(connection, "Accept"),
                              .accept_encoding = find_header(connection, "Accept-Encoding"),
                              .content_type = find_header(connection, "Content-Type"),
                              .last_event_id = find_header(connection, "Last-Event-ID"),
                              .host = find_header(connection, "Host"),
                              .origin = find_header(connection, "Origin"),
                              .page = find_header(connection, "Tandem-Page"),
                              .fault = head_fault(&head, version),
                              .peer = peer,
                              .local = peer && address_is_loopback(peer),
                              .tls = x->web->tls,
                              .client = client,
                              .wait_s = wait_s,
                              .body_bytes = length ? strtoull(length, NULL, 10) : 0};
    if (input.authorization) {
        input.token_wait_s =
            clients_token_wait(&x->web->clients, asking, x->begun_ms, &input.token_trusted);
        input.token_trusted = input.token_trusted || input.local;
    }
    x->answered = !dispatch_head(&x->web->context, &input, &x->request, &x->response);
    if (x->request.token_right || x->request.token_wrong) {
        clients_record_token(&x->web->clients, asking, x->request.token_right, x->begun_ms);
    }
    /* Other readers may see another end of a chunked body, because libmicrohttpd accepts line
     * ends without CR. So nothing after it is read. */
    x->last = input.fault || client != CLIENT_FINE || head.encodings > 0;
    /* Answer before the body arrives if the client waits for permission, would send much, or
     * has no place. An ambiguous request must be answered at once, because nobody knows where
     * it ends. */
    if (x->answered &&
        (input.body_bytes > DRAIN_MAX || find_header(connection, "Expect") || input.fault ||
         client == CLIENT_OVER_CONNECTIONS || client == CLIENT_OVER_PLACES)) {
        return send_response(connection, x);
    }
    return MHD_YES;
}

static bool is_too_slow(const struct exchange *x)
{
    const int64_t allowed_ms =
        REQUEST_TIMEOUT_MS + (int64_t)(x->received / UPLOAD_BYTES_PER_MS);
    return monotonic_clock_ms() - x->begun_ms > allowed_ms;
}

static enum MHD_Result receive_body(struct MHD_Connection *connection, struct exchange *x,
                                    const char *data, size_t *bytes)
{
    x->received += *bytes;
    if (!x->answered && !dispatch_fits(&x->request, x->received, &x->response)) {
        body_clear(&x->upload.body);
        dispatch_end(&x->request);
        x->answered = true;
    }
    x->drained += x->answered ? *bytes : 0;
    if (x->drained > DRAIN_CHUNKS_MAX || is_too_slow(x)) {
        dispatch_report_refused(&x->web->context, peer_of(connection), WEB_REFUSED_UNREADABLE,
                                x->url);
        return MHD_NO;
    }
    if (!x->answered) {
        body_append(&x->upload.body, data, *bytes);
    }
    *bytes = 0;
    return MHD_YES;
}

/* libmicrohttpd's signature. NOLINTNEXTLINE(readability-function-size) */
static enum MHD_Result answer_request(void *cls, struct MHD_Connection *connection,
                                      const char *url, const char *method, const char *version,
                                      const char *data, size_t *bytes, void **state)
{
    (void)cls;
    struct exchange *x = *state;
    if (!x) {
        return MHD_NO;
    }
    if (!x->begun) {
        return begin_request(connection, method, url, version, x);
    }
    if (*bytes > 0) {
        return receive_body(connection, x, data, bytes);
    }
    if (!x->answered) {
        x->answered = true;
        dispatch_body(&x->request, find_header(connection, "If-None-Match"), &x->response);
    }
    return send_response(connection, x);
}

/* ---- start and stop ---- */

static enum status choose_address(struct web *web, const struct web_options *options,
                                  struct err *err)
{
    socklen_t bytes = 0;
    web->context.listening = (const struct sockaddr *)&web->address;
    if (!address_parse(options->bind, options->port, &web->address, &bytes)) {
        return err_set(err, STATUS_E_ARG, FAULT_BAD_ADDRESS, "http.bind",
                       "'%s' is no numeric address; 127.0.0.1 or ::1 would be", options->bind);
    }
    if (!address_is_loopback(web->context.listening) && !web->token) {
        return err_set(err, STATUS_E_ARG, FAULT_UNSAFE_ADDRESS, "http.bind",
                       "%s is beyond loopback: that needs a token (http.token_file)",
                       options->bind);
    }
    return STATUS_OK;
}

/* Raises the limit of descriptors as far as needed and allowed by the hard limit, and divides
 * them. */
static enum status make_room(struct web *web, const struct web_options *options,
                             struct err *err)
{
    const unsigned connections =
        options->connections_max > 0 ? options->connections_max : CONNECTIONS_DEFAULT;
    const rlim_t wanted = (rlim_t)connections + options->listeners_max + CLIENTS_BEYOND +
                          CLIENTS_LEAVING + CLIENTS_RESERVED;
    struct rlimit limit = {.rlim_cur = wanted, .rlim_max = wanted};
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < wanted) {
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    const rlim_t has = limit.rlim_cur < UINT_MAX ? limit.rlim_cur : UINT_MAX;
    if (clients_find_room((unsigned)has, connections, options->listeners_max,
                          &web->context.room)) {
        return STATUS_OK;
    }
    return err_set(
        err, STATUS_E_IO, FAULT_TOO_FEW, "descriptors",
        "at most %u may be open; %d or more would be right (ulimit -n, LimitNOFILE=)",
        (unsigned)has, CLIENTS_RESERVED + CLIENTS_ROOM_MIN);
}

/* Handles a listener's disconnection. libmicrohttpd ends a response, and its stream, before it
 * reports the end of the connection, so the stream still exists. */
static void handle_hang_up(void *context, struct MHD_Connection *connection)
{
    struct web *web = context;
    clients_leave(&web->clients, link_of(connection)->client);
}

static enum status start_streams(struct web *web, const struct web_options *options)
{
    const struct streams_params params = {
        .hub = web->source.events,
        .pool = web->context.pool,
        .source = &web->source,
        .trails = web->context.trails,
        .motions = web->context.motions,
        .clients_max = web->context.room.listeners,
        .heartbeat_ms =
            options->heartbeat_ms > 0 ? (int)options->heartbeat_ms : (int)HEARTBEAT_MS,
        .left = handle_hang_up,
        .context = web,
    };
    return web->source.events ? streams_start(&params, &web->context.streams) : STATUS_OK;
}

/* libmicrohttpd tolerates every client that sends a byte now and then, so slow ones are closed
 * here. */
static void *watch_door(void *context)
{
    struct web *web = context;
    (void)pthread_setname_np(pthread_self(), "tandem-door");
    lock_acquire(&web->door.lock);
    while (!web->door.ends) {
        clients_hang_up(&web->clients, monotonic_clock_ms());
        lock_wait(&web->door.changed, &web->door.lock, (monotonic_clock_ms() + DOOR_MS) * 1000);
    }
    lock_release(&web->door.lock);
    return NULL;
}

static bool open_door(struct web *web)
{
    (void)pthread_mutex_init(&web->door.lock, NULL);
    lock_init_condition(&web->door.changed);
    web->door.runs = pthread_create(&web->door.thread, NULL, watch_door, web) == 0;
    return web->door.runs;
}

static void close_door(struct web *web)
{
    if (web->door.runs) {
        lock_acquire(&web->door.lock);
        web->door.ends = true;
        (void)pthread_cond_signal(&web->door.changed);
        lock_release(&web->door.lock);
        (void)pthread_join(web->door.thread, NULL);
        (void)pthread_cond_destroy(&web->door.changed);
        (void)pthread_mutex_destroy(&web->door.lock);
    }
}

static enum MHD_Result admit_connection(void *cls, const struct sockaddr *peer, socklen_t bytes)
{
    const struct web *web = cls;
    (void)peer;
    (void)bytes;
    return atomic_load(&web->stopping) ? MHD_NO : MHD_YES;
}

/* Handles the start or end of a connection. */
static void handle_connection(void *cls, struct MHD_Connection *connection, void **context,
                              enum MHD_ConnectionNotificationCode code)
{
    struct web *web = cls;
    struct link *link = *context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const struct sockaddr *peer = peer_of(connection);
        *context = link = calloc(1, sizeof *link);
        streams_count_out(web->context.streams);
        if (link && peer) {
            link->client =
                clients_open(&web->clients, peer, socket_of(connection), monotonic_clock_ms());
        }
    } else if (link) {
        end_request(web, connection, true);
        clients_close(&web->clients, link->client);
        free(link);
        *context = NULL;
    }
}

static enum status start_daemon(struct web *web, const struct web_options *options,
                                struct err *err)
{
    const unsigned threads = options->threads < 1             ? 1
                             : options->threads > THREADS_MAX ? THREADS_MAX
                                                              : options->threads;
    static char priorities[] = TLS_PRIORITIES;
    gnutls_certificate_retrieve_function3 *const choose = tls_choose;
    void *chooser = NULL;
    /* converts a function's address to an object's */
    memcpy(&chooser, &choose, sizeof chooser);
    /* clients.c decides who has a place, because it knows whose place can be freed. When all
     * sockets are open, a new client waits until a disconnected one is closed. */
    struct MHD_OptionItem more[5] = {0};
    size_t n = 0;
    if (threads > 1) { /* a pool of one is no pool to libmicrohttpd */
        more[n++] =
            (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)threads, NULL};
    }
    if (web->tls) {
        more[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_CERT_CALLBACK2, 0, chooser};
        more[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, priorities};
    }
    more[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    const unsigned flags =
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME |
        (web->tls ? (unsigned)MHD_USE_TLS : 0U) |
        (web->address.ss_family == AF_INET6 ? (unsigned)MHD_USE_DUAL_STACK : 0U);
    web->daemon = MHD_start_daemon(
        flags, 0, admit_connection, web, answer_request, web, MHD_OPTION_SOCK_ADDR,
        &web->address, MHD_OPTION_URI_LOG_CALLBACK, begin_exchange, web,
        MHD_OPTION_NOTIFY_COMPLETED, end_exchange, web, MHD_OPTION_CONNECTION_LIMIT,
        web->context.room.sockets, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_TIMEOUT_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_NOTIFY_CONNECTION, handle_connection, web, MHD_OPTION_ARRAY, more,
        MHD_OPTION_END);
    if (!web->daemon) {
        return err_set(err, STATUS_E_IO, FAULT_LISTEN_FAILED, "http",
                       "cannot listen on %s port %u: %s", options->bind,
                       (unsigned)options->port, strerrordesc_np(errno));
    }
    return STATUS_OK;
}

/* Sets the access rules. */
static enum status set_guard(struct web *web, const struct web_options *options,
                             struct err *err)
{
    const struct clients_params limits = {.connections_total = web->context.room.connections +
                                                               web->context.room.listeners,
                                          .beyond_max = web->context.room.beyond,
                                          .connections_max = options->client_connections_max,
                                          .requests_per_s = options->client_requests_per_s,
                                          .head_ms = HEAD_TIMEOUT_MS,
                                          .hung_up = &web->context.hung_up};
    web->token = options->token ? strdup(options->token) : NULL;
    web->hosts = strdup(options->hosts ? options->hosts : "");
    if ((options->token && !web->token) || !web->hosts ||
        clients_init(&web->clients, &limits) != STATUS_OK) {
        return err_no_memory(err, "http", "out of memory");
    }
    if (web->token && !web->token[0]) {
        return err_set(err, STATUS_E_ARG, FAULT_MISSING_VALUE, "http",
                       "the token is empty; some 32 random characters would be right");
    }
    if (!host_names_are_valid(web->hosts)) {
        return err_set(err, STATUS_E_ARG, FAULT_BAD_NAME, "http.hosts",
                       "'%.60s' are no names; \"lab-pc, lab-pc.example\" would be right",
                       web->hosts);
    }
    web->context.token = web->token;
    web->context.hosts = web->hosts;
    bool changed = false;
    web->tls = options->tls_certificate && options->tls_certificate[0];
    return web->tls ? tls_show(options->tls_certificate, options->tls_key, &changed, err)
                    : STATUS_OK;
}

static enum status start_server(struct web *web, const struct web_options *options,
                                struct err *err)
{
    enum status status = make_room(web, options, err);
    status = status == STATUS_OK ? set_guard(web, options, err) : status;
    if (status != STATUS_OK) {
        return status;
    }
    if (store_pool_create(&options->store, &web->context.pool) != STATUS_OK ||
        trails_create(&web->context.trails) != STATUS_OK ||
        motion_history_create(&web->context.motions) != STATUS_OK) {
        return err_no_memory(err, "http", "out of memory");
    }
    status = choose_address(web, options, err);
    if (status != STATUS_OK) {
        return status;
    }
    return open_door(web) && start_streams(web, options) == STATUS_OK
               ? start_daemon(web, options, err)
               : err_no_memory(err, "http", "no memory or thread for streams");
}

struct start {
    struct web *web;
    const struct web_options *options;
    struct err *err;
    enum status status;
};

/* When the processor is busy, HTTP clients wait rather than robots. On Linux the nice value
 * belongs to the calling thread, and its threads inherit it. */
static void *start_behind(void *context)
{
    struct start *s = context;
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + WEB_NICE);
    s->status = start_server(s->web, s->options, s->err);
    return NULL;
}

enum status web_start(const struct web_options *options, const struct web_source *source,
                      struct web **web, struct err *err)
{
    struct web *made = calloc(1, sizeof *made);
    struct start s = {.web = made, .options = options, .err = err};
    pthread_t thread;
    if (made) {
        made->source = *source;
        made->context.source = &made->source;
        made->context.upload_bytes_max = options->upload_bytes_max;
    }
    if (!made || pthread_create(&thread, NULL, start_behind, &s) != 0) {
        free(made);
        return err_no_memory(err, "http", "no memory or thread for the server");
    }
    (void)pthread_join(thread, NULL);
    if (s.status != STATUS_OK) {
        web_stop(made);
        return s.status;
    }
    *web = made;
    return STATUS_OK;
}

enum status web_renew_tls(struct web *web, const char *certificate, const char *key,
                          bool *changed, struct err *err)
{
    *changed = false;
    return web->tls ? tls_show(certificate, key, changed, err) : STATUS_OK;
}

const struct web_room *web_room(const struct web *web)
{
    return &web->context.room;
}

uint16_t web_port(const struct web *web)
{
    return MHD_get_daemon_info(web->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
}

/* Accepts no new connections; running requests get their answers. MHD_quiesce_daemon() removes
 * the listening socket from the threads' epoll sets concurrently: if one of them does so at the
 * same moment, the library aborts the process. So it is not used. */
static void drain_requests(struct web *web)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    const int64_t until_ms = monotonic_clock_ms() + STOP_TIMEOUT_MS;
    int64_t busy_ms = monotonic_clock_ms();
    atomic_store(&web->stopping, true);
    streams_stop(web->context.streams);
    /* Between two requests none is in flight, though an accepted connection may have one. */
    while (busy_ms < until_ms && monotonic_clock_ms() - busy_ms < QUIET_MS) {
        (void)nanosleep(&pause, NULL);
        busy_ms = atomic_load(&web->context.open_requests) > 0 ? monotonic_clock_ms() : busy_ms;
    }
}

void web_stop(struct web *web)
{
    if (!web) {
        return;
    }
    if (web->daemon) {
        drain_requests(web);
        MHD_stop_daemon(web->daemon);
    } else {
        streams_stop(web->context.streams);
    }
    close_door(web);
    streams_destroy(web->context.streams);
    store_pool_destroy(web->context.pool);
    pair_rings_destroy(web->context.trails);
    pair_rings_destroy(web->context.motions);
    clients_clear(&web->clients);
    if (web->tls) {
        tls_forget();
    }
    free(web->hosts);
    free(web->token);
    free(web);
}
