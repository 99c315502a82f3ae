/* logger/mcap/mcap_reader.h - reads MCAP files from begin to end, one message at a time.
 *
 * A summary is not needed: a file that a killed recorder left is read as far as it goes. Chunks
 * must not be compressed. No length of the file is trusted. Memory: one chunk, all schemas and
 * channels.
 */
#ifndef LOGGER_MCAP_MCAP_READER_H
#define LOGGER_MCAP_MCAP_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/errors/err.h"

/* A message; everything is borrowed: texts until the end, data until the next call. */
struct mcap_message {
    uint16_t channel;
    const char *topic, *encoding, *schema_name, *schema_encoding;
    const unsigned char *schema; /* [schema_bytes] */
    size_t schema_bytes;
    const unsigned char *metadata; /* [metadata_bytes] for mcap_metadata() */
    size_t metadata_bytes;
    uint32_t sequence;
    uint64_t log_ns;
    const unsigned char *data; /* [bytes] */
    size_t bytes;
};

struct mcap_reader;

bool mcap_is_magic(const void *bytes, size_t n);

/* from: at its beginning, owned from then on. name: for errors, borrowed. STATUS_E_PARSE: no
 * MCAP; STATUS_E_NOMEM. *out is written only on STATUS_OK. */
MUST_USE enum status mcap_reader_open(FILE *from, const char *name, struct mcap_reader **out,
                                      struct err *err);
void mcap_reader_close(struct mcap_reader *reader); /* NULL is allowed */

/* Gets the next message in the order of the file. STATUS_E_EMPTY: the end. STATUS_E_PARSE: the
 * file is damaged, or a chunk is compressed; STATUS_E_IO, STATUS_E_NOMEM: reading ends. */
MUST_USE enum status mcap_reader_next(struct mcap_reader *reader, struct mcap_message *out,
                                      struct err *err);

/* Does the file end in the middle of a record, or without its last record? After the end. */
bool mcap_reader_is_torn(const struct mcap_reader *reader);

/* Finds a value in a channel's metadata; false: none, or longer than room. */
bool mcap_metadata(const struct mcap_message *message, const char *name, char *value,
                   size_t room);

#endif
