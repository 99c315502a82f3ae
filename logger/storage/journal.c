#include "logger/storage/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logger/storage/file_place.h"
#include "logger/storage/journal_files.h"
#include "logger/storage/journal_tail.h"
#include "logger/storage/lock.h"

enum {
    RETIRED_MAX = 8,  /* files that wait for their last fsync */
    LATE_US = 5000000 /* a sync comes that much too late on a disk that is in order */
};

struct journal {
    struct journal_params params;
    struct journal_io io;
    char directory[PATH_MAX];
    int dir_fd; /* holds the directory's lock */

    /* Held, except while journal_sync() waits for the disk. */
    pthread_mutex_t lock;
    bool torn;             /* the file ends with a torn line */
    bool rotate_now;       /* this file cannot be written any more */
    int64_t failed_us;     /* time of the last failed attempt; LAB_TIME_NONE: it succeeded */
    int64_t rotate_try_us; /* time of the last failed start of a file; LAB_TIME_NONE: never */
    int fd;                /* -1: no file yet */
    struct journal_position end; /* start and size of the current file */
    int64_t retain_file;         /* retention removes only older files; INT64_MAX: not set */
    int retired[RETIRED_MAX];
    size_t retired_count;
    bool gone;    /* the current file was removed: do not write to it */
    bool started; /* a file was started: retention and a directory sync are due */
    struct journal_stats stats;
    int64_t newer_us; /* oldest line since the running sync began */
    int last_error, last_sync_error;
    bool watch_failing;
    bool rotated_unsure; /* the sync of a file that is no longer written has failed */

    /* Used by journal_sync() only. */
    pthread_mutex_t sync_lock;
    int64_t last_sync_us;
    bool unsure; /* a sync has failed, so the system may have dropped unwritten pages */
    int orphan;  /* a file that lost its name and must be restored; -1: none */
    int64_t orphan_start; /* start time in its name */
};

static ssize_t real_write(void *context, int fd, const void *bytes, size_t n)
{
    (void)context;
    return write(fd, bytes, n);
}

static int real_fsync(void *context, int fd)
{
    (void)context;
    return fdatasync(fd);
}

void journal_params_init(struct journal_params *params)
{
    *params = (struct journal_params){
        .rotate_bytes = UINT64_C(64) << 20,
        .rotate_us = INT64_C(86400) * 1000000,
        .retain_bytes = UINT64_C(8) << 30,
        .fsync_us = 1000000,
        .retry_us = 100000,
    };
}

/* --- starting a file ------------------------------------------------------------------ */

static int open_file(const struct journal *j, int64_t start_us, int more_flags)
{
    char name[JOURNAL_NAME_MAX];
    journal_file_name(start_us, name);
    return openat(j->dir_fd, name, O_RDWR | O_APPEND | O_CLOEXEC | more_flags, 0640);
}

static void record_error(struct journal *j, int error)
{
    j->last_error = error;
    j->stats.errors++;
}

/* Starts the next file. After a failure nothing has changed. */
static bool start_file(struct journal *j, int64_t t_us)
{
    /* Names must ascend even if the clock was set back between two runs. */
    int64_t start_us = j->fd < 0 || t_us > j->end.file ? t_us : j->end.file + 1;
    start_us = start_us < 0 ? 0 : start_us;
    const int fd = open_file(j, start_us, O_CREAT | O_EXCL);
    if (fd < 0) {
        record_error(j, errno);
        j->rotate_try_us = t_us;
        return false;
    }
    if (j->fd >= 0) {
        /* After a power cut no line may be there while earlier ones are missing. A failed sync
         * is reported once only: the next one would succeed without writing. */
        if (j->io.fsync(j->io.context, j->fd) != 0) {
            j->last_sync_error = errno;
            j->stats.sync_errors++;
            j->rotated_unsure = true;
        }
        j->retired[j->retired_count++] = j->fd;
        j->stats.rotations++;
    }
    j->fd = fd;
    j->end = (struct journal_position){start_us, 0};
    j->gone = j->torn = j->rotate_now = false;
    j->started = true;
    j->rotate_try_us = LAB_TIME_NONE;
    return true;
}

