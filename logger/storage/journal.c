#include "logger/storage/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logger/storage/journal_error.h"
#include "logger/storage/journal_files.h"
#include "logger/storage/lock.h"

enum { RETIRED_MAX = 8 }; /* files that wait for their last fsync */

struct journal {
    struct journal_params params;
    struct journal_io io;
    char directory[PATH_MAX];
    int dir_fd; /* holds the lock of the directory */

    /* The appending side's; the caller's lock protects them. */
    bool torn;             /* the file ends in a piece of a line */
    bool rotate_now;       /* this file cannot be written any more */
    int64_t failed_us;     /* when the last attempt failed; LAB_TIME_NONE: it did not */
    int64_t rotate_try_us; /* when starting a file failed last; LAB_TIME_NONE: never */

    /* Shared with journal_sync(). */
    pthread_mutex_t lock;
    int fd;            /* -1: no file yet */
    int64_t file_us;   /* its start */
    int64_t keep_file; /* retention removes only older files; INT64_MAX: not told */
    int retired[RETIRED_MAX];
    size_t retired_count;
    struct journal_position synced;
    _Atomic uint64_t size; /* of the current file */
    _Atomic bool gone;     /* somebody removed the current file */
    _Atomic bool started;  /* a file was started: retention and directory are due */

    /* journal_sync()'s. */
    pthread_mutex_t sync_lock;
    int64_t last_sync_us;

    _Atomic uint64_t lines, bytes, lost_lines, errors, torn_count, rotations, removed_files;
    _Atomic uint64_t syncs, sync_errors;
    _Atomic bool failing, sync_failing;
    _Atomic int last_error, last_sync_error;
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
    return openat(j->dir_fd, name, O_WRONLY | O_APPEND | O_CLOEXEC | more_flags, 0640);
}

static void note_error(struct journal *j, int error)
{
    atomic_store(&j->last_error, error);
    atomic_fetch_add(&j->errors, 1);
}

/* The next file. On failure everything stays as it was. */
static bool start_file(struct journal *j, int64_t t_us)
{
    /* Names must ascend even when the clock was set back between two runs. */
    const int64_t start_us = j->fd < 0 || t_us > j->file_us ? t_us : j->file_us + 1;
    const int fd = open_file(j, start_us < 0 ? 0 : start_us, O_CREAT | O_EXCL);
    if (fd < 0) {
        note_error(j, errno);
        j->rotate_try_us = t_us;
        return false;
    }
    (void)pthread_mutex_lock(&j->lock);
    if (j->fd >= 0) {
        j->retired[j->retired_count++] = j->fd;
        atomic_fetch_add(&j->rotations, 1);
    }
    j->fd = fd;
    j->file_us = start_us < 0 ? 0 : start_us;
    atomic_store(&j->size, 0);
    (void)pthread_mutex_unlock(&j->lock);
    atomic_store(&j->gone, false);
    atomic_store(&j->started, true);
    j->torn = false;
    j->rotate_now = false;
    j->rotate_try_us = LAB_TIME_NONE;
    return true;
}

static bool wait_is_over(const struct journal *j, int64_t since_us, int64_t t_us)
{
    /* A time before the failure means that the clock was set: do not wait for it. */
    return since_us == LAB_TIME_NONE || t_us < since_us ||
           t_us - since_us >= j->params.retry_us;
}

static bool rotation_is_due(struct journal *j, size_t bytes, int64_t t_us)
{
    if (j->fd < 0) {
        return true;
    }
    const uint64_t size = atomic_load(&j->size);
    const bool due = size + bytes > j->params.rotate_bytes || j->rotate_now ||
                     (t_us > j->file_us && t_us - j->file_us >= j->params.rotate_us);
    if (!(due && size > 0) && !atomic_load(&j->gone)) {
        return false;
    }
    (void)pthread_mutex_lock(&j->lock);
    const bool room = j->retired_count < RETIRED_MAX;
    (void)pthread_mutex_unlock(&j->lock);
    return room && wait_is_over(j, j->rotate_try_us, t_us);
}

/* --- appending ------------------------------------------------------------------------ */

/* Write all of it, or note what became of it. A short write is followed up once: the rest
 * either fits or tells why not. */
