/* needs: threads, real time */
/* Sessions of the MQTT client: messages that the broker queues while no client is there, and
 * messages that wait in the client; a real mosquitto, threads. */
#include "tests/support/mqtt_fixture.h"

static void session_round(const char *row, const char *protocol)
{
    enum { N = 1500 };
    struct broker b;
    struct inbox in;
    inbox_init(&in);
    CU_ASSERT_FATAL(broker_init(&b) && broker_start(&b));
    struct mqtt_client_options listen = options_for(&b, "away", &in);
    listen.persistent = true;
    listen.protocol = protocol;
    const struct mqtt_client_options speak = options_for(&b, "speaker", NULL);
    struct mqtt_client *speaker = make_client(row, &speak);
    struct mqtt_client *listener = make_client(row, &listen);
    CU_ASSERT_FATAL(listener && speaker);
    CHECK(row, wait_subscribed(listener));
    end_client(listener);
    for (int i = 0; i < N; i++) {
        char text[16];
        (void)snprintf(text, sizeof text, "%d", i);
        CHECK_INT(row, publish_text(speaker, "t/n", text), STATUS_OK);
    }
    CHECK(row, wait_sent(speaker));
    listener = make_client(row, &listen);
    CU_ASSERT_PTR_NOT_NULL_FATAL(listener);
    CHECK(row, inbox_wait(&in, N, UP_MS));
    end_client(listener);
    end_client(speaker);
    CHECK_INT(row, in.count, N);
    broker_finish(&b, NULL);
}

static void test_session_outlives_the_client(void)
{
    session_round("MQTT 5", "5");
    session_round("MQTT 3.1.1", "3.1.1");
}

/* A client that has to stop with more messages than it can process acknowledges only those that
 * it has processed. */
static void test_stop_in_a_backlog(void)
{
    enum { N = 600 };
    struct broker b;
    struct inbox in;
    inbox_init(&in);
    CU_ASSERT_FATAL(broker_init(&b) && broker_start(&b));
    struct mqtt_client_options listen = options_for(&b, "away", &in);
    listen.persistent = true;
    const struct mqtt_client_options speak = options_for(&b, "speaker", NULL);
    struct mqtt_client *speaker = make_client("backlog", &speak);
    struct mqtt_client *listener = make_client("backlog", &listen);
    CU_ASSERT_FATAL(listener && speaker);
    CHECK("subscribed", wait_subscribed(listener));
    end_client(listener);
    for (int i = 0; i < N; i++) {
        char text[16];
        (void)snprintf(text, sizeof text, "%d", i);
        CHECK_INT("said", publish_text(speaker, "t/n", text), STATUS_OK);
    }
    CHECK("sent", wait_sent(speaker));
    end_client(speaker);
    atomic_store(&in.slow_ms, 5);
    listener = make_client("backlog", &listen);
    CU_ASSERT_PTR_NOT_NULL_FATAL(listener);
    CHECK("some", inbox_wait(&in, 20, UP_MS));
    mqtt_client_stop(listener, 0);
    mqtt_client_destroy(listener);
    const size_t first = inbox_count(&in);
    atomic_store(&in.slow_ms, 0);
    listener = make_client("backlog", &listen);
    CU_ASSERT_PTR_NOT_NULL_FATAL(listener);
    for (int i = 0; i < 100 && in.seen[N - 1] == 0; i++) {
        (void)inbox_wait(&in, N, 100);
    }
    end_client(listener);
    size_t missing = 0;
    for (int i = 0; i < N; i++) {
        missing += in.seen[i] == 0;
    }
    CHECK_INT("none missing", missing, 0);
    (void)printf("    %zu of %d before it stopped\n", first, N);
    broker_finish(&b, NULL);
}

static bool has_socket_to(int port)
{
    enum { DESCRIPTORS = 256 };
    bool any = false;
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        struct sockaddr_in peer = {0};
        socklen_t bytes = sizeof peer;
        any = any || (getpeername(fd, (struct sockaddr *)&peer, &bytes) == 0 &&
                      peer.sin_family == AF_INET && ntohs(peer.sin_port) == port);
    }
    return any;
}

