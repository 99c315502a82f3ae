/* service/mqtt/mqtt_sender.h - what is to be sent, in order, until the broker has acknowledged
 * it. */
#ifndef SERVICE_MQTT_MQTT_SENDER_H
#define SERVICE_MQTT_MQTT_SENDER_H

#include "service/mqtt/mqtt_link.h"

/* Is it one that may be published to? */
bool mqtt_sender_is_topic(const char *topic);
struct mqtt_sender_way {
    int qos;
    bool retained;
    bool urgent;   /* before all that waits, whatever the bounds */
    bool fleeting; /* with this connection or never */
};
/* Copy a message to the end of what is to be sent. Statuses as of mqtt_client_publish() and,
 * for what is fleeting, mqtt_client_publish_now(). */
MUST_USE enum status mqtt_sender_add(struct mqtt_client *client, const char *topic,
                                     const void *payload, size_t bytes,
                                     struct mqtt_sender_way way);
/* Is there a message that Paho can take? Under mutex. */
bool mqtt_sender_has_work(const struct mqtt_client *client);
/* Hand the next one to Paho. There must be one. Under mutex, which is released meanwhile. */
void mqtt_sender_send_next(struct mqtt_client *client);
/* Everything not acknowledged is to be sent anew, but for what is fleeting; Paho has none of it
 * any more. Under mutex. */
void mqtt_sender_rewind(struct mqtt_client *client);
/* Forget what is left. Paho has none of it any more. */
void mqtt_sender_finish(struct mqtt_client *client);

#endif
