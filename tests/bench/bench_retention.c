/* Measures retention: how fast a store gets rid of old entries after one new entry, and how
 * long new entries wait for their commit meanwhile, against an hour in which nothing is old.
 *
 * bench_retention [OLD]
 */
#include "logger/storage/store_queue.h"
#include "tests/bench/bench.h"

enum { BATCH = 1000, WAITS = 600, PAUSE_US = 5000, NEW_PER_WAIT = 100, DAY_S = 86400 };

static const int64_t old_us = INT64_C(1763617674000000);
static uint64_t count; /* of all entries */

static struct store_row next_row(int64_t t_us)
{
    static char json[320];
    static char pair[8];
    static const char *const verdicts[] = {"AHEAD", "BEHIND", "SYNC", "UNRESOLVED"};
    const uint64_t n = ++count;
    (void)snprintf(pair, sizeof pair, "r%d", (int)(n % 100));
    const int bytes =
        snprintf(json, sizeof json,
                 "{\"pair\":\"%s\",\"n\":%llu,\"id\":\"c\",\"t\":%.6f,\"op\":\"go\","
                 "\"rotation_rad\":1.57,\"displacement_m\":0.5,\"real_lap_s\":2.41,"
                 "\"virtual_lap_s\":2.18,\"lag_s\":0.23,\"verdict\":\"%s\","
                 "\"lag_uncertainty_s\":0.0002,\"real_status\":\"done\",\"consistent\":true}",
                 pair, (unsigned long long)n, 1e-6 * (double)t_us, verdicts[n / 100 % 4]);
    return (struct store_row){.kind = STORE_ENTRIES,
                              .pair = pair,
                              .n = n,
                              .t_us = t_us,
                              .id = "c",
                              .type = verdicts[n / 100 % 4],
                              .lag_s = 0.23,
                              .json = json,
                              .json_bytes = (size_t)bytes};
}

static void write_old(struct store *s, long old)
{
    for (long i = 0; i < old; i++) {
        const struct store_row row = next_row(old_us + (int64_t)i * 1000);
        if ((i % BATCH == 0 && store_begin(s, NULL) != STATUS_OK) ||
            store_add(s, &row, NULL, NULL) != STATUS_OK ||
            ((i + 1) % BATCH == 0 && store_commit(s, NULL) != STATUS_OK)) {
            bench_fail("the store");
        }
    }
}

static void push_entry(struct store_queue *q, int64_t t_us)
{
    const struct store_row row = next_row(t_us);
    if (store_queue_push(q, &row) != STATUS_OK) {
        bench_fail("the queue");
    }
}

/* Waits of new entries, which come in at 20 000/s at most. */
static double measure_waits(struct store_queue *q, int64_t t_us, double *p99_ms)
{
    static double waits_ms[WAITS];
    for (int i = 0; i < WAITS; i++) {
        for (int k = 0; k < NEW_PER_WAIT; k++) {
            push_entry(q, t_us + i * PAUSE_US + k);
        }
        const double from_s = bench_now_s();
        if (store_queue_flush(q, 10000) != STATUS_OK) {
            bench_fail("no commit");
        }
        waits_ms[i] = 1e3 * (bench_now_s() - from_s);
        (void)usleep(PAUSE_US);
    }
    const double p50_ms = bench_median(waits_ms, WAITS);
    *p99_ms = waits_ms[WAITS * 99 / 100];
    return p50_ms;
}

int main(int argc, char **argv)
{
    char path[] = "/tmp/bench_retention.XXXXXX";
    char file[64];
    const long old = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    if (old < BATCH || old % BATCH != 0 || !mkdtemp(path)) {
        bench_fail("old entries are thousands");
    }
    (void)snprintf(file, sizeof file, "%s/store.db", path);
    const struct store_params params = {.path = file, .busy_timeout_ms = 1000};
    struct store_queue_params queue;
    struct store_queue *q = NULL;
    struct store *s = NULL;
    struct store_queue_stats stats;
    double p50_ms[2];
    double p99_ms[2];
    store_queue_params_init(&queue);
    if (store_open(&params, &s, NULL) != STATUS_OK) {
        bench_fail("the store");
    }
    write_old(s, old);
    for (int on = 0; on < 2; on++) {
        const int64_t new_us = old_us + (int64_t)DAY_S * 1000000 + on * INT64_C(3600000000);
        queue.retain_s = on ? DAY_S / 2.0 : 0.0;
        if (store_queue_start(&queue, s, &q, NULL) != STATUS_OK) {
            bench_fail("the queue");
        }
        if (!on) {
            p50_ms[on] = measure_waits(q, new_us, &p99_ms[on]);
        } else {
            const double from_s = bench_now_s();
            p50_ms[on] = measure_waits(q, new_us, &p99_ms[on]);
            const double busy_s = bench_now_s() - from_s;
            store_queue_stats(q, &stats);
            const uint64_t busy = stats.removed;
            /* No entry comes from here on. */
            const double idle_from_s = bench_now_s();
            do {
                (void)usleep(20000);
                store_queue_stats(q, &stats);
            } while (stats.removed < (uint64_t)old && bench_now_s() - idle_from_s < 20.0);
            const double idle_s = bench_now_s() - idle_from_s;
            (void)printf("{\"bench\":\"retention\",\"old\":%ld,\"removed_busy_per_s\":%.0f,"
                         "\"removed_idle_per_s\":%.0f,\"left\":%lld,\"p50_ms\":%.2f,"
                         "\"p99_ms\":%.2f,\"floor\":\"nothing is old\",\"floor_p50_ms\":%.2f,"
                         "\"floor_p99_ms\":%.2f}\n",
                         old, (double)busy / busy_s, (double)(stats.removed - busy) / idle_s,
                         (long long)old - (long long)stats.removed, p50_ms[1], p99_ms[1],
                         p50_ms[0], p99_ms[0]);
        }
        if (store_queue_stop(q, 10000) != STATUS_OK) {
            bench_fail("rows were left");
        }
    }
    store_close(s);
    (void)unlink(file);
    (void)rmdir(path);
    return EXIT_SUCCESS;
}
