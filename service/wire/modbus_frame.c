#include "service/wire/modbus_frame.h"

enum {
    HEADER_BYTES = 7, /* transaction, protocol, length, unit */
    LENGTH_FROM = 6,  /* the length counts from here */
    READ_BITS_MAX = 2000,
    READ_REGISTERS_MAX = 125,
    WRITE_BITS_MAX = 1968,
    WRITE_REGISTERS_MAX = 123,
    BOTH_WRITE_MAX = 121,
    ILLEGAL_FUNCTION = 1,
    ILLEGAL_VALUE = 3
};

/* Layout of a function's request. After the function code come an address and a count, or a
 * value; some functions then have a byte count and that many bytes. */
static const struct layout {
    uint8_t function;
    bool coils;
    bool reads;       /* address and count */
    bool writes_one;  /* address and value */
    uint8_t write_at; /* offset of the written address; 0: writes nothing */
    uint8_t bytes;    /* length without the counted bytes */
    uint16_t read_max;
    uint16_t write_max;
} layouts[] = {
    {1, .coils = true, .reads = true, .bytes = 12, .read_max = READ_BITS_MAX},
    {2, .coils = true, .reads = true, .bytes = 12, .read_max = READ_BITS_MAX},
    {3, .reads = true, .bytes = 12, .read_max = READ_REGISTERS_MAX},
    {4, .reads = true, .bytes = 12, .read_max = READ_REGISTERS_MAX},
    {5, .coils = true, .writes_one = true, .write_at = 8, .bytes = 12},
    {6, .writes_one = true, .write_at = 8, .bytes = 12},
    {15, .coils = true, .write_at = 8, .bytes = 13, .write_max = WRITE_BITS_MAX},
    {16, .write_at = 8, .bytes = 13, .write_max = WRITE_REGISTERS_MAX},
    {22, .writes_one = true, .write_at = 8, .bytes = 14},
    {23, .reads = true, .write_at = 12, .bytes = 17, .read_max = READ_REGISTERS_MAX,
     .write_max = BOTH_WRITE_MAX},
};

static unsigned read_word(const uint8_t *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

static const struct layout *find_layout(uint8_t function)
{
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        if (layouts[i].function == function) {
            return &layouts[i];
        }
    }
    return NULL;
}

/* The byte count ends the fixed part and must agree with the count of values. */
static bool has_its_data(const struct layout *l, const uint8_t *bytes, size_t length,
                         unsigned values)
{
    const unsigned counted = bytes[l->bytes - 1];
    return counted == (l->coils ? (values + 7) / 8 : 2 * values) &&
           length == l->bytes + counted;
}

/* Checks that the frame has its stated length; false when its counts contradict that or
 * Modbus. */
static bool read_counts(const struct layout *l, const uint8_t *bytes, struct modbus_request *r)
{
    if (r->bytes < l->bytes) {
        return false;
    }
    if (l->reads) {
        r->read_at = read_word(bytes + 8);
        r->read_count = read_word(bytes + 10);
        if (r->read_count < 1 || r->read_count > l->read_max) {
            return false;
        }
    }
    if (l->write_at == 0) {
        return r->bytes == l->bytes;
    }
    r->write_at = read_word(bytes + l->write_at);
    if (l->writes_one) {
        const unsigned value = read_word(bytes + 10);
        r->write_count = 1;
        return r->bytes == l->bytes && (!l->coils || value == 0 || value == 0xFF00);
    }
    r->write_count = read_word(bytes + l->write_at + 2);
    return r->write_count >= 1 && r->write_count <= l->write_max &&
           has_its_data(l, bytes, r->bytes, r->write_count);
}

enum modbus_frame modbus_frame_read(const uint8_t *bytes, size_t count,
                                    struct modbus_request *out)
{
    struct modbus_request r = {.bytes = 0};
    if (count >= 4 && read_word(bytes + 2) != 0) {
        return MODBUS_FRAME_ALIEN;
    }
    if (count < LENGTH_FROM) {
        return MODBUS_FRAME_PART;
    }
    r.bytes = LENGTH_FROM + read_word(bytes + 4);
    if (r.bytes <= HEADER_BYTES || r.bytes > MODBUS_FRAME_MAX) {
        return MODBUS_FRAME_ALIEN;
    }
    if (count < r.bytes) {
        return MODBUS_FRAME_PART;
    }
    const uint8_t function = bytes[HEADER_BYTES];
    if (function == 0 || function > 127) { /* no request has such a code */
        return MODBUS_FRAME_ALIEN;
    }
    const struct layout *l = find_layout(function);
    r.coils = l && l->coils;
    r.exception = !l ? ILLEGAL_FUNCTION : read_counts(l, bytes, &r) ? 0 : ILLEGAL_VALUE;
    if (r.exception != 0) {
        r.read_count = r.write_count = 0;
    }
    *out = r;
    return r.exception == 0 ? MODBUS_FRAME_WHOLE : MODBUS_FRAME_REFUSED;
}
