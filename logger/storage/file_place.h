/* logger/storage/file_place.h - is what stands at a path still the file that was opened? Files
 * of a running program are removed, moved and put back by people and by other programs.
 */
#ifndef LOGGER_STORAGE_FILE_PLACE_H
#define LOGGER_STORAGE_FILE_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A file, whatever its name. All zero: none, or one that is not known. */
struct file_place {
    dev_t device;
    ino_t inode;
};

/* What stands at a path, or behind a descriptor; none when that cannot be told. */
struct file_place file_place_at(const char *path);
struct file_place file_place_of(int fd);

/* Does the same file as before stand there? True when it is not known what stood there. */
bool file_place_holds(const struct file_place *place, const char *path);

/* Make the directory in which path stands where it is missing, with all above it (0750). False
 * with errno. */
bool file_place_make_directory_of(const char *path);

/* The bytes that an ordinary user may still write where path stands or would stand. False with
 * errno. */
bool file_place_free_bytes(const char *path, uint64_t *bytes);

#endif