static bool write_bytes(struct journal *j, const char *bytes, size_t n)
{
    size_t done = 0;
    for (int attempt = 0; attempt < 2 && done < n; attempt++) {
        const ssize_t wrote = j->io.write(j->io.context, j->fd, bytes + done, n - done);
        if (wrote < 0) {
            if (errno == EINTR) {
                continue;
            }
            note_error(j, errno);
            /* A full disk is the file's fault no more than another's; any other trouble may
             * be over with a new file. */
            j->rotate_now = errno != ENOSPC && errno != EDQUOT;
            break;
        }
        done += (size_t)wrote;
        if (done < n && attempt == 1) {
            note_error(j, ENOSPC);
        }
    }
    atomic_fetch_add(&j->size, done);
    atomic_fetch_add(&j->bytes, done);
    if (done > 0) {
        j->torn = done < n;
    }
    return done == n;
}

static enum status fail_append(struct journal *j, int64_t t_us)
{
    j->failed_us = t_us;
    atomic_store(&j->failing, true);
    atomic_fetch_add(&j->lost_lines, 1);
    return STATUS_E_IO;
}

enum status journal_append(struct journal *journal, const char *line, size_t bytes,
                           int64_t t_us, struct journal_position *after)
{
    if (bytes == 0 || line[bytes - 1] != '\n') {
        return STATUS_E_ARG;
    }
    if (!wait_is_over(journal, journal->failed_us, t_us)) {
        atomic_fetch_add(&journal->lost_lines, 1);
        return STATUS_E_IO;
    }
    if (rotation_is_due(journal, bytes, t_us) && !start_file(journal, t_us) &&
        journal->fd < 0) {
        return fail_append(journal, t_us);
    }
    if (journal->torn) {
        if (!write_bytes(journal, "\n", 1)) {
            return fail_append(journal, t_us);
        }
        atomic_fetch_add(&journal->torn_count, 1);
    }
    if (!write_bytes(journal, line, bytes)) {
        return fail_append(journal, t_us);
    }
    atomic_fetch_add(&journal->lines, 1);
    if (journal->failed_us != LAB_TIME_NONE) {
        journal->failed_us = LAB_TIME_NONE;
        atomic_store(&journal->failing, false);
    }
    if (after) {
        *after = journal_end(journal);
    }
    return STATUS_OK;
}

struct journal_position journal_end(const struct journal *journal)
{
    if (journal->fd < 0) {
        return (struct journal_position){0, 0};
    }
    return (struct journal_position){journal->file_us, atomic_load(&journal->size)};
}

void journal_keep_from(struct journal *journal, struct journal_position position)
{
    (void)pthread_mutex_lock(&journal->lock);
    journal->keep_file = position.file;
    (void)pthread_mutex_unlock(&journal->lock);
}

/* --- the slow half -------------------------------------------------------------------- */

static bool note_sync_error(struct journal *j, int error)
{
    atomic_store(&j->last_sync_error, error);
    atomic_fetch_add(&j->sync_errors, 1);
    return false;
}

static bool sync_file(struct journal *j, int fd)
{
    if (j->io.fsync(j->io.context, fd) != 0) {
        return note_sync_error(j, errno);
    }
    atomic_fetch_add(&j->syncs, 1);
    return true;
}

/* Take over what is to be synced, so that appending goes on meanwhile. */
struct sync_job {
    int retired[RETIRED_MAX];
    size_t retired_count;
    int fd; /* a duplicate; -1: nothing new in the current file */
    struct journal_position end;
    int64_t keep_file; /* the oldest file that must stay */
};

static bool take_job(struct journal *j, struct sync_job *job)
{
    bool ok = true;
    (void)pthread_mutex_lock(&j->lock);
    memcpy(job->retired, j->retired, sizeof job->retired);
    job->retired_count = j->retired_count;
    j->retired_count = 0;
    job->fd = -1;
    job->end = (struct journal_position){j->file_us, atomic_load(&j->size)};
    job->keep_file = j->keep_file < j->file_us ? j->keep_file : j->file_us;
    const bool dirty = job->end.file != j->synced.file || job->end.offset != j->synced.offset;
    if (j->fd >= 0 && dirty) {
        job->fd = fcntl(j->fd, F_DUPFD_CLOEXEC, 0);
        ok = job->fd >= 0 || note_sync_error(j, errno);
    }
    (void)pthread_mutex_unlock(&j->lock);
    return ok;
}

