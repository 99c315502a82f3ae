#include "logger/storage/journal_reader.h"
#include "service/cli/log.h"
#include "service/daemon/daemon_parts.h"

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
static bool load_checkpoint(struct daemon *d, struct journal_checkpoint *checkpoint,
                            bool journal_is_empty)
{
    const char *path = d->file->checkpoint.file;
    struct err err = {0};
    const enum status status =
        journal_checkpoint_read(path, CHECKPOINT_VERSION, d->fingerprint, checkpoint, &err);
    if (status != STATUS_OK) {
        if (status != STATUS_E_EMPTY) {
            say_unused(path, err.text);
        }
        return false;
    }
    /* Somebody may have removed the journal and kept the checkpoint: then it is all we know. */
    if (!journal_is_empty && !is_in_journal(d->file->journal.dir, checkpoint->position, &err)) {
        say_unused(path, err.text);
        return false;
    }
    if (lab_load(d->lab, checkpoint->payload, checkpoint->bytes) != STATUS_OK) {
        say_unused(path, "it is of another lab file or program");
        return false;
    }
    return true;
}

enum status restore_lab(struct daemon *d, struct err *err)
{
    struct restore r = {.last_us = LAB_TIME_NONE};
    bool is_empty = true;
    if (status != STATUS_OK) {
        return status;
    }
    struct journal_checkpoint checkpoint = {0};
    if (load_checkpoint(d, &checkpoint, is_empty)) {
        r.from = is_empty ? (struct journal_position){0, 0} : checkpoint.position;
        if (checkpoint.t_us > r.last_us) {
            r.last_us = checkpoint.t_us;
        }
    }
    journal_checkpoint_free(&checkpoint);
    d->restore = r;
    return STATUS_OK;
}
