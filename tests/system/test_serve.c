/* needs: threads, virtual time */
/* The daemon with a real broker: how it starts, refuses, answers, restarts and stops; threads.
 */
#include "tests/support/check.h"

#include <glob.h>
#include <pthread.h>

#include "logger/storage/store.h"
#include "service/daemon/daemon_parts.h"
#include "service/mqtt/mqtt_client.h"
#include "service/tool/lab_clock.h"
#include "tests/support/broker_tests.h"
#include "tests/support/checkpoint_file.h"
#include "tests/support/daemon.h"
#include "tests/support/fault_code.h"

enum { STORED_MAX = 512 };

static struct broker broker;
static struct daemon_run served;

/* ---- a client that records what it receives ---- */

static struct {
    pthread_mutex_t lock;
    size_t count;
    struct {
        char topic[64], payload[1024];
        bool retained;
    } message[STORED_MAX];
} received = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct mqtt_client *client;

static void store_message(void *context, const char *topic, const void *payload, size_t bytes,
                          int qos, bool retained, bool dup, uint16_t packet_id)
{
    (void)context;
    (void)qos;
    (void)dup;
    (void)packet_id;
    (void)pthread_mutex_lock(&received.lock);
    if (received.count < STORED_MAX) {
        (void)snprintf(received.message[received.count].topic, sizeof received.message[0].topic,
                       "%s", topic);
        (void)snprintf(received.message[received.count].payload,
                       sizeof received.message[0].payload, "%.*s", (int)bytes,
                       (const char *)payload);
        received.message[received.count].retained = retained;
        received.count++;
    }
    (void)pthread_mutex_unlock(&received.lock);
}

/* How many messages of this topic contain text. */
static int count_received(const char *topic, const char *text)
{
    int count = 0;
    (void)pthread_mutex_lock(&received.lock);
    for (size_t i = 0; i < received.count; i++) {
        count += strcmp(received.message[i].topic, topic) == 0 &&
                 strstr(received.message[i].payload, text) != NULL;
    }
    (void)pthread_mutex_unlock(&received.lock);
    return count;
}

static bool wait_received(const char *topic, const char *text, int count)
{
    for (int64_t end_us = 0;
         count_received(topic, text) < count && wait_more(&end_us, 10000);) {
    }
    char words[128];
    (void)snprintf(words, sizeof words, "%d times '%s' on %s", count, text, topic);
    return daemon_waited(&served, count_received(topic, text) >= count, words);
}

static void start_receiving(void)
{
    static const struct mqtt_client_topic topics[] = {{"tandem/v1/#", 1}};
    const struct mqtt_client_options options = {.port = broker.port,
                                                .client_id = "tester",
                                                .prefix = "test",
                                                .topics = topics,
                                                .topic_count = 1,
                                                .message = store_message};
    (void)pthread_mutex_lock(&received.lock);
    received.count = 0;
    (void)pthread_mutex_unlock(&received.lock);
    CU_ASSERT_FATAL(mqtt_client_create(&client, &options, NULL) == STATUS_OK);
    CHECK("subscribed", mqtt_client_wait_subscribed(client, wait_limit_ms(10000)));
}

static void stop_receiving(void)
{
    mqtt_client_stop(client, 1000);
    mqtt_client_destroy(client);
}

static void publish_text(const char *topic, const char *payload)
{
    char whole[96];
    (void)snprintf(whole, sizeof whole, "tandem/v1/%s", topic);
    CHECK_INT(topic, mqtt_client_publish(client, whole, payload, strlen(payload), 1, false),
              STATUS_OK);
    CHECK(topic, mqtt_client_wait_sent(client, wait_limit_ms(10000)));
}

static bool record_store_row(void *context, const struct store_row *row)
{
    char(*ids)[64] = context;
    for (int i = 0; i < 64; i++) {
        if (!ids[i][0]) {
            (void)snprintf(ids[i], sizeof ids[i], "%.30s=%.30s", row->id, row->type);
            break;
        }
    }
    return true;
}

/* The store's entries, "id=VERDICT" each, oldest first. */
static int read_stored(char ids[64][64])
{
    struct store_reader *reader = NULL;
    memset(ids, 0, 64 * sizeof ids[0]);
    const struct store_query query = {
        .kind = STORE_ENTRIES, .since_us = INT64_MIN, .until_us = INT64_MAX, .limit = 60};
    char cursor[STORE_CURSOR_MAX];
    if (store_reader_open(&(struct store_params){.path = daemon_path(&served, "store.db")},
                          &reader, NULL) == STATUS_OK) {
        CHECK_INT("query", store_query(reader, &query, record_store_row, ids, cursor, NULL),
                  STATUS_OK);
        store_reader_close(reader);
    }
    int count = 0;
    while (count < 64 && ids[count][0]) {
        count++;
    }
    return count;
}

