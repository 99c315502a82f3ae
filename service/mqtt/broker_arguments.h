/* service/mqtt/broker_arguments.h - options to reach the broker, shared by subcommands and the
 * lab file. */
#ifndef SERVICE_MQTT_BROKER_ARGUMENTS_H
#define SERVICE_MQTT_BROKER_ARGUMENTS_H

#include "config/labfile/lab_file.h"
#include "service/tool/arguments.h"
#include "service/mqtt/mqtt_client.h"

enum { BROKER_ARGUMENTS = 10 };

/* Option rows for struct arguments. */
struct broker_group {
    struct argument_group group;
    struct argument rows[BROKER_ARGUMENTS];
};

/* Defaults: localhost, tandem/v1, MQTT 5. */
struct mqtt_client_options broker_arguments_defaults(void);

/* group borrows b and points into itself, so neither may move. */
void broker_arguments_group(struct mqtt_client_options *b, struct broker_group *group);

/* The parsed options, for this client. */
struct mqtt_client_options broker_arguments_options(const struct mqtt_client_options *broker,
                                                    const char *client_id);

/* The client options that follow from the lab file; the session is not persistent, and nothing
 * is subscribed or announced. Borrows the texts of *broker. */
struct mqtt_client_options broker_client_options(const struct broker_options *broker,
                                                 const char *client_id);

#endif
