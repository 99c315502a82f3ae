#include "service/tool/array.h"

#include <stdlib.h>
#include <string.h>

bool array_append(void **items, size_t *count, size_t *room, const void *item, size_t bytes)
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
