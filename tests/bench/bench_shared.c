/* Measures results of several daemons in one PostgreSQL: records stored a second, and lists
 * while the daemons write. The server is its own and writes nothing to the disk (fsync = off).
 *
 * bench_shared [RECORDS [DAEMONS [PAIRS]]]: records before the lists are read, pairs a daemon
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "logger/storage/store.h"
#include "service/engine/postgresql_schema.h"
#include "tests/bench/bench.h"
#include "tests/support/postgresql_fixture.h"

enum {
    BATCH = 1000,
    LISTS = 2000,
    DAEMONS_MAX = 32,
    RATE = 200, /* records a second of each daemon, in batches of 200 ms */
    LIMIT_MS = 60000
};

struct lab {
    struct store_params params;
    char name[16];
    struct store *store;
    uint64_t state, n;
    unsigned pairs;
    int64_t t_us;
};

static atomic_bool stop;

static void add_records(struct lab *lab, int count)
{
    static const char *const verdicts[] = {"AHEAD", "BEHIND", "SYNC", "UNRESOLVED"};
    if (store_begin(lab->store, NULL) != STATUS_OK) {
        bench_fail("begin");
    }
    for (int i = 0; i < count; i++) {
        char json[512];
        char pair[32];
        char id[24];
        lab->n++;
        lab->t_us += 1000000 / RATE;
        (void)snprintf(pair, sizeof pair, "%s-%u", lab->name,
                       bench_draw(&lab->state) % lab->pairs);
        (void)snprintf(id, sizeof id, "c%llu", (unsigned long long)lab->n);
        const int bytes = snprintf(
            json, sizeof json,
            "{\"pair\":\"%s\",\"n\":%llu,\"id\":\"%s\",\"t\":%.6f,\"op\":\"go\","
            "\"rotation_rad\":1.57,\"displacement_m\":0.5,\"real_lap_s\":2.41,"
            "\"virtual_lap_s\":2.18,\"lag_s\":0.23,\"verdict\":\"AHEAD\",\"lag_uncertainty_s\":"
            "0.0002,\"real_status\":\"done\",\"virtual_status\":\"done\",\"consistent\":true}",
            pair, (unsigned long long)lab->n, id, 1e-6 * (double)lab->t_us);
        const struct store_row row = {.kind = STORE_ENTRIES,
                                      .pair = pair,
                                      .n = lab->n,
                                      .t_us = lab->t_us,
                                      .id = id,
                                      .type = verdicts[bench_draw(&lab->state) % 4],
                                      .lag_s = 1e-6 * (bench_draw(&lab->state) % 200000),
                                      .json = json,
                                      .json_bytes = (size_t)bytes,
                                      .seq = lab->n};
        if (store_add(lab->store, &row, NULL, NULL) != STATUS_OK) {
            bench_fail("add");
        }
    }
    if (store_commit(lab->store, NULL) != STATUS_OK) {
        bench_fail("commit");
    }
}

static void *run_lab(void *context)
{
    while (!atomic_load(&stop)) {
        add_records(context, RATE / 5);
        (void)usleep(200000);
    }
    return NULL;
}

static bool count_row(void *context, const struct store_row *row)
{
    *(size_t *)context += row->json_bytes;
    return true;
}

static void print_lists(const char *what, struct store_reader *reader, struct lab *labs,
                        unsigned lab_count, const struct store_query *query)
{
    static double ms[LISTS];
    uint64_t state = 7;
    size_t bytes = 0;
    for (int i = 0; i < LISTS; i++) {
        struct store_query wanted = *query;
        char pair[32];
        char cursor[STORE_CURSOR_MAX];
        const struct lab *lab = &labs[bench_draw(&state) % lab_count];
        (void)snprintf(pair, sizeof pair, "%s-%u", lab->name, bench_draw(&state) % lab->pairs);
        wanted.pair = query->pair ? pair : NULL;
        const double from_s = bench_now_s();
        if (store_query(reader, &wanted, count_row, &bytes, cursor, NULL) != STATUS_OK) {
            bench_fail("a list");
        }
        ms[i] = 1e3 * (bench_now_s() - from_s);
    }
    const double median_ms = bench_median(ms, LISTS);
    (void)printf("{\"bench\":\"shared\",\"list\":\"%s\",\"median_ms\":%.3f,\"p99_ms\":%.3f,"
                 "\"bytes\":%zu}\n",
                 what, median_ms, ms[LISTS * 99 / 100], bytes / LISTS);
    (void)fflush(stdout);
}

