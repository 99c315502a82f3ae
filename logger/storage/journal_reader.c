#include "logger/storage/journal_reader.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logger/storage/journal_error.h"
#include "logger/storage/journal_files.h"
#include "logger/storage/journal_source.h"

enum { FILES_MAX = 4096 };

struct journal_reader {
    struct journal_reader_stats stats;

    /* Recordings. sources are in the order of first_us. */
    size_t next;    /* the first source not begun */
    size_t *active; /* [active_count] indices of the open ones, ascending */
    size_t active_count;
    struct journal_source *taken; /* its head has been handed out */

    /* A directory. */
    char *directory; /* NULL: recordings */
    bool newer_seen; /* a newer file exists: what the open one has now is all */
    int64_t newer_file;

    size_t n;
    struct journal_source sources[]; /* [n]; one, reused, for a directory */
};

/* --- recordings ----------------------------------------------------------------------- */

static enum status add_file(struct journal_reader *r, char *path_take, struct err *err)
{
    if (r->n == FILES_MAX) {
        free(path_take);
        return err_set(err, STATUS_E_ARG, NULL, 0, 0, "more than %d files", FILES_MAX);
    }
    if (!path_take) {
        return err_set(err, STATUS_E_NOMEM, NULL, 0, 0, "out of memory");
    }
    struct journal_source *s = &r->sources[r->n];
    *s = (struct journal_source){
        .path = path_take, .file = (int64_t)r->n, .fd = -1, .key_us = LAB_TIME_NONE};
    r->n++;
    return journal_source_peek(s, err);
}

static char *join_path(const char *directory, int64_t start_us)
{
    char name[JOURNAL_NAME_MAX];
    journal_file_name(start_us, name);
    const size_t bytes = strlen(directory) + strlen(name) + 2;
    char *path = malloc(bytes);
    if (path) {
        (void)snprintf(path, bytes, "%s/%s", directory, name);
    }
    return path;
}

static enum status add_path(struct journal_reader *r, const char *path, struct err *err)
{
    struct stat about;
    if (strcmp(path, "-") == 0 || stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) {
        return add_file(r, strdup(path), err);
    }
    int64_t *starts_us = NULL;
    size_t n = 0;
    enum status status = journal_files_list(path, &starts_us, &n, err);
    if (status == STATUS_OK && n == 0) {
        status = err_set(err, STATUS_E_IO, path, 0, 0,
                         "holds no journal files (journal-*.jsonl): name the files");
    }
    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        status = add_file(r, join_path(path, starts_us[i]), err);
    }
    free(starts_us);
    return status;
}

static int compare_sources(const void *a, const void *b)
{
    const struct journal_source *x = a;
    const struct journal_source *y = b;
    if (x->first_us != y->first_us) {
        return x->first_us < y->first_us ? -1 : 1;
    }
    return (x->file > y->file) - (x->file < y->file);
}

static void count_total(struct journal_reader *r, const char *path)
{
    struct stat about;
    if (strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISREG(about.st_mode)) {
        r->stats.total_bytes += (uint64_t)about.st_size;
    }
}

enum status journal_reader_open_files(const char *const *paths, size_t n,
                                      struct journal_reader **out, struct err *err)
{
    if (n == 0) {
        return err_set(err, STATUS_E_ARG, NULL, 0, 0, "no file to read");
    }
    struct journal_reader *r = calloc(1, sizeof *r + FILES_MAX * sizeof r->sources[0]);
    if (r) {
        r->active = calloc(FILES_MAX, sizeof *r->active);
    }
    if (!r || !r->active) {
        journal_reader_close(r);
        return err_set(err, STATUS_E_NOMEM, NULL, 0, 0, "out of memory");
    }
    enum status status = STATUS_OK;
    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        status = add_path(r, paths[i], err);
    }
    if (status != STATUS_OK) {
        journal_reader_close(r);
        return status;
    }
    for (size_t i = 0; i < r->n; i++) {
        count_total(r, r->sources[i].path);
    }
    qsort(r->sources, r->n, sizeof r->sources[0], compare_sources);
    *out = r;
    return STATUS_OK;
}

static void deactivate_source(struct journal_reader *r, const struct journal_source *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->active_count; i++) {
        if (&r->sources[r->active[i]] != s) {
            r->active[kept++] = r->active[i];
        }
    }
    r->active_count = kept;
}

