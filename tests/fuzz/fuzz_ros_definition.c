/* Any text as the definition of a ROS 2 message: it is resolved into fields whose ends match,
 * or there is an error. The first line is the type's name. */
#undef NDEBUG /* its checks are asserts, in every build */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "logger/message/ros_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ros_definition d;
    char type[64] = "";
    struct err err = {0};
    const uint8_t *line = size > 0 ? memchr(data, '\n', size) : NULL;
    const size_t n = line ? (size_t)(line - data) : 0;
    if (!line || n >= sizeof type || memchr(data, '\0', n)) {
        return 0;
    }
    memcpy(type, data, n);
    if (ros_definition_parse(type, (const char *)line + 1, size - n - 1, &d, &err) !=
        STATUS_OK) {
        assert(err.text[0] != '\0');
        return 0;
    }
    size_t depth = 0;
    for (size_t i = 0; i < d.count; i++) {
        const struct ros_field *f = &d.fields[i];
        assert(f->type <= ROS_END && f->array <= ROS_SEQUENCE);
        assert(f->array != ROS_FIXED || f->count > 0);
        if (f->type == ROS_BEGIN) {
            assert(f->end > i && f->end < d.count && d.fields[f->end].type == ROS_END);
            assert(d.fields[f->end].end == i && ++depth < ROS_DEPTH_MAX);
        }
        depth -= f->type == ROS_END;
    }
    assert(depth == 0);
    return 0;
}
