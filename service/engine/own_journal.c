#include "service/engine/own_journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logger/storage/journal_files.h"
#include "logger/storage/journal_reader.h"

enum { PATH_BYTES = 4096 };

/* Line n begins at `at`; n 1 more than the last line: the next one will. */
struct anchor {
    int64_t n;
    struct journal_position at;
};

struct own_journal {
    char directory[PATH_BYTES];
    char path[PATH_BYTES];  /* of the number file */
    struct anchor *anchors; /* [count] ascending; the first one always exists */
    size_t count, room;
    int64_t n; /* of the last line */
    int64_t database;
    struct journal_reader *reader; /* NULL: none */
    int64_t next_n;                /* that the reader reads next */
};

static bool add_anchor(struct own_journal *own, int64_t n, struct journal_position at)
{
    if (own->count == own->room) {
        const size_t room = own->room > 0 ? 2 * own->room : 64;
        struct anchor *more = realloc(own->anchors, room * sizeof *more);
        if (!more) {
            return false;
        }
        own->anchors = more;
        own->room = room;
    }
    own->anchors[own->count++] = (struct anchor){n, at};
    return true;
}

static bool print_anchor(FILE *file, const struct anchor *anchor)
{
    return fprintf(file, "%" PRId64 " %" PRId64 " %" PRIu64 "\n", anchor->n, anchor->at.file,
                   anchor->at.offset) > 0;
}

/* Reads the anchors before `end`: a power cut may have taken the lines behind it. */
static enum status read_anchors(struct own_journal *own, FILE *file,
                                struct journal_position end, struct err *err)
{
    int64_t of = 0;
    struct anchor a;
    int fields = fscanf(file, "database %" SCNd64 "\n", &of);
    if (fields == 1 && of != own->database) {
        return err_set(err, STATUS_E_STALE, FAULT_WRONG_FILE, own->path,
                       "this journal belongs to the database %" PRId64 ", not to %" PRId64
                       "; use that database, or an empty folder for the journal",
                       of, own->database);
    }
    while (fields > 0 && (fields = fscanf(file, "%" SCNd64 " %" SCNd64 " %" SCNu64 "\n", &a.n,
                                          &a.at.file, &a.at.offset)) == 3) {
        const bool rises = own->count == 0 ? a.n == 1 : a.n > own->anchors[own->count - 1].n;
        if (!rises) {
            fields = 0;
        } else if ((own->count == 0 || journal_is_before(a.at, end)) &&
                   !add_anchor(own, a.n, a.at)) {
            return err_no_memory(err, own->path, "the numbers of lines");
        }
    }
    /* The last line of the file may be cut; the lines in front of it suffice. */
    return own->count > 0
               ? STATUS_OK
               : err_set(err, STATUS_E_PARSE, FAULT_WRONG_FILE, own->path,
                         "no number of a line; a line such as \"1 0 0\" was expected");
}

static enum status load_anchors(struct own_journal *own, struct journal_position end,
                                struct err *err)
{
    FILE *file = fopen(own->path, "re");
    if (!file && errno != ENOENT) {
        return journal_fail(own->path, FAULT_FILE_UNREADABLE, "cannot be read", err);
    }
    if (!file) {
        return add_anchor(own, 1, end) ? STATUS_OK
                                       : err_no_memory(err, own->path, "the numbers of lines");
    }
    const enum status status = read_anchors(own, file, end, err);
    (void)fclose(file);
    return status;
}

/* Writes the file again, without anchors that the journal has lost. */
static enum status save_anchors(const struct own_journal *own, struct err *err)
{
    char part[PATH_BYTES + 8];
    (void)snprintf(part, sizeof part, "%s.part", own->path);
    FILE *file = fopen(part, "we");
    bool good = file && fprintf(file, "database %" PRId64 "\n", own->database) > 0;
    for (size_t i = 0; good && i < own->count; i++) {
        good = print_anchor(file, &own->anchors[i]);
    }
    good = file && fclose(file) == 0 && good && rename(part, own->path) == 0;
    return good ? STATUS_OK
                : journal_fail(own->path, FAULT_JOURNAL_FAILED, "cannot be written", err);
}

/* Reads the next line that has a number. A piece that a crash cut off has none; the journal
 * ends it with '#' when the next line comes. */