/* Alone, a file needs no stamps: nothing else could come between its lines. */
static bool is_alone(const struct journal_reader *r, const struct journal_source *s)
{
    if (r->active_count != 1 || r->next == r->n) {
        return r->active_count == 1;
    }
    const struct journal_source *next = &r->sources[r->next];
    return next->first_us > s->last_us ||
           (next->first_us == s->last_us && next->file > s->file);
}

/* Load the next line of a source, or end it. */
static enum status advance_source(struct journal_reader *r, struct journal_source *s,
                                  struct err *err)
{
    s->has_head = false;
    enum status status = journal_source_next(s, &s->head, &r->stats, err);
    if (status == STATUS_E_EMPTY) {
        status = journal_source_rest(s, &s->head, &r->stats);
    }
    if (status != STATUS_OK) {
        deactivate_source(r, s);
        journal_source_close(s);
        return status == STATUS_E_EMPTY ? STATUS_OK : status;
    }
    s->has_head = true;
    if (!is_alone(r, s)) {
        const int64_t us = journal_line_us(s->head.text, s->head.bytes);
        s->key_us = us > s->key_us ? us : s->key_us;
    }
    return STATUS_OK;
}

static enum status begin_next(struct journal_reader *r, struct err *err)
{
    struct journal_source *s = &r->sources[r->next];
    r->next++;
    const enum status status = journal_source_open(s, 0, err);
    if (status != STATUS_OK) {
        return status;
    }
    r->stats.files++;
    r->active[r->active_count++] = (size_t)(s - r->sources);
    return advance_source(r, s, err);
}

static struct journal_source *find_earliest(struct journal_reader *r)
{
    struct journal_source *best = NULL;
    for (size_t i = 0; i < r->active_count; i++) {
        struct journal_source *s = &r->sources[r->active[i]];
        if (!best || s->key_us < best->key_us ||
            (s->key_us == best->key_us && s->file < best->file)) {
            best = s;
        }
    }
    return best;
}

static enum status next_of_files(struct journal_reader *r, struct journal_line *out,
                                 struct err *err)
{
    if (r->taken) {
        struct journal_source *s = r->taken;
        r->taken = NULL;
        const enum status status = advance_source(r, s, err);
        if (status != STATUS_OK) {
            return status;
        }
    }
    struct journal_source *s = find_earliest(r);
    while (r->next < r->n &&
           (!s || (!is_alone(r, s) && r->sources[r->next].first_us <= s->key_us))) {
        const enum status status = begin_next(r, err);
        if (status != STATUS_OK) {
            return status;
        }
        s = find_earliest(r);
    }
    if (!s) {
        return STATUS_E_EMPTY;
    }
    *out = s->head;
    r->taken = s;
    return STATUS_OK;
}

/* --- a directory ---------------------------------------------------------------------- */

/* The oldest file that began after file. STATUS_E_EMPTY: none. */
static enum status find_file_after(const char *directory, int64_t file, int64_t *found,
                                   struct err *err)
{
    int64_t *starts_us = NULL;
    size_t n = 0;
    enum status status = journal_files_list(directory, &starts_us, &n, err);
    if (status != STATUS_OK) {
        return status;
    }
    status = STATUS_E_EMPTY;
    for (size_t i = 0; i < n; i++) {
        if (starts_us[i] > file) {
            *found = starts_us[i];
            status = STATUS_OK;
            break;
        }
    }
    free(starts_us);
    return status;
}

static enum status begin_file(struct journal_reader *r, int64_t file, uint64_t offset,
                              struct err *err)
{
    struct journal_source *s = &r->sources[0];
    char *path = join_path(r->directory, file);
    if (!path) {
        return err_set(err, STATUS_E_NOMEM, r->directory, 0, 0, "out of memory");
    }
    journal_source_close(s);
    free(s->path);
    *s = (struct journal_source){.path = path, .file = file, .fd = -1};
    r->newer_seen = false;
    const enum status status = journal_source_open(s, offset, err);
    if (status == STATUS_OK) {
        r->stats.files++;
    }
    return status;
}

