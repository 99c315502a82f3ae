/* service/daemon/ring.h - a bounded ring of records of bytes, from one thread to another.
 *
 * One producer at a time (callers serialise pushes by a lock of their own), one consumer, no
 * lock between the two. A record lies in one piece and 8-byte aligned, so that the consumer
 * reads it in place. When the ring is full nothing is stored and the caller decides. A record
 * of up to half the capacity always fits once the ring is empty; a larger one may never.
 */
#ifndef SERVICE_DAEMON_RING_H
#define SERVICE_DAEMON_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct ring;

/* A ring of at least capacity_bytes (rounded up to a power of two, at least 64). Cold path:
 * allocates. Returns STATUS_E_NOMEM; *out is written only on STATUS_OK. */
MUST_USE enum status ring_create(size_t capacity_bytes, struct ring **out);
void ring_destroy(struct ring *ring); /* NULL is allowed */

size_t ring_capacity(const struct ring *ring);

/* Bytes in use, the records' own headers included. Any thread. */
size_t ring_used(const struct ring *ring);

/* Producer: one record of head[head_bytes] followed by body[body_bytes]. Returns false when it
 * does not fit now. */
MUST_USE bool ring_push(struct ring *ring, const void *head, size_t head_bytes,
                        const void *body, size_t body_bytes);

/* The place behind the last record. Any thread. */
uint64_t ring_mark(const struct ring *ring);

/* Consumer: the oldest record, if it was pushed before mark was taken; NULL otherwise. Stays
 * valid until ring_pop(). */
const void *ring_peek(struct ring *ring, uint64_t mark, size_t *bytes);

/* Consumer: give the record that ring_peek() returned back. */
void ring_pop(struct ring *ring);

#endif
