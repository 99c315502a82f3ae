/* service/mqtt/broker_client.h - how to reach the broker that a lab file names. */
#ifndef SERVICE_MQTT_BROKER_CLIENT_H
#define SERVICE_MQTT_BROKER_CLIENT_H

#include "config/lab_file.h"
#include "service/mqtt/mqtt_client.h"

/* The client options that follow from the lab file; the session is not kept, nothing is
 * subscribed or announced. Borrows the texts of *broker. */
struct mqtt_client_options broker_client_options(const struct broker_options *broker,
                                                 const char *client_id);

#endif
