/* logger/storage/journal_checkpoint.h - checkpoints: the lab's state at a position in the
 * journal, in a file that is either complete or ignored; a second file next to it holds later
 * changes.
 *
 * Layout (in the machine's byte order): "TANDEMCK", u32 format, u32 version of the state, u64
 * fingerprint, i64 journal file, u64 journal offset, i64 lab time, u64 store, u64 run, u64 rows
 * (the store's mark), u64 bytes of the state, u64 bytes of the pieces, u64 id of the base that
 * it changes (0: it is complete), char note[1536], u32 CRC-32 of the pieces, u32 CRC-32 of all
 * before, pieces. Bytes that no piece covers are as in the base, or 0. docs/storage.md.
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
    uint32_t version;     /* version of the payload's layout */
    uint64_t fingerprint; /* identifies the programs and lab files that can read it */
    struct journal_position position; /* the state covers everything before */
    int64_t t_us;                     /* lab time of the state */
    struct store_mark store;          /* the store has the records of everything before */
    /* Text with its NUL: what the state was made with, in the writer's words. */
    char note[JOURNAL_NOTE_MAX];
    uint64_t base; /* id of the complete checkpoint that it changes; 0: it is complete */
    size_t bytes;  /* bytes of the state */
    void *payload; /* [bytes] after reading; NULL when writing, which adds pieces instead */
};

/* A piece of the state: this header, followed by `bytes` bytes for that place. */
struct journal_piece {
    uint64_t at, bytes;
};

/* A checkpoint being written; zeroed: none. */
struct journal_checkpoint_writer {
    const struct journal_io *io;
    int fd; /* valid if open */
    bool open, changes;
    uint32_t crc;   /* CRC-32 of the pieces so far, */
    uint64_t bytes; /* and their bytes */
    int error;      /* errno of the first failure; 0: none */
};

/* Begins to write the checkpoint at path, or its changes, to a temporary file. Creates the
 * directory if missing. io as for the journal, borrowed until the end. journal_checkpoint_end()
 * reports failures. Allocates nothing. */
void journal_checkpoint_begin(struct journal_checkpoint_writer *w, const char *path,
                              bool changes, const struct journal_io *io);

/* Adds n bytes of pieces. */
void journal_checkpoint_add(struct journal_checkpoint_writer *w, const void *pieces, size_t n);

/* Replaces the checkpoint at path, or its changes: syncs the file, renames it and syncs the
 * directory. At any moment, power loss included, path is the old one or the new one. Call it
 * only after the journal is synced up to position, or the state may be ahead of the journal.
 * *id is the `base` for later changes of a complete checkpoint, which also removes old changes.
 *
 * STATUS_E_IO: path is the old checkpoint or, if only the directory could not be synced, the
 * new one. STATUS_E_ARG: path too long. STATUS_E_STALE: the base of these changes is gone. The
 * writer is finished in any case. */
MUST_USE enum status journal_checkpoint_end(struct journal_checkpoint_writer *w,
                                            const char *path,
                                            const struct journal_checkpoint *checkpoint,
                                            uint64_t *id, struct err *err);

/* Discards what was begun and its temporary file. */
void journal_checkpoint_abandon(struct journal_checkpoint_writer *w, const char *path);

/* Does a file of changes exist next to it, valid or not? */
bool journal_checkpoint_has_changes(const char *path);

/* Reads a checkpoint, with or without its changes, and checks all of it. version and
 * fingerprint say what the caller can use. out->payload is allocated; free it with
 * journal_checkpoint_free(). *out is written only on STATUS_OK.
 *
 * STATUS_E_EMPTY: no checkpoint. STATUS_E_STALE: sound, but of another version or fingerprint.
 * STATUS_E_PARSE: damaged. STATUS_E_IO, STATUS_E_NOMEM. */
MUST_USE enum status journal_checkpoint_read(const char *path, uint32_t version,
                                             uint64_t fingerprint, bool with_changes,
                                             struct journal_checkpoint *out, struct err *err);

/* Reads only the note, of any version and fingerprint, to explain why a checkpoint cannot be
 * used. Returns like journal_checkpoint_read() but never STATUS_E_NOMEM; only the header is
 * checked. */
MUST_USE enum status journal_checkpoint_read_note(const char *path, char note[JOURNAL_NOTE_MAX],
                                                  struct err *err);

/* Frees the payload after reading; a zeroed checkpoint is allowed. */
void journal_checkpoint_free(struct journal_checkpoint *checkpoint);

#endif
