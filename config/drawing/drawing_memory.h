/* config/drawing/drawing_memory.h - a bounded arena for one drawing: allocated in pieces, freed
 * at once. The bound matters because a hostile file can ask for any amount.
 *
 * Callers need not check each step: when memory is exhausted, allocations return NULL or "",
 * and `full` is set.
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

/* Zeroed memory, aligned for any type; NULL when full. */
void *drawing_alloc(struct drawing_memory *m, size_t bytes);

/* Append a zeroed item to an array, which grows by doubling. items: the address of the pointer
 * to it. Returns the item; NULL when full. */
void *drawing_add(struct drawing_memory *m, void *items, size_t *count, size_t size);

/* A terminated copy of text[bytes]; "" when full. */
const char *drawing_copy(struct drawing_memory *m, const char *text, size_t bytes);

const char *drawing_format(struct drawing_memory *m, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
