#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text/text.h"
#include "logger/storage/postgresql_parts.h"

enum {
    VERSION_LEAST = 140000, /* reports to each session whether the server is read-only */
    ADDRESSES_MAX = 16,
    PASSWORD_MAX = 1024,
    /* A replaced primary may answer before the new one. After the first writable server the
     * others have this time to answer as well. */
    RIVALS_MS = 100,
    WHY_MAX = 200
};

/* A file that cannot exist: libpq then uses none, and not that of the home directory. */
#define NO_FILE "/dev/null/none"

struct address {
    char host[256], numeric[INET6_ADDRSTRLEN], port[8];
};

struct resolved { /* what postgresql_target_refresh() finds */
    struct address addresses[ADDRESSES_MAX];
    size_t count;
    char password[PASSWORD_MAX];
};

struct postgresql_target {
    pthread_mutex_t lock; /* of `now` */
    struct resolved now;
    struct postgresql_server servers[POSTGRESQL_SERVERS_MAX]; /* hosts are our copies */
    size_t server_count;
    char *database, *user, *password_file, *ca_file, *application;
    bool any_encoding;
};

/* --- the target ------------------------------------------------------------------------------
 */

/* Before any thread starts: NOLINTBEGIN(concurrency-mt-unsafe) */
static void remove_environment(void)
{
    for (size_t i = 0; environ && environ[i];) {
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(environ[i], "="), environ[i]);
        if (strncmp(name, "PG", 2) != 0 || unsetenv(name) != 0) {
            i++;
        }
    }
}
/* NOLINTEND(concurrency-mt-unsafe) */

