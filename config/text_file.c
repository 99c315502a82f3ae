#include "config/text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

enum status text_file_read(const char *path, const char *what, char **text, size_t *bytes,
                           struct err_list *errors)
{
    *text = NULL;
    FILE *file = fopen(path, "re");
    if (!file) {
        return io_fault(path, what, "open", errors);
    }
    enum status status = STATUS_OK;
    char *buffer = malloc(TREE_BYTES_MAX + 1);
    if (!buffer) {
        status =
            err_list_add(errors, STATUS_E_NOMEM, path, 0, 0, "not enough memory to read it");
    } else {
        *bytes = fread(buffer, 1, TREE_BYTES_MAX + 1, file);
        status = ferror(file) ? io_fault(path, what, "read", errors) : STATUS_OK;
    }
    (void)fclose(file);
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