static int wait_stored(char ids[64][64], int count)
{
    for (int64_t end_us = 0; read_stored(ids) < count && wait_more(&end_us, 10000);) {
    }
    (void)daemon_waited(&served, read_stored(ids) >= count, "entries in the store");
    return read_stored(ids);
}

/* ---- wrong usage and what cannot be had ---- */

/* Runs `tandem serve` with these arguments; its exit status and its output. */
static int run_serve(const char *arguments, char *output, size_t size)
{
    char command[512];
    (void)snprintf(command, sizeof command, "%s serve %s 2>&1", TANDEM_PROGRAM, arguments);
    FILE *pipe = popen(command, "re");
    CU_ASSERT_FATAL(pipe != NULL);
    const size_t n = fread(output, 1, size - 1, pipe);
    output[n] = '\0';
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void write_secret(const char *name, const char *text, mode_t mode)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", served.dir, name);
    FILE *out = fopen(path, "we");
    CU_ASSERT_FATAL(out != NULL);
    CHECK(name, fputs(text, out) >= 0 && fchmod(fileno(out), mode) == 0 && fclose(out) == 0);
}

static bool has_in_order(const char *text, const char *parts)
{
    while (text && *parts) {
        const size_t n = strcspn(parts, "\n");
        char part[128];
        (void)snprintf(part, sizeof part, "%.*s", (int)n, parts);
        text = strstr(text, part);
        text = text ? text + n : NULL;
        parts += n + (parts[n] == '\n');
    }
    return text != NULL;
}

