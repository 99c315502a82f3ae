/* logger/message/ros_message.h - ROS 2 messages: definitions ("ros2msg"), and values in CDR.
 *
 * A definition is resolved once into a flat list of fields, which is then followed through each
 * message without recursion. No length in a message is trusted. Every element of an array takes
 * one byte at least, so the work is bounded by the message's size. Pure; the caller owns the
 * memory.
 */
#ifndef LOGGER_MESSAGE_ROS_MESSAGE_H
#define LOGGER_MESSAGE_ROS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"

enum {
    ROS_FIELDS_MAX = 4096,
    ROS_DEPTH_MAX = 16,
    ROS_PARTS_MAX = 256, /* definitions of one type and all types in it */
    ROS_PATH_MAX = 256,  /* bytes of "twist.twist.linear.x" with its NUL */
    ROS_NAME_MAX = 64    /* of a name between brackets */
};

enum ros_type {
    ROS_BOOL,
    ROS_INT8,
    ROS_UINT8,
    ROS_INT16,
    ROS_UINT16,
    ROS_INT32,
    ROS_UINT32,
    ROS_INT64,
    ROS_UINT64,
    ROS_FLOAT32,
    ROS_FLOAT64,
    ROS_STRING,
    ROS_WSTRING,
    ROS_EMPTY, /* a message without members: one byte */
    ROS_BEGIN, /* a message within the message */
    ROS_END
};

enum ros_array { ROS_ONE, ROS_FIXED, ROS_SEQUENCE };

struct ros_field {
    uint8_t type, array; /* enum ros_type, enum ros_array */
    uint8_t name_bytes;
    uint16_t end;     /* ROS_BEGIN: its ROS_END; ROS_END: its ROS_BEGIN */
    uint32_t count;   /* of ROS_FIXED, >= 1 */
    const char *name; /* in the definition */
};

struct ros_part { /* the definition of one type */
    const char *name, *text;
    size_t name_bytes, text_bytes;
};

struct ros_definition {
    size_t count, part_count;
    struct ros_field fields[ROS_FIELDS_MAX];
    struct ros_part parts[ROS_PARTS_MAX];
};

/* Resolves "pkg/msg/Type". text[bytes] is borrowed by *out; without one, or for a type that it
 * lacks, well-known types are known (those of docs/recipes.md). STATUS_E_PARSE with the line;
 * STATUS_E_EMPTY: no definition of the type; STATUS_E_FULL: too many or too deep. */
MUST_USE enum status ros_definition_parse(const char *type, const char *text, size_t bytes,
                                          struct ros_definition *out, struct err *err);

/* One value, or a whole array of numbers. */
struct ros_value {
    size_t field;               /* index of its field */
    size_t loops;               /* arrays of messages around it, */
    uint32_t at[ROS_DEPTH_MAX]; /* and the element of each, outermost first */
    size_t element;             /* of an array of texts; else 0 */
    enum ros_type type;
    size_t count;              /* numbers: how many; texts: bytes, without the NUL */
    const unsigned char *data; /* borrowed */
    bool big_endian;
};

/* Returns false to end the decoding early. */
typedef bool ros_visit(void *context, const struct ros_value *value);

/* Visits all values of a message in order. STATUS_E_PARSE with the byte as err->column. */
MUST_USE enum status ros_message_decode(const struct ros_definition *definition,
                                        const unsigned char *message, size_t bytes,
                                        ros_visit *visit, void *context, struct err *err);

/* The i-th number of a value, i < count. */
double ros_value_number(const struct ros_value *value, size_t i);

/* A path to one number: "twist.twist.linear.x", "covariance[0]", "transforms[1].rotation.w". */
struct ros_path {
    size_t field, loops;
    uint32_t at[ROS_DEPTH_MAX];
    size_t element;
    /* "position[shoulder]": the element whose name is in the message's `name`; "": by number */
    char joint[ROS_NAME_MAX];
};

/* False: the definition has no such number. */
bool ros_path_find(const struct ros_definition *definition, const char *text,
                   struct ros_path *path);

#endif
