/* A disk whose files, names and unsynced writes are known, so that its power can be cut.
 *
 * data/ is what the daemon sees. Each file there has a second name, live/<id>, and a copy,
 * stable/<id>, of what was synced of it. Names are stable once their directory is synced. A cut
 * keeps a part of what was not synced, page by page, and the first changes of directories. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "logger/storage/journal_files.h"
#include "tests/sim/daemon/disk_parts.h"

enum { PAGE = 512 };

int __real_open(const char *path, int flags, ...);
int __real_openat(int dir, const char *path, int flags, ...);
ssize_t __real_write(int fd, const void *bytes, size_t n);
int __real_ftruncate(int fd, off_t size);
int __real_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __real_unlink(const char *path);
int __real_unlinkat(int dir, const char *path, int flags);

static void path_of(char out[DISK_PATH], const char *kind, int file)
{
    (void)snprintf(out, DISK_PATH, "%s/%s/%d", world->place, kind, file);
}

/* The path below data/; NULL: it is none of the daemon's. */
const char *disk_short_path(const char *path)
{
    const size_t n = strlen(world->place);
    const bool ours =
        strncmp(path, world->place, n) == 0 && strncmp(path + n, "/data/", 6) == 0;
    const char *rest = ours ? path + n + 6 : NULL;
    return rest && strstr(rest, "-shm") == NULL && rest[0] != '\0' ? rest : NULL;
}

/* ---- state of files and names ---- */

int disk_find_file(uint64_t inode)
{
    for (int i = 0; i < FILES_MAX; i++) {
        if (world->disk.files[i].used && world->disk.files[i].inode == inode) {
            return i;
        }
    }
    return -1;
}

static int file_of(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 && S_ISREG(about.st_mode) ? disk_find_file(about.st_ino) : -1;
}

static bool name_is_idle(int i)
{
    const struct disk_name *name = &world->disk.names[i];
    bool idle = !name->path[0] || (name->live < 0 && name->stable < 0);
    for (uint32_t k = 0; k < world->disk.change_count; k++) {
        const struct disk_change *c = &world->disk.changes[k];
        idle = idle && c->from != i && c->to != i;
    }
    return idle;
}

static int find_name(const char *path, bool makes)
{
    for (int i = 0; i < NAMES_MAX; i++) {
        if (strcmp(world->disk.names[i].path, path) == 0) {
            return i;
        }
    }
    for (int i = 0; makes && i < NAMES_MAX; i++) {
        if (name_is_idle(i)) {
            struct disk_name *name = &world->disk.names[i];
            (void)snprintf(name->path, sizeof name->path, "%s", path);
            name->live = name->stable = -1;
            return i;
        }
    }
    return -1;
}

static void apply_change(const struct disk_change *c)
{
    if (c->from >= 0) {
        world->disk.names[c->from].stable = -1;
    }
    if (c->to >= 0) {
        world->disk.names[c->to].stable = c->file;
    }
}

static void drop_changes(uint32_t count)
{
    struct disk *d = &world->disk;
    d->change_count -= count;
    memmove(d->changes, d->changes + count, d->change_count * sizeof *d->changes);
}

static void add_change(int from, int to, int file)
{
    struct disk *d = &world->disk;
    if (d->change_count == CHANGES_MAX) { /* a file system also commits without a request */
        apply_change(&d->changes[0]);
        drop_changes(1);
    }
    d->changes[d->change_count++] = (struct disk_change){from, to, file};
    if (from >= 0) {
        d->names[from].live = -1;
    }
    if (to >= 0) {
        d->names[to].live = file;
    }
}

/* Files without a name, now and after a power cut, go. */
static void forget_files(void)
{
    struct disk *d = &world->disk;
    char path[DISK_PATH];
    for (int i = 0; i < FILES_MAX; i++) {
        bool named = !d->files[i].used;
        for (int k = 0; k < NAMES_MAX && !named; k++) {
            named = d->names[k].path[0] && (d->names[k].live == i || d->names[k].stable == i);
        }
        for (uint32_t k = 0; k < d->change_count && !named; k++) {
            named = d->changes[k].file == i;
        }
        if (!named) {
            path_of(path, "live", i);
            (void)__real_unlink(path);
            path_of(path, "stable", i);
            (void)__real_unlink(path);
            d->files[i].used = false;
        }
    }
}

