#include "logger/storage/journal_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text/utf8.h"
#include "logger/mcap/mcap_reader.h"
#include "logger/message/json_scan.h"
#include "logger/message/message.h"
#include "logger/storage/journal_files.h"
#include "logger/storage/mcap_lines.h"

enum {
    FILES_MAX = 4096,
    READ_BYTES = 64 * 1024, /* read size: small enough to be still in the cache when parsed */
    BUFFER_BYTES = MESSAGE_LINE_MAX + READ_BYTES,
    PEEK_BYTES = 64 * 1024
};

/* One file of lines with a fixed buffer. */
struct source {
    char *path;      /* owned */
    int64_t file;    /* its number in positions */
    int fd;          /* valid if open */
    char *buffer;    /* [BUFFER_BYTES], owned; NULL: not open */
    size_t begin;    /* start of the unread bytes */
    size_t scan;     /* where to look for the next '\n' */
    size_t end;      /* end of the bytes read */
    uint64_t offset; /* file offset of begin */
    uint64_t number; /* lines that began before begin */
    bool skipping;   /* inside an over-long line */
    bool sniffed;    /* its first bytes were checked */

    /* For merging. */
    int64_t first_us, last_us; /* stamps; LAB_TIME_NONE / LAB_TIME_MAX when unknown */
    int64_t key_us;            /* latest stamp so far */
    struct journal_line head;
};

struct journal_reader {
    struct journal_reader_stats stats;

    /* Recordings. sources are sorted by first_us; those in [first, next) were begun, and
     * open_count of them are still open. */
    size_t first, next, open_count;
    struct source *delivered; /* the source of the last returned line */

    /* A directory. */
    char *directory; /* NULL: recordings */
    bool newer_seen; /* a newer file exists, so the open one is complete */
    int64_t newer_file;

    size_t n;
    struct source sources[]; /* [n]; for a directory one, reused */
};

static enum status fail_memory(const char *where, struct err *err)
{
    return err_no_memory(err, where, "out of memory");
}

/* May the failed call succeed a moment later? Then wait: a slow disk, or a lack of descriptors,
 * must not cost the lines of a file. */
static bool wait_again(unsigned *tries)
{
    enum { TRIES_MAX = 25, WAIT_NS = 200000000 };
    const bool passes = errno == EIO || errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    const bool again = errno == EINTR || (passes && ++*tries < TRIES_MAX);
    if (again && passes) {
        (void)nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
    }
    return again;
}

static ssize_t read_at(int fd, void *to, size_t bytes, off_t at)
{
    unsigned tries = 0;
    ssize_t got = 0;
    do {
        got = pread(fd, to, bytes, at);
    } while (got < 0 && wait_again(&tries));
    return got;
}

static enum status list_files(const char *directory, int64_t **starts_us, size_t *n,
                              struct err *err)
{
    unsigned tries = 0;
    enum status status = STATUS_OK;
    do {
        status = journal_files_list(directory, starts_us, n, err);
    } while (status == STATUS_E_IO && wait_again(&tries));
    return status;
}

/* --- one file ------------------------------------------------------------------------- */

static void close_source(struct source *s)
{
    if (s->buffer) {
        (void)close(s->fd);
        free(s->buffer);
        s->buffer = NULL;
    }
}

/* Does the path name a descriptor that is already open, such as a shell's `<(zcat FILE)`? */
static bool is_descriptor(const char *path)
{
    static const char *const places[] = {"/dev/fd/", "/proc/self/fd/", "/dev/stdin"};
    bool found = strcmp(path, "-") == 0;
    for (size_t i = 0; i < COUNT(places); i++) {
        found = found || strncmp(path, places[i], strlen(places[i])) == 0;
    }
    return found;
}

