/* A full disk: readyz says so, ingestion goes on, and once there is room again everything is
 * made up for. First with a limit on the size of files, which every user may set, then with a
 * small file system of its own, which takes root. Uses threads. */
#include "tests/support/check.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "logger/storage/store.h"
#include "service/mqtt/mqtt_client.h"
#include "tests/support/broker.h"
#include "tests/support/daemon.h"

static struct broker broker;
static struct daemon_run served;
static struct mqtt_client *client;
static _Atomic unsigned published_entries; /* seen over MQTT */
static unsigned commands;

static void count_message(void *context, const char *topic, const void *payload, size_t bytes,
                          int qos, bool retained, bool dup, uint16_t packet_id)
{
    (void)context;
    (void)topic;
    (void)payload;
    (void)bytes;
    (void)qos;
    (void)retained;
    (void)dup;
    (void)packet_id;
    atomic_fetch_add(&published_entries, 1);
}

static void say(const char *what, const char *rest)
{
    char topic[64];
    char payload[160];
    (void)snprintf(topic, sizeof topic, "tandem/v1/r1/%s", what);
    const int bytes = snprintf(payload, sizeof payload, "{\"id\":\"k%u\",%s}", commands, rest);
    CHECK_INT("publish", mqtt_client_publish(client, topic, payload, (size_t)bytes, 1, false),
              STATUS_OK);
}

static void say_commands(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        say("command", "\"op\":\"go\",\"rotation_rad\":1,\"displacement_m\":0.5");
        say("real/reply", "\"status\":\"done\"");
        say("virtual/reply", "\"status\":\"done\"");
        commands++;
        broker_sleep_ms(5);
    }
    CHECK("acknowledged", mqtt_client_wait_sent(client, 10000));
}

static bool count_row(void *context, const struct store_row *row)
{
    unsigned *count = context;
    (void)row;
    (*count)++;
    return true;
}

static unsigned stored_entries(void)
{
    struct store_reader *reader = NULL;
    unsigned count = 0;
    char cursor[STORE_CURSOR_MAX];
    const struct store_query query = {.kind = STORE_ENTRIES,
                                      .since_us = INT64_MIN,
                                      .until_us = INT64_MAX,
                                      .limit = STORE_PAGE_MAX};
    if (store_reader_open(daemon_path(&served, "store.db"), &reader, NULL) == STATUS_OK) {
        if (store_query(reader, &query, count_row, &count, cursor, NULL) != STATUS_OK) {
            count = 0;
        }
        store_reader_close(reader);
    }
    return count;
}

static bool wait_for(unsigned (*what)(void), unsigned count)
{
    char words[64];
    for (int i = 0; i < 300 && what() < count; i++) {
        broker_sleep_ms(50);
    }
    CHECK_INT("count", what(), count);
    (void)snprintf(words, sizeof words, "%u entries, there are %u", count, what());
    return daemon_waited(&served, what() == count, words);
}

static unsigned seen_entries(void)
{
    return atomic_load(&published_entries);
}

static void start(void)
{
    atomic_store(&published_entries, 0);
    commands = 0;
    static const struct mqtt_client_topic topics[] = {{"tandem/v1/+/entry", 1}};
    const struct mqtt_client_options options = {.port = broker.port,
                                                .client_id = "tester",
                                                .prefix = "test",
                                                .topics = topics,
                                                .topic_count = 1,
                                                .message = count_message};
    CU_ASSERT_FATAL(mqtt_client_create(&client, &options, NULL) == STATUS_OK);
    CHECK("subscribed", mqtt_client_wait_subscribed(client, 10000));
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("ready", daemon_wait_ready(&served, 200, 10000));
}

/* Wait until /readyz says so. */
static bool wait_body(const char *text)
{
    char body[8192];
    for (int i = 0; i < 250; i++) {
        (void)daemon_get(&served, "/readyz", body, sizeof body);
        if (strstr(body, text)) {
            return true;
        }
        broker_sleep_ms(20);
    }
    return daemon_waited(&served, false, text);
}