static void print_all_lists(const char *when, struct lab *labs, unsigned count)
{
    struct store_reader *reader = NULL;
    const struct store_query newest = {.kind = STORE_ENTRIES,
                                       .since_us = INT64_MIN,
                                       .until_us = INT64_MAX,
                                       .newest_first = true,
                                       .limit = 50};
    struct store_query of_pair = newest;
    struct store_query of_verdict = newest;
    char what[64];
    of_pair.pair = "";
    of_verdict.type = "BEHIND";
    if (store_reader_open(&labs[0].params, &reader, NULL) != STATUS_OK) {
        bench_fail("a reader");
    }
    const struct {
        const char *name;
        const struct store_query *query;
    } rows[] = {{"newest", &newest}, {"of a pair", &of_pair}, {"of a verdict", &of_verdict}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        (void)snprintf(what, sizeof what, "%s, %s", rows[i].name, when);
        print_lists(what, reader, labs, count, rows[i].query);
    }
    store_reader_close(reader);
}

int main(int argc, char **argv)
{
    static struct lab labs[DAEMONS_MAX];
    static pthread_t threads[DAEMONS_MAX];
    const long records = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    const unsigned count = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 10;
    const unsigned pairs = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1000;
    struct postgresql_cluster cluster;
    if (count < 1 || count > DAEMONS_MAX || pairs < 1) {
        bench_fail("daemons or pairs out of range");
    }
    cluster_start(&cluster, 1, "shared_buffers=512MB");
    const struct postgresql_server server = {"127.0.0.1", cluster.ports[0]};
    const struct postgresql_params params = {.servers = &server,
                                             .server_count = 1,
                                             .database = "postgres",
                                             .user = "postgres",
                                             .password_file = cluster.password_file,
                                             .application = "bench"};
    struct postgresql_target *target = NULL;
    struct postgresql *admin = NULL;
    struct err err = {0};
    int64_t from = 0;
    if (postgresql_target_create(&params, &target, &err) != STATUS_OK ||
        postgresql_open(target, POSTGRESQL_WRITABLE, LIMIT_MS, &admin, &err) != STATUS_OK ||
        postgresql_schema_update(admin, &from, &err) != STATUS_OK) {
        bench_fail(err.text);
    }
    for (unsigned i = 0; i < count; i++) {
        struct lab *lab = &labs[i];
        (void)snprintf(lab->name, sizeof lab->name, "lab%u", i);
        lab->params = (struct store_params){
            .busy_timeout_ms = LIMIT_MS, .target = target, .partition = lab->name, .all = true};
        lab->state = i + 1;
        lab->pairs = pairs;
        lab->t_us = INT64_C(1763617674000000);
        if (store_open(&lab->params, &lab->store, &err) != STATUS_OK) {
            bench_fail(err.text);
        }
    }
    const double from_s = bench_now_s();
    for (long n = 0; n < records; n += BATCH) {
        add_records(&labs[(unsigned)(n / BATCH) % count], BATCH);
    }
    (void)printf("{\"bench\":\"shared\",\"records\":%ld,\"records_per_s\":%.0f}\n", records,
                 (double)records / (bench_now_s() - from_s));
    if (postgresql_run_script(admin, "analyze", "ANALYZE", LIMIT_MS, &err) != STATUS_OK) {
        bench_fail(err.text);
    }
    print_all_lists("nobody writes", labs, count);
    for (unsigned i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, run_lab, &labs[i]) != 0) {
            bench_fail("a thread");
        }
    }
    char when[64];
    (void)snprintf(when, sizeof when, "%u daemons x %u pairs write %u/s", count, pairs,
                   count * RATE);
    print_all_lists(when, labs, count);
    atomic_store(&stop, true);
    for (unsigned i = 0; i < count; i++) {
        (void)pthread_join(threads[i], NULL);
        store_close(labs[i].store);
    }
    postgresql_close(admin);
    postgresql_target_destroy(target);
    cluster_stop(&cluster);
    return EXIT_SUCCESS;
}
