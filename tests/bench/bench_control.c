/* How late efforts go out: `tandem serve` makes a virtual vessel follow a real one a hundred
 * times a second while other robots flood it with telemetry and clients ask over HTTP. The
 * floors are threads that do nothing but sleep until each hundredth of a second, of the same
 * run, one of them with the priority of the daemon's: what they are late, the machine is.
 *
 * bench_control [MESSAGES_PER_S [SECONDS]] */
#include <pthread.h>
#include <stdatomic.h>

#include "service/priority.h"
#include "tests/bench/bench.h"
#include "tests/support/broker.h"
#include "tests/support/daemon.h"

enum { PERIOD_NS = 10 * 1000 * 1000, CLASSES = 9, CLIENTS = 2, TIMERS = 2, PAUSE_MS = 10 };

/* As tandem_control_efforts_total has them. */
static const char *const class_names[CLASSES] = {
    "0.0001", "0.00025", "0.0005", "0.001", "0.002", "0.005", "0.01", "0.1", "inf"};

static const char lab_lines[] = "pairs:\n"
                                "  r1: {}\n  r2: {}\n  r3: {}\n  r4: {}\n"
                                "  boat:\n"
                                "    probe_interval_s: 1\n"
                                "    following: {model: usv3, real: wamv, virtual: wamv, "
                                "active: true}\n";

static atomic_bool stop;
static atomic_uint_fast64_t answers;

struct lateness {
    double count[CLASSES];
};

/* A floor. */
struct timer {
    bool urgent; /* in: to have the priority of the lab thread; out: has it */
    struct lateness late;
};

static const char *tool_path(const char *name)
{
    static char path[512];
    (void)snprintf(path, sizeof path, "%s", TANDEM_PROGRAM);
    char *slash = strrchr(path, '/');
    const size_t used = slash ? (size_t)(slash + 1 - path) : 0;
    (void)snprintf(path + used, sizeof path - used, "tests/bench/%s", name);
    return path;
}

static pid_t start(const char *const argv[])
{
    const pid_t pid = fork();
    if (pid == 0) {
        const int null = open("/dev/null", O_WRONLY);
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)dup2(null, STDOUT_FILENO);
        bench_exec(argv);
    }
    return pid;
}

static void *keep_time(void *context)
{
    struct timer *t = context;
    struct timespec due;
    t->urgent = t->urgent && priority_raise();
    (void)clock_gettime(CLOCK_MONOTONIC, &due);
    while (!atomic_load(&stop)) {
        struct timespec now;
        due.tv_nsec += PERIOD_NS;
        due.tv_sec += due.tv_nsec / 1000000000;
        due.tv_nsec %= 1000000000;
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        const double late_us = (double)(now.tv_sec - due.tv_sec) * 1e6 +
                               (double)(now.tv_nsec - due.tv_nsec) * 1e-3;
        size_t class = 0;
        while (class < CLASSES - 1 && late_us > strtod(class_names[class], NULL) * 1e6) {
            class ++;
        }
        t->late.count[class] += 1.0;
    }
    return NULL;
}

static void *ask(void *context)
{
    static const char *const paths[] = {"/api/v1/pairs", "/api/v1/pairs/boat/following",
                                        "/api/v1/pairs/boat/fidelity", "/metrics",
                                        "/api/v1/pairs/r1/entries"};
    const struct daemon_run *d = context;
    char *body = malloc(1 << 20);
    for (size_t i = 0; body && !atomic_load(&stop); i++) {
        atomic_fetch_add(&answers, daemon_get(d, paths[i % 5], body, 1 << 20) == 200);
        daemon_sleep_ms(PAUSE_MS);
    }
    free(body);
    return NULL;
}

static void read_efforts(const struct daemon_run *d, struct lateness *l)
{
    for (size_t i = 0; i < CLASSES; i++) {
        char sample[96];
        (void)snprintf(sample, sizeof sample, "tandem_control_efforts_total{late=\"%s\"}",
                       class_names[i]);
        l->count[i] = daemon_metric(d, sample);
    }
}

static void wait_tracking(const struct daemon_run *d)
{
    for (int i = 0; i < 500; i++) {
        if (daemon_metric(d, "tandem_following_state{pair=\"boat\",state=\"TRACKING\"}") >
            0.5) {
            daemon_sleep_ms(1000);
            return;
        }
        daemon_sleep_ms(20);
    }
    bench_fail("the virtual vessel does not follow");
}

