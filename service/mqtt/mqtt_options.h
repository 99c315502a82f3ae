/* service/mqtt/mqtt_options.h - what a client of a broker is told, and what it tells: plain
 * data and the types of its callbacks. */
#ifndef SERVICE_MQTT_MQTT_OPTIONS_H
#define SERVICE_MQTT_MQTT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MQTT_CLIENT_TOPICS_MAX = 64, /* subscriptions of one client */
    MQTT_CLIENT_ERROR_MAX = 256, /* bytes of an error's text */
    MQTT_CLIENT_BUFFER_COUNT = 10000,
    MQTT_CLIENT_BUFFER_BYTES = 64 << 20, /* payloads that wait for the link */
    MQTT_CLIENT_RECEIVE_MAX = 1000       /* unacknowledged messages in each direction */
};

/* A message arrived. Everything is borrowed for the call; payload is not terminated. */
typedef void mqtt_client_message(void *context, const char *topic, const void *payload,
                                 size_t bytes, int qos, bool retained, bool dup);

/* connected, subscribed or the error has changed. Same rules as for `message`. */
typedef void mqtt_client_changed(void *context);
/* Nothing was heard for so long, not even the own heartbeat: the link was down or the process
 * was frozen. What is delivered next may have waited. Called before it, on the same thread. */
typedef void mqtt_client_silence(void *context, int64_t silent_us);

struct mqtt_client_topic {
    const char *filter;
    int qos; /* 0..2 */
};

/* All texts are copied; zero means the default in brackets. */
struct mqtt_client_options {
    const char *host; /* name or address ["127.0.0.1"] */
    int port;         /* [1883, with TLS 8883] */
    const char *client_id;
    int version;               /* 5 or 311 (MQTT 3.1.1) [5] */
    bool persistent;           /* the broker keeps the session while the client is away */
    uint32_t session_expiry_s; /* persistent, MQTT 5: for how long [7 days] */
    int keep_alive_s;          /* [10] */
    int buffer_count;          /* messages that wait for the link [MQTT_CLIENT_BUFFER_COUNT] */

    const char *user;          /* NULL: anonymous */
    const char *password_file; /* first line; read at every attempt */
    bool tls;
    const char *ca_file; /* NULL: the system's */
    const char *certificate_file;
    const char *key_file;

    const char *prefix;   /* heartbeat on <prefix>/heartbeat/<client_id>; NULL: none */
    int heartbeat_hz;     /* >= 5 keeps the link awake [10] */
    const char *presence; /* topic of the retained online and offline messages; NULL: none */
    const char *online;   /* published after each connection */
    const char *offline;  /* the will, and published at an orderly stop */

    const struct mqtt_client_topic *topics; /* [topic_count] */
    size_t topic_count;                     /* <= MQTT_CLIENT_TOPICS_MAX */
    mqtt_client_message *message;           /* NULL when nothing is subscribed */
    mqtt_client_changed *changed;           /* may be NULL */
    mqtt_client_silence *silence;           /* may be NULL; needs the heartbeat */
    void *context;                          /* handed to all of them */
};

struct mqtt_client_state {
    bool connected;                    /* the broker accepted us */
    bool resumed;                      /* and still had our session */
    bool subscribed;                   /* and took all our subscriptions */
    char error[MQTT_CLIENT_ERROR_MAX]; /* the last one, "" when there was none */
    uint64_t connections;              /* accepted so far; reconnections are one less */
    uint64_t failed_connections;
    uint64_t published;       /* taken over by mqtt_client_publish() */
    uint64_t acknowledged;    /* of them: by the broker (QoS 0: written to the socket) */
    uint64_t failed;          /* of them: given up */
    uint64_t refused;         /* not taken over: the buffer was full */
    uint64_t received;        /* handed to `message` */
    int64_t heartbeat_rtt_us; /* of the last heartbeat; -1 before the first */
    int64_t heartbeat_us;     /* lab_clock_monotonic_us() when it came back; 0 before */
};

#endif