/* Is position a place between two lines of a file that is still there? */
static enum status check_position(const char *path, struct journal_position position,
                                  struct err *err)
{
    struct journal_source probe = {.path = NULL};
    struct stat about;
    if (stat(path, &about) != 0) {
        return err_set(err, STATUS_E_STALE, path, 0, 0,
                       "reading should go on here, but the file cannot be found: %s",
                       journal_error_text(errno));
    }
    if ((uint64_t)about.st_size < position.offset) {
        return err_set(err, STATUS_E_STALE, path, 0, 0,
                       "reading should go on at byte %llu, but the file is shorter",
                       (unsigned long long)position.offset);
    }
    if (position.offset == 0) {
        return STATUS_OK;
    }
    probe.path = strdup(path);
    if (!probe.path) {
        return err_set(err, STATUS_E_NOMEM, path, 0, 0, "out of memory");
    }
    struct journal_reader_stats ignored = {0};
    struct journal_line line;
    enum status status = journal_source_open(&probe, position.offset - 1, err);
    if (status == STATUS_OK) {
        probe.sniffed = true;
        status = journal_source_next(&probe, &line, &ignored, err);
        const bool between = status == STATUS_OK && line.bytes == 0;
        status = between ? STATUS_OK
                         : err_set(err, STATUS_E_STALE, path, 0, 0,
                                   "byte %llu is not between two lines of this file",
                                   (unsigned long long)position.offset);
    }
    journal_source_close(&probe);
    free(probe.path);
    return status;
}

static enum status begin_at(struct journal_reader *r, struct journal_position from,
                            struct err *err)
{
    if (from.file == 0 && from.offset == 0) {
        const enum status status =
            find_file_after(r->directory, LAB_TIME_NONE, &r->newer_file, err);
        r->newer_seen = status == STATUS_OK;
        return status == STATUS_E_EMPTY ? STATUS_OK : status;
    }
    char *path = join_path(r->directory, from.file);
    if (!path) {
        return err_set(err, STATUS_E_NOMEM, r->directory, 0, 0, "out of memory");
    }
    const enum status status = check_position(path, from, err);
    free(path);
    return status == STATUS_OK ? begin_file(r, from.file, from.offset, err) : status;
}

static void count_directory(struct journal_reader *r)
{
    int64_t *starts_us = NULL;
    size_t n = 0;
    if (journal_files_list(r->directory, &starts_us, &n, NULL) != STATUS_OK) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        char *path = join_path(r->directory, starts_us[i]);
        if (path) {
            count_total(r, path);
        }
        free(path);
    }
    free(starts_us);
}

enum status journal_reader_open_directory(const char *directory, struct journal_position from,
                                          struct journal_reader **out, struct err *err)
{
    struct journal_reader *r = calloc(1, sizeof *r + sizeof r->sources[0]);
    if (r) {
        r->directory = strdup(directory);
        r->n = 1;
    }
    if (!r || !r->directory) {
        journal_reader_close(r);
        return err_set(err, STATUS_E_NOMEM, directory, 0, 0, "out of memory");
    }
    r->sources[0].fd = -1;
    const enum status status = begin_at(r, from, err);
    if (status != STATUS_OK) {
        journal_reader_close(r);
        return status;
    }
    count_directory(r);
    *out = r;
    return STATUS_OK;
}

static enum status next_of_directory(struct journal_reader *r, struct journal_line *out,
                                     struct err *err)
{
    struct journal_source *s = &r->sources[0];
    for (;;) {
        if (s->buffer) {
            enum status status = journal_source_next(s, out, &r->stats, err);
            if (status == STATUS_E_EMPTY && r->newer_seen) {
                /* The writer has left this file, and it was read again since: this is all. */
                status = journal_source_rest(s, out, &r->stats);
            }
            if (status == STATUS_OK) {
                return STATUS_OK;
            }
            if (status != STATUS_E_EMPTY) {
                journal_source_close(s);
                return status;
            }
        }
        if (r->newer_seen) {
            const enum status status = begin_file(r, r->newer_file, 0, err);
            if (status != STATUS_OK) {
                return status;
            }
            continue;
        }
        const enum status status = find_file_after(
            r->directory, s->path ? s->file : LAB_TIME_NONE, &r->newer_file, err);
        if (status != STATUS_OK) {
            return status;
        }
        r->newer_seen = true;
    }
}

/* --- both ----------------------------------------------------------------------------- */

enum status journal_reader_next(struct journal_reader *reader, struct journal_line *out,
                                struct err *err)
{
    const enum status status = reader->directory ? next_of_directory(reader, out, err)
                                                 : next_of_files(reader, out, err);
    if (status == STATUS_OK) {
        reader->stats.lines++;
    }
    return status;
}

void journal_reader_stats(const struct journal_reader *reader, struct journal_reader_stats *out)
{
    *out = reader->stats;
}

void journal_reader_close(struct journal_reader *reader)
{
    if (!reader) {
        return;
    }
    for (size_t i = 0; i < reader->n; i++) {
        journal_source_close(&reader->sources[i]);
        free(reader->sources[i].path);
    }
    free(reader->active);
    free(reader->directory);
    free(reader);
}
