/* service/replay/threads.h - threads that do whatever there is to do, their owner's among them.
 *
 * Work comes from sources: lines to be decoded, records to be written. Nobody has a part of his
 * own, or the slowest part would be the measure of all: who is free does the first that there
 * is, and so does the owner's thread while it has to wait. What a source hands out, and in
 * which order, is its own affair; it keeps that under the lock of all.
 *
 * All functions belong to the owner's thread.
 */
#ifndef SERVICE_REPLAY_THREADS_H
#define SERVICE_REPLAY_THREADS_H

#include <stdbool.h>

#include "base/errors/status.h"

enum { THREADS_MAX = 64, THREADS_SOURCES_MAX = 4 };

struct threads;

/* Does one piece of work. Called, by any thread, with the lock held, which is given up while it
 * works. False: there is nothing to do now. */
typedef bool threads_work(void *context);

/* count: 1..THREADS_MAX, the owner's among them. STATUS_E_NOMEM, STATUS_E_IO: no thread can be
 * begun; *out is written only on STATUS_OK. */
MUST_USE enum status threads_create(unsigned count, struct threads **out);
void threads_destroy(struct threads *threads); /* NULL is allowed; no source is left */
unsigned threads_count(const struct threads *threads);

/* THREADS_SOURCES_MAX at once; what comes first goes first. */
void threads_add(struct threads *threads, threads_work *work, void *context);
/* Nobody works there any more when it returns. Not there: nothing is done. */
void threads_remove(struct threads *threads, void *context);

void threads_lock(struct threads *threads); /* for work, too */
void threads_unlock(struct threads *threads);

/* With the lock held: a source has one more piece of work; */
void threads_signal(struct threads *threads);
/* do what there is to do, or wait until another thread has done something. */
void threads_help(struct threads *threads);

#endif
