#include "service/tool/temporary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum status temporary_file_fail(const char *what, struct err *err)
{
    return err_set(err, STATUS_E_IO, FAULT_FILE_UNWRITABLE, "temporary file",
                   "cannot be %s: %s", what, strerrordesc_np(errno));
}

FILE *temporary_file_open(struct err *err)
{
    const char *const places[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
    char path[4096];
    int fd = -1;
    for (size_t i = 0; i < COUNT(places) && fd < 0; i++) {
        if (places[i] &&
            snprintf(path, sizeof path, "%s/tandem-XXXXXX", places[i]) < (int)sizeof path) {
            fd = mkostemp(path, O_CLOEXEC);
        }
    }
    if (fd >= 0) {
        (void)unlink(path);
    } else {
        fd = memfd_create("tandem", MFD_CLOEXEC);
    }
    FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (!file) {
        (void)temporary_file_fail("made", err);
        (void)close(fd);
    }
    return file;
}