static int free_file(void)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        for (int i = 0; i < FILES_MAX; i++) {
            if (!world->disk.files[i].used) {
                return i;
            }
        }
        forget_files();
    }
    sim_fail("the simulated disk has no room for another file");
    abort();
}

static int64_t larger_us(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void disk_mark_dirty(int file, int64_t from, int64_t to)
{
    struct disk_file *f = &world->disk.files[file];
    if (from <= f->lost_from) {
        f->lost_from = larger_us(f->lost_from, to);
    } else if (to >= f->lost_to) {
        f->lost_to = min_us(f->lost_to, from);
    }
    const bool clean = f->dirty_from >= f->dirty_to;
    f->dirty_from = clean || from < f->dirty_from ? from : f->dirty_from;
    f->dirty_to = clean || to > f->dirty_to ? to : f->dirty_to;
}

/* A file was opened at this path, and may be new. */
void disk_add_file(const char *path, int flags)
{
    char full[DISK_PATH];
    char other[DISK_PATH];
    struct stat about;
    const char *rest = disk_short_path(path);
    if (!rest || stat(path, &about) != 0 || !S_ISREG(about.st_mode)) {
        return;
    }
    int file = disk_find_file(about.st_ino);
    if (file >= 0) {
        if (flags & O_TRUNC) {
            disk_mark_dirty(file, 0, INT64_MAX / 2);
        }
        return;
    }
    file = free_file();
    world->disk.files[file] = (struct disk_file){.used = true, .inode = about.st_ino};
    path_of(full, "live", file);
    path_of(other, "stable", file);
    const int fd = __real_open(other, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    const int name = find_name(rest, true);
    if (link(path, full) != 0 || fd < 0 || name < 0) {
        sim_fail("the simulated disk cannot make %s: %s", path, strerror(errno));
        abort();
    }
    (void)close(fd);
    add_change(-1, name, file);
}

/* ---- syncing ---- */

static void copy_range(int from, int to, int64_t at, int64_t end)
{
    char bytes[65536];
    for (; at < end; at += (int64_t)sizeof bytes) {
        const size_t n = end - at < (int64_t)sizeof bytes ? (size_t)(end - at) : sizeof bytes;
        const ssize_t got = pread(from, bytes, n, at);
        if (got <= 0 || pwrite(to, bytes, (size_t)got, at) != got) {
            return;
        }
    }
}

bool disk_journal_is_dirty(void)
{
    const struct disk *d = &world->disk;
    for (uint32_t k = 0; k < d->change_count; k++) {
        const int to = d->changes[k].to;
        if (to >= 0 && strncmp(d->names[to].path, "journal/", 8) == 0) {
            return true;
        }
    }
    for (int k = 0; k < NAMES_MAX; k++) {
        const struct disk_name *name = &d->names[k];
        const struct disk_file *f = name->live >= 0 ? &d->files[name->live] : NULL;
        if (f && strncmp(name->path, "journal/", 8) == 0 &&
            (f->dirty_from < f->dirty_to || f->lost_from < f->lost_to)) {
            return true;
        }
    }
    return false;
}

void disk_sync_file(int file)
{
    struct disk_file *f = &world->disk.files[file];
    struct stat about;
    char path[DISK_PATH];
    if (f->dirty_from >= f->dirty_to) {
        return;
    }
    path_of(path, "live", file);
    const int from = __real_open(path, O_RDONLY);
    path_of(path, "stable", file);
    const int to = __real_open(path, O_WRONLY);
    if (from < 0 || to < 0 || fstat(from, &about) != 0 ||
        __real_ftruncate(to, about.st_size) != 0) {
        sim_fail("the simulated disk cannot sync: %s", strerror(errno));
    }
    copy_range(from, to, f->dirty_from, min_us(f->dirty_to, about.st_size));
    (void)close(from);
    (void)close(to);
    f->dirty_from = f->dirty_to = 0;
}

static bool in_directory(int name, const char *directory)
{
    const char *path = name >= 0 ? world->disk.names[name].path : NULL;
    const size_t n = strlen(directory);
    return path && strncmp(path, directory, n) == 0 && strchr(path + n, '/') == NULL;
}

void disk_sync_directory(const char *directory)
{
    struct disk *d = &world->disk;
    uint32_t left = 0;
    for (uint32_t k = 0; k < d->change_count; k++) {
        const struct disk_change c = d->changes[k];
        if (in_directory(c.to, directory) || in_directory(c.from, directory)) {
            apply_change(&c);
        } else {
            d->changes[left++] = c;
        }
    }
    d->change_count = left;
}

/* For SQLite's files the name is synced with the bytes, as on ext4. */
void disk_sync_name(int file)
{
    struct disk *d = &world->disk;
    for (uint32_t k = 0; k < d->change_count; k++) {
        if (d->changes[k].file == file) {
            const char *slash = strchr(d->names[d->changes[k].to].path, '/');
            if (!slash) {
                disk_sync_directory("");
            }
            return;
        }
    }
}

bool disk_is_full(void)
{
    return world->t_us < world->disk.full_until_us;
}

bool disk_was_faulty(int64_t within_us)
{
    const struct disk *d = &world->disk;
    const int64_t last_us =
        d->full_until_us > d->failing_until_us ? d->full_until_us : d->failing_until_us;
    return world->t_us - (last_us > d->slow_until_us ? last_us : d->slow_until_us) < within_us;
}

/* Linux marks pages clean even if they could not be written. They can be read until the power
 * fails.
 */
static void lose_dirty(int file)
{
    struct disk_file *f = &world->disk.files[file];
    if (f->dirty_from < f->dirty_to) {
        const bool none = f->lost_from >= f->lost_to;
        f->lost_from = none ? f->dirty_from : min_us(f->lost_from, f->dirty_from);
        f->lost_to = none ? f->dirty_to : larger_us(f->lost_to, f->dirty_to);
        f->dirty_from = f->dirty_to = 0;
    }
}

void disk_end_run(void)
{
    for (int i = 0; i < FILES_MAX; i++) {
        const struct disk_file f = world->disk.files[i];
        if (f.used && f.lost_from < f.lost_to) {
            disk_mark_dirty(i, f.lost_from, f.lost_to);
        }
    }
}

bool disk_begin_sync(int file)
{
    schedule_point();
    if (schedule_runs()) {
        const bool slow = world->t_us < world->disk.slow_until_us;
        schedule_sleep_until(world->t_us + (int64_t)draw_mean(slow ? 800000 : 300));
    }
    const bool fails = world->t_us < world->disk.failing_until_us && chance(0.7);
    if (fails && file >= 0 && chance(0.5)) {
        lose_dirty(file);
    }
    return !fails;
}

static int sync_any(int fd)
{
    const int64_t began_us = world->t_us;
    struct stat about;
    struct stat journal;
    char path[DISK_PATH];
    const int file = file_of(fd);
    if (!disk_begin_sync(file)) {
        errno = EIO;
        return -1;
    }
    (void)snprintf(path, sizeof path, "%s/data/journal", world->place);
    if (file >= 0) {
        disk_sync_file(file);
    } else if (fstat(fd, &about) == 0 && S_ISDIR(about.st_mode)) {
        const bool is_journal = stat(path, &journal) == 0 && journal.st_ino == about.st_ino;
        disk_sync_directory(is_journal ? "journal/" : "");
    }
    if (!disk_journal_is_dirty()) {
        ledger_sync(began_us);
    }
    return 0;
}

int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    return sync_any(fd);
}

int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
    return sync_any(fd);
}

