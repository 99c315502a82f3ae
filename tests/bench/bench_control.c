/* How late efforts go out: `tandem serve` makes a virtual vessel follow a real one a hundred
 * times a second while other robots flood it with telemetry and clients ask over HTTP. The
 * floors are threads that do nothing but sleep until each hundredth of a second, of the same
 * run, one of them with the priority of the daemon's: what they are late, the machine is.
 *
 * bench_control [MESSAGES_PER_S [SECONDS]] */
#include "tests/bench/lateness.h"
#include "tests/support/broker.h"

enum { CLIENTS = 2, TIMERS = 2, PAUSE_MS = 10 };

static atomic_bool stop;
static atomic_uint_fast64_t answers;

static void *poll_server(void *context)
{
    static const char *const paths[] = {"/api/v1/pairs", "/api/v1/pairs/boat/following",
                                        "/api/v1/pairs/boat/fidelity", "/metrics",
                                        "/api/v1/pairs/r1/entries"};
    const struct daemon_run *d = context;
    char *body = malloc(1 << 20);
    for (size_t i = 0; body && !atomic_load(&stop); i++) {
        atomic_fetch_add(&answers, daemon_get(d, paths[i % 5], body, 1 << 20) == 200);
        pass_time_ms(PAUSE_MS);
    }
    free(body);
    return NULL;
}

static void print_lateness(const char *key, const struct lateness *l)
{
    (void)printf(",\"%s\":{\"n\":%.0f,\"p50_s\":\"%s\",\"p99_s\":\"%s\",\"p999_s\":\"%s\","
                 "\"beyond_ms\":%.0f}",
                 key, lateness_total(l), lateness_bound(l, 0.5), lateness_bound(l, 0.99),
                 lateness_bound(l, 0.999), lateness_beyond_ms(l));
}

static void load_it(struct daemon_run *d, const char *port, const char *rate,
                    const char *seconds, struct timer timers[TIMERS])
{
    pthread_t clients[CLIENTS];
    int status = 0;
    const char *const flood[] = {tool_path("mqtt_flood"), port, rate, seconds, "4", NULL};
    const pid_t pid = tool_start(flood);
    bool well = true;
    for (size_t i = 0; i < TIMERS; i++) {
        timer_start(&timers[i]);
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        well = well && pthread_create(&clients[i], NULL, poll_server, d) == 0;
    }
    if (!well || waitpid(pid, &status, 0) != pid || status != 0) {
        bench_fail("the load did not run");
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < TIMERS; i++) {
        timer_stop(&timers[i]);
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
    char port[16];
    if (broker_skip() || !broker_init(&broker) || !broker_start(&broker)) {
        bench_fail("the broker did not start");
    }
    if (!daemon_init(&d, broker.port, lateness_lab) || !daemon_start_run(&d) ||
        !daemon_wait_ready(&d, 200, 10000)) {
        bench_fail("the daemon did not start");
    }
    (void)snprintf(port, sizeof port, "%d", broker.port);
    const pid_t vessels = lateness_start_vessels(port);
    lateness_wait_tracking(&d);
    lateness_read(&d, &before);
    const double overruns = daemon_metric(&d, "tandem_control_overruns_total");
    const double from_s = bench_now_s();
    load_it(&d, port, rate, seconds, timers);
    const double took_s = bench_now_s() - from_s;
    lateness_read(&d, &efforts);
    lateness_add(&efforts, &before, -1.0);
    (void)printf("{\"bench\":\"control\",\"messages_per_s\":%s,\"http_per_s\":%.0f,"
                 "\"seconds\":%.1f,\"overruns\":%.0f",
                 rate, (double)atomic_load(&answers) / took_s, took_s,
                 daemon_metric(&d, "tandem_control_overruns_total") - overruns);
    print_lateness("efforts", &efforts);
    print_lateness(timers[0].urgent ? "floor_real_time" : "floor_not_allowed", &timers[0].late);
    print_lateness("floor_plain", &timers[1].late);
    (void)puts("}");
    tool_stop(vessels);
    (void)daemon_end(&d, SIGTERM);
    daemon_finish(&d);
    broker_finish(&broker, NULL);
    return EXIT_SUCCESS;
}
