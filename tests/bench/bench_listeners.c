/* Measures the effect of 2000 listeners of ten events a second on the daemon: cost of a
 * message, delay from a reply to its entry, losses and lateness of efforts, without listeners
 * and with them, in turns. The same telemetry flows all the time, a virtual vessel follows a
 * real one, and one command is answered every tenth of a second: its entry is the event. The
 * listeners are a process of their own. The floor of the efforts is a thread that only sleeps,
 * with the daemon's priority.
 *
 * bench_listeners [MESSAGES_PER_S [SECONDS [ROUNDS]]]
 */
#include <dirent.h>
#include <poll.h>
#include <time.h>

#include "tests/bench/entry.h"
#include "tests/bench/lateness.h"
#include "tests/bench/listeners.h"
#include "tests/support/broker.h"

enum {
    LISTENERS = LISTENERS_MAX,
    EVENTS_PER_S = 10,
    SETTLE_S = 3, /* after they have come or gone */
    ROUNDS_MAX = 20,
    SECONDS_MAX = 120,
    ENTRIES_MAX = ROUNDS_MAX * SECONDS_MAX * EVENTS_PER_S
};

static const char FLOOD_S[] = "86400"; /* until it is ended */

/* Results of one turn, or of all turns of one kind. */
struct side {
    double took_s, messages, lost;
    double cpu_s;      /* of the threads that take messages in */
    double http_cpu_s; /* of those that serve HTTP */
    double overruns;
    struct lateness efforts, floor;
    double *entry_ms; /* [ENTRIES_MAX] */
    size_t entries, entries_lost;
    double received, late_ms[2]; /* events of all listeners; p50 and p99, the worst turn's */
    double cpu_us[ROUNDS_MAX];
};

struct scenario {
    struct daemon_run daemon;
    int broker; /* connection that commands and replies go over */
    bool real_time;
};

/* ---- the listeners ---- */

struct audience {
    pid_t pid;
    int in, out; /* a byte: requests what was received since the last one, as struct report */
};

struct report {
    double received, late_ms[2];
};

static _Noreturn void listen_until_stopped(uint16_t port, int in, int out)
{
    static struct listeners l;
    struct pollfd stop_poll = {.fd = in, .events = POLLIN};
    char byte = 0;
    listeners_allow_files();
    listeners_open(&l, LISTENERS, port, "/api/v1/events?type=entry", "\"id\":\"b",
                   (size_t)LISTENERS * EVENTS_PER_S * SECONDS_MAX);
    for (;;) {
        listeners_receive(&l);
        if (poll(&stop_poll, 1, 0) > 0) {
            if (read(in, &byte, 1) != 1) {
                _exit(EXIT_SUCCESS);
            }
            const struct report r = {(double)l.received,
                                     {listeners_late_ms(&l, 0.5), listeners_late_ms(&l, 0.99)}};
            l.received = 0;
            if (write(out, &r, sizeof r) != sizeof r) {
                _exit(EXIT_FAILURE);
            }
        }
    }
}

static struct audience start_audience(uint16_t port)
{
    int in[2];
    int out[2];
    struct audience a = {0};
    if (pipe(in) != 0 || pipe(out) != 0) {
        bench_fail("pipe");
    }
    (void)fflush(stdout);
    a.pid = fork();
    if (a.pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)close(in[1]);
        (void)close(out[0]);
        /* The subscribers stand for other machines: their CPU time must not reduce the
         * daemon's. */
        (void)setpriority(PRIO_PROCESS, 0, 10);
        listen_until_stopped(port, in[0], out[1]);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    a.in = in[1];
    a.out = out[0];
    return a;
}

static struct report ask_audience(const struct audience *a)
{
    struct report r = {0};
    if (write(a->in, "?", 1) != 1 || read(a->out, &r, sizeof r) != sizeof r) {
        bench_fail("the listeners have ended");
    }
    return r;
}

static void stop_audience(struct audience *a)
{
    (void)close(a->in);
    (void)close(a->out);
    (void)waitpid(a->pid, NULL, 0);
}

/* ---- the daemon ---- */

static bool read_line(const char *path, char text[128])
{
    FILE *in = fopen(path, "re");
    const bool ok = in && fgets(text, 128, in);
    if (in) {
        (void)fclose(in);
    }
    return ok;
}

/* Threads that serve HTTP are named so, all others take messages in or keep what came of
 * them. */
static bool serves_http(const char *name)
{
    return strncmp(name, "MHD", 3) == 0 || strncmp(name, "tandem-events", 13) == 0;
}

static void read_cpu(pid_t pid, struct side *s)
{
    char path[320];
    char name[128];
    char text[128];
    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    if (!tasks) {
        bench_fail(path);
    }
    for (const struct dirent *e = readdir(tasks); e; e = readdir(tasks)) {
        (void)snprintf(path, sizeof path, "/proc/%d/task/%.32s/comm", (int)pid, e->d_name);
        if (e->d_name[0] == '.' || !read_line(path, name)) {
            continue;
        }
        (void)snprintf(path, sizeof path, "/proc/%d/task/%.32s/schedstat", (int)pid, e->d_name);
        if (read_line(path, text)) {
            *(serves_http(name) ? &s->http_cpu_s : &s->cpu_s) += strtod(text, NULL) * 1e-9;
        }
    }
    (void)closedir(tasks);
}

