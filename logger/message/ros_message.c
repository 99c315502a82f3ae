#include "logger/message/ros_message.h"

#include <string.h>

/* Sizes of one number by type, bytes. */
static const uint8_t sizes[ROS_STRING] = {
    [ROS_BOOL] = 1,   [ROS_INT8] = 1,    [ROS_UINT8] = 1,  [ROS_INT16] = 2,
    [ROS_UINT16] = 2, [ROS_INT32] = 4,   [ROS_UINT32] = 4, [ROS_INT64] = 8,
    [ROS_UINT64] = 8, [ROS_FLOAT32] = 4, [ROS_FLOAT64] = 8};

/* A message being decoded. */
struct decoder {
    const struct ros_definition *definition;
    const unsigned char *at; /* [bytes] behind the encapsulation, from which alignment counts */
    size_t bytes, used;
    size_t align_max;
    uint32_t count[ROS_DEPTH_MAX]; /* of the loops in value.at */
    struct ros_value value;
    ros_visit *visit;
    void *context;
    bool stopped;
    const char *fault; /* NULL: none */
};

static uint64_t read_number(const unsigned char *at, size_t n, bool big_endian)
{
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++) {
        value |= (uint64_t)at[big_endian ? n - 1 - i : i] << (8 * i);
    }
    return value;
}

double ros_value_number(const struct ros_value *value, size_t i)
{
    const size_t n = sizes[value->type];
    const uint64_t bits = read_number(value->data + i * n, n, value->big_endian);
    const uint32_t low = (uint32_t)bits;
    float single = 0.0F;
    double number = 0.0;
    switch (value->type) {
    case ROS_FLOAT32:
        memcpy(&single, &low, sizeof single);
        return (double)single;
    case ROS_FLOAT64:
        memcpy(&number, &bits, sizeof number);
        return number;
    case ROS_INT8:
        return (double)(int8_t)bits;
    case ROS_INT16:
        return (double)(int16_t)bits;
    case ROS_INT32:
        return (double)(int32_t)bits;
    case ROS_INT64:
        return (double)(int64_t)bits;
    case ROS_BOOL:
    case ROS_UINT8:
    case ROS_UINT16:
    case ROS_UINT32:
    case ROS_UINT64:
    case ROS_STRING:
    case ROS_WSTRING:
    case ROS_EMPTY:
    case ROS_BEGIN:
    case ROS_END:
    default:
        return (double)bits;
    }
}

/* --- decoding -------------------------------------------------------------------------------
 */

static void align_to(struct decoder *d, size_t n)
{
    n = n < d->align_max ? n : d->align_max;
    d->used = (d->used + n - 1) / n * n;
}

static bool has_room(struct decoder *d, uint64_t n, const char *fault)
{
    const bool room = d->used <= d->bytes && n <= d->bytes - d->used;
    d->fault = room ? d->fault : fault;
    return room;
}

static bool read_length(struct decoder *d, uint32_t *length)
{
    align_to(d, 4);
    if (!has_room(d, 4, "the message ends before a length")) {
        return false;
    }
    *length = (uint32_t)read_number(d->at + d->used, 4, d->value.big_endian);
    d->used += 4;
    return true;
}

/* Passes count units of n bytes on; units: numbers, or bytes of a text. */
static void emit_value(struct decoder *d, size_t count)
{
    d->value.count = count;
    d->value.data = d->at + d->used;
    d->stopped = !d->visit(d->context, &d->value);
}

static void decode_text(struct decoder *d, bool wide)
{
    uint32_t n = 0;
    if (!read_length(d, &n)) {
        return;
    }
    const uint64_t bytes = wide ? 2 * (uint64_t)n : n;
    if (has_room(d, bytes, "a text is longer than the message")) {
        const unsigned char *end = d->at + d->used + bytes;
        emit_value(d, (size_t)bytes - (!wide && n > 0 && end[-1] == 0));
        d->used += (size_t)bytes;
    }
}

