#include "logger/storage/file_place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

static struct file_place identify_file(bool known, const struct stat *about)
{
    return known ? (struct file_place){about->st_dev, about->st_ino} : (struct file_place){0};
}

struct file_place file_place_at(const char *path)
{
    struct stat about;
    return identify_file(stat(path, &about) == 0, &about);
}

struct file_place file_place_of(int fd)
{
    struct stat about;
    return identify_file(fstat(fd, &about) == 0, &about);
}

bool file_place_holds(const struct file_place *place, const char *path)
{
    const struct file_place now = file_place_at(path);
    return place->inode == 0 || (now.device == place->device && now.inode == place->inode);
}

/* Returns the directory of a path: the part before the last slash, "/" or ".". */
static bool write_directory(const char *path, char directory[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    const int n = slash == path ? snprintf(directory, PATH_MAX, "/")
                  : slash ? snprintf(directory, PATH_MAX, "%.*s", (int)(slash - path), path)
                          : snprintf(directory, PATH_MAX, ".");
    errno = ENAMETOOLONG;
    return n > 0 && n < PATH_MAX;
}

bool file_place_make_directory_of(const char *path)
{
    char directory[PATH_MAX];
    if (!write_directory(path, directory)) {
        return false;
    }
    for (char *at = directory + 1; at[-1] != '\0'; at++) {
        const char cut = *at;
        if (cut == '/' || cut == '\0') {
            *at = '\0';
            if (mkdir(directory, 0750) != 0 && errno != EEXIST) {
                return false;
            }
            *at = cut;
        }
    }
    return true;
}

bool file_place_free_bytes(const char *path, uint64_t *bytes)
{
    char directory[PATH_MAX];
    struct statvfs about;
    if (!write_directory(path, directory) || statvfs(directory, &about) != 0) {
        return false;
    }
    *bytes = (uint64_t)about.f_bavail * about.f_frsize;
    return true;
}
