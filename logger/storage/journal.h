/* logger/storage/journal.h - the journal: files of lines, written once and never changed.
 *
 * A directory holds journal-<UTC start>.jsonl files, whose names sort in the order of writing.
 * One process appends. A torn line is terminated, never cut back, so that concurrent readers
 * only see bytes that stay. docs/storage.md.
 *
 * Threads: all functions except journal_close() may be called from any thread; appending never
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

/* A position between two lines. Plain data: it goes into checkpoints. */
struct journal_position {
    int64_t file;    /* start time of the file in us, as in its name; or its index in a list */
    uint64_t offset; /* bytes from its beginning */
};

static inline bool journal_is_before(struct journal_position a, struct journal_position b)
{
    return a.file != b.file ? a.file < b.file : a.offset < b.offset;
}

/* The operating system's calls. NULL stands for the real call; tests insert failing ones. errno
 * is set as by the real ones. */
struct journal_io {
    void *context;
    ssize_t (*write)(void *context, int fd, const void *bytes, size_t n);
    int (*fsync)(void *context, int fd);
    int (*rename)(void *context, const char *from, const char *to);
};

struct journal_params {
    const char *directory;       /* created if missing (its parent must exist); borrowed */
    uint64_t rotate_bytes;       /* size limit of a file, which one line may exceed; > 0 */
    int64_t rotate_us;           /* longest time that a file covers; > 0 */
    uint64_t retain_bytes;       /* limit of all files together; 0: keep everything */
    int64_t fsync_us;            /* longest time that a power failure can lose; >= 0 */
    int64_t retry_us;            /* shortest time from a failed write to the next try; >= 0 */
    const struct journal_io *io; /* NULL: the real calls; borrowed until journal_close() */
};

struct journal_stats {
    uint64_t lines;         /* written */
    uint64_t bytes;         /* written, including torn pieces */
    uint64_t lost_lines;    /* append returned STATUS_E_IO */
    uint64_t errors;        /* failed attempts to write or to start a file */
    uint64_t torn;          /* torn lines that were terminated with a newline */
    uint64_t rotations;     /* files started, without the first one */
    uint64_t removed_files; /* by retention */
    uint64_t vanished;      /* times the directory, or the file being written, was gone */
    uint64_t rewritten;     /* files that were written again, from what was still open */
    uint64_t cut_bytes;     /* removed at the start, behind a hole that a power cut left */
    uint64_t syncs;
    uint64_t sync_errors;
    bool failing;                   /* the last append did not reach the file */
    bool sync_failing;              /* the last fsync, removal or journal_watch() failed */
    char error[ERR_TEXT_MAX];       /* last failure, "" if none */
    struct journal_position synced; /* everything before is on the disk */
    int64_t unsynced_us; /* lab time of the oldest unsynced line; LAB_TIME_NONE: none */
};

struct journal;

/* Defaults: 64 MiB or a day per file, 8 GiB in all, fsync each second, ten tries a second. */
void journal_params_init(struct journal_params *params);

/* Opens the directory for appending to the newest file; without one, the first line starts a
 * file. The directory is locked against a second writer until journal_close(). Cold path:
 * allocates.
 *
 * STATUS_E_ARG: parameters out of range. STATUS_E_IO: directory missing, not writable, or in
 * use by another process. STATUS_E_NOMEM. *out is written only on STATUS_OK. */
MUST_USE enum status journal_open(const struct journal_params *params, struct journal **out,
                                  struct err *err);

/* NULL is allowed. Syncs the remaining lines. */
void journal_close(struct journal *journal);

/* Appends line[bytes], which ends with its only '\n', with one write(2). Does not allocate,
 * sync or wait. t_us is lab time: it decides about rotation and about retries after failures.
 * *after (NULL allowed) becomes the position behind the line.
 *
 * STATUS_E_IO: the line is not in the journal (disk full, read-only, broken); it is counted,
 * and a later line tries again. STATUS_E_ARG: no '\n' at its end. */
MUST_USE enum status journal_append(struct journal *journal, const char *line, size_t bytes,
                                    int64_t t_us, struct journal_position *after);

/* Appends several lines, each ended by '\n', with one write(2). *wrote: bytes of the lines that
 * are in the journal; on STATUS_E_IO some are missing. *after is the position behind them, if
 * there are any. */
MUST_USE enum status journal_append_lines(struct journal *journal, const char *lines,
                                          size_t bytes, int64_t t_us, size_t *wrote,
                                          struct journal_position *after);

/* Returns the position behind the last line; {0, 0} while there is no file. */
struct journal_position journal_end(struct journal *journal);

/* Protects the files from position on (a checkpoint needs them) against retention. */
void journal_retain_from(struct journal *journal, struct journal_position position);

/* Does the slow work that is due: fsync (at most every fsync_us; now_us LAB_TIME_MAX: at once),
 * and removal of files beyond retain_bytes. Call it a few times a second from a thread that may
 * wait for the disk.
 *
 * STATUS_OK: every line appended before the call is on the disk, unless the sync was not due.
 * STATUS_E_IO: see journal_stats(), and call again. */
MUST_USE enum status journal_sync(struct journal *journal, int64_t now_us);

/* Checks that directory and current file are still at their paths. If not, it creates the
 * directory, begins a new file, and restores the old one under its name from the open
 * descriptor, so that positions in it stay valid. Other files are lost with their directory.
 * Call it a few times a second from a thread that may wait for the disk.
 *
 * STATUS_E_IO: not repaired yet, and lines are refused while there is no file; see
 * journal_stats(), and call again. */
MUST_USE enum status journal_watch(struct journal *journal);

void journal_stats(struct journal *journal, struct journal_stats *out);

#endif