/* at_once: not even what begun blocks have room for is written. */
static void play(const char *row, void (*fill)(void), void (*clear)(void), bool at_once)
{
    say_commands(20);
    CHECK(row, wait_for(stored_entries, 20));
    fill();
    say_commands(30);
    CHECK(row, daemon_wait_ready(&served, 503, 10000));
    CHECK("names the journal", wait_body("\"journal\":{\"ok\":false"));
    CHECK("names the store", !at_once || wait_body("\"store\":{\"ok\":false"));
    CHECK("ingestion goes on", wait_for(seen_entries, 50));
    CHECK("it is counted",
          daemon_metric(&served, "tandem_inbox_not_journalled_total") >= (at_once ? 90 : 1));
    CHECK_INT("nothing is lost", (long long)daemon_metric(&served, "tandem_inbox_lost_total"),
              0);
    clear();
    CHECK("recovers by itself", daemon_wait_ready(&served, 200, 15000));
    CHECK("what waited is stored", wait_for(stored_entries, 50));
    say_commands(10);
    CHECK(row, wait_for(stored_entries, 60));
    /* A checkpoint holds what the journal lacks. */
    const double before = daemon_metric(&served, "tandem_checkpoints_total");
    for (int i = 0; i < 100 && daemon_metric(&served, "tandem_checkpoints_total") <= before;
         i++) {
        say_commands(1);
        broker_sleep_ms(50);
    }
    const unsigned total = commands;
    CHECK(row, wait_for(stored_entries, total));
    CHECK_INT("killed", daemon_end(&served, SIGKILL), -SIGKILL);
    CHECK("starts again", daemon_start_run(&served));
    say_commands(5);
    CHECK(row, wait_for(stored_entries, total + 5));
    CHECK_INT("none was published twice", seen_entries(), total + 5);
    CHECK_INT("stops in good order", daemon_end(&served, SIGTERM), 0);
}

static void end(void)
{
    mqtt_client_stop(client, 1000);
    mqtt_client_destroy(client);
    daemon_finish(&served);
}

/* ---- a limit on the size of files ---- */

static void limit(rlim_t bytes)
{
    struct rlimit now;
    CHECK("limits", prlimit(served.pid, RLIMIT_FSIZE, NULL, &now) == 0);
    now.rlim_cur = bytes < now.rlim_max ? bytes : now.rlim_max;
    CHECK("limit", prlimit(served.pid, RLIMIT_FSIZE, &now, NULL) == 0);
}

static void fill_by_limit(void)
{
    limit(0);
}

static void clear_limit(void)
{
    limit(RLIM_INFINITY);
}

static void test_limit(void)
{
    CU_ASSERT_FATAL(daemon_init(&served, broker.port, "pairs: {r1: {}}\n"));
    start();
    play("limit", fill_by_limit, clear_limit, true);
    end();
}

/* ---- a small file system ---- */

static void fill_disk(void)
{
    FILE *out = fopen(daemon_path(&served, "journal/ballast"), "we");
    static const char block[4096];
    (void)setvbuf(out, NULL, _IONBF, 0);
    while (out && fwrite(block, 1, sizeof block, out) == sizeof block) {
    }
    if (out) {
        (void)fclose(out);
    }
}

static void clear_disk(void)
{
    CHECK("ballast", remove(daemon_path(&served, "journal/ballast")) == 0);
}

static void test_small_disk(void)
{
    CU_ASSERT_FATAL(daemon_init(&served, broker.port, "pairs: {r1: {}}\n"));
    /* Lab file and log stay outside; store and checkpoint move in. */
    const char *disk = daemon_path(&served, "journal");
    FILE *lab = fopen(daemon_path(&served, "lab.yaml"), "we");
    CU_ASSERT_FATAL(lab != NULL && mkdir(disk, 0700) == 0);
    (void)fprintf(lab,
                  "broker: {port: %d}\nhttp: {port: 0}\njournal: {dir: %s}\n"
                  "store: {file: %s/store.db}\n"
                  "checkpoint: {file: %s/checkpoint, interval_s: 0.5}\npairs: {r1: {}}\n",
                  broker.port, disk, disk, disk);
    (void)fclose(lab);
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tandem", disk, "tmpfs", 0, "size=2m") != 0) {
        (void)puts("    SKIPPED: a small file system cannot be mounted here");
        daemon_finish(&served);
        return;
    }
    CHECK("link", symlink("journal/store.db", daemon_path(&served, "store.db")) == 0);
    start();
    play("small disk", fill_disk, clear_disk, false);
    mqtt_client_stop(client, 1000);
    mqtt_client_destroy(client);
    (void)umount(disk);
    daemon_finish(&served);
}

int main(void)
{
    if (broker_skip()) {
        (void)puts("SKIPPED: mosquitto is not installed");
        return 77;
    }
    CU_initialize_registry();
    if (!broker_init(&broker) || !broker_start(&broker)) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("full disk", NULL, NULL);
    CU_add_test(suite, "limit", test_limit);
    CU_add_test(suite, "small disk", test_small_disk);
    const int code = check_run();
    broker_finish(&broker, NULL);
    return code;
}
