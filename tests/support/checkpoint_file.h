/* tests/support/checkpoint_file.h - a checkpoint, or changes, whose state is one piece. */
#ifndef TESTS_SUPPORT_CHECKPOINT_FILE_H
#define TESTS_SUPPORT_CHECKPOINT_FILE_H

#include "logger/storage/journal_checkpoint.h"

static inline enum status checkpoint_write(const char *path,
                                           const struct journal_checkpoint *checkpoint,
                                           const struct journal_io *io, uint64_t *id,
                                           struct err *err)
{
    const struct journal_piece piece = {0, checkpoint->bytes};
    struct journal_checkpoint_writer w;
    journal_checkpoint_begin(&w, path, checkpoint->base != 0, io);
    journal_checkpoint_add(&w, &piece, sizeof piece);
    journal_checkpoint_add(&w, checkpoint->payload, checkpoint->bytes);
    return journal_checkpoint_end(&w, path, checkpoint, id, err);
}

#endif
