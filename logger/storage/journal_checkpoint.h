/* logger/storage/journal_checkpoint.h - a checkpoint: the lab's state at a place in the
 * journal, in a file that is either whole or not taken; and beside it, in another one, what has
 * changed since.
 *
 * Layout (in the machine's byte order): "TANDEMCK", u32 format, u32 version of the state, u64
 * fingerprint, i64 journal file, u64 journal offset, i64 lab time, u64 store, u64 run, u64 rows
 * (the store's mark), u64 bytes of the state, u64 bytes of the pieces, u64 id of the whole one
 * that it changes (0: it is whole), char note[1536], u32 CRC-32 of the pieces, u32 CRC-32 of
 * all before, pieces. What no piece says is as in the whole one, or 0. docs/storage.md.
 */
#ifndef LOGGER_STORAGE_JOURNAL_CHECKPOINT_H
#define LOGGER_STORAGE_JOURNAL_CHECKPOINT_H

#include <stdbool.h>
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
    uint64_t base; /* id of the whole one whose changes these are; 0: it is whole */
    size_t bytes;  /* of the state */
    void *payload; /* [bytes] of one that was read; writing takes pieces instead */
};

/* A piece of the state: this, and so many bytes behind it, which belong there. */
struct journal_piece {
    uint64_t at, bytes;
};

/* One being written; zeroed: none is. */
struct journal_checkpoint_writer {
    const struct journal_io *io;
    int fd; /* valid when open */
    bool open, changes;
    uint32_t crc;   /* of the pieces so far, */
    uint64_t bytes; /* so many */
    int error;      /* errno of the first that failed; 0: none did */
};

/* Begin to write the checkpoint at path, or its changes, to a file beside it; its directory is
 * made where it is missing. io as for the journal, borrowed as long. What fails is told in the
 * end. Allocates nothing. */
void journal_checkpoint_begin(struct journal_checkpoint_writer *w, const char *path,
                              bool changes, const struct journal_io *io);

/* Add n bytes of pieces. */
void journal_checkpoint_add(struct journal_checkpoint_writer *w, const void *pieces, size_t n);

/* Replace the checkpoint at path, or the changes to it: what was written is synced, renamed,
 * and the directory synced. At any moment, power loss included, path is the old one or the new
 * one. Do it only when the journal is synced up to position, or the state may be ahead of what
 * the journal remembers. id: of a whole one, for its changes; what was there of changes goes
 * with the one before.
 *
 * STATUS_E_IO: path is the old checkpoint or, when only the directory could not be synced, the
 * new one. STATUS_E_ARG: path too long. STATUS_E_STALE: these are
 * changes, and the whole one is not there. The writer is done with in any case. */
MUST_USE enum status journal_checkpoint_end(struct journal_checkpoint_writer *w,
                                            const char *path,
                                            const struct journal_checkpoint *checkpoint,
                                            uint64_t *id, struct err *err);

/* Give up what was begun; nothing of it is left. */
void journal_checkpoint_abandon(struct journal_checkpoint_writer *w, const char *path);

/* Is there a file of changes beside it, whatever it is worth? */
bool journal_checkpoint_has_changes(const char *path);

/* Read it back, with its changes or as it was whole, and check all of it. version and
 * fingerprint say what the caller can use. out->payload is allocated: hand it to
 * journal_checkpoint_free(). *out is written only on STATUS_OK.
 *
 * STATUS_E_EMPTY: there is none. STATUS_E_STALE: whole, but of another version or fingerprint.
 * STATUS_E_PARSE: damaged. STATUS_E_IO, STATUS_E_NOMEM. */
MUST_USE enum status journal_checkpoint_read(const char *path, uint32_t version,
                                             uint64_t fingerprint, bool with_changes,
                                             struct journal_checkpoint *out, struct err *err);

/* The note alone, of a checkpoint of any version and fingerprint: who cannot use it may say
 * why. Returns as journal_checkpoint_read() but for STATUS_E_NOMEM; what follows the head is
 * not looked at. */
MUST_USE enum status journal_checkpoint_read_note(const char *path, char note[JOURNAL_NOTE_MAX],
                                                  struct err *err);

/* Free the payload of a checkpoint that was read; zeroed ones are allowed. */
void journal_checkpoint_free(struct journal_checkpoint *checkpoint);

#endif
