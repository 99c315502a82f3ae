/* service/robots/fleet_hear.h - what the fleet hears: messages taken apart into its queue. */
#ifndef SERVICE_ROBOTS_FLEET_HEAR_H
#define SERVICE_ROBOTS_FLEET_HEAR_H

#include "service/robots/fleet_parts.h"

struct fleet_topics {
    size_t count;
    struct mqtt_client_topic topics[FLEET_TOPICS_MAX];
    char filters[FLEET_TOPICS_MAX][MESSAGE_TOPIC_MAX];
};

/* What it subscribes to; *out stays where it is. */
void fleet_list_topics(const struct fleet *f, struct fleet_topics *out);

/* The client's callback; context is the fleet. */
mqtt_client_message fleet_hear;

#endif
