/* tests/support/io_record.c - records what a process changes in files, and what it syncs.
 *
 * The library is loaded before libc (LD_PRELOAD). It writes one record to the file in IO_RECORD
 * for each change below the directory in IO_RECORD_DIR, in the order in which the changes were
 * made by all threads. From the records tests/faults/power.py makes what a power cut can leave.
 * The file in IO_RECORD_PAGE is a page that the test shares with the process: the process stops
 * itself (SIGSTOP) right after a change that the page names, and its syncs take as long as the
 * page says.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* power.py has the names in this order. */
enum change {
    CHANGE_WRITE,    /* file, at: offset; bytes follow */
    CHANGE_TRUNCATE, /* file, at: the new size */
    CHANGE_CREATE,   /* file, path */
    CHANGE_MKDIR,    /* path */
    CHANGE_RENAME,   /* file, path; bytes: the new path */
    CHANGE_LINK,     /* file, path: the new one */
    CHANGE_REMOVE,   /* path */
    CHANGE_SYNC,     /* file or directory, path; at: number of records that it covers */
};

struct record {
    uint32_t change, path_bytes;
    uint64_t file;
    int64_t at;
    uint64_t bytes;
    int64_t t_us; /* CLOCK_REALTIME */
};

struct page {
    _Atomic int32_t stop_change; /* -1: none */
    _Atomic int32_t stop_count;  /* of such changes until the process stops */
    _Atomic int32_t sync_us;     /* how long a sync takes at least */
    char stop_name[116];         /* a part of the path; set before stop_change */
};

