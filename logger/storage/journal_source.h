/* logger/storage/journal_source.h - one file of lines behind a fixed buffer: a part of the
 * reader. */
#ifndef LOGGER_STORAGE_JOURNAL_SOURCE_H
#define LOGGER_STORAGE_JOURNAL_SOURCE_H

#include "logger/storage/journal_line.h"

enum { JOURNAL_BUFFER_BYTES = 1 << 20 };

struct journal_source {
    char *path;      /* owned */
    int64_t file;    /* what its positions carry */
    int fd;          /* -1: not open */
    char *buffer;    /* [JOURNAL_BUFFER_BYTES], owned; NULL: not open */
    size_t begin;    /* of what was not handed out */
    size_t scan;     /* where to look for the next '\n' */
    size_t end;      /* of what was read */
    uint64_t offset; /* of begin in the file */
    uint64_t number; /* lines begun before begin */
    bool skipping;   /* inside an over-long line */
    bool sniffed;    /* its first bytes were looked at */

    /* For merging. */
    bool seekable;
    int64_t first_us, last_us; /* stamps; LAB_TIME_NONE / LAB_TIME_MAX when unknown */
    int64_t key_us;            /* latest stamp so far */
    bool has_head;
    struct journal_line head;
};

/* Open and allocate the buffer; reading begins at offset. STATUS_E_IO, STATUS_E_NOMEM. */
MUST_USE enum status journal_source_open(struct journal_source *source, uint64_t offset,
                                         struct err *err);

/* Close and free the buffer; path stays. */
void journal_source_close(struct journal_source *source);

/* The next complete line. STATUS_E_EMPTY: the file has no more at the moment. */
MUST_USE enum status journal_source_next(struct journal_source *source,
                                         struct journal_line *out,
                                         struct journal_reader_stats *stats, struct err *err);

/* At the end: hand out what stands behind the last '\n'. STATUS_E_EMPTY: nothing. */
MUST_USE enum status journal_source_rest(struct journal_source *source,
                                         struct journal_line *out,
                                         struct journal_reader_stats *stats);

/* The "tst" of a line, LAB_TIME_NONE when there is none. */
int64_t journal_line_us(const char *line, size_t bytes);

/* Find first_us and last_us without keeping the file open. STATUS_E_IO, STATUS_E_NOMEM. */
MUST_USE enum status journal_source_peek(struct journal_source *source, struct err *err);

#endif
