/* logger/storage/file_place.h - identity of files: does a path still lead to the file that was
 * opened?
 *
 * People and other programs remove, move and restore the files of a running program.
 */
#ifndef LOGGER_STORAGE_FILE_PLACE_H
#define LOGGER_STORAGE_FILE_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A file, whatever its name. All zero: none, or unknown. */
struct file_place {
    dev_t device;
    ino_t inode;
};

/* Identifies the file at a path, or behind a descriptor; all zero if that fails. */
struct file_place file_place_at(const char *path);
struct file_place file_place_of(int fd);

/* Does the path still lead to this file? True if the file is unknown. */
bool file_place_holds(const struct file_place *place, const char *path);

/* Creates the directory of path, and all above it (0750), if missing. False with errno. */
bool file_place_make_directory_of(const char *path);

/* Returns the bytes that an ordinary user may still write at path. False with errno. */
bool file_place_free_bytes(const char *path, uint64_t *bytes);

#endif