static bool run_job(struct journal *j, const struct sync_job *job)
{
    bool ok = true;
    for (size_t i = 0; i < job->retired_count; i++) {
        ok = sync_file(j, job->retired[i]) && ok;
        (void)close(job->retired[i]);
    }
    if (job->fd < 0) {
        return ok;
    }
    ok = sync_file(j, job->fd) && ok;
    struct stat status;
    if (fstat(job->fd, &status) == 0 && status.st_nlink == 0) {
        atomic_store(&j->gone, true);
    }
    (void)close(job->fd);
    if (ok) {
        (void)pthread_mutex_lock(&j->lock);
        j->synced = job->end;
        (void)pthread_mutex_unlock(&j->lock);
    }
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

static bool remove_old_files(struct journal *j, int64_t keep_file)
{
    int64_t *starts_us = NULL;
    size_t n = 0;
    struct err err = {0};
    if (journal_files_list(j->directory, &starts_us, &n, &err) != STATUS_OK) {
        return note_sync_error(j, EIO);
    }
    bool ok = true;
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        total += file_bytes(j, starts_us[i]);
    }
    for (size_t i = 0; i < n && total > j->params.retain_bytes && starts_us[i] < keep_file;
         i++) {
        char name[JOURNAL_NAME_MAX];
        journal_file_name(starts_us[i], name);
        const uint64_t bytes = file_bytes(j, starts_us[i]);
        if (unlinkat(j->dir_fd, name, 0) != 0 && errno != ENOENT) {
            ok = note_sync_error(j, errno);
            continue;
        }
        total -= bytes < total ? bytes : total;
        atomic_fetch_add(&j->removed_files, 1);
    }
    free(starts_us);
    return ok;
}

enum status journal_sync(struct journal *journal, int64_t now_us)
{
    (void)pthread_mutex_lock(&journal->sync_lock);
    const int64_t last_us = journal->last_sync_us;
    if (now_us != LAB_TIME_MAX && last_us != LAB_TIME_NONE && now_us >= last_us &&
        now_us - last_us < journal->params.fsync_us) {
        (void)pthread_mutex_unlock(&journal->sync_lock);
        return STATUS_OK;
    }
    struct sync_job job;
    const bool started = atomic_exchange(&journal->started, false);
    bool ok = take_job(journal, &job);
    ok = run_job(journal, &job) && ok;
    if (started) {
        /* A new file's name is as easily lost with the power as its bytes. */
        ok = sync_file(journal, journal->dir_fd) && ok;
        ok = (journal->params.retain_bytes == 0 || remove_old_files(journal, job.keep_file)) &&
             ok;
        if (!ok) {
            atomic_store(&journal->started, true);
        }
    }
    if (now_us != LAB_TIME_MAX) {
        journal->last_sync_us = now_us;
    }
    atomic_store(&journal->sync_failing, !ok);
    (void)pthread_mutex_unlock(&journal->sync_lock);
    return ok ? STATUS_OK : STATUS_E_IO;
}

void journal_stats(struct journal *journal, struct journal_stats *out)
{
    *out = (struct journal_stats){
        .lines = atomic_load(&journal->lines),
        .bytes = atomic_load(&journal->bytes),
        .lost_lines = atomic_load(&journal->lost_lines),
        .errors = atomic_load(&journal->errors),
        .torn = atomic_load(&journal->torn_count),
        .rotations = atomic_load(&journal->rotations),
        .removed_files = atomic_load(&journal->removed_files),
        .syncs = atomic_load(&journal->syncs),
        .sync_errors = atomic_load(&journal->sync_errors),
        .failing = atomic_load(&journal->failing),
        .sync_failing = atomic_load(&journal->sync_failing),
    };
    const int error = atomic_load(&journal->last_error);
    const int sync_error = atomic_load(&journal->last_sync_error);
    if (out->sync_failing && !out->failing) {
        (void)snprintf(out->error, sizeof out->error, "cannot sync the journal: %s",
                       journal_error_text(sync_error));
    } else if (error != 0) {
        (void)snprintf(out->error, sizeof out->error, "cannot write the journal: %s",
                       journal_error_text(error));
    }
    (void)pthread_mutex_lock(&journal->lock);
    out->synced = journal->synced;
    (void)pthread_mutex_unlock(&journal->lock);
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
    return what ? err_set(err, STATUS_E_ARG, params->directory, 0, 0, "journal: %s", what)
                : STATUS_OK;
}

