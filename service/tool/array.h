/* service/tool/array.h - arrays that grow by doubling. */
#ifndef SERVICE_TOOL_ARRAY_H
#define SERVICE_TOOL_ARRAY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Appends a copy of an item of that many bytes to the array *items of *count items, which has
 * room for *room. False: not enough memory, and nothing has changed. */
static inline bool array_append(void **items, size_t *count, size_t *room, const void *item,
                                size_t bytes)
{
    if (*count == *room) {
        const size_t more = *room > 0 ? *room * 2 : 64;
        void *grown = reallocarray(*items, more, bytes);
        if (!grown) {
            return false;
        }
        *items = grown;
        *room = more;
    }
    memcpy((char *)*items + (*count)++ * bytes, item, bytes);
    return true;
}

#endif
