/* tests/support/journal_fixture.h - a journal in its own directory, filled with lines that have
 * a number, and a reader of them. The test makes base with mkdtemp(). */
#ifndef TESTS_SUPPORT_JOURNAL_FIXTURE_H
#define TESTS_SUPPORT_JOURNAL_FIXTURE_H

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logger/message/message.h"
#include "logger/storage/journal.h"
#include "logger/storage/journal_files.h"
#include "logger/storage/journal_reader.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

/* 2026-11-20T05:55:55.599953Z */
#define T0_US INT64_C(1795154155599953)
#define S_US  INT64_C(1000000)

static char base[SCRATCH_MAX];
static char dir[128];
static const struct journal_position beginning = {0, 0};

static inline void remove_all(const char *directory)
{
    DIR *open_dir = opendir(directory);
    if (!open_dir) {
        return;
    }
    for (const struct dirent *entry; (entry = readdir(open_dir)) != NULL;) {
        if (entry->d_name[0] != '.') {
            (void)unlinkat(dirfd(open_dir), entry->d_name, 0);
        }
    }
    (void)closedir(open_dir);
    (void)rmdir(directory);
}

static inline void fresh_dir(void)
{
    remove_all(dir);
    (void)snprintf(dir, sizeof dir, "%s/journal", base);
    remove_all(dir);
}

static inline struct journal_params params_of(const struct journal_io *io)
{
    struct journal_params params;
    journal_params_init(&params);
    params.directory = dir;
    params.io = io;
    return params;
}

static inline struct journal *open_or_die(const struct journal_params *params)
{
    struct journal *j = NULL;
    struct err err = {0};
    const enum status status = journal_open(params, &j, &err);
    CHECK_TEXT("open", err.text, "");
    CHECK_INT("open", status, STATUS_OK);
    if (!j) {
        abort();
    }
    return j;
}

/* "n=7 xxxx…\n": its number can be read back, its length varies. */
static inline size_t make_line(char *out, size_t capacity, unsigned n)
{
    char stamp[28];
    message_format_time(T0_US + n, stamp);
    return (size_t)snprintf(out, capacity, "{\"tst\":\"%s\",\"n\":%u,\"x\":\"%.*s\"}\n", stamp,
                            n, (int)(n % 40), "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqr");
}

static inline int line_number(const struct journal_line *line)
{
    char text[512];
    const size_t n = line->bytes < sizeof text - 1 ? line->bytes : sizeof text - 1;
    memcpy(text, line->text, n);
    text[n] = '\0';
    const char *at = strstr(text, "\"n\":");
    return at && text[n - 1] == '}' ? (int)strtol(at + 4, NULL, 10) : -1;
}

static inline enum status append(struct journal *j, unsigned n, int64_t t_us)
{
    char line[256];
    return journal_append(j, line, make_line(line, sizeof line, n), t_us, NULL);
}

static inline struct journal_reader *open_dir_reader(struct journal_position from)
{
    struct journal_reader *r = NULL;
    struct err err = {0};
    CHECK_INT("reader", journal_reader_open_directory(dir, from, &r, &err), STATUS_OK);
    CHECK_TEXT("reader", err.text, "");
    if (!r) {
        abort();
    }
    return r;
}

static inline struct journal_reader *open_file_reader(const char *const *paths, size_t n)
{
    struct journal_reader *r = NULL;
    struct err err = {0};
    CHECK_INT("reader", journal_reader_open_files(paths, n, &r, &err), STATUS_OK);
    CHECK_TEXT("reader", err.text, "");
    if (!r) {
        abort();
    }
    return r;
}

/* Everything in the directory is n = 0 … count-1 in order. */
static inline void expect_numbers(const char *row, int count)
{
    struct journal_reader *r = open_dir_reader(beginning);
    struct journal_line line;
    int n = 0;
    while (journal_reader_next(r, &line, NULL) == STATUS_OK) {
        CHECK_INT(row, line_number(&line), n);
        n++;
    }
    CHECK_INT(row, n, count);
    journal_reader_close(r);
}

static inline void write_file(const char *name, const char *text, size_t bytes, char path[160])
{
    (void)mkdir(dir, 0700);
    (void)snprintf(path, 160, "%s/%s", dir, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(name, fd >= 0 && write(fd, text, bytes) == (ssize_t)bytes);
    (void)close(fd);
}

static inline size_t count_files(void)
{
    int64_t *starts_us = NULL;
    size_t n = 0;
    CHECK_INT("list", journal_files_list(dir, &starts_us, &n, NULL), STATUS_OK);
    free(starts_us);
    return n;
}

#endif
