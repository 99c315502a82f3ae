#include "service/mqtt/broker_arguments.h"

#include <string.h>

static const char *or_null(const char *text)
{
    return text[0] ? text : NULL;
}

struct mqtt_client_options broker_client_options(const struct broker_options *broker,
                                                 const char *client_id)
{
    return (struct mqtt_client_options){.host = broker->host,
                                        .port = broker->port,
                                        .client_id = client_id,
                                        .protocol =
                                            broker->protocol == BROKER_MQTT_5 ? "5" : "3.1.1",
                                        .keep_alive_s = (int)broker->keep_alive_s,
                                        .user = or_null(broker->username),
                                        .password_file = or_null(broker->password_file),
                                        .tls = broker->tls.enabled,
                                        .ca_file = or_null(broker->tls.ca_file),
                                        .certificate_file = or_null(broker->tls.cert_file),
                                        .key_file = or_null(broker->tls.key_file),
                                        .prefix = broker->prefix,
                                        .heartbeat_hz = (int)(broker->heartbeat_hz + 0.5)};
}

struct mqtt_client_options broker_arguments_defaults(void)
{
    return (struct mqtt_client_options){
        .host = "127.0.0.1", .port = 1883, .prefix = "tandem/v1", .protocol = "5"};
}

struct mqtt_client_options broker_arguments_options(const struct mqtt_client_options *broker,
                                                    const char *client_id)
{
    struct mqtt_client_options options = *broker;
    options.client_id = client_id;
    options.tls = broker->tls || broker->ca_file;
    return options;
}

void broker_arguments_group(struct mqtt_client_options *b, struct broker_group *group)
{
    /* clang-format off */
    const struct argument rows[BROKER_ARGUMENTS] = {
        {"host", 0, ARGUMENT_TEXT, &b->host, 0, 0, "NAME", "of the broker (127.0.0.1)"},
        {"port", 'p', ARGUMENT_INTEGER, &b->port, 1, 65535, "N", "of the broker (1883)"},
        {"prefix", 0, ARGUMENT_TEXT, &b->prefix, 0, 0, "TOPIC", "of all topics (tandem/v1)"},
        {"protocol", 0, ARGUMENT_TEXT, &b->protocol, 0, 0, "5|3.1.1", "MQTT version (5)"},
        {"user", 0, ARGUMENT_TEXT, &b->user, 0, 0, "NAME", "at the broker (anonymous)"},
        {"password-file", 0, ARGUMENT_TEXT, &b->password_file, 0, 0, "FILE", "its first line is the password"},
        {"tls", 0, ARGUMENT_FLAG, &b->tls, 0, 0, NULL, "encrypt, and check the broker's certificate"},
        {"ca-file", 0, ARGUMENT_TEXT, &b->ca_file, 0, 0, "FILE", "authorities for that (the system's); implies --tls"},
        {"cert-file", 0, ARGUMENT_TEXT, &b->certificate_file, 0, 0, "FILE", "own certificate"},
        {"key-file", 0, ARGUMENT_TEXT, &b->key_file, 0, 0, "FILE", "its key"},
    };
    /* clang-format on */
    memcpy(group->rows, rows, sizeof rows);
    group->group = (struct argument_group){"BROKER", group->rows, BROKER_ARGUMENTS};
}
