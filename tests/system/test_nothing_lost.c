/* needs: real time */
/* Nothing lost: a load of commands and replies at QoS 1, a daemon killed again and again, a
 * broker restarted and killed, a daemon frozen. Every command whose publisher got its
 * acknowledgement has exactly one entry. Uses threads.
 *
 * It runs in real time: a daemon that is killed when the virtual time moves is always found
 * asleep.
 *
 * TANDEM_KILLS (20), TANDEM_RESTARTS (3) of the broker, TANDEM_FREEZES (1): rounds. */
#include "tests/support/check.h"

#include <pthread.h>
#include <stdatomic.h>

#include "logger/storage/store.h"
#include "service/mqtt/mqtt_client.h"
#include "service/tool/lab_clock.h"
#include "tests/support/broker.h"
#include "tests/support/daemon.h"

enum {
    PAIRS = 8,
    COMMANDS_MAX = 1000000,
    COMMANDS_PER_S = 300, /* with two replies each */
    BATCH = 8
};

/* Known states of a command. */
enum { SAID = 1, ACKNOWLEDGED = 2 };

static struct broker broker;
static struct daemon_run served;
static struct mqtt_client *client;

static unsigned char state[COMMANDS_MAX]; /* of command n; the publisher's until it stopped */
static unsigned entries[COMMANDS_MAX];
static unsigned verdicts[8];
static _Atomic unsigned commands; /* published so far */
static _Atomic bool load_on, load_end;
static pthread_t publisher;

static long read_rounds(const char *name, long usual)
{
    const char *wanted = getenv(name);
    return wanted && *wanted ? strtol(wanted, NULL, 10) : usual;
}

static void publish_command(unsigned n, const char *what, const char *rest)
{
    char topic[64];
    char payload[128];
    (void)snprintf(topic, sizeof topic, "tandem/v1/r%u/%s", n % PAIRS + 1, what);
    const int bytes = snprintf(payload, sizeof payload, "{\"id\":\"k%u\",%s}", n, rest);
    /* The buffer of the client holds messages while the broker is away; when it is full the
     * command counts as not published. */
    while (mqtt_client_publish(client, topic, payload, (size_t)bytes, 1, false) != STATUS_OK) {
        pass_time_ms(5);
    }
}

static void publish_numbered(unsigned n)
{
    publish_command(n, "command", "\"op\":\"go\",\"rotation_rad\":1,\"displacement_m\":0.5");
    publish_command(n, "real/reply", "\"status\":\"done\"");
    publish_command(n, "virtual/reply", "\"status\":\"done\"");
    state[n] = SAID;
}

/* Everything published so far is acknowledged: the client counts it. */
static void record_acknowledged(unsigned from, unsigned to)
{
    struct mqtt_client_state s;
    mqtt_client_read_state(client, &s);
    if (mqtt_client_wait_sent(client, wait_limit_ms(60000))) {
        for (unsigned n = from; n < to; n++) {
            state[n] = ACKNOWLEDGED;
        }
    }
}

static void *publish_on(void *context)
{
    (void)context;
    int64_t next_us = lab_clock_monotonic_us();
    while (!atomic_load(&load_end)) {
        if (!atomic_load(&load_on) || atomic_load(&commands) + BATCH > COMMANDS_MAX) {
            pass_time_ms(2);
            next_us = lab_clock_monotonic_us();
            continue;
        }
        const unsigned first = atomic_load(&commands);
        for (unsigned n = first; n < first + BATCH; n++) {
            publish_numbered(n);
        }
        record_acknowledged(first, first + BATCH);
        atomic_store(&commands, first + BATCH);
        next_us += BATCH * INT64_C(1000000) / read_rounds("TANDEM_RATE", COMMANDS_PER_S);
        if (next_us > lab_clock_monotonic_us()) {
            pass_time_ms((long)((next_us - lab_clock_monotonic_us()) / 1000));
        }
    }
    return NULL;
}

static bool count_entry(void *context, const struct store_row *row)
{
    unsigned *total = context;
    const unsigned long n = strtoul(row->id + 1, NULL, 10);
    if (row->id[0] == 'k' && n < COMMANDS_MAX) {
        entries[n]++;
        (*total)++;
        verdicts[strcmp(row->type, "TIMEOUT") == 0]++;
    }
    return true;
}

