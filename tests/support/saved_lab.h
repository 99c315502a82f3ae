/* tests/support/saved_lab.h - a lab's state as a checkpoint holds it; to be freed. */
#ifndef TESTS_SUPPORT_SAVED_LAB_H
#define TESTS_SUPPORT_SAVED_LAB_H

#include <stdlib.h>

#include "twin/lab.h"

static inline void *saved_lab(const struct lab *lab, size_t *bytes)
{
    struct lab_save save = {.out = calloc(1, lab_save_bytes(lab))};
    if (!save.out) {
        abort();
    }
    lab_save_begin(lab, &save);
    for (size_t part = 0; part < lab_part_count(lab); part++) {
        lab_save_part(lab, &save, part);
    }
    *bytes = save.used;
    return save.out;
}

#endif
