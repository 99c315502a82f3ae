/* Everything on one machine: a broker, the daemon, a "real" robot and its simulation, and a
 * driver, as children; this process watches what the daemon publishes. */
#include <arpa/inet.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/cli/arguments.h"
#include "service/cli/child.h"
#include "service/cli/commands.h"
#include "service/cli/lab_clock.h"
#include "service/cli/stop_signal.h"
#include "service/demo/demo_arms.h"
#include "service/demo/demo_show.h"
#include "service/robots/session.h"

enum {
    START_MS = 15000,
    CLOSE_MS = 15000, /* for commands that are out: a reply, or their timeout of 10 s */
    STOP_MS = 10000,
    POLL_US = 20 * 1000,
    TOKEN_BYTES = 16,
    WORDS_MAX = 40,
    WORDS_BYTES = 512
};

enum role { BROKER, DAEMON, REAL, VIRTUAL, DRIVER, ROLE_COUNT };

/* What the two robots are; they differ in everything that Tandem finds out. */
static const struct robot_truth {
    double angular_speed_radps, linear_speed_mps;
    const char *moves; /* how one of kind kinematic moves, in words for `tandem robot` */
    const char *link;  /* its network and clock */
} truths[SIDE_COUNT] = {
    {3.0, 0.9,
     "--angular-speed 3.0 --linear-speed 0.9 --t0 0.05 --ta 0.03 --tr 0.04 --noise 0.008",
     "--delay 0.010 --jitter 0.004 --clock-offset 0.8 --clock-drift 40 --seed 11"},
    {2.4, 1.2,
     "--angular-speed 2.4 --linear-speed 1.2 --t0 0.04 --ta 0.02 --tr 0.03 --noise 0.003",
     "--delay 0.004 --jitter 0.001 --clock-offset -0.3 --clock-drift -15 --seed 12"}};

/* The settings that config/mosquitto.conf recommends, on a port of our own. */
static const char broker_settings[] = "max_queued_messages 100000\n"
                                      "max_inflight_messages 1000\n"
                                      "set_tcp_nodelay true\n"
                                      "persistence true\n"
                                      "autosave_interval 10\n"
                                      "persistent_client_expiration 14d\n";

struct demo {
    double for_s, interval_s;
    const char *asked_dir; /* NULL: a new one */
    bool keep;
    int port, http_port;

    char dir[PATH_MAX];
    char program[PATH_MAX]; /* this one */
    struct child children[ROLE_COUNT];
    struct demo_show show;
    struct demo_arms arms;
    char token[2 * TOKEN_BYTES + 1]; /* of the daemon's HTTP */
    bool failed;
    struct session session;
};

static void drain_queue(struct demo *d)
{
    session_drain(&d->session, demo_show_take, &d->show);
}

/* --- ports, files, programs ----------------------------------------------------------------
 */

/* A socket, and the address of a port here. */
static int open_socket(int port, struct sockaddr_in *address)
{
    *address = (struct sockaddr_in){.sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)port),
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* The port, when it is one, or another that nobody has; 0: none. */
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

/* Is there somebody at the port who, when asked something over HTTP, answers with status 2xx?
 */
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

static bool broker_answers(struct demo *d)
{
    return ask_port(d->port, NULL);
}

static bool daemon_is_ready(struct demo *d)
{
    return ask_port(d->http_port, "GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n");
}

static bool ask_to_follow(struct demo *d)
{
    char request[256];
    (void)snprintf(request, sizeof request,
                   "PUT /api/v1/pairs/r1/following HTTP/1.0\r\nHost: localhost\r\n"
                   "Authorization: Bearer %s\r\nContent-Length: 15\r\n\r\n{\"active\":true}",
                   d->token);
    return ask_port(d->http_port, request);
}

static bool robots_are_online(struct demo *d)
{
    drain_queue(d);
    return d->show.online[SIDE_REAL] && d->show.online[SIDE_VIRTUAL];
}

static bool complain_of(const char *what, const char *why)
{
    (void)fprintf(stderr, "tandem: demo: %s: %s\n", what, why);
    return false;
}