/* Entries of the store by command; returns their number. */
static unsigned count_entries(void)
{
    memset(entries, 0, sizeof entries);
    memset(verdicts, 0, sizeof verdicts);
    struct store_reader *reader = NULL;
    unsigned total = 0;
    if (store_reader_open(&(struct store_params){.path = daemon_path(&served, "store.db")},
                          &reader, NULL) != STATUS_OK) {
        return 0;
    }
    struct store_query query = {.kind = STORE_ENTRIES,
                                .since_us = INT64_MIN,
                                .until_us = INT64_MAX,
                                .limit = STORE_PAGE_MAX};
    char next[STORE_CURSOR_MAX] = "";
    char cursor[STORE_CURSOR_MAX] = "";
    do {
        memcpy(cursor, next, sizeof cursor);
        query.cursor = cursor;
        if (store_query(reader, &query, count_entry, &total, next, NULL) != STATUS_OK) {
            break;
        }
    } while (next[0]);
    store_reader_close(reader);
    return total;
}

/* The limit depends on progress: as long as entries come, the wait continues. */
static bool wait_entries(unsigned count, int idle_ms)
{
    char words[64];
    unsigned have = count_entries();
    for (int64_t end_us = 0; have < count && wait_more(&end_us, idle_ms);) {
        const unsigned before = have;
        have = count_entries();
        if (have > before) {
            end_us = 0;
        }
    }
    (void)snprintf(words, sizeof words, "%u entries, there are %u", count, have);
    return daemon_waited(&served, have >= count, words);
}

/* The acknowledged commands that have no entry. */
static unsigned count_missing(unsigned from)
{
    unsigned missing = 0;
    for (unsigned n = from; n < atomic_load(&commands); n++) {
        missing += state[n] == ACKNOWLEDGED && entries[n] == 0;
    }
    return missing;
}

/* The store has every acknowledged command once, and none twice. */
static void check_entries(const char *row, unsigned from)
{
    const unsigned missing = count_missing(from);
    unsigned twice = 0;
    unsigned acknowledged = 0;
    const unsigned count = atomic_load(&commands);
    for (unsigned n = from; n < count; n++) {
        acknowledged += state[n] == ACKNOWLEDGED;
        twice += entries[n] > 1;
        if (missing + twice > 0 && missing + twice < 5 && (entries[n] != 1)) {
            (void)printf("    k%u has %u entries\n", n, entries[n]);
        }
    }
    CHECK_INT(row, missing, 0);
    CHECK_INT(row, twice, 0);
    CHECK("there was a load", acknowledged > 100);
    (void)printf(
        "    %s: %u acknowledged, %u missing, %u twice, %u of all entries are TIMEOUT\n", row,
        acknowledged, missing, twice, verdicts[1]);
}

/* No command is sent until the load is on again. */
static void pause_load(void)
{
    atomic_store(&load_on, false);
    for (unsigned before = ~0U; before != atomic_load(&commands);) {
        before = atomic_load(&commands);
        pass_time_ms(300);
    }
}

/* The load pauses and the daemon becomes idle; then the store is judged. */
static void await_settled(const char *row, unsigned from)
{
    pause_load();
    CHECK("all entries come", wait_entries(atomic_load(&commands), 20000));
    check_entries(row, from);
    CHECK_INT("nothing lost by the inbox",
              (long long)daemon_metric(&served, "tandem_inbox_lost_total"), 0);
}

static unsigned random_state = 12345;

static unsigned next_random(unsigned below)
{
    random_state = random_state * 1664525U + 1013904223U;
    return (random_state >> 8) % below;
}

static void test_start(void)
{
    CU_ASSERT_FATAL(broker_init(&broker));
    CU_ASSERT_FATAL(broker_start(&broker));
    CU_ASSERT_FATAL(daemon_init(&served, broker.port,
                                "defaults: {timeout_s: 3, outstanding_max: 16}\n"
                                "pairs: {r: {count: 8}}\n"));
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("ready", daemon_wait_ready(&served, 200, 10000));
    const struct mqtt_client_options options = {
        .port = broker.port, .client_id = "publisher", .prefix = "load", .persistent = true};
    CU_ASSERT_FATAL(mqtt_client_create(&client, &options, NULL) == STATUS_OK);
    CU_ASSERT_FATAL(pthread_create(&publisher, NULL, publish_on, NULL) == 0);
}