static bool wait_is_over(const struct journal *j, int64_t since_us, int64_t t_us)
{
    /* A time before the failure means that the clock was set, so do not wait. */
    return since_us == LAB_TIME_NONE || t_us < since_us ||
           t_us - since_us >= j->params.retry_us;
}

static bool rotation_is_due(const struct journal *j, size_t bytes, int64_t t_us)
{
    const bool due = j->end.offset + bytes > j->params.rotate_bytes || j->rotate_now ||
                     (t_us > j->end.file && t_us - j->end.file >= j->params.rotate_us);
    return j->fd < 0 ||
           (((due && j->end.offset > 0) || j->gone) && j->retired_count < RETIRED_MAX &&
            wait_is_over(j, j->rotate_try_us, t_us));
}

/* --- appending ------------------------------------------------------------------------ */

/* Writes all bytes, or records the failure. A short write is continued once: the rest either
 * fits or gives the reason. */
static bool write_bytes(struct journal *j, const char *bytes, size_t n)
{
    size_t done = 0;
    for (int attempt = 0; attempt < 2 && done < n; attempt++) {
        const ssize_t wrote = j->io.write(j->io.context, j->fd, bytes + done, n - done);
        if (wrote < 0) {
            if (errno == EINTR) {
                continue;
            }
            record_error(j, errno);
            /* A new file does not help against a full disk; it may help against any other
             * failure. */
            j->rotate_now = errno != ENOSPC && errno != EDQUOT;
            break;
        }
        done += (size_t)wrote;
        if (done < n && attempt == 1) {
            record_error(j, ENOSPC);
        }
    }
    j->end.offset += done;
    j->stats.bytes += done;
    if (done > 0) {
        j->torn = done < n;
    }
    return done == n;
}

/* A torn line has not been published, and the lab does not have it. Only its last byte may be
 * missing, and a bare newline would then complete it, so other bytes are added. */
static bool close_piece(struct journal *j)
{
    static const char end[] = "#\n";
    j->stats.torn += write_bytes(j, end, strlen(end));
    return !j->torn;
}

/* Terminates a torn line first, then writes the lines, if there is or can be a file. *done:
 * bytes written. */
static bool append_text(struct journal *j, const char *lines, size_t bytes, int64_t t_us,
                        size_t *done)
{
    *done = 0;
    const bool closed = j->gone || !j->torn || close_piece(j);
    const bool rotated = rotation_is_due(j, bytes, t_us) && start_file(j, t_us);
    if (j->fd < 0 || j->gone || !(closed || rotated)) {
        return false;
    }
    const uint64_t start = j->end.offset;
    const bool whole = write_bytes(j, lines, bytes);
    *done = (size_t)(j->end.offset - start);
    if (*done > 0 && j->newer_us == LAB_TIME_NONE) {
        j->newer_us = t_us;
    }
    return whole;
}

static size_t count_lines(const char *text, size_t bytes)
{
    size_t count = 0;
    for (const char *at = text; (at = memchr(at, '\n', bytes - (size_t)(at - text))); at++) {
        count++;
    }
    return count;
}

enum status journal_append_lines(struct journal *journal, const char *lines, size_t bytes,
                                 int64_t t_us, size_t *wrote, struct journal_position *after)
{
    if (bytes == 0 || lines[bytes - 1] != '\n') {
        return STATUS_E_ARG;
    }
    size_t done = 0;
    lock_acquire(&journal->lock);
    const bool tried = wait_is_over(journal, journal->failed_us, t_us);
    const bool ok = tried && append_text(journal, lines, bytes, t_us, &done);
    size_t whole = done;
    while (whole > 0 && lines[whole - 1] != '\n') {
        whole--;
    }
    if (tried) {
        journal->failed_us = ok ? LAB_TIME_NONE : t_us;
        journal->stats.failing = !ok;
    }
    journal->stats.lines += count_lines(lines, whole);
    journal->stats.lost_lines += count_lines(lines + whole, bytes - whole);
    if (whole > 0 && after) {
        *after = journal->end;
        after->offset -= done - whole;
    }
    lock_release(&journal->lock);
    *wrote = whole;
    return ok ? STATUS_OK : STATUS_E_IO;
}

