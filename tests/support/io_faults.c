/* tests/support/io_faults.c - lets the n-th I/O call of a process fail, once or until it is
 * released; or lets calls take longer.
 *
 * The library is loaded before libc (LD_PRELOAD). It counts the calls of each kind: those on
 * files below the directory in IO_FAULTS_DIR, and those on sockets. The file in IO_FAULTS is a
 * page that tests/faults/sweeps.py shares with the process: it chooses the call, and reads the
 * counts.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* sweeps.py has the names in this order. */
enum kind {
    KIND_WRITE,
    KIND_SYNC,
    KIND_OPEN,
    KIND_RENAME,
    KIND_UNLINK,
    KIND_TRUNCATE,
    KIND_READ,
    KIND_MAP,
    KIND_CLOSE,
    KIND_ACCEPT,
    KIND_SEND,
    KIND_COUNT
};
enum mode { MODE_OFF, MODE_ONCE, MODE_ON, MODE_LATE };
enum { SERIOUS = 0x20, /* of FILE: what ferror() asks for */ NAP_MS = 10 };

struct page {
    _Atomic int32_t kind, mode;
    _Atomic int32_t error; /* errno of a call that fails; MODE_LATE: ms that it takes longer */
    _Atomic int32_t named;
    _Atomic int32_t phase, first_phase; /* sweeps.py's: of now, and of the first that failed */
    _Atomic int64_t at;                 /* the first call to fail, from 1 */
    _Atomic int64_t hits;
    _Atomic int64_t calls[KIND_COUNT];
    char first[256]; /* the function that failed first, and its file */
};

static struct page *page;
static const char *directory;

