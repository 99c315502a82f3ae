#include "service/mqtt/topic_list.h"

#include <stdio.h>
#include <string.h>

void topic_list_add(struct topic_list *list, const char *prefix, const char *filter, int qos)
{
    char whole[2 * MESSAGE_TOPIC_MAX];
    (void)snprintf(whole, sizeof whole, "%s%s%s", prefix, prefix[0] ? "/" : "", filter);
    for (size_t i = 0; i < list->count && i < MQTT_CLIENT_TOPICS_MAX; i++) {
        if (strcmp(list->filter[i], whole) == 0) {
            return;
        }
    }
    if (list->count < MQTT_CLIENT_TOPICS_MAX && strlen(whole) < MESSAGE_TOPIC_MAX) {
        memcpy(list->filter[list->count], whole, strlen(whole) + 1);
        list->topic[list->count] = (struct mqtt_client_topic){list->filter[list->count], qos};
    }
    list->count++;
}