enum status journal_append(struct journal *journal, const char *line, size_t bytes,
                           int64_t t_us, struct journal_position *after)
{
    size_t wrote = 0;
    return journal_append_lines(journal, line, bytes, t_us, &wrote, after);
}

struct journal_position journal_end(struct journal *journal)
{
    lock_acquire(&journal->lock);
    const struct journal_position end = journal->end;
    lock_release(&journal->lock);
    return end;
}

void journal_retain_from(struct journal *journal, struct journal_position position)
{
    lock_acquire(&journal->lock);
    journal->retain_file = position.file;
    lock_release(&journal->lock);
}

/* --- the slow half -------------------------------------------------------------------- */

static bool record_sync_error(struct journal *j, int error)
{
    lock_acquire(&j->lock);
    j->last_sync_error = error;
    j->stats.sync_errors++;
    lock_release(&j->lock);
    return false;
}

static bool sync_file(struct journal *j, int fd)
{
    if (j->io.fsync(j->io.context, fd) != 0) {
        return record_sync_error(j, errno);
    }
    lock_acquire(&j->lock);
    j->stats.syncs++;
    lock_release(&j->lock);
    return true;
}

/* After a failed sync Linux marks the pages as clean, and the next sync succeeds without
 * writing. Writing the same bytes again makes them dirty. */
static bool write_again(struct journal *j, int fd, uint64_t from)
{
    enum { DESCRIPTOR_MAX = 40 };
    char path[DESCRIPTOR_MAX];
    char bytes[65536];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int to = open(path, O_WRONLY | O_CLOEXEC); /* without O_APPEND, unlike fd */
    bool ok = to >= 0;
    off_t at = (off_t)from;
    for (ssize_t n = 1; ok && n > 0; at += n) {
        n = pread(fd, bytes, sizeof bytes, at);
        ok = n >= 0 && lseek(to, at, SEEK_SET) == at &&
             (n == 0 || j->io.write(j->io.context, to, bytes, (size_t)n) == n);
    }
    const int error = errno;
    if (to >= 0) {
        (void)close(to);
    }
    return ok || record_sync_error(j, error);
}

/* Data to sync, taken over so that appending continues meanwhile. */
struct sync_job {
    int retired[RETIRED_MAX];
    size_t retired_count;
    int fd; /* a duplicate descriptor; -1: nothing new, or no duplicate */
    int error;
    struct journal_position end;
    uint64_t from;       /* fd is synced up to here */
    int64_t retain_file; /* oldest file that must stay */
    bool started;
    int64_t unsynced_us; /* its oldest line */
};

static void fetch_job(struct journal *j, struct sync_job *job)
{
    lock_acquire(&j->lock);
    *job = (struct sync_job){.retired_count = j->retired_count,
                             .fd = -1,
                             .end = j->end,
                             .retain_file =
                                 j->retain_file < j->end.file ? j->retain_file : j->end.file,
                             .started = j->started};
    memcpy(job->retired, j->retired, sizeof job->retired);
    j->retired_count = 0;
    j->unsure = j->unsure || j->rotated_unsure;
    j->rotated_unsure = false;
    j->started = false;
    if (j->stats.unsynced_us == LAB_TIME_NONE) {
        j->stats.unsynced_us = j->newer_us;
    }
    j->newer_us = LAB_TIME_NONE;
    const struct journal_position synced = j->stats.synced;
    job->from = job->end.file == synced.file ? synced.offset : 0;
    if (j->fd >= 0 && (job->end.file != synced.file || job->end.offset != synced.offset)) {
        job->fd = fcntl(j->fd, F_DUPFD_CLOEXEC, 0);
        job->error = job->fd < 0 ? errno : 0;
    }
    lock_release(&j->lock);
}

