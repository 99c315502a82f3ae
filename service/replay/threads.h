/* service/replay/threads.h - threads that share all work, together with their owner.
 *
 * Work comes from sources: lines to decode, records to write. No thread has a fixed task,
 * because the slowest task would then limit the speed. A free thread does the first available
 * work, and so does the owner's thread while it has to wait. A source decides its own order,
 * and keeps its state under the common lock.
 *
 * All functions must be called by the owner's thread.
 */
#ifndef SERVICE_REPLAY_THREADS_H
#define SERVICE_REPLAY_THREADS_H

#include <stdbool.h>

#include "base/errors/status.h"

enum { THREADS_MAX = 64, THREADS_SOURCES_MAX = 4 };

struct threads;

/* Does one piece of work. Called on any thread with the lock held, which it releases while it
 * works. False: no work now. */
typedef bool threads_work(void *context);

/* count: 1..THREADS_MAX, the owner included. STATUS_E_NOMEM, STATUS_E_IO: no thread can be
 * started; *out is written only on STATUS_OK. */
MUST_USE enum status threads_create(unsigned count, struct threads **out);
/* NULL is allowed; all sources must be removed */
void threads_destroy(struct threads *threads);
unsigned threads_count(const struct threads *threads);

/* At most THREADS_SOURCES_MAX at once; earlier sources have priority. */
void threads_add(struct threads *threads, threads_work *work, void *context);
/* No thread works there any more when it returns. No effect for an unknown context. */
void threads_remove(struct threads *threads, void *context);

void threads_lock(struct threads *threads); /* also called by work */
void threads_unlock(struct threads *threads);

/* With the lock held: a source has one more piece of work; */
void threads_signal(struct threads *threads);
/* do the available work, or wait until another thread has finished some. */
void threads_help(struct threads *threads);

#endif
