#include "service/mqtt/broker_client.h"

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
                                        .version = broker->protocol == BROKER_MQTT_5 ? 5 : 311,
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