/* A file that could not be synced is tried again, as long as the list has room. */
static void retire_again(struct journal *j, int fd)
{
    lock_acquire(&j->lock);
    const bool room = j->retired_count < RETIRED_MAX;
    if (room) {
        j->retired[j->retired_count++] = fd;
    }
    lock_release(&j->lock);
    if (!room) {
        (void)close(fd);
    }
}

/* Earlier files and new names are synced first, so that the synced part has no hole. */
static bool run_job(struct journal *j, const struct sync_job *job)
{
    bool ok = job->error == 0 || record_sync_error(j, job->error);
    for (size_t i = 0; i < job->retired_count; i++) {
        if ((!j->unsure || write_again(j, job->retired[i], 0)) &&
            sync_file(j, job->retired[i])) {
            (void)close(job->retired[i]);
        } else {
            ok = false;
            retire_again(j, job->retired[i]);
        }
    }
    if (job->fd >= 0) {
        ok = (!j->unsure || write_again(j, job->fd, job->from)) && sync_file(j, job->fd) && ok;
        (void)close(job->fd);
    }
    if (job->started) {
        /* A power failure can lose a new file's name as well as its bytes. */
        ok = sync_file(j, j->dir_fd) && ok;
    }
    j->unsure = !ok;
    lock_acquire(&j->lock);
    if (ok) {
        j->stats.synced = job->end;
        j->stats.unsynced_us = LAB_TIME_NONE;
    }
    lock_release(&j->lock);
    return ok;
}

static uint64_t file_bytes(const struct journal *j, int64_t start_us)
{
    char name[JOURNAL_NAME_MAX];
    struct stat status;
    journal_file_name(start_us, name);
    return fstatat(j->dir_fd, name, &status, 0) == 0 && status.st_size > 0
               ? (uint64_t)status.st_size
               : 0;
}

static bool remove_old_files(struct journal *j, int64_t retain_file)
{
    int64_t *starts_us = NULL;
    size_t n = 0;
    if (journal_files_list(j->directory, &starts_us, &n, NULL) != STATUS_OK) {
        return record_sync_error(j, EIO);
    }
    bool ok = true;
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        total += file_bytes(j, starts_us[i]);
    }
    for (size_t i = 0; i < n && total > j->params.retain_bytes && starts_us[i] < retain_file;
         i++) {
        char name[JOURNAL_NAME_MAX];
        journal_file_name(starts_us[i], name);
        const uint64_t bytes = file_bytes(j, starts_us[i]);
        if (unlinkat(j->dir_fd, name, 0) != 0 && errno != ENOENT) {
            ok = record_sync_error(j, errno);
            continue;
        }
        total -= bytes < total ? bytes : total;
        lock_acquire(&j->lock);
        j->stats.removed_files++;
        lock_release(&j->lock);
    }
    free(starts_us);
    return ok;
}

enum status journal_sync(struct journal *journal, int64_t now_us)
{
    lock_acquire(&journal->sync_lock);
    const int64_t last_us = journal->last_sync_us;
    if (now_us != LAB_TIME_MAX && last_us != LAB_TIME_NONE && now_us >= last_us &&
        now_us - last_us < journal->params.fsync_us) {
        lock_release(&journal->sync_lock);
        return STATUS_OK;
    }
    struct sync_job job;
    fetch_job(journal, &job);
    const bool synced = run_job(journal, &job);
    const bool removed = !job.started || journal->params.retain_bytes == 0 ||
                         remove_old_files(journal, job.retain_file);
    if (now_us != LAB_TIME_MAX) {
        journal->last_sync_us = now_us;
    }
    lock_acquire(&journal->lock);
    journal->started = journal->started || (job.started && !(synced && removed));
    journal->stats.sync_failing = !synced || !removed || journal->watch_failing;
    lock_release(&journal->lock);
    lock_release(&journal->sync_lock);
    return synced ? STATUS_OK : STATUS_E_IO;
}

