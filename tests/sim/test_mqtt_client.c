/* needs: threads, real time */
/* The MQTT client and a real mosquitto that comes late, restarts, crashes, refuses; threads. */
#include "tests/support/check.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/numbers/lab_time.h"
#include "service/mqtt/mqtt_client.h"
#include "service/tool/lab_clock.h"
#include "tests/support/mqtt_fixture.h"

static void test_broker_comes_late(void)
{
    struct broker b;
    struct inbox in;
    struct mqtt_client_state state;
    inbox_init(&in);
    CU_ASSERT_FATAL(broker_init(&b));
    const struct mqtt_client_options options = options_for(&b, "late", &in);
    struct mqtt_client *client = make_client("late", &options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(client);
    CHECK("no broker yet", wait_error(client, "connecting to 127.0.0.1:", &state));
    CHECK_INT("buffered", publish_text(client, "t/x", "7"), STATUS_OK);
    CHECK("not sent", !mqtt_client_wait_sent(client, 300));
    CHECK("start", broker_start(&b));
    CHECK("subscribed", wait_subscribed(client));
    CHECK("sent", wait_sent(client));
    const size_t before = inbox_count(&in);
    CHECK_INT("publish", publish_text(client, "t/x", "8"), STATUS_OK);
    CHECK("received", inbox_wait(&in, before + 1, UP_MS));
    CHECK("sent", wait_sent(client));
    mqtt_client_read_state(client, &state);
    CHECK_INT("one connection", state.connections, 1);
    CHECK("failed before", state.failed_connections >= 1);
    CHECK_INT("published", state.published, 2);
    CHECK_INT("acknowledged", state.acknowledged, 2);
    CHECK_INT("wildcard", publish_text(client, "t/#", "8"), STATUS_E_ARG);
    mqtt_client_stop(client, 2000);
    CHECK_INT("after the end", publish_text(client, "t/x", "8"), STATUS_E_IO);
    mqtt_client_destroy(client);
    CHECK_INT("8 came once", in.seen[8], 1);
    broker_finish(&b, NULL);
}

/* Messages that are useless later do not wait for a broker; all others do. */
static void test_now_or_never(void)
{
    static char big[8192]; /* more of them than sockets keep */
    struct broker b;
    struct inbox in;
    struct mqtt_client_state state;
    inbox_init(&in);
    CU_ASSERT_FATAL(broker_init(&b));
    const struct mqtt_client_options options = options_for(&b, "now", &in);
    struct mqtt_client *client = make_client("now", &options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(client);
    CHECK_INT("no link yet", mqtt_client_publish_now(client, "t/x", "7", 1), STATUS_E_STALE);
    CHECK_INT("others wait", publish_text(client, "t/x", "8"), STATUS_OK);
    CHECK("start", broker_start(&b) && wait_subscribed(client));
    CHECK_INT("now", mqtt_client_publish_now(client, "t/x", "9", 1), STATUS_OK);
    CHECK("both come", inbox_wait(&in, 2, UP_MS));
    memset(big, 'x', sizeof big);
    (void)kill(b.pid, SIGSTOP); /* it receives nothing, and nobody knows yet */
    for (int i = 0; i < 3000; i++) {
        CHECK_INT("handed over", mqtt_client_publish_now(client, "t/x", big, sizeof big),
                  STATUS_OK);
    }
    CHECK_INT("handed over", publish_text(client, "t/x", "10"), STATUS_OK);
    broker_stop(&b, SIGKILL);
    CHECK("again", broker_start(&b) && wait_subscribed(client));
    CHECK("sent", wait_sent(client));
    mqtt_client_read_state(client, &state);
    CHECK("given up", state.failed > 0);
    CHECK("none comes late", strcmp(inbox_last(&in), "10") == 0 && in.seen[0] == 0);
    end_client(client);
    CHECK_INT("not the first", in.seen[7], 0);
    CHECK_INT("this waited", in.seen[10], 1);
    broker_finish(&b, NULL);
}

/* A message that must not arrive twice waits for a broker. It is not sent again if a lost
 * broker may have had it. */
static void test_once(void)
{
    struct broker b;
    struct inbox in;
    struct mqtt_client_state state;
    inbox_init(&in);
    CU_ASSERT_FATAL(broker_init(&b));
    const struct mqtt_client_options options = options_for(&b, "once", &in);
    struct mqtt_client *client = make_client("once", &options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(client);
    CHECK_INT("waits", mqtt_client_publish_once(client, "t/x", "5", 1), STATUS_OK);
    CHECK("start", broker_start(&b) && wait_sent(client));
    CHECK("subscribed", wait_subscribed(client));
    CHECK_INT("now", mqtt_client_publish_once(client, "t/x", "6", 1), STATUS_OK);
    CHECK("comes", inbox_wait(&in, 1, UP_MS) && mqtt_client_wait_sent(client, UP_MS));
    (void)kill(b.pid, SIGSTOP); /* the broker may have an unacknowledged message */
    CHECK_INT("in doubt", mqtt_client_publish_once(client, "t/x", "7", 1), STATUS_OK);
    CHECK_INT("in doubt", publish_text(client, "t/x", "8"), STATUS_OK);
    pass_time_ms(3000);
    broker_stop(&b, SIGKILL);
    CHECK("again", broker_start(&b) && wait_subscribed(client));
    CHECK("sent", wait_sent(client));
    mqtt_client_read_state(client, &state);
    end_client(client);
    CHECK_INT("given up", state.failed, 1);
    CHECK_INT("not again", in.seen[7], 0);
    CHECK_INT("others are", in.seen[8], 1);
    CHECK_INT("once", in.seen[6], 1);
    broker_finish(&b, NULL);
}

/* Thousands a second are handed over some at a time, more than Paho has at once: all come, each
 * once, and a command among them does not wait. */
static void test_many_a_second(void)
{
    struct broker b;
    struct inbox in;
    inbox_init(&in);
    CU_ASSERT_FATAL(broker_init(&b) && broker_start(&b));
    const struct mqtt_client_options options = options_for(&b, "many", &in);
    struct mqtt_client *client = make_client("many", &options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(client);
    CHECK("subscribed", wait_subscribed(client));
    for (int n = 0; n < STORED_MAX; n++) {
        char text[16];
        (void)snprintf(text, sizeof text, "%d", n);
        CHECK_INT("publish",
                  n % 16 ? publish_text(client, "t/x", text)
                         : (int)mqtt_client_publish_once(client, "t/x", text, strlen(text)),
                  STATUS_OK);
        if (n % 64 == 0) {
            pass_time_ms(1);
        }
    }
    CHECK("sent", wait_sent(client));
    CHECK("received", inbox_wait(&in, STORED_MAX, UP_MS));
    end_client(client);
    size_t others = 0;
    for (size_t n = 0; n < STORED_MAX; n++) {
        others += in.seen[n] != 1;
    }
    CHECK_INT("each came once", others, 0);
    broker_finish(&b, NULL);
}

static void test_buffer_is_bounded(void)
{
    struct broker b;
    struct mqtt_client_state state;
    CU_ASSERT_FATAL(broker_init(&b));
    struct mqtt_client_options options = options_for(&b, "bounded", NULL);
    options.buffer_count = 50;
    struct mqtt_client *client = make_client("bounded", &options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(client);
    for (int i = 0; i < 80; i++) {
        CHECK_INT("publish", publish_text(client, "t/x", "1"),
                  i < 50 ? STATUS_OK : STATUS_E_FULL);
    }
    mqtt_client_read_state(client, &state);
    CHECK_INT("published", state.published, 50);
    CHECK_INT("refused", state.refused, 30);
    CHECK("start", broker_start(&b));
    CHECK("sent", wait_sent(client));
    end_client(client);
    broker_finish(&b, NULL);
}

static void restart_round(const char *row, const char *protocol, int signal_number)
{
    struct broker b;
    struct inbox in;
    struct mqtt_client_state state;
    inbox_init(&in);
    CU_ASSERT_FATAL(broker_init(&b) && broker_start(&b));
    struct mqtt_client_options options = options_for(&b, "restart", &in);
    options.persistent = true;
    options.protocol = protocol;
    struct mqtt_client *client = make_client(row, &options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(client);
    CHECK(row, wait_subscribed(client));
    for (int round = 0; round < 2; round++) {
        broker_stop(&b, signal_number);
        mqtt_client_read_state(client, &state);
        for (int64_t end_us = 0; state.connected && wait_more(&end_us, 5000);) {
            mqtt_client_read_state(client, &state);
        }
        CHECK(row, !state.connected && !state.subscribed);
        CHECK(row, broker_start(&b));
        const int64_t back_us = lab_clock_monotonic_us();
        CHECK(row, wait_subscribed(client));
        CHECK_NEAR(row, lab_s(lab_clock_monotonic_us() - back_us), 0.0, 0.0, 5.0);
        const size_t before = inbox_count(&in);
        CHECK_INT(row, publish_text(client, "t/x", "1"), STATUS_OK);
        CHECK(row, inbox_wait(&in, before + 1, 5000));
    }
    mqtt_client_read_state(client, &state);
    CHECK_INT(row, state.connections, 3);
    CHECK_INT(row, state.resumed, signal_number == SIGTERM);
    end_client(client);
    broker_finish(&b, NULL);
}

static void test_broker_restarts(void)
{
    restart_round("SIGTERM, MQTT 5", "5", SIGTERM);
    restart_round("SIGKILL, MQTT 5", "5", SIGKILL);
    restart_round("SIGTERM, MQTT 3.1.1", "3.1.1", SIGTERM);
    restart_round("SIGKILL, MQTT 3.1.1", "3.1.1", SIGKILL);
}

/* How many of the payloads "0" to "count - 1" have not come yet. */
static size_t count_missing(struct inbox *in, size_t count)
{
    size_t missing = 0;
    (void)pthread_mutex_lock(&in->mutex);
    for (size_t i = 0; i < count; i++) {
        missing += in->seen[i] == 0;
    }
    (void)pthread_mutex_unlock(&in->mutex);
    return missing;
}

/* A publisher with QoS 1 loses nothing when its broker restarts in an orderly way. */
static void test_publisher_survives_restart(void)
{
    enum { N = 2000 };
    struct broker b;
    struct inbox in;
    struct mqtt_client_state state;
    inbox_init(&in);
    CU_ASSERT_FATAL(broker_init(&b) && broker_start(&b));
    struct mqtt_client_options listen = options_for(&b, "listener", &in);
    struct mqtt_client_options speak = options_for(&b, "speaker", NULL);
    listen.persistent = true;
    speak.persistent = true;
    struct mqtt_client *listener = make_client("listener", &listen);
    struct mqtt_client *speaker = make_client("speaker", &speak);
    CU_ASSERT_FATAL(listener && speaker);
    CHECK("listens", wait_subscribed(listener));
    CHECK("speaks", wait_subscribed(speaker));
    for (int i = 0; i < N; i++) {
        char text[16];
        (void)snprintf(text, sizeof text, "%d", i);
        CHECK_INT("publish", publish_text(speaker, "t/n", text), STATUS_OK);
        if (i == N / 2) {
            broker_stop(&b, SIGTERM);
            CHECK("again", broker_start(&b));
        }
        if (i % 10 == 0) {
            pass_time_ms(2);
        }
    }
    CHECK("all sent", wait_sent(speaker));
    CHECK("listens again", wait_subscribed(listener));
    /* Some come twice after the restart, so their number does not say that all came. */
    for (int64_t end_us = 0; count_missing(&in, N) > 0 && wait_more(&end_us, UP_MS);) {
    }
    end_client(speaker);
    mqtt_client_read_state(listener, &state);
    CHECK("counted", state.received >= N);
    end_client(listener);
    CHECK_INT("none missing", count_missing(&in, N), 0);
    broker_finish(&b, NULL);
}

/* The process of test_presence_and_will that gets killed. */
static int be_doomed(int port)
{
    const struct broker b = {.port = port};
    struct mqtt_client_options options = options_for(&b, "doomed", NULL);
    options.presence = "t/connection";
    options.online = "doomed online";
    options.offline = "doomed offline";
    struct mqtt_client *client = NULL;
    const bool made = mqtt_client_create(&client, &options, NULL) == STATUS_OK;
    pass_time_ms(made ? 60000 : 0);
    mqtt_client_destroy(client);
    return EXIT_FAILURE;
}

static void test_presence_and_will(void)
{
    struct broker b;
    struct inbox in;
    inbox_init(&in);
    CU_ASSERT_FATAL(broker_init(&b) && broker_start(&b));
    const struct mqtt_client_options watch = options_for(&b, "watcher", &in);
    struct mqtt_client_options live = options_for(&b, "orderly", NULL);
    live.presence = "t/connection";
    live.online = "online";
    live.offline = "offline";
    struct mqtt_client *watcher = make_client("watcher", &watch);
    CU_ASSERT_PTR_NOT_NULL_FATAL(watcher);
    CHECK("watches", wait_subscribed(watcher));
    struct mqtt_client *client = make_client("orderly", &live);
    CU_ASSERT_PTR_NOT_NULL_FATAL(client);
    CHECK("online", inbox_wait(&in, 1, UP_MS));
    CHECK_TEXT("online", inbox_last(&in), "online");
    end_client(client);
    CHECK("offline", inbox_wait(&in, 2, UP_MS));
    CHECK_TEXT("orderly", inbox_last(&in), "offline");

    char port[16];
    (void)snprintf(port, sizeof port, "%d", b.port);
    const pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)setenv("TEST_DOOMED_PORT", port, 1);
        (void)execl("/proc/self/exe", "tests_sim", "test_mqtt_client", (char *)NULL);
        _exit(127);
    }
    CHECK("doomed online", inbox_wait(&in, 3, UP_MS));
    CHECK_TEXT("doomed", inbox_last(&in), "doomed online");
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    CHECK("will", inbox_wait(&in, 4, UP_MS));
    CHECK_TEXT("will", inbox_last(&in), "doomed offline");
    end_client(watcher);
    broker_finish(&b, NULL);
}

/* Paho alone would hold back one message in eight by up to 100 ms on a link idle for a second:
 * heartbeats keep it awake. How late messages were is printed only, a busy machine adds to it.
 */
static void test_idle_link_is_awake(void)
{
    struct broker b;
    struct inbox in;
    struct mqtt_client_state state;
    inbox_init(&in);
    CU_ASSERT_FATAL(broker_init(&b) && broker_start(&b));
    const struct mqtt_client_options listen = options_for(&b, "idle", &in);
    const struct mqtt_client_options speak = options_for(&b, "speaker", NULL);
    struct mqtt_client *listener = make_client("idle", &listen);
    struct mqtt_client *speaker = make_client("speaker", &speak);
    CU_ASSERT_FATAL(listener && speaker);
    CHECK("listens", wait_subscribed(listener));
    CHECK("speaks", wait_subscribed(speaker));
    for (int i = 0; i < 10; i++) {
        char text[32];
        pass_time_ms(i == 0 ? 2000 : 1010 + 37 * i);
        (void)snprintf(text, sizeof text, "@%lld", (long long)lab_clock_monotonic_us());
        CHECK_INT("publish", publish_text(speaker, "t/at", text), STATUS_OK);
    }
    CHECK("all came", inbox_wait(&in, 10, UP_MS));
    mqtt_client_read_state(listener, &state);
    CHECK("heart beats", state.heartbeat_rtt_us > 0 && state.heartbeat_rtt_us < 1000000);
    CHECK_INT("beats are not handed out", state.received, 10);
    end_client(listener);
    end_client(speaker);
    (void)printf("idle link: latest message after %.2f ms\n", (double)in.worst_us * 1e-3);
    broker_finish(&b, NULL);
}

static bool write_file(const struct broker *b, const char *name, const char *text)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", b->dir, name);
    FILE *out = fopen(path, "we");
    return out && fputs(text, out) >= 0 && fclose(out) == 0;
}

static bool run_shell(const struct broker *b, const char *script)
{
    char command[2048];
    (void)snprintf(command, sizeof command, "cd '%s' && { %s\n} >/dev/null 2>&1", b->dir,
                   script);
    return system(command) == 0;
}

static void test_password(void)
{
    struct broker b;
    struct mqtt_client_state state;
    CU_ASSERT_FATAL(broker_init(&b));
    if (!run_shell(&b, "mosquitto_passwd -b -c users robot secret")) {
        (void)puts("skipped: no mosquitto_passwd");
        broker_finish(&b, NULL);
        return;
    }
    char path[128];
    (void)snprintf(path, sizeof path, "%s/password", b.dir);
    (void)snprintf(b.settings, sizeof b.settings,
                   "allow_anonymous false\npassword_file %s/users\n", b.dir);
    CU_ASSERT_FATAL(write_file(&b, "password", "wrong\n") && broker_start(&b));
    static const struct {
        const char *protocol, *refusal;
    } rows[] = {{"5", "Not authorized"}, {"3.1.1", "not authorized"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK("wrong", write_file(&b, "password", "wrong\n"));
        struct mqtt_client_options options = options_for(&b, "locked out", NULL);
        options.protocol = rows[i].protocol;
        options.user = "robot";
        options.password_file = path;
        struct mqtt_client *client = make_client("password", &options);
        CU_ASSERT_PTR_NOT_NULL_FATAL(client);
        CHECK("refused", wait_error(client, rows[i].refusal, &state));
        CHECK("not connected", !state.connected);
        /* The client keeps trying, and reads the file again. */
        CHECK("right", write_file(&b, "password", "secret\n"));
        CHECK("accepted", wait_subscribed(client));
        end_client(client);
    }
    struct mqtt_client_options options = options_for(&b, "x", NULL);
    struct mqtt_client *client = NULL;
    struct err err = {0};
    options.user = "robot";
    options.password_file = "/nonexistent/password";
    CHECK_INT("no file", mqtt_client_create(&client, &options, &err), STATUS_E_IO);
    CHECK_TEXT("no file", err.where, "/nonexistent/password");
    broker_finish(&b, (const char *const[]){"users", "password", NULL});
}

static const char make_certificates[] =
    "set -e\n"
    "ca() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
    " -keyout $1.key -out $1.pem -subj /CN=$1; }\n"
    "leaf() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
    " -keyout $1.key -out $1.csr -subj /CN=$1;"
    " printf 'subjectAltName=IP:127.0.0.1\\n' >ext;"
    " openssl x509 -req -in $1.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2"
    " -extfile ext -out $1.pem; }\n"
    "ca ca; ca other; leaf server; leaf client; chmod a+r *";

static void test_tls(void)
{
    static const char *const files[] = {"ca.pem",     "ca.key",     "ca.srl",     "other.pem",
                                        "other.key",  "server.pem", "server.key", "server.csr",
                                        "client.pem", "client.key", "client.csr", "ext",
                                        NULL};
    struct broker b;
    struct inbox in;
    struct mqtt_client_state state;
    inbox_init(&in);
    CU_ASSERT_FATAL(broker_init(&b));
    if (!run_shell(&b, make_certificates)) {
        (void)puts("skipped: no openssl");
        broker_finish(&b, files);
        return;
    }
    (void)snprintf(b.settings, sizeof b.settings,
                   "cafile %s/ca.pem\ncertfile %s/server.pem\nkeyfile %s/server.key\n"
                   "require_certificate true\n",
                   b.dir, b.dir, b.dir);
    CU_ASSERT_FATAL(broker_start(&b));
    char ca[96];
    char other[96];
    char certificate[96];
    char key[96];
    (void)snprintf(ca, sizeof ca, "%s/ca.pem", b.dir);
    (void)snprintf(other, sizeof other, "%s/other.pem", b.dir);
    (void)snprintf(certificate, sizeof certificate, "%s/client.pem", b.dir);
    (void)snprintf(key, sizeof key, "%s/client.key", b.dir);
    struct mqtt_client_options options = options_for(&b, "secure", &in);
    options.tls = true;
    options.ca_file = ca;
    options.certificate_file = certificate;
    options.key_file = key;
    struct mqtt_client *client = make_client("tls", &options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(client);
    CHECK("tls", wait_subscribed(client));
    CHECK_INT("tls", publish_text(client, "t/x", "1"), STATUS_OK);
    CHECK("tls", inbox_wait(&in, 1, UP_MS));
    end_client(client);

    options.ca_file = other;
    client = make_client("wrong CA", &options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(client);
    CHECK("wrong CA", wait_error(client, "certificate verify failed", &state));
    CHECK("wrong CA", !state.connected);
    end_client(client);

    options.ca_file = ca;
    options.certificate_file = NULL;
    options.key_file = NULL;
    client = make_client("no certificate", &options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(client);
    CHECK("no certificate", !mqtt_client_wait_subscribed(client, 1000));
    mqtt_client_read_state(client, &state);
    CHECK("no certificate", state.error[0] != '\0');
    (void)printf("no client certificate: \"%s\"\n", state.error);
    end_client(client);
    broker_finish(&b, files);
}

static void test_options_are_checked(void)
{
    struct mqtt_client *client = NULL;
    const struct {
        const char *row;
        struct mqtt_client_options options;
    } rows[] = {{"no id", {.port = 1}},
                {"port", {.client_id = "a", .port = 70000}},
                {"version", {.client_id = "a", .protocol = "4"}},
                {"prefix", {.client_id = "a", .prefix = "a/#"}},
                {"presence", {.client_id = "a", .presence = ""}},
                {"password", {.client_id = "a", .password_file = "/dev/null"}},
                {"topics", {.client_id = "a", .topic_count = MQTT_CLIENT_TOPICS_MAX + 1}}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err err = {0};
        CHECK_INT(rows[i].row, mqtt_client_create(&client, &rows[i].options, &err),
                  STATUS_E_ARG);
        CHECK(rows[i].row, err.text[0] != '\0' && client == NULL);
    }
    mqtt_client_destroy(NULL);
}

static void test_clock(void)
{
    const int64_t wall_us = (int64_t)time(NULL) * 1000000;
    const int64_t first_us = lab_clock_now_us();
    CHECK_NEAR("wall", lab_s(first_us - wall_us), 0.5, 0.0, 1.5);
    const int64_t until_us = lab_clock_monotonic_us() + 20000;
    lab_clock_sleep_until_us(until_us);
    CHECK("slept", lab_clock_monotonic_us() >= until_us);
    CHECK("advances", lab_clock_now_us() >= first_us + 20000);
}

int main(void)
{
    const char *doomed = getenv("TEST_DOOMED_PORT");
    if (doomed) {
        return be_doomed((int)strtol(doomed, NULL, 10));
    }
    if (broker_skip()) {
        (void)puts("mosquitto is not installed");
        return EXIT_FAILURE;
    }
    (void)unsetenv("http_proxy");
    (void)unsetenv("https_proxy");
    (void)CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("mqtt_client", NULL, NULL);
    (void)CU_add_test(suite, "clock", test_clock);
    (void)CU_add_test(suite, "options are checked", test_options_are_checked);
    (void)CU_add_test(suite, "broker comes late", test_broker_comes_late);
    (void)CU_add_test(suite, "now or never", test_now_or_never);
    (void)CU_add_test(suite, "once", test_once);
    (void)CU_add_test(suite, "many a second", test_many_a_second);
    (void)CU_add_test(suite, "buffer is bounded", test_buffer_is_bounded);
    (void)CU_add_test(suite, "broker restarts", test_broker_restarts);
    (void)CU_add_test(suite, "publisher survives a restart", test_publisher_survives_restart);
    (void)CU_add_test(suite, "presence and will", test_presence_and_will);
    (void)CU_add_test(suite, "idle link is awake", test_idle_link_is_awake);
    (void)CU_add_test(suite, "password", test_password);
    (void)CU_add_test(suite, "TLS", test_tls);
    return check_run();
}
