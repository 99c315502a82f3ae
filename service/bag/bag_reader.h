/* service/bag/bag_reader.h - reads ROS 2 bags, MCAP or SQLite, one message at a time.
 *
 * Messages come in the order of the file, which need not be that of time.
 */
#ifndef SERVICE_BAG_BAG_READER_H
#define SERVICE_BAG_BAG_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"

/* The kind of a file, by its first bytes. */
enum bag_kind {
    BAG_NONE,
    BAG_LINES, /* MCAP with the messages of a lab: mcap_lines.h reads it */
    BAG_MCAP,
    BAG_SQLITE
};

struct bag_message {
    unsigned topic_number;       /* below 65536, the same for all messages of a topic */
    const char *topic, *type;    /* borrowed until the next call */
    const char *encoding;        /* "cdr" */
    const char *definition_kind; /* "ros2msg"; "": the bag has no definition of the type */
    const char *definition;      /* [definition_bytes] */
    size_t definition_bytes;
    int64_t log_ns;
    const unsigned char *data; /* [bytes] */
    size_t bytes;
};

struct bag_reader;

/* BAG_NONE also for what cannot be opened. */
enum bag_kind bag_kind_of(const char *path);

/* path is borrowed. STATUS_E_IO, STATUS_E_PARSE: no bag, or damaged; STATUS_E_NOMEM. *out is
 * written only on STATUS_OK. */
MUST_USE enum status bag_reader_open(const char *path, struct bag_reader **out,
                                     struct err *err);
void bag_reader_close(struct bag_reader *reader); /* NULL is allowed */

/* Gets the next message: see mcap_reader_next(). */
MUST_USE enum status bag_reader_next(struct bag_reader *reader, struct bag_message *out,
                                     struct err *err);

/* After the end: was the recorder killed, so that the end is missing? */
bool bag_reader_is_torn(const struct bag_reader *reader);

#endif
