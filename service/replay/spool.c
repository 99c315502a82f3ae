#include "service/replay/spool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUT_BYTES = 256 * 1024 };

/* Header of a record, in memory and in the file; the text follows, padded to a multiple of
 * 8. */
struct record {
    uint32_t next; /* next record of the list, in memory; 0: none */
    uint32_t bytes;
    int64_t t_us;
    double lag_s;
};

/* Header in the file, before some records of one list. */
struct piece {
    uint64_t before; /* place of the list's previous piece; 0: none */
    uint32_t rows, bytes;
};

struct list {
    uint32_t first, last; /* records in memory; 0: none */
    uint32_t rows, bytes; /* rows in memory, and their bytes */
    uint64_t piece;       /* place of the newest piece in the file; 0: none */
    uint64_t count;       /* rows ever added */
};

struct spool {
    struct list *lists;
    size_t list_count;
    uint32_t *touched; /* [touched_count] lists with records in memory */
    size_t touched_count;
    char *memory; /* [bytes]; no record starts at 0 */
    size_t bytes, used;
    int fd; /* 1: no file yet */
    uint64_t end;
    char *out; /* [OUT_BYTES] buffer for the end of the file */
    size_t out_used;
    uint64_t writes;  /* how often memory was written to the file, */
    uint64_t *pieces; /* the most pieces that a list can have; allocated for reading */
};

static size_t whole_bytes(size_t json_bytes)
{
    return (sizeof(struct record) + json_bytes + 7) / 8 * 8;
}

static struct record *record_at(const struct spool *s, size_t at)
{
    return (void *)(s->memory + at);
}

enum status spool_create(size_t lists, size_t bytes, struct spool **out)
{
    struct spool *s = calloc(1, sizeof *s);
    if (!s) {
        return STATUS_E_NOMEM;
    }
    *s = (struct spool){.lists = calloc(lists, sizeof *s->lists),
                        .list_count = lists,
                        .touched = calloc(lists, sizeof *s->touched),
                        .memory = malloc(bytes),
                        .bytes = bytes,
                        .used = sizeof(struct record),
                        .fd = -1,
                        .out = malloc(OUT_BYTES)};
    if (!s->lists || !s->touched || !s->memory || !s->out) {
        spool_destroy(s);
        return STATUS_E_NOMEM;
    }
    *out = s;
    return STATUS_OK;
}

void spool_destroy(struct spool *spool)
{
    if (!spool) {
        return;
    }
    if (spool->fd >= 0) {
        (void)close(spool->fd);
    }
    free(spool->lists);
    free(spool->touched);
    free(spool->memory);
    free(spool->out);
    free(spool->pieces);
    free(spool);
}

/* ---- the file ---- */

static enum status fail_file(const char *what, struct err *err)
{
    return err_set(err, STATUS_E_IO, FAULT_FILE_UNWRITABLE, "temporary file",
                   "cannot be %s: %s", what, strerrordesc_np(errno));
}