/* Telemetry of the flooded pairs that never came, by gaps in its numbers. */
static double count_missed(const struct daemon_run *d)
{
    double sum = 0.0;
    for (int i = 0; i < 8; i++) {
        char sample[96];
        (void)snprintf(sample, sizeof sample,
                       "tandem_telemetry_missing_total{pair=\"r%d\",side=\"%s\"}", i / 2 + 1,
                       i % 2 ? "virtual" : "real");
        const double n = daemon_metric(d, sample);
        sum += n > 0.0 ? n : 0.0;
    }
    return sum;
}

static struct side read_usage(const struct daemon_run *d)
{
    struct side s = {.took_s = bench_now_s()};
    read_cpu(d->pid, &s);
    s.messages = daemon_metric(d, "tandem_inbox_messages_total{kind=\"sample\"}");
    s.lost = count_missed(d) + daemon_metric(d, "tandem_inbox_samples_dropped_total");
    s.overruns = daemon_metric(d, "tandem_control_overruns_total");
    lateness_read(d, &s.efforts);
    return s;
}

/* ---- a turn ---- */

static void answer_commands(struct scenario *scenario, long seconds, struct side *side)
{
    const double from_s = bench_now_s();
    for (long i = 0; i < seconds * EVENTS_PER_S; i++) {
        const double wait_s = from_s + (double)i / EVENTS_PER_S - bench_now_s();
        pass_time_ms(wait_s > 0.0 ? (long)(wait_s * 1e3) : 0);
        const double ms = entry_ms(scenario->broker, "r1", listeners_now_ns());
        if (ms < 0.0) {
            side->entries_lost++;
        } else {
            side->entry_ms[side->entries++] = ms;
        }
    }
}

static void run_turn(struct scenario *scenario, long seconds, size_t round, struct side *side,
                     const struct audience *audience)
{
    struct timer timer = {.urgent = true};
    struct side settling = {.entry_ms = malloc(sizeof(double) * SETTLE_S * EVENTS_PER_S)};
    answer_commands(scenario, SETTLE_S, &settling);
    free(settling.entry_ms);
    if (audience) {
        (void)ask_audience(audience);
    }
    const struct side before = read_usage(&scenario->daemon);
    timer_start(&timer);
    answer_commands(scenario, seconds, side);
    timer_stop(&timer);
    const struct side after = read_usage(&scenario->daemon);
    if (side->entries == 0 || after.messages <= before.messages) {
        bench_fail("no entry came, or no telemetry");
    }
    if (audience) {
        const struct report r = ask_audience(audience);
        side->received += r.received;
        for (size_t i = 0; i < 2; i++) {
            side->late_ms[i] =
                r.late_ms[i] > side->late_ms[i] ? r.late_ms[i] : side->late_ms[i];
        }
    }
    scenario->real_time = timer.urgent;
    side->cpu_us[round] =
        (after.cpu_s - before.cpu_s) * 1e6 / (after.messages - before.messages);
    side->took_s += after.took_s - before.took_s;
    side->messages += after.messages - before.messages;
    side->lost += after.lost - before.lost;
    side->cpu_s += after.cpu_s - before.cpu_s;
    side->http_cpu_s += after.http_cpu_s - before.http_cpu_s;
    side->overruns += after.overruns - before.overruns;
    lateness_add(&side->efforts, &after.efforts, 1.0);
    lateness_add(&side->efforts, &before.efforts, -1.0);
    lateness_add(&side->floor, &timer.late, 1.0);
}

/* ---- results ---- */

static double of_entries(const struct side *s, double share)
{
    return s->entry_ms[(size_t)(share * (double)(s->entries - 1))];
}

static void print_lateness(const char *key, const struct lateness *l)
{
    (void)printf(",\"%s\":{\"n\":%.0f,\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"p999_ms\":%.3f,"
                 "\"beyond_ms\":%.0f}",
                 key, lateness_total(l), lateness_quantile_ms(l, 0.5),
                 lateness_quantile_ms(l, 0.99), lateness_quantile_ms(l, 0.999),
                 lateness_beyond_ms(l));
}

