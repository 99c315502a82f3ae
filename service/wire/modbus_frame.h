/* service/wire/modbus_frame.h - checks frames of Modbus TCP before they are used. Pure.
 *
 * libmodbus answers requests but believes their counts. It would confirm a write without data,
 * and sleep on an impossible count. (MODBUS Application Protocol V1.1b3; MODBUS Messaging on
 * TCP/IP V1.0b)
 */
#ifndef SERVICE_WIRE_MODBUS_FRAME_H
#define SERVICE_WIRE_MODBUS_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MODBUS_FRAME_MAX = 260 };

enum modbus_frame {
    MODBUS_FRAME_PART,    /* incomplete */
    MODBUS_FRAME_WHOLE,   /* a valid request */
    MODBUS_FRAME_REFUSED, /* complete, but must be answered by an exception */
    MODBUS_FRAME_ALIEN    /* not Modbus: the start of the next frame is unknown */
};

/* The registers or coils of a request, addresses from 0. */
struct modbus_request {
    size_t bytes;                   /* length of a whole or refused frame */
    int exception;                  /* for a refused one: 1 illegal function, 3 illegal value */
    bool coils;                     /* FC 1, 2, 5, 15 */
    unsigned read_at, read_count;   /* count 0: reads nothing */
    unsigned write_at, write_count; /* count 0: writes nothing */
};

/* Read the frame at the start of the received bytes. */
enum modbus_frame modbus_frame_read(const uint8_t *bytes, size_t count,
                                    struct modbus_request *out);

#endif
