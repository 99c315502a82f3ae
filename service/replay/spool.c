#include "service/replay/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "service/tool/temporary_file.h"

enum {
    GROW_MIN = 1 << 20, /* bytes that the file grows by; any record fits */
    GROW_MAX = 64 << 20,
    RESIDENT_BYTES = 8 << 20 /* of records, after which pages are given back */
};

/* Header of a record; the text follows, padded to a multiple of 8. */
struct record {
    uint64_t next; /* place of the list's next record; 0: none */
    uint64_t bytes;
    int64_t t_us;
    double lag_s;
};

struct list {
    uint64_t first, last; /* places of records; 0: none */
    uint64_t count;
};

struct spool {
    struct list *lists;
    FILE *file;        /* NULL: no record yet */
    char *text;        /* [room] the file, mapped; no record begins at 0 */
    size_t room, used; /* bytes */
    size_t touched;    /* bytes since pages were given back */
};

static size_t whole_bytes(size_t json_bytes)
{
    return (sizeof(struct record) + json_bytes + 7) / 8 * 8;
}

static struct record *record_at(const struct spool *s, uint64_t place)
{
    return (void *)(s->text + place);
}

enum status spool_create(size_t lists, struct spool **out)
{
    struct spool *s = calloc(1, sizeof *s);
    struct list *all = calloc(lists, sizeof *all);
    if (!s || !all) {
        free(s);
        free(all);
        return STATUS_E_NOMEM;
    }
    *s = (struct spool){.lists = all, .used = sizeof(struct record)};
    *out = s;
    return STATUS_OK;
}

void spool_destroy(struct spool *spool)
{
    if (!spool) {
        return;
    }
    if (spool->room > 0) {
        (void)munmap(spool->text, spool->room);
    }
    if (spool->file) {
        (void)fclose(spool->file);
    }
    free(spool->lists);
    free(spool);
}

/* Reserves space in the file before it is written to in memory: a full disk is an error here.
 */
static enum status grow_file(struct spool *s, struct err *err)
{
    const size_t more = s->room < GROW_MIN ? GROW_MIN : s->room < GROW_MAX ? s->room : GROW_MAX;
    int error = EINTR;
    s->file = s->file ? s->file : temporary_file_open(err);
    if (!s->file) {
        return STATUS_E_IO;
    }
    while (error == EINTR) {
        error = posix_fallocate(fileno(s->file), (off_t)s->room, (off_t)more);
    }
    if (error != 0) {
        errno = error;
        return temporary_file_fail("written", err);
    }
    void *text = s->room == 0
                     ? mmap(NULL, more, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(s->file), 0)
                     : mremap(s->text, s->room, s->room + more, MREMAP_MAYMOVE);
    if (text == MAP_FAILED) {
        return temporary_file_fail("written", err);
    }
    s->text = text;
    s->room += more;
    return STATUS_OK;
}

/* The file keeps what was written. */
static void release_pages(struct spool *s, size_t touched)
{
    s->touched += touched;
    if (s->touched > RESIDENT_BYTES) {
        (void)madvise(s->text, s->room, MADV_DONTNEED);
        s->touched = 0;
    }
}

enum status spool_add(struct spool *spool, size_t list, const struct spool_row *row,
                      struct err *err)
{
    struct list *l = &spool->lists[list];
    const size_t whole = whole_bytes(row->json_bytes);
    const enum status status = whole > spool->room - spool->used || spool->room == 0
                                   ? grow_file(spool, err)
                                   : STATUS_OK;
    if (status != STATUS_OK) {
        return status;
    }
    const uint64_t place = spool->used;
    *record_at(spool, place) =
        (struct record){.bytes = row->json_bytes, .t_us = row->t_us, .lag_s = row->lag_s};
    memcpy(record_at(spool, place) + 1, row->json, row->json_bytes);
    *(l->count > 0 ? &record_at(spool, l->last)->next : &l->first) = place;
    l->last = place;
    l->count++;
    spool->used += whole;
    release_pages(spool, whole);
    return STATUS_OK;
}

uint64_t spool_count(const struct spool *spool, size_t list)
{
    return spool->lists[list].count;
}

void spool_each(struct spool *spool, size_t list, uint64_t newest, spool_row_fn *row,
                void *context)
{
    const struct list *l = &spool->lists[list];
    uint64_t skip = newest > 0 && newest < l->count ? l->count - newest : 0;
    bool more = true;
    for (uint64_t place = l->first; place != 0 && more;) {
        const struct record *r = record_at(spool, place);
        const struct spool_row stored = {r->t_us, r->lag_s, (const char *)(r + 1), r->bytes};
        more = skip > 0 || row(context, &stored);
        skip -= skip > 0;
        place = r->next;
        release_pages(spool, whole_bytes(r->bytes));
    }
}
