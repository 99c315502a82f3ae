/* The HTTP server against a bare libmicrohttpd that answers a constant of the same size, in one
 * run: CPU time of the server a request, for several resources; and with 2000 listeners to ten
 * events a second, its CPU time and how late the events come. Each server is a process of its
 * own; the rounds take turns. bench_http TARGET...: only these requests; "events": the
 * listeners. */
#include "tests/support/check.h"

#include <microhttpd.h>
#include <signal.h>
#include <sys/prctl.h>

#include "tests/bench/listeners.h"
#include "tests/support/web_fixture.h"
#include "web/http/event_hub.h"

enum {
    SERVERS = 5,
    ROUNDS = 5,      /* of each */
    REQUESTS = 4000, /* a round */
    CONNECTIONS = 16,
    LISTENERS = LISTENERS_MAX,
    EVENTS_PER_S = 10,
    STREAM_S = 10,
    EVENT_BYTES = 300,
    WEB_NICE = 10, /* as in web/server/server.c */
    THREADS = 2,
    ANSWER_MAX = 1 << 18
};

struct server {
    pid_t pid;
    uint16_t port;
};

static void write_event(char text[EVENT_BYTES + 1])
{
    memset(text, ' ', EVENT_BYTES);
    const int n = snprintf(text, EVENT_BYTES, "{\"t_ns\":%lld,\"fill\":\"",
                           (long long)listeners_now_ns());
    text[n] = '.';
    memcpy(text + EVENT_BYTES - 2, "\"}", 3);
}

/* Forks; the child sends its port and serves until it is killed. */
static struct server start_server(uint16_t (*serve)(void *), void *context, void (*tick)(void))
{
    int pipe_fd[2];
    struct server s = {0};
    if (pipe(pipe_fd) != 0) {
        bench_fail("pipe");
    }
    (void)fflush(stdout);
    s.pid = fork();
    if (s.pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        const uint16_t port = serve(context);
        const ssize_t n = write(pipe_fd[1], &port, sizeof port);
        (void)n;
        for (;;) {
            (void)usleep(1000000 / EVENTS_PER_S);
            tick();
        }
    }
    if (s.pid < 0 || read(pipe_fd[0], &s.port, sizeof s.port) != sizeof s.port) {
        bench_fail("no server");
    }
    (void)close(pipe_fd[0]);
    (void)close(pipe_fd[1]);
    return s;
}

static void stop_server(struct server s)
{
    (void)kill(s.pid, SIGKILL);
    (void)waitpid(s.pid, NULL, 0);
}

static double cpu_of(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0) {
        bench_fail("no CPU clock");
    }
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- Tandem ---- */

static struct fixture fixture;

static void tandem_tick(void)
{
    char text[EVENT_BYTES + 1];
    write_event(text);
    event_hub_publish(fixture.events, EVENT_TYPE_CALIBRATION, 0, 0, text, EVENT_BYTES);
}

static uint16_t serve_tandem(void *context)
{
    (void)context;
    struct web *web = NULL;
    struct err err = {0};
    fixture_open(&fixture, 60);
    const struct event_hub_params hub = {.pairs = fixture.params,
                                         .pair_count = FIXTURE_PAIRS,
                                         .run_us = 7,
                                         .bytes = EVENT_HUB_BYTES,
                                         .events = EVENT_HUB_EVENTS};
    if (event_hub_create(&hub, &fixture.events) != STATUS_OK) {
        bench_fail("no memory");
    }
    const struct web_source source = fixture_source(&fixture);
    const struct web_options options = {.bind = "127.0.0.1",
                                        .threads = THREADS,
                                        .connections_max = 64,
                                        .listeners_max = LISTENERS,
                                        .store = {.path = fixture.store_path}};
    if (web_start(&options, &source, &web, &err) != STATUS_OK) {
        bench_fail(err.text);
    }
    return web_port(web);
}

/* ---- the floor ---- */

struct bare_listener {
    struct bare_listener *next;
    struct MHD_Connection *connection;
    unsigned received;
    bool asleep;
};

static struct {
    struct MHD_Response *response;
    pthread_mutex_t lock;
    struct bare_listener *first;
    unsigned reported;
    char event[EVENT_BYTES + 64]; /* the newest; the bench is so slow that one is enough */
    size_t event_bytes;
} bare = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void bare_tick(void)
{
    char text[EVENT_BYTES + 1];
    write_event(text);
    (void)pthread_mutex_lock(&bare.lock);
    bare.event_bytes =
        (size_t)snprintf(bare.event, sizeof bare.event,
                         "id: 7.1234.0.0.0\nevent: calibration\ndata: %s\n\n", text);
    bare.reported++;
    for (struct bare_listener *l = bare.first; l; l = l->next) {
        if (l->asleep) {
            l->asleep = false;
            MHD_resume_connection(l->connection);
        }
    }
    (void)pthread_mutex_unlock(&bare.lock);
}

