/* Measures the cost of a message in `tandem serve` against two peers with the same broker and
 * load, one after another: a bare Paho subscriber that only counts, and a Node program that
 * pairs moves and stores them (tests/bench/peers/pairs.js), if its packages are installed.
 * Before that, it measures the time from a reply to its entry over MQTT, in a row and after
 * seconds of silence.
 *
 * bench_ingest [MESSAGES_PER_S [SECONDS [ROUNDS [PAIRS [MOVES]]]]]; MOVES: per cent of the
 * messages that are commands and replies, which make entries and calibrations.
 */
#include "tests/bench/entry.h"
#include "tests/bench/tools.h"
#include "tests/support/broker.h"
#include "tests/support/daemon.h"

enum { IN_A_ROW = 500, AFTER_IDLE = 12, IDLE_MS = 2500, ROUNDS_MAX = 9, PAIRS_MAX = 10000 };

static char lab_lines[PAIRS_MAX * 16];

struct load {
    char rate[16], seconds[16], pairs[16], moves[16];
    double sent, took_s;
};

struct side {
    double cpu_us[ROUNDS_MAX]; /* a message */
    double lost;               /* messages, all rounds */
};

static FILE *start_tool(const char *const argv[], pid_t *pid)
{
    int ends[2];
    if (pipe(ends) != 0) {
        bench_fail("pipe");
    }
    *pid = fork();
    if (*pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        bench_exec(argv);
    }
    (void)close(ends[1]);
    return fdopen(ends[0], "r");
}

static void run_flood(int port, struct load *load)
{
    char port_text[16];
    pid_t pid = 0;
    (void)snprintf(port_text, sizeof port_text, "%d", port);
    const char *const argv[] = {tool_path("mqtt_flood"),
                                port_text,
                                load->rate,
                                load->seconds,
                                load->pairs,
                                load->moves,
                                NULL};
    FILE *out = start_tool(argv, &pid);
    if (!out || fscanf(out, "%lf %lf", &load->sent, &load->took_s) != 2) {
        bench_fail("the flood did not end well");
    }
    (void)fclose(out);
    (void)waitpid(pid, NULL, 0);
}

/* Waits until the daemon uses no CPU time: it has processed its queue. */
static void wait_quiet(pid_t pid)
{
    double before = -1.0;
    for (int i = 0; i < 100; i++) {
        const double now = tool_cpu_s(pid);
        if (now - before < 0.015) {
            return;
        }
        before = now;
        pass_time_ms(500);
    }
}

/* A subscriber that reports when it is ready, and at its end how many messages it has
 * counted. */
static void run_subscriber(const struct broker *broker, const char *const argv[],
                           struct load *load, struct side *side, int round)
{
    char line[64];
    pid_t pid = 0;
    double count = 0.0;
    FILE *out = start_tool(argv, &pid);
    if (!out || !fgets(line, sizeof line, out)) {
        bench_fail("a subscriber did not start");
    }
    const double before_s = tool_cpu_s(pid);
    run_flood(broker->port, load);
    wait_quiet(pid);
    side->cpu_us[round] = (tool_cpu_s(pid) - before_s) * 1e6 / load->sent;
    (void)kill(pid, SIGTERM);
    if (fscanf(out, "%lf", &count) != 1) {
        bench_fail("a subscriber did not end well");
    }
    side->lost += load->sent - count;
    (void)fclose(out);
    (void)waitpid(pid, NULL, 0);
}

static void run_counter(const struct broker *broker, struct load *load, struct side *side,
                        int round)
{
    char port_text[16];
    (void)snprintf(port_text, sizeof port_text, "%d", broker->port);
    const char *const argv[] = {tool_path("paho_counter"), port_text, "tandem/v1/#", NULL};
    run_subscriber(broker, argv, load, side, round);
}

/* Node finds its packages where tests/bench/run.sh has put them, if npm had them. */
static bool find_packages(void)
{
    char built[600];
    const char *packages = tool_path("../../npm/node_modules");
    (void)snprintf(built, sizeof built, "%s/better-sqlite3/build/Release", packages);
    return access(built, R_OK) == 0 && setenv("NODE_PATH", packages, 1) == 0;
}

static void run_node(const struct broker *broker, struct load *load, struct side *side,
                     int round)
{
    char port_text[16];
    char file[96];
    (void)snprintf(port_text, sizeof port_text, "%d", broker->port);
    (void)snprintf(file, sizeof file, "%s/pairs.sqlite", broker->dir);
    const char *const argv[] = {"node",    TANDEM_SOURCE_DIR "/tests/bench/peers/pairs.js",
                                port_text, "tandem/v1/#",
                                file,      NULL};
    run_subscriber(broker, argv, load, side, round);
    (void)unlink(file);
}

static void run_daemon(const struct broker *broker, struct load *load, struct side *side,
                       int round)
{
    struct daemon_run d;
    if (!daemon_init(&d, broker->port, lab_lines) || !daemon_start_run(&d) ||
        !daemon_wait_ready(&d, 200, 10000)) {
        bench_fail("the daemon did not start");
    }
    const double notes = daemon_metric(&d, "tandem_inbox_messages_total{kind=\"event\"}");
    const double before_s = tool_cpu_s(d.pid);
    run_flood(broker->port, load);
    wait_quiet(d.pid);
    side->cpu_us[round] = (tool_cpu_s(d.pid) - before_s) * 1e6 / load->sent;
    side->lost += load->sent -
                  daemon_metric(&d, "tandem_inbox_messages_total{kind=\"sample\"}") -
                  (daemon_metric(&d, "tandem_inbox_messages_total{kind=\"event\"}") - notes) +
                  daemon_metric(&d, "tandem_inbox_samples_dropped_total");
    (void)daemon_end(&d, SIGTERM);
    daemon_finish(&d);
}

