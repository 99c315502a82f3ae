/* service/mqtt/topic_list.h - the topics that a client subscribes to, each once. */
#ifndef SERVICE_MQTT_TOPIC_LIST_H
#define SERVICE_MQTT_TOPIC_LIST_H

#include "logger/message/message.h"
#include "service/mqtt/mqtt_client.h"

struct topic_list {
    size_t count; /* topics wanted, even beyond the room; mqtt_client refuses too many */
    char filter[MQTT_CLIENT_TOPICS_MAX][MESSAGE_TOPIC_MAX];
    struct mqtt_client_topic topic[MQTT_CLIENT_TOPICS_MAX];
};

/* Add a filter under the prefix; "": the filter is a whole one. */
void topic_list_add(struct topic_list *list, const char *prefix, const char *filter, int qos);

/* Is there a topic that matches both filters? A topic is the filter of itself. */
bool topic_filters_meet(const char *a, const char *b);

/* Is there a topic that matches a filter of each list? */
bool topic_list_meet(const struct topic_list *a, const struct topic_list *b);

#endif