static bool complain_errno(const char *what)
{
    char reason[80];
    return complain_of(what, strerror_r(errno, reason, sizeof reason));
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
    return complain_of("mosquitto",
                       "was not found; ./run installs it, or: apt install mosquitto");
}

/* Readable by nobody else: one holds the token. */
static bool PRINTF_LIKE(3, 4)
    write_file(const struct demo *d, const char *name, const char *format, ...)
{
    char path[2 * PATH_MAX];
    va_list arguments;
    (void)snprintf(path, sizeof path, "%s/%s", d->dir, name);
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

/* A word that nobody guesses, for writing over HTTP. */
static bool write_token(struct demo *d)
{
    unsigned char random[TOKEN_BYTES];
    if (getrandom(random, sizeof random, 0) != sizeof random) {
        return complain_errno("random numbers");
    }
    for (size_t i = 0; i < TOKEN_BYTES; i++) {
        (void)snprintf(d->token + 2 * i, 3, "%02x", random[i]);
    }
    return write_file(d, "token", "%s", d->token);
}

static bool write_files(struct demo *d)
{
    static const char moves[] =
        "    calibration:\n      publish_every: 1\n"
        "    parameters:\n      promote: auto\n      propose_every: 5\n";
    char vessels[256];
    (void)snprintf(vessels, sizeof vessels,
                   "    following:\n"
                   "      model: usv3\n"
                   "      real: iacquabot\n"
                   "      virtual: wamv\n"
                   "      limits: 200, 200, 120\n"
                   "      noise_sd: 0.0005, 0.0005, 0.0003\n"
                   "      pose_per_s2: 4\n"
                   "      window_s: %g\n",
                   d->show.window_s);
    return write_file(d, "mosquitto.conf",
                      "# Made by tandem demo.\nlistener %d 127.0.0.1\nallow_anonymous true\n%s"
                      "persistence_location ./\n%s",
                      d->port, broker_settings,
                      /* else mosquitto changes to a user who cannot write here */
                      geteuid() == 0 ? "user root\n" : "") &&
           write_file(d, "lab.yaml",
                      "# Made by tandem demo. Replay it here with: tandem replay -c lab.yaml "
                      "journal\n"
                      "name: demo\n"
                      "broker:\n  port: %d\n"
                      "http:\n  port: %d\n  token_file: token\n"
                      "journal:\n  dir: journal\n"
                      "store:\n  file: tandem.db\n"
                      "checkpoint:\n  file: tandem.checkpoint\n"
                      "pairs:\n  r1:\n    probe_interval_s: 1\n%s%s",
                      d->port, d->http_port, d->show.arms ? "    arm: ur5\n" : "",
                      d->show.vessels ? vessels : moves) &&
           write_token(d) &&
           (!d->show.vessels || write_file(d, "vessels.yaml", "%s", demo_show_vessels)) &&
           (!d->show.arms || write_file(d, "arms.yaml", "%s", demo_arms_parameters));
}

static bool make_dir(struct demo *d)
{
    (void)snprintf(d->dir, sizeof d->dir, "/tmp/tandem-demo.XXXXXX");
    if (!d->asked_dir) {
        return mkdtemp(d->dir) || complain_errno(d->dir);
    }
    if ((mkdir(d->asked_dir, 0755) != 0 && errno != EEXIST) ||
        !realpath(d->asked_dir, d->dir)) {
        return complain_errno(d->asked_dir);
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

/* The words of its command line, separated by single spaces. */
static bool PRINTF_LIKE(5, 6) start_child(struct demo *d, enum role role, const char *name,
                                          const char *program, const char *format, ...)
{
    char text[WORDS_BYTES];
    const char *argv[WORDS_MAX + 1] = {NULL};
    char *rest = NULL;
    size_t n = 0;
    struct err err = {0};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *word = strtok_r(text, " ", &rest); word && n < WORDS_MAX;
         word = strtok_r(NULL, " ", &rest)) {
        argv[n++] = word;
    }
    return child_start(&d->children[role], name, d->dir, program, argv, &err) == STATUS_OK ||
           complain_of(err.where, err.text);
}

/* Returns false, with a word and its log, as soon as one has ended unasked. */
static bool all_run(struct demo *d)
{
    for (int i = 0; i < ROLE_COUNT; i++) {
        struct child *c = &d->children[i];
        if (c->started && !child_is_running(c)) {
            (void)fprintf(stderr, "tandem: demo: %s ended unexpectedly with status %d:\n",
                          c->name, c->exit_status);
            child_show_log(c, 5);
            return false;
        }
    }
    return true;
}

static bool wait_for(struct demo *d, const char *what, bool (*is_there)(struct demo *d))
{
    const int64_t until_us = lab_clock_monotonic_us() + (int64_t)START_MS * 1000;
    while (!is_there(d)) {
        if (stop_signal_raised() || !all_run(d)) {
            return false;
        }
        if (lab_clock_monotonic_us() >= until_us) {
            return complain_of(what, "does not answer");
        }
        lab_clock_sleep_until_us(lab_clock_monotonic_us() + POLL_US);
    }
    return true;
}

static bool start_robot(struct demo *d, enum side side)
{
    static const char vessel[] = "--kind usv3 --parameters vessels.yaml --telemetry-rate 50";
    static const char arm[] = "--kind arm6 --parameters arms.yaml --telemetry-rate 50";
    const struct robot_truth *t = &truths[side];
    const bool drives = !d->show.vessels && !d->show.arms;
    return start_child(d, side == SIDE_REAL ? REAL : VIRTUAL,
                       side == SIDE_REAL ? "robot-real" : "robot-virtual", d->program,
                       "tandem robot --pair r1 --side %s --port %d %s %s%s", side_name(side),
                       d->port, t->link,
                       d->show.vessels ? vessel
                       : d->show.arms  ? arm
                                       : t->moves,
                       drives ? " --telemetry-rate 20" : "");
}

static bool start_servers(struct demo *d)
{
    char broker[PATH_MAX];
    return find_broker(broker) &&
           start_child(d, BROKER, "broker", broker, "mosquitto -c mosquitto.conf") &&
           wait_for(d, "the broker", broker_answers) &&
           start_child(d, DAEMON, "daemon", d->program, "tandem serve -c lab.yaml") &&
           wait_for(d, "the daemon", daemon_is_ready);
}

static bool watch_broker(struct demo *d)
{
    static const struct mqtt_client_topic topics[] = {
        {"tandem/v1/+/entry", 1},       {"tandem/v1/+/alarm", 1},
        {"tandem/v1/+/calibration", 1}, {"tandem/v1/+/change", 1},
        {"tandem/v1/+/command", 1},     {"tandem/v1/r1/+/connection", 1},
        {"tandem/v1/+/fidelity", 0}};
    const struct mqtt_client_options options = {.port = d->port,
                                                .client_id = "demo",
                                                .prefix = "tandem/v1",
                                                .topics = topics,
                                                .topic_count = COUNT(topics)};
    return session_open(&d->session, options) &&
           (mqtt_client_wait_subscribed(d->session.client, START_MS) ||
            complain_of("the broker", "does not let the demo listen"));
}

static bool start_driver(struct demo *d)
{
    return start_child(d, DRIVER, "driver", d->program,
                       "tandem drive --pair r1 --port %d --interval %.3f --turn-max 2.5",
                       d->port, d->interval_s);
}

/* --- the course of things ------------------------------------------------------------------
 */

static void announce_demo(const struct demo *d)
{
    (void)printf(
        "%s\n"
        "  page     http://127.0.0.1:%d/ (for a browser)\n"
        "  token    %s, which the page asks for before it changes anything\n"
        "  API      http://127.0.0.1:%d/api/v1/pairs/r1/%s\n"
        "  MQTT     127.0.0.1:%d, topics tandem/v1/r1/#\n"
        "  files    %s\n"
        "%s\n",
        d->show.vessels
            ? "Tandem makes a simulated WAM-V move as a real vessel, an IAcquaBot, does."
        : d->show.arms
            ? "Tandem makes a simulated arm take the times that a real one, a UR5, does."
            : "Tandem compares a real and a virtual robot, command by command.",
        d->http_port, d->token, d->http_port, d->show.vessels ? "fidelity" : "entries", d->port,
        d->dir, d->for_s > 0.0 ? "" : "Ctrl-C ends it.\n");
    (void)fflush(stdout);
}

/* False when the daemon does not do as it is asked. */
static bool drive_vessels(struct demo *d)
{
    return !demo_show_drive(&d->show, d->session.client) || ask_to_follow(d) ||
           complain_of("the daemon", "does not follow");
}

static void show_until_end(struct demo *d)
{
    const int64_t end_us =
        d->for_s > 0.0 ? lab_clock_monotonic_us() + lab_us(d->for_s) : LAB_TIME_MAX;
    while (!stop_signal_raised() && lab_clock_monotonic_us() < end_us) {
        drain_queue(d);
        if (!all_run(d) || (d->show.vessels && !drive_vessels(d))) {
            d->failed = true;
            return;
        }
        if (d->show.arms) {
            demo_arms_drive(&d->arms, d->show.entries, d->interval_s, d->session.client);
        }
        lab_clock_sleep_until_us(lab_clock_monotonic_us() + POLL_US);
    }
}

/* The driver is gone; wait until the daemon has closed what it had sent. */
static void wait_closed(struct demo *d)
{
    const int64_t until_us = lab_clock_monotonic_us() + (int64_t)CLOSE_MS * 1000;
    drain_queue(d);
    while (d->show.entries < d->show.commands && lab_clock_monotonic_us() < until_us &&
           child_is_running(&d->children[DAEMON])) {
        lab_clock_sleep_until_us(lab_clock_monotonic_us() + POLL_US);
        drain_queue(d);
    }
    lab_clock_sleep_until_us(lab_clock_monotonic_us() + 5 * (int64_t)POLL_US);
    drain_queue(d); /* the calibration that follows the last entry */
}

static void stop_child(struct demo *d, enum role role)
{
    struct child *c = &d->children[role];
    if (c->started && !child_stop(c, role == DRIVER ? CLOSE_MS : STOP_MS) && !c->died) {
        (void)fprintf(stderr, "tandem: demo: %s ended with status %d:\n", c->name,
                      c->exit_status);
        child_show_log(c, 5);
        d->failed = true;
    }
    d->failed = d->failed || c->died;
}

static void stop_all(struct demo *d)
{
    stop_child(d, DRIVER);
    if (d->session.client && !d->failed) {
        wait_closed(d);
    }
    session_close(&d->session, 1000);
    stop_child(d, DAEMON); /* before the robots, so that it does not report them as gone */
    stop_child(d, REAL);
    stop_child(d, VIRTUAL);
    stop_child(d, BROKER);
}

static int conclude_demo(struct demo *d, bool started)
{
    const bool kept = d->keep || d->asked_dir || d->failed;
    if (started && !demo_show_summary(&d->show) && !d->failed) {
        d->failed = !complain_of(d->show.vessels ? "no gap" : "no entry",
                                 "the daemon has compared nothing");
    }
    if (kept) {
        (void)printf("files are kept in %s; again with: cd %s && tandem replay -c lab.yaml "
                     "journal\n",
                     d->dir, d->dir);
    } else {
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): the client's threads are gone by now. */
        (void)nftw(d->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    return d->failed ? EXIT_FAILED : EXIT_FINE;
}

static bool prepare_demo(struct demo *d)
{
    const ssize_t bytes = readlink("/proc/self/exe", d->program, sizeof d->program - 1);
    if (bytes <= 0) {
        return complain_errno("/proc/self/exe");
    }
    d->program[bytes] = '\0';
    d->port = free_port(d->port);
    d->http_port = free_port(d->http_port);
    if (d->port == 0 || d->http_port == 0) {
        return complain_of("loopback", "no free port");
    }
    d->show.colour = isatty(STDOUT_FILENO) == 1;
    d->show.open_s = d->for_s > 0.0 ? fmin(20.0, d->for_s / 3.0) : 20.0;
    d->show.window_s = d->for_s > 0.0 ? fmin(10.0, fmax(1.0, d->for_s / 4.0)) : 10.0;
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        const double ratio = demo_arms_speed_ratios[side];
        d->show.truth[side][DEMO_ANGULAR] =
            d->show.arms ? ratio : truths[side].angular_speed_radps;
        d->show.truth[side][DEMO_LINEAR] = d->show.arms ? ratio : truths[side].linear_speed_mps;
        for (int i = 0; i < DEMO_SPEED_COUNT; i++) {
            d->show.fits[side][i].value = nan("");
        }
    }
    return make_dir(d);
}

static int run_demo(struct demo *d)
{
    if (!prepare_demo(d)) {
        return EXIT_FAILED;
    }
    stop_signal_install();
    bool started = write_files(d) && start_servers(d) && start_robot(d, SIDE_REAL) &&
                   start_robot(d, SIDE_VIRTUAL) && watch_broker(d) &&
                   wait_for(d, "a robot", robots_are_online);
    if (started) {
        announce_demo(d);
        started = d->show.vessels || d->show.arms || start_driver(d);
    }
    d->failed = !started && !stop_signal_raised();
    if (started) {
        show_until_end(d);
    }
    stop_all(d);
    return conclude_demo(d, started);
}

static const char description[] =
    "  Starts a mosquitto of its own and the daemon on free loopback ports, a \"real\"\n"
    "  robot and a virtual one that differ in speed, delay, jitter and clock, and a\n"
    "  driver; then shows each command with its laps, lag and verdict, and the speeds\n"
    "  found so far with their 95 % intervals. Ctrl-C, or the end of the time, ends\n"
    "  them all and prints a summary against the true speeds.\n"
    "  With --kind usv3 the robots are vessels under way, a \"real\" IAcquaBot and the\n"
    "  simulator of a WAM-V. For 20 s the simulator gets the real one's efforts, then\n"
    "  Tandem makes it follow; shown is how far apart they move, before and after.\n"
    "  With --kind arm6 they are arms of six joints, of which the \"real\" one starts late\n"
    "  and is slower: times are calibrated and handed to the simulator, and the mm by\n"
    "  which the tools are apart on the way shown, before and after.\n";

int command_demo(int argc, char **argv)
{
    const char *kind = "kinematic";
    struct demo d = {.interval_s = 0.1};
    /* clang-format off */
    const struct argument rows[] = {
        {"kind", 0, ARGUMENT_TEXT, &kind, 0, 0, "kinematic|usv3|arm6",
         "robots or arms whose laps are compared, or vessels of which one follows the other (kinematic)"},
        {"for", 0, ARGUMENT_REAL, &d.for_s, 0, 1e9, "S", "end after this time (runs until Ctrl-C)"},
        {"interval", 0, ARGUMENT_REAL, &d.interval_s, 0, 3600, "S", "pause between two commands (0.1)"},
        {"dir", 0, ARGUMENT_TEXT, &d.asked_dir, 0, 0, "DIR", "keep journal, store and logs there (a new one in /tmp)"},
        {"keep", 0, ARGUMENT_FLAG, &d.keep, 0, 0, NULL, "do not remove that new one at the end"},
        {"port", 'p', ARGUMENT_INTEGER, &d.port, 1, 65535, "N", "of the broker (any free one)"},
        {"http-port", 0, ARGUMENT_INTEGER, &d.http_port, 1, 65535, "N", "of the daemon (any free one)"},
    };
    /* clang-format on */
    const struct arguments arguments = {
        .command = "demo",
        .operands = "",
        .description = description,
        .examples = "  tandem demo --for 30\n  tandem demo --kind usv3 --for 60\n  tandem demo "
                    "--kind arm6 --for 40\n  tandem demo --dir /tmp/demo --http-port 8420\n",
        .exit_status = "a part of it failed, or nothing was compared",
        .rows = rows,
        .row_count = COUNT(rows)};
    int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_TAKEN) {
        return exit_status;
    }
    d.show.vessels = strcmp(kind, "usv3") == 0;
    d.show.arms = strcmp(kind, "arm6") == 0;
    return run_demo(&d);
}