/* Opens a file; never waits for the other end of a pipe. */
static enum status open_file(const char *path, int *fd, struct stat *about, struct err *err)
{
    const int flags = O_RDONLY | O_CLOEXEC | (is_descriptor(path) ? 0 : O_NONBLOCK);
    unsigned tries = 0;
    do {
        *fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                     : open(path, flags);
    } while (*fd < 0 && wait_again(&tries));
    if (*fd < 0 || fstat(*fd, about) != 0) {
        return journal_fail(path, FAULT_FILE_UNREADABLE, "cannot read", err);
    }
    if (S_ISREG(about->st_mode) || S_ISDIR(about->st_mode) || is_descriptor(path)) {
        return STATUS_OK;
    }
    (void)close(*fd);
    return err_set(err, STATUS_E_ARG, FAULT_NOT_A_FILE, path,
                   "is a pipe, socket or device, no file: hand it over as standard input, '-'");
}

/* Opens a source; reading begins at offset. */
static enum status open_source(struct source *s, uint64_t offset, struct err *err)
{
    struct stat about;
    const enum status opened = open_file(s->path, &s->fd, &about, err);
    if (opened != STATUS_OK) {
        return opened;
    }
    s->buffer = malloc(BUFFER_BYTES);
    if (!s->buffer) {
        (void)close(s->fd);
        return fail_memory(s->path, err);
    }
    if (offset > 0 && lseek(s->fd, (off_t)offset, SEEK_SET) < 0) {
        const enum status status =
            journal_fail(s->path, FAULT_FILE_UNREADABLE, "cannot read", err);
        close_source(s);
        return status;
    }
    s->begin = s->scan = s->end = 0;
    s->offset = offset;
    s->number = 0;
    s->skipping = false;
    s->sniffed = offset > 0;
    return STATUS_OK;
}

/* Drops n bytes from begin on. */
static void drop_bytes(struct source *s, size_t n)
{
    s->begin += n;
    s->offset += n;
    s->scan = s->begin;
}

/* Databases, and compressed or UTF-16 recordings, would give only broken lines, so they are
 * refused with advice. */
static enum status sniff_coat(struct source *s, struct err *err)
{
    static const struct {
        const char *magic, *coat, *tool;
    } rows[] = {{"\x1f\x8b", "compressed: unpack it", "zcat"},
                {"\x28\xb5\x2f\xfd", "compressed: unpack it", "zstdcat"},
                {"\xfd\x37zXZ", "compressed: unpack it", "xzcat"},
                {"\xff\xfe", "UTF-16: make it UTF-8", "iconv -f UTF-16 -t UTF-8"},
                {"\xfe\xff", "UTF-16: make it UTF-8", "iconv -f UTF-16 -t UTF-8"}};
    static const char database[] = "SQLite format 3";
    s->sniffed = true;
    if (s->end >= sizeof database && memcmp(s->buffer, database, sizeof database) == 0) {
        return err_set(err, STATUS_E_PARSE, FAULT_WRONG_FILE, s->path,
                       "is a database and no recording; if it is a ROS 2 bag, tandem identify "
                       "reads it");
    }
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t n = strlen(rows[i].magic);
        if (s->end >= n && memcmp(s->buffer, rows[i].magic, n) == 0) {
            return err_set(err, STATUS_E_PARSE, FAULT_COMPRESSED_FILE, s->path,
                           "is %s first, e.g. `%s FILE | tandem replay -`", rows[i].coat,
                           rows[i].tool);
        }
    }
    return STATUS_OK;
}

static enum status fill_buffer(struct source *s, struct journal_reader_stats *stats,
                               struct err *err);

/* Reads the lines of an MCAP file instead of its bytes. */
static enum status read_mcap(struct source *s, struct journal_reader_stats *stats,
                             struct err *err)
{
    const enum status status = mcap_lines_convert(&s->fd, s->path, err);
    if (status != STATUS_OK) {
        return status;
    }
    s->begin = s->scan = s->end = 0;
    s->offset = 0;
    return fill_buffer(s, stats, err);
}

