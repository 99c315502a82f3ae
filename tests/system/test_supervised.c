/* needs: virtual time */
/* The daemon under a supervisor: its messages on NOTIFY_SOCKET, and their times; threads. */
#include "tests/support/check.h"
#include "tests/support/fault_code.h"

#include <dirent.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/un.h>

#include "service/tool/lab_clock.h"
#include "tests/support/broker_tests.h"
#include "tests/support/daemon.h"

enum { RECEIVED_MAX = 256, WATCHDOG_MS = 1000 };

static struct broker broker;
static struct daemon_run served;

/* ---- the supervisor's end ---- */

static struct {
    int fd;
    char path[64];
    size_t count;
    struct {
        int64_t t_us;
        char text[512];
    } message[RECEIVED_MAX];
} received;

static bool listen_to_daemon(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    received.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    (void)snprintf(received.path, sizeof received.path, "/tmp/tandem-notify.%ld",
                   (long)getpid());
    memcpy(a.sun_path, received.path, sizeof received.path);
    (void)unlink(received.path);
    return bind(received.fd, (const struct sockaddr *)&a, sizeof a) == 0;
}

/* Receives the messages so far. */
static void listen_now(void)
{
    while (received.count < RECEIVED_MAX) {
        char *text = received.message[received.count].text;
        const ssize_t n = recv(received.fd, text, sizeof received.message[0].text - 1, 0);
        if (n < 0) {
            return;
        }
        text[n] = '\0';
        received.message[received.count++].t_us = lab_clock_monotonic_us();
    }
}

/* The place of the first message from `from` on that begins with this; -1: not sent yet. */
static long find_received(size_t from, const char *start)
{
    listen_now();
    for (size_t i = from; i < received.count; i++) {
        if (strncmp(received.message[i].text, start, strlen(start)) == 0) {
            return (long)i;
        }
    }
    return -1;
}

static long wait_received(size_t from, const char *start, int timeout_ms)
{
    for (int64_t end_us = 0;
         find_received(from, start) < 0 && wait_more(&end_us, timeout_ms);) {
    }
    (void)daemon_waited(&served, find_received(from, start) >= 0, start);
    return find_received(from, start);
}

static int count_received(size_t from, const char *start)
{
    int count = 0;
    for (long at = find_received(from, start); at >= 0;
         at = find_received((size_t)at + 1, start)) {
        count++;
    }
    return count;
}

static void forget_messages(void)
{
    listen_now();
    received.count = 0;
}

static int count_alive_within(int ms)
{
    forget_messages();
    pass_time_ms(ms);
    return count_received(0, "WATCHDOG=1");
}

static bool wait_alive(int count)
{
    forget_messages();
    for (int64_t end_us = 0;
         count_received(0, "WATCHDOG=1") < count && wait_more(&end_us, 10 * WATCHDOG_MS);) {
    }
    return count_received(0, "WATCHDOG=1") >= count;
}

/* ---- tests ---- */

static void start_daemon(const char *more)
{
    forget_messages();
    CU_ASSERT_FATAL(daemon_init(&served, broker.port, more));
    char allowed_us[24];
    (void)snprintf(allowed_us, sizeof allowed_us, "%d", WATCHDOG_MS * 1000);
    /* For the daemon alone: mosquitto speaks to a supervisor too. */
    (void)setenv("NOTIFY_SOCKET", received.path, 1);
    (void)setenv("WATCHDOG_USEC", allowed_us, 1);
    CU_ASSERT_FATAL(daemon_start_run(&served));
    (void)unsetenv("NOTIFY_SOCKET");
    (void)unsetenv("WATCHDOG_USEC");
}

