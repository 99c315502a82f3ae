/* service/cli/read_ahead.h - a file piece by piece, read and hashed by a thread of its own
 * while the caller works on the pieces before.
 *
 * A hash takes as long as reading numbers does, and neither waits for the other here. Bounded:
 * the thread is some pieces ahead at most.
 */
#ifndef SERVICE_CLI_READ_AHEAD_H
#define SERVICE_CLI_READ_AHEAD_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

struct read_ahead;

/* What a file was, read to its end. */
struct file_mark {
    uint64_t bytes, hash; /* base/hash.h */
};

/* Begin to read; in is borrowed until read_ahead_stop(). Returns STATUS_E_NOMEM without memory
 * or a thread, else STATUS_OK. */
MUST_USE enum status read_ahead_start(FILE *in, struct read_ahead **reader);

/* The next piece, which stays until the next call; NULL at the end and where reading failed. */
const char *read_ahead_next(struct read_ahead *reader, size_t *n);

/* Once there is no next piece: what was read, and errno of what failed, 0 for nothing. */
int read_ahead_end(const struct read_ahead *reader, struct file_mark *mark);

/* At any time; waits for a read that has begun, which is short for files. NULL is nothing. */
void read_ahead_stop(struct read_ahead *reader);

#endif