/* Reads more bytes behind end. STATUS_E_EMPTY: there are no more. */
static enum status fill_buffer(struct source *s, struct journal_reader_stats *stats,
                               struct err *err)
{
    const size_t rest = s->end - s->begin; /* an over-long line was dropped before */
    memmove(s->buffer, s->buffer + s->begin, rest);
    s->scan -= s->begin;
    s->begin = 0;
    s->end = rest;
    ssize_t got = 0;
    unsigned tries = 0;
    do {
        got = read(s->fd, s->buffer + s->end, READ_BYTES);
    } while (got < 0 && wait_again(&tries));
    if (got <= 0) {
        return got == 0 ? STATUS_E_EMPTY
                        : journal_fail(s->path, FAULT_FILE_UNREADABLE, "cannot read", err);
    }
    s->end += (size_t)got;
    stats->bytes += (uint64_t)got;
    if (!s->sniffed && mcap_is_magic(s->buffer, s->end)) {
        s->sniffed = true;
        return read_mcap(s, stats, err);
    }
    return s->sniffed ? STATUS_OK : sniff_coat(s, err);
}

/* overlong: only the last bytes of the line are in the buffer. */
static void hand_out(struct source *s, size_t bytes, bool torn, bool overlong,
                     struct journal_line *out)
{
    out->text = overlong ? "" : s->buffer + s->begin;
    out->bytes = overlong ? 0 : bytes;
    out->torn = torn;
    out->overlong = overlong;
    out->start = (struct journal_position){s->file, s->offset};
    drop_bytes(s, torn ? bytes : bytes + 1);
    out->after = (struct journal_position){s->file, s->offset};
    out->number = ++s->number;
    out->path = s->path;
}

/* Returns the next complete line. STATUS_E_EMPTY: the file has no more at the moment. */
static enum status next_line(struct source *s, struct journal_line *out,
                             struct journal_reader_stats *stats, struct err *err)
{
    for (;;) {
        const char *newline = memchr(s->buffer + s->scan, '\n', s->end - s->scan);
        if (newline) {
            const size_t bytes = (size_t)(newline - s->buffer) - s->begin;
            const bool overlong = s->skipping || bytes > MESSAGE_LINE_MAX;
            stats->overlong += overlong;
            s->skipping = false;
            hand_out(s, bytes, false, overlong, out);
            return STATUS_OK;
        }
        s->scan = s->end;
        if (s->end - s->begin > MESSAGE_LINE_MAX) {
            s->skipping = true;
        }
        if (s->skipping) {
            drop_bytes(s, s->end - s->begin);
        }
        const enum status status = fill_buffer(s, stats, err);
        if (status != STATUS_OK) {
            return status;
        }
    }
}

/* At the end, returns the bytes behind the last '\n' as a line. STATUS_E_EMPTY: none. */
static enum status read_rest(struct source *s, struct journal_line *out,
                             struct journal_reader_stats *stats)
{
    if (s->end == s->begin && !s->skipping) {
        return STATUS_E_EMPTY;
    }
    const bool overlong = s->skipping;
    s->skipping = false;
    stats->overlong += overlong;
    stats->torn += !overlong;
    hand_out(s, s->end - s->begin, true, overlong, out);
    return STATUS_OK;
}

/* --- stamps --------------------------------------------------------------------------- */

/* mosquitto_sub and Tandem write "tst" first. In other lines a payload with its own "tst" may
 * precede it. */
int64_t journal_line_us(const char *line, size_t bytes)
{
    struct json_scan s;
    struct json_text key;
    int64_t t_us = LAB_TIME_NONE;
    const size_t mark = utf8_mark(line, bytes);
    json_scan_start(&s, line + mark, bytes - mark, JSON_SCAN_DEPTH_MAX);
    if (json_scan_enter(&s, JSON_KIND_OBJECT)) {
        while (json_scan_next_member(&s, &key)) {
            if (json_text_is(&key, "tst")) {
                (void)message_scan_time(&s, &t_us);
                return t_us;
            }
            (void)json_scan_skip(&s, NULL, NULL);
        }
    }
    return LAB_TIME_NONE;
}

/* The stamp of the first line of text[n] that has one, or of the last. */
static int64_t find_stamp(const char *text, size_t n, bool last)
{
    int64_t found_us = LAB_TIME_NONE;
    size_t at = 0;
    while (at < n && (last || found_us == LAB_TIME_NONE)) {
        const char *newline = memchr(text + at, '\n', n - at);
        const size_t bytes = newline ? (size_t)(newline - text) - at : n - at;
        const int64_t us = journal_line_us(text + at, bytes);
        found_us = us != LAB_TIME_NONE ? us : found_us;
        at += bytes + 1;
    }
    return found_us;
}