/* Sorts its times. */
static void print_side(int listeners, size_t rounds, struct side *s)
{
    double load[1] = {0.0};
    (void)getloadavg(load, 1);
    (void)bench_median(s->entry_ms, s->entries);
    (void)printf("{\"bench\":\"listeners\",\"listeners\":%d,\"events_per_s\":%.0f,"
                 "\"late_ms_p50\":%.1f,\"late_ms_p99\":%.1f,\"messages_per_s\":%.0f,"
                 "\"seconds\":%.1f,\"load\":%.1f,\"cpu_us\":%.2f,\"http_cores\":%.3f,"
                 "\"lost\":%.0f,\"entries\":%zu,\"entries_lost\":%zu,\"entry_p50_ms\":%.2f,"
                 "\"entry_p99_ms\":%.2f,"
                 "\"overruns\":%.0f",
                 listeners, s->received / s->took_s, s->late_ms[0], s->late_ms[1],
                 s->messages / s->took_s, s->took_s, load[0], bench_median(s->cpu_us, rounds),
                 s->http_cpu_s / s->took_s, s->lost, s->entries, s->entries_lost,
                 of_entries(s, 0.5), of_entries(s, 0.99), s->overruns);
    print_lateness("efforts", &s->efforts);
    print_lateness("floor", &s->floor);
    (void)puts("}");
}

static double share_beyond(const struct lateness *l)
{
    return lateness_beyond_ms(l) / lateness_total(l);
}

/* With listeners to without. */
static void print_ratios(const struct scenario *scenario, size_t rounds, struct side *without,
                         struct side *with)
{
    const struct lateness *a = &without->efforts;
    const struct lateness *b = &with->efforts;
    (void)printf("{\"bench\":\"listeners\",\"ratio\":{\"cpu\":%.2f,\"entry_p50\":%.2f,"
                 "\"entry_p99\":%.2f,\"efforts_p50\":%.2f,\"efforts_p99\":%.2f,"
                 "\"efforts_p999\":%.2f,\"floor_p999\":%.2f},\"beyond_ms_percent\":[%.2f,%.2f],"
                 "\"real_time\":%s}\n",
                 bench_median(with->cpu_us, rounds) / bench_median(without->cpu_us, rounds),
                 of_entries(with, 0.5) / of_entries(without, 0.5),
                 of_entries(with, 0.99) / of_entries(without, 0.99),
                 lateness_quantile_ms(b, 0.5) / lateness_quantile_ms(a, 0.5),
                 lateness_quantile_ms(b, 0.99) / lateness_quantile_ms(a, 0.99),
                 lateness_quantile_ms(b, 0.999) / lateness_quantile_ms(a, 0.999),
                 lateness_quantile_ms(&with->floor, 0.999) /
                     lateness_quantile_ms(&without->floor, 0.999),
                 100.0 * share_beyond(a), 100.0 * share_beyond(b),
                 scenario->real_time ? "true" : "false");
}

static void run_turns(struct scenario *scenario, long seconds, size_t rounds)
{
    struct side without = {.entry_ms = calloc(ENTRIES_MAX, sizeof(double))};
    struct side with = {.entry_ms = calloc(ENTRIES_MAX, sizeof(double))};
    for (size_t i = 0; i < rounds; i++) {
        run_turn(scenario, seconds, i, &without, NULL);
        struct audience audience = start_audience((uint16_t)scenario->daemon.http_port);
        (void)ask_audience(&audience); /* all have come */
        run_turn(scenario, seconds, i, &with, &audience);
        stop_audience(&audience);
    }
    print_side(0, rounds, &without);
    print_side(LISTENERS, rounds, &with);
    print_ratios(scenario, rounds, &without, &with);
    free(without.entry_ms);
    free(with.entry_ms);
}

int main(int argc, char **argv)
{
    const char *rate = argc > 1 ? argv[1] : "20000";
    const long seconds = argc > 2 ? strtol(argv[2], NULL, 10) : 20;
    const long rounds = argc > 3 ? strtol(argv[3], NULL, 10) : 3;
    const struct timeval patience = {2, 0};
    struct broker broker;
    static struct scenario scenario;
    char port[16];
    if (seconds < 1 || seconds > SECONDS_MAX || rounds < 1 || rounds > ROUNDS_MAX) {
        bench_fail("1 to 120 seconds, 1 to 20 rounds");
    }
    if (broker_skip() || !broker_init(&broker) || !broker_start(&broker)) {
        bench_fail("the broker did not start");
    }
    if (!daemon_init_http(&scenario.daemon, broker.port, ", client_connections_max: 0",
                          lateness_lab) ||
        !daemon_start_run(&scenario.daemon) ||
        !daemon_wait_ready(&scenario.daemon, 200, 10000)) {
        bench_fail("the daemon did not start");
    }
    (void)snprintf(port, sizeof port, "%d", broker.port);
    const pid_t vessels = lateness_start_vessels(port);
    lateness_wait_tracking(&scenario.daemon);
    const char *const flood[] = {tool_path("mqtt_flood"), port, rate, FLOOD_S, "4", NULL};
    const pid_t flooding = tool_start(flood);
    scenario.broker = raw_mqtt_connect(broker.port, "commands");
    raw_mqtt_subscribe(scenario.broker, "tandem/v1/r1/entry");
    (void)setsockopt(scenario.broker, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    run_turns(&scenario, seconds, (size_t)rounds);
    (void)close(scenario.broker);
    tool_stop(flooding);
    tool_stop(vessels);
    (void)daemon_end(&scenario.daemon, SIGTERM);
    daemon_finish(&scenario.daemon);
    broker_finish(&broker, NULL);
    return EXIT_SUCCESS;
}