/* The function that ours hides. */
#define REAL(name)                                                                             \
    (__extension__({                                                                           \
        static void *_Atomic known;                                                            \
        if (!known) {                                                                          \
            known = dlsym(RTLD_NEXT, #name);                                                   \
        }                                                                                      \
        (__typeof__(&(name)))(known);                                                          \
    }))

__attribute__((constructor)) static void join_sweep(void)
{
    const char *path = getenv("IO_FAULTS");
    const int fd = path ? REAL(open)(path, O_RDWR | O_CLOEXEC) : -1;
    void *mapped =
        fd >= 0 ? REAL(mmap)(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                : MAP_FAILED;
    directory = getenv("IO_FAULTS_DIR");
    if (mapped == MAP_FAILED || !directory) {
        (void)dprintf(STDERR_FILENO, "io_faults: cannot map IO_FAULTS, or no IO_FAULTS_DIR\n");
        abort();
    }
    (void)REAL(close)(fd);
    page = mapped;
}

/* Until the time is over or the calls are released. */
static void delay_call(void)
{
    for (int32_t ms = 0; page->mode == MODE_LATE && ms < page->error; ms += NAP_MS) {
        (void)nanosleep(&(struct timespec){0, NAP_MS * 1000000L}, NULL);
    }
}

/* Count a call. Returns whether it fails, with errno set. */
static bool should_fail(enum kind kind, const char *function, const char *path)
{
    const int64_t number = atomic_fetch_add(&page->calls[kind], 1) + 1;
    const int32_t mode = page->mode;
    if (mode == MODE_OFF || page->kind != (int32_t)kind || number < page->at ||
        (mode == MODE_ONCE && number > page->at)) {
        return false;
    }
    if (atomic_exchange(&page->named, 1) == 0) {
        page->first_phase = page->phase;
        (void)snprintf(page->first, sizeof page->first, "%s %.200s", function, path);
    }
    atomic_fetch_add(&page->hits, 1);
    if (mode == MODE_LATE) {
        delay_call();
        return false;
    }
    errno = page->error;
    return true;
}

static bool is_below(const char *path)
{
    const size_t n = strlen(directory);
    return strncmp(path, directory, n) == 0 && path[n] == '/';
}

/* A path as the program gave it; a relative one counts where its directory does. */
static bool path_fails(enum kind kind, const char *function, int at_fd, const char *path)
{
    char link[64];
    char full[PATH_MAX] = "";
    if (page && path[0] != '/' && at_fd != AT_FDCWD) {
        (void)snprintf(link, sizeof link, "/proc/self/fd/%d", at_fd);
        const ssize_t n = readlink(link, full, sizeof full / 2);
        (void)snprintf(full + (n > 0 ? n : 0), sizeof full / 2, "/%s", path);
        path = full;
    }
    return page && is_below(path) && should_fail(kind, function, path);
}

static bool file_fails(enum kind kind, const char *function, int fd)
{
    char link[64];
    char path[PATH_MAX];
    if (!page) {
        return false;
    }
    const int error = errno;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    errno = error;
    return is_below(path) && should_fail(kind, function, path);
}

static bool socket_fails(enum kind kind, const char *function, int fd)
{
    struct stat about;
    return page && fstat(fd, &about) == 0 && S_ISSOCK(about.st_mode) &&
           should_fail(kind, function, "");
}

/* ---- files ---- */

ssize_t write(int fd, const void *bytes, size_t n)
{
    return file_fails(KIND_WRITE, "write", fd) ? -1 : REAL(write)(fd, bytes, n);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    return file_fails(KIND_WRITE, "pwrite", fd) ? -1 : REAL(pwrite64)(fd, bytes, n, at);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    return file_fails(KIND_WRITE, "writev", fd) || socket_fails(KIND_SEND, "writev", fd)
               ? -1
               : REAL(writev)(fd, parts, count);
}

int fsync(int fd)
{
    return file_fails(KIND_SYNC, "fsync", fd) ? -1 : REAL(fsync)(fd);
}

int fdatasync(int fd)
{
    return file_fails(KIND_SYNC, "fdatasync", fd) ? -1 : REAL(fdatasync)(fd);
}

int ftruncate64(int fd, off64_t size)
{
    return file_fails(KIND_TRUNCATE, "ftruncate", fd) ? -1 : REAL(ftruncate64)(fd, size);
}

ssize_t read(int fd, void *bytes, size_t n)
{
    return file_fails(KIND_READ, "read", fd) ? -1 : REAL(read)(fd, bytes, n);
}

ssize_t pread(int fd, void *bytes, size_t n, off_t at)
{
    return file_fails(KIND_READ, "pread", fd) ? -1 : REAL(pread)(fd, bytes, n, at);
}

ssize_t pread64(int fd, void *bytes, size_t n, off64_t at)
{
    return file_fails(KIND_READ, "pread", fd) ? -1 : REAL(pread64)(fd, bytes, n, at);
}

size_t fread(void *bytes, size_t size, size_t n, FILE *file)
{
    if (file_fails(KIND_READ, "fread", fileno(file))) {
        file->_flags |= SERIOUS;
        return 0;
    }
    return REAL(fread)(bytes, size, n, file);
}

/* It is closed all the same, as POSIX and Linux do it. */
int close(int fd)
{
    const bool failed = file_fails(KIND_CLOSE, "close", fd);
    const int error = errno;
    const int result = REAL(close)(fd);
    errno = failed ? error : errno;
    return failed ? -1 : result;
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t from)
{
    return fd >= 0 && file_fails(KIND_MAP, "mmap", fd)
               ? MAP_FAILED
               : REAL(mmap)(at, n, protection, flags, fd, from);
}

void *mmap64(void *at, size_t n, int protection, int flags, int fd, off64_t from)
{
    return mmap(at, n, protection, flags, fd, from);
}

/* ---- names ---- */

static mode_t read_mode(int flags, va_list more)
{
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
}

#define OPEN(name)                                                                             \
    int name(const char *path, int flags, ...)                                                 \
    {                                                                                          \
        va_list more;                                                                          \
        va_start(more, flags);                                                                 \
        const mode_t mode = read_mode(flags, more);                                            \
        va_end(more);                                                                          \
        return path_fails(KIND_OPEN, "open", AT_FDCWD, path) ? -1                              \
                                                             : REAL(name)(path, flags, mode);  \
    }
OPEN(open)
OPEN(open64)

int openat(int fd, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = read_mode(flags, more);
    va_end(more);
    return path_fails(KIND_OPEN, "openat", fd, path) ? -1 : REAL(openat)(fd, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    return path_fails(KIND_OPEN, "fopen", AT_FDCWD, path) ? NULL : REAL(fopen)(path, mode);
}

DIR *opendir(const char *path)
{
    return path_fails(KIND_OPEN, "opendir", AT_FDCWD, path) ? NULL : REAL(opendir)(path);
}

int scandir(const char *path, struct dirent ***found, int (*choose)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **))
{
    return path_fails(KIND_OPEN, "scandir", AT_FDCWD, path)
               ? -1
               : REAL(scandir)(path, found, choose, compare);
}

int mkdir(const char *path, mode_t mode)
{
    return path_fails(KIND_OPEN, "mkdir", AT_FDCWD, path) ? -1 : REAL(mkdir)(path, mode);
}

int rename(const char *from, const char *to)
{
    return path_fails(KIND_RENAME, "rename", AT_FDCWD, to) ? -1 : REAL(rename)(from, to);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    return path_fails(KIND_RENAME, "linkat", to_fd, to)
               ? -1
               : REAL(linkat)(from_fd, from, to_fd, to, flags);
}

int unlink(const char *path)
{
    return path_fails(KIND_UNLINK, "unlink", AT_FDCWD, path) ? -1 : REAL(unlink)(path);
}

int unlinkat(int fd, const char *path, int flags)
{
    return path_fails(KIND_UNLINK, "unlinkat", fd, path) ? -1 : REAL(unlinkat)(fd, path, flags);
}

/* ---- sockets ---- */

int accept4(int fd, struct sockaddr *address, socklen_t *bytes, int flags)
{
    return socket_fails(KIND_ACCEPT, "accept", fd) ? -1
                                                   : REAL(accept4)(fd, address, bytes, flags);
}

ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
    return socket_fails(KIND_SEND, "send", fd) ? -1 : REAL(send)(fd, bytes, n, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    return socket_fails(KIND_SEND, "sendmsg", fd) ? -1 : REAL(sendmsg)(fd, message, flags);
}

ssize_t sendfile64(int to, int from, off64_t *at, size_t n)
{
    return socket_fails(KIND_SEND, "sendfile", to) ? -1 : REAL(sendfile64)(to, from, at, n);
}