/* Finds the first and last stamp and the size of a file, then closes it. */
static enum status peek_file(const char *path, int64_t *first_us, int64_t *last_us,
                             uint64_t *size, struct err *err)
{
    char text[PEEK_BYTES];
    struct stat about = {0};
    int fd = -1;
    const enum status opened = open_file(path, &fd, &about, err);
    if (opened != STATUS_OK) {
        return opened;
    }
    ssize_t got = read_at(fd, text, sizeof text, 0);
    if (got >= 0) {
        *size += (uint64_t)about.st_size;
        *first_us = find_stamp(text, (size_t)got, false);
        got = read_at(fd, text, sizeof text,
                      about.st_size > PEEK_BYTES ? about.st_size - PEEK_BYTES : 0);
    }
    const enum status status =
        got >= 0 ? STATUS_OK : journal_fail(path, FAULT_FILE_UNREADABLE, "cannot read", err);
    if (status == STATUS_OK) {
        *last_us = find_stamp(text, (size_t)got, true);
    }
    (void)close(fd);
    return status;
}

enum status journal_last_us(const char *directory, int64_t *last_us, bool *is_empty,
                            struct err *err)
{
    int64_t *starts_us = NULL;
    int64_t first_us = 0;
    uint64_t size = 0;
    size_t n = 0;
    enum status status = list_files(directory, &starts_us, &n, err);
    if (status != STATUS_OK) {
        return status;
    }
    *is_empty = n == 0;
    *last_us = LAB_TIME_NONE;
    while (n > 0 && *last_us == LAB_TIME_NONE && status == STATUS_OK) {
        char *path = journal_file_path(directory, starts_us[--n]);
        status = path ? peek_file(path, &first_us, last_us, &size, err)
                      : fail_memory(directory, err);
        free(path);
    }
    free(starts_us);
    return status;
}

/* --- recordings ----------------------------------------------------------------------- */

static enum status add_file(struct journal_reader *r, char *path_copy, struct err *err)
{
    struct stat about = {0};
    if (!path_copy) {
        return fail_memory(NULL, err);
    }
    if (r->n == FILES_MAX) {
        free(path_copy);
        return err_set(err, STATUS_E_ARG, FAULT_TOO_MANY, NULL, "more than %d files",
                       FILES_MAX);
    }
    struct source *s = &r->sources[r->n];
    *s = (struct source){.path = path_copy,
                         .file = (int64_t)r->n,
                         .first_us = LAB_TIME_NONE,
                         .last_us = LAB_TIME_NONE,
                         .key_us = LAB_TIME_NONE};
    r->n++;
    /* A pipe must not be opened twice, because its writer would see the first reader leave. */
    const bool is_pipe = strcmp(path_copy, "-") == 0 ||
                         (is_descriptor(path_copy) && stat(path_copy, &about) == 0 &&
                          !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode));
    const enum status status =
        is_pipe ? STATUS_OK
                : peek_file(path_copy, &s->first_us, &s->last_us, &r->stats.total_bytes, err);
    s->last_us = s->last_us == LAB_TIME_NONE ? LAB_TIME_MAX : s->last_us;
    return status;
}

static enum status add_path(struct journal_reader *r, const char *path, struct err *err)
{
    struct stat about;
    if (strcmp(path, "-") == 0 || stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) {
        return add_file(r, strdup(path), err);
    }
    int64_t *starts_us = NULL;
    size_t n = 0;
    enum status status = list_files(path, &starts_us, &n, err);
    if (status == STATUS_OK && n == 0) {
        status = err_set(err, STATUS_E_IO, FAULT_FILE_MISSING, path,
                         "holds no journal files (journal-*.jsonl): name the files");
    }
    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        status = add_file(r, journal_file_path(path, starts_us[i]), err);
    }
    free(starts_us);
    return status;
}

static int compare_sources(const void *a, const void *b)
{
    const struct source *x = a;
    const struct source *y = b;
    if (x->first_us != y->first_us) {
        return x->first_us < y->first_us ? -1 : 1;
    }
    return (x->file > y->file) - (x->file < y->file);
}