static enum status read_password(const struct postgresql_target *t, char out[PASSWORD_MAX],
                                 struct err *err)
{
    FILE *file = t->password_file ? fopen(t->password_file, "re") : NULL;
    if (!file && t->password_file) {
        return err_set(err, STATUS_E_IO, FAULT_FILE_UNREADABLE, t->password_file,
                       "the password of PostgreSQL cannot be read: %s", strerrordesc_np(errno));
    }
    out[0] = '\0';
    const bool read = file && fgets(out, PASSWORD_MAX, file);
    const bool whole = read && (strchr(out, '\n') || feof(file));
    if (file) {
        (void)fclose(file);
    }
    out[strcspn(out, "\r\n")] = '\0';
    if (t->password_file && (!whole || out[0] == '\0')) {
        return err_set(err, STATUS_E_PARSE, FAULT_MISSING_VALUE, t->password_file,
                       "the first line must be the password of PostgreSQL, at most %d bytes",
                       PASSWORD_MAX - 2);
    }
    return STATUS_OK;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        return ntohl(v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    struct sockaddr_in6 v6;
    memcpy(&v6, address, sizeof v6);
    return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

/* Appends the addresses of a server. Returns the fault of getaddrinfo(), 0 for none. */
static int resolve_server(const struct postgresql_server *server, struct resolved *out,
                          bool *loopback)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *found = NULL;
    char port[8];
    (void)snprintf(port, sizeof port, "%u", server->port);
    const int fault = getaddrinfo(server->host, port, &hints, &found);
    for (const struct addrinfo *a = found; a && out->count < ADDRESSES_MAX; a = a->ai_next) {
        struct address *to = &out->addresses[out->count];
        if (getnameinfo(a->ai_addr, a->ai_addrlen, to->numeric, sizeof to->numeric, NULL, 0,
                        NI_NUMERICHOST) == 0) {
            (void)snprintf(to->host, sizeof to->host, "%s", server->host);
            (void)snprintf(to->port, sizeof to->port, "%s", port);
            *loopback = *loopback && is_loopback(a->ai_addr);
            out->count++;
        }
    }
    if (found) {
        freeaddrinfo(found);
    }
    return fault;
}

static enum status resolve_target(const struct postgresql_target *t, struct resolved *out,
                                  struct err *err)
{
    int fault = 0;
    const char *unknown = "";
    for (size_t i = 0; i < t->server_count; i++) {
        bool loopback = true;
        const int failed = resolve_server(&t->servers[i], out, &loopback);
        if (failed != 0) {
            fault = failed;
            unknown = t->servers[i].host;
        }
        if (!t->ca_file && !loopback) {
            return err_set(err, STATUS_E_RANGE, FAULT_UNSAFE_ADDRESS, t->servers[i].host,
                           "PostgreSQL on another machine needs TLS: name the authority of its "
                           "certificate as tls: {ca_file: FILE}");
        }
    }
    if (out->count == 0) {
        return err_set(err, STATUS_E_IO, FAULT_DATABASE_UNREACHABLE, unknown,
                       "the name of the PostgreSQL server cannot be resolved: %s",
                       gai_strerror(fault));
    }
    return read_password(t, out->password, err);
}

enum status postgresql_target_refresh(struct postgresql_target *target, struct err *err)
{
    struct resolved *found = calloc(1, sizeof *found);
    if (!found) {
        return err_no_memory(err, "PostgreSQL", "%zu bytes for addresses", sizeof *found);
    }
    const enum status status = resolve_target(target, found, err);
    if (status == STATUS_OK) {
        (void)pthread_mutex_lock(&target->lock);
        target->now = *found;
        (void)pthread_mutex_unlock(&target->lock);
    }
    explicit_bzero(found->password, sizeof found->password);
    free(found);
    return status;
}

static char *copy_text(const char *text, bool *failed)
{
    char *copy = text ? strdup(text) : NULL;
    *failed = *failed || (text && !copy);
    return copy;
}

enum status postgresql_target_create(const struct postgresql_params *params,
                                     struct postgresql_target **out, struct err *err)
{
    struct postgresql_target *t = calloc(1, sizeof *t);
    bool failed = !t;
    remove_environment();
    if (t) {
        (void)pthread_mutex_init(&t->lock, NULL);
        t->database = copy_text(params->database, &failed);
        t->user = copy_text(params->user, &failed);
        t->password_file = copy_text(params->password_file, &failed);
        t->ca_file = copy_text(params->ca_file, &failed);
        t->application = copy_text(params->application, &failed);
        t->any_encoding = params->any_encoding;
        for (; t->server_count < params->server_count; t->server_count++) {
            t->servers[t->server_count] = (struct postgresql_server){
                copy_text(params->servers[t->server_count].host, &failed),
                params->servers[t->server_count].port};
        }
    }
    const enum status status =
        failed ? err_no_memory(err, "PostgreSQL", "the names of its servers")
               : postgresql_target_refresh(t, err);
    if (status != STATUS_OK) {
        postgresql_target_destroy(t);
        return status;
    }
    *out = t;
    return STATUS_OK;
}

void postgresql_target_destroy(struct postgresql_target *target)
{
    if (!target) {
        return;
    }
    for (size_t i = 0; i < target->server_count; i++) {
        char *host;
        memcpy(&host, &target->servers[i].host, sizeof host);
        free(host);
    }
    free(target->database);
    free(target->user);
    free(target->password_file);
    free(target->ca_file);
    free(target->application);
    explicit_bzero(target->now.password, sizeof target->now.password);
    (void)pthread_mutex_destroy(&target->lock);
    free(target);
}

/* --- one attempt per address -----------------------------------------------------------------
 */

enum attempt_state { ATTEMPT_CONNECTING, ATTEMPT_READY, ATTEMPT_FAILED };

struct attempt {
    PGconn *pg;
    const struct address *address;
    enum attempt_state state;
    PostgresPollingStatusType wants;
    enum fault fault; /* of one that failed */
    char why[WHY_MAX];
    char timeline[16];
};

static void PRINTF_LIKE(3, 4)
    fail_attempt(struct attempt *a, enum fault fault, const char *format, ...)
{
    TEXT_FORMAT(a->why, sizeof a->why, format);
    a->state = ATTEMPT_FAILED;
    a->fault = fault;
}

/* Translates libpq's message. It has the form "connection to server at …, port … failed: FATAL:
 * 28P01: text" for an answer of the server, because the verbosity asks for codes: the text may
 * be in any language. */
static void explain_failure(struct attempt *a, const struct postgresql_target *t)
{
    const char *message = PQerrorMessage(a->pg);
    const char *failed = strstr(message, " failed: ");
    char line[WHY_MAX];
    char code[6] = "";
    int end = 0;
    postgresql_first_line(failed ? failed + strlen(" failed: ") : message, line, sizeof line);
    if (sscanf(line, "%*[^:]:  %5[0-9A-Z]: %n", code, &end) != 1 || end == 0) {
        code[0] = '\0';
    }
    if (strcmp(code, "28P01") == 0) {
        fail_attempt(a, FAULT_DATABASE_REFUSED,
                     "wrong password for the user \"%s\", or no such user; correct "
                     "the password file, or create the user with: tandem db init",
                     t->user);
    } else if (strncmp(code, "28", 2) == 0) {
        fail_attempt(a, FAULT_DATABASE_REFUSED,
                     "the user \"%s\" may not connect (%s); add a line to pg_hba.conf", t->user,
                     line + end);
    } else if (strcmp(code, "3D000") == 0) {
        fail_attempt(a, FAULT_DATABASE_REFUSED,
                     "there is no database \"%s\"; create it with: tandem db init",
                     t->database);
    } else if (strncmp(code, "57P", 3) == 0 || strcmp(code, "53300") == 0) {
        fail_attempt(a, FAULT_DATABASE_UNREACHABLE, "%s", line + end);
    } else if (code[0]) {
        fail_attempt(a, FAULT_DATABASE_REFUSED, "%s (SQLSTATE %s)", line + end, code);
    } else if (strstr(line, "server does not support SSL")) {
        fail_attempt(a, FAULT_BAD_CERTIFICATE,
                     "the server has no TLS; switch `ssl` on in its postgresql.conf");
    } else if (strstr(line, "certificate") || strstr(line, "SSL")) {
        fail_attempt(a, FAULT_BAD_CERTIFICATE,
                     "TLS failed: %.110s; check tls.ca_file, and that "
                     "servers has the name in the certificate",
                     line);
    } else if (strstr(line, "no password supplied")) {
        fail_attempt(a, FAULT_DATABASE_REFUSED,
                     "the server asks for a password; name its file (password_file in the "
                     "lab file, --admin-password-file of tandem db)");
    } else {
        fail_attempt(a, FAULT_DATABASE_UNREACHABLE, "%s", line);
    }
}

static void begin_attempt(struct attempt *a, const struct postgresql_target *t,
                          const char *password)
{
    const struct {
        const char *name, *value;
    } options[] = {
        {"host", a->address->host},
        {"hostaddr", a->address->numeric},
        {"port", a->address->port},
        {"dbname", t->database},
        {"user", t->user},
        {"password", password},
        {"passfile", NO_FILE},
        {"application_name", t->application},
        {"client_encoding", "UTF8"},
        {"sslmode", t->ca_file ? "verify-full" : "disable"},
        {"sslrootcert", t->ca_file ? t->ca_file : NO_FILE},
        {"sslcert", NO_FILE},
        {"gssencmode", "disable"},
        {"options", "-c TimeZone=UTC -c synchronous_commit=on -c DateStyle=ISO "
                    "-c extra_float_digits=1 -c search_path=" POSTGRESQL_SCHEMA},
    };
    const char *names[COUNT(options) + 1] = {NULL};
    const char *values[COUNT(options) + 1] = {NULL};
    for (size_t i = 0; i < COUNT(options); i++) {
        names[i] = options[i].name;
        values[i] = options[i].value;
    }
    a->pg = PQconnectStartParams(names, values, 0);
    a->state = ATTEMPT_CONNECTING;
    a->wants = PGRES_POLLING_WRITING;
    if (!a->pg) {
        fail_attempt(a, FAULT_NO_MEMORY, "not enough memory");
    } else if (PQstatus(a->pg) == CONNECTION_BAD) {
        explain_failure(a, t);
    } else {
        (void)PQsetErrorVerbosity(a->pg, PQERRORS_VERBOSE);
    }
}

static bool has_parameter(const struct attempt *a, const char *parameter, const char *value)
{
    const char *got = PQparameterStatus(a->pg, parameter);
    return got && strcmp(got, value) == 0;
}

/* Refuses a server that does not suit. */
static void judge_server(struct attempt *a, const struct postgresql_target *t,
                         enum postgresql_wanted wanted)
{
    const int version = PQserverVersion(a->pg);
    a->state = ATTEMPT_READY;
    if (version < VERSION_LEAST) {
        fail_attempt(a, FAULT_DATABASE_REFUSED, "PostgreSQL %d is too old; %d or newer",
                     version / 10000, VERSION_LEAST / 10000);
    } else if (!t->any_encoding && !has_parameter(a, "server_encoding", "UTF8")) {
        fail_attempt(a, FAULT_DATABASE_REFUSED,
                     "the encoding of the database \"%s\" is %s; it must be UTF8", t->database,
                     PQparameterStatus(a->pg, "server_encoding"));
    } else if (wanted == POSTGRESQL_WRITABLE && has_parameter(a, "in_hot_standby", "on")) {
        fail_attempt(a, FAULT_DATABASE_READ_ONLY, "a standby");
    } else if (wanted == POSTGRESQL_WRITABLE &&
               has_parameter(a, "default_transaction_read_only", "on")) {
        fail_attempt(a, FAULT_DATABASE_READ_ONLY, "default_transaction_read_only is on");
    }
}

static void continue_attempt(struct attempt *a, const struct postgresql_target *t,
                             enum postgresql_wanted wanted)
{
    a->wants = PQconnectPoll(a->pg);
    if (a->wants == PGRES_POLLING_OK) {
        judge_server(a, t, wanted);
    } else if (a->wants == PGRES_POLLING_FAILED) {
        explain_failure(a, t);
    }
}

static size_t count_state(const struct attempt *all, size_t count, enum attempt_state state)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        n += all[i].state == state;
    }
    return n;
}