/* ---- the other calls ---- */

int __wrap_open(const char *path, int flags, unsigned mode);
int __wrap_open(const char *path, int flags, unsigned mode)
{
    if (!disk_short_path(path)) {
        return __real_open(path, flags, mode);
    }
    schedule_point();
    if (disk_is_full() && flags & O_CREAT && access(path, F_OK) != 0) {
        errno = ENOSPC;
        return -1;
    }
    const int fd = __real_open(path, flags, mode);
    if (fd >= 0 && flags & O_CREAT) {
        disk_add_file(path, flags);
    }
    return fd;
}

/* The daemon opens files of its journal so. */
int __wrap_openat(int dir, const char *path, int flags, unsigned mode);
int __wrap_openat(int dir, const char *path, int flags, unsigned mode)
{
    char full[DISK_PATH];
    (void)snprintf(full, sizeof full, "%s/data/journal/%s", world->place, path);
    schedule_point();
    if (disk_is_full() && flags & O_CREAT && access(full, F_OK) != 0) {
        errno = ENOSPC;
        return -1;
    }
    const int fd = __real_openat(dir, path, flags, mode);
    if (fd >= 0 && flags & O_CREAT) {
        disk_add_file(full, flags);
    }
    return fd;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_write(int fd, const void *bytes, size_t n)
{
    const int file = file_of(fd);
    if (file < 0) {
        return __real_write(fd, bytes, n);
    }
    schedule_point();
    size_t part = n;
    if (disk_is_full()) {
        part = chance(0.3) ? draw_index((uint32_t)n + 1) : 0;
        if (part == 0) {
            errno = ENOSPC;
            return -1;
        }
    } else if (world->kill_steps < 20 && schedule_is_doomed()) {
        part = 1 + draw_index((uint32_t)n); /* dead in the middle of it */
        part += part < n && world->kill_steps > 3 ? n - part : 0;
    }
    const int64_t before = lseek(fd, 0, SEEK_CUR);
    const ssize_t wrote = __real_write(fd, bytes, part);
    const int64_t after = lseek(fd, 0, SEEK_CUR);
    if (wrote > 0) {
        disk_mark_dirty(file, min_us(before, after - wrote), after);
    }
    schedule_point();
    return wrote;
}

/* A kill that waits for a checkpoint comes soon after it, or in the run's further life. */
static void end_waiting(const char *name)
{
    if (strncmp(name, "checkpoint", 10) == 0 && world->t_us >= world->kill_us) {
        world->kill_waits = false;
    }
}

int __wrap_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size)
{
    struct stat about;
    const int file = file_of(fd);
    if (file < 0 || fstat(fd, &about) != 0) {
        return __real_ftruncate(fd, size);
    }
    schedule_point();
    const int result = __real_ftruncate(fd, size);
    if (result == 0) {
        disk_mark_dirty(file, size, about.st_size);
    }
    return result;
}