static enum status make_file(struct spool *s, struct err *err)
{
    const char *const places[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
    char path[4096];
    for (size_t i = 0; i < COUNT(places) && s->fd < 0; i++) {
        if (places[i] && snprintf(path, sizeof path, "%s/tandem-replay-XXXXXX", places[i]) <
                             (int)sizeof path) {
            s->fd = mkostemp(path, O_CLOEXEC);
        }
    }
    if (s->fd < 0) {
        return fail_file("made", err);
    }
    (void)unlink(path);
    const struct piece none = {0}; /* place 0 means "none", so no piece may start there */
    memcpy(s->out, &none, sizeof none);
    s->out_used = s->end = sizeof none;
    return STATUS_OK;
}

static enum status flush_out(struct spool *s, struct err *err)
{
    size_t done = 0;
    while (done < s->out_used) {
        const ssize_t n = write(s->fd, s->out + done, s->out_used - done);
        if (n < 0 && errno != EINTR) {
            return fail_file("written", err);
        }
        done += n > 0 ? (size_t)n : 0;
    }
    s->out_used = 0;
    return STATUS_OK;
}

static enum status append_out(struct spool *s, const void *from, size_t bytes, struct err *err)
{
    enum status status = STATUS_OK;
    s->end += bytes;
    while (bytes > 0 && status == STATUS_OK) {
        const size_t room = OUT_BYTES - s->out_used;
        const size_t part = bytes < room ? bytes : room;
        memcpy(s->out + s->out_used, from, part);
        s->out_used += part;
        from = (const char *)from + part;
        bytes -= part;
        status = s->out_used == OUT_BYTES ? flush_out(s, err) : STATUS_OK;
    }
    return status;
}

static enum status write_piece(struct spool *s, struct list *list, struct err *err)
{
    const struct piece piece = {list->piece, list->rows, list->bytes};
    const uint64_t place = s->end;
    enum status status = append_out(s, &piece, sizeof piece, err);
    for (size_t at = list->first; at != 0 && status == STATUS_OK; at = record_at(s, at)->next) {
        status = append_out(s, record_at(s, at), whole_bytes(record_at(s, at)->bytes), err);
    }
    *list = (struct list){.piece = place, .count = list->count};
    return status;
}

/* Writes all records in memory to the file. */
static enum status write_memory(struct spool *s, struct err *err)
{
    enum status status = s->fd < 0 ? make_file(s, err) : STATUS_OK;
    for (size_t i = 0; i < s->touched_count && status == STATUS_OK; i++) {
        status = write_piece(s, &s->lists[s->touched[i]], err);
    }
    status = status == STATUS_OK ? flush_out(s, err) : status;
    s->touched_count = 0;
    s->used = sizeof(struct record);
    s->writes++;
    return status;
}

enum status spool_add(struct spool *spool, size_t list, const struct spool_row *row,
                      struct err *err)
{
    const size_t whole = whole_bytes(row->json_bytes);
    assert(list < spool->list_count && sizeof(struct record) + whole <= spool->bytes);
    if (whole > spool->bytes - spool->used) {
        const enum status status = write_memory(spool, err);
        if (status != STATUS_OK) {
            return status;
        }
    }
    struct list *l = &spool->lists[list];
    const size_t at = spool->used;
    *record_at(spool, at) = (struct record){
        .bytes = (uint32_t)row->json_bytes, .t_us = row->t_us, .lag_s = row->lag_s};
    memcpy(spool->memory + at + sizeof(struct record), row->json, row->json_bytes);
    memset(spool->memory + at + sizeof(struct record) + row->json_bytes, 0,
           whole - sizeof(struct record) - row->json_bytes);
    if (l->rows == 0) {
        spool->touched[spool->touched_count++] = (uint32_t)list;
        l->first = (uint32_t)at;
    } else {
        record_at(spool, l->last)->next = (uint32_t)at;
    }
    l->last = (uint32_t)at;
    l->rows++;
    l->bytes += (uint32_t)whole;
    l->count++;
    spool->used += whole;
    return STATUS_OK;
}

uint64_t spool_count(const struct spool *spool, size_t list)
{
    return spool->lists[list].count;
}

/* ---- reading back ---- */

static enum status read_at(const struct spool *s, uint64_t place, void *to, size_t bytes,
                           struct err *err)
{
    size_t done = 0;
    while (done < bytes) {
        const ssize_t n = pread(s->fd, (char *)to + done, bytes - done, (off_t)(place + done));
        if (n == 0 || (n < 0 && errno != EINTR)) {
            errno = n == 0 ? EIO : errno;
            return fail_file("read", err);
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return STATUS_OK;
}

/* Receiver of rows while reading. */
struct reading {
    uint64_t skip; /* rows still to skip */
    spool_row_fn *row;
    void *context;
};

/* False when the receiver wants no more. */
static bool hand_out(const struct spool *s, size_t at, struct reading *r)
{
    const struct record *record = record_at(s, at);
    const struct spool_row row = {record->t_us, record->lag_s, (const char *)(record + 1),
                                  record->bytes};
    if (r->skip > 0) {
        r->skip--;
        return true;
    }
    return r->row(r->context, &row);
}

/* Finds the pieces of a list, the last first, until they hold the wanted rows. */
static enum status find_pieces(struct spool *s, const struct list *list, uint64_t wanted,
                               size_t *count, uint64_t *rows, struct err *err)
{
    uint64_t place = list->piece;
    *count = 0;
    *rows = 0;
    while (place != 0 && *rows < wanted) {
        struct piece piece;
        const enum status status = read_at(s, place, &piece, sizeof piece, err);
        if (status != STATUS_OK) {
            return status;
        }
        s->pieces[(*count)++] = place;
        *rows += piece.rows;
        place = piece.before;
    }
    return STATUS_OK;
}

/* Reads pieces one after another into the memory, which holds nothing else any more. */
static enum status read_pieces(struct spool *s, const struct list *list, uint64_t wanted,
                               struct reading *r, struct err *err)
{
    size_t count = 0;
    uint64_t rows = 0;
    bool more = true;
    enum status status = find_pieces(s, list, wanted, &count, &rows, err);
    r->skip = rows > wanted ? rows - wanted : 0;
    while (count > 0 && more && status == STATUS_OK) {
        struct piece piece;
        const uint64_t place = s->pieces[--count];
        status = read_at(s, place, &piece, sizeof piece, err);
        if (status == STATUS_OK) {
            status = read_at(s, place + sizeof piece, s->memory, piece.bytes, err);
        }
        for (size_t at = 0; more && status == STATUS_OK && at < piece.bytes;
             at += whole_bytes(record_at(s, at)->bytes)) {
            more = hand_out(s, at, r);
        }
    }
    return status;
}

enum status spool_each(struct spool *spool, size_t list, uint64_t newest, spool_row_fn *row,
                       void *context, struct err *err)
{
    const struct list *l = &spool->lists[list];
    const uint64_t wanted = newest > 0 && newest < l->count ? newest : l->count;
    struct reading r = {l->count - wanted, row, context};
    if (spool->fd < 0) {
        bool more = true;
        for (size_t at = l->first; at != 0 && more; at = record_at(spool, at)->next) {
            more = hand_out(spool, at, &r);
        }
        return STATUS_OK;
    }
    enum status status = spool->touched_count > 0 ? write_memory(spool, err) : STATUS_OK;
    if (status == STATUS_OK && !spool->pieces) {
        spool->pieces = calloc(spool->writes, sizeof *spool->pieces);
        status =
            spool->pieces ? STATUS_OK : err_no_memory(err, "temporary file", "out of memory");
    }
    return status == STATUS_OK ? read_pieces(spool, l, wanted, &r, err) : status;
}