static void test_without_broker(void)
{
    char body[8192];
    broker_stop(&broker, SIGTERM);
    start_daemon("pairs: {r1: {}}\n");
    CHECK("ready all the same", wait_received(0, "READY=1", 9000) >= 0);
    CHECK_INT("HTTP answers", daemon_get(&served, "/healthz", body, sizeof body), 200);
    CHECK("the broker was tried",
          daemon_metric(&served, "tandem_broker_failed_connections_total") > 0.0);
    CHECK("names what is missing", wait_received(0, "STATUS=broker: connecting to", 5000) >= 0);
    CHECK("alive", wait_received(0, "WATCHDOG=1", 5000) >= 0);
    forget_messages();
    CHECK("broker", broker_start(&broker));
    CHECK("all is well", wait_received(0, "STATUS=1 pairs, all parts work", 10000) >= 0);
    CHECK_INT("ready once", count_received(0, "READY=1"), 0);
    CHECK_INT("stopped", daemon_end(&served, SIGTERM), 0);
    daemon_finish(&served);
}

static void test_life(void)
{
    start_daemon("pairs: {r1: {}, r2: {}}\n");
    const long ready = wait_received(0, "READY=1", 10000);
    CHECK("ready", ready >= 0);
    CHECK("not stopping", find_received(0, "STOPPING=1") < 0);
    CHECK("status", wait_received(0, "STATUS=2 pairs, all parts work", 10000) >= 0);
    const int pings = count_alive_within(3 * WATCHDOG_MS);
    CHECK("twice in the time allowed", (pings >= 4 && pings <= 7) || !wait_is_virtual());
    for (size_t i = 1; i < received.count && wait_is_virtual(); i++) {
        CHECK("never too late", received.message[i].t_us - received.message[i - 1].t_us <
                                    WATCHDOG_MS * INT64_C(1000));
    }
    forget_messages();
    CHECK_INT("stopped", daemon_end(&served, SIGINT), 0);
    const long stopping = find_received(0, "STOPPING=1\nSTATUS=stopping");
    CHECK("reports it", stopping >= 0);
    CHECK("and no other status after it", find_received((size_t)stopping + 1, "STATUS=") < 0);
    daemon_finish(&served);
}

/* The daemon's thread of this name; 0 when there is none. */
static pid_t find_thread(const char *name)
{
    char path[64];
    pid_t found = 0;
    (void)snprintf(path, sizeof path, "/proc/%ld/task", (long)served.pid);
    DIR *dir = opendir(path);
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        char file[384];
        char comm[32] = "";
        (void)snprintf(file, sizeof file, "%s/%s/comm", path, entry->d_name);
        FILE *in = fopen(file, "re");
        if (in && fgets(comm, sizeof comm, in) && strncmp(comm, name, strlen(name)) == 0) {
            found = (pid_t)strtol(entry->d_name, NULL, 10);
        }
        if (in) {
            (void)fclose(in);
        }
    }
    if (dir) {
        (void)closedir(dir);
    }
    return found;
}

/* A thread names itself, which may be later than the daemon's message. */
static pid_t wait_thread(const char *name, int timeout_ms)
{
    pid_t found = find_thread(name);
    for (int64_t end_us = 0; found == 0 && wait_more(&end_us, timeout_ms);) {
        found = find_thread(name);
    }
    (void)daemon_waited(&served, found != 0, name);
    return found;
}

/* One thread hangs, the others go on: the supervisor must notice. */
static void test_hung_thread(void)
{
    static const char *const names[] = {"tandem-lab", "tandem-maintain"};
    char body[8192];
    start_daemon("pairs: {r1: {}}\n");
    CHECK("ready", wait_received(0, "READY=1", 10000) >= 0);
    for (size_t i = 0; i < COUNT(names); i++) {
        const pid_t thread = wait_thread(names[i], 10000);
        CU_ASSERT_FATAL(thread > 0);
        CHECK("alive", wait_alive(2));
        if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) != 0) {
            (void)printf("SKIPPED: threads cannot be held up here\n");
            break;
        }
        CHECK_INT("held up", ptrace(PTRACE_INTERRUPT, thread, NULL, NULL), 0);
        CHECK_INT("stands", waitpid(thread, NULL, __WALL), thread);
        /* The previous beat may still come once. */
        CHECK("no more signs of life", count_alive_within(2 * WATCHDOG_MS) <= 1);
        CHECK_INT("though others work", daemon_get(&served, "/healthz", body, sizeof body),
                  200);
        CHECK_INT("none at all", count_alive_within(WATCHDOG_MS), 0);
        CHECK_INT("let go", ptrace(PTRACE_DETACH, thread, NULL, NULL), 0);
    }
    CHECK("alive again", wait_alive(2));
    CHECK_INT("stopped", daemon_end(&served, SIGTERM), 0);
    daemon_finish(&served);
}

