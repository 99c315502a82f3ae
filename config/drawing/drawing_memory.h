/* config/drawing/drawing_memory.h - memory for one drawing: taken piece by piece, given back at
 * once, and bounded, for a file can be made to want any amount.
 *
 * Whoever takes need not look at every step: when there is no more, what was wanted is refused
 * (NULL, "") and the memory says so (full).
 */
#ifndef CONFIG_DRAWING_DRAWING_MEMORY_H
#define CONFIG_DRAWING_DRAWING_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"

enum { DRAWING_MEMORY_MAX = 256 << 20 }; /* bytes */

struct drawing_block;

struct drawing_memory { /* all zero is empty */
    struct drawing_block *blocks;
    size_t bytes; /* of all blocks */
    bool full;
};

void drawing_memory_finish(struct drawing_memory *m);

/* Zeros, aligned for anything; NULL when full. */
void *drawing_alloc(struct drawing_memory *m, size_t bytes);

/* Room for one more item behind items[count], which grows by doubling: items, or where they
 * are now; NULL when full. */
void *drawing_grow(struct drawing_memory *m, void *items, size_t count, size_t size);

/* text[bytes] with an end; "" when full. */
const char *drawing_copy(struct drawing_memory *m, const char *text, size_t bytes);

const char *drawing_format(struct drawing_memory *m, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
