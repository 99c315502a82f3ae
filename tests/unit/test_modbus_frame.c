/* Frames of Modbus TCP: whole, in parts, of other protocols, and with wrong counts. */
#include "tests/support/check.h"

#include "service/wire/modbus_frame.h"

enum { BYTES_MAX = 300 };

/* "0001 0000 0006 ff 03 …" as bytes; returns how many. */
static size_t read_hex(const char *text, uint8_t bytes[BYTES_MAX])
{
    size_t n = 0;
    unsigned value = 0;
    int used = 0;
    while (sscanf(text, " %2x%n", &value, &used) == 1) {
        bytes[n++] = (uint8_t)value;
        text += used;
    }
    return n;
}

static void test_rows(void)
{
    static const struct {
        const char *row, *hex;
        enum modbus_frame frame;
        int exception;
        unsigned read_at, read_count, write_at, write_count;
    } rows[] = {
#define READS(at, count)  .read_at = (at), .read_count = (count)
#define WRITES(at, count) .write_at = (at), .write_count = (count)
        {"read registers", "0001 0000 0006 ff 03 010e 0006", .frame = MODBUS_FRAME_WHOLE,
         READS(270, 6)},
        {"read input registers", "0001 0000 0006 00 04 0000 007d", .frame = MODBUS_FRAME_WHOLE,
         READS(0, 125)},
        {"read coils", "0001 0000 0006 00 01 0104 0006", .frame = MODBUS_FRAME_WHOLE,
         READS(260, 6)},
        {"write a coil", "0001 0000 0006 00 05 0010 ff00", .frame = MODBUS_FRAME_WHOLE,
         WRITES(16, 1)},
        {"write a register", "0001 0000 0006 00 06 0080 0007", .frame = MODBUS_FRAME_WHOLE,
         WRITES(128, 1)},
        {"write coils", "0001 0000 0009 00 0f 0010 000a 02 ff03", .frame = MODBUS_FRAME_WHOLE,
         WRITES(16, 10)},
        {"write registers", "0001 0000 000b 00 10 0080 0002 04 0001 0002",
         .frame = MODBUS_FRAME_WHOLE, WRITES(128, 2)},
        {"mask a register", "0001 0000 0008 00 16 0001 00f2 0025", .frame = MODBUS_FRAME_WHOLE,
         WRITES(1, 1)},
        {"both", "0001 0000 000d 00 17 010e 0006 0080 0001 02 0005",
         .frame = MODBUS_FRAME_WHOLE, READS(270, 6), WRITES(128, 1)},
        {"more behind it", "0001 0000 0006 ff 03 010e 0006 0002 00",
         .frame = MODBUS_FRAME_WHOLE, READS(270, 6)},
        {"last address", "0001 0000 0006 ff 03 ffff 0001", .frame = MODBUS_FRAME_WHOLE,
         READS(65535, 1)},
        {"write without its data", "0001 0000 0007 00 10 0080 0003 06",
         .frame = MODBUS_FRAME_REFUSED, .exception = 3},
        {"write with less than its data", "0001 0000 000b 00 10 0080 0003 06 0001 0002",
         .frame = MODBUS_FRAME_REFUSED, .exception = 3},
        {"write with more than its data", "0001 0000 000d 00 10 0080 0002 04 0001 0002 0003",
         .frame = MODBUS_FRAME_REFUSED, .exception = 3},
        {"count of bytes lies", "0001 0000 000b 00 10 0080 0001 04 0001 0002",
         .frame = MODBUS_FRAME_REFUSED, .exception = 3},
        {"write without a count of bytes", "0001 0000 0006 00 10 0080 0002",
         .frame = MODBUS_FRAME_REFUSED, .exception = 3},
        {"coils with too few bytes", "0001 0000 0008 00 0f 0010 000a 01 ff",
         .frame = MODBUS_FRAME_REFUSED, .exception = 3},
        {"both, without the data", "0001 0000 000b 00 17 010e 0006 0080 0001 02",
         .frame = MODBUS_FRAME_REFUSED, .exception = 3},
        {"read nothing", "0001 0000 0006 00 03 010e 0000", .frame = MODBUS_FRAME_REFUSED,
         .exception = 3},
        {"read too much", "0001 0000 0006 00 03 0000 007e", .frame = MODBUS_FRAME_REFUSED,
         .exception = 3},
        {"read too many coils", "0001 0000 0006 00 01 0000 07d1", .frame = MODBUS_FRAME_REFUSED,
         .exception = 3},
        {"write nothing", "0001 0000 0007 00 10 0080 0000 00", .frame = MODBUS_FRAME_REFUSED,
         .exception = 3},
        {"read, cut", "0001 0000 0004 00 03 010e", .frame = MODBUS_FRAME_REFUSED,
         .exception = 3},
        {"read, with more", "0001 0000 0007 00 03 010e 0006 00", .frame = MODBUS_FRAME_REFUSED,
         .exception = 3},
        {"a coil half on", "0001 0000 0006 00 05 0010 0100", .frame = MODBUS_FRAME_REFUSED,
         .exception = 3},
        {"function alone", "0001 0000 0002 00 03", .frame = MODBUS_FRAME_REFUSED,
         .exception = 3},
        {"no such function", "0001 0000 0002 00 07", .frame = MODBUS_FRAME_REFUSED,
         .exception = 1},
        {"encapsulated", "0001 0000 0005 00 2b 0e 01 00", .frame = MODBUS_FRAME_REFUSED,
         .exception = 1},
        {"an answer", "0001 0000 0003 00 83 02", .frame = MODBUS_FRAME_ALIEN},
        {"function 0", "0001 0000 0002 00 00", .frame = MODBUS_FRAME_ALIEN},
        {"other protocol", "0001 0001 0006 00 03 0000 0001", .frame = MODBUS_FRAME_ALIEN},
        {"GET ", "47455420", .frame = MODBUS_FRAME_ALIEN},
        {"no function", "0001 0000 0001 00", .frame = MODBUS_FRAME_ALIEN},
        {"no unit", "0001 0000 0000", .frame = MODBUS_FRAME_ALIEN},
        {"too long", "0001 0000 00ff", .frame = MODBUS_FRAME_ALIEN},
        {"nothing", "", .frame = MODBUS_FRAME_PART},
        {"the longest, its beginning", "0001 0000 00fe 00 10", .frame = MODBUS_FRAME_PART}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t bytes[BYTES_MAX];
        struct modbus_request r = {.bytes = 0};
        const size_t n = read_hex(rows[i].hex, bytes);
        CHECK_INT(rows[i].row, modbus_frame_read(bytes, n, &r), rows[i].frame);
        CHECK_INT(rows[i].row, r.exception, rows[i].exception);
        CHECK_INT(rows[i].row, r.read_count, rows[i].read_count);
        CHECK_INT(rows[i].row, r.write_count, rows[i].write_count);
        CHECK(rows[i].row, r.read_count == 0 || r.read_at == rows[i].read_at);
        CHECK(rows[i].row, r.write_count == 0 || r.write_at == rows[i].write_at);
        if (rows[i].frame != MODBUS_FRAME_WHOLE) {
            continue;
        }
        for (size_t part = 0; part < r.bytes; part++) {
            struct modbus_request none = {.bytes = 0};
            CHECK_INT(rows[i].row, modbus_frame_read(bytes, part, &none), MODBUS_FRAME_PART);
        }
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("modbus_frame", NULL, NULL);
    CU_add_test(suite, "rows", test_rows);
    return check_run();
}