/* Writes the lab file again, and makes the daemon read it. */
static void reload_config(const char *log_level, const char *more)
{
    FILE *out = fopen(daemon_path(&served, "lab.yaml"), "we");
    CU_ASSERT_FATAL(out != NULL);
    (void)fprintf(out,
                  "name: test\nbroker: {port: %d}\nhttp: {port: 0}\nlog: {level: %s}\n"
                  "journal: {dir: %s/journal}\nstore: {file: %s/store.db, commit_ms: 300}\n"
                  "checkpoint: {file: %s/checkpoint, interval_s: 0.1}\n%s",
                  broker.port, log_level, served.dir, served.dir, served.dir, more);
    (void)fclose(out);
    forget_messages();
    CHECK_INT("hangup", kill(served.pid, SIGHUP), 0);
    const long reloading = wait_received(0, "RELOADING=1\nMONOTONIC_USEC=", 5000);
    CHECK("reloading", reloading >= 0);
    CHECK("and ready again", wait_received((size_t)(reloading + 1), "READY=1", 5000) >= 0);
}

static void test_reload(void)
{
    static const struct {
        const char *row, *level, *more, *says, *fault;
    } rows[] = {
        {"nothing new", "info", "pairs: {r1: {}}\n", "is what the daemon runs with", NULL},
        {"level", "debug", "pairs: {r1: {}}\n", "info reloaded: log.level is debug now", NULL},
        {"and back", "info", "pairs: {r1: {}}\n", "log.level is info now", NULL},
        {"key", "info", "pairs: {r1: {timeout_s: 3}}\n",
         "warn reload: restart needed for pairs.r1.timeout_s", NULL},
        {"default", "info", "defaults: {sync_tolerance_s: 0.2}\npairs: {r1: {}}\n",
         "restart needed for pairs.r1.sync_tolerance_s", NULL},
        {"pair more", "info", "pairs: {r1: {}, r2: {}}\n", "restart needed for pairs.r2, pairs",
         NULL},
        {"pair less, other one", "info", "pairs: {r3: {}}\n", "restart needed for pairs.r3",
         NULL},
        {"level although restart", "warn", "pairs: {r1: {timeout_s: 9}}\n",
         "warn reload: restart needed for pairs.r1.timeout_s", NULL},
        {"first fault", "error", "pairs: {r1: {colour: red}, r2: {timeout_s: no}}\n",
         "'pairs.r1.colour'", "unknown_key"},
        {"second fault", "error", "pairs: {r1: {colour: blue}, r2: {timeout_s: never}}\n",
         "'never'", NULL},
        {"stays", "error", "pears: {}\n", "the lab goes on as it was", NULL},
        {"fault took no level", "error", "pairs: {r1: {timeout_s: 4}}\nlog: {level: warn}\n",
         "error reload_refused: ", NULL},
    };
    start_daemon("pairs: {r1: {}}\n");
    CHECK("ready", wait_received(0, "READY=1", 10000) >= 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        reload_config(rows[i].level, rows[i].more);
        CHECK(rows[i].row, daemon_wait_log(&served, rows[i].says, 5000));
        CHECK(rows[i].row,
              !rows[i].fault || has_fault_code(rows[i].fault, daemon_log(&served)));
    }
    CHECK("the level of the refused file was not applied",
          strstr(daemon_log(&served), "log.level is error") == NULL);
    CHECK_INT("stopped", daemon_end(&served, SIGTERM), 0);
    daemon_finish(&served);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        {"without broker", test_without_broker},
        {"life", test_life},
        {"hung thread", test_hung_thread},
        {"reload", test_reload},
        CU_TEST_INFO_NULL,
    };
    if (!listen_to_daemon()) {
        return EXIT_FAILURE;
    }
    const int code = broker_run_tests(&broker, "supervised", tests);
    (void)unlink(received.path);
    return code;
}
