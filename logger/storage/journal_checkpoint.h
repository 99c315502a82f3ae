/* logger/storage/journal_checkpoint.h - a checkpoint: the lab's state at a place in the
 * journal, in a file that is either whole or not taken.
 *
 * Layout (little endian): "TANDEMCK", u32 format, u32 payload version, u64 fingerprint,
 * i64 journal file, u64 journal offset, i64 lab time, u64 store, u64 run, u64 rows (the store's
 * mark), u64 payload bytes, char note[1536], u32 CRC-32 of the payload, u32 CRC-32 of all
 * before, payload. docs/storage.md.
 */
#ifndef LOGGER_STORAGE_JOURNAL_CHECKPOINT_H
#define LOGGER_STORAGE_JOURNAL_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "logger/storage/journal.h"
#include "logger/storage/store.h"

enum { JOURNAL_NOTE_MAX = 1536 };

struct journal_checkpoint {
    uint32_t version;                 /* of the payload's layout */
    uint64_t fingerprint;             /* of the program and the lab file that can read it */
    struct journal_position position; /* the state covers everything before */
    int64_t t_us;                     /* lab time of the state */
    struct store_mark store;          /* it has the records of everything before */
    /* What the state was made with, in words of who wrote it: text, with its end. */
    char note[JOURNAL_NOTE_MAX];
    size_t bytes;  /* of payload */
    void *payload; /* [bytes]; writing only reads it */
};

/* Replace the checkpoint at path: written beside it, synced, renamed, directory synced. At any
 * moment, power loss included, path is the old one or the new one. io as for the journal.
 * Allocates nothing; the directory is made where it is missing. Write it only when the journal
 * is synced up to position, or the state may be ahead of what the journal remembers.
 *
 * STATUS_E_IO: path is the old checkpoint or, when only the directory could not be synced, the
 * new one. STATUS_E_ARG: path too long. */
MUST_USE enum status journal_checkpoint_write(const char *path,
                                              const struct journal_checkpoint *checkpoint,
                                              const struct journal_io *io, struct err *err);

/* Read it back and check all of it. version and fingerprint say what the caller can use.
 * out->payload is allocated: hand it to journal_checkpoint_free(). *out is written only on
 * STATUS_OK.
 *
 * STATUS_E_EMPTY: there is none. STATUS_E_STALE: whole, but of another version or fingerprint.
 * STATUS_E_PARSE: damaged. STATUS_E_IO, STATUS_E_NOMEM. */
MUST_USE enum status journal_checkpoint_read(const char *path, uint32_t version,
                                             uint64_t fingerprint,
                                             struct journal_checkpoint *out, struct err *err);

/* The note alone, of a checkpoint of any version and fingerprint: who cannot use it may say
 * why. Returns as journal_checkpoint_read() but for STATUS_E_NOMEM; what follows the head is
 * not looked at. */
MUST_USE enum status journal_checkpoint_note(const char *path, char note[JOURNAL_NOTE_MAX],
                                             struct err *err);

/* Free the payload of a checkpoint that was read; zeroed ones are allowed. */
void journal_checkpoint_free(struct journal_checkpoint *checkpoint);

#endif
