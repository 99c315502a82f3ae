#include "logger/storage/journal_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lab_time.h"
#include "logger/message/message.h"
#include "logger/storage/journal_error.h"

static const char name_prefix[] = "journal-";
static const char name_suffix[] = ".jsonl";

enum { ISO_BYTES = 27, COMPACT_BYTES = 23 }; /* 2026-11-20T05:55:55.599953Z, and without -: */

void journal_file_name(int64_t start_us, char out[JOURNAL_NAME_MAX])
{
    char iso[28];
    message_format_time(start_us < 0 ? 0 : start_us, iso);
    size_t n = sizeof name_prefix - 1;
    memcpy(out, name_prefix, n);
    for (const char *c = iso; *c; c++) {
        if (*c != '-' && *c != ':') {
            out[n++] = *c;
        }
    }
    memcpy(out + n, name_suffix, sizeof name_suffix);
}

int64_t journal_file_start_us(const char *name)
{
    const size_t prefix = sizeof name_prefix - 1;
    if (strlen(name) != prefix + COMPACT_BYTES + sizeof name_suffix - 1 ||
        memcmp(name, name_prefix, prefix) != 0 ||
        strcmp(name + prefix + COMPACT_BYTES, name_suffix) != 0) {
        return LAB_TIME_NONE;
    }
    char iso[ISO_BYTES + 1];
    const char *c = name + prefix;
    (void)snprintf(iso, sizeof iso, "%.4s-%.2s-%.5s:%.2s:%.10s", c, c + 4, c + 6, c + 11,
                   c + 13);
    const int64_t us = message_parse_time(iso, ISO_BYTES);
    /* There must be one name for one time, or two spellings of it would be two files. */
    char again[JOURNAL_NAME_MAX];
    if (us == LAB_TIME_NONE || us < 0) {
        return LAB_TIME_NONE;
    }
    journal_file_name(us, again);
    return strcmp(again, name) == 0 ? us : LAB_TIME_NONE;
}

static int compare_starts(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

struct start_list {
    int64_t *us;
    size_t n, capacity;
};

static enum status add_start(struct start_list *list, int64_t us)
{
    if (list->n == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 64;
        int64_t *grown = realloc(list->us, capacity * sizeof *grown);
        if (!grown) {
            return STATUS_E_NOMEM;
        }
        list->us = grown;
        list->capacity = capacity;
    }
    list->us[list->n++] = us;
    return STATUS_OK;
}

static enum status collect_starts(DIR *dir, const char *directory, struct start_list *list,
                                  struct err *err)
{
    for (;;) {
        errno = 0;
        /* One stream a caller: readdir is safe then, whatever the linter fears. */
        const struct dirent *entry = readdir(dir); // NOLINT(concurrency-mt-unsafe)
        if (!entry) {
            return errno == 0
                       ? STATUS_OK
                       : err_set(err, STATUS_E_IO, directory, 0, 0,
                                 "cannot list the journal: %s", journal_error_text(errno));
        }
        const int64_t us = journal_file_start_us(entry->d_name);
        if (us != LAB_TIME_NONE && add_start(list, us) != STATUS_OK) {
            return err_set(err, STATUS_E_NOMEM, directory, 0, 0, "out of memory");
        }
    }
}

enum status journal_files_list(const char *directory, int64_t **starts_us, size_t *n,
                               struct err *err)
{
    DIR *dir = opendir(directory);
    if (!dir) {
        return err_set(err, STATUS_E_IO, directory, 0, 0, "cannot open the directory: %s",
                       journal_error_text(errno));
    }
    struct start_list list = {0};
    const enum status status = collect_starts(dir, directory, &list, err);
    (void)closedir(dir);
    if (status != STATUS_OK) {
        free(list.us);
        return status;
    }
    if (list.n > 1) {
        qsort(list.us, list.n, sizeof *list.us, compare_starts);
    }
    *starts_us = list.us;
    *n = list.n;
    return STATUS_OK;
}
