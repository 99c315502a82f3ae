#include "service/daemon/restore.h"

#include <stdio.h>
#include <stdlib.h>

#include "logger/storage/journal_checkpoint.h"
#include "logger/storage/journal_files.h"
#include "logger/storage/journal_reader.h"
#include "logger/storage/journal_source.h"
#include "service/cli/log.h"
#include "service/daemon/keeper.h"

/* The last stamp of a journal file; LAB_TIME_NONE when it holds none. */
static enum status peek_file(const char *directory, int64_t start_us, int64_t *last_us,
                             struct err *err)
{
    char name[JOURNAL_NAME_MAX];
    journal_file_name(start_us, name);
    char path[LAB_PATH_MAX + JOURNAL_NAME_MAX + 2];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    struct journal_source source = {
        .path = path, .fd = -1, .first_us = LAB_TIME_NONE, .last_us = LAB_TIME_NONE};
    const enum status status = journal_source_peek(&source, err);
    if (status == STATUS_OK) {
        *last_us = source.last_us == LAB_TIME_MAX ? LAB_TIME_NONE : source.last_us;
    }
    return status;
}

/* The last stamp of the journal: of its newest file that holds one. */
static enum status find_last_us(const char *directory, int64_t *last_us, bool *is_empty,
                                struct err *err)
{
    int64_t *starts_us = NULL;
    size_t n = 0;
    enum status status = journal_files_list(directory, &starts_us, &n, err);
    if (status != STATUS_OK) {
        return status;
    }
    *is_empty = n == 0;
    *last_us = LAB_TIME_NONE;
    while (n > 0 && *last_us == LAB_TIME_NONE && status == STATUS_OK) {
        n--;
        status = peek_file(directory, starts_us[n], last_us, err);
    }
    free(starts_us);
    return status;
}

static bool is_in_journal(const char *directory, struct journal_position position,
                          struct err *err)
{
    struct journal_reader *reader = NULL;
    const enum status status = journal_reader_open_directory(directory, position, &reader, err);
    journal_reader_close(reader);
    return status == STATUS_OK;
}

static void say_unused(const char *path, const char *why)
{
    log_write(LOG_CHECKPOINT_UNUSED, NULL, "%s: %s", path, why);
}

/* Returns whether the lab is now in the state of the checkpoint. */
static bool load_checkpoint(struct lab *lab, uint64_t fingerprint, const char *path,
                            struct journal_checkpoint *checkpoint, const char *directory,
                            bool journal_is_empty)
{
    struct err err = {0};
    const enum status status =
        journal_checkpoint_read(path, CHECKPOINT_VERSION, fingerprint, checkpoint, &err);
    if (status != STATUS_OK) {
        if (status != STATUS_E_EMPTY) {
            say_unused(path, err.text);
        }
        return false;
    }
    /* Somebody may have removed the journal and kept the checkpoint: then it is all we know. */
    if (!journal_is_empty && !is_in_journal(directory, checkpoint->position, &err)) {
        say_unused(path, err.text);
        return false;
    }
    if (lab_load(lab, checkpoint->payload, checkpoint->bytes) != STATUS_OK) {
        say_unused(path, "it is of another lab file or program");
        return false;
    }
    return true;
}

enum status restore_lab(struct lab *lab, uint64_t fingerprint, const char *path,
                        const char *journal_directory, struct restore *out, struct err *err)
{
    struct restore r = {.last_us = LAB_TIME_NONE};
    bool is_empty = true;
    const enum status status = find_last_us(journal_directory, &r.last_us, &is_empty, err);
    if (status != STATUS_OK) {
        return status;
    }
    struct journal_checkpoint checkpoint = {0};
    r.from_checkpoint =
        load_checkpoint(lab, fingerprint, path, &checkpoint, journal_directory, is_empty);
    if (r.from_checkpoint) {
        r.from = is_empty ? (struct journal_position){0, 0} : checkpoint.position;
        if (checkpoint.t_us > r.last_us) {
            r.last_us = checkpoint.t_us;
        }
    }
    journal_checkpoint_free(&checkpoint);
    *out = r;
    return STATUS_OK;
}