/* Polls all attempts once, until_ms at most. */
static void poll_attempts(struct attempt *all, size_t count, const struct postgresql_target *t,
                          enum postgresql_wanted wanted, int64_t until_ms)
{
    struct pollfd sockets[ADDRESSES_MAX];
    for (size_t i = 0; i < count; i++) {
        const bool connecting = all[i].state == ATTEMPT_CONNECTING;
        sockets[i] = (struct pollfd){
            .fd = connecting ? PQsocket(all[i].pg) : -1,
            .events = (short)(all[i].wants == PGRES_POLLING_READING ? POLLIN : POLLOUT)};
    }
    const int64_t left_ms = until_ms - postgresql_clock_ms();
    (void)poll(sockets, count, left_ms > 0 ? (int)left_ms : 0);
    for (size_t i = 0; i < count; i++) {
        if (all[i].state == ATTEMPT_CONNECTING && sockets[i].revents != 0) {
            continue_attempt(&all[i], t, wanted);
        }
    }
}

static void connect_all(struct attempt *all, size_t count, const struct postgresql_target *t,
                        enum postgresql_wanted wanted, int64_t limit_ms)
{
    int64_t until_ms = postgresql_clock_ms() + limit_ms;
    bool ready = false;
    while (count_state(all, count, ATTEMPT_CONNECTING) > 0 &&
           postgresql_clock_ms() < until_ms) {
        poll_attempts(all, count, t, wanted, until_ms);
        if (!ready && count_state(all, count, ATTEMPT_READY) > 0) {
            const int64_t rivals_ms = postgresql_clock_ms() + RIVALS_MS;
            ready = true;
            until_ms = wanted == POSTGRESQL_ANY ? 0
                       : rivals_ms < until_ms   ? rivals_ms
                                                : until_ms;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (all[i].state == ATTEMPT_CONNECTING) {
            fail_attempt(&all[i], FAULT_DATABASE_UNREACHABLE, "no answer in %.1f s",
                         (double)limit_ms / 1000.0);
        }
    }
}

static void receive_notice(void *context, const PGresult *notice)
{
    struct postgresql *c = context;
    const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char *text = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
    if (severity && strcmp(severity, "WARNING") == 0) {
        c->warned = true;
        (void)snprintf(c->warning, sizeof c->warning, "%s", text ? text : "");
    }
}

/* Makes a connection of an attempt that is ready. */
static struct postgresql *adopt_attempt(struct attempt *a)
{
    struct postgresql *c = calloc(1, sizeof *c);
    if (c) {
        c->pg = a->pg;
        a->pg = NULL;
        (void)snprintf(c->address, sizeof c->address, "%s:%s", a->address->host,
                       a->address->port);
        (void)PQsetnonblocking(c->pg, 1);
        (void)PQsetNoticeReceiver(c->pg, receive_notice, c);
    }
    return c;
}

/* Reads the timeline of a writable server, as text that sorts; "" if it does not answer. */
static void read_timeline(struct attempt *a, int64_t limit_ms)
{
    struct postgresql c = {.pg = a->pg};
    struct postgresql_result result;
    (void)PQsetnonblocking(a->pg, 1);
    if (postgresql_run(&c,
                       &(struct postgresql_statement){
                           .what = "read its timeline",
                           .sql = "SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)",
                           .limit_ms = limit_ms},
                       &result, NULL) == STATUS_OK) {
        (void)snprintf(a->timeline, sizeof a->timeline, "%s",
                       postgresql_result_text(&result, 0, 0, NULL));
    }
    postgresql_result_free(&result);
}

/* Returns the attempt to use: the only one that is ready, or that with the newest timeline. */
static struct attempt *choose_attempt(struct attempt *all, size_t count, int64_t limit_ms)
{
    const bool several = count_state(all, count, ATTEMPT_READY) > 1;
    struct attempt *best = NULL;
    for (size_t i = 0; i < count; i++) {
        if (all[i].state == ATTEMPT_READY) {
            if (several) {
                read_timeline(&all[i], limit_ms);
            }
            if (!best || strcmp(all[i].timeline, best->timeline) > 0) {
                best = &all[i];
            }
        }
    }
    return best;
}

/* How much a person must act on a fault: the greatest one of all servers is reported. */
static int rank_fault(enum fault fault)
{
    return fault == FAULT_DATABASE_UNREACHABLE ? 0 : fault == FAULT_DATABASE_READ_ONLY ? 1 : 2;
}

static enum status report_attempts(const struct attempt *all, size_t count, struct err *err)
{
    const struct attempt *worst = &all[0];
    char text[ERR_TEXT_MAX] = "";
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (rank_fault(all[i].fault) > rank_fault(worst->fault)) {
            worst = &all[i];
        }
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s:%s: %s", i > 0 ? "; " : "",
                              all[i].address->host, all[i].address->port, all[i].why);
        n = n < sizeof text ? n : sizeof text - 1;
    }
    if (rank_fault(worst->fault) == 2) {
        char address[POSTGRESQL_ADDRESS_MAX];
        (void)snprintf(address, sizeof address, "%s:%s", worst->address->host,
                       worst->address->port);
        return err_set(err, STATUS_E_IO, worst->fault, address, "%s", worst->why);
    }
    return err_set(err, STATUS_E_IO, worst->fault, "PostgreSQL", "%s: %s",
                   worst->fault == FAULT_DATABASE_READ_ONLY ? "no server can be written"
                                                            : "no server answers",
                   text);
}