/* Messages published while the client holds back arrive later, once, unless it is killed. */
static void test_hold(void)
{
    struct broker b;
    struct inbox in;
    struct mqtt_client_state state;
    inbox_init(&in);
    CU_ASSERT_FATAL(broker_init(&b) && broker_start(&b));
    struct mqtt_client_options listen = options_for(&b, "listener", &in);
    listen.persistent = true; /* all links of this process are cut */
    const struct mqtt_client_options speak = options_for(&b, "speaker", NULL);
    struct mqtt_client *listener = make_client("hold", &listen);
    struct mqtt_client *speaker = make_client("hold", &speak);
    CU_ASSERT_FATAL(listener && speaker && wait_subscribed(listener) &&
                    wait_subscribed(speaker));
    mqtt_client_hold(speaker, "not now");
    for (int i = 0; i < 20; i++) {
        CHECK_INT("publish", mqtt_client_publish_once(speaker, "t/n", "1", 1), STATUS_OK);
        mqtt_client_hold(speaker, "not now");
    }
    mqtt_client_read_state(speaker, &state);
    CHECK("held", state.refusing && strstr(state.error, "not now"));
    CHECK("nothing is sent", !mqtt_client_wait_sent(speaker, 300));
    CHECK_INT("nothing came", inbox_count(&in), 0);
    mqtt_client_resume(speaker);
    CHECK("sent", wait_sent(speaker));
    CHECK("came", inbox_wait(&in, 20, UP_MS));
    CHECK_INT("once", inbox_count(&in), 20);
    end_client(speaker);
    end_client(listener);
    broker_finish(&b, NULL);
}

/* How many of the numbers below n, and n + 1, did not come. */
static size_t count_missing(struct inbox *in, size_t n)
{
    (void)pthread_mutex_lock(&in->mutex);
    size_t missing = in->seen[n + 1] == 0;
    for (size_t i = 0; i < n; i++) {
        missing += in->seen[i] == 0;
    }
    (void)pthread_mutex_unlock(&in->mutex);
    return missing;
}

/* Links that are cut again and again lose no result; only a message that the broker refuses is
 * dropped. */
static void test_flaps(void)
{
    enum { N = 3000, FLAPS = 20 };
    struct broker b;
    struct inbox in;
    struct mqtt_client_state state;
    static char large[5000];
    inbox_init(&in);
    CU_ASSERT_FATAL(broker_init(&b));
    (void)snprintf(b.settings, sizeof b.settings, "max_packet_size 2000\n");
    CU_ASSERT_FATAL(broker_start(&b));
    struct mqtt_client_options listen = options_for(&b, "listener", &in);
    listen.persistent = true; /* all links of this process are cut */
    struct mqtt_client_options speak = options_for(&b, "speaker", NULL);
    speak.protocol = "3.1.1"; /* the client does not learn what the broker refuses */
    struct mqtt_client *listener = make_client("flaps", &listen);
    struct mqtt_client *speaker = make_client("flaps", &speak);
    CU_ASSERT_FATAL(listener && speaker && wait_subscribed(listener));
    mqtt_client_hold(speaker, "not now");
    for (int i = 0; i < N; i++) {
        char text[16];
        (void)snprintf(text, sizeof text, "%d", i);
        CHECK_INT("said", publish_text(speaker, "t/n", text), STATUS_OK);
    }
    for (int flap = 0; flap < FLAPS; flap++) {
        mqtt_client_read_state(speaker, &state);
        const struct mqtt_client_state before = state;
        /* A message that is lost ten times is given up: each second link brings one through. */
        const uint64_t wanted = before.acknowledged + (uint64_t)(flap % 2);
        mqtt_client_resume(speaker);
        for (int64_t end_us = 0;
             (state.connections == before.connections || state.acknowledged < wanted) &&
             wait_more(&end_us, UP_MS);) {
            mqtt_client_read_state(speaker, &state);
        }
        mqtt_client_hold(speaker, "not now");
    }
    memset(large, 'x', sizeof large);
    CHECK_INT("large", mqtt_client_publish(speaker, "t/n", large, sizeof large, 1, false),
              STATUS_OK);
    CHECK_INT("said", publish_text(speaker, "t/n", "3001"), STATUS_OK);
    mqtt_client_resume(speaker);
    CHECK("sent", mqtt_client_wait_sent(speaker, wait_limit_ms(3 * UP_MS)));
    /* A message that comes twice counts for nothing. */
    size_t missing = 1;
    for (int64_t end_us = 0; missing > 0 && wait_more(&end_us, UP_MS); pass_time_ms(10)) {
        missing = count_missing(&in, N);
    }
    CHECK_INT("none missing", missing, 0);
    mqtt_client_read_state(speaker, &state);
    CHECK_INT("given up", state.failed, 1);
    end_client(speaker);
    end_client(listener);
    broker_finish(&b, NULL);
}

