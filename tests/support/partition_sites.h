/* tests/support/partition_sites.h - two instances of a partition, each with a list of lines in
 * place of a journal and a lab, and a PostgreSQL of the test's own. */
#ifndef TESTS_SUPPORT_PARTITION_SITES_H
#define TESTS_SUPPORT_PARTITION_SITES_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>

#include "service/engine/partition.h"
#include "service/engine/postgresql_schema.h"
#include "tests/support/check.h"
#include "tests/support/postgresql_fixture.h"
#include "tests/support/wait.h"

enum { LIMIT_MS = 30000, WAIT_MS = 30000, LINES_MAX = 20000, SITES = 2, TEXT_MAX = 96 };

static struct postgresql_cluster cluster;
static struct postgresql_target *target; /* of the sites */
static struct postgresql *admin;
static struct ownership_params site_times = {
    .renew_us = 100000, .safe_us = 600000, .take_us = 1000000, .follow_us = 20000};
static int64_t site_limit_ms = 1000;

/* An instance, and what it has in place of a journal and a lab. */
struct site {
    struct partition *partition;
    const char *name;
    pthread_mutex_t lock;
    char lines[LINES_MAX][TEXT_MAX]; /* under the lock */
    int64_t count, own, gaps;        /* own: lines that it appended itself */
    atomic_bool frozen, connected;
    atomic_uint alarms[OWNERSHIP_ALARM_COUNT], rolled_back, takes;
};

static struct site sites[SITES];
static char name_of_partition[32];
static atomic_int_fast64_t appended; /* durable, as its publisher knows */

static inline void run_admin(const char *format, ...) PRINTF_LIKE(1, 2);

static inline void run_admin(const char *format, ...)
{
    char sql[512];
    struct err err = {0};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(sql, sizeof sql, format, arguments);
    va_end(arguments);
    CHECK_INT(sql, postgresql_run_script(admin, "test", sql, LIMIT_MS, &err), STATUS_OK);
}

/* A target of `count` nodes, from `first` on. */
static inline struct postgresql_target *create_target(const char *user, int first, int count)
{
    struct postgresql_server servers[3];
    for (int i = 0; i < count; i++) {
        servers[i] = (struct postgresql_server){"127.0.0.1", cluster.ports[first + i]};
    }
    const struct postgresql_params params = {.servers = servers,
                                             .server_count = (size_t)count,
                                             .database = "postgres",
                                             .user = user,
                                             .password_file = cluster.password_file,
                                             .application = user};
    struct postgresql_target *out = NULL;
    struct err err = {0};
    if (postgresql_target_create(&params, &out, &err) != STATUS_OK) {
        (void)fprintf(stderr, "%s: %s\n", err.where, err.text);
        exit(1);
    }
    return out;
}

static inline struct postgresql *open_node(int node)
{
    struct postgresql_target *of_node = create_target("postgres", node, 1);
    struct postgresql *c = NULL;
    struct err err = {0};
    if (postgresql_open(of_node, POSTGRESQL_ANY, LIMIT_MS, &c, &err) != STATUS_OK) {
        (void)fprintf(stderr, "%s: %s\n", err.where, err.text);
        exit(1);
    }
    postgresql_target_destroy(of_node);
    return c;
}

/* Starts the cluster, and creates the tables and the user of the sites, which has few rights.
 */
static inline void open_cluster(int nodes)
{
    cluster_start(&cluster, nodes, "");
    admin = open_node(0);
    int64_t from = 0;
    struct err err = {0};
    CHECK_INT("tables", postgresql_schema_update(admin, &from, &err), STATUS_OK);
    bool added = false;
    CHECK_INT("user", postgresql_schema_add_user(admin, "sites", "secret", &added, &err),
              STATUS_OK);
    CHECK_TEXT("tables", err.text, "");
    target = create_target("sites", 0, nodes);
}

static inline void close_cluster(void)
{
    postgresql_close(admin);
    postgresql_target_destroy(target);
    cluster_stop(&cluster);
}

static inline void store_line(void *context, int64_t n, struct postgresql_text line,
                              enum partition_origin origin)
{
    struct site *site = context;
    while (atomic_load(&site->frozen)) {
        pass_time_ms(1);
    }
    (void)pthread_mutex_lock(&site->lock);
    site->gaps += n != site->count + 1;
    site->own += origin == PARTITION_APPENDED;
    (void)snprintf(site->lines[site->count], TEXT_MAX, "%.*s", (int)line.bytes, line.at);
    site->count += site->count < LINES_MAX - 1;
    (void)pthread_mutex_unlock(&site->lock);
}

static inline size_t read_own(void *context, int64_t n, char *out)
{
    struct site *site = context;
    const size_t bytes = strlen(site->lines[n - 1]);
    memcpy(out, site->lines[n - 1], bytes);
    return bytes;
}

