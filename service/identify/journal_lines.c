#include "service/identify/journal_lines.h"

#include <string.h>

#include "base/numbers/hash.h"
#include "logger/message/event.h"
#include "logger/message/message.h"

enum { ASK_LINES = 1024 };

struct reading {
    const struct journal_lines *lines;
    struct journal_reader *reader; /* of files; NULL: the only input is a text */
    size_t at;                     /* offset in the text */
};

/* Finds the input of a line: a file by its name, or the directory of the file. */
static size_t find_input(const struct journal_lines *lines, const char *path)
{
    size_t best = 0;
    size_t longest = 0;
    for (size_t i = 0; i < lines->count; i++) {
        const char *input = lines->inputs[i].path;
        const size_t n = strlen(input);
        if (strncmp(input, path, n) == 0 && n > longest &&
            (path[n] == '\0' || path[n] == '/' || input[n - 1] == '/')) {
            best = i;
            longest = n;
        }
    }
    return best;
}

static void mark_line(struct file_mark *mark, const struct journal_line *line)
{
    mark->hash = hash_bytes(mark->hash, line->text, line->bytes);
    mark->hash = line->torn ? mark->hash : hash_bytes(mark->hash, "\n", 1);
    mark->bytes += line->bytes + (line->torn ? 0 : 1);
}

static enum status next_line(struct reading *r, struct journal_line *line, struct err *err)
{
    const struct journal_lines *lines = r->lines;
    const struct csv_source *text = &lines->inputs[0];
    if (r->reader) {
        const enum status st = journal_reader_next(r->reader, line, err);
        if (st == STATUS_OK && lines->marks) {
            mark_line(&lines->marks[find_input(lines, line->path)], line);
        }
        return st;
    }
    if (r->at >= text->bytes) {
        return STATUS_E_EMPTY;
    }
    line->text = text->text + r->at;
    const char *end = memchr(line->text, '\n', text->bytes - r->at);
    line->bytes = end ? (size_t)(end - line->text) : text->bytes - r->at;
    line->overlong = line->bytes > MESSAGE_LINE_MAX;
    r->at += line->bytes + 1;
    return STATUS_OK;
}

static bool may_go_on(const struct reading *r)
{
    const struct journal_lines *lines = r->lines;
    struct journal_reader_stats stats = {.bytes = r->at, .total_bytes = lines->inputs[0].bytes};
    if (r->reader) {
        journal_reader_stats(r->reader, &stats);
    }
    return !lines->go_on || lines->go_on(lines->context, stats.bytes, stats.total_bytes);
}

static enum status read_lines(struct reading *r, struct err *err)
{
    enum status st = STATUS_OK;
    for (uint64_t asked = 0; st == STATUS_OK; asked++) {
        struct journal_line line = {.path = r->lines->inputs[0].path, .number = asked + 1};
        st = next_line(r, &line, err);
        if (st != STATUS_OK) {
            return st == STATUS_E_EMPTY ? STATUS_OK : st;
        }
        if (line.overlong) {
            return err_set_at(
                err, STATUS_E_PARSE, FAULT_TOO_LONG, line.path, (unsigned)line.number, 1,
                "a line of more than %d bytes, no journal has such", MESSAGE_LINE_MAX);
        }
        st = r->lines->handle(r->lines->context, &line, err);
        if (asked % ASK_LINES == 0 && !may_go_on(r)) {
            return err_set(err, STATUS_E_STALE, FAULT_CANCELLED, "journal", "cancelled");
        }
    }
    return st;
}

/* Files must be opened; a text is complete in memory. */
static enum status open_inputs(struct reading *r, struct err *err)
{
    const char *paths[JOURNALS_MAX];
    const struct journal_lines *lines = r->lines;
    const struct csv_source *first = &lines->inputs[0];
    for (size_t i = 0; i < lines->count; i++) {
        paths[i] = lines->inputs[i].path;
        if (lines->marks) {
            lines->marks[i] = (struct file_mark){0, HASH_START};
        }
    }
    if (!first->text) {
        return journal_reader_open_files(paths, lines->count, &r->reader, err);
    }
    if (lines->marks) {
        lines->marks[0] =
            (struct file_mark){first->bytes, hash_bytes(HASH_START, first->text, first->bytes)};
    }
    return lines->count == 1 ? STATUS_OK
                             : err_set(err, STATUS_E_ARG, FAULT_CONFLICTING_KEYS, "identify",
                                       "one journal at a time was expected");
}

enum status journal_lines_read(const struct journal_lines *lines, struct err *err)
{
    struct reading r = {.lines = lines};
    enum status st = open_inputs(&r, err);
    st = st == STATUS_OK ? read_lines(&r, err) : st;
    journal_reader_close(r.reader);
    return st;
}

bool journal_topic_split(const char *topic, const char *end, char *prefix, const char **pair,
                         size_t *pair_bytes)
{
    const size_t n = strlen(topic);
    const size_t m = strlen(end);
    if (n < m + 4 || strcmp(topic + n - m, end) != 0) {
        return false;
    }
    size_t begin = n - m;
    while (begin > 0 && topic[begin - 1] != '/') {
        begin--;
    }
    *pair = topic + begin;
    *pair_bytes = n - m - begin;
    if (begin < 2 || *pair_bytes == 0 || *pair_bytes >= EVENT_PAIR_MAX) {
        return false;
    }
    memcpy(prefix, topic, begin - 1);
    prefix[begin - 1] = '\0';
    return true;
}
