#include "service/daemon/ring.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* What stands before every record. A record that would not lie in one piece begins at the start
 * of the buffer; the rest before it is a record with this mark in place of its length. */
#define RING_SKIP UINT32_MAX

enum { RING_ALIGN = 8, RING_CAPACITY_MIN = 64 };

struct ring_header {
    uint32_t bytes;
    uint32_t whole; /* with header and padding: how far to the next record */
};

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): the padding is wanted. */
struct ring {
    unsigned char *buffer; /* [capacity] */
    size_t capacity;       /* power of two */
    size_t peeked;         /* consumer: length of the record it holds, 0: none */
    /* Bytes ever written and ever given back. Far apart, so that the two threads do not pull
     * one cache line to and fro. */
    _Alignas(64) _Atomic uint64_t head;
    _Alignas(64) _Atomic uint64_t tail;
};

enum status ring_create(size_t capacity_bytes, struct ring **out)
{
    size_t capacity = RING_CAPACITY_MIN;
    while (capacity < capacity_bytes && capacity <= SIZE_MAX / 4) {
        capacity *= 2;
    }
    struct ring *ring = aligned_alloc(64, (sizeof *ring + 63) / 64 * 64);
    unsigned char *buffer = malloc(capacity);
    if (!ring || !buffer) {
        free(ring);
        free(buffer);
        return STATUS_E_NOMEM;
    }
    *ring = (struct ring){.buffer = buffer, .capacity = capacity};
    *out = ring;
    return STATUS_OK;
}

void ring_destroy(struct ring *ring)
{
    if (ring) {
        free(ring->buffer);
        free(ring);
    }
}

size_t ring_capacity(const struct ring *ring)
{
    return ring->capacity;
}

size_t ring_used(const struct ring *ring)
{
    const uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    const uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    return (size_t)(head - tail);
}

static void put_header(struct ring *ring, size_t at, struct ring_header header)
{
    memcpy(ring->buffer + at, &header, sizeof header);
}

static struct ring_header get_header(const struct ring *ring, uint64_t place)
{
    struct ring_header header;
    memcpy(&header, ring->buffer + (place & (ring->capacity - 1)), sizeof header);
    return header;
}

bool ring_push(struct ring *ring, const void *head, size_t head_bytes, const void *body,
               size_t body_bytes)
{
    const size_t bytes = head_bytes + body_bytes;
    if (bytes >= ring->capacity || bytes >= RING_SKIP - 2 * RING_ALIGN) {
        return false;
    }
    const size_t whole =
        (sizeof(struct ring_header) + bytes + RING_ALIGN - 1) / RING_ALIGN * RING_ALIGN;
    uint64_t place = atomic_load_explicit(&ring->head, memory_order_relaxed);
    const uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    size_t at = (size_t)(place & (ring->capacity - 1));
    const size_t rest = ring->capacity - at;
    const size_t skipped = whole > rest ? rest : 0;
    if (ring->capacity - (size_t)(place - tail) < skipped + whole) {
        return false;
    }
    if (skipped) {
        put_header(ring, at, (struct ring_header){RING_SKIP, (uint32_t)skipped});
        place += skipped;
        at = 0;
    }
    put_header(ring, at, (struct ring_header){(uint32_t)bytes, (uint32_t)whole});
    if (head_bytes) {
        memcpy(ring->buffer + at + sizeof(struct ring_header), head, head_bytes);
    }
    if (body_bytes) {
        memcpy(ring->buffer + at + sizeof(struct ring_header) + head_bytes, body, body_bytes);
    }
    atomic_store_explicit(&ring->head, place + whole, memory_order_release);
    return true;
}

uint64_t ring_mark(const struct ring *ring)
{
    return atomic_load_explicit(&ring->head, memory_order_acquire);
}

const void *ring_peek(struct ring *ring, uint64_t mark, size_t *bytes)
{
    uint64_t place = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (place >= mark) {
        return NULL;
    }
    struct ring_header header = get_header(ring, place);
    if (header.bytes == RING_SKIP) {
        place += header.whole;
        atomic_store_explicit(&ring->tail, place, memory_order_release);
        assert(place < mark); /* a skip is pushed together with the record behind it */
        header = get_header(ring, place);
    }
    ring->peeked = header.whole;
    *bytes = header.bytes;
    return ring->buffer + (place & (ring->capacity - 1)) + sizeof header;
}

void ring_pop(struct ring *ring)
{
    assert(ring->peeked > 0);
    const uint64_t place = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    atomic_store_explicit(&ring->tail, place + ring->peeked, memory_order_release);
    ring->peeked = 0;
}
