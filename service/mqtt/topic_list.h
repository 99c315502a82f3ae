/* service/mqtt/topic_list.h - the topics that a client subscribes to, each once. */
#ifndef SERVICE_MQTT_TOPIC_LIST_H
#define SERVICE_MQTT_TOPIC_LIST_H

#include "logger/message/message.h"
#include "service/mqtt/mqtt_client.h"

struct topic_list {
    size_t count; /* beyond the room: so many would be wanted, which mqtt_client refuses */
    char filter[MQTT_CLIENT_TOPICS_MAX][MESSAGE_TOPIC_MAX];
    struct mqtt_client_topic topic[MQTT_CLIENT_TOPICS_MAX];
};

/* Under the prefix; "": it is a whole one. */
void topic_list_add(struct topic_list *list, const char *prefix, const char *filter, int qos);

/* Is there a topic that a filter of each would fit? */
bool topic_list_meet(const struct topic_list *a, const struct topic_list *b);

#endif
