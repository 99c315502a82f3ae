/* tests/support/store_chaos.h - a file layer for SQLite, named "chaos", whose n-th operation
 * fails. */
#ifndef TESTS_SUPPORT_STORE_CHAOS_H
#define TESTS_SUPPORT_STORE_CHAOS_H

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/support/check.h"

static struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    _Atomic int calls;
    _Atomic int fail_from, fail_to;
    _Atomic int code;
    _Atomic bool main_fails; /* each write to the database's own file does, none to its WAL */
} chaos;

struct chaos_file {
    sqlite3_file base;
    bool is_main;
    sqlite3_file *real;
};

static inline bool chaos_now(void)
{
    const int call = atomic_fetch_add(&chaos.calls, 1);
    return call >= atomic_load(&chaos.fail_from) && call < atomic_load(&chaos.fail_to);
}

static inline sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct chaos_file *)(void *)file)->real;
}

static inline int chaos_close(sqlite3_file *f)
{
    sqlite3_file *real = real_of(f);
    const int code = real->pMethods ? real->pMethods->xClose(real) : SQLITE_OK;
    free(real);
    return code;
}
static inline int chaos_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    return real_of(f)->pMethods->xRead(real_of(f), to, n, at);
}
static inline int chaos_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
    const bool fails = chaos_now() || (atomic_load(&chaos.main_fails) &&
                                       ((struct chaos_file *)(void *)f)->is_main);
    return fails ? atomic_load(&chaos.code)
                 : real_of(f)->pMethods->xWrite(real_of(f), from, n, at);
}
static inline int chaos_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    return chaos_now() ? SQLITE_IOERR_TRUNCATE
                       : real_of(f)->pMethods->xTruncate(real_of(f), size);
}
static inline int chaos_sync(sqlite3_file *f, int flags)
{
    return chaos_now() ? SQLITE_IOERR_FSYNC : real_of(f)->pMethods->xSync(real_of(f), flags);
}
static inline int chaos_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return real_of(f)->pMethods->xFileSize(real_of(f), size);
}
static inline int chaos_lock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xLock(real_of(f), level);
}
static inline int chaos_unlock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xUnlock(real_of(f), level);
}
static inline int chaos_reserved(sqlite3_file *f, int *out)
{
    return real_of(f)->pMethods->xCheckReservedLock(real_of(f), out);
}
static inline int chaos_control(sqlite3_file *f, int op, void *arg)
{
    return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
}
static inline int chaos_sector(sqlite3_file *f)
{
    return real_of(f)->pMethods->xSectorSize(real_of(f));
}
static inline int chaos_device(sqlite3_file *f)
{
    return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}
static inline int chaos_shm_map(sqlite3_file *f, int page, int size, int extend,
                                void volatile **out)
{
    return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, out);
}
static inline int chaos_shm_lock(sqlite3_file *f, int offset, int n, int flags)
{
    return real_of(f)->pMethods->xShmLock(real_of(f), offset, n, flags);
}
static inline void chaos_shm_barrier(sqlite3_file *f)
{
    real_of(f)->pMethods->xShmBarrier(real_of(f));
}
static inline int chaos_shm_unmap(sqlite3_file *f, int remove)
{
    return real_of(f)->pMethods->xShmUnmap(real_of(f), remove);
}

static const sqlite3_io_methods chaos_methods = {
    .iVersion = 2,
    .xClose = chaos_close,
    .xRead = chaos_read,
    .xWrite = chaos_write,
    .xTruncate = chaos_truncate,
    .xSync = chaos_sync,
    .xFileSize = chaos_size,
    .xLock = chaos_lock,
    .xUnlock = chaos_unlock,
    .xCheckReservedLock = chaos_reserved,
    .xFileControl = chaos_control,
    .xSectorSize = chaos_sector,
    .xDeviceCharacteristics = chaos_device,
    .xShmMap = chaos_shm_map,
    .xShmLock = chaos_shm_lock,
    .xShmBarrier = chaos_shm_barrier,
    .xShmUnmap = chaos_shm_unmap,
};

static inline int chaos_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                             int *out_flags)
{
    (void)vfs;
    struct chaos_file *f = (struct chaos_file *)(void *)file;
    f->base.pMethods = NULL;
    f->is_main = (flags & SQLITE_OPEN_MAIN_DB) != 0;
    f->real = calloc(1, (size_t)chaos.real->szOsFile);
    const int code = chaos.real->xOpen(chaos.real, name, f->real, flags, out_flags);
    if (code == SQLITE_OK) {
        f->base.pMethods = &chaos_methods;
    } else {
        free(f->real);
    }
    return code;
}

static inline void chaos_register(void)
{
    chaos.real = sqlite3_vfs_find(NULL);
    chaos.vfs = *chaos.real;
    chaos.vfs.zName = "chaos";
    chaos.vfs.szOsFile = sizeof(struct chaos_file);
    chaos.vfs.xOpen = chaos_open;
    CHECK_INT("vfs", sqlite3_vfs_register(&chaos.vfs, 0), SQLITE_OK);
}

static inline void chaos_between(int from, int to, int code)
{
    atomic_store(&chaos.code, code);
    atomic_store(&chaos.fail_to, to);
    atomic_store(&chaos.fail_from, from);
    atomic_store(&chaos.calls, 0);
}

#endif
