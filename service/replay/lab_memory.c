#include "service/replay/lab_memory.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { LINE_BYTES = 64, HUGE_BYTES = 2 * 1024 * 1024 };

struct lab *lab_memory_create(const struct lab_params *p)
{
    const size_t bytes = lab_bytes(p);
    const size_t unit = bytes >= HUGE_BYTES ? HUGE_BYTES : LINE_BYTES;
    const size_t whole = (bytes + unit - 1) / unit * unit;
    void *memory = aligned_alloc(unit, whole);
    if (!memory) {
        return NULL;
    }
    if (unit == HUGE_BYTES) {
        /* A wish: where it is refused, the lab is slower. */
        (void)madvise(memory, whole, MADV_HUGEPAGE);
    }
    return lab_init(memory, p);
}

void lab_memory_destroy(struct lab *lab)
{
    free(lab); /* it stands at the beginning of its memory */
}