static struct page *page;
static const char *directory;
static int log_fd = -1;
static int64_t record_count;
/* Held while a change is made and recorded: the order of the records is that of the changes. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The function that ours hides. */
#define REAL(name)                                                                             \
    (__extension__({                                                                           \
        static void *_Atomic known;                                                            \
        if (!known) {                                                                          \
            known = dlsym(RTLD_NEXT, #name);                                                   \
        }                                                                                      \
        (__typeof__(&(name)))(known);                                                          \
    }))

__attribute__((constructor)) static void open_record(void)
{
    const char *path = getenv("IO_RECORD");
    const char *page_path = getenv("IO_RECORD_PAGE");
    const int page_fd = page_path ? REAL(open)(page_path, O_RDWR | O_CLOEXEC) : -1;
    void *mapped =
        page_fd >= 0 ? mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, page_fd, 0)
                     : MAP_FAILED;
    log_fd = path ? REAL(open)(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    directory = getenv("IO_RECORD_DIR");
    if (mapped == MAP_FAILED || log_fd < 0 || !directory) {
        (void)dprintf(STDERR_FILENO, "io_record: IO_RECORD, IO_RECORD_PAGE or IO_RECORD_DIR\n");
        abort();
    }
    (void)close(page_fd);
    page = mapped;
}

static bool is_below(const char *path)
{
    const size_t n = strlen(directory);
    return strncmp(path, directory, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* The path of a descriptor; false: it is not below the directory. */
static bool find_path(int fd, char path[PATH_MAX])
{
    char link[64];
    const int error = errno;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, PATH_MAX - 1);
    path[n > 0 ? n : 0] = '\0';
    errno = error;
    return directory && is_below(path);
}

/* The whole path of what a program named; false: it is not below the directory. */
static bool complete_path(int at_fd, const char *name, char path[PATH_MAX])
{
    path[0] = '\0';
    if (name[0] != '/') {
        char base[PATH_MAX] = "";
        const bool known =
            at_fd == AT_FDCWD ? getcwd(base, sizeof base) != NULL : find_path(at_fd, base);
        if (!known || snprintf(path, PATH_MAX, "%s/%s", base, name) >= PATH_MAX) {
            return false;
        }
    } else {
        (void)snprintf(path, PATH_MAX, "%s", name);
    }
    return directory && is_below(path);
}

static uint64_t find_file(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 ? (uint64_t)about.st_ino : 0;
}

static int64_t read_clock_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* With the lock. A record that cannot be written would make the test judge something else. */
static void write_record(enum change change, uint64_t file, int64_t at, const char *path,
                         const void *bytes, size_t n)
{
    const struct record head = {.change = change,
                                .path_bytes = (uint32_t)strlen(path),
                                .file = file,
                                .at = at,
                                .bytes = n,
                                .t_us = read_clock_us()};
    const struct iovec parts[] = {
        {(void *)&head, sizeof head}, {(void *)path, head.path_bytes}, {(void *)bytes, n}};
    const size_t size = sizeof head + head.path_bytes + n;
    const int error = errno;
    if (REAL(writev)(log_fd, parts, 3) != (ssize_t)size) {
        (void)dprintf(STDERR_FILENO, "io_record: cannot write the record\n");
        abort();
    }
    record_count++;
    errno = error;
}

/* Without the lock: does the test want the process to stop behind this change? */
static void stop_behind(enum change change, const char *path)
{
    if (page->stop_change == (int32_t)change && strstr(path, page->stop_name) &&
        atomic_fetch_sub(&page->stop_count, 1) == 1) {
        page->stop_change = -1;
        (void)kill(getpid(), SIGSTOP);
    }
}

/* ---- bytes ---- */

/* After a write of n bytes to a file whose position is behind them. */
static ssize_t record_written(int fd, const char *path, const void *bytes, ssize_t n)
{
    if (n > 0) {
        const int64_t end = lseek(fd, 0, SEEK_CUR);
        write_record(CHANGE_WRITE, find_file(fd), end - n, path, bytes, (size_t)n);
    }
    return n;
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    char path[PATH_MAX];
    if (!find_path(fd, path)) {
        return REAL(write)(fd, bytes, n);
    }
    (void)pthread_mutex_lock(&lock);
    const ssize_t done = record_written(fd, path, bytes, REAL(write)(fd, bytes, n));
    (void)pthread_mutex_unlock(&lock);
    stop_behind(CHANGE_WRITE, path);
    return done;
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    char path[PATH_MAX];
    if (!find_path(fd, path)) {
        return REAL(writev)(fd, parts, count);
    }
    ssize_t total = 0;
    for (int i = 0; i < count; i++) {
        const ssize_t done = write(fd, parts[i].iov_base, parts[i].iov_len);
        if (done < 0) {
            return total > 0 ? total : -1;
        }
        total += done;
        if ((size_t)done < parts[i].iov_len) {
            break;
        }
    }
    return total;
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    char path[PATH_MAX];
    if (!find_path(fd, path)) {
        return REAL(pwrite64)(fd, bytes, n, at);
    }
    (void)pthread_mutex_lock(&lock);
    const ssize_t done = REAL(pwrite64)(fd, bytes, n, at);
    if (done > 0) {
        write_record(CHANGE_WRITE, find_file(fd), at, path, bytes, (size_t)done);
    }
    (void)pthread_mutex_unlock(&lock);
    stop_behind(CHANGE_WRITE, path);
    return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    return pwrite64(fd, bytes, n, at);
}

int ftruncate64(int fd, off64_t size)
{
    char path[PATH_MAX];
    if (!find_path(fd, path)) {
        return REAL(ftruncate64)(fd, size);
    }
    (void)pthread_mutex_lock(&lock);
    const int result = REAL(ftruncate64)(fd, size);
    if (result == 0) {
        write_record(CHANGE_TRUNCATE, find_file(fd), size, path, "", 0);
    }
    (void)pthread_mutex_unlock(&lock);
    stop_behind(CHANGE_TRUNCATE, path);
    return result;
}

int ftruncate(int fd, off_t size)
{
    return ftruncate64(fd, size);
}

/* Everything that was recorded before the call is on the disk when it returns. */
static int record_sync(int fd, int (*real)(int fd))
{
    char path[PATH_MAX];
    if (!find_path(fd, path)) {
        return real(fd);
    }
    (void)pthread_mutex_lock(&lock);
    const int64_t covered = record_count;
    (void)pthread_mutex_unlock(&lock);
    (void)usleep((useconds_t)page->sync_us);
    const int result = real(fd);
    (void)pthread_mutex_lock(&lock);
    if (result == 0) {
        write_record(CHANGE_SYNC, find_file(fd), covered, path, "", 0);
    }
    (void)pthread_mutex_unlock(&lock);
    stop_behind(CHANGE_SYNC, path);
    return result;
}

int fsync(int fd)
{
    return record_sync(fd, REAL(fsync));
}

int fdatasync(int fd)
{
    return record_sync(fd, REAL(fdatasync));
}

/* ---- names ---- */

static int open_below(int at_fd, const char *name, const char *path, int flags, mode_t mode)
{
    struct stat about;
    (void)pthread_mutex_lock(&lock);
    const int error = errno;
    const bool there = fstatat(at_fd, name, &about, 0) == 0;
    errno = error;
    const int fd = REAL(openat)(at_fd, name, flags, mode);
    if (fd >= 0 && (flags & O_CREAT) && !there) {
        write_record(CHANGE_CREATE, find_file(fd), 0, path, "", 0);
    } else if (fd >= 0 && (flags & O_TRUNC) && there) {
        write_record(CHANGE_TRUNCATE, find_file(fd), 0, path, "", 0);
    }
    (void)pthread_mutex_unlock(&lock);
    if (fd >= 0 && (flags & O_CREAT) && !there) {
        stop_behind(CHANGE_CREATE, path);
    }
    return fd;
}

static int open_any(int at_fd, const char *name, int flags, va_list more)
{
    char path[PATH_MAX];
    const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
    return flags & (O_CREAT | O_TRUNC) && complete_path(at_fd, name, path)
               ? open_below(at_fd, name, path, flags, mode)
               : REAL(openat)(at_fd, name, flags, mode);
}

#define OPEN(function)                                                                         \
    int function(const char *name, int flags, ...)                                             \
    {                                                                                          \
        va_list more;                                                                          \
        va_start(more, flags);                                                                 \
        const int fd = open_any(AT_FDCWD, name, flags, more);                                  \
        va_end(more);                                                                          \
        return fd;                                                                             \
    }
OPEN(open)
OPEN(open64)

#define OPEN_AT(function)                                                                      \
    int function(int at_fd, const char *name, int flags, ...)                                  \
    {                                                                                          \
        va_list more;                                                                          \
        va_start(more, flags);                                                                 \
        const int fd = open_any(at_fd, name, flags, more);                                     \
        va_end(more);                                                                          \
        return fd;                                                                             \
    }
OPEN_AT(openat)
OPEN_AT(openat64)

int mkdir(const char *name, mode_t mode)
{
    char path[PATH_MAX];
    if (!complete_path(AT_FDCWD, name, path)) {
        return REAL(mkdir)(name, mode);
    }
    (void)pthread_mutex_lock(&lock);
    const int result = REAL(mkdir)(name, mode);
    if (result == 0) {
        write_record(CHANGE_MKDIR, 0, 0, path, "", 0);
    }
    (void)pthread_mutex_unlock(&lock);
    return result;
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    char path[PATH_MAX];
    char target[PATH_MAX];
    struct stat about = {0};
    if (!complete_path(from_fd, from, path) || !complete_path(to_fd, to, target)) {
        return REAL(renameat)(from_fd, from, to_fd, to);
    }
    (void)pthread_mutex_lock(&lock);
    (void)fstatat(from_fd, from, &about, 0);
    const int result = REAL(renameat)(from_fd, from, to_fd, to);
    if (result == 0) {
        write_record(CHANGE_RENAME, (uint64_t)about.st_ino, 0, path, target, strlen(target));
    }
    (void)pthread_mutex_unlock(&lock);
    stop_behind(CHANGE_RENAME, target);
    return result;
}

int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    char path[PATH_MAX];
    struct stat about = {0};
    if (!complete_path(to_fd, to, path)) {
        return REAL(linkat)(from_fd, from, to_fd, to, flags);
    }
    (void)pthread_mutex_lock(&lock);
    const int result = REAL(linkat)(from_fd, from, to_fd, to, flags);
    if (result == 0 && fstatat(to_fd, to, &about, 0) == 0) {
        write_record(CHANGE_LINK, (uint64_t)about.st_ino, 0, path, "", 0);
    }
    (void)pthread_mutex_unlock(&lock);
    return result;
}

int unlinkat(int at_fd, const char *name, int flags)
{
    char path[PATH_MAX];
    if (!complete_path(at_fd, name, path)) {
        return REAL(unlinkat)(at_fd, name, flags);
    }
    (void)pthread_mutex_lock(&lock);
    const int result = REAL(unlinkat)(at_fd, name, flags);
    if (result == 0) {
        write_record(CHANGE_REMOVE, 0, 0, path, "", 0);
    }
    (void)pthread_mutex_unlock(&lock);
    if (result == 0) {
        stop_behind(CHANGE_REMOVE, path);
    }
    return result;
}

int unlink(const char *name)
{
    return unlinkat(AT_FDCWD, name, 0);
}
