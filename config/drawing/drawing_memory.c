#include "config/drawing/drawing_memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 << 10, ALIGNED = sizeof(max_align_t) };

struct drawing_block {
    struct drawing_block *next;
    size_t used, bytes;
    max_align_t memory[];
};

void drawing_memory_finish(struct drawing_memory *m)
{
    while (m->blocks) {
        struct drawing_block *block = m->blocks;
        m->blocks = block->next;
        free(block);
    }
    *m = (struct drawing_memory){0};
}

static bool add_block(struct drawing_memory *m, size_t bytes)
{
    const size_t wanted = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    struct drawing_block *block = NULL;
    if (wanted <= DRAWING_MEMORY_MAX - m->bytes) {
        block = calloc(1, sizeof *block + wanted);
    }
    if (!block) {
        m->full = true;
        return false;
    }
    block->bytes = wanted;
    block->next = m->blocks;
    m->blocks = block;
    m->bytes += wanted;
    return true;
}

void *drawing_alloc(struct drawing_memory *m, size_t bytes)
{
    if (m->full || bytes > DRAWING_MEMORY_MAX) {
        m->full = true;
        return NULL;
    }
    const size_t wanted = (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
    if ((!m->blocks || m->blocks->bytes - m->blocks->used < wanted) && !add_block(m, wanted)) {
        return NULL;
    }
    char *at = (char *)m->blocks->memory + m->blocks->used;
    m->blocks->used += wanted;
    return at;
}

void *drawing_add(struct drawing_memory *m, void *items, size_t *count, size_t size)
{
    char *array = NULL;
    memcpy(&array, items, sizeof array);
    if ((*count & (*count - 1)) == 0) { /* the capacity is a power of two: there is no room */
        char *more = drawing_alloc(m, (*count > 0 ? 2 * *count : 1) * size);
        if (!more) {
            return NULL;
        }
        if (*count > 0) {
            memcpy(more, array, *count * size);
        }
        array = more;
        memcpy(items, &array, sizeof array);
    }
    return array + (*count)++ * size;
}

const char *drawing_copy(struct drawing_memory *m, const char *text, size_t bytes)
{
    char *copy = drawing_alloc(m, bytes + 1);
    if (!copy) {
        return "";
    }
    memcpy(copy, text, bytes);
    return copy;
}

const char *drawing_format(struct drawing_memory *m, const char *format, ...)
{
    va_list args;
    va_list again;
    va_start(args, format);
    va_copy(again, args);
    const int bytes = vsnprintf(NULL, 0, format, args);
    char *text = bytes < 0 ? NULL : drawing_alloc(m, (size_t)bytes + 1);
    if (text) {
        (void)vsnprintf(text, (size_t)bytes + 1, format, again);
    }
    va_end(again);
    va_end(args);
    return text ? text : "";
}
