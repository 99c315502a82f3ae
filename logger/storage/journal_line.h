/* logger/storage/journal_line.h - a line of a journal as readers hand it out, and what they
 * count. */
#ifndef LOGGER_STORAGE_JOURNAL_LINE_H
#define LOGGER_STORAGE_JOURNAL_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logger/storage/journal.h"

struct journal_line {
    const char *text; /* [bytes], without its '\n'; valid until the next call */
    size_t bytes;     /* <= MESSAGE_LINE_MAX */
    bool torn;        /* the file ends without a '\n': if this is no message, a crash cut it */
    struct journal_position start, after;
    uint64_t number;  /* 1-based, in its file; from where reading began, after a position */
    const char *path; /* of its file, "-" for the standard input; valid like text */
};

struct journal_reader_stats {
    uint64_t lines;       /* handed out */
    uint64_t torn;        /* unterminated last lines, handed out with torn set */
    uint64_t overlong;    /* longer than MESSAGE_LINE_MAX: skipped */
    uint64_t files;       /* begun */
    uint64_t bytes;       /* read so far */
    uint64_t total_bytes; /* of all files as they were at the opening; pipes count 0 */
};

#endif
