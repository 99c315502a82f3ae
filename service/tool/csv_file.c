#include "service/tool/csv_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/numbers/hash.h"

enum { PIECE_BYTES = 16384 };

static enum status refuse_file(const char *path, const char *what, int why, struct err *err)
{
    return err_set(err, STATUS_E_IO, FAULT_FILE_UNREADABLE, path, "%s: %s", what,
                   strerrordesc_np(why));
}

/* State of reading. */
struct reading {
    const struct csv_source *source;
    const struct csv_lines *lines;
    FILE *in; /* NULL: a text */
    struct file_mark seen;
    uint64_t total; /* UINT64_MAX: unknown */
    struct csv csv;
    char room[PIECE_BYTES];
};

/* Pieces are parsed as they arrive: the writer of a pipe may be slow, and an error in its first
 * line should be reported at once. */
static enum status next_piece(void *what, const char **bytes, size_t *n, struct err *err)
{
    struct reading *r = what;
    const struct csv_lines *lines = r->lines;
    const char *path = r->source->path;
    const uint64_t left = r->total - r->seen.bytes;
    if (r->seen.bytes > 0 && lines->go_on &&
        !lines->go_on(lines->context, r->seen.bytes, r->total < UINT64_MAX ? r->total : 0)) {
        return err_set(err, STATUS_E_STALE, FAULT_CANCELLED, path, "cancelled");
    }
    *bytes = r->in ? r->room : r->source->text + r->seen.bytes;
    *n = left < sizeof r->room ? (size_t)left : sizeof r->room;
    if (r->in) {
        errno = 0;
        *n = fread(r->room, 1, *n, r->in);
        if (*n == 0 && ferror(r->in)) {
            return refuse_file(path, "cannot read", errno, err);
        }
    }
    r->seen.bytes += *n;
    r->seen.hash = hash_bytes(r->seen.hash, *bytes, *n);
    return STATUS_OK;
}

static enum status read_table(struct reading *r, struct err *err)
{
    const struct csv_lines *lines = r->lines;
    const struct csv_input input = {r->source->path, next_piece, r,
                                    lines->header,   lines->row, lines->context};
    return csv_read(&r->csv, &input, err);
}

/* Returns the bytes from here to the end of a regular file; UINT64_MAX: unknown. */
static uint64_t count_remaining(FILE *in)
{
    struct stat about;
    const off_t begin = lseek(fileno(in), 0, SEEK_CUR);
    const bool known = fstat(fileno(in), &about) == 0 && S_ISREG(about.st_mode) && begin >= 0 &&
                       begin < about.st_size;
    return known ? (uint64_t)(about.st_size - begin) : UINT64_MAX;
}

static enum status read_file(struct reading *r, struct err *err)
{
    const char *path = r->source->path;
    r->in = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!r->in) {
        return refuse_file(path, "cannot open", errno, err);
    }
    r->total = count_remaining(r->in);
    const enum status st = read_table(r, err);
    if (r->in != stdin) {
        (void)fclose(r->in);
    }
    return st;
}

enum status csv_file_read(const struct csv_source *source, const struct csv_lines *lines,
                          struct file_mark *mark, struct err *err)
{
    struct reading *r = malloc(sizeof *r);
    if (!r) {
        return err_no_memory(err, source->path, "no memory");
    }
    r->source = source;
    r->lines = lines;
    r->in = NULL;
    r->seen = (struct file_mark){0, HASH_START};
    r->total = source->bytes;
    const enum status st = source->text ? read_table(r, err) : read_file(r, err);
    if (st == STATUS_OK && mark) {
        *mark = source->made_of.bytes > 0 ? source->made_of : r->seen;
    }
    free(r);
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