/* A connection that comes up after the stop brings messages: the broker keeps them. */
static void test_stop_while_connecting(void)
{
    enum { N = 20 };
    struct broker b;
    struct inbox in;
    struct mqtt_client_state state;
    inbox_init(&in);
    CU_ASSERT_FATAL(broker_init(&b) && broker_start(&b));
    struct mqtt_client_options listen = options_for(&b, "away", &in);
    listen.persistent = true;
    const struct mqtt_client_options speak = options_for(&b, "speaker", NULL);
    struct mqtt_client *listener = make_client("connecting", &listen);
    struct mqtt_client *speaker = make_client("connecting", &speak);
    CU_ASSERT_FATAL(listener && speaker && wait_subscribed(listener));
    end_client(listener);
    for (int i = 0; i < N; i++) {
        char text[16];
        (void)snprintf(text, sizeof text, "%d", i);
        CHECK_INT("said", publish_text(speaker, "t/n", text), STATUS_OK);
    }
    CHECK("sent", wait_sent(speaker));
    end_client(speaker);
    (void)kill(b.pid, SIGSTOP);
    listener = make_client("connecting", &listen);
    CU_ASSERT_PTR_NOT_NULL_FATAL(listener);
    for (int64_t end_us = 0; !has_socket_to(b.port) && wait_more(&end_us, UP_MS);) {
    }
    mqtt_client_stop(listener, 0);
    (void)kill(b.pid, SIGCONT);
    CHECK("cut", wait_error(listener, "stopped", &state));
    mqtt_client_destroy(listener);
    CHECK_INT("nobody received them", inbox_count(&in), 0);
    listener = make_client("connecting", &listen);
    CU_ASSERT_PTR_NOT_NULL_FATAL(listener);
    CHECK("all came", inbox_wait(&in, N, UP_MS));
    end_client(listener);
    broker_finish(&b, NULL);
}

static void refuse_connection(void *context, bool resumed, int64_t silent_us, int64_t unsure_us)
{
    struct inbox *in = context;
    (void)silent_us;
    (void)unsure_us;
    (void)pthread_mutex_lock(&in->mutex);
    in->resumed[in->connections++ % COUNT(in->resumed)] = resumed;
    const bool refuses = in->connections <= in->refusals;
    (void)pthread_mutex_unlock(&in->mutex);
    if (refuses) {
        mqtt_client_refuse(in->refuser, "it cannot be recorded");
    }
}

/* A client that cannot record that a session began learns of it at the next connection, to
 * which the session is old. */
static void test_refused_connections(void)
{
    struct broker b;
    struct inbox in;
    struct mqtt_client_state state;
    inbox_init(&in);
    in.refusals = 2;
    CU_ASSERT_FATAL(broker_init(&b) && broker_start(&b));
    struct mqtt_client_options options = options_for(&b, "refuser", &in);
    options.persistent = true;
    options.session_expiry_s = 60;
    options.accepted = refuse_connection;
    CU_ASSERT_FATAL(mqtt_client_create(&in.refuser, &options, NULL) == STATUS_OK);
    for (unsigned i = 1; i <= in.refusals; i++) {
        CHECK("refused", wait_error(in.refuser, "it cannot be recorded", &state));
        CHECK("not again by itself", !mqtt_client_wait_subscribed(in.refuser, 300));
        mqtt_client_read_state(in.refuser, &state);
        CHECK("down", state.refusing && !state.connected);
        CHECK_INT("connections", state.connections, i);
        mqtt_client_resume(in.refuser);
        for (int64_t end_us = 0; state.connections == i && wait_more(&end_us, UP_MS);) {
            mqtt_client_read_state(in.refuser, &state);
        }
    }
    CHECK("taken", wait_subscribed(in.refuser));
    broker_stop(&b, SIGTERM);
    CHECK("again", broker_start(&b) && wait_subscribed(in.refuser));
    end_client(in.refuser);
    CHECK("each reports that a session began, until one report is accepted",
          !in.resumed[0] && !in.resumed[1] && !in.resumed[2]);
    CHECK("then it goes on", in.connections >= 4 && in.resumed[in.connections - 1]);
    broker_finish(&b, NULL);
}