static ssize_t bare_read(void *cls, uint64_t position, char *out, size_t size)
{
    struct bare_listener *l = cls;
    ssize_t n = 0;
    (void)position;
    (void)pthread_mutex_lock(&bare.lock);
    if (l->received != bare.reported && size >= bare.event_bytes) {
        memcpy(out, bare.event, bare.event_bytes);
        n = (ssize_t)bare.event_bytes;
        l->received = bare.reported;
    } else {
        l->asleep = true;
        MHD_suspend_connection(l->connection);
    }
    (void)pthread_mutex_unlock(&bare.lock);
    return n;
}

static enum MHD_Result bare_stream(struct MHD_Connection *connection)
{
    struct bare_listener *l = calloc(1, sizeof *l);
    l->connection = connection;
    (void)pthread_mutex_lock(&bare.lock);
    l->received = bare.reported;
    l->next = bare.first;
    bare.first = l;
    (void)pthread_mutex_unlock(&bare.lock);
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 8192, bare_read, l, NULL);
    (void)MHD_add_response_header(response, "Content-Type", "text/event-stream");
    const enum MHD_Result result = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return result;
}

/* libmicrohttpd's signature. NOLINTNEXTLINE(readability-function-size) */
static enum MHD_Result bare_answer(void *cls, struct MHD_Connection *connection,
                                   const char *url, const char *method, const char *version,
                                   const char *data, size_t *bytes, void **state)
{
    (void)method;
    (void)version;
    (void)data;
    (void)bytes;
    if (!*state) { /* an answer now would be the connection's last */
        *state = cls;
        return MHD_YES;
    }
    return strcmp(url, "/api/v1/events") == 0
               ? bare_stream(connection)
               : MHD_queue_response(connection, 200, bare.response);
}

/* At the priority of Tandem's server threads, for it decides how often they are switched to. It
 * is of the calling thread, and those it makes inherit it. */
static void *start_bare(void *context)
{
    struct MHD_Daemon **daemon = context;
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + WEB_NICE);
    *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
        bare_answer, &bare, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)LISTENERS + 64, MHD_OPTION_END);
    return NULL;
}

static uint16_t serve_bare(void *context)
{
    static char constant[ANSWER_MAX];
    const size_t bytes = *(const size_t *)context;
    memset(constant, 'x', sizeof constant);
    bare.response = MHD_create_response_from_buffer(bytes, constant, MHD_RESPMEM_PERSISTENT);
    (void)MHD_add_response_header(bare.response, "Content-Type", "application/json");
    struct MHD_Daemon *daemon = NULL;
    pthread_t thread;
    if (pthread_create(&thread, NULL, start_bare, &daemon) != 0 ||
        pthread_join(thread, NULL) != 0) {
        bench_fail("bare server");
    }
    const union MHD_DaemonInfo *info =
        daemon ? MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!info) {
        bench_fail("bare server");
    }
    return info->port;
}

/* ---- requests ---- */

static size_t answer_bytes(uint16_t port, const char *target)
{
    struct http_reply reply = http_get(port, target);
    if (reply.status != 200) {
        bench_fail(target);
    }
    const size_t bytes = reply.body_bytes;
    http_free(&reply);
    return bytes;
}

/* Read one answer to its end. */
static void read_answer(int fd)
{
    static char buffer[ANSWER_MAX];
    size_t used = 0;
    size_t wanted = SIZE_MAX;
    while (used < wanted) {
        const ssize_t got = recv(fd, buffer + used, sizeof buffer - 1 - used, 0);
        if (got <= 0) {
            bench_fail("an answer is missing");
        }
        used += (size_t)got;
        buffer[used] = '\0';
        const char *end = wanted == SIZE_MAX ? strstr(buffer, "\r\n\r\n") : NULL;
        const char *length = end ? strstr(buffer, "Content-Length: ") : NULL;
        if (end && (!length || strncmp(buffer, "HTTP/1.1 200", 12) != 0)) {
            bench_fail("an answer is no 200");
        }
        if (end) {
            wanted = (size_t)(end + 4 - buffer) + strtoul(length + 16, NULL, 10);
        }
    }
}