enum status postgresql_open(struct postgresql_target *target, enum postgresql_wanted wanted,
                            int64_t limit_ms, struct postgresql **out, struct err *err)
{
    struct attempt all[ADDRESSES_MAX] = {0};
    struct resolved *now = malloc(sizeof *now);
    if (!now) {
        return err_no_memory(err, "PostgreSQL", "%zu bytes for addresses", sizeof *now);
    }
    (void)pthread_mutex_lock(&target->lock);
    *now = target->now;
    (void)pthread_mutex_unlock(&target->lock);
    for (size_t i = 0; i < now->count; i++) {
        all[i].address = &now->addresses[i];
        begin_attempt(&all[i], target, now->password);
    }
    connect_all(all, now->count, target, wanted, limit_ms);
    struct attempt *best = choose_attempt(all, now->count, limit_ms);
    struct postgresql *connection = best ? adopt_attempt(best) : NULL;
    enum status status = STATUS_OK;
    if (connection) {
        *out = connection;
    } else if (best) {
        status =
            err_no_memory(err, "PostgreSQL", "%zu bytes for a connection", sizeof *connection);
    } else {
        status = report_attempts(all, now->count, err);
    }
    for (size_t i = 0; i < now->count; i++) {
        PQfinish(all[i].pg);
    }
    explicit_bzero(now->password, sizeof now->password);
    free(now);
    return status;
}