/* Reports of waiting messages that the owner of a client received. */
struct waits {
    int64_t reported_us, published_us; /* 0: not yet */
    size_t count, late, unreported;
};

static void store_wait(void *context, int64_t silent_us)
{
    struct waits *w = context;
    (void)silent_us;
    w->reported_us = lab_clock_now_us();
}

/* Takes half a millisecond. All messages were at the broker by published_us. */
static void receive_slowly(void *context, const char *topic, const void *payload, size_t bytes,
                           int qos, bool retained, bool dup, uint16_t packet_id)
{
    struct waits *w = context;
    const int64_t now_us = lab_clock_now_us();
    (void)topic;
    (void)payload;
    (void)bytes;
    (void)qos;
    (void)retained;
    (void)dup;
    (void)packet_id;
    const int64_t published_us = __atomic_load_n(&w->published_us, __ATOMIC_SEQ_CST);
    if (published_us > 0 && now_us - published_us > 1000000) {
        w->late++;
        w->unreported += now_us - w->reported_us > 2000000;
    }
    pass_time_us(500);
    (void)__atomic_add_fetch(&w->count, 1, __ATOMIC_SEQ_CST);
}

/* Messages that come faster than they are received wait at the broker, although the connection
 * is new and never silent. A report precedes each message that waited for more than a second,
 * by 2 s at most. */
static void test_queue_is_reported(void)
{
    enum { N = 4000 };
    struct broker b;
    struct waits w = {0};
    char command[256];
    CU_ASSERT_FATAL(broker_init(&b) && broker_start(&b));
    struct mqtt_client_options listen = options_for(&b, "slow", NULL);
    listen.topics = all_topics;
    listen.topic_count = COUNT(all_topics);
    listen.message = receive_slowly;
    listen.silence = store_wait;
    listen.context = &w;
    struct mqtt_client *listener = make_client("queue", &listen);
    CU_ASSERT_FATAL(listener && wait_subscribed(listener));
    (void)snprintf(command, sizeof command,
                   "seq 1 %d | mosquitto_pub -h 127.0.0.1 -p %d -q 1 -t t/n -l", N, b.port);
    CHECK_INT("published", system(command), 0);
    __atomic_store_n(&w.published_us, lab_clock_now_us(), __ATOMIC_SEQ_CST);
    for (int64_t end_us = 0;
         __atomic_load_n(&w.count, __ATOMIC_SEQ_CST) < N && wait_more(&end_us, 3 * UP_MS);
         pass_time_ms(10)) {
    }
    end_client(listener);
    CHECK_INT("all came", w.count, N);
    CHECK("some waited", w.late > 0);
    CHECK_INT("all that waited were reported", w.unreported, 0);
    (void)printf("    %zu of %d waited for more than a second\n", w.late, N);
    broker_finish(&b, NULL);
}

int main(void)
{
    if (broker_skip()) {
        (void)puts("mosquitto is not installed");
        return EXIT_FAILURE;
    }
    (void)unsetenv("http_proxy");
    (void)unsetenv("https_proxy");
    (void)CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("mqtt_session", NULL, NULL);
    (void)CU_add_test(suite, "session outlives the client", test_session_outlives_the_client);
    (void)CU_add_test(suite, "stop in a backlog", test_stop_in_a_backlog);
    (void)CU_add_test(suite, "stop while connecting", test_stop_while_connecting);
    (void)CU_add_test(suite, "hold", test_hold);
    (void)CU_add_test(suite, "flaps", test_flaps);
    (void)CU_add_test(suite, "refused connections", test_refused_connections);
    (void)CU_add_test(suite, "a queue is reported", test_queue_is_reported);
    return check_run();
}
