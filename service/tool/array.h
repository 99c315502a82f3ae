/* service/tool/array.h - arrays that grow by doubling. */
#ifndef SERVICE_TOOL_ARRAY_H
#define SERVICE_TOOL_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Appends a copy of an item of that many bytes to the array *items of *count items, which has
 * room for *room. False: not enough memory, and nothing has changed. */
bool array_append(void **items, size_t *count, size_t *room, const void *item, size_t bytes);

#endif
