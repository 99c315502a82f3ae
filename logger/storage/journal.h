/* logger/storage/journal.h - the journal: files of lines, written once and never changed.
 *
 * A directory holds journal-<UTC start>.jsonl files that sort by name in the order they were
 * written. One process appends; a torn piece of a line is closed, never cut back, so that
 * whoever reads along sees only bytes that stay. docs/storage.md.
 *
 * Threads: all functions but journal_close() may be called from any thread; nobody who appends
 * waits for journal_sync().
 */
#ifndef LOGGER_STORAGE_JOURNAL_H
#define LOGGER_STORAGE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errors/err.h"
#include "base/numbers/lab_time.h"

/* A place between two lines. Plain data: it goes into checkpoints. */
struct journal_position {
    int64_t file;    /* start time of the file in us, as in its name; or its index in a list */
    uint64_t offset; /* bytes from its beginning */
};

/* What the writer asks of the operating system. NULL stands for the real call; tests put
 * failing ones here. errno tells why, as with the real ones. */
struct journal_io {
    void *context;
    ssize_t (*write)(void *context, int fd, const void *bytes, size_t n);
    int (*fsync)(void *context, int fd);
    int (*rename)(void *context, const char *from, const char *to);
};

struct journal_params {
    const char *directory;       /* made when missing (its parent must exist); borrowed */
    uint64_t rotate_bytes;       /* a file grows no larger, unless by one line; > 0 */
    int64_t rotate_us;           /* a file covers no more time; > 0 */
    uint64_t retain_bytes;       /* all files together; 0: keep everything */
    int64_t fsync_us;            /* at most this much is lost with the power; >= 0 */
    int64_t retry_us;            /* after a failed write the next try comes no sooner; >= 0 */
    const struct journal_io *io; /* NULL: the real calls; borrowed for the journal's life */
};

struct journal_stats {
    uint64_t lines;         /* written */
    uint64_t bytes;         /* written, torn pieces included */
    uint64_t lost_lines;    /* append returned STATUS_E_IO */
    uint64_t errors;        /* failed attempts to write or to start a file */
    uint64_t torn;          /* pieces of lines closed with a newline */
    uint64_t rotations;     /* files started, the first one not counted */
    uint64_t removed_files; /* by retention */
    uint64_t vanished;      /* times the directory, or the file being written, was gone */
    uint64_t rewritten;     /* files that were written again, from what was still open */
    uint64_t cut_bytes;     /* removed at the start, behind a hole that a power cut left */
    uint64_t syncs;
    uint64_t sync_errors;
    bool failing;                   /* the last append did not reach the file */
    bool sync_failing;              /* the last fsync, removal or journal_watch() failed */
    char error[ERR_TEXT_MAX];       /* of the last failure, "" when there was none */
    struct journal_position synced; /* everything before is on the disk */
    int64_t unsynced_us; /* lab time of the oldest line that is not; LAB_TIME_NONE: all are */
};

struct journal;

/* 64 MiB or a day a file, 8 GiB in all, fsync each second, ten tries a second. */
void journal_params_init(struct journal_params *params);

/* Open the directory for appending: goes on in the newest file, or waits with the first one
 * for the first line. The directory is locked against a second writer until journal_close().
 * Cold path: allocates.
 *
 * STATUS_E_ARG: parameters out of range. STATUS_E_IO: directory missing, not writable, or in
 * use by another process. STATUS_E_NOMEM. *out is written only on STATUS_OK. */
MUST_USE enum status journal_open(const struct journal_params *params, struct journal **out,
                                  struct err *err);

/* NULL is allowed. Syncs what is left. */
void journal_close(struct journal *journal);

/* Append line[bytes], which ends with its only '\n', by one write(2). Does not allocate, sync
 * or wait. t_us is lab time: it decides about rotation and about trying again after failures.
 * *after (NULL allowed) becomes the place behind the line.
 *
 * STATUS_E_IO: the line is not in the journal (disk full, read-only, broken); counted, and
 * tried again with a later line. STATUS_E_ARG: no '\n' at its end. */
MUST_USE enum status journal_append(struct journal *journal, const char *line, size_t bytes,
                                    int64_t t_us, struct journal_position *after);

/* The same of several lines by one write(2), which end with '\n' each. *wrote: bytes of the
 * lines that are in the journal; not all of them on STATUS_E_IO. *after is the place behind
 * these, where there are any. */
MUST_USE enum status journal_append_lines(struct journal *journal, const char *lines,
                                          size_t bytes, int64_t t_us, size_t *wrote,
                                          struct journal_position *after);

/* The place behind the last line. {0, 0} while there is no file. */
struct journal_position journal_end(struct journal *journal);

/* Files from that of position on are needed (by a checkpoint): retention leaves them alone. */
void journal_retain_from(struct journal *journal, struct journal_position position);

/* Do the slow work when it is due: fsync (not more often than fsync_us; LAB_TIME_MAX as now_us
 * means at once), remove files beyond retain_bytes. Call it a few times a second from a thread
 * that may wait for the disk.
 *
 * STATUS_OK: every line that was appended before the call is on the disk, unless the sync was
 * not due. STATUS_E_IO: see journal_stats(); nothing to do but call again. */
MUST_USE enum status journal_sync(struct journal *journal, int64_t now_us);

/* See whether directory and current file still stand where they were opened. Where they do not,
 * the directory is made again, a new file is begun, and what the old one held is written again
 * under its name, from the open descriptor: places in it stay good. Other files are gone with a
 * directory. Call it a few times a second from a thread that may wait for the disk.
 *
 * STATUS_E_IO: not mended yet, lines are refused meanwhile where there is no file for them; see
 * journal_stats(), and call again. */
MUST_USE enum status journal_watch(struct journal *journal);

void journal_stats(struct journal *journal, struct journal_stats *out);

#endif
