/* service/bag/bag_topics.h - the topics of a ROS 2 bag: names, types, counts, and whether
 * their messages can be decoded. */
#ifndef SERVICE_BAG_BAG_TOPICS_H
#define SERVICE_BAG_BAG_TOPICS_H

#include <stdio.h>

#include "logger/message/ros_message.h"
#include "service/bag/bag_reader.h"

enum { BAG_TOPICS_MAX = 512, BAG_NAME_MAX = 128 };

struct bag_topic {
    char name[BAG_NAME_MAX], type[BAG_NAME_MAX]; /* "nav_msgs/msg/Odometry" */
    char *text;                        /* the definition, which `definition` borrows */
    struct ros_definition *definition; /* NULL: not decodable, as fault says */
    char fault[ERR_TEXT_MAX];
    bool has_stamp;
    struct ros_path sec, nanosec; /* of header.stamp */
    uint64_t count;
    int64_t first_ns, last_ns; /* log times */
};

struct bag_topics {
    size_t count;
    bool torn;
    struct bag_topic *topic[BAG_TOPICS_MAX];
};

/* Reads a whole bag. *out is to be freed also on failure. As bag_reader_next(); STATUS_E_FULL:
 * more topics than fit. */
MUST_USE enum status bag_topics_read(const char *path, struct bag_topics *out, struct err *err);
void bag_topics_free(struct bag_topics *topics);

/* NULL: no such topic. */
struct bag_topic *bag_topics_find(const struct bag_topics *topics, const char *name);

/* The last part of a topic's type: "Odometry". */
const char *bag_topic_type(const struct bag_topic *topic);

/* Prints a line for each topic. */
void bag_topics_print(const struct bag_topics *topics, FILE *out);

#endif