static void test_refusals(void)
{
    CU_ASSERT_FATAL(daemon_init(&served, broker.port, "pairs: {r1: {}}\n"));
    CU_ASSERT_FATAL(daemon_start_run(&served));
    char other[256];
    char lab[32][128];
    (void)snprintf(other, sizeof other, "port: %d", served.http_port);
    const struct {
        const char *name, *lab, *arguments;
        int code;
        const char *says;  /* parts, in this order, with \n between them */
        const char *fault; /* its code; NULL: none */
    } rows[] = {
        {"help", NULL, "--help", 0, "TERM, INT", NULL},
        {"no lab file", NULL, "", 2, "-c LAB.yaml", NULL},
        {"unknown option", NULL, "-c x --frobnicate", 2, "unknown option '--frobnicate'", NULL},
        {"no value", NULL, "--config", 2, "--config: its value FILE is missing", NULL},
        {"log format", NULL, "-c x --log-format xml", 2, "--log-format xml: one of plain|json",
         NULL},
        {"missing lab file", NULL, "-c /nowhere/lab.yaml", 2,
         "/nowhere/lab.yaml: ", "file_unreadable"},
        {"fault", "pears: {r1: {}}\n", "", 2, "'pears'", "unknown_key"},
        {"check", "pairs: {r1: {timeout_s: 7}}\n", "--check", 0, "timeout_s: 7", NULL},
        {"check a map", "pairs: {r1: {map: /nowhere/room.yaml}}\n", "--check", 2,
         "/nowhere/room.yaml", "file_unreadable"},
        {"journal elsewhere", "journal: {dir: /proc/none/journal}\npairs: {r1: {}}\n", "", 1,
         "/proc/none/journal", "file_unwritable"},
        {"store elsewhere",
         "store: {file: /proc/none/store}\njournal: {dir: DIR/j2}\n"
         "http: {enabled: false}\npairs: {r1: {}}\n",
         "", 1, "/proc/none/store", "store_failed"},
        {"journal in use", "journal: {dir: DIR/journal}\npairs: {r1: {}}\n", "", 1,
         "journal: ", "in_use"},
        {"address in use",
         "journal: {dir: DIR/j3}\nstore: {file: DIR/s3}\nhttp: {PORT}\npairs: {r1: {}}\n", "",
         1, "http", "listen_failed"},
        {"token file",
         "journal: {dir: DIR/j4}\nstore: {file: DIR/s4}\n"
         "http: {port: 0, token_file: /nowhere/token}\npairs: {r1: {}}\n",
         "", 2, "/nowhere/token: http.token_file ", "file_unreadable"},
        {"files, all at once",
         "broker: {username: a, password_file: /nowhere/password, tls: {enabled: true,\n"
         "  ca_file: /nowhere/ca, cert_file: /nowhere/cert, key_file: /nowhere/key}}\n"
         "http: {token_file: /nowhere/token, tls_certificate: /nowhere/pem,\n"
         "  tls_key: /nowhere/pem.key}\npairs: {r1: {}}\n",
         "--check", 2,
         "/nowhere/password: broker.password_file \n/nowhere/ca: broker.tls.ca_file \n"
         "/nowhere/cert: broker.tls.cert_file \n/nowhere/key: broker.tls.key_file \n"
         "/nowhere/token: http.token_file \n/nowhere/pem: http.tls_certificate \n"
         "/nowhere/pem.key: http.tls_key ",
         "file_unreadable"},
        {"files of inactive parts",
         "http: {enabled: false, token_file: /nowhere/token}\npairs: {r1: {}}\n", "--check", 0,
         "enabled: false", NULL},
        {"a short token", "http: {token_file: DIR/short}\npairs: {r1: {}}\n", "--check", 2,
         "http.token_file: 15 ", "secret_weak"},
        {"a short key of the webhook",
         "alarms: {webhook: {url: 'http://[::1]:1/', key_file: DIR/short}}\n"
         "pairs: {r1: {}}\n",
         "--check", 2, "alarms.webhook.key_file: 15 ", "secret_weak"},
        {"a token just long enough", "http: {token_file: DIR/long}\npairs: {r1: {}}\n",
         "--check", 0, "token_file", NULL},
        {"no token in it", "http: {token_file: DIR/empty}\npairs: {r1: {}}\n", "--check", 2,
         "/empty:1:1: ", "empty_file"},
        {"a token for all to read", "http: {token_file: DIR/open}\npairs: {r1: {}}\n",
         "--check", 2, "(mode 644)", "secret_exposed"},
        {"and to start with",
         "journal: {dir: DIR/j5}\nstore: {file: DIR/s5}\n"
         "http: {port: 0, token_file: DIR/open}\npairs: {r1: {}}\n",
         "", 2, "(mode 644)", "secret_exposed"},
        {"no file", "http: {token_file: DIR}\npairs: {r1: {}}\n", "--check", 2,
         "http.token_file", "not_a_file"},
    };
    write_secret("short", "fifteen-letters\nand more\n", 0600);
    write_secret("long", "sixteen-letters!\n", 0640);
    write_secret("empty", "\nsixteen-letters!\n", 0600);
    write_secret("open", "sixteen-letters!\n", 0644);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char arguments[256];
        char output[16384];
        (void)snprintf(arguments, sizeof arguments, "%s", rows[i].arguments);
        if (rows[i].lab) {
            (void)snprintf(lab[i], sizeof lab[i], "%s/lab%zu.yaml", served.dir, i);
            FILE *out = fopen(lab[i], "we");
            CU_ASSERT_FATAL(out != NULL);
            for (const char *c = rows[i].lab; *c; c++) {
                if (strncmp(c, "DIR", 3) == 0) {
                    (void)fputs(served.dir, out);
                    c += 2;
                } else if (strncmp(c, "PORT", 4) == 0) {
                    (void)fputs(other, out);
                    c += 3;
                } else {
                    (void)fputc(*c, out);
                }
            }
            (void)fclose(out);
            (void)snprintf(arguments, sizeof arguments, "-c %s %s", lab[i], rows[i].arguments);
        }
        CHECK_INT(rows[i].name, run_serve(arguments, output, sizeof output), rows[i].code);
        const bool published = has_in_order(output, rows[i].says);
        CHECK(rows[i].name, published);
        CHECK(rows[i].name, !rows[i].fault || has_fault_code(rows[i].fault, output));
        if (!published) {
            (void)printf("    %s\n", output);
        }
    }
    CHECK_INT("the first is not disturbed", daemon_end(&served, SIGTERM), 0);
    daemon_finish(&served);
}

/* ---- life ---- */

