#include "service/cli/csv_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "service/cli/read_ahead.h"

enum { PIECE_BYTES = 16384 };

/* strerror() shares a buffer between threads. */
static enum status refuse_file(const char *path, const char *what, int why, struct err *err)
{
    char text[128];
    const char *reason = strerror_r(why, text, sizeof text);
    return err_set(err, STATUS_E_IO, path, 0, 0, "%s: %s", what, reason);
}

/* What has been read so far. */
struct reading {
    const struct csv_source *source;
    const struct csv_lines *lines;
    struct csv *csv;
    struct file_mark seen;
    uint64_t total; /* 0: not known */
};

static enum status feed_piece(struct reading *r, const char *bytes, size_t n, struct err *err)
{
    const struct csv_lines *lines = r->lines;
    const enum status st = csv_feed(r->csv, bytes, n, err);
    r->seen.bytes += n;
    if (st == STATUS_OK && lines->go_on &&
        !lines->go_on(lines->context, r->seen.bytes, r->total)) {
        return err_set(err, STATUS_E_STALE, r->source->path, 0, 0, "cancelled");
    }
    return st;
}

/* The same of what nobody has hashed. */
static enum status hash_and_feed(struct reading *r, const char *bytes, size_t n,
                                 struct err *err)
{
    r->seen.hash = hash_bytes(r->seen.hash, bytes, n);
    return feed_piece(r, bytes, n, err);
}

static enum status read_text(struct reading *r, struct err *err)
{
    const struct csv_source *source = r->source;
    r->total = source->bytes;
    while (r->seen.bytes < source->bytes) {
        const size_t left = source->bytes - (size_t)r->seen.bytes;
        const enum status st = hash_and_feed(r, source->text + r->seen.bytes,
                                             left < PIECE_BYTES ? left : PIECE_BYTES, err);
        if (st != STATUS_OK) {
            return st;
        }
    }
    return csv_finish(r->csv, err);
}

/* A pipe: whoever writes it may be slow, and an error in its first line is told at once. */
static enum status read_pipe(struct reading *r, FILE *in, struct err *err)
{
    char bytes[PIECE_BYTES];
    for (;;) {
        errno = 0;
        const size_t n = fread(bytes, 1, sizeof bytes, in);
        const int failure = ferror(in) ? errno : 0;
        const enum status st = hash_and_feed(r, bytes, n, err);
        if (st != STATUS_OK) {
            return st;
        }
        if (n < sizeof bytes) {
            return failure ? refuse_file(r->source->path, "cannot read", failure, err)
                           : csv_finish(r->csv, err);
        }
    }
}

static enum status read_regular(struct reading *r, FILE *in, struct err *err)
{
    struct read_ahead *reader = NULL;
    enum status st = read_ahead_start(in, &reader);
    if (st != STATUS_OK) {
        return err_set(err, st, r->source->path, 0, 0, "no memory or no thread to read with");
    }
    size_t n = 0;
    for (const char *bytes; st == STATUS_OK && (bytes = read_ahead_next(reader, &n));) {
        st = feed_piece(r, bytes, n, err);
    }
    if (st == STATUS_OK) {
        struct file_mark mark;
        const int failure = read_ahead_end(reader, &mark);
        r->seen.hash = mark.hash;
        st = failure ? refuse_file(r->source->path, "cannot read", failure, err)
                     : csv_finish(r->csv, err);
    }
    read_ahead_stop(reader);
    return st;
}

static enum status read_stream(struct reading *r, FILE *in, struct err *err)
{
    struct stat about;
    if (fstat(fileno(in), &about) != 0 || !S_ISREG(about.st_mode)) {
        return read_pipe(r, in, err);
    }
    r->total = (uint64_t)about.st_size;
    return read_regular(r, in, err);
}

static enum status read_file(struct reading *r, struct err *err)
{
    const char *path = r->source->path;
    if (strcmp(path, "-") == 0) {
        return read_stream(r, stdin, err);
    }
    FILE *in = fopen(path, "rb");
    if (!in) {
        return refuse_file(path, "cannot open", errno, err);
    }
    const enum status st = read_stream(r, in, err);
    (void)fclose(in);
    return st;
}

enum status csv_file_read(const struct csv_source *source, const struct csv_lines *lines,
                          struct file_mark *mark, struct err *err)
{
    struct reading r = {.source = source, .lines = lines, .seen = {0, HASH_START}};
    r.csv = malloc(sizeof *r.csv);
    if (!r.csv) {
        return err_set(err, STATUS_E_NOMEM, source->path, 0, 0, "no memory");
    }
    csv_start(r.csv, source->path, lines->header, lines->row, lines->context);
    const enum status st = source->text ? read_text(&r, err) : read_file(&r, err);
    free(r.csv);
    if (st == STATUS_OK && mark) {
        *mark = r.seen;
    }
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