static double total(const struct lateness *l)
{
    double n = 0.0;
    for (size_t i = 0; i < CLASSES; i++) {
        n += l->count[i];
    }
    return n;
}

/* The class that holds the quantile: "0.001" says at most a millisecond. */
static const char *quantile(const struct lateness *l, double share)
{
    const double n = total(l);
    double below = 0.0;
    size_t i = 0;
    while (i < CLASSES - 1 && (below += l->count[i]) < share * n) {
        i++;
    }
    return class_names[i];
}

static void print_lateness(const char *key, const struct lateness *l)
{
    double beyond = 0.0;
    for (size_t i = 4; i < CLASSES; i++) {
        beyond += l->count[i];
    }
    (void)printf(",\"%s\":{\"n\":%.0f,\"p50_s\":\"%s\",\"p99_s\":\"%s\",\"p999_s\":\"%s\","
                 "\"beyond_ms\":%.0f}",
                 key, total(l), quantile(l, 0.5), quantile(l, 0.99), quantile(l, 0.999),
                 beyond);
}

static void load_it(const struct daemon_run *d, int port, const char *rate, const char *seconds,
                    struct timer timers[TIMERS])
{
    char port_text[16];
    pthread_t clocks[TIMERS];
    pthread_t clients[CLIENTS];
    int status = 0;
    (void)snprintf(port_text, sizeof port_text, "%d", port);
    const char *const flood[] = {tool_path("mqtt_flood"), port_text, rate, seconds, "4", NULL};
    const pid_t pid = start(flood);
    bool well = pid > 0;
    for (size_t i = 0; i < TIMERS; i++) {
        well = well && pthread_create(&clocks[i], NULL, keep_time, &timers[i]) == 0;
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        struct daemon_run *of = (struct daemon_run *)(uintptr_t)d;
        well = well && pthread_create(&clients[i], NULL, ask, of) == 0;
    }
    if (!well || waitpid(pid, &status, 0) != pid || status != 0) {
        bench_fail("the load did not run");
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < TIMERS; i++) {
        (void)pthread_join(clocks[i], NULL);
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        (void)pthread_join(clients[i], NULL);
    }
}

int main(int argc, char **argv)
{
    const char *rate = argc > 1 ? argv[1] : "20000";
    const char *seconds = argc > 2 ? argv[2] : "60";
    struct broker broker;
    struct daemon_run d;
    struct lateness before;
    struct lateness efforts;
    struct timer timers[TIMERS] = {{.urgent = true}};
    char port_text[16];
    if (broker_skip() || !broker_init(&broker) || !broker_start(&broker)) {
        bench_fail("the broker did not start");
    }
    if (!daemon_init(&d, broker.port, lab_lines) || !daemon_start_run(&d) ||
        !daemon_wait_ready(&d, 200, 10000)) {
        bench_fail("the daemon did not start");
    }
    (void)snprintf(port_text, sizeof port_text, "%d", broker.port);
    const char *const robots[] = {
        TANDEM_PROGRAM,     "robot", "--kind", "usv3",    "--pair", "boat", "--side", "both",
        "--telemetry-rate", "50",    "--port", port_text, NULL};
    const pid_t robot = start(robots);
    wait_tracking(&d);
    read_efforts(&d, &before);
    const double overruns = daemon_metric(&d, "tandem_control_overruns_total");
    const double from_s = bench_now_s();
    load_it(&d, broker.port, rate, seconds, timers);
    const double took_s = bench_now_s() - from_s;
    read_efforts(&d, &efforts);
    for (size_t i = 0; i < CLASSES; i++) {
        efforts.count[i] -= before.count[i];
    }
    (void)printf("{\"bench\":\"control\",\"messages_per_s\":%s,\"http_per_s\":%.0f,"
                 "\"seconds\":%.1f,\"overruns\":%.0f",
                 rate, (double)atomic_load(&answers) / took_s, took_s,
                 daemon_metric(&d, "tandem_control_overruns_total") - overruns);
    print_lateness("efforts", &efforts);
    print_lateness(timers[0].urgent ? "floor_real_time" : "floor_not_allowed", &timers[0].late);
    print_lateness("floor_plain", &timers[1].late);
    (void)puts("}");
    (void)kill(robot, SIGTERM);
    (void)waitpid(robot, NULL, 0);
    (void)daemon_end(&d, SIGTERM);
    daemon_finish(&d);
    broker_finish(&broker, NULL);
    return EXIT_SUCCESS;
}