static void test_late_broker(void)
{
    broker_stop(&broker, SIGTERM);
    CU_ASSERT_FATAL(daemon_init(&served, broker.port, "pairs: {r1: {}}\n"));
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("not ready", daemon_wait_ready(&served, 503, 5000));
    CHECK("gives the reason", daemon_wait_log(&served, "broker_down: connecting to", 5000));
    CHECK("broker", broker_start(&broker));
    CHECK("ready by itself", daemon_wait_ready(&served, 200, 10000));
    CHECK_INT("hangup", kill(served.pid, SIGHUP), 0);
    CHECK("checks again", daemon_wait_log(&served, "is what the daemon runs with", 5000));
    FILE *lab = fopen(daemon_path(&served, "lab.yaml"), "ae");
    CU_ASSERT_FATAL(lab != NULL);
    (void)fputs("colour: red\n", lab);
    (void)fclose(lab);
    CHECK_INT("hangup", kill(served.pid, SIGHUP), 0);
    CHECK("names the fault", daemon_wait_log(&served, "'colour'", 5000) &&
                                 has_fault_code("unknown_key", daemon_log(&served)));
    CHECK_INT("interrupt", daemon_end(&served, SIGINT), 0);
    daemon_finish(&served);
}

/* Metrics that documents name are there, and the page is as Prometheus wants it. */
static void check_metrics(void)
{
    static char page[1 << 18];
    static char docs[1 << 17];
    CHECK_INT("metrics", daemon_get(&served, "/metrics", page, sizeof page), 200);
    size_t n = 0;
    static const char *const files[] = {TANDEM_SOURCE_DIR "/docs/metrics.md",
                                        TANDEM_SOURCE_DIR "/docs/operations.md"};
    for (size_t i = 0; i < COUNT(files); i++) {
        FILE *in = fopen(files[i], "re");
        CU_ASSERT_FATAL(in != NULL);
        n += fread(docs + n, 1, sizeof docs - 1 - n, in);
        (void)fclose(in);
    }
    docs[n] = '\0';
    char name[128];
    size_t named = 0;
    for (const char *at = docs; (at = strstr(at, "`tandem_")) != NULL; at++, named++) {
        /* A name that ends in the sign for "and so on" matches all that begin so. */
        const size_t bytes = 1 + strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_");
        const bool whole = at[bytes] == '`' || at[bytes] == '{';
        (void)snprintf(name, sizeof name, "# HELP %.*s%s", (int)bytes - 1, at + 1,
                       whole ? " " : "");
        CHECK(name, strstr(page, name) != NULL);
    }
    CHECK("documents name metrics", named > 30);
    FILE *tool = popen("command -v promtool >/dev/null || exec cat >/dev/null; "
                       "exec promtool check metrics 2>&1",
                       "we");
    CU_ASSERT_FATAL(tool != NULL);
    (void)fputs(page, tool);
    CHECK_INT("promtool", pclose(tool), 0);
}

static void test_results(void)
{
    char body[65536];
    char ids[64][64];
    start_receiving();
    CU_ASSERT_FATAL(daemon_init(&served, broker.port,
                                "defaults: {timeout_s: 1, calibration: {publish_every: "
                                "2}}\npairs: {r1: {}, r2: {}}\n"));
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("ready", daemon_wait_ready(&served, 200, 10000));
    CHECK("online", wait_received("tandem/v1/connection", "online", 1));
    publish_text("r1/command", "{\"id\":\"a\",\"op\":\"go\",\"displacement_m\":1}");
    pass_time_ms(10); /* the calibration uses no move that takes no time */
    publish_text("r1/real/reply", "{\"id\":\"a\",\"status\":\"done\"}");
    publish_text("r1/virtual/reply", "{\"id\":\"a\",\"status\":\"done\"}");
    publish_text("r1/command", "{\"id\":\"b\",\"op\":\"go\",\"displacement_m\":2}");
    pass_time_ms(10);
    publish_text("r1/real/reply", "{\"id\":\"b\",\"status\":\"done\"}");
    publish_text("r1/real/reply", "not JSON");
    publish_text("r2/command", "{\"id\":\"c\",\"op\":\"go\",\"displacement_m\":2}");
    CHECK("entry", wait_received("tandem/v1/r1/entry", "\"id\":\"a\"", 1));
    CHECK("timeout, with nothing to wake it",
          wait_received("tandem/v1/r1/entry", "TIMEOUT", 1));
    CHECK("of the other, too", wait_received("tandem/v1/r2/entry", "TIMEOUT", 1));
    CHECK("alarm", wait_received("tandem/v1/r1/alarm", "\"type\":\"timeout\"", 1));
    CHECK("malformed", wait_received("tandem/v1/r1/alarm", "\"type\":\"malformed\"", 1));
    CHECK("calibration",
          wait_received("tandem/v1/r1/calibration", "\"travel_time\":{\"real\":", 1));
    CHECK_INT("stored", wait_stored(ids, 3), 3);
    CHECK_INT("served", daemon_get(&served, "/api/v1/pairs/r1/entries", body, sizeof body),
              200);
    CHECK("entry", strstr(body, "\"id\":\"a\"") && strstr(body, "\"id\":\"b\""));
    CHECK_INT("metrics", (long long)daemon_metric(&served, "tandem_lab_malformed_total"), 1);
    CHECK_INT("entries",
              (long long)daemon_metric(&served, "tandem_effects_total{kind=\"entry\"}"), 3);
    check_metrics();
    CHECK_INT("in good order", daemon_end(&served, SIGTERM), 0);
    CHECK("offline", wait_received("tandem/v1/connection", "offline", 1));
    CHECK("no warning", strstr(daemon_log(&served), "broker_down") == NULL);
    /* The calibration is retained for clients that connect later. */
    stop_receiving();
    start_receiving();
    CHECK("retained", wait_received("tandem/v1/r1/calibration", "\"pair\":\"r1\"", 1));
    /* A killed daemon is declared offline by its will. */
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("online again", wait_received("tandem/v1/connection", "online", 1));
    const int before = count_received("tandem/v1/connection", "offline");
    CHECK_INT("killed", daemon_end(&served, SIGKILL), -SIGKILL);
    CHECK("will", wait_received("tandem/v1/connection", "offline", before + 1));
    stop_receiving();
    daemon_finish(&served);
}

