/* Measures a chart of a pair's whole history in a daemon that was just started, by length of
 * the history and by points, against reading its rows: the first answer, by CPU time of all
 * threads and by the clock; medians. Also measures the cost of summing up entries in the
 * store's writer.
 *
 * bench_series [ENTRIES [RUNS]]
 */
#include <dirent.h>
#include <sqlite3.h>

#include "logger/storage/store.h"
#include "tests/bench/tools.h"
#include "tests/support/broker.h"
#include "tests/support/daemon.h"

enum { BATCH = 1000, RUNS_MAX = 25, GAP_US = 10000000 };

/* CPU time of all threads, to the nanosecond. */
static double read_threads_s(pid_t pid)
{
    char path[300];
    double sum_s = 0.0;
    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    for (struct dirent *at; threads && (at = readdir(threads)) != NULL;) {
        char text[64] = "";
        (void)snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", (int)pid, at->d_name);
        FILE *in = at->d_name[0] == '.' ? NULL : fopen(path, "re");
        if (in) {
            sum_s += fgets(text, sizeof text, in) ? strtod(text, NULL) * 1e-9 : 0.0;
            (void)fclose(in);
        }
    }
    if (threads) {
        (void)closedir(threads);
    }
    return sum_s;
}

static void add_batch(struct store *s, long first, uint64_t *state, int64_t *t_us)
{
    static const char *const verdicts[] = {"AHEAD", "BEHIND", "SYNC", "UNRESOLVED"};
    char json[512];
    char id[24];
    if (store_begin(s, NULL) != STATUS_OK) {
        bench_fail("the store");
    }
    for (long n = first; n < first + BATCH; n++) {
        *t_us += GAP_US / 2 + bench_draw(state) % GAP_US;
        const double lag_s = 1e-6 * (double)(bench_draw(state) % 200000) - 0.05;
        const char *verdict = verdicts[bench_draw(state) % COUNT(verdicts)];
        (void)snprintf(id, sizeof id, "c%ld", n);
        const int bytes = snprintf(
            json, sizeof json,
            "{\"pair\":\"r1\",\"n\":%ld,\"id\":\"%s\",\"t\":%.6f,\"op\":\"go\","
            "\"rotation_rad\":1.57,\"displacement_m\":0.5,\"real_lap_s\":2.41,"
            "\"virtual_lap_s\":2.18,\"lag_s\":%.6f,\"verdict\":\"%s\",\"lag_uncertainty_s\":"
            "0.0002,\"real_status\":\"done\",\"virtual_status\":\"done\",\"consistent\":true}",
            n, id, 1e-6 * (double)*t_us, lag_s, verdict);
        const struct store_row row = {.kind = STORE_ENTRIES,
                                      .pair = "r1",
                                      .n = (uint64_t)n,
                                      .t_us = *t_us,
                                      .id = id,
                                      .type = verdict,
                                      .lag_s = lag_s,
                                      .json = json,
                                      .json_bytes = (size_t)bytes};
        if (store_add(s, &row, NULL, NULL) != STATUS_OK) {
            bench_fail("the store");
        }
    }
    if (store_commit(s, NULL) != STATUS_OK) {
        bench_fail("the store");
    }
}

/* Returns CPU time. */
static double write_store(const char *path, long entries)
{
    const struct store_params params = {.path = path, .busy_timeout_ms = 1000};
    struct store *s = NULL;
    uint64_t state = 1;
    int64_t t_us = INT64_C(1763617674000000);
    const double from_s = bench_cpu_s();
    if (store_open(&params, &s, NULL) != STATUS_OK) {
        bench_fail("the store");
    }
    for (long n = 1; n <= entries; n += BATCH) {
        add_batch(s, n, &state, &t_us);
    }
    store_close(s);
    return bench_cpu_s() - from_s;
}

/* The floor: all rows out of their index. */
static double read_rows(const char *path)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    double sum = 0.0;
    const double from_s = bench_cpu_s();
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db,
                           "SELECT t_us, lag_s, verdict, inconsistent FROM entries INDEXED BY"
                           " entries_lags WHERE pair = 'r1' ORDER BY t_us",
                           -1, &statement, NULL) != SQLITE_OK) {
        bench_fail("the store");
    }
    while (sqlite3_step(statement) == SQLITE_ROW) {
        sum += sqlite3_column_double(statement, 1) +
               (double)sqlite3_column_int64(statement, 0) * 1e-12;
    }
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
    if (!(sum > 0.0)) {
        bench_fail("no rows");
    }
    return bench_cpu_s() - from_s;
}

static void ask_once(struct daemon_run *d, const char *target, double *cpu_ms, double *clock_ms,
                     size_t *bytes)
{
    static char body[1 << 22];
    if (!daemon_start_run(d) || !daemon_wait_ready(d, 200, 60000)) {
        bench_fail("the daemon did not start");
    }
    const double cpu_s = read_threads_s(d->pid);
    const double clock_s = bench_now_s();
    if (daemon_get(d, target, body, sizeof body) != 200) {
        bench_fail(target);
    }
    *clock_ms = 1e3 * (bench_now_s() - clock_s);
    *cpu_ms = 1e3 * (read_threads_s(d->pid) - cpu_s);
    *bytes = strlen(body);
    (void)daemon_end(d, SIGTERM);
}

static void bench_history(int broker_port, long entries, size_t runs)
{
    static const int points[] = {60, 500, 4000};
    double cpu_ms[RUNS_MAX];
    double clock_ms[RUNS_MAX];
    struct daemon_run d;
    if (!daemon_init(&d, broker_port, "pairs:\n  r1: {}\n")) {
        bench_fail("the lab file");
    }
    const double write_s = write_store(daemon_path(&d, "store.db"), entries);
    for (size_t k = 0; k < COUNT(points); k++) {
        char target[96];
        size_t bytes = 0;
        (void)snprintf(target, sizeof target, "/api/v1/pairs/r1/series?points=%d", points[k]);
        for (size_t i = 0; i < runs; i++) {
            ask_once(&d, target, &cpu_ms[i], &clock_ms[i], &bytes);
        }
        const double floor_ms = 1e3 * read_rows(daemon_path(&d, "store.db"));
        const double median_ms = bench_median(cpu_ms, runs);
        (void)printf("{\"bench\":\"series\",\"entries\":%ld,\"points\":%d,\"cpu_ms\":%.2f,"
                     "\"ms\":%.2f,\"bytes\":%zu,\"floor\":\"rows out of their index\","
                     "\"floor_ms\":%.1f,\"ratio\":%.4f,\"added_us_per_entry\":%.1f}\n",
                     entries, points[k], median_ms, bench_median(clock_ms, runs), bytes,
                     floor_ms, median_ms / floor_ms, 1e6 * write_s / (double)entries);
        (void)fflush(stdout);
    }
    daemon_finish(&d);
}

int main(int argc, char **argv)
{
    struct broker broker;
    const long entries = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    const long runs = argc > 2 ? strtol(argv[2], NULL, 10) : 7;
    if (entries < BATCH || entries % BATCH != 0 || runs < 1 || runs > RUNS_MAX ||
        broker_skip() || !broker_init(&broker) || !broker_start(&broker)) {
        bench_fail("no mosquitto, or a number that makes no sense: entries are thousands");
    }
    for (long size = entries >= 100 * BATCH ? entries / 100 : entries; size <= entries;
         size *= 10) {
        bench_history(broker.port, size, (size_t)runs);
    }
    broker_finish(&broker, NULL);
    return EXIT_SUCCESS;
}
