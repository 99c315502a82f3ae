#include "service/csv_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "twin/base/hash.h"

enum { PIECE_BYTES = 16384 };

/* strerror() shares a buffer between threads. */
static enum status refuse(const char *path, const char *what, int why, struct err *err)
{
    char text[128];
    const char *reason = strerror_r(why, text, sizeof text);
    return err_set(err, STATUS_E_IO, path, 0, 0, "%s: %s", what, reason);
}

/* What has been read so far. */
struct reading {
    const struct csv_source *source;
    struct csv *csv;
    struct csv_file_mark seen;
    uint64_t total; /* 0: not known */
};

static enum status take(struct reading *r, const char *bytes, size_t n, struct err *err)
{
    const struct csv_source *source = r->source;
    const enum status st = csv_feed(r->csv, bytes, n, err);
    if (st != STATUS_OK) {
        return st;
    }
    r->seen.bytes += n;
    r->seen.hash = hash_bytes(r->seen.hash, bytes, n);
    if (source->go_on && !source->go_on(source->context, r->seen.bytes, r->total)) {
        return err_set(err, STATUS_E_STALE, source->path, 0, 0, "cancelled");
    }
    return STATUS_OK;
}

static enum status read_text(struct reading *r, struct err *err)
{
    const struct csv_source *source = r->source;
    r->total = source->bytes;
    while (r->seen.bytes < source->bytes) {
        const size_t left = source->bytes - (size_t)r->seen.bytes;
        const enum status st =
            take(r, source->text + r->seen.bytes, left < PIECE_BYTES ? left : PIECE_BYTES, err);
        if (st != STATUS_OK) {
            return st;
        }
    }
    return csv_finish(r->csv, err);
}

static enum status read_stream(struct reading *r, FILE *in, struct err *err)
{
    char bytes[PIECE_BYTES];
    struct stat about;
    if (fstat(fileno(in), &about) == 0 && S_ISREG(about.st_mode)) {
        r->total = (uint64_t)about.st_size;
    }
    for (;;) {
        errno = 0;
        const size_t n = fread(bytes, 1, sizeof bytes, in);
        const enum status st = take(r, bytes, n, err);
        if (st != STATUS_OK) {
            return st;
        }
        if (n < sizeof bytes) {
            return ferror(in) ? refuse(r->source->path, "cannot read", errno, err)
                              : csv_finish(r->csv, err);
        }
    }
}

static enum status read_file(struct reading *r, struct err *err)
{
    const char *path = r->source->path;
    if (strcmp(path, "-") == 0) {
        return read_stream(r, stdin, err);
    }
    FILE *in = fopen(path, "rb");
    if (!in) {
        return refuse(path, "cannot open", errno, err);
    }
    const enum status st = read_stream(r, in, err);
    (void)fclose(in);
    return st;
}

enum status csv_file_read_marked(const struct csv_source *source, struct csv *csv,
                                 struct csv_file_mark *mark, struct err *err)
{
    struct reading r = {.source = source, .csv = csv, .seen = {0, HASH_START}};
    const enum status st = source->text ? read_text(&r, err) : read_file(&r, err);
    if (st == STATUS_OK) {
        *mark = r.seen;
    }
    return st;
}

enum status csv_file_read(const struct csv_source *source, struct csv *csv, struct err *err)
{
    struct csv_file_mark mark;
    return csv_file_read_marked(source, csv, &mark, err);
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