int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
    const char *rest = disk_short_path(from);
    schedule_point();
    const int failed = __real_rename(from, to);
    if (!failed && rest && disk_short_path(to)) {
        const int old = find_name(rest, false);
        const int new = find_name(disk_short_path(to), true);
        add_change(old, new, old >= 0 ? world->disk.names[old].live : -1);
        end_waiting(disk_short_path(to));
    }
    schedule_point();
    return failed;
}

void disk_remove_name(const char *rest)
{
    const int name = rest ? find_name(rest, false) : -1;
    if (name >= 0 && world->disk.names[name].live >= 0) {
        add_change(name, -1, -1);
    }
}

int __wrap_unlink(const char *path);
int __wrap_unlink(const char *path)
{
    schedule_point();
    const int failed = __real_unlink(path);
    if (!failed) {
        disk_remove_name(disk_short_path(path));
    }
    return failed;
}

int __wrap_unlinkat(int dir, const char *path, int flags);
int __wrap_unlinkat(int dir, const char *path, int flags)
{
    char rest[TOPIC_MAX];
    schedule_point();
    const int failed = __real_unlinkat(dir, path, flags);
    (void)snprintf(rest, sizeof rest, "journal/%s", path);
    if (!failed) {
        disk_remove_name(rest);
    }
    return failed;
}

int __wrap_statvfs(const char *path, struct statvfs *out);
int __wrap_statvfs(const char *path, struct statvfs *out)
{
    (void)path;
    *out = (struct statvfs){.f_bsize = 4096, .f_frsize = 4096};
    out->f_bavail = disk_is_full() ? 0 : 1 << 22;
    return 0;
}

/* ---- making, cutting, removing ---- */

static void make_directory(const char *name)
{
    char path[DISK_PATH];
    (void)snprintf(path, sizeof path, "%s/%s", world->place, name);
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        (void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(EXIT_FAILURE);
    }
}

