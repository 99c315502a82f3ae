#include "service/sim/demo/demo_stage.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ftw.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/text.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/lab_clock.h"
#include "service/tool/stop_signal.h"

enum {
    START_MS = 15000,
    STOP_MS = 15000, /* a driver waits for the answers to its commands */
    POLL_US = 20 * 1000,
    WORDS_MAX = 40,
    WORDS_BYTES = 512
};

enum { BROKER, DAEMON }; /* indices of children */

/* The settings that config/mosquitto.conf recommends, on another port. */
static const char broker_settings[] = "message_size_limit 250000\n"
                                      "max_queued_messages 100000\n"
                                      "max_inflight_messages 1000\n"
                                      "set_tcp_nodelay true\n"
                                      "persistence true\n"
                                      "autosave_interval 10\n"
                                      "persistent_client_expiration 14d\n";

bool demo_stage_complain(const char *what, const char *why)
{
    return complain("demo: %s: %s", what, why);
}

static bool complain_errno(const char *what)
{
    return demo_stage_complain(what, strerrordesc_np(errno));
}

/* --- ports, files, programs ----------------------------------------------------------------
 */

/* Opens a socket and sets the loopback address of a port. */
static int open_socket(int port, struct sockaddr_in *address)
{
    *address = (struct sockaddr_in){.sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* Returns the port, or a free one if it is 0; 0: none. */
static int free_port(int port)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    const int fd = open_socket(0, &address);
    const bool found = bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
                       getsockname(fd, (struct sockaddr *)&address, &size) == 0;
    (void)close(fd);
    return port != 0 ? port : found ? ntohs(address.sin_port) : 0;
}

/* Returns whether an HTTP server at the port answers the request with status 2xx. */
static bool ask_port(int port, const char *request)
{
    char answer[16] = "";
    const struct timeval patience = {2, 0};
    struct sockaddr_in address;
    const int fd = open_socket(port, &address);
    bool good = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    if (good && request) {
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        good = send(fd, request, strlen(request), MSG_NOSIGNAL) > 0 &&
               recv(fd, answer, sizeof answer - 1, MSG_WAITALL) > 0 && strstr(answer, " 2");
    }
    (void)close(fd);
    return good;
}

static bool broker_answers(void *context)
{
    const struct demo_stage *stage = context;
    return ask_port(stage->port, NULL);
}

static bool daemon_is_ready(void *context)
{
    const struct demo_stage *stage = context;
    return ask_port(stage->http_port, "GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n");
}

bool demo_stage_ask(const struct demo_stage *stage, const char *target, const char *body)
{
    char request[512];
    (void)snprintf(request, sizeof request,
                   "%s HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                   "Content-Length: %zu\r\n\r\n%s",
                   target, stage->token, strlen(body), body);
    return ask_port(stage->http_port, request);
}

static bool find_broker(char program[PATH_MAX])
{
    char path[4096];
    const char *from_user =
        getenv("PATH"); /* NOLINT(concurrency-mt-unsafe): before any thread */
    (void)snprintf(path, sizeof path, "%s:/usr/sbin:/usr/local/sbin",
                   from_user ? from_user : "");
    char *rest = NULL;
    for (const char *dir = strtok_r(path, ":", &rest); dir; dir = strtok_r(NULL, ":", &rest)) {
        if (snprintf(program, PATH_MAX, "%s/mosquitto", dir) < PATH_MAX &&
            access(program, X_OK) == 0) {
            return true;
        }
    }
    return demo_stage_complain("mosquitto",
                               "was not found; ./run installs it, or: apt install mosquitto");
}

bool demo_stage_write(const struct demo_stage *stage, const char *name, const char *format, ...)
{
    char path[2 * PATH_MAX];
    va_list arguments;
    (void)snprintf(path, sizeof path, "%s/%s", stage->dir, name);
    FILE *file = fopen(path, "we");
    if (!file) {
        return complain_errno(path);
    }
    va_start(arguments, format);
    const bool written =
        fchmod(fileno(file), 0600) == 0 && vfprintf(file, format, arguments) >= 0;
    va_end(arguments);
    return (fclose(file) == 0 && written) || complain_errno(path);
}

/* Writes a random token for writing over HTTP. */
static bool write_token(struct demo_stage *stage)
{
    unsigned char random[DEMO_TOKEN_BYTES];
    if (getrandom(random, sizeof random, 0) != sizeof random) {
        return complain_errno("random numbers");
    }
    for (size_t i = 0; i < DEMO_TOKEN_BYTES; i++) {
        (void)snprintf(stage->token + 2 * i, 3, "%02x", random[i]);
    }
    return demo_stage_write(stage, "token", "%s", stage->token);
}

static bool make_dir(struct demo_stage *stage)
{
    (void)snprintf(stage->dir, sizeof stage->dir, "/tmp/tandem-demo.XXXXXX");
    if (!stage->asked_dir) {
        return mkdtemp(stage->dir) || complain_errno(stage->dir);
    }
    if ((mkdir(stage->asked_dir, 0755) != 0 && errno != EEXIST) ||
        !realpath(stage->asked_dir, stage->dir)) {
        return complain_errno(stage->asked_dir);
    }
    return true;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

/* --- children ------------------------------------------------------------------------------
 */

static struct child *start_child(struct demo_stage *stage, const char *name,
                                 const char *program, char *text)
{
    const char *argv[WORDS_MAX + 1] = {NULL};
    char *rest = NULL;
    size_t n = 0;
    struct err err = {0};
    if (stage->child_count == DEMO_CHILDREN_MAX) {
        (void)demo_stage_complain(name, "too many programs");
        return NULL;
    }
    struct child *child = &stage->children[stage->child_count];
    for (char *word = strtok_r(text, " ", &rest); word && n < WORDS_MAX;
         word = strtok_r(NULL, " ", &rest)) {
        argv[n++] = word;
    }
    if (child_start(child, name, stage->dir, program, argv, &err) != STATUS_OK) {
        (void)demo_stage_complain(err.where, err.text);
        return NULL;
    }
    stage->child_count++;
    return child;
}

struct child *demo_stage_start(struct demo_stage *stage, const char *name, const char *format,
                               ...)
{
    char text[WORDS_BYTES];
    TEXT_FORMAT(text, sizeof text, format);
    return start_child(stage, name, stage->program, text);
}

bool demo_stage_runs(struct demo_stage *stage)
{
    for (size_t i = 0; i < stage->child_count; i++) {
        struct child *c = &stage->children[i];
        if (!child_is_running(c)) {
            complain("demo: %s ended unexpectedly with status %d:", c->name, c->exit_status);
            child_show_log(c, 5);
            return false;
        }
    }
    return true;
}

bool demo_stage_wait(struct demo_stage *stage, const char *what,
                     bool (*is_there)(void *context), void *context)
{
    const int64_t until_us = lab_clock_monotonic_us() + (int64_t)START_MS * 1000;
    while (!is_there(context)) {
        if (stop_signal_raised() || !demo_stage_runs(stage)) {
            return false;
        }
        if (lab_clock_monotonic_us() >= until_us) {
            return demo_stage_complain(what, "does not answer");
        }
        lab_clock_sleep_until_us(lab_clock_monotonic_us() + POLL_US);
    }
    return true;
}

bool demo_stage_listen(const struct demo_stage *stage, const struct mqtt_client_topic *topics,
                       size_t count, struct session *session)
{
    const struct mqtt_client_options options = {.port = stage->port,
                                                .client_id = "demo",
                                                .prefix = "tandem/v1",
                                                .topics = topics,
                                                .topic_count = count};
    return session_open(session, options) &&
           (mqtt_client_wait_subscribed(session->client, START_MS) ||
            demo_stage_complain("the broker", "does not let the demo listen"));
}

bool demo_stage_serve(struct demo_stage *stage)
{
    char broker[PATH_MAX];
    char words[] = "mosquitto -c mosquitto.conf";
    return find_broker(broker) && start_child(stage, "broker", broker, words) &&
           demo_stage_wait(stage, "the broker", broker_answers, stage) &&
           demo_stage_start(stage, "daemon", "tandem serve -c lab.yaml") &&
           demo_stage_wait(stage, "the daemon", daemon_is_ready, stage);
}

void demo_stage_stop(struct demo_stage *stage, struct child *c)
{
    if (c->started && !child_stop(c, STOP_MS) && !c->died) {
        complain("demo: %s ended with status %d:", c->name, c->exit_status);
        child_show_log(c, 5);
        stage->failed = true;
    }
    stage->failed = stage->failed || c->died;
}

void demo_stage_end(struct demo_stage *stage)
{
    for (size_t i = DAEMON; i < stage->child_count; i++) {
        demo_stage_stop(stage, &stage->children[i]);
    }
    demo_stage_stop(stage, &stage->children[BROKER]);
}

/* --- start and end -------------------------------------------------------------------- */

bool demo_stage_prepare(struct demo_stage *stage)
{
    const ssize_t bytes = readlink("/proc/self/exe", stage->program, sizeof stage->program - 1);
    if (bytes <= 0) {
        return complain_errno("/proc/self/exe");
    }
    stage->program[bytes] = '\0';
    stage->port = free_port(stage->port);
    stage->http_port = free_port(stage->http_port);
    if (stage->port == 0 || stage->http_port == 0) {
        return demo_stage_complain("loopback", "no free port");
    }
    return make_dir(stage) && write_token(stage) &&
           demo_stage_write(stage, "mosquitto.conf",
                            "# Made by tandem demo.\nlistener %d 127.0.0.1\nallow_anonymous "
                            "true\n%spersistence_location ./\n%s",
                            stage->port, broker_settings,
                            /* as root, mosquitto would switch to a user who cannot write
                             * here */
                            geteuid() == 0 ? "user root\n" : "");
}

int demo_stage_conclude(struct demo_stage *stage)
{
    if (stage->retain || stage->asked_dir || stage->failed) {
        (void)printf("files are kept in %s; again with: cd %s && tandem replay -c lab.yaml "
                     "journal\n",
                     stage->dir, stage->dir);
    } else if (stage->dir[0]) {
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): the client's threads are gone by now. */
        (void)nftw(stage->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    return stage->failed ? EXIT_FAILED : EXIT_FINE;
}
