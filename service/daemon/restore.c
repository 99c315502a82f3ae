#include "logger/storage/journal_reader.h"
#include "service/cli/log.h"
#include "service/daemon/daemon_parts.h"

/* Is it still in the journal? */
static enum status find_position(const char *directory, struct journal_position position,
                                 struct err *err)
{
    struct journal_reader *reader = NULL;
    const enum status status = journal_reader_open_directory(directory, position, &reader, err);
    journal_reader_close(reader);
    return status;
}

/* Returns whether the lab is now in the state of the checkpoint. */
static bool load_checkpoint(struct daemon *d, struct journal_checkpoint *checkpoint,
                            bool journal_is_empty)
{
    const char *path = d->file->checkpoint.file;
    struct err err = {0};
    enum status status =
        journal_checkpoint_read(path, CHECKPOINT_VERSION, d->fingerprint, checkpoint, &err);
    /* Somebody may have removed the journal and kept the checkpoint: then it is all we know. */
    if (status == STATUS_OK && !journal_is_empty) {
        status = find_position(d->file->journal.dir, checkpoint->position, &err);
    }
    if (status == STATUS_OK) {
        status = lab_load(d->lab, checkpoint->payload, checkpoint->bytes);
    } else if (status == STATUS_E_EMPTY && !checkpoint->payload) {
        return false; /* there is none */
    }
    if (status != STATUS_OK) {
        log_write(LOG_CHECKPOINT_UNUSED, NULL, "%s: %s", path,
                  err.text[0] ? err.text : "it is of another lab file or program");
    }
    return status == STATUS_OK;
}

enum status restore_lab(struct daemon *d, struct err *err)
{
    struct restore r = {.last_us = LAB_TIME_NONE};
    bool is_empty = true;
    const enum status status =
        journal_last_us(d->file->journal.dir, &r.last_us, &is_empty, err);
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