void disk_make(void)
{
    for (int k = 0; k < NAMES_MAX; k++) {
        world->disk.names[k].live = world->disk.names[k].stable = -1;
    }
    make_directory("");
    make_directory("data");
    make_directory("data/journal");
    make_directory("live");
    make_directory("stable");
}

/* After the cut all unsynced pages of a file are on the disk, or none, or each at random; its
 * length is drawn too. */
static void cut_file(int file)
{
    struct disk_file *f = &world->disk.files[file];
    struct stat live;
    struct stat stable;
    char path[DISK_PATH];
    path_of(path, "live", file);
    const int from = __real_open(path, O_RDWR);
    path_of(path, "stable", file);
    const int to = __real_open(path, O_RDWR);
    if (from < 0 || to < 0 || fstat(from, &live) != 0 || fstat(to, &stable) != 0) {
        sim_fail("the simulated disk lost a file");
        exit(EXIT_FAILURE);
    }
    if (f->dirty_from < f->dirty_to) {
        const double share = chance(0.3) ? 0.0 : chance(0.3) ? 1.0 : draw(0.0, 1.0);
        const int64_t low = min_us(live.st_size, stable.st_size);
        const int64_t high = live.st_size + stable.st_size - low;
        const int64_t size = share <= 0.0   ? stable.st_size
                             : share >= 1.0 ? live.st_size
                                            : low + draw_index((uint32_t)(high - low) + 1);
        const int64_t first = f->dirty_from / PAGE * PAGE;
        for (int64_t at = first; at < min_us(f->dirty_to, live.st_size); at += PAGE) {
            if (chance(share)) {
                copy_range(from, to, at, min_us(at + PAGE, live.st_size));
            }
        }
        (void)!__real_ftruncate(to, size);
    }
    (void)fstat(to, &stable);
    (void)!__real_ftruncate(from, 0);
    copy_range(to, from, 0, stable.st_size);
    (void)!__real_ftruncate(from, stable.st_size);
    (void)close(from);
    (void)close(to);
    f->dirty_from = f->dirty_to = f->lost_from = f->lost_to = 0;
}

/* Its head has the journal's file and the place in it (docs/storage.md). */
static void check_checkpoint(const char *name)
{
    struct {
        char magic[24];
        int64_t file;
        uint64_t offset;
    } head;
    char path[DISK_PATH];
    char journal[JOURNAL_NAME_MAX];
    struct stat about = {0};
    (void)snprintf(path, sizeof path, "%s/data/%s", world->place, name);
    const int fd = __real_open(path, O_RDONLY);
    if (fd >= 0 && pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head && head.file > 0) {
        journal_file_name(head.file, journal);
        (void)snprintf(path, sizeof path, "%s/data/journal/%s", world->place, journal);
        if (stat(path, &about) != 0 || (uint64_t)about.st_size < head.offset) {
            sim_fail("after the power cut the place of %s is not in the journal", name);
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

void disk_cut_power(void)
{
    struct disk *d = &world->disk;
    char path[DISK_PATH];
    char live[DISK_PATH];
    const uint32_t retained = draw_index(d->change_count + 1);
    for (uint32_t k = 0; k < retained; k++) {
        apply_change(&d->changes[k]);
    }
    d->change_count = 0;
    for (int k = 0; k < NAMES_MAX; k++) {
        struct disk_name *name = &d->names[k];
        if (!name->path[0]) {
            continue;
        }
        (void)snprintf(path, sizeof path, "%s/data/%s", world->place, name->path);
        (void)__real_unlink(path);
        name->live = name->stable;
        if (name->live >= 0) {
            cut_file(name->live);
            path_of(live, "live", name->live);
            if (link(live, path) != 0) {
                sim_fail("the simulated disk cannot restore %s", path);
            }
        }
    }
    (void)snprintf(path, sizeof path, "%s/data/store.db-shm", world->place);
    (void)__real_unlink(path);
    forget_files();
    check_checkpoint("checkpoint");
    check_checkpoint("checkpoint.changes");
}

void disk_remove(void)
{
    char command[DISK_PATH + 16];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", world->place);
    (void)!system(command);
}