static double one_entry_ms(int fd, unsigned number)
{
    const double ms = entry_ms(fd, "r1", number);
    if (ms < 0.0) {
        bench_fail("no entry came");
    }
    return ms;
}

static void bench_latency(const struct broker *broker)
{
    static double row_ms[IN_A_ROW];
    double idle_ms[AFTER_IDLE];
    struct daemon_run d;
    unsigned number = 0;
    if (!daemon_init(&d, broker->port, lab_lines) || !daemon_start_run(&d) ||
        !daemon_wait_ready(&d, 200, 10000)) {
        bench_fail("the daemon did not start");
    }
    const int fd = raw_mqtt_connect(broker->port, "latency");
    raw_mqtt_subscribe(fd, "tandem/v1/r1/entry");
    for (int i = 0; i < IN_A_ROW; i++) {
        row_ms[i] = one_entry_ms(fd, number++);
    }
    for (int i = 0; i < AFTER_IDLE; i++) {
        pass_time_ms(IDLE_MS);
        idle_ms[i] = one_entry_ms(fd, number++);
    }
    (void)close(fd);
    const double p50 = bench_median(row_ms, IN_A_ROW);
    const double idle_p50 = bench_median(idle_ms, AFTER_IDLE);
    (void)printf("{\"bench\":\"entry_latency\",\"p50_ms\":%.2f,\"p99_ms\":%.2f,\"max_ms\":%.2f,"
                 "\"n\":%d,\"idle_s\":%.1f,\"idle_p50_ms\":%.2f,\"idle_max_ms\":%.2f,"
                 "\"idle_n\":%d}\n",
                 p50, row_ms[IN_A_ROW * 99 / 100], row_ms[IN_A_ROW - 1], IN_A_ROW,
                 IDLE_MS * 1e-3, idle_p50, idle_ms[AFTER_IDLE - 1], AFTER_IDLE);
    (void)fflush(stdout);
    (void)daemon_end(&d, SIGTERM);
    daemon_finish(&d);
}

static void write_lab_lines(long pairs)
{
    size_t used = (size_t)snprintf(lab_lines, sizeof lab_lines, "pairs:\n");
    for (long i = 1; i <= pairs; i++) {
        used += (size_t)snprintf(lab_lines + used, sizeof lab_lines - used, "  r%ld: {}\n", i);
    }
}

static void bench_load(const struct broker *broker, struct load *load, int rounds)
{
    struct side counter = {0};
    struct side daemon = {0};
    struct side node = {0};
    double ratio[ROUNDS_MAX];
    double ratio_to_node[ROUNDS_MAX];
    const bool packages = find_packages();
    for (int i = 0; i < rounds; i++) {
        run_counter(broker, load, &counter, i);
        run_daemon(broker, load, &daemon, i);
        ratio[i] = daemon.cpu_us[i] / counter.cpu_us[i];
        if (packages) {
            run_node(broker, load, &node, i);
            ratio_to_node[i] = daemon.cpu_us[i] / node.cpu_us[i];
        }
    }
    const size_t n = (size_t)rounds;
    (void)printf("{\"bench\":\"ingest\",\"pairs\":%s,\"moves_percent\":%s,\"messages_per_s\":%."
                 "0f,\"seconds\":%.1f,"
                 "\"rounds\":%d,"
                 "\"cpu_us\":%.2f,\"floor\":\"Paho subscriber that counts\",\"floor_us\":%.2f,"
                 "\"ratio\":%.2f,\"lost\":%.0f,\"floor_lost\":%.0f",
                 load->pairs, load->moves, load->sent / load->took_s, load->took_s, rounds,
                 bench_median(daemon.cpu_us, n), bench_median(counter.cpu_us, n),
                 bench_median(ratio, n), daemon.lost, counter.lost);
    if (packages) {
        (void)printf(",\"node_us\":%.2f,\"node_lost\":%.0f,\"ratio_to_node\":%.2f",
                     bench_median(node.cpu_us, n), node.lost, bench_median(ratio_to_node, n));
    }
    (void)puts("}");
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    struct broker broker;
    struct load load = {"50000", "20", "4", "0", 0.0, 0.0};
    const long rounds = argc > 3 ? strtol(argv[3], NULL, 10) : 1;
    if (argc > 1) {
        (void)snprintf(load.rate, sizeof load.rate, "%s", argv[1]);
    }
    if (argc > 2) {
        (void)snprintf(load.seconds, sizeof load.seconds, "%s", argv[2]);
    }
    if (argc > 5) {
        (void)snprintf(load.moves, sizeof load.moves, "%s", argv[5]);
    }
    if (argc > 4) {
        (void)snprintf(load.pairs, sizeof load.pairs, "%s", argv[4]);
    }
    const long pairs = strtol(load.pairs, NULL, 10);
    if (pairs < 1 || pairs > PAIRS_MAX) {
        bench_fail("1 to 10000 pairs");
    }
    write_lab_lines(pairs);
    if (broker_skip() || rounds < 1 || rounds > ROUNDS_MAX) {
        bench_fail("no mosquitto, or a number that makes no sense");
    }
    if (!broker_init(&broker) || !broker_start(&broker)) {
        bench_fail("the broker did not start");
    }
    bench_latency(&broker);
    bench_load(&broker, &load, (int)rounds);
    broker_finish(&broker, NULL);
    return EXIT_SUCCESS;
}
