/* service/wire/modbus_frame.h - frames of Modbus TCP, checked before anybody trusts them. Pure.
 *
 * libmodbus answers requests, but believes their counts: a write without its data would be
 * answered as done, and a count that cannot be would have it sleep.
 * (MODBUS Application Protocol V1.1b3; MODBUS Messaging on TCP/IP V1.0b)
 */
#ifndef SERVICE_WIRE_MODBUS_FRAME_H
#define SERVICE_WIRE_MODBUS_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MODBUS_FRAME_MAX = 260 };

enum modbus_frame {
    MODBUS_FRAME_PART,    /* more bytes are to come */
    MODBUS_FRAME_WHOLE,   /* a request as it should be */
    MODBUS_FRAME_REFUSED, /* whole, but to be answered by an exception */
    MODBUS_FRAME_ALIEN    /* no Modbus: where the next one begins cannot be known */
};

/* What a request asks for: addresses of registers, or of coils, from 0. */
struct modbus_request {
    size_t bytes;                   /* of the frame; of a whole or refused one */
    int exception;                  /* of a refused one: 1 illegal function, 3 illegal value */
    bool coils;                     /* FC 1, 2, 5, 15 */
    unsigned read_at, read_count;   /* count 0: it reads nothing */
    unsigned write_at, write_count; /* count 0: it writes nothing */
};

/* The frame at the front of what came. */
enum modbus_frame modbus_frame_read(const uint8_t *bytes, size_t count,
                                    struct modbus_request *out);

#endif
