#include "logger/storage/journal_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logger/message/json_scan.h"
#include "logger/message/message.h"
#include "logger/storage/journal_error.h"

enum { PEEK_BYTES = 64 * 1024 };

static enum status fail_read(const struct journal_source *source, int error, struct err *err)
{
    return err_set(err, STATUS_E_IO, source->path, 0, 0, "cannot read: %s",
                   journal_error_text(error));
}

static int open_path(const char *path)
{
    return strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                  : open(path, O_RDONLY | O_CLOEXEC);
}

enum status journal_source_open(struct journal_source *source, uint64_t offset, struct err *err)
{
    const int fd = open_path(source->path);
    if (fd < 0) {
        return fail_read(source, errno, err);
    }
    if (offset > 0 && lseek(fd, (off_t)offset, SEEK_SET) < 0) {
        const int error = errno;
        (void)close(fd);
        return fail_read(source, error, err);
    }
    source->buffer = malloc(JOURNAL_BUFFER_BYTES);
    if (!source->buffer) {
        (void)close(fd);
        return err_set(err, STATUS_E_NOMEM, source->path, 0, 0, "out of memory");
    }
    source->fd = fd;
    source->begin = source->scan = source->end = 0;
    source->offset = offset;
    source->number = 0;
    source->skipping = false;
    source->sniffed = offset > 0;
    return STATUS_OK;
}

void journal_source_close(struct journal_source *source)
{
    if (source->buffer) {
        (void)close(source->fd);
        free(source->buffer);
        source->buffer = NULL;
        source->fd = -1;
    }
    source->has_head = false;
}

/* Forget n bytes from begin on. */
static void drop_bytes(struct journal_source *source, size_t n)
{
    source->begin += n;
    source->offset += n;
    source->scan = source->begin;
}

/* Compressed recordings give no line at all: say what to do instead of counting rubbish. */
static enum status sniff_compression(struct journal_source *source, struct err *err)
{
    static const unsigned char gzip[2] = {0x1f, 0x8b};
    static const unsigned char zstd[4] = {0x28, 0xb5, 0x2f, 0xfd};
    static const unsigned char xz[5] = {0xfd, '7', 'z', 'X', 'Z'};
    const size_t n = source->end;
    source->sniffed = true;
    const char *tool = NULL;
    if (n >= sizeof gzip && memcmp(source->buffer, gzip, sizeof gzip) == 0) {
        tool = "zcat";
    } else if (n >= sizeof zstd && memcmp(source->buffer, zstd, sizeof zstd) == 0) {
        tool = "zstdcat";
    } else if (n >= sizeof xz && memcmp(source->buffer, xz, sizeof xz) == 0) {
        tool = "xzcat";
    }
    return tool ? err_set(err, STATUS_E_PARSE, source->path, 0, 0,
                          "is compressed: unpack it first, e.g. `%s FILE | tandem replay -`",
                          tool)
                : STATUS_OK;
}

/* Read more behind end. STATUS_E_EMPTY: there is no more. */
static enum status fill_buffer(struct journal_source *source,
                               struct journal_reader_stats *stats, struct err *err)
{
    if (source->begin == source->end) {
        source->begin = source->scan = source->end = 0;
    } else if (source->end == JOURNAL_BUFFER_BYTES) {
        /* Never the whole buffer: an over-long line has been dropped before. */
        memmove(source->buffer, source->buffer + source->begin, source->end - source->begin);
        source->end -= source->begin;
        source->scan -= source->begin;
        source->begin = 0;
    }
    ssize_t got = 0;
    do {
        got =
            read(source->fd, source->buffer + source->end, JOURNAL_BUFFER_BYTES - source->end);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        return fail_read(source, errno, err);
    }
    if (got == 0) {
        return STATUS_E_EMPTY;
    }
    source->end += (size_t)got;
    stats->bytes += (uint64_t)got;
    return source->sniffed ? STATUS_OK : sniff_compression(source, err);
}

static void hand_out(struct journal_source *source, size_t bytes, size_t with_end, bool torn,
                     struct journal_line *out)
{
    out->text = source->buffer + source->begin;
    out->bytes = bytes;
    out->torn = torn;
    out->start = (struct journal_position){source->file, source->offset};
    source->number++;
    drop_bytes(source, with_end);
    out->after = (struct journal_position){source->file, source->offset};
    out->number = source->number;
    out->path = source->path;
}

