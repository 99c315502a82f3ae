#include "service/wire/rtde.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/errors/status.h"

/* ---- numbers ------------------------------------------------------------------------------
 */

static void write_number(uint8_t *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        out[i] = (uint8_t)(value >> (8 * (bytes - 1 - i)));
    }
}

static uint64_t get_number(const uint8_t *in, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) {
        value = value << 8 | in[i];
    }
    return value;
}

void rtde_write_u16(uint8_t *out, uint16_t value)
{
    write_number(out, value, 2);
}

void rtde_write_u32(uint8_t *out, uint32_t value)
{
    write_number(out, value, 4);
}

void rtde_write_double(uint8_t *out, double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    write_number(out, bits, 8);
}

uint16_t rtde_get_u16(const uint8_t *in)
{
    return (uint16_t)get_number(in, 2);
}

double rtde_get_double(const uint8_t *in)
{
    const uint64_t bits = get_number(in, 8);
    double value = 0.0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- frames -------------------------------------------------------------------------------
 */

ssize_t rtde_frame_next(const uint8_t *bytes, size_t count, struct rtde_frame *out)
{
    if (count < 2) {
        return 0;
    }
    const size_t length = rtde_get_u16(bytes);
    if (length < RTDE_HEADER || length > RTDE_FRAME_MAX) {
        return -1;
    }
    if (count < length) {
        return 0;
    }
    *out = (struct rtde_frame){bytes[2], bytes + RTDE_HEADER, length - RTDE_HEADER};
    return (ssize_t)length;
}

void rtde_frame_write(struct rtde_out *out, uint8_t type, const void *payload, size_t bytes)
{
    const size_t length = RTDE_HEADER + bytes;
    if (length > RTDE_FRAME_MAX || out->room - out->used < length) {
        out->overflow = true;
        return;
    }
    uint8_t *frame = out->bytes + out->used;
    rtde_write_u16(frame, (uint16_t)length);
    frame[2] = type;
    if (bytes > 0) {
        memcpy(frame + RTDE_HEADER, payload, bytes);
    }
    out->used += length;
}

/* ---- fields -------------------------------------------------------------------------------
 */

const char *const rtde_type_names[RTDE_TYPE_COUNT] = {[RTDE_DOUBLE] = "DOUBLE",
                                                      [RTDE_UINT64] = "UINT64",
                                                      [RTDE_UINT32] = "UINT32",
                                                      [RTDE_INT32] = "INT32",
                                                      [RTDE_VECTOR3D] = "VECTOR3D",
                                                      [RTDE_VECTOR6D] = "VECTOR6D",
                                                      [RTDE_VECTOR6INT32] = "VECTOR6INT32",
                                                      [RTDE_UINT8] = "UINT8",
                                                      [RTDE_BOOL] = "BOOL"};

/* Count of numbers in a value, and the bytes of each. */
static const struct {
    uint8_t count, bytes;
} shapes[RTDE_TYPE_COUNT] = {
    [RTDE_DOUBLE] = {1, 8},       [RTDE_UINT64] = {1, 8},   [RTDE_UINT32] = {1, 4},
    [RTDE_INT32] = {1, 4},        [RTDE_VECTOR3D] = {3, 8}, [RTDE_VECTOR6D] = {6, 8},
    [RTDE_VECTOR6INT32] = {6, 4}, [RTDE_UINT8] = {1, 1},    [RTDE_BOOL] = {1, 1}};

static size_t size_of(enum rtde_type type)
{
    return (size_t)shapes[type].count * shapes[type].bytes;
}

const char *rtde_safety_stop(int32_t safety_mode)
{
    static const char *const names[] = {NULL,
                                        NULL,
                                        NULL,
                                        "protective stop",
                                        "recovery mode",
                                        "safeguard stop",
                                        "emergency stop of the system",
                                        "emergency stop of the robot",
                                        "safety violation",
                                        "safety fault"};
    return safety_mode < 1                       ? NULL
           : safety_mode < (int32_t)COUNT(names) ? names[safety_mode]
                                                 : "unknown safety mode";
}

const char *rtde_robot_mode_text(int32_t robot_mode)
{
    static const char *const names[] = {"no controller",
                                        "disconnected",
                                        "safety not confirmed",
                                        "booting",
                                        "power off",
                                        "power on",
                                        "brakes on",
                                        "backdrive",
                                        "running",
                                        "updating its firmware"};
    const int32_t at = robot_mode + 1;
    return at >= 0 && at < (int32_t)COUNT(names) ? names[at] : "not running";
}

static const struct rtde_field output_fields[] = {
#define VALUE(type, name) {#name, RTDE_##type, offsetof(struct rtde_outputs, name), 0, 0},
#define REGISTERS(type, name, member, count, first)                                            \
    {name, RTDE_##type, offsetof(struct rtde_outputs, in.member), count, first},
#define OUTPUT_REGISTERS(type, name, member, count, first)                                     \
    {name, RTDE_##type, offsetof(struct rtde_outputs, out.member), count, first},
#include "service/wire/rtde_outputs.def"
#undef VALUE
#undef REGISTERS
#undef OUTPUT_REGISTERS
};

static const struct rtde_field input_fields[] = {
#define VALUE(type, name) {#name, RTDE_##type, offsetof(struct rtde_inputs, name), 0, 0},
#define REGISTERS(type, name, member, count, first)                                            \
    {name, RTDE_##type, offsetof(struct rtde_inputs, member), count, first},
#include "service/wire/rtde_inputs.def"
#undef VALUE
#undef REGISTERS
};

const struct rtde_table rtde_output_table = {output_fields, COUNT(output_fields)};
const struct rtde_table rtde_input_table = {input_fields, COUNT(input_fields)};

/* ---- recipes ------------------------------------------------------------------------------
 */

/* Parses the number of a register, without leading zeros, to its place in the field; -1:
 * none. */
static int read_register(const char *digits, size_t bytes, const struct rtde_field *field)
{
    int number = 0;
    if (bytes < 1 || bytes > 3 || (bytes > 1 && digits[0] == '0')) {
        return -1;
    }
    for (size_t i = 0; i < bytes; i++) {
        if (digits[i] < '0' || digits[i] > '9') {
            return -1;
        }
        number = 10 * number + (digits[i] - '0');
    }
    number -= field->first;
    return number >= 0 && number < field->registers ? number : -1;
}

bool rtde_find(const struct rtde_table *table, const char *name, size_t bytes,
               struct rtde_item *out)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct rtde_field *field = &table->fields[i];
        const size_t stem = strlen(field->name);
        if (bytes < stem || memcmp(name, field->name, stem) != 0) {
            continue;
        }
        const int number = field->registers == 0
                               ? (bytes == stem ? 0 : -1)
                               : read_register(name + stem, bytes - stem, field);
        if (number >= 0) {
            *out = (struct rtde_item){field->type,
                                      field->at + (size_t)number * size_of(field->type)};
            return true;
        }
    }
    return false;
}

void rtde_recipe_add(struct rtde_recipe *recipe, const struct rtde_item *item)
{
    assert(recipe->count < RTDE_ITEMS_MAX);
    recipe->item[recipe->count++] = *item;
    recipe->bytes += size_of(item->type);
}

static bool add_type(char *types, size_t room, size_t *used, const char *word)
{
    const int n = snprintf(types + *used, room - *used, "%s%s", *used > 0 ? "," : "", word);
    if (n < 0 || (size_t)n >= room - *used) {
        types[*used] = '\0';
        return false;
    }
    *used += (size_t)n;
    return true;
}

bool rtde_recipe_read(const struct rtde_table *table, const char *names, size_t bytes,
                      struct rtde_recipe *out, char *types, size_t room)
{
    bool found = true;
    size_t used = 0;
    size_t at = 0;
    assert(room > 0);
    types[0] = '\0';
    *out = (struct rtde_recipe){0};
    while (at <= bytes) {
        const char *comma = at < bytes ? memchr(names + at, ',', bytes - at) : NULL;
        const size_t end = comma ? (size_t)(comma - names) : bytes;
        struct rtde_item item;
        const bool known = rtde_find(table, names + at, end - at, &item);
        if (out->count == RTDE_ITEMS_MAX ||
            !add_type(types, room, &used, known ? rtde_type_names[item.type] : "NOT_FOUND")) {
            return false;
        }
        if (known) {
            rtde_recipe_add(out, &item);
        }
        found = found && known;
        at = end + 1;
    }
    return found;
}

void rtde_pack(const struct rtde_recipe *recipe, const void *values, uint8_t *out)
{
    for (size_t i = 0; i < recipe->count; i++) {
        const size_t width = shapes[recipe->item[i].type].bytes;
        const uint8_t *from = (const uint8_t *)values + recipe->item[i].at;
        for (size_t k = 0; k < shapes[recipe->item[i].type].count; k++) {
            uint64_t wide = 0;
            uint32_t narrow = 0;
            if (width == 8) {
                memcpy(&wide, from + k * width, sizeof wide);
            } else if (width == 4) {
                memcpy(&narrow, from + k * width, sizeof narrow);
                wide = narrow;
            } else {
                wide = from[k];
            }
            write_number(out, wide, width);
            out += width;
        }
    }
}

void rtde_unpack(const struct rtde_recipe *recipe, const uint8_t *in, void *values)
{
    for (size_t i = 0; i < recipe->count; i++) {
        const size_t width = shapes[recipe->item[i].type].bytes;
        uint8_t *to = (uint8_t *)values + recipe->item[i].at;
        for (size_t k = 0; k < shapes[recipe->item[i].type].count; k++) {
            const uint64_t wide = get_number(in, width);
            const uint32_t narrow = (uint32_t)wide;
            if (width == 8) {
                memcpy(to + k * width, &wide, sizeof wide);
            } else if (width == 4) {
                memcpy(to + k * width, &narrow, sizeof narrow);
            } else {
                to[k] = (uint8_t)wide;
            }
            in += width;
        }
    }
}
