/* service/mqtt/mqtt_connection.h - the thread that connects, first and again, subscribes, beats
 * and has the sender send; and what Paho tells meanwhile. */
#ifndef SERVICE_MQTT_MQTT_CONNECTION_H
#define SERVICE_MQTT_MQTT_CONNECTION_H

#include "service/mqtt/mqtt_link.h"

/* Make a handle of Paho's, in place of the one before. Not under mutex. */
MUST_USE enum status mqtt_connection_make_handle(struct mqtt_client *client, struct err *err);
/* Start the thread. Returns false when there can be none. */
bool mqtt_connection_start(struct mqtt_client *client);
/* End it; nothing connects any more. Twice does no harm. */
void mqtt_connection_stop(struct mqtt_client *client);
/* Leave the broker in good order; waits for that at most until until_us. */
void mqtt_connection_leave(struct mqtt_client *client, int64_t until_us);
/* Publish text on the presence topic, if there is one. */
void mqtt_connection_say(struct mqtt_client *client, const char *text);

#endif