enum status journal_source_next(struct journal_source *source, struct journal_line *out,
                                struct journal_reader_stats *stats, struct err *err)
{
    for (;;) {
        const char *from = source->buffer + source->scan;
        const char *newline = memchr(from, '\n', source->end - source->scan);
        if (newline) {
            const size_t bytes = (size_t)(newline - source->buffer) - source->begin;
            if (!source->skipping && bytes <= MESSAGE_LINE_MAX) {
                hand_out(source, bytes, bytes + 1, false, out);
                return STATUS_OK;
            }
            stats->overlong++;
            source->number++;
            source->skipping = false;
            drop_bytes(source, bytes + 1);
            continue;
        }
        source->scan = source->end;
        if (source->end - source->begin > MESSAGE_LINE_MAX) {
            source->skipping = true;
        }
        if (source->skipping) {
            drop_bytes(source, source->end - source->begin);
        }
        const enum status status = fill_buffer(source, stats, err);
        if (status != STATUS_OK) {
            return status;
        }
    }
}

enum status journal_source_rest(struct journal_source *source, struct journal_line *out,
                                struct journal_reader_stats *stats)
{
    const size_t bytes = source->end - source->begin;
    if (source->skipping) {
        source->skipping = false;
        stats->overlong++;
        source->number++;
        return STATUS_E_EMPTY;
    }
    if (bytes == 0) {
        return STATUS_E_EMPTY;
    }
    stats->torn++;
    hand_out(source, bytes, bytes, true, out);
    return STATUS_OK;
}

/* --- stamps --------------------------------------------------------------------------- */

/* mosquitto_sub and Tandem write "tst" first; with others a payload may come before it, which
 * may have a "tst" of its own. */
int64_t journal_line_us(const char *line, size_t bytes)
{
    struct json_scan s;
    struct json_text key;
    struct json_text stamp;
    json_scan_start(&s, line, bytes, JSON_SCAN_DEPTH_MAX);
    if (json_scan_enter(&s, JSON_KIND_OBJECT)) {
        while (json_scan_next_member(&s, &key)) {
            if (json_text_is(&key, "tst")) {
                return json_scan_text(&s, &stamp) ? message_parse_time(stamp.at, stamp.bytes)
                                                  : LAB_TIME_NONE;
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

static enum status peek_file(struct journal_source *source, int fd, char *scratch,
                             struct err *err)
{
    struct stat about;
    if (fstat(fd, &about) != 0) {
        return fail_read(source, errno, err);
    }
    if (S_ISDIR(about.st_mode)) {
        return fail_read(source, EISDIR, err);
    }
    source->seekable = S_ISREG(about.st_mode);
    if (!source->seekable) {
        return STATUS_OK;
    }
    const ssize_t head = pread(fd, scratch, PEEK_BYTES, 0);
    if (head < 0) {
        return fail_read(source, errno, err);
    }
    source->first_us = find_stamp(scratch, (size_t)head, false);
    const off_t tail_at = about.st_size > PEEK_BYTES ? about.st_size - PEEK_BYTES : 0;
    const ssize_t tail = pread(fd, scratch, PEEK_BYTES, tail_at);
    if (tail < 0) {
        return fail_read(source, errno, err);
    }
    const int64_t last_us = find_stamp(scratch, (size_t)tail, true);
    source->last_us = last_us == LAB_TIME_NONE ? LAB_TIME_MAX : last_us;
    return STATUS_OK;
}

enum status journal_source_peek(struct journal_source *source, struct err *err)
{
    source->first_us = LAB_TIME_NONE;
    source->last_us = LAB_TIME_MAX;
    if (strcmp(source->path, "-") == 0) {
        return STATUS_OK;
    }
    char *scratch = malloc(PEEK_BYTES);
    if (!scratch) {
        return err_set(err, STATUS_E_NOMEM, source->path, 0, 0, "out of memory");
    }
    /* A pipe must not be opened twice: its writer would see the first reader leave. */
    struct stat about;
    enum status status = STATUS_OK;
    if (stat(source->path, &about) != 0) {
        status = fail_read(source, errno, err);
    } else if (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)) {
        const int fd = open(source->path, O_RDONLY | O_CLOEXEC);
        status = fd < 0 ? fail_read(source, errno, err) : peek_file(source, fd, scratch, err);
        if (fd >= 0) {
            (void)close(fd);
        }
    }
    free(scratch);
    return status;
}
