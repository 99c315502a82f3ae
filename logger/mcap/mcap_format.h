/* logger/mcap/mcap_format.h - names of the MCAP format that its writer and reader share.
 *
 * Specification: MCAP, version 0. A record is an opcode, its length in 8 bytes, and its
 * content; numbers are little-endian, a text has its length in 4 bytes before it.
 */
#ifndef LOGGER_MCAP_MCAP_FORMAT_H
#define LOGGER_MCAP_MCAP_FORMAT_H

#define MCAP_MAGIC "\x89MCAP0\r\n"

enum { MCAP_MAGIC_BYTES = 8, MCAP_HEAD_BYTES = 9 /* opcode and length of a record */ };

enum mcap_opcode {
    MCAP_HEADER = 0x01,
    MCAP_FOOTER = 0x02,
    MCAP_SCHEMA = 0x03,
    MCAP_CHANNEL = 0x04,
    MCAP_MESSAGE = 0x05,
    MCAP_CHUNK = 0x06,
    MCAP_MESSAGE_INDEX = 0x07,
    MCAP_CHUNK_INDEX = 0x08,
    MCAP_ATTACHMENT = 0x09,
    MCAP_ATTACHMENT_INDEX = 0x0A,
    MCAP_STATISTICS = 0x0B,
    MCAP_METADATA = 0x0C,
    MCAP_METADATA_INDEX = 0x0D,
    MCAP_SUMMARY_OFFSET = 0x0E,
    MCAP_DATA_END = 0x0F
};

#endif
