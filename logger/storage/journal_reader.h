/* logger/storage/journal_reader.h - reads journals line by line: recordings for replay, and the
 * end of a journal that a daemon is writing.
 *
 * Memory does not grow with the files: one buffer of half a MiB for each file that is read at
 * the same time. One reader belongs to one thread; writer and reader need no common lock.
 */
#ifndef LOGGER_STORAGE_JOURNAL_READER_H
#define LOGGER_STORAGE_JOURNAL_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logger/storage/journal.h"

/* A line of a journal. */
struct journal_line {
    const char *text; /* [bytes], without its '\n'; valid until the next call */
    size_t bytes;     /* <= MESSAGE_LINE_MAX */
    bool torn; /* the file ends without '\n': if the line is not a message, a crash cut it */
    bool overlong; /* longer than MESSAGE_LINE_MAX: not read, the text is empty */
    struct journal_position start, after;
    uint64_t number;  /* 1-based, in its file, or from the start position */
    const char *path; /* of its file, "-": standard input; valid like text, or, for
                       * recordings, until the reader is closed */
};

struct journal_reader_stats {
    uint64_t lines;       /* handed out */
    uint64_t torn;        /* unterminated last lines, returned with torn set */
    uint64_t overlong;    /* lines longer than MESSAGE_LINE_MAX, returned without text */
    uint64_t files;       /* begun */
    uint64_t bytes;       /* read so far */
    uint64_t total_bytes; /* all files, as at the opening; pipes count 0 */
};

struct journal_reader;

/* Opens recordings: paths[n] are files, "-" (standard input, once), or directories, which stand
 * for the journal files in them. Several files are merged by the "tst" of their lines. A line
 * without "tst", or with an earlier one than the line before it, stays behind that line. Files
 * whose times do not overlap are read one after another, which costs nothing extra. Equal
 * stamps keep the order of paths. Positions carry the index in the list. Cold path: allocates.
 *
 * STATUS_E_IO: a file cannot be read. STATUS_E_PARSE: a file is compressed or UTF-16.
 * STATUS_E_ARG: no path, more than 4096 files, or a named pipe, socket or device, which may
 * never end or begin; pass such a one as "-" or by its descriptor ("/dev/fd/3").
 * STATUS_E_NOMEM. *out is written only on STATUS_OK. */
MUST_USE enum status journal_reader_open_files(const char *const *paths, size_t n,
                                               struct journal_reader **out, struct err *err);

/* Opens the journal in a directory at a position ({0, 0}: its beginning). At the end
 * journal_reader_next() returns STATUS_E_EMPTY; call it again after more has been appended. It
 * follows the writer from file to file.
 *
 * STATUS_E_STALE: the position is no longer in this journal (its file was removed or is
 * shorter, or it is not between two lines). STATUS_E_IO, STATUS_E_NOMEM. */
MUST_USE enum status journal_reader_open_directory(const char *directory,
                                                   struct journal_position from,
                                                   struct journal_reader **out,
                                                   struct err *err);

/* Reads the next line. STATUS_E_EMPTY: none (yet). STATUS_E_IO, STATUS_E_PARSE (compressed),
 * STATUS_E_NOMEM: the reader gives up this file, *err names it, and the next call continues
 * behind it. */
MUST_USE enum status journal_reader_next(struct journal_reader *reader,
                                         struct journal_line *out, struct err *err);

void journal_reader_stats(const struct journal_reader *reader,
                          struct journal_reader_stats *out);

/* NULL is allowed. */
void journal_reader_close(struct journal_reader *reader);

/* The "tst" of a line, LAB_TIME_NONE when there is none. */
int64_t journal_line_us(const char *line, size_t bytes);

/* Reads the last stamp in the journal of a directory (LAB_TIME_NONE: none), and whether it has
 * no file at all. STATUS_E_IO, STATUS_E_NOMEM. */
MUST_USE enum status journal_last_us(const char *directory, int64_t *last_us, bool *is_empty,
                                     struct err *err);

#endif