/* Seconds of the server's CPU time a request: each connection asks, and asks again. */
static double ask_many(struct server s, const char *target)
{
    int fd[CONNECTIONS];
    for (int i = 0; i < CONNECTIONS; i++) {
        fd[i] = listeners_connect(s.port);
    }
    const double from_s = cpu_of(s.pid);
    for (int k = 0; k < REQUESTS / CONNECTIONS; k++) {
        for (int i = 0; i < CONNECTIONS; i++) {
            char request[320];
            const int n = snprintf(request, sizeof request,
                                   "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", target);
            (void)http_send(fd[i], request, (size_t)n);
        }
        for (int i = 0; i < CONNECTIONS; i++) {
            read_answer(fd[i]);
        }
    }
    const double cpu_s = cpu_of(s.pid) - from_s;
    for (int i = 0; i < CONNECTIONS; i++) {
        (void)close(fd[i]);
    }
    return cpu_s / REQUESTS;
}

static void do_nothing(void)
{
}

/* Servers are restarted a few times, because the speed of a process depends on its addresses; a
 * ratio is of two consecutive rounds. */
static void bench_requests(char *target)
{
    double tandem_s[SERVERS * ROUNDS];
    double bare_s[SERVERS * ROUNDS];
    double ratio[SERVERS * ROUNDS];
    size_t bytes = 0;
    size_t n = 0;
    for (int k = 0; k < SERVERS; k++) {
        struct server tandem = start_server(serve_tandem, target, do_nothing);
        bytes = answer_bytes(tandem.port, target);
        struct server floor = start_server(serve_bare, &bytes, do_nothing);
        for (int i = 0; i < ROUNDS; i++, n++) {
            tandem_s[n] = ask_many(tandem, target);
            bare_s[n] = ask_many(floor, target);
            ratio[n] = tandem_s[n] / bare_s[n];
        }
        stop_server(tandem);
        stop_server(floor);
    }
    (void)printf("{\"bench\":\"http\",\"target\":\"%s\",\"bytes\":%zu,\"cpu_us\":%.2f,"
                 "\"floor_us\":%.2f,\"ratio\":%.2f}\n",
                 target, bytes, bench_median(tandem_s, n) * 1e6, bench_median(bare_s, n) * 1e6,
                 bench_median(ratio, n));
}

/* ---- listeners ---- */

static double bench_stream(const char *name, struct server s)
{
    static struct listeners l;
    listeners_open(&l, LISTENERS, s.port, "/api/v1/events",
                   "\"t_ns\":", (size_t)LISTENERS * EVENTS_PER_S * STREAM_S * 2);
    listeners_receive_for(&l, 2.0);
    l.received = 0;
    const double from_s = cpu_of(s.pid);
    listeners_receive_for(&l, STREAM_S);
    const double cpu_s = cpu_of(s.pid) - from_s;
    const double received = (double)l.received;
    (void)printf("{\"bench\":\"http\",\"stream\":\"%s\",\"listeners\":%d,\"events_per_s\":%.0f,"
                 "\"cpu_us_per_event\":%.2f,\"late_ms_p50\":%.1f,\"late_ms_p99\":%.1f}\n",
                 name, (int)LISTENERS, received / STREAM_S, cpu_s * 1e6 / received,
                 listeners_late_ms(&l, 0.5), listeners_late_ms(&l, 0.99));
    listeners_close(&l);
    return cpu_s / received;
}

static void bench_streams(void)
{
    size_t bytes = 100;
    double ratio[3];
    for (size_t i = 0; i < COUNT(ratio); i++) {
        struct server tandem = start_server(serve_tandem, NULL, tandem_tick);
        const double a = bench_stream("tandem", tandem);
        stop_server(tandem);
        struct server floor = start_server(serve_bare, &bytes, bare_tick);
        ratio[i] = a / bench_stream("bare", floor);
        stop_server(floor);
    }
    (void)printf("{\"bench\":\"http\",\"stream\":\"ratio\",\"ratio\":%.2f}\n",
                 bench_median(ratio, COUNT(ratio)));
}

int main(int argc, char *argv[])
{
    static char targets[][64] = {
        "/healthz",
        "/page/main.js",
        "/api/v1/openapi.json",
        "/api/v1/pairs",
        "/api/v1/pairs/r1",
        "/api/v1/pairs/r1/clock",
        "/api/v1/pairs/r1/travel-time",
        "/api/v1/pairs/r1/entries?limit=10",
        "/api/v1/pairs/r1/series?points=500",
    };
    listeners_allow_files();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "events") == 0) {
            bench_streams();
        } else {
            bench_requests(argv[i]);
        }
    }
    if (argc > 1) {
        return EXIT_SUCCESS;
    }
    for (size_t i = 0; i < COUNT(targets); i++) {
        bench_requests(targets[i]);
    }
    bench_streams();
    return EXIT_SUCCESS;
}
