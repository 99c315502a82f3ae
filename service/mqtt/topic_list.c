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

/* Compares level by level. */
bool topic_filters_meet(const char *a, const char *b)
{
    for (;; a++, b++) {
        const size_t na = strcspn(a, "/");
        const size_t nb = strcspn(b, "/");
        if (*a == '#' || *b == '#') {
            return true;
        }
        if (*a != '+' && *b != '+' && (na != nb || memcmp(a, b, na) != 0)) {
            return false;
        }
        a += na;
        b += nb;
        if (*a == '\0' || *b == '\0') {
            return strcmp(a, b) == 0 || strcmp(*a ? a : b, "/#") == 0;
        }
    }
}

bool topic_list_meet(const struct topic_list *a, const struct topic_list *b)
{
    bool meet = false;
    for (size_t i = 0; !meet && i < a->count && i < MQTT_CLIENT_TOPICS_MAX; i++) {
        for (size_t k = 0; !meet && k < b->count && k < MQTT_CLIENT_TOPICS_MAX; k++) {
            meet = topic_filters_meet(a->filter[i], b->filter[k]);
        }
    }
    return meet;
}
