/* tests/support/ros_value_path.h - where in a ROS 2 message a value was found. */
#ifndef TESTS_SUPPORT_ROS_VALUE_PATH_H
#define TESTS_SUPPORT_ROS_VALUE_PATH_H

#include <stdio.h>
#include <string.h>

#include "logger/message/ros_message.h"

/* Appends a name and its element; without room the path is cut. */
static inline void ros_append_name(char text[ROS_PATH_MAX], const struct ros_field *field,
                                   size_t element)
{
    const size_t used = strlen(text);
    char index[24] = "";
    if (field->array != ROS_ONE) {
        (void)snprintf(index, sizeof index, "[%zu]", element);
    }
    (void)snprintf(text + used, ROS_PATH_MAX - used, "%s%.*s%s", used > 0 ? "." : "",
                   (int)field->name_bytes, field->name, index);
}

/* Writes the path of a value's first number or of its text. */
static inline void ros_value_path(const struct ros_definition *definition,
                                  const struct ros_value *value, char text[ROS_PATH_MAX])
{
    size_t loop = 0;
    text[0] = '\0';
    for (size_t i = 0; i < value->field;) {
        const struct ros_field *f = &definition->fields[i];
        if (f->type != ROS_BEGIN) {
            i++;
        } else if (f->end < value->field) {
            i = (size_t)f->end + 1;
        } else { /* around the value */
            ros_append_name(text, f, f->array != ROS_ONE ? value->at[loop++] : 0);
            i++;
        }
    }
    ros_append_name(text, &definition->fields[value->field], value->element);
}

#endif
