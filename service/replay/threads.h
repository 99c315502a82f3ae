/* service/replay/threads.h - threads that share all work, together with their owner.
 *
 * Work comes on belts: rings of batches, which pass from stage to stage in their order. No
 * thread has a fixed task, because the slowest task would then limit the speed. A free thread
 * does the first available work, and so does the owner's thread while it has to wait.
 *
 * All functions must be called by the owner's thread.
 */
#ifndef SERVICE_REPLAY_THREADS_H
#define SERVICE_REPLAY_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/status.h"

enum {
    THREADS_MAX = 64,
    BELTS_MAX = 2,
    BELT_STAGES_MAX = 3,
    BELT_BATCHES_MAX = 4 * THREADS_MAX
};

struct belt_stage {
    /* Works on a batch, on any thread. False: no batch follows; only the first stage may say
     * so. NULL: the owner's stage. */
    bool (*work)(void *context, size_t batch);
    bool serial; /* one batch at a time */
};

/* After the last stage a batch returns to the first. Zero but for its first members. */
struct belt {
    const struct belt_stage *stages; /* [stage_count], one of them the owner's */
    size_t stage_count, batch_count;
    void *context;
    /* Members of threads.c, under its lock: */
    uint64_t
        next[BELT_STAGES_MAX]; /* the next batch of each stage, counted from the beginning */
    unsigned busy[BELT_STAGES_MAX];  /* threads that work there */
    uint8_t stage[BELT_BATCHES_MAX]; /* the stage that each batch is due for */
    bool ended;
};

struct threads;

/* count: 1..THREADS_MAX, the owner included. STATUS_E_NOMEM, STATUS_E_IO: no thread can be
 * started; *out is written only on STATUS_OK. */
MUST_USE enum status threads_create(unsigned count, struct threads **out);
/* NULL is allowed; all belts must be removed */
void threads_destroy(struct threads *threads);
unsigned threads_count(const struct threads *threads);

/* At most BELTS_MAX at once, borrowed; earlier belts have priority. */
void threads_add(struct threads *threads, struct belt *belt);
/* No thread works there any more when it returns. No effect for an unknown belt. */
void threads_remove(struct threads *threads, struct belt *belt);

/* Wait for the owner's next batch, and return it; batch_count: none will come. */
size_t threads_await(struct threads *threads, struct belt *belt);
/* Hand that batch on. */
void threads_pass(struct threads *threads, struct belt *belt);
/* Wait until all batches are back at the first stage, which is the owner's. */
void threads_drain(struct threads *threads, struct belt *belt);

#endif