enum status journal_reader_open_files(const char *const *paths, size_t n,
                                      struct journal_reader **out, struct err *err)
{
    if (n == 0) {
        return err_set(err, STATUS_E_ARG, FAULT_MISSING_VALUE, NULL, "no file to read");
    }
    struct journal_reader *r = calloc(1, sizeof *r + FILES_MAX * sizeof r->sources[0]);
    enum status status = r ? STATUS_OK : fail_memory(NULL, err);
    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        status = add_path(r, paths[i], err);
    }
    if (status != STATUS_OK) {
        journal_reader_close(r);
        return status;
    }
    qsort(r->sources, r->n, sizeof r->sources[0], compare_sources);
    *out = r;
    return STATUS_OK;
}

/* A file that overlaps no other needs no stamps to merge by. */
static bool is_alone(const struct journal_reader *r, const struct source *s)
{
    if (r->open_count != 1 || r->next == r->n) {
        return r->open_count == 1;
    }
    const struct source *next = &r->sources[r->next];
    return next->first_us > s->last_us ||
           (next->first_us == s->last_us && next->file > s->file);
}

/* Loads the next line of a source, or ends the source. */
static enum status advance_source(struct journal_reader *r, struct source *s, struct err *err)
{
    enum status status = next_line(s, &s->head, &r->stats, err);
    if (status == STATUS_E_EMPTY) {
        status = read_rest(s, &s->head, &r->stats);
    }
    if (status != STATUS_OK) {
        close_source(s);
        r->open_count--;
        while (r->first < r->next && !r->sources[r->first].buffer) {
            r->first++;
        }
        return status == STATUS_E_EMPTY ? STATUS_OK : status;
    }
    if (!is_alone(r, s)) {
        const int64_t us = journal_line_us(s->head.text, s->head.bytes);
        s->key_us = us > s->key_us ? us : s->key_us;
    }
    return STATUS_OK;
}

static enum status begin_next(struct journal_reader *r, struct err *err)
{
    struct source *s = &r->sources[r->next];
    r->next++;
    const enum status status = open_source(s, 0, err);
    if (status != STATUS_OK) {
        return status;
    }
    r->stats.files++;
    r->open_count++;
    return advance_source(r, s, err);
}

static struct source *find_earliest(struct journal_reader *r)
{
    struct source *best = NULL;
    for (size_t i = r->first; i < r->next; i++) {
        struct source *s = &r->sources[i];
        if (s->buffer && (!best || s->key_us < best->key_us ||
                          (s->key_us == best->key_us && s->file < best->file))) {
            best = s;
        }
    }
    return best;
}

static enum status next_of_files(struct journal_reader *r, struct journal_line *out,
                                 struct err *err)
{
    enum status status = STATUS_OK;
    if (r->delivered) {
        struct source *s = r->delivered;
        r->delivered = NULL;
        status = advance_source(r, s, err);
    }
    struct source *s = find_earliest(r);
    while (status == STATUS_OK && r->next < r->n &&
           (!s || (!is_alone(r, s) && r->sources[r->next].first_us <= s->key_us))) {
        status = begin_next(r, err);
        s = find_earliest(r);
    }
    if (status != STATUS_OK || !s) {
        return status == STATUS_OK ? STATUS_E_EMPTY : status;
    }
    *out = s->head;
    r->delivered = s;
    return STATUS_OK;
}

/* --- a directory ---------------------------------------------------------------------- */

/* Finds the oldest file that began after the present one. STATUS_E_EMPTY: none. */
static enum status find_newer_file(struct journal_reader *r, struct err *err)
{
    const int64_t file = r->sources[0].path ? r->sources[0].file : LAB_TIME_NONE;
    int64_t *starts_us = NULL;
    size_t n = 0;
    const enum status status = list_files(r->directory, &starts_us, &n, err);
    for (size_t i = 0; i < n && !r->newer_seen; i++) {
        r->newer_seen = starts_us[i] > file;
        r->newer_file = starts_us[i];
    }
    free(starts_us);
    return status == STATUS_OK && !r->newer_seen ? STATUS_E_EMPTY : status;
}