static int compare_times(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* From a reply to its entry nothing waits: no 100 ms of a Paho that polls. */
static void test_prompt(void)
{
    enum { ROUNDS = 31 };
    int64_t took_us[ROUNDS];
    start_receiving();
    CU_ASSERT_FATAL(daemon_init(&served, broker.port, "pairs: {r1: {}}\n"));
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("ready", daemon_wait_ready(&served, 200, 10000));
    for (int i = 0; i < ROUNDS; i++) {
        char payload[96];
        char id[32];
        (void)snprintf(id, sizeof id, "\"id\":\"p%d\"", i);
        (void)snprintf(payload, sizeof payload, "{%s,\"op\":\"go\"}", id);
        publish_text("r1/command", payload);
        (void)snprintf(payload, sizeof payload, "{%s,\"status\":\"done\"}", id);
        publish_text("r1/real/reply", payload);
        pass_time_ms(i % 10 == 0 ? 1200 : 10);
        const int64_t began_us = lab_clock_monotonic_us();
        CHECK_INT("reply",
                  mqtt_client_publish(client, "tandem/v1/r1/virtual/reply", payload,
                                      strlen(payload), 1, false),
                  STATUS_OK);
        while (count_received("tandem/v1/r1/entry", id) == 0 &&
               lab_clock_monotonic_us() - began_us < wait_limit_ms(2000) * INT64_C(1000)) {
            pass_time_ms(1);
        }
        took_us[i] = lab_clock_monotonic_us() - began_us;
    }
    qsort(took_us, ROUNDS, sizeof took_us[0], compare_times);
    const int64_t median_us = took_us[ROUNDS / 2];
    CHECK("prompt", median_us < 20000 || !wait_is_virtual());
    (void)printf("    reply to entry: median %.2f ms, longest %.2f ms\n",
                 (double)median_us * 1e-3, (double)took_us[ROUNDS - 1] * 1e-3);
    CHECK_INT("in good order", daemon_end(&served, SIGTERM), 0);
    stop_receiving();
    daemon_finish(&served);
}

/* Link mode: each robot gets a command once, whatever happens to the daemon. */
static void test_link(void)
{
    char ids[64][64];
    start_receiving();
    CU_ASSERT_FATAL(daemon_init(&served, broker.port,
                                "defaults: {mode: link, timeout_s: 5}\npairs: {r1: {}}\n"));
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("ready", daemon_wait_ready(&served, 200, 10000));
    publish_text("r1/command", "{\"id\":\"a\",\"op\":\"go\",\"displacement_m\":1}");
    CHECK("to the real one", wait_received("tandem/v1/r1/real/command", "\"id\":\"a\"", 1));
    CHECK("to the virtual one",
          wait_received("tandem/v1/r1/virtual/command", "\"id\":\"a\"", 1));
    CHECK_INT("killed", daemon_end(&served, SIGKILL), -SIGKILL);
    publish_text("r1/real/reply", "{\"id\":\"a\",\"status\":\"done\"}");
    CHECK("starts again", daemon_start_run(&served));
    publish_text("r1/virtual/reply", "{\"id\":\"a\",\"status\":\"done\"}");
    CHECK("merged reply", wait_received("tandem/v1/r1/reply", "\"id\":\"a\"", 1));
    CHECK("entry", wait_received("tandem/v1/r1/entry", "\"id\":\"a\"", 1));
    CHECK_INT("in good order", daemon_end(&served, SIGTERM), 0);
    CHECK("and again", daemon_start_run(&served));
    CHECK("ready", daemon_wait_ready(&served, 200, 10000));
    publish_text("r1/command", "{\"id\":\"b\",\"op\":\"go\",\"displacement_m\":1}");
    CHECK("next one", wait_received("tandem/v1/r1/real/command", "\"id\":\"b\"", 1));
    CHECK_INT("the real robot moved once",
              count_received("tandem/v1/r1/real/command", "\"id\":\"a\""), 1);
    CHECK_INT("the virtual one, too",
              count_received("tandem/v1/r1/virtual/command", "\"id\":\"a\""), 1);
    CHECK_INT("one reply", count_received("tandem/v1/r1/reply", "\"id\":\"a\""), 1);
    CHECK_INT("one entry", count_received("tandem/v1/r1/entry", "\"id\":\"a\""), 1);
    CHECK_INT("stored once", read_stored(ids), 1);
    CHECK_INT("killed", daemon_end(&served, SIGKILL), -SIGKILL);
    stop_receiving();
    daemon_finish(&served);
}

/* The journal read again with other parameters: nothing is stored or published twice. */
static void test_other_lab_file(void)
{
    char ids[64][64];
    start_receiving();
    CU_ASSERT_FATAL(daemon_init(&served, broker.port, "pairs: {r1: {timeout_s: 1}}\n"));
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("ready", daemon_wait_ready(&served, 200, 10000));
    for (int i = 0; i < 10; i++) {
        char payload[128];
        (void)snprintf(payload, sizeof payload, "{\"id\":\"k%d\",\"op\":\"go\"}", i);
        publish_text("r1/command", payload);
        (void)snprintf(payload, sizeof payload, "{\"id\":\"k%d\",\"status\":\"done\"}", i);
        publish_text("r1/virtual/reply", payload);
        if (i % 3 != 0) {
            publish_text("r1/real/reply", payload);
        }
    }
    CHECK_INT("stored", wait_stored(ids, 10), 10);
    CHECK_INT("killed", daemon_end(&served, SIGKILL), -SIGKILL);
    FILE *lab = fopen(daemon_path(&served, "lab.yaml"), "ae");
    CU_ASSERT_FATAL(lab != NULL);
    (void)fputs("defaults: {sync_tolerance_s: 0.9, outstanding_max: 3}\n", lab);
    (void)fclose(lab);
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("ready", daemon_wait_ready(&served, 200, 10000));
    CHECK("reports it", strstr(daemon_log(&served), "checkpoint_unused") != NULL);
    publish_text("r1/command", "{\"id\":\"k10\",\"op\":\"go\"}");
    publish_text("r1/virtual/reply", "{\"id\":\"k10\",\"status\":\"done\"}");
    publish_text("r1/real/reply", "{\"id\":\"k10\",\"status\":\"done\"}");
    CHECK_INT("one more", wait_stored(ids, 11), 11);
    /* With the session's line, and those of the time at which four commands timed out. */
    const double known = daemon_metric(&served, "tandem_lab_restored_lines_total");
    CHECK("known", known >= 29 && known <= 32);
    CHECK_INT("published once", count_received("tandem/v1/r1/entry", "\"id\":\"k1\""), 1);
    CHECK_INT("in good order", daemon_end(&served, SIGTERM), 0);
    CHECK_INT("still", read_stored(ids), 11);
    stop_receiving();
    daemon_finish(&served);
}

/* A checkpoint of a program with another layout of its state is refused with a message, and the
 * state is rebuilt from the journal. */
static void test_older_checkpoint(void)
{
    char ids[64][64];
    uint64_t fingerprint = 0;
    uint64_t id = 0;
    struct err err = {0};
    struct journal_checkpoint checkpoint = {0};
    start_receiving();
    CU_ASSERT_FATAL(daemon_init(&served, broker.port, "pairs: {r1: {timeout_s: 1}}\n"));
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("ready", daemon_wait_ready(&served, 200, 10000));
    publish_text("r1/command", "{\"id\":\"a\",\"op\":\"go\"}");
    CHECK_INT("stored", wait_stored(ids, 1), 1);
    CHECK_INT("in good order", daemon_end(&served, SIGTERM), 0);
    const char *path = daemon_path(&served, "checkpoint");
    FILE *in = fopen(path, "re");
    CU_ASSERT_FATAL(in && fseek(in, 16, SEEK_SET) == 0 &&
                    fread(&fingerprint, sizeof fingerprint, 1, in) == 1);
    (void)fclose(in);
    CU_ASSERT_FATAL(journal_checkpoint_read(path, CHECKPOINT_VERSION, fingerprint, true,
                                            &checkpoint, &err) == STATUS_OK);
    checkpoint.version = CHECKPOINT_VERSION - 1;
    checkpoint.base = 0;
    CU_ASSERT_FATAL(checkpoint_write(path, &checkpoint, NULL, &id, &err) == STATUS_OK);
    journal_checkpoint_free(&checkpoint);
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("ready", daemon_wait_ready(&served, 200, 10000));
    CHECK("refused in words", has_fault_code("version_mismatch", daemon_log(&served)));
    CHECK_INT("from the journal",
              (long long)daemon_metric(&served, "tandem_lab_restored_lines_total"), 5);
    CHECK_INT("nothing twice", read_stored(ids), 1);
    CHECK_INT("in good order", daemon_end(&served, SIGTERM), 0);
    stop_receiving();
    daemon_finish(&served);
}

/* A damaged partial checkpoint: the whole one alone is good for a start. */
static void test_damaged_changes(void)
{
    char ids[64][64];
    start_receiving();
    CU_ASSERT_FATAL(daemon_init(&served, broker.port, "pairs: {r1: {timeout_s: 1}, r2: {}}\n"));
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("ready", daemon_wait_ready(&served, 200, 10000));
    char changes[128];
    (void)snprintf(changes, sizeof changes, "%s", daemon_path(&served, "checkpoint.changes"));
    int count = 0;
    while (count < 50 && access(changes, R_OK) != 0) {
        char payload[64];
        (void)snprintf(payload, sizeof payload, "{\"id\":\"d%d\",\"op\":\"go\"}", count++);
        publish_text("r1/command", payload);
        for (int64_t end_us = 0; access(changes, R_OK) != 0 && read_stored(ids) < count &&
                                 wait_more(&end_us, 5000);) {
        }
    }
    CHECK_INT("stored", wait_stored(ids, count), count);
    CHECK_INT("killed", daemon_end(&served, SIGKILL), -SIGKILL);
    const int fd = open(changes, O_WRONLY | O_CLOEXEC);
    CHECK("damaged", fd >= 0 && lseek(fd, -1, SEEK_END) > 0 && write(fd, "?", 1) == 1);
    (void)close(fd);
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("ready", daemon_wait_ready(&served, 200, 10000));
    CHECK("told",
          strstr(daemon_log(&served), "checkpoint, with what has changed since: ") != NULL);
    CHECK("not from the beginning",
          (int)daemon_metric(&served, "tandem_lab_restored_lines_total") < count + 3);
    publish_text("r1/command", "{\"id\":\"more\",\"op\":\"go\"}");
    CHECK_INT("each once", wait_stored(ids, count + 1), count + 1);
    CHECK_INT("in good order", daemon_end(&served, SIGTERM), 0);
    stop_receiving();
    daemon_finish(&served);
}

static void remove_oldest_entry(void)
{
    const struct store_params p = {.path = daemon_path(&served, "store.db")};
    struct store *store = NULL;
    uint64_t removed = 0;
    CU_ASSERT_FATAL(store_open(&p, &store, NULL) == STATUS_OK);
    CHECK_INT("removed", store_remove_before(store, INT64_MAX, 1, &removed, NULL), STATUS_OK);
    store_close(store);
    (void)remove(daemon_path(&served, "checkpoint"));
}

/* Without the store: it is rebuilt from the journal, in silence; what a store lacks is
 * published. */
static void test_store_from_journal(void)
{
    char ids[64][64];
    start_receiving();
    CU_ASSERT_FATAL(daemon_init(&served, broker.port, "pairs: {r1: {timeout_s: 1}}\n"));
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("ready", daemon_wait_ready(&served, 200, 10000));
    publish_text("r1/command", "{\"id\":\"a\",\"op\":\"go\"}");
    publish_text("r1/command", "{\"id\":\"b\",\"op\":\"go\"}");
    CHECK_INT("stored", wait_stored(ids, 2), 2);
    CHECK_INT("in good order", daemon_end(&served, SIGTERM), 0);
    static const char *const files[] = {"store.db", "store.db-wal", "store.db-shm",
                                        "checkpoint"};
    for (size_t i = 0; i < COUNT(files); i++) {
        (void)remove(daemon_path(&served, files[i]));
    }
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK_INT("created again", wait_stored(ids, 2), 2);
    CHECK_TEXT("the same", ids[0], "a=TIMEOUT");
    publish_text("r1/command", "{\"id\":\"c\",\"op\":\"go\"}");
    CHECK("published", wait_received("tandem/v1/r1/entry", "\"id\":\"c\"", 1));
    CHECK_INT("once", count_received("tandem/v1/r1/entry", "\"id\":\"a\""), 1);
    CHECK_INT("stored", wait_stored(ids, 3), 3);
    CHECK_INT("in good order", daemon_end(&served, SIGTERM), 0);
    remove_oldest_entry();
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("missing rows", wait_received("tandem/v1/r1/entry", "\"id\":\"a\"", 2));
    CHECK_INT("no other", count_received("tandem/v1/r1/entry", "\"id\":\"b\""), 1);
    CHECK_INT("all there", wait_stored(ids, 3), 3);
    CHECK_INT("in good order", daemon_end(&served, SIGTERM), 0);
    glob_t found;
    CHECK_INT("one journal file",
              glob(daemon_path(&served, "journal/*.jsonl"), 0, NULL, &found), 0);
    FILE *in = fopen(found.gl_pathv[0], "re");
    static char text[16384];
    const size_t n = in ? fread(text, 1, sizeof text - 1, in) : 0;
    text[n] = '\0';
    if (in) {
        (void)fclose(in);
    }
    globfree(&found);
    CHECK("starts with a start", strstr(text, "/$lab/start\"") != NULL &&
                                     strstr(text, "/$lab/start\"") < strchr(text, '\n'));
    CHECK("ends with a stop", n > 200 && strstr(text + n - 200, "/$lab/stop\"") != NULL);
    stop_receiving();
    daemon_finish(&served);
}

static void write_motor(const char *remark, const char *friction)
{
    FILE *to = fopen(daemon_path(&served, "motor.yaml"), "we");
    CU_ASSERT_FATAL(to != NULL);
    (void)fprintf(to,
                  "%smodel: motor\nvelocities: {w: rad/s}\nefforts: {U: V}\n"
                  "parameters: {J: {sign: positive}, f: {}}\n"
                  "equations: [\"J*w' + %s = U\"]\n",
                  remark, friction);
    CU_ASSERT_FATAL(fclose(to) == 0);
}

/* A model whose file has another meaning is reported by name, once, with both hashes; one whose
 * file is only formatted differently is the same. */
static void test_model_changed(void)
{
    CU_ASSERT_FATAL(daemon_init(&served, broker.port,
                                "models: [motor.yaml]\n"
                                "pairs: {r1: {dynamics: {model: motor}}}\n"));
    write_motor("", "f*w");
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("ready", daemon_wait_ready(&served, 200, 10000));
    CHECK_INT("in good order", daemon_end(&served, SIGTERM), 0);
    write_motor("# by me\n", "f*w");
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("ready", daemon_wait_ready(&served, 200, 10000));
    CHECK("the same", strstr(daemon_log(&served), "checkpoint_unused") == NULL);
    CHECK_INT("in good order", daemon_end(&served, SIGTERM), 0);
    write_motor("", "f*abs(w)*w");
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("ready", daemon_wait_ready(&served, 200, 10000));
    const char *reported = strstr(daemon_log(&served), "model_changed");
    CHECK("reports it", reported && strstr(reported, "motor: its file has hash ") &&
                            strstr(reported, "the checkpoint's had "));
    CHECK_INT("in good order", daemon_end(&served, SIGTERM), 0);
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("ready", daemon_wait_ready(&served, 200, 10000));
    CHECK("once", strstr(daemon_log(&served), "model_changed") == NULL);
    CHECK_INT("in good order", daemon_end(&served, SIGTERM), 0);
    daemon_finish(&served);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        {"refusals", test_refusals},
        {"late broker", test_late_broker},
        {"results", test_results},
        {"prompt", test_prompt},
        {"link", test_link},
        {"other lab file", test_other_lab_file},
        {"older checkpoint", test_older_checkpoint},
        {"damaged changes", test_damaged_changes},
        {"model changed", test_model_changed},
        {"store from journal", test_store_from_journal},
        CU_TEST_INFO_NULL,
    };
    return broker_run_tests(&broker, "serve", tests);
}
