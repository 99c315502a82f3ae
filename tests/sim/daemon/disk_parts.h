/* tests/sim/daemon/disk_parts.h - what disk.c and disk_sqlite.c share. */
#ifndef TESTS_SIM_DAEMON_DISK_PARTS_H
#define TESTS_SIM_DAEMON_DISK_PARTS_H

#include "tests/sim/daemon/simulation.h"

enum { DISK_PATH = 512 };

/* The path below data/; NULL: it is none of the daemon's. */
const char *disk_short_path(const char *path);
int disk_find_file(uint64_t inode); /* -1: it is not known */
/* A file was opened at this path, and may be new. */
void disk_add_file(const char *path, int flags);
void disk_remove_name(const char *rest);
void disk_mark_dirty(int file, int64_t from, int64_t to);
/* The time that a sync takes, and whether it fails; file: which loses its dirty pages then, or
 * -1. */
bool disk_begin_sync(int file);
void disk_sync_file(int file);
void disk_sync_name(int file);
void disk_sync_directory(const char *directory);

#endif