static enum status begin_file(struct journal_reader *r, int64_t file, uint64_t offset,
                              struct err *err)
{
    struct source *s = &r->sources[0];
    char *path = journal_file_path(r->directory, file);
    if (!path) {
        return fail_memory(r->directory, err);
    }
    close_source(s);
    free(s->path);
    *s = (struct source){.path = path, .file = file};
    r->newer_seen = false;
    const enum status status = open_source(s, offset, err);
    r->stats.files += status == STATUS_OK;
    return status;
}

/* Is position between two lines of an existing file? */
static enum status check_position(const char *path, struct journal_position position,
                                  struct err *err)
{
    char last = '\n';
    unsigned tries = 0;
    int fd = -1;
    do {
        fd = open(path, O_RDONLY | O_CLOEXEC);
    } while (fd < 0 && wait_again(&tries));
    if (fd < 0) {
        return err_set(err, STATUS_E_STALE, FAULT_POSITION_LOST, path,
                       "reading should go on here, but the file cannot be found: %s",
                       journal_error_text(errno));
    }
    if (position.offset > 0 && read_at(fd, &last, 1, (off_t)(position.offset - 1)) != 1) {
        last = '\0';
    }
    const off_t size = lseek(fd, 0, SEEK_END);
    (void)close(fd);
    if ((uint64_t)size < position.offset) {
        return err_set(err, STATUS_E_STALE, FAULT_POSITION_LOST, path,
                       "reading should go on at byte %llu, but the file is shorter",
                       (unsigned long long)position.offset);
    }
    return last == '\n' ? STATUS_OK
                        : err_set(err, STATUS_E_STALE, FAULT_POSITION_LOST, path,
                                  "byte %llu is not between two lines of this file",
                                  (unsigned long long)position.offset);
}

static enum status begin_at(struct journal_reader *r, struct journal_position from,
                            struct err *err)
{
    if (from.file == 0 && from.offset == 0) {
        const enum status status = find_newer_file(r, err);
        return status == STATUS_E_EMPTY ? STATUS_OK : status;
    }
    char *path = journal_file_path(r->directory, from.file);
    const enum status status =
        path ? check_position(path, from, err) : fail_memory(r->directory, err);
    free(path);
    return status == STATUS_OK ? begin_file(r, from.file, from.offset, err) : status;
}

enum status journal_reader_open_directory(const char *directory, struct journal_position from,
                                          struct journal_reader **out, struct err *err)
{
    struct journal_reader *r = calloc(1, sizeof *r + sizeof r->sources[0]);
    if (r) {
        r->directory = strdup(directory);
        r->n = 1;
    }
    const enum status status =
        r && r->directory ? begin_at(r, from, err) : fail_memory(directory, err);
    if (status != STATUS_OK) {
        journal_reader_close(r);
        return status;
    }
    *out = r;
    return STATUS_OK;
}

static enum status next_of_directory(struct journal_reader *r, struct journal_line *out,
                                     struct err *err)
{
    struct source *s = &r->sources[0];
    for (;;) {
        if (s->buffer) {
            enum status status = next_line(s, out, &r->stats, err);
            if (status == STATUS_E_EMPTY && r->newer_seen) {
                /* The writer has left this file and it was read to the end since, so the rest
                 * is final. */
                status = read_rest(s, out, &r->stats);
            }
            if (status == STATUS_OK) {
                return STATUS_OK;
            }
            if (status != STATUS_E_EMPTY) {
                close_source(s);
                return status;
            }
        }
        const enum status status =
            r->newer_seen ? begin_file(r, r->newer_file, 0, err) : find_newer_file(r, err);
        if (status != STATUS_OK) {
            return status;
        }
    }
}

/* --- both ----------------------------------------------------------------------------- */

enum status journal_reader_next(struct journal_reader *reader, struct journal_line *out,
                                struct err *err)
{
    const enum status status = reader->directory ? next_of_directory(reader, out, err)
                                                 : next_of_files(reader, out, err);
    reader->stats.lines += status == STATUS_OK;
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
        close_source(&reader->sources[i]);
        free(reader->sources[i].path);
    }
    free(reader->directory);
    free(reader);
}
