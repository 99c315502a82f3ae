#include "service/csv_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "twin/base/hash.h"

/* strerror() shares a buffer between threads. */
static enum status refuse(const char *path, const char *what, int why, struct err *err)
{
    char text[128];
    const char *reason = strerror_r(why, text, sizeof text);
    return err_set(err, STATUS_E_IO, path, 0, 0, "%s: %s", what, reason);
}

static enum status read_all(FILE *in, const char *path, struct csv *csv,
                            struct csv_file_mark *mark, struct err *err)
{
    char bytes[16384];
    struct csv_file_mark seen = {0, HASH_START};
    for (;;) {
        errno = 0;
        const size_t n = fread(bytes, 1, sizeof bytes, in);
        enum status st = csv_feed(csv, bytes, n, err);
        if (st != STATUS_OK) {
            return st;
        }
        if (mark) {
            seen.bytes += n;
            seen.hash = hash_bytes(seen.hash, bytes, n);
        }
        if (n < sizeof bytes) {
            st = ferror(in) ? refuse(path, "cannot read", errno, err) : csv_finish(csv, err);
            if (st == STATUS_OK && mark) {
                *mark = seen;
            }
            return st;
        }
    }
}

enum status csv_file_read_marked(const char *path, struct csv *csv, struct csv_file_mark *mark,
                                 struct err *err)
{
    if (strcmp(path, "-") == 0) {
        return read_all(stdin, path, csv, mark, err);
    }
    FILE *in = fopen(path, "rb");
    if (!in) {
        return refuse(path, "cannot open", errno, err);
    }
    const enum status st = read_all(in, path, csv, mark, err);
    (void)fclose(in);
    return st;
}

enum status csv_file_read(const char *path, struct csv *csv, struct err *err)
{
    return csv_file_read_marked(path, csv, NULL, err);
}

void csv_file_complain(const struct err *err)
{
    (void)fprintf(stderr, "tandem: %s:", err->where);
    if (err->line > 0) {
        (void)fprintf(stderr, "%u:", err->line);
    }
    if (err->column > 0) {
        (void)fprintf(stderr, "%u:", err->column);
    }
    (void)fprintf(stderr, " %s\n", err->text);
}
