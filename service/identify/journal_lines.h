/* service/identify/journal_lines.h - reads the lines of journals, for models that take their
 * data from messages.
 */
#ifndef SERVICE_IDENTIFY_JOURNAL_LINES_H
#define SERVICE_IDENTIFY_JOURNAL_LINES_H

#include "logger/storage/journal_reader.h"
#include "service/tool/csv_file.h"

enum { JOURNALS_MAX = 64 };

struct journal_lines {
    /* [count] files, "-" or directories, merged by time; or one text */
    const struct csv_source *inputs;
    size_t count;
    struct file_mark *marks; /* [count], out; NULL: not wanted */
    /* Receives each line. Another status than STATUS_OK ends the reading. */
    enum status (*handle)(void *context, const struct journal_line *line, struct err *err);
    /* Gets the bytes done and the total; false ends the reading with STATUS_E_STALE. NULL: not
     * asked. */
    bool (*go_on)(void *context, uint64_t done, uint64_t total);
    void *context;
};

/* STATUS_E_IO, STATUS_E_PARSE (a file cannot be read, a line is too long), STATUS_E_ARG
 * (several texts), STATUS_E_NOMEM, or the status of handle(), with err filled. */
MUST_USE enum status journal_lines_read(const struct journal_lines *lines, struct err *err);

/* Splits a topic "prefix/pair/real/telemetry", of which `end` is "/real/telemetry". False if it
 * has another ending. prefix[MESSAGE_TOPIC_MAX]; *pair has *pair_bytes, fewer than
 * EVENT_PAIR_MAX. */
bool journal_topic_split(const char *topic, const char *end, char *prefix, const char **pair,
                         size_t *pair_bytes);

#endif
