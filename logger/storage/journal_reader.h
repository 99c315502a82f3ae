/* logger/storage/journal_reader.h - a journal, line by line: recordings for replay, and the
 * tail that a daemon is writing right now.
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

/* A line as readers hand it out. */
struct journal_line {
    const char *text; /* [bytes], without its '\n'; valid until the next call */
    size_t bytes;     /* <= MESSAGE_LINE_MAX */
    bool torn;        /* the file ends without a '\n': if this is no message, a crash cut it */
    bool overlong;    /* longer than MESSAGE_LINE_MAX: not read, its text is empty */
    struct journal_position start, after;
    uint64_t number;  /* 1-based, in its file; from where reading began, after a position */
    const char *path; /* of its file, "-" for the standard input; valid like text, and of
                         recordings until the reader is closed */
};

struct journal_reader_stats {
    uint64_t lines;       /* handed out */
    uint64_t torn;        /* unterminated last lines, handed out with torn set */
    uint64_t overlong;    /* longer than MESSAGE_LINE_MAX, handed out without their text */
    uint64_t files;       /* begun */
    uint64_t bytes;       /* read so far */
    uint64_t total_bytes; /* of all files as they were at the opening; pipes count 0 */
};

struct journal_reader;

/* Read recordings: paths[n] are files, "-" (the standard input, once), or directories, which
 * stand for the journal files in them. Several files are merged in the order of their lines'
 * "tst"; a line without one, or with an earlier one than the line before it, stays behind that
 * line. Files whose first and last stamps do not overlap are read one after another, which
 * costs nothing extra. Equal stamps: order of paths. Positions carry the index in the list.
 * Cold path: allocates.
 *
 * STATUS_E_IO: a file cannot be read. STATUS_E_PARSE: a file is compressed or UTF-16.
 * STATUS_E_ARG: no path, more than 4096 files, or a named pipe, socket or device, which may
 * never end or begin; whoever has one hands it over as "-", or by its descriptor ("/dev/fd/3").
 * STATUS_E_NOMEM. *out is written only on STATUS_OK. */
MUST_USE enum status journal_reader_open_files(const char *const *paths, size_t n,
                                               struct journal_reader **out, struct err *err);

/* Read the journal in a directory from a position on ({0, 0}: from its beginning), file by
 * file. At the end journal_reader_next() returns STATUS_E_EMPTY and may be called again when
 * more has been appended; it follows the writer from file to file.
 *
 * STATUS_E_STALE: position is not in this journal any more (its file was removed or is
 * shorter, or it is not between two lines). STATUS_E_IO, STATUS_E_NOMEM. */
MUST_USE enum status journal_reader_open_directory(const char *directory,
                                                   struct journal_position from,
                                                   struct journal_reader **out,
                                                   struct err *err);

/* The next line. STATUS_E_EMPTY: none (yet). STATUS_E_IO, STATUS_E_PARSE (compressed),
 * STATUS_E_NOMEM: the file is given up, *err says which; the next call goes on behind it. */
MUST_USE enum status journal_reader_next(struct journal_reader *reader,
                                         struct journal_line *out, struct err *err);

void journal_reader_stats(const struct journal_reader *reader,
                          struct journal_reader_stats *out);

/* NULL is allowed. */
void journal_reader_close(struct journal_reader *reader);

/* A power cut left a hole in this line, which may have held several. No piece that the writer
 * has closed: no line of that run comes behind it. */
bool journal_line_has_hole(const char *line, size_t bytes);

/* The "tst" of a line, LAB_TIME_NONE when there is none. */
int64_t journal_line_us(const char *line, size_t bytes);

/* The last stamp in the journal of a directory, LAB_TIME_NONE when there is none, and whether
 * it has no file at all. STATUS_E_IO, STATUS_E_NOMEM. */
MUST_USE enum status journal_last_us(const char *directory, int64_t *last_us, bool *is_empty,
                                     struct err *err);

#endif
