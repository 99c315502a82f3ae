/* logger/mcap/mcap_writer.h - writes MCAP files, which PlotJuggler, Foxglove and Rerun open.
 *
 * The layout is that of the MCAP specification: uncompressed chunks with indexes and CRCs. A
 * file that is cut anywhere keeps every chunk before the cut, because a channel is written into
 * the chunk of its first message. Memory: one chunk, 16 bytes per message of it, and the index.
 */
#ifndef LOGGER_MCAP_MCAP_WRITER_H
#define LOGGER_MCAP_MCAP_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/errors/err.h"

enum { MCAP_CHUNK_BYTES = 256 * 1024, MCAP_IDS_MAX = 65535 /* schemas, and channels */ };

/* A name and its value; a list ends with a NULL name. */
struct mcap_pair {
    const char *name, *value;
};

struct mcap_channel {
    uint16_t schema; /* 0: none */
    const char *topic, *encoding;
    const struct mcap_pair *metadata; /* NULL: none */
};

struct mcap_writer;

/* Begins a file at the start of a stream, which is borrowed. STATUS_E_NOMEM. *out is written
 * only on STATUS_OK. */
MUST_USE enum status mcap_writer_open(FILE *to, const char *library, struct mcap_writer **out);

/* Adds a schema in JSON Schema, or a channel, and returns its id; 0 and 65535, which no id is,
 * when there are too many, or no memory. */
uint16_t mcap_add_schema(struct mcap_writer *w, const char *name, const void *text,
                         size_t bytes);
uint16_t mcap_add_channel(struct mcap_writer *w, const struct mcap_channel *channel);

/* Appends a message. Failures show at the end. Times are in nanoseconds since 1970. */
void mcap_write(struct mcap_writer *w, uint16_t channel, uint32_t sequence, uint64_t log_ns,
                uint64_t publish_ns, const void *data, size_t bytes);

/* The last parts of a file. */
struct mcap_end {
    const char *metadata_name;
    const struct mcap_pair *metadata;
    const char *attachment_name, *media_type;
    const void *attachment; /* [attachment_bytes] */
    size_t attachment_bytes;
};

/* Writes the index and flushes the stream. STATUS_E_IO with errno, STATUS_E_NOMEM: the file is
 * not complete. */
MUST_USE enum status mcap_writer_end(struct mcap_writer *w, const struct mcap_end *end);
void mcap_writer_close(struct mcap_writer *w); /* frees it; NULL is allowed */

#endif
