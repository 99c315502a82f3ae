/* Measures a daemon of many pairs, and the delays that it causes: memory idle and under load,
 * entries of a pair during a load of telemetry and moves, the longest round of the lab and the
 * longest stretch of snapshot or checkpoint work, as the daemon counts them.
 *
 * bench_big_lab [PAIRS [MESSAGES_PER_S [SECONDS [MOVES]]]]; MOVES: per cent of the messages
 */
#include <sys/wait.h>

#include "tests/bench/entry.h"
#include "tests/bench/tools.h"
#include "tests/support/broker.h"
#include "tests/support/daemon.h"

enum { SAMPLES_MAX = 4096, ASK_MS = 20, SETTLE_MS = 3000 };

struct load {
    char port[16], rate[16], seconds[16], pairs[16], moves[16];
};

static pid_t start_flood(const struct load *load)
{
    const char *const argv[] = {tool_path("mqtt_flood"),
                                load->port,
                                load->rate,
                                load->seconds,
                                load->pairs,
                                load->moves,
                                NULL};
    const pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!freopen("/dev/null", "w", stdout)) {
            bench_fail("/dev/null");
        }
        bench_exec(argv);
    }
    return pid;
}

/* KiB, of a row of /proc/PID/status. */
static double read_status_kib(pid_t pid, const char *row)
{
    char path[64];
    char line[256];
    double kib = -1.0;
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *in = fopen(path, "re");
    while (in && fgets(line, sizeof line, in)) {
        if (strncmp(line, row, strlen(row)) == 0) {
            kib = strtod(line + strlen(row), NULL);
        }
    }
    if (in) {
        (void)fclose(in);
    }
    return kib;
}

/* Until the flood has ended; returns how many entries were waited for. */
static size_t time_entries(int port, pid_t flood, const char *pair, double ms[SAMPLES_MAX])
{
    char topic[64];
    size_t n = 0;
    const int fd = raw_mqtt_connect(port, "latency");
    (void)snprintf(topic, sizeof topic, "tandem/v1/%s/entry", pair);
    raw_mqtt_subscribe(fd, topic);
    while (n < SAMPLES_MAX && waitpid(flood, NULL, WNOHANG) == 0) {
        ms[n] = entry_ms(fd, pair, (int64_t)n);
        n += ms[n] >= 0.0;
        pass_time_ms(ASK_MS);
    }
    (void)close(fd);
    return n;
}

static char *write_lab(long pairs)
{
    const size_t size = 64 + 16 * (size_t)pairs;
    char *text = malloc(size);
    size_t used = text ? (size_t)snprintf(text, size, "pairs:\n") : 0;
    for (long i = 1; text && i <= pairs + 1; i++) {
        used += (size_t)snprintf(text + used, size - used, "  r%ld: {}\n", i);
    }
    return text;
}

/* Checkpoints are those of a real lab, not the frequent ones of tests. */
static void set_interval(const struct daemon_run *d)
{
    static const char often[] = "interval_s: 0.1";
    char head[1024] = "";
    FILE *file = fopen(daemon_path(d, "lab.yaml"), "r+e");
    if (!file || fread(head, 1, sizeof head - 1, file) == 0 || !strstr(head, often) ||
        fseek(file, (long)(strstr(head, often) - head), SEEK_SET) != 0 ||
        fputs("interval_s: 5  ", file) < 0 || fclose(file) != 0) {
        bench_fail("the lab file");
    }
}

static void bench_lab(const struct broker *broker, long pairs, struct load *load)
{
    static double ms[SAMPLES_MAX];
    struct daemon_run d;
    char pair[16];
    char *lab = write_lab(pairs);
    if (!lab || !daemon_init(&d, broker->port, lab)) {
        bench_fail("the lab file");
    }
    set_interval(&d);
    if (!daemon_start_run(&d) || !daemon_wait_ready(&d, 200, 60000)) {
        bench_fail("the daemon did not start");
    }
    free(lab);
    pass_time_ms(SETTLE_MS);
    const double idle_kib = read_status_kib(d.pid, "VmRSS:");
    (void)snprintf(load->port, sizeof load->port, "%d", broker->port);
    (void)snprintf(pair, sizeof pair, "r%ld", pairs + 1);
    const size_t n = time_entries(broker->port, start_flood(load), pair, ms);
    const double p50 = n > 0 ? bench_median(ms, n) : -1.0; /* sorts them */
    pass_time_ms(SETTLE_MS);
    (void)printf(
        "{\"bench\":\"big_lab\",\"pairs\":%ld,\"messages_per_s\":%s,\"moves_percent\":%s,"
        "\"idle_kib_per_pair\":%.1f,\"loaded_kib_per_pair\":%.1f,\"peak_kib_per_pair\":%.1f,"
        "\"entry_p50_ms\":%.2f,\"entry_p99_ms\":%.2f,\"n\":%zu,"
        "\"chores_max_ms\":%.2f,\"chores_cpu_max_ms\":%.2f,\"round_max_ms\":%.2f,\"thinned\":%."
        "0f,\"lost\":%.0f,"
        "\"calibrations\":%.0f,\"calibrations_cpu_s\":%.2f,\"calibrations_waiting\":%.0f,"
        "\"checkpoints\":%.0f,\"checkpoint_mb\":%.1f,\"cpu_s\":%.2f}\n",
        pairs, load->rate, load->moves, idle_kib / (double)pairs,
        read_status_kib(d.pid, "VmRSS:") / (double)pairs,
        read_status_kib(d.pid, "VmHWM:") / (double)pairs, p50, n > 0 ? ms[n * 99 / 100] : -1.0,
        n, daemon_metric(&d, "tandem_lab_chores_seconds_max") * 1e3,
        daemon_metric(&d, "tandem_lab_chores_cpu_seconds_max") * 1e3,
        daemon_metric(&d, "tandem_lab_round_seconds_max") * 1e3,
        daemon_metric(&d, "tandem_inbox_samples_thinned_total"),
        daemon_metric(&d, "tandem_inbox_lost_total"),
        daemon_metric(&d, "tandem_calibrations_total"),
        daemon_metric(&d, "tandem_calibrations_seconds_total"),
        daemon_metric(&d, "tandem_calibrations_waiting"),
        daemon_metric(&d, "tandem_checkpoints_total"),
        daemon_metric(&d, "tandem_checkpoint_bytes") * 1e-6,
        daemon_metric(&d, "tandem_process_cpu_seconds_total"));
    (void)fflush(stdout);
    (void)daemon_end(&d, SIGTERM);
    daemon_finish(&d);
}

int main(int argc, char **argv)
{
    struct broker broker;
    struct load load = {"", "20000", "20", "", "15"};
    const long pairs = argc > 1 ? strtol(argv[1], NULL, 10) : 9999;
    char *const given[] = {NULL, NULL, load.rate, load.seconds, load.moves};
    for (int i = 2; i < argc && i < 5; i++) {
        (void)snprintf(given[i], sizeof load.rate, "%s", argv[i]);
    }
    (void)snprintf(load.pairs, sizeof load.pairs, "%ld", pairs);
    if (pairs < 1 || broker_skip() || !broker_init(&broker) || !broker_start(&broker)) {
        bench_fail("no mosquitto, or a number that makes no sense");
    }
    bench_lab(&broker, pairs, &load);
    broker_finish(&broker, NULL);
    return EXIT_SUCCESS;
}
