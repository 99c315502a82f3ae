/* service/mqtt/broker_arguments.h - how to reach the broker: the same options for every
 * subcommand that does. */
#ifndef SERVICE_MQTT_BROKER_ARGUMENTS_H
#define SERVICE_MQTT_BROKER_ARGUMENTS_H

#include "service/cli/arguments.h"
#include "service/mqtt/mqtt_client.h"

enum { BROKER_ARGUMENTS = 10 };

struct broker_arguments {
    const char *host;
    int port;
    const char *prefix;
    const char *protocol; /* "5" or "3.1.1" */
    const char *user;
    const char *password_file;
    bool tls;
    const char *ca_file;
    const char *certificate_file;
    const char *key_file;
};

/* Their rows for struct arguments. */
struct broker_group {
    struct argument_group group;
    struct argument rows[BROKER_ARGUMENTS];
};

/* Defaults: localhost, tandem/v1, MQTT 5. */
struct broker_arguments broker_arguments_defaults(void);

/* group borrows b and points into itself: neither may move. */
void broker_arguments_group(struct broker_arguments *b, struct broker_group *group);

/* The client options that follow from the arguments; the rest is zero. */
struct mqtt_client_options broker_arguments_options(const struct broker_arguments *broker,
                                                    const char *client_id);

#endif