static void decode_texts(struct decoder *d, bool wide, uint32_t count)
{
    for (uint32_t i = 0; i < count && !d->fault && !d->stopped; i++) {
        d->value.element = i;
        decode_text(d, wide);
    }
    d->value.element = 0;
}

static void decode_numbers(struct decoder *d, size_t size, uint32_t count)
{
    if (count > 0) {
        align_to(d, size);
    }
    if (has_room(d, (uint64_t)count * size, "the message ends within a value")) {
        emit_value(d, count);
        d->used += count * size;
    }
}

/* Each element takes a byte at least, so a count is bounded by the bytes that are left. */
static bool read_count(struct decoder *d, const struct ros_field *field, uint32_t *count)
{
    *count = field->array == ROS_ONE ? 1 : field->count;
    if (field->array == ROS_SEQUENCE && !read_length(d, count)) {
        return false;
    }
    return field->array == ROS_ONE ||
           has_room(d, *count, "an array is longer than the message");
}

/* Enters a message; an array of them is a loop. Returns the next field. */
static size_t begin_loop(struct decoder *d, size_t i, uint32_t count)
{
    const struct ros_field *field = &d->definition->fields[i];
    if (count == 0) {
        return (size_t)field->end + 1;
    }
    if (field->array != ROS_ONE) {
        d->count[d->value.loops] = count;
        d->value.at[d->value.loops++] = 0;
    }
    return i + 1;
}

static size_t end_loop(struct decoder *d, size_t i)
{
    const size_t begin = d->definition->fields[i].end;
    if (d->definition->fields[begin].array == ROS_ONE) {
        return i + 1;
    }
    const size_t loop = d->value.loops - 1;
    if (++d->value.at[loop] < d->count[loop]) {
        return begin + 1;
    }
    d->value.loops--;
    return i + 1;
}

/* Decodes a field and returns the next one. */
static size_t decode_field(struct decoder *d, size_t i)
{
    const struct ros_field *field = &d->definition->fields[i];
    uint32_t count = 0;
    if (field->type == ROS_END) {
        return end_loop(d, i);
    }
    if (!read_count(d, field, &count)) {
        return i;
    }
    d->value.field = i;
    d->value.type = (enum ros_type)field->type;
    if (field->type == ROS_BEGIN) {
        return begin_loop(d, i, count);
    }
    if (field->type == ROS_EMPTY) {
        d->used += has_room(d, count, "the message ends within a value") ? count : 0;
    } else if (field->type >= ROS_STRING) {
        decode_texts(d, field->type == ROS_WSTRING, count);
    } else {
        decode_numbers(d, sizes[field->type], count);
    }
    return i + 1;
}

static enum status fail_message(const struct decoder *d, const char *fault, struct err *err)
{
    return err_set_at(err, STATUS_E_PARSE, FAULT_BAD_FORMAT, "message", 0,
                      (unsigned)(d->used + 4), "%s", fault);
}

enum status ros_message_decode(const struct ros_definition *definition,
                               const unsigned char *message, size_t bytes, ros_visit *visit,
                               void *context, struct err *err)
{
    struct decoder d = {.definition = definition, .visit = visit, .context = context};
    if (bytes >= 4 && memcmp(message, "\x28\xb5\x2f\xfd", 4) == 0) {
        return fail_message(&d, "each message is compressed by zstd: `ros2 bag convert` first",
                            err);
    }
    if (bytes < 4 || message[0] != 0 ||
        (message[1] > 1 && message[1] != 6 && message[1] != 7)) {
        return fail_message(&d, "no CDR: the first bytes 00 00, 00 01, 00 06 or 00 07 expected",
                            err);
    }
    d.at = message + 4;
    d.bytes = bytes - 4;
    d.align_max = message[1] >= 6 ? 4 : 8;
    d.value.big_endian = message[1] % 2 == 0;
    for (size_t i = 0; i < definition->count && !d.fault && !d.stopped;) {
        i = decode_field(&d, i);
    }
    return d.fault ? fail_message(&d, d.fault, err) : STATUS_OK;
}