static enum status lock_directory(struct journal *j, struct err *err)
{
    const char *dir = j->directory;
    if (mkdir(dir, 0750) != 0 && errno != EEXIST) {
        return err_set(err, STATUS_E_IO, dir, 0, 0, "cannot make the journal's directory: %s",
                       journal_error_text(errno));
    }
    j->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (j->dir_fd < 0) {
        return err_set(err, STATUS_E_IO, dir, 0, 0, "cannot open the journal's directory: %s",
                       journal_error_text(errno));
    }
    if (faccessat(j->dir_fd, ".", W_OK | X_OK, 0) != 0) {
        return err_set(err, STATUS_E_IO, dir, 0, 0, "cannot write in the directory: %s",
                       journal_error_text(errno));
    }
    if (flock(j->dir_fd, LOCK_EX | LOCK_NB) != 0) {
        const char *why = errno == EWOULDBLOCK ? "another process writes this journal"
                                               : journal_error_text(errno);
        return err_set(err, STATUS_E_IO, dir, 0, 0,
                       "cannot lock the directory: %s; stop it or choose another directory",
                       why);
    }
    return STATUS_OK;
}

/* Does the file end in a piece of a line? Then the next append closes it. */
static bool ends_torn(const struct journal *j, int64_t start_us, uint64_t size)
{
    char name[JOURNAL_NAME_MAX];
    char last = '\n';
    journal_file_name(start_us, name);
    const int fd = openat(j->dir_fd, name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && size > 0 && pread(fd, &last, 1, (off_t)(size - 1)) != 1) {
        last = '\0';
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return last != '\n';
}

static enum status go_on(struct journal *j, struct err *err)
{
    int64_t *starts_us = NULL;
    size_t n = 0;
    const enum status status = journal_files_list(j->directory, &starts_us, &n, err);
    if (status != STATUS_OK) {
        return status;
    }
    const int64_t newest_us = n > 0 ? starts_us[n - 1] : LAB_TIME_NONE;
    free(starts_us);
    if (n == 0) {
        return STATUS_OK;
    }
    struct stat about;
    j->fd = open_file(j, newest_us, 0);
    if (j->fd < 0 || fstat(j->fd, &about) != 0) {
        return err_set(err, STATUS_E_IO, j->directory, 0, 0,
                       "cannot go on in the newest journal file: %s",
                       journal_error_text(errno));
    }
    const uint64_t size = (uint64_t)about.st_size;
    j->file_us = newest_us;
    j->torn = ends_torn(j, newest_us, size);
    atomic_store(&j->size, size);
    /* Retention may have become stricter since the last run. */
    atomic_store(&j->started, true);
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
        return err_set(err, STATUS_E_NOMEM, params->directory, 0, 0, "out of memory");
    }
    j->params = *params;
    j->io = (struct journal_io){.write = real_write, .fsync = real_fsync};
    if (params->io) {
        j->io.context = params->io->context;
        j->io.write = params->io->write ? params->io->write : real_write;
        j->io.fsync = params->io->fsync ? params->io->fsync : real_fsync;
    }
    (void)snprintf(j->directory, sizeof j->directory, "%s", params->directory);
    j->fd = j->dir_fd = -1;
    j->failed_us = j->rotate_try_us = j->last_sync_us = LAB_TIME_NONE;
    j->keep_file = INT64_MAX;
    lock_init(&j->lock);
    (void)pthread_mutex_init(&j->sync_lock, NULL);
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
    /* Nobody is left to be told; the counters die with the journal. */
    const enum status ignored = journal_sync(journal, LAB_TIME_MAX);
    (void)ignored;
    release_journal(journal);
}
