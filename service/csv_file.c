#include "service/csv_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* strerror() shares a buffer between threads. */
static enum status refuse(const char *path, const char *what, int why, struct err *err)
{
    char text[128];
    const char *reason = strerror_r(why, text, sizeof text);
    return err_set(err, STATUS_E_IO, path, 0, 0, "%s: %s", what, reason);
}

static enum status read_all(FILE *in, const char *path, struct csv *csv, struct err *err)
{
    char bytes[16384];
    for (;;) {
        errno = 0;
        const size_t n = fread(bytes, 1, sizeof bytes, in);
        const enum status st = csv_feed(csv, bytes, n, err);
        if (st != STATUS_OK) {
            return st;
        }
        if (n < sizeof bytes) {
            return ferror(in) ? refuse(path, "cannot read", errno, err) : csv_finish(csv, err);
        }
    }
}

enum status csv_file_read(const char *path, struct csv *csv, struct err *err)
{
    if (strcmp(path, "-") == 0) {
        return read_all(stdin, path, csv, err);
    }
    FILE *in = fopen(path, "rb");
    if (!in) {
        return refuse(path, "cannot open", errno, err);
    }
    const enum status st = read_all(in, path, csv, err);
    (void)fclose(in);
    return st;
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
