/* service/robots/fleet_hear.h - what the fleet hears: messages taken apart into its queue. */
#ifndef SERVICE_ROBOTS_FLEET_HEAR_H
#define SERVICE_ROBOTS_FLEET_HEAR_H

#include "service/robots/fleet_parts.h"

/* What it subscribes to; filters is the room for the texts. */
size_t fleet_topics(const struct fleet *f, char filters[FLEET_TOPICS_MAX][MESSAGE_TOPIC_MAX],
                    struct mqtt_client_topic topics[FLEET_TOPICS_MAX]);

/* The client's callback; context is the fleet. */
mqtt_client_message fleet_hear;

#endif
