/* Any bytes as a ROS 2 message of a type with everything: values lie in the message, and there
 * are no more of them than bytes; or there is an error with its place. */
#undef NDEBUG /* its checks are asserts, in every build */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "logger/message/ros_message.h"
#include "tests/support/ros_value_path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_message {
    const struct ros_definition *definition;
    const uint8_t *data;
    size_t size, values;
};

static bool fuzz_value(void *context, const struct ros_value *value)
{
    struct fuzz_message *f = context;
    char path[ROS_PATH_MAX];
    const bool text = value->type >= ROS_STRING;
    assert(value->data >= f->data && value->data <= f->data + f->size);
    assert(value->count <= (size_t)(f->data + f->size - value->data));
    assert(value->field < f->definition->count && value->loops < ROS_DEPTH_MAX);
    for (size_t i = 0; i < value->count && !text; i++) {
        const double number = ros_value_number(value, i);
        (void)number;
    }
    ros_value_path(f->definition, value, path);
    assert(path[0] != '\0');
    assert(++f->values <= f->size);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char text[] =
        "bool a\nint8 b\nuint16 c\nint64 d\nfloat32[3] e\nfloat64[] f\nstring g\n"
        "wstring h\nstring[] i\nQ[] j\nQ[2] k\nE l\nHeader header\n===\n"
        "MSG: p/Q\nint32[] x\nR[] y\n===\nMSG: p/R\nstring[2] s\nuint8 t\n"
        "===\nMSG: p/E\n";
    static struct ros_definition d;
    struct err err = {0};
    struct fuzz_message f = {.definition = &d, .data = data, .size = size};
    if (d.count == 0) {
        const enum status status = ros_definition_parse("p/T", text, sizeof text - 1, &d, &err);
        assert(status == STATUS_OK);
    }
    if (ros_message_decode(&d, data, size, fuzz_value, &f, &err) != STATUS_OK) {
        assert(err.text[0] != '\0' && err.column > 0);
    }
    return 0;
}
