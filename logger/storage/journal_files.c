#include "logger/storage/journal_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/lab_time.h"
#include "logger/message/message.h"

static const char name_prefix[] = "journal-";
static const char name_suffix[] = ".jsonl";

/* Bytes of 2026-11-20T05:55:55.599953Z, with and without - and : */
enum { ISO_BYTES = 27, COMPACT_BYTES = 23 };

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
    /* Each time must have one name, or two spellings would be two files. */
    char again[JOURNAL_NAME_MAX];
    if (us == LAB_TIME_NONE || us < 0) {
        return LAB_TIME_NONE;
    }
    journal_file_name(us, again);
    return strcmp(again, name) == 0 ? us : LAB_TIME_NONE;
}

char *journal_file_path(const char *directory, int64_t start_us)
{
    char name[JOURNAL_NAME_MAX];
    char *path = NULL;
    journal_file_name(start_us, name);
    return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

static int is_journal_file(const struct dirent *entry)
{
    return journal_file_start_us(entry->d_name) != LAB_TIME_NONE;
}

enum status journal_files_list(const char *directory, int64_t **starts_us, size_t *n,
                               struct err *err)
{
    struct dirent **found = NULL;
    const int count = scandir(directory, &found, is_journal_file, alphasort);
    if (count < 0) {
        return journal_fail(directory, FAULT_FILE_UNREADABLE, "cannot open the directory", err);
    }
    int64_t *starts = calloc((size_t)count + 1, sizeof *starts);
    for (int i = 0; i < count; i++) {
        if (starts) {
            starts[i] = journal_file_start_us(found[i]->d_name);
        }
        free(found[i]);
    }
    free(found);
    if (!starts) {
        return err_no_memory(err, directory, "out of memory");
    }
    *starts_us = starts;
    *n = (size_t)count;
    return STATUS_OK;
}

const char *journal_error_text(int error)
{
    const char *text = strerrordesc_np(error);
    return text ? text : "unknown error";
}

enum status journal_fail(const char *path, enum fault fault, const char *what, struct err *err)
{
    return err_set(err, STATUS_E_IO, fault, path, "%s: %s", what, journal_error_text(errno));
}
