/* SQLite's way to the simulated disk: a VFS in front of the one of the system. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "tests/sim/daemon/disk_parts.h"

struct layer_file {
    sqlite3_file base;
    int file; /* -1: not known to the disk */
    bool unlinks;
    char path[DISK_PATH];
    sqlite3_file *real;
};

static sqlite3_vfs *real_vfs;

#define REAL(f) (((struct layer_file *)(void *)(f))->real)

static int layer_close(sqlite3_file *f)
{
    sqlite3_file *real = REAL(f);
    const int code = real->pMethods ? real->pMethods->xClose(real) : SQLITE_OK;
    free(real);
    return code;
}
static int layer_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    return REAL(f)->pMethods->xRead(REAL(f), to, n, at);
}
static int layer_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
    const struct layer_file *l = (const void *)f;
    schedule_point();
    if (disk_is_full()) {
        return SQLITE_FULL;
    }
    if (l->file >= 0) {
        disk_mark_dirty(l->file, at, at + n);
    }
    return REAL(f)->pMethods->xWrite(REAL(f), from, n, at);
}
static int layer_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    const struct layer_file *l = (const void *)f;
    schedule_point();
    if (l->file >= 0) {
        disk_mark_dirty(l->file, size, INT64_MAX / 2);
    }
    return REAL(f)->pMethods->xTruncate(REAL(f), size);
}
static int layer_sync(sqlite3_file *f, int flags)
{
    const struct layer_file *l = (const void *)f;
    (void)flags;
    if (!disk_begin_sync(l->file)) {
        return SQLITE_IOERR_FSYNC;
    }
    if (l->file >= 0) {
        disk_sync_file(l->file);
        disk_sync_name(l->file);
    }
    return SQLITE_OK;
}
static int layer_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return REAL(f)->pMethods->xFileSize(REAL(f), size);
}
static int layer_lock(sqlite3_file *f, int level)
{
    return REAL(f)->pMethods->xLock(REAL(f), level);
}
static int layer_unlock(sqlite3_file *f, int level)
{
    return REAL(f)->pMethods->xUnlock(REAL(f), level);
}
static int layer_reserved(sqlite3_file *f, int *out)
{
    return REAL(f)->pMethods->xCheckReservedLock(REAL(f), out);
}
static int layer_control(sqlite3_file *f, int op, void *arg)
{
    return REAL(f)->pMethods->xFileControl(REAL(f), op, arg);
}
static int layer_sector(sqlite3_file *f)
{
    return REAL(f)->pMethods->xSectorSize(REAL(f));
}
static int layer_device(sqlite3_file *f)
{
    return REAL(f)->pMethods->xDeviceCharacteristics(REAL(f));
}
static int layer_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
    return REAL(f)->pMethods->xShmMap(REAL(f), page, size, extend, out);
}
static int layer_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    return REAL(f)->pMethods->xShmLock(REAL(f), offset, n, flags);
}
static void layer_shm_barrier(sqlite3_file *f)
{
    REAL(f)->pMethods->xShmBarrier(REAL(f));
}
static int layer_shm_unmap(sqlite3_file *f, int remove)
{
    return REAL(f)->pMethods->xShmUnmap(REAL(f), remove);
}

static const sqlite3_io_methods layer_methods = {.iVersion = 2,
                                                 .xClose = layer_close,
                                                 .xRead = layer_read,
                                                 .xWrite = layer_write,
                                                 .xTruncate = layer_truncate,
                                                 .xSync = layer_sync,
                                                 .xFileSize = layer_size,
                                                 .xLock = layer_lock,
                                                 .xUnlock = layer_unlock,
                                                 .xCheckReservedLock = layer_reserved,
                                                 .xFileControl = layer_control,
                                                 .xSectorSize = layer_sector,
                                                 .xDeviceCharacteristics = layer_device,
                                                 .xShmMap = layer_shm_map,
                                                 .xShmLock = layer_shm_lock,
                                                 .xShmBarrier = layer_shm_barrier,
                                                 .xShmUnmap = layer_shm_unmap};

static int layer_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
                      int *out_flags)
{
    struct layer_file *l = (void *)file;
    (void)vfs;
    l->base.pMethods = NULL;
    l->file = -1;
    l->real = calloc(1, (size_t)real_vfs->szOsFile);
    const bool full = path && disk_is_full() && access(path, F_OK) != 0;
    const int code = !l->real ? SQLITE_NOMEM
                     : full   ? SQLITE_FULL
                              : real_vfs->xOpen(real_vfs, path, l->real, flags, out_flags);
    if (code != SQLITE_OK) {
        free(l->real);
        return code;
    }
    struct stat about;
    if (path && flags & SQLITE_OPEN_CREATE) {
        disk_add_file(path, 0);
    }
    if (path && stat(path, &about) == 0) {
        l->file = disk_find_file(about.st_ino);
    }
    l->base.pMethods = &layer_methods;
    return SQLITE_OK;
}

static int layer_delete(sqlite3_vfs *vfs, const char *path, int sync)
{
    (void)vfs;
    schedule_point();
    const int code = real_vfs->xDelete(real_vfs, path, 0);
    if (code == SQLITE_OK) {
        disk_remove_name(disk_short_path(path));
        if (sync) {
            disk_sync_directory("");
        }
    }
    return code;
}

static int layer_random(sqlite3_vfs *vfs, int n, char *out)
{
    (void)vfs;
    for (int i = 0; i < n; i++) {
        out[i] = (char)draw_index(256);
    }
    return n;
}

static int layer_sleep(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    schedule_sleep_until(world->t_us + us);
    return us;
}

static int layer_time(sqlite3_vfs *vfs, sqlite3_int64 *ms)
{
    (void)vfs;
    *ms = INT64_C(212630000000000) + world->t_us / 1000;
    return SQLITE_OK;
}

void disk_register_vfs(void)
{
    static sqlite3_vfs layer;
    real_vfs = sqlite3_vfs_find(NULL);
    layer = *real_vfs;
    layer.zName = "simulated";
    layer.szOsFile = (int)sizeof(struct layer_file);
    layer.xOpen = layer_open;
    layer.xDelete = layer_delete;
    layer.xRandomness = layer_random;
    layer.xSleep = layer_sleep;
    layer.xCurrentTimeInt64 = layer_time;
    (void)sqlite3_vfs_register(&layer, 1);
}