static enum status read_next(struct own_journal *own, struct journal_line *line,
                             struct err *err)
{
    enum status status = STATUS_OK;
    do {
        status = journal_reader_next(own->reader, line, err);
    } while (status == STATUS_OK && !line->torn && line->bytes > 0 &&
             line->text[line->bytes - 1] == '#');
    if (status == STATUS_OK && line->torn) {
        journal_reader_close(own->reader); /* the piece will change */
        own->reader = NULL;
        return STATUS_E_EMPTY;
    }
    own->next_n += status == STATUS_OK;
    return status;
}

/* Lets the reader stand before line n, which is not before the first anchor. */
static enum status seek_line(struct own_journal *own, int64_t n, struct err *err)
{
    if (own->reader && own->next_n == n) {
        return STATUS_OK;
    }
    size_t i = own->count - 1;
    while (i > 0 && own->anchors[i].n > n) {
        i--;
    }
    journal_reader_close(own->reader);
    own->reader = NULL;
    struct journal_line line;
    enum status status =
        journal_reader_open_directory(own->directory, own->anchors[i].at, &own->reader, err);
    own->next_n = own->anchors[i].n;
    while (status == STATUS_OK && own->next_n < n) {
        status = read_next(own, &line, err);
    }
    return status == STATUS_E_EMPTY ? STATUS_E_STALE : status;
}

/* Counts the lines behind the last anchor. */
static enum status count_lines(struct own_journal *own, struct err *err)
{
    struct journal_line line;
    const int64_t first_n = own->anchors[own->count - 1].n;
    enum status status = seek_line(own, first_n, err);
    while (status == STATUS_OK) {
        status = read_next(own, &line, err);
        if (status == STATUS_OK && own->next_n == 2) {
            own->anchors[0].at = line.start; /* an empty journal had no file yet */
        }
    }
    own->n = own->next_n - 1;
    return status == STATUS_E_EMPTY ? STATUS_OK : status;
}

enum status own_journal_open(const char *directory, struct journal_position end,
                             int64_t database, struct own_journal **out, struct err *err)
{
    struct own_journal *own = calloc(1, sizeof *own);
    if (!own) {
        return err_no_memory(err, directory, "the numbers of lines");
    }
    own->database = database;
    (void)snprintf(own->directory, sizeof own->directory, "%s", directory);
    (void)snprintf(own->path, sizeof own->path, "%.4000s/numbers", directory);
    enum status status = load_anchors(own, end, err);
    status = status == STATUS_OK ? count_lines(own, err) : status;
    status = status == STATUS_OK ? save_anchors(own, err) : status;
    if (status == STATUS_OK) {
        *out = own;
    } else {
        own_journal_close(own);
    }
    return status;
}

void own_journal_close(struct own_journal *own)
{
    if (own) {
        journal_reader_close(own->reader);
        free(own->anchors);
        free(own);
    }
}

int64_t own_journal_count(const struct own_journal *own)
{
    return own->n;
}

void own_journal_add(struct own_journal *own, struct journal_position after, size_t bytes)
{
    const struct journal_position start = {after.file, after.offset - bytes};
    own->n++;
    if (own->n == 1) {
        own->anchors[0].at = start; /* the journal may have had no file before */
        const enum status status = save_anchors(own, NULL);
        (void)status;
    }
    if (own->n - own->anchors[own->count - 1].n < OWN_JOURNAL_STEP ||
        !add_anchor(own, own->n, start)) {
        return;
    }
    FILE *file = fopen(own->path, "ae");
    if (file) {
        (void)print_anchor(file, &own->anchors[own->count - 1]);
        (void)fclose(file);
    }
}

enum status own_journal_read(struct own_journal *own, int64_t n, char *out, size_t size,
                             size_t *bytes, struct err *err)
{
    struct journal_line line;
    if (n < 1 || n > own->n) {
        return STATUS_E_STALE;
    }
    enum status status = seek_line(own, n, err);
    status = status == STATUS_OK ? read_next(own, &line, err) : status;
    if (status != STATUS_OK) {
        journal_reader_close(own->reader);
        own->reader = NULL;
        return status == STATUS_E_EMPTY ? STATUS_E_STALE : status;
    }
    if (line.bytes > size) {
        return STATUS_E_FULL;
    }
    memcpy(out, line.text, line.bytes);
    *bytes = line.bytes;
    return STATUS_OK;
}
