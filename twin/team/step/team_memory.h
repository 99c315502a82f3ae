/* twin/team/step/team_memory.h - cuts a block of memory into aligned pieces. A first pass
 * without a block measures it.
 */
#ifndef TWIN_TEAM_STEP_TEAM_MEMORY_H
#define TWIN_TEAM_STEP_TEAM_MEMORY_H

#include <stddef.h>

/* Cuts the next piece off the block, and counts it in *used; block NULL: only counts. */
static inline void *team_memory_cut(void *block, size_t *used, size_t bytes)
{
    const size_t unit = _Alignof(max_align_t);
    void *const piece = block ? (char *)block + *used : NULL;
    *used += (bytes + unit - 1) / unit * unit;
    return piece;
}

#endif
