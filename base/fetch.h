/* base/fetch.h - asks for memory before it is needed, so that the waiting overlaps with
 * work. A hint to the processor: nothing changes but the time things take. Pure. */
#ifndef BASE_FETCH_H
#define BASE_FETCH_H

#include <stddef.h>

enum { FETCH_LINE_BYTES = 64 };

/* Have [bytes] at `from` in the cache soon; they will be written to. */
static inline void fetch(const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += FETCH_LINE_BYTES) {
        __builtin_prefetch((const char *)from + i, 1);
    }
}

#endif
