#include "config/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "config/tree.h"

static enum status io_fault(const char *path, const char *what, const char *tried,
                            struct err_list *errors)
{
    char reason[128];
    /* GNU's strerror_r: the text need not be in the buffer. */
    const char *text = strerror_r(errno, reason, sizeof reason);
    return err_list_add(errors, STATUS_E_IO, path, 0, 0,
                        "cannot %s: %s; the path of %s is wanted", tried, text, what);
}

static enum status read_open(int fd, const char *path, const char *what, char *text,
                             size_t *bytes, struct err_list *errors)
{
    size_t used = 0;
    while (used <= TREE_BYTES_MAX) {
        const ssize_t n = read(fd, text + used, TREE_BYTES_MAX + 1 - used);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return io_fault(path, what, "read", errors);
        }
        if (n == 0) {
            break;
        }
        used += (size_t)n;
    }
    *bytes = used;
    return STATUS_OK;
}

enum status text_file_read(const char *path, const char *what, char **text, size_t *bytes,
                           struct err_list *errors)
{
    *text = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return io_fault(path, what, "open", errors);
    }
    char *buffer = malloc(TREE_BYTES_MAX + 1);
    enum status status = buffer ? read_open(fd, path, what, buffer, bytes, errors)
                                : err_list_add(errors, STATUS_E_NOMEM, path, 0, 0,
                                               "not enough memory to read it");
    (void)close(fd);
    if (status == STATUS_OK) {
        *text = buffer;
    } else {
        free(buffer);
    }
    return status;
}

bool text_file_beside(const char *file, const char *path, char *out, size_t size)
{
    const char *slash = strrchr(file, '/');
    const int folder = slash && path[0] != '/' ? (int)(slash - file) + 1 : 0;
    const int n = snprintf(out, size, "%.*s%s", folder, file, path);
    return n >= 0 && (size_t)n < size;
}

void err_list_print(const struct err_list *list, FILE *out)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct err *item = &list->items[i];
        if (item->line == 0) {
            (void)fprintf(out, "tandem: %s: %s\n", item->where, item->text);
        } else {
            (void)fprintf(out, "tandem: %s:%u:%u: %s\n", item->where, item->line, item->column,
                          item->text);
        }
    }
    if (list->more > 0) {
        (void)fprintf(out, "tandem: and %zu more fault%s\n", list->more,
                      list->more == 1 ? "" : "s");
    }
}