/* --- files and directories that others remove ------------------------------------------- */

static bool lock_descriptor(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* The name of a new directory is durable only after the directory above it is synced. */
static void sync_parent(int dir_fd)
{
    const int fd = openat(dir_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
}

/* Opens the directory that is now at the path, or creates it. Returns whether it is another
 * one; *ok: it is open. */
static bool renew_directory(struct journal *j, bool *ok)
{
    const struct file_place place = file_place_of(j->dir_fd);
    *ok = true;
    if (file_place_holds(&place, j->directory)) {
        return false;
    }
    char inside[PATH_MAX + 2];
    (void)snprintf(inside, sizeof inside, "%s/.", j->directory);
    int fd = -1;
    if (file_place_make_directory_of(inside)) {
        fd = open(j->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    *ok = fd >= 0 && lock_descriptor(fd);
    if (!*ok) {
        (void)record_sync_error(j, errno);
        if (fd >= 0) {
            (void)close(fd);
        }
        return false;
    }
    sync_parent(fd);
    lock_acquire(&j->lock);
    const int old = j->dir_fd;
    j->dir_fd = fd;
    lock_release(&j->lock);
    (void)close(old);
    return true;
}

/* Does the current file's name still lead to it? */
static bool has_name(const struct journal *j)
{
    char name[JOURNAL_NAME_MAX];
    struct stat there;
    struct stat here;
    journal_file_name(j->end.file, name);
    return fstat(j->fd, &here) == 0 && fstatat(j->dir_fd, name, &there, 0) == 0 &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/* Continues in a new file if the current one is gone. */
static bool leave_file(struct journal *j)
{
    bool ok = true;
    lock_acquire(&j->lock);
    if (j->fd >= 0 && (j->gone || !has_name(j))) {
        j->stats.vanished += !j->gone;
        j->gone = true;
        const int fd = j->orphan < 0 ? fcntl(j->fd, F_DUPFD_CLOEXEC, 0) : -1;
        const int64_t start_us = j->end.file;
        ok = j->retired_count < RETIRED_MAX && start_file(j, start_us + 1);
        if (ok && fd >= 0) {
            j->orphan = fd;
            j->orphan_start = start_us;
        } else if (fd >= 0) {
            (void)close(fd);
        }
    }
    const int error = j->last_error;
    lock_release(&j->lock);
    return ok || record_sync_error(j, error);
}

static bool copy_bytes(int from, int to)
{
    char bytes[65536];
    off_t at = 0;
    for (;;) {
        const ssize_t n = pread(from, bytes, sizeof bytes, at);
        if (n <= 0) {
            return n == 0 && fdatasync(to) == 0;
        }
        for (ssize_t done = 0; done < n;) {
            const ssize_t wrote = write(to, bytes + done, (size_t)(n - done));
            if (wrote <= 0) {
                return false;
            }
            done += wrote;
        }
        at += n;
    }
}

/* Restores the file under its old name: completely or not at all, and never over another
 * file. */
static bool rewrite_file(struct journal *j)
{
    static const char temporary[] = ".put-back";
    char name[JOURNAL_NAME_MAX];
    journal_file_name(j->orphan_start, name);
    (void)unlinkat(j->dir_fd, temporary, 0);
    const int fd = openat(j->dir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    bool ok = fd >= 0 && copy_bytes(j->orphan, fd);
    ok = ok && linkat(j->dir_fd, temporary, j->dir_fd, name, 0) == 0 && fsync(j->dir_fd) == 0;
    const int error = errno;
    if (fd >= 0) {
        (void)close(fd);
        (void)unlinkat(j->dir_fd, temporary, 0);
    }
    if (!ok && error != EEXIST) {
        return record_sync_error(j, error);
    }
    (void)close(j->orphan);
    j->orphan = -1;
    lock_acquire(&j->lock);
    j->stats.rewritten += ok;
    lock_release(&j->lock);
    return true;
}

enum status journal_watch(struct journal *journal)
{
    bool ok = true;
    lock_acquire(&journal->sync_lock);
    const bool renewed = renew_directory(journal, &ok);
    if (renewed && journal->fd < 0) {
        lock_acquire(&journal->lock);
        journal->stats.vanished++;
        lock_release(&journal->lock);
    }
    ok = leave_file(journal) && ok;
    ok = (journal->orphan < 0 || rewrite_file(journal)) && ok;
    lock_acquire(&journal->lock);
    journal->stats.sync_failing =
        (journal->stats.sync_failing && !journal->watch_failing) || !ok;
    journal->watch_failing = !ok;
    lock_release(&journal->lock);
    lock_release(&journal->sync_lock);
    return ok ? STATUS_OK : STATUS_E_IO;
}

void journal_stats(struct journal *journal, struct journal_stats *out)
{
    lock_acquire(&journal->lock);
    *out = journal->stats;
    out->unsynced_us = out->unsynced_us == LAB_TIME_NONE ? journal->newer_us : out->unsynced_us;
    const int error = journal->last_error;
    const int sync_error = journal->last_sync_error;
    lock_release(&journal->lock);
    const bool sync = out->sync_failing && !out->failing;
    if (sync || error != 0) {
        (void)snprintf(out->error, sizeof out->error, "cannot %s the journal: %s",
                       sync ? "sync" : "write", journal_error_text(sync ? sync_error : error));
    }
}

/* --- opening and closing -------------------------------------------------------------- */

static enum status check_params(const struct journal_params *params, struct err *err)
{
    const char *what = NULL;
    if (!params->directory || params->directory[0] == '\0' ||
        strlen(params->directory) >= PATH_MAX) {
        what = "directory must be a path";
    } else if (params->rotate_bytes == 0 || params->rotate_us <= 0) {
        what = "rotation needs a size and an age above 0";
    } else if (params->fsync_us < 0 || params->retry_us < 0) {
        what = "intervals must not be negative";
    }
    return what ? err_set(err, STATUS_E_ARG, FAULT_OUT_OF_RANGE, params->directory,
                          "journal: %s", what)
                : STATUS_OK;
}

static enum status lock_directory(struct journal *j, struct err *err)
{
    const char *dir = j->directory;
    const bool made = mkdir(dir, 0750) == 0;
    if (!made && errno != EEXIST) {
        return journal_fail(dir, FAULT_FILE_UNWRITABLE, "cannot make the journal's directory",
                            err);
    }
    j->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (j->dir_fd < 0) {
        return journal_fail(dir, FAULT_FILE_UNREADABLE, "cannot open the journal's directory",
                            err);
    }
    if (made) {
        sync_parent(j->dir_fd);
    }
    if (faccessat(j->dir_fd, ".", W_OK | X_OK, 0) != 0) {
        return journal_fail(dir, FAULT_FILE_UNWRITABLE, "cannot write in the directory", err);
    }
    if (!lock_descriptor(j->dir_fd)) {
        const char *why = errno == EWOULDBLOCK ? "another process writes this journal"
                                               : journal_error_text(errno);
        return err_set(err, STATUS_E_IO, FAULT_IN_USE, dir,
                       "cannot lock the directory: %s; stop it or choose another directory",
                       why);
    }
    return STATUS_OK;
}

/* Lines that a power cut left behind a hole never were on the disk for certain. */
static bool remove_tail(struct journal *j, struct stat *about)
{
    const int64_t end = journal_tail_end(j->fd, about->st_size, j->params.fsync_us + LATE_US);
    if (end == about->st_size) {
        return true;
    }
    j->stats.cut_bytes = (uint64_t)(about->st_size - end);
    about->st_size = (off_t)end;
    return end >= 0 && ftruncate(j->fd, (off_t)end) == 0 &&
           j->io.fsync(j->io.context, j->fd) == 0;
}

static enum status go_on(struct journal *j, struct err *err)
{
    int64_t *starts_us = NULL;
    size_t n = 0;
    const enum status status = journal_files_list(j->directory, &starts_us, &n, err);
    const int64_t newest_us = n > 0 ? starts_us[n - 1] : LAB_TIME_NONE;
    /* The previous writer may have been killed before it synced this file. */
    const int fd = n > 1 ? open_file(j, starts_us[n - 2], 0) : -1;
    if (fd >= 0) {
        j->retired[j->retired_count++] = fd;
    }
    free(starts_us);
    if (status != STATUS_OK || n == 0) {
        return status;
    }
    struct stat about;
    char last = '\n';
    j->fd = open_file(j, newest_us, 0);
    if (j->fd < 0 || fstat(j->fd, &about) != 0) {
        return journal_fail(j->directory, FAULT_FILE_UNWRITABLE,
                            "cannot go on in the newest journal file", err);
    }
    if (!S_ISREG(about.st_mode)) {
        return err_set(err, STATUS_E_IO, FAULT_NOT_A_FILE, j->directory,
                       "the newest journal file is a pipe, socket or device: move it away");
    }
    if (!remove_tail(j, &about)) {
        return journal_fail(j->directory, FAULT_FILE_UNREADABLE,
                            "cannot find the end of the newest journal file", err);
    }
    j->end = (struct journal_position){newest_us, (uint64_t)about.st_size};
    /* If the file ends with a torn line, the next append terminates it. */
    j->torn =
        about.st_size > 0 && (pread(j->fd, &last, 1, about.st_size - 1) != 1 || last != '\n');
    /* Retention may be stricter than in the previous run. */
    j->started = true;
    return STATUS_OK;
}

static void release_journal(struct journal *j)
{
    for (size_t i = 0; i < j->retired_count; i++) {
        (void)close(j->retired[i]);
    }
    if (j->fd >= 0) {
        (void)close(j->fd);
    }
    if (j->dir_fd >= 0) {
        (void)close(j->dir_fd);
    }
    if (j->orphan >= 0) {
        (void)close(j->orphan);
    }
    (void)pthread_mutex_destroy(&j->lock);
    (void)pthread_mutex_destroy(&j->sync_lock);
    free(j);
}

enum status journal_open(const struct journal_params *params, struct journal **out,
                         struct err *err)
{
    enum status status = check_params(params, err);
    if (status != STATUS_OK) {
        return status;
    }
    struct journal *j = calloc(1, sizeof *j);
    if (!j) {
        return err_no_memory(err, params->directory, "out of memory");
    }
    j->params = *params;
    j->io = params->io ? *params->io : (struct journal_io){0};
    j->io.write = j->io.write ? j->io.write : real_write;
    j->io.fsync = j->io.fsync ? j->io.fsync : real_fsync;
    (void)snprintf(j->directory, sizeof j->directory, "%s", params->directory);
    j->fd = j->dir_fd = j->orphan = -1;
    j->failed_us = j->rotate_try_us = j->last_sync_us = LAB_TIME_NONE;
    j->newer_us = j->stats.unsynced_us = LAB_TIME_NONE;
    j->retain_file = INT64_MAX;
    lock_init(&j->lock);
    lock_init(&j->sync_lock);
    status = lock_directory(j, err);
    if (status == STATUS_OK) {
        status = go_on(j, err);
    }
    if (status != STATUS_OK) {
        release_journal(j);
        return status;
    }
    *out = j;
    return STATUS_OK;
}

void journal_close(struct journal *journal)
{
    if (!journal) {
        return;
    }
    /* A failure cannot be reported any more, because the counters end with the journal. */
    const enum status ignored = journal_sync(journal, LAB_TIME_MAX);
    (void)ignored;
    release_journal(journal);
}
