/* A bare subscriber on Paho that only counts: the floor of what receiving over MQTT costs.
 *
 * paho_counter PORT FILTER: prints its count when it receives SIGTERM. */
#include <MQTTAsync.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic unsigned long count;

static int count_message(void *context, char *topic, int topic_bytes,
                         MQTTAsync_message *message)
{
    (void)context;
    (void)topic_bytes;
    if (!message->retained) { /* of a daemon that ran before */
        atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    }
    MQTTAsync_freeMessage(&message);
    MQTTAsync_free(topic);
    return 1;
}

struct session {
    MQTTAsync client;
    const char *filter;
};

static void on_subscribed(void *context, MQTTAsync_successData *data)
{
    (void)context;
    (void)data;
    (void)puts("ready");
    (void)fflush(stdout);
}

static void on_connected(void *context, MQTTAsync_successData *data)
{
    struct session *s = context;
    MQTTAsync_responseOptions options = MQTTAsync_responseOptions_initializer;
    (void)data;
    options.onSuccess = on_subscribed;
    (void)MQTTAsync_subscribe(s->client, s->filter, 0, &options);
}

int main(int argc, char **argv)
{
    char address[64];
    struct session s = {0};
    sigset_t signals;
    int caught = 0;
    if (argc != 3) {
        (void)fputs("usage: paho_counter PORT FILTER\n", stderr);
        return 2;
    }
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    (void)snprintf(address, sizeof address, "tcp://127.0.0.1:%s", argv[1]);
    s.filter = argv[2];
    if (MQTTAsync_create(&s.client, address, "counter", MQTTCLIENT_PERSISTENCE_NONE, NULL) !=
        MQTTASYNC_SUCCESS) {
        return EXIT_FAILURE;
    }
    MQTTAsync_connectOptions options = MQTTAsync_connectOptions_initializer;
    options.cleansession = 1;
    options.onSuccess = on_connected;
    options.context = &s;
    if (MQTTAsync_setCallbacks(s.client, NULL, NULL, count_message, NULL) !=
            MQTTASYNC_SUCCESS ||
        MQTTAsync_connect(s.client, &options) != MQTTASYNC_SUCCESS) {
        return EXIT_FAILURE;
    }
    (void)sigwait(&signals, &caught);
    (void)printf("%lu\n", atomic_load(&count));
    return EXIT_SUCCESS;
}
