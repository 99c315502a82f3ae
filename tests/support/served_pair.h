/* tests/support/served_pair.h - a daemon at a broker, and a client that plays both robots of
 * its pair r1: commands that both answer at once, and their stored and published results. */
#ifndef TESTS_SUPPORT_SERVED_PAIR_H
#define TESTS_SUPPORT_SERVED_PAIR_H

#include <stdatomic.h>

#include "logger/storage/store.h"
#include "service/mqtt/mqtt_client.h"
#include "tests/support/broker_tests.h"
#include "tests/support/check.h"
#include "tests/support/daemon.h"

static struct broker broker;
static struct daemon_run served;
static struct mqtt_client *client;
static _Atomic unsigned published_entries; /* seen over MQTT */
static unsigned commands;

static inline void count_message(void *context, const char *topic, const void *payload,
                                 size_t bytes, int qos, bool retained, bool dup,
                                 uint16_t packet_id)
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

static inline void say(const char *what, const char *rest)
{
    char topic[64];
    char payload[160];
    (void)snprintf(topic, sizeof topic, "tandem/v1/r1/%s", what);
    const int bytes = snprintf(payload, sizeof payload, "{\"id\":\"k%u\",%s}", commands, rest);
    CHECK_INT("publish", mqtt_client_publish(client, topic, payload, (size_t)bytes, 1, false),
              STATUS_OK);
}

static inline void publish_commands(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        say("command", "\"op\":\"go\",\"rotation_rad\":1,\"displacement_m\":0.5");
        say("real/reply", "\"status\":\"done\"");
        say("virtual/reply", "\"status\":\"done\"");
        commands++;
    }
    CHECK("acknowledged", mqtt_client_wait_sent(client, wait_limit_ms(10000)));
}

static inline bool count_row(void *context, const struct store_row *row)
{
    unsigned *count = context;
    (void)row;
    (*count)++;
    return true;
}

static inline unsigned stored_entries(void)
{
    struct store_reader *reader = NULL;
    unsigned count = 0;
    char cursor[STORE_CURSOR_MAX];
    const struct store_query query = {.kind = STORE_ENTRIES,
                                      .since_us = INT64_MIN,
                                      .until_us = INT64_MAX,
                                      .limit = STORE_PAGE_MAX};
    if (store_reader_open(&(struct store_params){.path = daemon_path(&served, "store.db")},
                          &reader, NULL) == STATUS_OK) {
        if (store_query(reader, &query, count_row, &count, cursor, NULL) != STATUS_OK) {
            count = 0;
        }
        store_reader_close(reader);
    }
    return count;
}

static inline bool wait_for(unsigned (*what)(void), unsigned count)
{
    for (int64_t end_us = 0; what() < count && wait_more(&end_us, 15000);) {
    }
    char words[64];
    CHECK_INT("count", what(), count);
    (void)snprintf(words, sizeof words, "%u entries, there are %u", count, what());
    return daemon_waited(&served, what() == count, words);
}

static inline unsigned seen_entries(void)
{
    return atomic_load(&published_entries);
}

static inline void start(void)
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
    CHECK("subscribed", mqtt_client_wait_subscribed(client, wait_limit_ms(10000)));
    CU_ASSERT_FATAL(daemon_start_run(&served));
    CHECK("ready", daemon_wait_ready(&served, 200, 10000));
}

/* Waits until /readyz reports it. */
static inline bool wait_body(const char *text)
{
    char body[8192];
    bool is_there = false;
    for (int64_t end_us = 0; !is_there && wait_more(&end_us, 20000);) {
        (void)daemon_get(&served, "/readyz", body, sizeof body);
        is_there = strstr(body, text) != NULL;
    }
    if (!is_there) {
        (void)fprintf(stderr, "/readyz: %s\n", body);
    }
    return daemon_waited(&served, is_there, text);
}

static inline void end(void)
{
    mqtt_client_stop(client, 1000);
    mqtt_client_destroy(client);
    daemon_finish(&served);
}

#endif