static void test_kills(void)
{
    const long kills = read_rounds("TANDEM_KILLS", 20);
    atomic_store(&load_on, true);
    for (long i = 0; i < kills; i++) {
        /* Sometimes in the middle of the restart. */
        pass_time_ms(i % 5 == 4 ? 20 + next_random(300) : 300 + next_random(700));
        CHECK_INT("killed", daemon_end(&served, SIGKILL), -SIGKILL);
        CHECK("starts again", daemon_start_run(&served));
    }
    pass_time_ms(1000);
    await_settled("killed daemon", 0);
    (void)printf("    %ld kills, %.0f messages delivered again\n", kills,
                 daemon_metric(&served, "tandem_redelivered_total"));
}

static void test_broker_restarts(void)
{
    const unsigned from = atomic_load(&commands);
    atomic_store(&load_on, true);
    for (long i = read_rounds("TANDEM_RESTARTS", 3); i > 0; i--) {
        pass_time_ms(700);
        broker_stop(&broker, SIGTERM);
        pass_time_ms(200);
        CHECK("broker starts again", broker_start(&broker));
        CHECK("daemon is back", daemon_wait_ready(&served, 200, 15000));
    }
    pass_time_ms(500);
    await_settled("restarted broker", from);
}

static void test_frozen(void)
{
    const unsigned from = atomic_load(&commands);
    atomic_store(&load_on, true);
    for (long i = read_rounds("TANDEM_FREEZES", 1); i > 0; i--) {
        pass_time_ms(500);
        CHECK("freeze", kill(served.pid, SIGSTOP) == 0);
        pass_time_ms(5000);
        CHECK("thaw", kill(served.pid, SIGCONT) == 0);
        pass_time_ms(500);
    }
    await_settled("frozen daemon", from);
}

static void test_orderly_restart(void)
{
    const unsigned from = atomic_load(&commands);
    atomic_store(&load_on, true);
    for (int i = 0; i < 3; i++) {
        pass_time_ms(500);
        CHECK_INT("in good order", daemon_end(&served, SIGTERM), 0);
        CHECK("starts again", daemon_start_run(&served));
    }
    pass_time_ms(500);
    await_settled("orderly restart", from);
}

static void test_broker_killed(void)
{
    atomic_store(&load_on, true);
    pass_time_ms(700);
    broker_stop(&broker, SIGKILL);
    CHECK("notices", daemon_wait_ready(&served, 503, 10000));
    const int64_t began_us = lab_clock_monotonic_us();
    CHECK("broker starts again", broker_start(&broker));
    CHECK("daemon is back", daemon_wait_ready(&served, 200, 15000));
    (void)printf("    back %.1f s after the broker\n",
                 (double)(lab_clock_monotonic_us() - began_us) * 1e-6);
    /* Messages sent meanwhile may be lost with the broker; later ones must not. */
    CHECK("what waited is sent", mqtt_client_wait_sent(client, wait_limit_ms(20000)));
    const unsigned from = atomic_load(&commands) + BATCH;
    pass_time_ms(1500);
    pause_load();
    unsigned before = ~0U;
    for (int64_t end_us = 0; wait_more(&end_us, 20000);) { /* as long as entries come */
        (void)count_entries();
        const unsigned missing = count_missing(from);
        if (missing == 0) {
            break;
        }
        end_us = missing < before ? 0 : end_us;
        before = missing;
    }
    check_entries("after a killed broker", from);
}

static void test_stop(void)
{
    atomic_store(&load_end, true);
    (void)pthread_join(publisher, NULL);
    mqtt_client_stop(client, 1000);
    mqtt_client_destroy(client);
    CHECK_INT("stops in good order", daemon_end(&served, SIGTERM), 0);
    CHECK("reports it", strstr(daemon_log(&served), "stopped: all is on the disk") != NULL);
    if (CU_get_number_of_failures() > 0) {
        (void)printf("    see %s and %s\n", served.dir, broker.dir);
        return;
    }
    daemon_finish(&served);
    broker_finish(&broker, NULL);
}

int main(void)
{
    if (broker_skip()) {
        (void)puts("SKIPPED: mosquitto is not installed");
        return 77;
    }
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("nothing lost", NULL, NULL);
    CU_add_test(suite, "start", test_start);
    CU_add_test(suite, "kills", test_kills);
    CU_add_test(suite, "broker restarts", test_broker_restarts);
    CU_add_test(suite, "frozen", test_frozen);
    CU_add_test(suite, "orderly restart", test_orderly_restart);
    CU_add_test(suite, "broker killed", test_broker_killed);
    CU_add_test(suite, "stop", test_stop);
    return check_run();
}