static inline size_t format_take(void *context, int64_t t_us, char *out)
{
    struct site *site = context;
    return (size_t)snprintf(out, TEXT_MAX, "take %s %u %lld", site->name,
                            atomic_fetch_add(&site->takes, 1), (long long)t_us);
}

static inline void connect_broker(void *context, bool open)
{
    atomic_store(&((struct site *)context)->connected, open);
}

static inline void roll_back(void *context)
{
    atomic_fetch_add(&((struct site *)context)->rolled_back, 1);
}

static inline void raise_alarm(void *context, enum ownership_alarm alarm)
{
    atomic_fetch_add(&((struct site *)context)->alarms[alarm], 1);
}

static inline int64_t read_lab_us(void *context)
{
    (void)context;
    return wait_now_us();
}

static inline void start_site(struct site *site, const char *name)
{
    const struct partition_params params = {.journal = {.target = target,
                                                        .partition = name_of_partition,
                                                        .owner = name,
                                                        .limit_ms = site_limit_ms},
                                            .times = site_times,
                                            .calls = {.context = site,
                                                      .store = store_line,
                                                      .read_own = read_own,
                                                      .format_take = format_take,
                                                      .connect = connect_broker,
                                                      .roll_back = roll_back,
                                                      .raise_alarm = raise_alarm,
                                                      .read_lab_us = read_lab_us},
                                            .own_n = site->count};
    struct err err = {0};
    enum status status = STATUS_E_IO;
    int64_t end_us = 0;
    site->name = name;
    while (status != STATUS_OK && wait_more(&end_us, WAIT_MS)) {
        err = (struct err){0};
        status = partition_start(&params, &site->partition, &err);
    }
    CHECK_TEXT("start", err.text, "");
    CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
}

static inline enum ownership_state state_of(struct site *site)
{
    struct partition_report report;
    partition_get_report(site->partition, &report);
    return report.state;
}

static inline bool reaches(struct site *site, enum ownership_state state)
{
    int64_t end_us = 0;
    while (state_of(site) != state && wait_more(&end_us, WAIT_MS)) {
    }
    return state_of(site) == state;
}

static inline int64_t count_of(struct site *site)
{
    (void)pthread_mutex_lock(&site->lock);
    const int64_t count = site->count;
    (void)pthread_mutex_unlock(&site->lock);
    return count;
}

/* The first site owns, the second one follows. */
static inline void begin_test(const char *name)
{
    (void)snprintf(name_of_partition, sizeof name_of_partition, "%s", name);
    atomic_store(&appended, 0);
    for (int i = 0; i < SITES; i++) {
        memset(&sites[i], 0, sizeof sites[i]);
        (void)pthread_mutex_init(&sites[i].lock, NULL);
    }
    run_admin("DELETE FROM instance; INSERT INTO instance(name, p, home, version, fingerprint, "
              "address, seen) VALUES ('a', '%s', '', '', '', '', 'epoch'), "
              "('b', '%s', '', '', '', '', 'epoch')",
              name, name);
    start_site(&sites[0], "a");
    CHECK("owns", reaches(&sites[0], OWNERSHIP_OWNING));
    start_site(&sites[1], "b");
}

static inline void end_test(void)
{
    for (int i = 0; i < SITES; i++) {
        partition_stop(sites[i].partition);
        sites[i].partition = NULL;
        CHECK_INT("no gap", sites[i].gaps, 0);
        (void)pthread_mutex_destroy(&sites[i].lock);
    }
}

/* Appends the next line as a publisher does: again, at whoever owns, until it is durable. */
static inline void append_line(void)
{
    char line[TEXT_MAX];
    struct partition_ticket ticket;
    int64_t end_us = 0;
    const int bytes =
        snprintf(line, sizeof line, "line %lld", (long long)atomic_load(&appended) + 1);
    for (int i = 0; wait_more(&end_us, WAIT_MS); i = (i + 1) % SITES) {
        if (partition_append(sites[i].partition, line, (size_t)bytes, &ticket) == STATUS_OK &&
            partition_wait(sites[i].partition, ticket, 2000000) == STATUS_OK) {
            atomic_fetch_add(&appended, 1);
            return;
        }
    }
    CHECK("appended", false);
}

/* Both have the same lines, and each line that was appended, in its order. */
static inline void check_journals(void)
{
    int64_t end_us = 0;
    while (count_of(&sites[0]) != count_of(&sites[1]) && wait_more(&end_us, WAIT_MS)) {
    }
    int64_t newest = 0;
    const int64_t count = count_of(&sites[0]);
    CHECK_INT("lines", count_of(&sites[1]), count);
    for (int64_t n = 0; n < count; n++) {
        long long number = 0;
        CHECK_TEXT("line", sites[1].lines[n], sites[0].lines[n]);
        if (sscanf(sites[0].lines[n], "line %lld", &number) == 1 && number > newest) {
            CHECK_INT("in order", number, newest + 1);
            newest = number;
        }
    }
    CHECK("all", newest >= atomic_load(&appended));
}

#endif
